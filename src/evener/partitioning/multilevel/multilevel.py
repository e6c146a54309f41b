"""Our partitioner: blocks of unequal weight, compact and with short borders.

    order -> shrink -> place blocks on a small graph -> refine level by level

Blocks are placed by balanced k-means, of coordinates or of places that hops give, or by recursive
bisection; those with the shorter borders are kept. On the way back diffusion rounds them and FM
refines them. Graphs whose degrees are uneven are left to label propagation, and graphs of clusters
are divided both ways. Everything is deterministic, whatever the threads.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, Part
from evener.graphs.graph import Graph
from evener.graphs.hilbert import hilbert_order
from evener.partitioning.external.jobs import LIMIT_32, whole_weights
from evener.partitioning.initial import bisection_kernels
from evener.partitioning.initial.bisection import DEALS, cut_of, recursive_bisection
from evener.partitioning.initial.diffusion import THOROUGH, Spread
from evener.partitioning.initial.kmeans import along_curve, unit_box
from evener.partitioning.label_propagation.propagation import is_uneven, propagation_blocks
from evener.partitioning.levels.clusters import has_clusters
from evener.partitioning.levels.levels import (
    Hierarchy,
    Level,
    finest,
    scattered,
    shrink_freely,
    shrink_inside,
)
from evener.partitioning.multilevel.level_state import (
    Placed,
    Task,
    block_weights,
    descend,
    limits_on,
    placed,
    refine,
    rounded,
    within,
)
from evener.partitioning.multilevel.presets import PRESETS, Preset
from evener.partitioning.multilevel.starts import (
    BALANCE,
    follow,
    starting_blocks,
    worth_following,
)
from evener.partitioning.refinement.fm import boundary_flags
from evener.partitioning.refinement.volumes import AIMS, Aim, refine_volumes
from evener.plans.partition import Contract

PER_BLOCK_PLACED = 45  # vertices for each block of the graph on which blocks are placed
MOST_PLACED = 250_000  # vertices of graphs that are always placed in several ways
LEAST_EMBEDDED = 100_000  # vertices of graphs that hops place: most smaller ones are graded
FREE = 3  # dimensions in which large graphs are placed on a small one too: it cuts less
MISPLACED = 0.9  # of the cut is left where rounding shows that distance has misled k-means
PER_BLOCK_RIVALS = 100  # vertices for each block of graphs on which several ways are followed
SMALL = 2_000, 20_000  # vertices of graphs that are rounded twice; less are tried several times
# From so many blocks on, graphs of clusters are divided by label propagation too: a few blocks hold
# whole clusters either way, and it takes three times as long.
CLUSTERED_BLOCKS = {"fast": np.inf, "default": 5, "strong": 2}
SAMPLE, DISTINCT = 4096, 0.5  # points looked at, and the share that tells coordinates from noise


def multilevel_blocks(
    graph: Graph,
    contract: Contract,
    *,
    preset: str = "default",
    objective: str = "cut",
    seed: int = 7,
    threads: int = 1,
    starts: list[Part] | None = None,
    by_levels: bool = False,
) -> Part:
    """Return the block (n,) of every vertex; blocks are near `contract`, mostly within it.

    starts: receives the blocks (n,) that refinement of the whole graph begins with, or nothing.
    by_levels: without label propagation, however uneven degrees are.
    Heavy vertices and blocks of few vertices may be left for `enforce` to settle, as are caps in
    bytes. The cut counts edge weights. preset: "fast", "default" or "strong". objective: "cut",
    "total_volume" or "max_volume"; volumes are refined after the cut, on the whole graph.
    """
    chosen = PRESETS[preset]
    if graph.coords is not None and _few_places(graph.coords):
        graph = graph.with_(coords=None)
    if is_uneven(graph) and not by_levels:
        return propagation_blocks(
            graph, contract, edge_weights(graph), preset=preset, objective=objective, seed=seed
        )
    order, level = _in_order(graph, threads)
    points = None if graph.coords is None else unit_box(graph.coords, order, threads)
    begun: list[Part] = []
    clusters = False
    if points is None or graph.n <= MOST_PLACED or len(points) == FREE:
        targets, by = contract.targets, chosen.shrink_by
        hierarchy = shrink_freely(level, targets, PER_BLOCK_PLACED, by, threads)
        clusters = (
            points is None and not by_levels and contract.k >= CLUSTERED_BLOCKS[preset]
            and has_clusters(hierarchy)
        )  # fmt: skip
        if clusters and preset == "default":  # more rounding and searches help meshes alone
            chosen = PRESETS["fast"]
        part = v_cycle(
            level, None, contract, chosen, seed, threads, points=points, begun=begun,
            hierarchy=hierarchy,
        )  # fmt: skip
    else:
        start, _ = along_curve(
            points, np.empty(0) if graph.is_unit else level.vwgt, contract.targets,
            chosen.balance, threads,
        )  # fmt: skip
        begun.append(start)
        part = v_cycle(level, start, contract, chosen, seed, threads, chosen.rounding, doubted=True)
    if starts is not None:
        starts.append(scattered(begun[0], order, threads))
    for cycle in range(1, chosen.cycles):
        part = v_cycle(level, part, contract, chosen, seed + cycle, threads)
    if preset != "fast" and SMALL[0] < graph.n <= SMALL[1] and not clusters:
        part = _rounded_again(level, part, contract, chosen, seed + chosen.cycles, threads)
    if clusters:
        other = propagation_blocks(graph, contract, edge_weights(graph), preset=preset, seed=seed)
        part = _better(level, other[order], part, contract)
    if objective != "cut":
        lower_volumes(level, part, contract, chosen, AIMS[objective], seed, threads)
    return scattered(part, order, threads)


def _rounded_again(
    level: Level, part: Part, contract: Contract, preset: Preset, seed: int, threads: int
) -> Part:
    """Return blocks rounded on a graph shrunk inside them, and refined; the same unless better."""
    other = v_cycle(level, part.copy(), contract, preset, seed, threads, THOROUGH)
    return _better(level, other, part, contract)


def _better(level: Level, other: Part, part: Part, contract: Contract) -> Part:
    """Return the other blocks if they cut less and are within the contract where `part` is."""
    holds, held = (
        within(block_weights(level, blocks, contract.k), contract) for blocks in (other, part)
    )
    better = cut_of(level, other) < cut_of(level, part)
    return other if better and holds >= held else part


def halved_blocks(
    graph: Graph,
    contract: Contract,
    *,
    preset: str = "default",
    objective: str = "cut",
    seed: int = 7,
    threads: int = 1,
) -> Part:
    """Return blocks (n,) made by recursive bisection of the whole graph, then refined by levels.

    Options as of multilevel_blocks. For small graphs, and those that shrink badly: on stars and
    trees clusters of half a graph's leaves stand in the way of blocks.
    """
    chosen = PRESETS[preset]
    order, level = _in_order(graph, threads)
    halved = [
        recursive_bisection(level, contract.targets, 2 * BALANCE, seed + turn, deal)
        for turn, deal in enumerate(DEALS)
    ]
    best = min(halved, key=lambda part: cut_of(level, part))
    start = placed(level, best, Task(contract, chosen, seed, threads), 0, again=None).part
    found = [
        v_cycle(level, start, contract, chosen, seed, threads, rounding)
        for rounding in (None, THOROUGH)
    ]
    part = min(found, key=lambda part: cut_of(level, part))
    if objective != "cut":
        lower_volumes(level, part, contract, chosen, AIMS[objective], seed, threads)
    return scattered(part, order, threads)


def v_cycle(
    level: Level, part: Part | None, contract: Contract, preset: Preset, seed: int, threads: int,
    rounding: Spread | None = None, points: npt.NDArray[np.float32] | None = None,
    doubted: bool = False, begun: list[Part] | None = None, hierarchy: Hierarchy | None = None,
) -> Part:  # fmt: skip
    """Shrink the graph inside the blocks of `part`, or freely without; refine on the way back.

    rounding: by diffusion, of blocks that are given, on the smallest graph, and on finer ones if
    thorough.
    points (d, n) in a unit box, sorted along a curve, place blocks that are not. doubted: whether
    other blocks may take the place of `part` where rounding shows that its borders are long.
    begun: receives the blocks (n,) that refinement begins with. hierarchy: the graph as it was
    shrunk freely, if it was.
    """
    task = Task(contract, preset, seed, threads)
    targets, by = contract.targets, preset.shrink_by
    if part is None:
        hierarchy = hierarchy or shrink_freely(level, targets, PER_BLOCK_PLACED, by, threads)
        middles = None if points is None else hierarchy.coarse_points(points)
        rivals = starting_blocks(
            hierarchy.coarsest, middles, task, len(hierarchy.above),
            trusting=level.n > (LEAST_EMBEDDED if points is None else MOST_PLACED),
        )  # fmt: skip
    else:
        hierarchy = shrink_inside(level, part, targets, preset.per_block, by, threads)
        rivals = _from_given(hierarchy, task, rounding, doubted)
    if begun is not None:
        begun.append(hierarchy.on_finest(rivals[0].part, threads))
    for depth in range(len(hierarchy.above) - 1, -1, -1):
        finer, shrunk = hierarchy.above[depth]
        rivals = [
            follow(descend(rival, finer, shrunk, task), task, depth)
            for rival in _followed(rivals, task)
        ]
    return worth_following(rivals)[0].part


def _from_given(
    hierarchy: Hierarchy, task: Task, rounding: Spread | None, doubted: bool
) -> list[Placed]:
    """Return the given blocks on the coarsest level, and others where those are doubtful."""
    level, part, depth = hierarchy.coarsest, hierarchy.part, len(hierarchy.above)
    if rounding is None:
        return [refine(placed(level, part, task, depth, again=None), task, depth)]
    again = task.preset.again if rounding == THOROUGH else None
    blocks = refine(rounded(level, part, task, depth, rounding, again), task, depth)
    if doubted and cut_of(level, blocks.part) < MISPLACED * cut_of(level, part):
        return [blocks, *starting_blocks(level, None, task, depth)]
    return [blocks]


def _followed(rivals: list[Placed], task: Task) -> list[Placed]:
    """Return the blocks worth refining on finer graphs: one way only where they are large."""
    close = worth_following(rivals)[: task.preset.rivals]
    return close if close[0].level.n <= PER_BLOCK_RIVALS * task.contract.k else close[:1]


def lower_volumes(
    level: Level, part: Part, contract: Contract, preset: Preset, aim: Aim, seed: int, threads: int
) -> None:
    """Refine blocks in place for what they send."""
    weight = block_weights(level, part, contract.k)
    limits = limits_on(level, Task(contract, preset, seed, 1), depth=0)
    flag = boundary_flags(level, part, threads)
    refine_volumes(level, part, weight, limits, aim, flag, seed)


def _in_order(graph: Graph, threads: int) -> tuple[IntArray, Level]:
    """Return an order of the vertices, and the graph so ordered."""
    order = vertex_order(graph, threads)
    weights = None if graph.is_unit else graph.weights()
    return order, finest(graph, order, weights, edge_weights(graph), threads)


def vertex_order(graph: Graph, threads: int = 1) -> IntArray:
    """Return an order in which neighbours are near each other, in memory and in slices."""
    if graph.coords is not None:
        return hilbert_order(graph.coords, threads)
    order = np.empty(graph.n, np.int64)
    seen = np.empty(graph.n, np.bool_)
    bisection_kernels.breadth_first_order(graph.xadj, graph.adjncy, 0, order, seen)
    return order


def edge_weights(graph: Graph) -> npt.NDArray[np.int32]:
    """(2m,) whole edge weights whose sums are small enough, or (0,): all 1."""
    if graph.adjwgt is None:
        return np.empty(0, np.int32)
    return whole_weights(graph.adjwgt, LIMIT_32, least=1).values.astype(np.int32)


def _few_places(coords: FloatArray) -> bool:
    """Whether most of a sample of the points (n, d) lie where others do: they place no blocks."""
    sample = coords[:: max(1, len(coords) // SAMPLE)]
    return len(np.unique(sample, axis=0)) < DISTINCT * len(sample)
