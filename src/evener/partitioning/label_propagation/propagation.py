"""Label propagation: partitions of graphs with uneven degrees.

    remove vertices without edges -> initial blocks -> propagate -> fill up with these vertices

If a few vertices have most of the edges and many have none, a graph of clusters does not resemble
the graph: blocks are filled in order of degree, and refined without coarsening. If degrees are less
uneven, as in social networks, there are clusters: the graph is coarsened, the coarsest graph is
divided in several ways, and the best partition is refined level by level (cycles.py). The whole
graph is also divided in order of degree and by recursive bisection; these partitions are refined if
they are likely to cut less. At the end, vertices without edges go to blocks that lack weight. The
result is deterministic; one thread is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evener.arrays import NO_VERTICES, IntVector, Part
from evener.graphs.graph import Graph
from evener.partitioning.initial.bisection import cut_of, recursive_bisection
from evener.partitioning.initial.bisection_kernels import breadth_first_order
from evener.partitioning.label_propagation import propagation_kernels as kernels
from evener.partitioning.label_propagation.cycles import (
    Work,
    blocks_by_clusters,
    cost_of,
    cycle,
    filled_blocks,
    lower_cut,
    lower_max_volume,
    lower_total_volume,
    state_for_cut,
    with_nets,
)
from evener.partitioning.label_propagation.propagation_kernels import PropagationState
from evener.partitioning.levels.clusters import PER_BLOCK, leaves_shrunk
from evener.partitioning.levels.levels import (
    GraphLevel,
    anchored,
    finest,
    places_of,
    projected,
    scattered,
)
from evener.plans.partition import Contract

# Graphs without coordinates are divided by label propagation if their `skewness` is above this: it
# then cuts less than multilevel FM, in a fourth of the time. Measured: meshes have 0.3, a stiff
# finite-element matrix 0.6, social networks and circuits 0.8 and more.
LEAST_UNEVEN_SKEWNESS = 0.5

# Below this mean degree, graphs are nearly forests and labels spread badly; for some of them label
# propagation cuts less, for others the multilevel method. Set by hand; benchmarks/constants.py
# compares other values.
FEW_NEIGHBOURS = 3.0


def skewness(graph: Graph, fixed: IntVector = NO_VERTICES) -> float:
    """Return (standard deviation) / mean of the degrees; a mean below 1 counts as 1.

    Degrees of `fixed` vertices are ignored.
    """
    degrees = np.delete(graph.degrees, fixed) if fixed.size else graph.degrees
    degrees = degrees.astype(np.int64, copy=False)
    return skewness_of(degrees.size, int(degrees.sum()), int(np.dot(degrees, degrees)))


def skewness_of(n: int, total: int, squares: int) -> float:
    """Like skewness, but from the number n, sum and sum of squares of the degrees."""
    deviation = math.sqrt(n * squares - total * total) / max(n, 1)
    return deviation / max(total / max(n, 1), 1.0)


def is_uneven(graph: Graph, fixed: IntVector = NO_VERTICES) -> bool:
    """Return whether label propagation is the right method for the graph; see skewness."""
    return graph.coords is None and skewness(graph, fixed) > LEAST_UNEVEN_SKEWNESS


def has_hubs_first(skew: float, n: int, isolated: int) -> bool:
    """Return whether blocks are filled in descending order of degree, without clusters.

    skew: skewness of the degrees of n vertices, of which `isolated` have no edges.
    """
    return skew > HUBS_FIRST_SKEWNESS and isolated > HUBS_FIRST_ISOLATED * n


def is_sparse(graph: Graph) -> bool:
    """Return whether the mean degree is too low for label propagation alone."""
    return bool(graph.degrees.mean() < FEW_NEIGHBOURS) if graph.n else False


# Numbers without an explanation are set by hand; benchmarks/constants.py compares other values.
# A start is refined if (its cut) / (cut of the present blocks) is at most this: for blocks filled
# in order of degree, so that large blocks take the core; and for recursive bisection.
PROMISING_CORE, PROMISING_HALVES = 1.25, 1.1
# If blocks cut more than this fraction of the edges, the graph has no communities, and recursive
# bisection is not tried.
MOST_CUT = 0.4
CORE_ROUNDS = 4  # rounds of moves for blocks filled in order of degree
BISECTED = 0.02  # relative deviation from its target that recursive bisection may leave a block
NEXT_TO_NOTHING = 1e-9  # weights up to this fraction of all weight count as zero
# Above this skewness and this fraction of vertices without edges, blocks are filled in order of
# degree, without clusters. Measured: R-MAT graphs have 4.9 and a third.
HUBS_FIRST_SKEWNESS, HUBS_FIRST_ISOLATED = 4.0, 0.05
# If bundling the leaves of hubs leaves at most this fraction of the vertices, clusters are found
# among the bundles only. Measured: 0.002 for a star of 10^6 leaves, in a seventh of the time.
MOST_BUNDLES_RATIO = 0.05
LAST = 2  # rounds of moves after clusters, which have reduced the cut already
IDLE = 2  # after clusters: rounds without a smaller largest volume after which refinement ends


@dataclass(frozen=True)
class Rounds:
    """Numbers of rounds of moves.

    cut, before: for the cut, in graphs without clusters; `before` if volumes are minimised
    afterwards. total_volume, max_volume: for the volumes. idle: rounds without a smaller largest
    volume after which refinement ends; the largest volume may rise at first, when hubs change
    blocks. clusters: the effort for graphs with clusters.
    """

    cut: int
    before: int
    total_volume: int
    max_volume: int
    clusters: Work
    idle: int = 20


ROUNDS = {
    "fast": Rounds(
        3, before=2, total_volume=3, max_volume=4,
        clusters=Work(leaps=3, cycles=1, splits=1, fills=1),
    ),
    "default": Rounds(
        8, before=3, total_volume=6, max_volume=8,
        clusters=Work(leaps=2, cycles=2, splits=2, fills=1),
    ),
    "strong": Rounds(
        16, before=6, total_volume=12, max_volume=20,
        clusters=Work(leaps=4, cycles=4, splits=4, fills=1),
    ),
}  # fmt: skip


def propagation_blocks(
    graph: Graph,
    contract: Contract,
    edge_weights: npt.NDArray[np.int32],
    *,
    preset: str = "default",
    objective: str = "cut",
    seed: int = 7,
    given: Part | None = None,
    fixed: IntVector = NO_VERTICES,
) -> Part:
    """Return the block (n,) of every vertex; with unit weights, blocks satisfy `contract`.

    Heavy vertices may violate limits, and caps in bytes are ignored; `enforce` corrects both.
    edge_weights (2m,): whole numbers, or empty if all are 1. objective: "cut", which counts edge
    weights, "total_volume" or "max_volume". given (n,): initial blocks, or None. fixed: the
    vertices that must stay in their initial blocks.
    """
    weights, degrees = graph.weights(), graph.degrees
    apart = degrees == 0
    apart[fixed] = False
    linked = int(np.count_nonzero(~apart))
    hubs_first = has_hubs_first(skewness(graph, fixed), graph.n, graph.n - linked)
    order = np.lexsort((-weights, -degrees if hubs_first else degrees, apart))
    level = finest(graph, order, weights, edge_weights, 1)
    level.fixed = places_of(fixed, order)
    part, weight = np.zeros(graph.n, np.int32), np.zeros(contract.k)
    if linked:
        whole = replace(level, xadj=level.xadj[: linked + 1], vwgt=level.vwgt[:linked])
        alone = float(level.vwgt[linked:].sum())
        rng = np.random.default_rng(seed)
        rounds = ROUNDS[preset]
        work = None if hubs_first else rounds.clusters
        own = None if given is None else given[order[:linked]]
        blocks = _low_cut(whole, own, contract, alone, work, rng)
        if work is not None:
            if given is None and preset != "fast":
                blocks = _or_core_first(whole, blocks, contract, alone, CORE_ROUNDS, rng)
                blocks = _or_halved(whole, blocks, contract, alone, rounds.clusters, seed, rng)
            rounds = replace(rounds, cut=LAST, before=LAST, idle=IDLE)
        state = state_for_cut(whole, blocks, contract.low, contract.high, alone)
        _refine(state, rounds, objective, rng)
        part[:linked], weight = state.part, state.weight
    kernels.fill(
        level.vwgt[linked:], contract.low, contract.targets, contract.high, part[linked:], weight
    )
    result = np.empty(graph.n, np.int32)
    result[order] = part
    return result


def _low_cut(
    level: GraphLevel, given: Part | None, contract: Contract, alone: float, work: Work | None,
    rng: np.random.Generator,
) -> Part:  # fmt: skip
    """Return initial blocks (n,), with a low cut.

    given: blocks to improve, or None. work: effort for clusters, or None to use no clusters. alone:
    total weight of vertices without edges.
    """
    if work is None:
        return _in_order(level, contract, alone) if given is None else given
    if given is None:
        small = leaves_shrunk(level, float(contract.targets.min()) / PER_BLOCK, 1)
        if small is None or small.level.n > MOST_BUNDLES_RATIO * level.n:
            return blocks_by_clusters(level, contract, alone, work, rng)
        blocks = blocks_by_clusters(small.level, contract, alone, work, rng)
        return projected(small, blocks, 1)
    whole = anchored(level, given, 1) if level.fixed.size else None
    if whole is not None:
        level, given = whole.level, whole.part
    for _ in range(work.cycles):
        given = cycle(level, given, contract, alone, work, rng)
    return given if whole is None else projected(whole, given, 1)


def _or_core_first(
    level: GraphLevel, blocks: Part, contract: Contract, alone: float, rounds: int,
    rng: np.random.Generator,
) -> Part:  # fmt: skip
    """Return the better of `blocks` and blocks filled in order of degree and refined.

    If a few blocks hold most of the graph, its dense core fits into them; coarsening does not find
    such blocks, as each cluster is connected to all others.
    """
    order = np.arange(level.n)[::-1]  # vertices are numbered by degree
    following = np.argsort(-contract.targets, kind="stable")
    core = filled_blocks(level.vwgt, contract.targets, order, following)
    cost = cost_of(level, blocks, contract)
    if cut_of(level, core) > PROMISING_CORE * cost:
        return blocks
    lower_cut(state_for_cut(level, core, contract.low, contract.high, alone), rounds, rng)
    return core if cost_of(level, core, contract) < cost else blocks


def _or_halved(
    level: GraphLevel, blocks: Part, contract: Contract, alone: float, work: Work, seed: int,
    rng: np.random.Generator,
) -> Part:  # fmt: skip
    """Return the better of `blocks` and blocks by recursive bisection, refined with clusters.

    Bisection of the whole graph finds communities that clusters of the coarsest graph cross. If
    both sides get as many large and small blocks, social networks are cut by 1 % less than if sizes
    decide, with 96 blocks by 3 %.
    """
    edges = (level.adjwgt.sum() if level.adjwgt.size else level.adjncy.size) / 2
    cost = cost_of(level, blocks, contract)
    if cost > MOST_CUT * edges:
        return blocks
    halved = _halved(level, contract, seed)
    if cut_of(level, halved) > PROMISING_HALVES * cost:
        return blocks
    halved = cycle(level, halved, contract, alone, work, rng)
    return halved if cost_of(level, halved, contract) < cost else blocks


def _halved(level: GraphLevel, contract: Contract, seed: int) -> Part:
    """Return blocks by recursive bisection of the graph in breadth-first order.

    Coarsening pairs neighbours in this order.
    """
    order = np.empty(level.n, np.int64)
    xadj, adjncy = level.xadj.astype(np.int64), level.adjncy.astype(np.int32)
    breadth_first_order(xadj, adjncy, 0, order, np.empty(level.n, np.bool_))
    along = finest(Graph(xadj, adjncy), order, level.vwgt, level.adjwgt, 1)
    halved = recursive_bisection(along, contract.targets, BISECTED, seed, "alternate")
    return scattered(halved, order, 1)


def _refine(
    state: PropagationState, rounds: Rounds, objective: str, rng: np.random.Generator
) -> None:
    """Minimise the objective in place; for volumes, the cut is reduced first."""
    if objective == "cut":
        lower_cut(state, rounds.cut, rng)
        return
    lower_cut(state, rounds.before, rng)
    state = with_nets(state)
    lower_total_volume(state, rounds.total_volume, rng)
    if objective == "max_volume":
        lower_max_volume(state, rounds.max_volume, rounds.idle, rng)


def _in_order(level: GraphLevel, contract: Contract, alone: float) -> Part:
    """Return blocks filled in order of degree, the largest block first.

    They leave room for the vertices without edges, whose weight is `alone`. Most edges are then in
    and between the first blocks.
    """
    low, high = contract.low, contract.high
    held = float(level.vwgt.sum())
    needed = float(low.sum()) - alone
    # Blocks filled to `caps` hold all; the others need at most the weight `alone`.
    caps = high if needed <= NEXT_TO_NOTHING * held else np.minimum(high, low * (held / needed))
    following = np.argsort(-contract.targets, kind="stable")
    return filled_blocks(level.vwgt, caps, np.arange(level.n), following)
