"""Blocks of graphs whose degrees are uneven, by label propagation.

    strip vertices without edges -> start -> propagate -> fill up

Where a few vertices have most of the edges, and many none, clusters of the graph are no smaller
graph of the same kind: blocks are filled in the order of degrees, and the graph is refined as it
is. Where degrees are less uneven, as in social networks, there are clusters: the graph is shrunk,
the smallest one divided in several ways, and the best refined on the way back. Vertices without
edges go where weight is missing in the end. Everything is deterministic; one thread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.graphs import Graph
from evener.partitioning import propagation_kernels as kernels
from evener.partitioning.bisection import cut_of, recursive_bisection
from evener.partitioning.bisection_kernels import breadth_first_order
from evener.partitioning.levels import Level, Part, finest, projected, shrink
from evener.partitioning.propagation_kernels import Board
from evener.partitioning.propagation_rounds import (
    board_for_cut,
    lower_cut,
    lower_max_volume,
    lower_total_volume,
    with_nets,
)
from evener.partitioning.skew import skewness
from evener.partitions import Contract

NEXT_TO_NOTHING = 1e-9
# From this skewness and share of vertices without edges on, blocks are filled without clusters:
# R-MAT graphs are at 4.9 and a third.
SKEWED, ALONE = 4.0, 0.05
COARSEST, PER_BLOCK = 1000, 15  # vertices that the smallest graph keeps, in all and a block
LARGEST_CLUSTER = 1 / 2  # of the smallest block's target
GROWTH = 6.0  # heaviest cluster of a level, in mean vertices
LEAST_SHRINKAGE = 0.95
OVERWEIGHT = 10.0  # times the share of weight that is too much, the cut counts more
EPSILON = 0.03  # what bisection leaves a block off its target


@dataclass(frozen=True)
class Rounds:
    """Rounds of sweeps: for the cut; before and for the volumes, total and then largest.

    cycles: times that the graph is shrunk again, inside its blocks. starts: partitions of the
    smallest graph, of which the best is taken; bisect: whether one is a bisection.
    """

    cut: int
    before: int
    total_volume: int
    max_volume: int
    cycles: int
    starts: int
    bisect: bool = False


ROUNDS = {
    "fast": Rounds(3, before=2, total_volume=3, max_volume=4, cycles=0, starts=3),
    "default": Rounds(8, before=4, total_volume=6, max_volume=8, cycles=1, starts=6),
    "strong": Rounds(
        16, before=6, total_volume=12, max_volume=20, cycles=4, starts=16, bisect=True
    ),
}


def propagation_blocks(
    graph: Graph,
    contract: Contract,
    edge_weights: npt.NDArray[np.int32],
    *,
    preset: str = "default",
    objective: str = "cut",
    seed: int = 7,
    given: Part | None = None,
) -> Part:
    """Return the block (n,) of every vertex; with unit weights, within `contract`.

    edge_weights (2m,) whole, or (0,): all 1. Heavy vertices may be left for `enforce`
    to settle, as are caps in bytes. objective: "cut", which counts edge weights, "total_volume"
    or "max_volume". given (n,): blocks to begin with.
    """
    weights, degrees = graph.weights(), graph.degrees
    linked = int(np.count_nonzero(degrees))
    hubs_first = skewness(graph) > SKEWED and graph.n - linked > ALONE * graph.n
    order = np.lexsort((-weights, -degrees if hubs_first else degrees, degrees == 0))
    level = finest(graph, order, weights, edge_weights, 1)
    part, weight = np.zeros(graph.n, np.int32), np.zeros(contract.k)
    if linked:
        whole = replace(level, xadj=level.xadj[: linked + 1], vwgt=level.vwgt[:linked])
        alone = float(level.vwgt[linked:].sum())
        rng = np.random.default_rng(seed)
        start = _in_order if hubs_first else _by_clusters
        rounds = ROUNDS[preset]
        if given is None:
            blocks = start(whole, contract, alone, rounds, rng)
        else:
            blocks = given[order[:linked]]
            for _ in range(0 if hubs_first else max(rounds.cycles, 1)):
                blocks = _cycle(whole, blocks, contract, alone, rounds, rng)
        board = board_for_cut(whole, blocks, contract.low, contract.high, alone)
        _refine(board, rounds, objective, rng)
        part[:linked], weight = board.part, board.weight
    kernels.fill(
        level.vwgt[linked:], contract.low, contract.targets, contract.high, part[linked:], weight
    )
    result = np.empty(graph.n, np.int32)
    result[order] = part
    return result


def _refine(board: Board, rounds: Rounds, objective: str, rng: np.random.Generator) -> None:
    """Minimise the objective in place; what is good for it begins with a low cut."""
    if objective == "cut":
        lower_cut(board, rounds.cut, rng)
        return
    lower_cut(board, rounds.before, rng)
    board = with_nets(board)
    lower_total_volume(board, rounds.total_volume, rng)
    if objective == "max_volume":
        lower_max_volume(board, rounds.max_volume, rng)


def _in_order(
    level: Level, contract: Contract, alone: float, _rounds: Rounds, _rng: np.random.Generator
) -> Part:
    """Fill blocks, largest first, so that vertices without edges, weighing `alone`, can do the
    rest; most of the edges are then between the first blocks.
    """
    low, high = contract.low, contract.high
    held = float(level.vwgt.sum())
    needed = float(low.sum()) - alone
    # Blocks at `caps` hold all; those still empty then need no more than what stands alone.
    caps = high if needed <= NEXT_TO_NOTHING * held else np.minimum(high, low * (held / needed))
    following = np.argsort(-contract.targets, kind="stable")
    part = np.empty(level.n, np.int32)
    kernels.start(level.vwgt, caps, following, part, np.zeros(contract.k))
    return part


def _by_clusters(
    level: Level, contract: Contract, alone: float, rounds: Rounds, rng: np.random.Generator
) -> Part:
    """Shrink, divide and lower the cut on the way back; then shrink again inside the blocks."""
    part = _cycle(level, None, contract, alone, rounds, rng)
    for _ in range(rounds.cycles):
        part = _cycle(level, part, contract, alone, rounds, rng)
    return part


def _cycle(
    level: Level, part: Part | None, contract: Contract, alone: float, rounds: Rounds,
    rng: np.random.Generator,
) -> Part:  # fmt: skip
    """Lower the cut on every level of the graph, shrunk inside the blocks of `part` if given."""
    above = []
    total, enough = float(level.vwgt.sum()), max(COARSEST, PER_BLOCK * contract.k)
    heaviest = LARGEST_CLUSTER * float(contract.targets.min())
    blocks = np.zeros(level.n, np.int32) if part is None else part
    while level.n > enough:
        cap = min(heaviest, GROWTH * total / level.n)
        shrunk = shrink(level, blocks, np.array([cap]), 1)
        if shrunk.level.n > LEAST_SHRINKAGE * level.n:
            break
        above.append((level, shrunk))
        level, blocks = shrunk.level, shrunk.part
    if part is None:
        blocks = _best_of_starts(level, contract, alone, rounds, rng)
    else:
        _lower(level, blocks, contract, alone, rounds.cut, rng)
    for finer, shrunk in reversed(above):
        level, blocks = finer, projected(shrunk, blocks, 1)
        _lower(level, blocks, contract, alone, rounds.cut, rng)
    return blocks


def _best_of_starts(
    level: Level, contract: Contract, alone: float, rounds: Rounds, rng: np.random.Generator
) -> Part:
    """Fill blocks in several orders and by bisection, lower the cut of each, take the best.

    Where blocks are unequal, filled ones end far better than bisected ones, and in no time.
    """
    total = float(level.vwgt.sum())
    best, least = np.zeros(level.n, np.int32), np.inf
    for turn in range(rounds.starts):
        if turn == 0 and rounds.bisect:
            number = int(rng.integers(2**31))
            part = recursive_bisection(level, contract.targets, EPSILON, number)
        else:
            part = _filled(level, contract.targets, turn, rng)
        _lower(level, part, contract, alone, rounds.cut, rng)
        weight = np.bincount(part, weights=level.vwgt, minlength=contract.k)
        over = float(np.maximum(weight - contract.high, 0.0).sum())
        cost = cut_of(level, part) * (1 + OVERWEIGHT * over / max(total, 1e-300))
        if cost < least:
            best, least = part, cost
    return best


def _filled(level: Level, targets: FloatArray, turn: int, rng: np.random.Generator) -> Part:
    """Fill blocks to their targets in breadth-first or random order, largest first or not."""
    order = rng.permutation(level.n)
    if turn % 2 == 0:
        seen = np.empty(level.n, np.bool_)
        breadth_first_order(level.xadj, level.adjncy, order, seen)
    following = np.argsort(-targets, kind="stable")
    if turn % 4 >= 2:
        following = rng.permutation(targets.size)
    filled, part = np.empty(level.n, np.int32), np.empty(level.n, np.int32)
    kernels.start(level.vwgt[order], targets, following, filled, np.zeros(targets.size))
    part[order] = filled
    return part


def _lower(
    level: Level, part: Part, contract: Contract, alone: float, rounds: int,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """Lower the cut in place; blocks may be short by the heaviest vertex, if that is a cluster."""
    heaviest = float(level.vwgt.max())
    low: FloatArray = np.maximum(contract.low - (heaviest if heaviest > 1 else 0.0), 0.0)
    lower_cut(board_for_cut(level, part, low, contract.high, alone), rounds, rng)
