"""Partitions into few blocks; these depend more on the initial partition than on refinement.

The graph is coarsened to some thousands of vertices. There, multilevel partitions that coarsen it
further in different ways are combined: the graph is coarsened again such that no cluster crosses a
border of either partition, so refinement can take each border from the better one. Other initial
partitions have straight fronts, which sweep over the whole graph; clusters and k-means would round
these off.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from evener.arrays import NO_VERTICES, IntArray, Part
from evener.partitioning.initial.bisection import DEALS, cut_of, recursive_bisection
from evener.partitioning.initial.kmeans import BALANCE
from evener.partitioning.initial.sweeping import (
    FAR,
    best_directions,
    best_sweep,
    directions_of_hops,
    directions_of_points,
    far_vertices,
    rows_of_hops,
    swept_blocks,
)
from evener.partitioning.levels.levels import (
    LARGEST_CLUSTER,
    GraphLevel,
    Hierarchy,
    shrink_all,
    shrink_freely,
)
from evener.partitioning.multilevel.level_state import (
    CLOSE,
    OTHER_SEED,
    MultilevelTask,
    Placed,
    block_weights,
    border_length,
    placed,
    refine,
    refined_back,
    starting_blocks,
    within,
    worth_following,
)

# Chosen with benchmarks/few_blocks.py on graphs that its table does not report.
FEW_BLOCKS = 8  # largest number of blocks
SMALL = 8_000  # vertices of the graph on which partitions are tried and combined
PLACED = 2_000  # vertices of the smallest graph, which is bisected
OTHER_PLACED, OTHER_SHRINKAGE = 4_000, 3.0  # PLACED, and shrink_by, for the second partition
BISECTIONS, REFINED = 4, 2  # number of bisections; how many of them, of least cut, are refined
MOST_PLACES = 100_000  # fronts are chosen on a graph of at most this many vertices x directions
# (Border length of straight fronts) / (that of the first partition), measured for the cut. Fronts
# above STRAIGHT on a coarse graph are not tried on the whole graph. If fronts are below CLEARLY on
# the whole graph, and satisfy the limits, no other partition is made: refined on finer levels, the
# first falls to 0.8 of its cut in 2-D, to 0.52 to 0.75 in 3-D. Measured: fronts at 0.78 were 18 %
# worse than the first, refined (cells of a 3-D mesh); at 0.71 to 0.75 (grids), 3 to 12 % better.
STRAIGHT, CLEARLY = 1.2, 0.76
SIDE_OFF = 2 * BALANCE  # a block of a start may be off its target by this fraction

Points = npt.NDArray[np.float32]


def few_blocks(
    hierarchy: Hierarchy, points: Points | None, order: IntArray, task: MultilevelTask
) -> tuple[Part, Part]:
    """Return blocks (n,) near the task's contract, and the blocks before refinement.

    hierarchy: levels down to a few vertices per block. points (d, n) of its finest level, in a unit
    box, or None. order (n,): each vertex's number in the user's graph.
    """
    level = hierarchy.above[0][0] if hierarchy.above else hierarchy.coarsest
    targets = task.contract.targets
    if task.preset.rivals > 1:
        # Minimum cuts on coarse levels, too: the blocks of cells of 3-D meshes were up to 25 %
        # worse without, as FM hardly moves their large borders. With many blocks they gain 1 %.
        task = replace(task, preset=replace(task.preset, cuts_on_coarse_levels=True))

    def keeps(part: Part) -> bool:
        return within(block_weights(level, part, targets.size), task.contract)

    small = hierarchy.down_to(SMALL)
    below = Hierarchy(hierarchy.above[len(small.above) :], hierarchy.coarsest, hierarchy.part)
    bisected = _bisected(below.down_to(PLACED), task, len(small.above))
    start = hierarchy.down_to(PLACED).on_finest(bisected[0].part, task.threads)
    first = refined_back(below.down_to(PLACED), bisected, task, len(small.above))
    fronts = _swept(level, hierarchy, points, order, cut_of(small.coarsest, first), task)
    length = border_length(small.coarsest, first, task)
    swept = np.inf if fronts is None else border_length(level, fronts, task)
    found = []
    if not (fronts is not None and swept < CLEARLY * length and keeps(fronts)):
        blocks = _combined_tries(small, below, first, points, task)
        length = border_length(blocks.level, blocks.part, task)
        found.append((refined_back(small, [blocks], task), start))
    if fronts is not None and swept < length:
        straight = placed(level, fronts, task, 0)
        found.append((refine(straight, task, 0).part, fronts))

    return min(found, key=lambda one: (not keeps(one[0]), border_length(level, one[0], task)))


def _combined_tries(
    small: Hierarchy,
    below: Hierarchy,
    part: Part,
    points: Points | None,
    task: MultilevelTask,
) -> Placed:
    """Return blocks of the coarsest level of `small`, combined from up to three partitions.

    part (n,): the first partition. below: this level, coarsened further. The second partition is
    made by bisection on clusters of different size. The third is made by `starting_blocks` on the
    coarsest level of `below`; it is ignored if its borders are much longer, as none is then good.
    """
    level, depth, targets = small.coarsest, len(small.above), task.contract.targets
    if task.preset.rivals > 1:
        task = replace(task, seed=task.seed + 1)
        most = -(-OTHER_PLACED // targets.size)
        inner = shrink_freely(level, targets, most, OTHER_SHRINKAGE, task.threads)
        other = refined_back(inner, _bisected(inner, task, depth), task, depth)
        part = combined(level, part, other, task, depth)
        near = None if points is None else below.coarse_points(small.coarse_points(points))
        starts = starting_blocks(below.coarsest, near, task, depth + len(below.above))
        other = refined_back(below, starts, task, depth)
        if border_length(level, other, task) <= CLOSE * border_length(level, part, task):
            part = combined(level, part, other, task, depth)
    return placed(level, part, task, depth)


def _bisected(hierarchy: Hierarchy, task: MultilevelTask, above: int) -> list[Placed]:
    """Return partitions of the coarsest level by recursive bisection, refined.

    above: number of finer levels that the hierarchy does not contain.
    """
    depth = above + len(hierarchy.above)
    level, targets = hierarchy.coarsest, task.contract.targets
    found = [
        recursive_bisection(level, targets, SIDE_OFF, task.seed + OTHER_SEED * i, DEALS[i])
        for i in range(BISECTIONS)
    ]
    found = sorted(found, key=lambda part: cut_of(level, part))[:REFINED]
    rivals = [refine(placed(level, part, task, depth), task, depth) for part in found]
    return worth_following(rivals, task)


def combined(
    level: GraphLevel, one: Part, other: Part, task: MultilevelTask, level_depth: int = 0
) -> Part:
    """Return blocks (n,) that combine two partitions and are refined.

    The graph is coarsened such that no cluster crosses a border of either partition. level_depth:
    number of the level, 0 for the whole graph.
    """
    contract = task.contract
    k, enough = contract.k, PLACED
    pairs, number = np.unique(one * np.int32(k) + other, return_inverse=True)
    number = number.astype(np.int32)
    heaviest = 2 * float(level.vwgt.sum()) / enough
    caps = np.full(pairs.size, min(heaviest, LARGEST_CLUSTER * float(contract.targets.min())))
    hierarchy = shrink_all(level, number, caps, enough, task.preset.shrink_by, task.threads)
    depth, inside = level_depth + len(hierarchy.above), pairs[hierarchy.part]
    starts = [
        placed(hierarchy.coarsest, part.astype(np.int32), task, depth)
        for part in (inside // k, inside % k)
    ]
    rivals = worth_following([refine(start, task, depth) for start in starts], task)
    return refined_back(hierarchy, rivals, task, level_depth)


def _swept(
    level: GraphLevel,
    hierarchy: Hierarchy,
    points: Points | None,
    order: IntArray,
    cut: float,
    task: MultilevelTask,
) -> Part | None:
    """Return blocks (n,) between straight fronts, or None if these cut much more than `cut`.

    The finest level that is small enough to try all choices determines which blocks lie on which
    side of a front, and which directions are used in addition to the axes.
    """
    targets = task.contract.targets
    directions = directions_of_hops() if points is None else directions_of_points(len(points))
    most = MOST_PLACES // (FAR + 1 + len(directions))
    tried = hierarchy.down_to(most if points is None else MOST_PLACES // len(points))
    rows, marks = _rows(tried, points, order)
    sweep = best_sweep(tried.coarsest, rows, targets, SIDE_OFF)
    if sweep.cut > STRAIGHT * cut:
        return None
    tree, on_whole = sweep.tree, not tried.above
    if points is not None:
        tried = hierarchy.down_to(most)
        rows, _ = _rows(tried, points, order)
    chosen, others = best_directions(tried.coarsest, rows, tree, directions, SIDE_OFF)
    if points is None:
        cluster = tried.on_finest(np.arange(tried.coarsest.n, dtype=np.int32), task.threads)
        first = np.array([int((cluster == mark).argmax()) for mark in marks])
        points = rows_of_hops(level, first, order)
    fronts = sweep.part if on_whole else swept_blocks(level, points, tree, SIDE_OFF)
    if not chosen:
        return fronts
    if tried.above:
        places = np.stack([*points, *(direction(points) for direction in chosen)])
        others = swept_blocks(level, places, tree, SIDE_OFF)
    return min(fronts, others, key=lambda part: cut_of(level, part))


def _rows(hierarchy: Hierarchy, points: Points | None, order: IntArray) -> tuple[Points, IntArray]:
    """Return the coordinates (d, n) of the coarsest level along which fronts sweep.

    Without points, these are hop distances from some vertices, which are returned too.
    """
    if points is not None:
        return hierarchy.coarse_points(points), NO_VERTICES
    marks = far_vertices(hierarchy.coarsest)
    number = hierarchy.coarse_points(order[None].astype(np.float32))
    return rows_of_hops(hierarchy.coarsest, marks, number), marks
