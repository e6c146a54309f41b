"""Evener's multilevel partitioner: blocks of unequal weight, compact and with short borders.

    order -> coarsen -> place blocks on a small graph -> refine level by level

Blocks are placed by balanced k-means of coordinates, or of points computed from hop distances, or
by recursive bisection; the blocks with the shorter borders are used. While they are projected to
finer levels, they are rounded by diffusion and refined by FM. Graphs of uneven degrees are divided
by label propagation instead, and graphs of clusters in both ways. The result is deterministic and
does not depend on the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evener.arrays import NO_VERTICES, FloatArray, IntArray, IntVector, Part
from evener.graphs.graph import Graph
from evener.graphs.hilbert import hilbert_order
from evener.partitioning.external.jobs import LIMIT_32, whole_weights
from evener.partitioning.initial import bisection_kernels
from evener.partitioning.initial.bisection import DEALS, cut_of, recursive_bisection
from evener.partitioning.initial.diffusion import THOROUGH, Spread
from evener.partitioning.initial.kmeans import BALANCE, along_curve, unit_box
from evener.partitioning.label_propagation.propagation import is_uneven, propagation_blocks
from evener.partitioning.levels.clusters import kind_of
from evener.partitioning.levels.levels import (
    GraphLevel,
    Hierarchy,
    finest,
    scattered,
    shrink_freely,
    shrink_inside,
)
from evener.partitioning.multilevel.few_blocks import FEW_BLOCKS, few_blocks
from evener.partitioning.multilevel.level_state import (
    MultilevelTask,
    Placed,
    block_weights,
    border_length,
    limits_on,
    placed,
    refine,
    refined_back,
    rounded,
    starting_blocks,
    within,
)
from evener.partitioning.multilevel.presets import PRESETS, preset_for
from evener.partitioning.refinement.fm import boundary_flags
from evener.partitioning.refinement.volumes import AIMS, Aim, refine_volumes
from evener.plans.partition import Contract
from evener.threads import slices_for

# Tuned; why was not recorded. benchmarks/partitioners.py shows the results.
PER_BLOCK_PLACED = 45  # vertices per block of the graph on which blocks are placed
MOST_PLACED = 250_000  # [vertices] larger plane meshes are placed only by k-means of all points
LEAST_EMBEDDED = 100_000  # [vertices] points from hops are trusted from here; smaller: often graded
FREE_DIMENSIONS = 3  # 3-D graphs of any size are placed on the coarsest level, with a smaller cut
# If (cut after rounding) / (cut of k-means of all points) is below this, distances misled k-means.
MISLED_RATIO = 0.9
LEAST_ANEW = 2_000  # [vertices] larger graphs are rounded twice; smaller ones are tried repeatedly
# From this number of blocks, graphs of clusters are also divided by label propagation, which takes
# three times as long, and 3-D graphs without coordinates by bisection of the whole graph, whose
# coarsening by pairs keeps the rows of a grid: 9 to 18 % less cut of grids.
OTHER_STARTS = {"fast": np.inf, "default": 5, "strong": 2}
# Coordinates are ignored if fewer than DISTINCT of SAMPLE points are distinct.
SAMPLE, DISTINCT = 4096, 0.5


@dataclass(frozen=True, eq=False)
class MultilevelBlocks:
    """Blocks (n,), and the initial blocks before refinement, or None if there were none."""

    part: Part
    start: Part | None


def multilevel_blocks(
    graph: Graph,
    contract: Contract,
    *,
    preset: str = "default",
    objective: str = "cut",
    seed: int = 7,
    threads: int = 1,
    by_levels: bool = False,
) -> MultilevelBlocks:
    """Return blocks (n,), and the initial blocks; most satisfy `contract`, the others nearly.

    Limits may be violated because of heavy vertices or blocks of few vertices, and caps in bytes
    are ignored; `enforce` corrects both. The cut counts edge weights. preset: "fast", "default" or
    "strong". objective: "cut", "total_volume" or "max_volume"; volumes are refined after the cut,
    on the whole graph. by_levels: do not use label propagation, even if degrees are uneven.
    """
    if graph.coords is not None and _few_places(graph.coords):
        graph = graph.with_(coords=None)
    if is_uneven(graph) and not by_levels:
        part = propagation_blocks(
            graph, contract, edge_weights(graph), preset=preset, objective=objective, seed=seed
        )
        return MultilevelBlocks(part, None)
    if slices_for(graph.n) == 1:
        threads = 1  # for a small graph, starting threads takes longer than they save
    order, level = _in_order(graph, threads)
    task = MultilevelTask(contract, preset_for(preset, graph.n), seed, threads, objective)
    points = None if graph.coords is None else unit_box(graph.coords, order, threads)
    kind = "mesh"
    few = 1 < contract.k <= FEW_BLOCKS
    if few or points is None or graph.n <= MOST_PLACED or len(points) == FREE_DIMENSIONS:
        hierarchy = _shrunk_freely(level, task)
        if points is None and not by_levels and contract.k >= OTHER_STARTS[preset]:
            kind = kind_of(hierarchy)
        if kind == "clusters" and preset == "default" and not few:
            # More rounding and searches help only meshes.
            task = replace(task, preset=PRESETS["fast"])
        if few:
            part, start = few_blocks(hierarchy, points, order, task)
        else:
            part, start = _place_on(hierarchy, points, task)
        del hierarchy  # as large as the graph
    else:
        weights = np.empty(0) if graph.is_unit else level.vwgt
        balance = task.preset.balance
        start, _ = along_curve(points, weights, contract.targets, balance, threads)
        part = v_cycle(level, start, task, task.preset.rounding, doubted=True)
    if kind == "solid":
        halved = recursive_bisection(level, contract.targets, 2 * BALANCE, seed)
        part = _better(level, v_cycle(level, halved, task), part, task)
    for cycle in range(1, task.preset.cycles):
        part = v_cycle(level, part, replace(task, seed=seed + cycle))
    anew = task.preset.anew
    if anew and LEAST_ANEW < graph.n <= task.preset.most_anew and kind != "clusters":
        again = replace(task, seed=seed + task.preset.cycles)
        part = _better(level, v_cycle(level, part.copy(), again, anew), part, task)
    if kind == "clusters":
        other = propagation_blocks(graph, contract, edge_weights(graph), preset=preset, seed=seed)
        part = _better(level, other[order], part, task)
    if objective != "cut":
        lower_volumes(level, part, task, AIMS[objective])
    return MultilevelBlocks(scattered(part, order, threads), scattered(start, order, threads))


def _better(level: GraphLevel, other: Part, part: Part, task: MultilevelTask) -> Part:
    """Return `other` if its borders are shorter, and it satisfies the contract if `part` does.

    Otherwise return `part`.
    """
    contract = task.contract
    holds, held = (
        within(block_weights(level, blocks, contract.k), contract) for blocks in (other, part)
    )
    better = border_length(level, other, task) < border_length(level, part, task)
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

    The options are those of multilevel_blocks. This is for small graphs, and for graphs that
    coarsen badly: on stars and trees, clusters with half of the leaves permit no good blocks.
    """
    task = MultilevelTask(contract, PRESETS[preset], seed, threads, objective)
    order, level = _in_order(graph, threads)
    halved = [
        recursive_bisection(level, contract.targets, 2 * BALANCE, seed + turn, deal)
        for turn, deal in enumerate(DEALS)
    ]
    best = min(halved, key=lambda part: border_length(level, part, task))
    start = placed(level, best, task, 0).part
    found = [v_cycle(level, start, task, rounding) for rounding in (None, THOROUGH)]
    part = min(found, key=lambda part: border_length(level, part, task))
    if objective != "cut":
        lower_volumes(level, part, task, AIMS[objective])
    return scattered(part, order, threads)


def place_by_levels(
    level: GraphLevel, task: MultilevelTask, points: npt.NDArray[np.float32] | None = None
) -> Part:
    """Return blocks (n,) by the multilevel method: coarsen, divide the smallest graph, refine.

    points (d, n) in a unit box, sorted along a curve, or None.
    """
    return _place_on(_shrunk_freely(level, task), points, task)[0]


def _shrunk_freely(level: GraphLevel, task: MultilevelTask) -> Hierarchy:
    targets, by = task.contract.targets, task.preset.shrink_by
    return shrink_freely(level, targets, PER_BLOCK_PLACED, by, task.threads)


def _place_on(
    hierarchy: Hierarchy, points: npt.NDArray[np.float32] | None, task: MultilevelTask
) -> tuple[Part, Part]:
    """Place blocks on the coarsest level and refine them; return both on the finest (n,)."""
    finest_level = hierarchy.above[0][0] if hierarchy.above else hierarchy.coarsest
    middles = None if points is None else hierarchy.coarse_points(points)
    rivals = starting_blocks(
        hierarchy.coarsest, middles, task, len(hierarchy.above),
        trusting=finest_level.n > (LEAST_EMBEDDED if points is None else MOST_PLACED),
    )  # fmt: skip
    start = hierarchy.on_finest(rivals[0].part, task.threads)
    return refined_back(hierarchy, rivals, task), start


def v_cycle(
    level: GraphLevel,
    part: Part,
    task: MultilevelTask,
    rounding: Spread | None = None,
    *,
    doubted: bool = False,
) -> Part:
    """Coarsen the graph inside the blocks of `part`; return the blocks refined level by level.

    rounding: diffusion on the smallest graph, and on finer ones if it is THOROUGH or `part` is not
    doubted. doubted: whether other initial blocks may replace `part` if rounding shows that its
    borders are too long.
    """
    targets, preset = task.contract.targets, task.preset
    hierarchy = shrink_inside(
        level, part, targets, preset.per_block, preset.shrink_by, task.threads
    )
    return refined_back(hierarchy, _from_given(hierarchy, task, rounding, doubted), task)


def _from_given(
    hierarchy: Hierarchy, task: MultilevelTask, rounding: Spread | None, doubted: bool
) -> list[Placed]:
    """Return the given blocks of the coarsest level, refined, and others if these seem bad."""
    level, part, depth = hierarchy.coarsest, hierarchy.part, len(hierarchy.above)
    if rounding is None:
        return [refine(placed(level, part, task, depth), task, depth)]
    well_rounded = not doubted or rounding == THOROUGH
    finer_rounding = task.preset.finer_rounding if well_rounded else None
    blocks = refine(rounded(level, part, task, depth, rounding, finer_rounding), task, depth)
    if doubted and cut_of(level, blocks.part) < MISLED_RATIO * cut_of(level, part):
        return [blocks, *starting_blocks(level, None, task, depth)]
    return [blocks]


def lower_volumes(level: GraphLevel, part: Part, task: MultilevelTask, aim: Aim) -> None:
    """Refine blocks in place to reduce communication volumes."""
    weight = block_weights(level, part, task.contract.k)
    limits = limits_on(level, task, depth=0)
    flag = boundary_flags(level, part, task.threads)
    refine_volumes(level, part, weight, limits, aim, flag, task.seed)


def _in_order(graph: Graph, threads: int) -> tuple[IntArray, GraphLevel]:
    """Return an order of the vertices, and the graph in this order as a level."""
    order = vertex_order(graph, threads)
    weights = None if graph.is_unit else graph.weights()
    return order, finest(graph, order, weights, edge_weights(graph), threads)


def vertex_order(graph: Graph, threads: int = 1, fixed: IntVector = NO_VERTICES) -> IntArray:
    """Return an order of the vertices in which neighbours are near each other.

    Without coordinates, fixed vertices come last, as those with many neighbours would bring
    distant vertices together.
    """
    if graph.coords is not None:
        return hilbert_order(graph.coords, threads)
    order = np.empty(graph.n, np.int64)
    seen = np.zeros(graph.n, np.bool_)
    if fixed.size:
        seen[fixed] = True
        bisection_kernels.order_beside(graph.xadj, graph.adjncy, order[: -fixed.size], seen)
        order[-fixed.size :] = fixed
        return order
    bisection_kernels.breadth_first_order(graph.xadj, graph.adjncy, 0, order, seen)
    return order


def edge_weights(graph: Graph) -> npt.NDArray[np.int32]:
    """Return whole edge weights (2m,), scaled so that sums fit 32 bits; empty if all are 1."""
    if graph.adjwgt is None:
        return np.empty(0, np.int32)
    return whole_weights(graph.adjwgt, LIMIT_32, least=1).values.astype(np.int32)


def _few_places(coords: FloatArray) -> bool:
    """Return whether most points (n, d) of a sample coincide, so that coordinates are useless."""
    sample = coords[:: max(1, len(coords) // SAMPLE)]
    along = sample[np.lexsort(sample.T)]  # a tenth of the time of np.unique
    distinct = 1 + np.count_nonzero((along[1:] != along[:-1]).any(axis=1))
    return bool(distinct < DISTINCT * len(sample))
