"""Few blocks: where a handful of borders decide, starts matter more than refinement.

The graph is shrunk to some thousands of vertices. There, multilevel partitions that shrink it
further in unlike ways are combined: it is shrunk once more so that no cluster crosses a border of
either, and refinement may take each border from the better one. Straight fronts, swept over the
whole graph, are the other start: clusters and k-means would round them off.
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
    placed,
    refine,
    refined_back,
    starting_blocks,
    within,
    worth_following,
)

# Chosen with benchmarks/few_blocks.py on graphs that its table does not report.
FEW_BLOCKS = 8  # blocks at most
SMALL = 8_000  # vertices of the graph on which partitions are tried and combined
PLACED = 2_000  # vertices of the smallest graph, which is bisected
OTHER_PLACED, OTHER_SHRINKAGE = 4_000, 3.0  # the same, and shrink_by, of the second partition
BISECTIONS, REFINED = 4, 2  # bisections tried; how many of these, of least cut, are refined
MOST_PLACES = 100_000  # vertices times directions of the graph on which fronts are chosen
# Cut of straight fronts, over that of the first partition. Fronts that cut more than STRAIGHT on a
# coarse graph are not tried on the whole; where fronts cut less than CLEARLY on the whole graph,
# within the limits, no other partition is made.
STRAIGHT, CLEARLY = 1.2, 0.8
SIDE_OFF = 2 * BALANCE  # share of its target by which a block of a start may be off

Points = npt.NDArray[np.float32]


def few_blocks(
    hierarchy: Hierarchy, points: Points | None, order: IntArray, task: MultilevelTask
) -> tuple[Part, Part]:
    """Return blocks (n,) near the task's contract, and those that refinement began with.

    hierarchy: down to some vertices a block. points (d, n) of its finest level, in a unit box, or
    None; order (n,): each vertex's number in the user's graph.
    """
    level = hierarchy.above[0][0] if hierarchy.above else hierarchy.coarsest
    targets = task.contract.targets

    def keeps(part: Part) -> bool:
        return within(block_weights(level, part, targets.size), task.contract)

    small = hierarchy.down_to(SMALL)
    below = Hierarchy(hierarchy.above[len(small.above) :], hierarchy.coarsest, hierarchy.part)
    bisected = _bisected(below.down_to(PLACED), task, len(small.above))
    start = hierarchy.down_to(PLACED).on_finest(bisected[0].part, task.threads)
    first = refined_back(below.down_to(PLACED), bisected, task, len(small.above))
    cut = cut_of(small.coarsest, first)
    fronts = _swept(level, hierarchy, points, order, cut, task)
    swept = np.inf if fronts is None else cut_of(level, fronts)
    found = []
    if not (fronts is not None and swept < CLEARLY * cut and keeps(fronts)):
        blocks = _combined_tries(small, below, first, points, task)
        cut = cut_of(blocks.level, blocks.part)
        found.append((refined_back(small, [blocks], task), start))
    if fronts is not None and swept < cut:
        straight = placed(level, fronts, task, 0, finer_rounding=None)
        found.append((refine(straight, task, 0).part, fronts))

    return min(found, key=lambda one: (not keeps(one[0]), cut_of(level, one[0])))


def _combined_tries(
    small: Hierarchy,
    below: Hierarchy,
    part: Part,
    points: Points | None,
    task: MultilevelTask,
) -> Placed:
    """Return blocks of the coarsest level of `small`, combined from three partitions of it.

    below: that level, shrunk further; part (n,): the first partition. Another one is bisected on
    clusters of unlike size, and one is placed, as many blocks are, where the fewest vertices are
    left; where it cuts much more than the others, there is hardly a border to take from it.
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
        if cut_of(level, other) <= CLOSE * cut_of(level, part):
            part = combined(level, part, other, task, depth)
    return placed(level, part, task, depth, finer_rounding=None)


def _bisected(hierarchy: Hierarchy, task: MultilevelTask, above: int) -> list[Placed]:
    """Return partitions of the coarsest level by its edges, refined.

    above: levels that are finer than those of the hierarchy.
    """
    depth = above + len(hierarchy.above)
    level, targets = hierarchy.coarsest, task.contract.targets
    found = [
        recursive_bisection(level, targets, SIDE_OFF, task.seed + OTHER_SEED * i, DEALS[i])
        for i in range(BISECTIONS)
    ]
    found = sorted(found, key=lambda part: cut_of(level, part))[:REFINED]
    rivals = [
        refine(placed(level, part, task, depth, finer_rounding=None), task, depth) for part in found
    ]
    return worth_following(rivals)


def combined(
    level: GraphLevel, one: Part, other: Part, task: MultilevelTask, level_depth: int = 0
) -> Part:
    """Return blocks (n,) refined from both, shrunk so that no cluster crosses a border of either.

    level_depth: of the level, 0 for the whole graph.
    """
    contract = task.contract
    k, enough = contract.k, PLACED
    both = one * np.int32(k) + other
    pairs = np.flatnonzero(np.bincount(both, minlength=k * k))
    number = np.zeros(k * k, np.int32)
    number[pairs] = np.arange(pairs.size)
    heaviest = 2 * float(level.vwgt.sum()) / enough
    caps = np.full(pairs.size, min(heaviest, LARGEST_CLUSTER * float(contract.targets.min())))
    hierarchy = shrink_all(level, number[both], caps, enough, task.preset.shrink_by, task.threads)
    depth, inside = level_depth + len(hierarchy.above), pairs[hierarchy.part]
    starts = [
        placed(hierarchy.coarsest, part.astype(np.int32), task, depth, finer_rounding=None)
        for part in (inside // k, inside % k)
    ]
    rivals = worth_following([refine(start, task, depth) for start in starts])
    return refined_back(hierarchy, rivals, task, level_depth)


def _swept(
    level: GraphLevel,
    hierarchy: Hierarchy,
    points: Points | None,
    order: IntArray,
    cut: float,
    task: MultilevelTask,
) -> Part | None:
    """Return blocks (n,) between straight fronts, None where these cut much more than `cut`.

    How blocks are dealt to both sides, and which directions are used in addition to the axes, is
    chosen on the finest level on which all can be tried.
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
    """Return what is swept of the coarsest level (d, n), and from which vertices hops count."""
    if points is not None:
        return hierarchy.coarse_points(points), NO_VERTICES
    marks = far_vertices(hierarchy.coarsest)
    number = hierarchy.coarse_points(order[None].astype(np.float32))
    return rows_of_hops(hierarchy.coarsest, marks, number), marks
