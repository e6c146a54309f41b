"""Where blocks start: on a small graph, where several ways are cheap and the best is kept.

Balanced k-means places blocks by distance, which is best where cells are well shaped; large graphs
without coordinates get places from hops along their edges. Recursive bisection looks at edges
alone, and wins where cells are stretched, or grow by orders of magnitude. Diffusion rounds the
blocks of all, refinement follows, then their cuts are compared.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from evener.partitioning.bisection import ROUGH, cut_of, recursive_bisection
from evener.partitioning.diffusion import BRIEFLY, THOROUGH
from evener.partitioning.embedding import embedded
from evener.partitioning.hierarchies import shrink_freely
from evener.partitioning.kmeans import along_curve, kmeans_blocks
from evener.partitioning.levels import Level
from evener.partitioning.placed import Placed, Task, descend, placed, refine, rounded, within

BALANCE = 0.01  # what k-means leaves a block off its target
PER_BLOCK_BISECTED = 25  # vertices for each block of the graph that is bisected
PER_BLOCK_ROUNDED = 1000  # vertices for each block of graphs on which blocks are rounded again
WORTH_ROUNDING = 1.1  # of the cut without, which finer graphs improve less
MOST_RIVALS = 2
BISECTED_BLOCKS = 64  # in all turns together, where they are fewer than this
MOST_BISECTIONS = 4
OTHER_SEED = 1009
MISPLACED = 0.75  # of the cut is left where hops have misled k-means
CLOSE = 1.06  # of the least cut: ways that cut no more than this may still win on a finer graph


def starting_blocks(
    level: Level,
    points: npt.NDArray[np.float32] | None,
    task: Task,
    depth: int,
    *,
    by_hops: bool = False,
) -> list[Placed]:
    """Return one start or more on this level, the best first.

    points (d, n) in a unit box, sorted along a curve; or None. depth: of the level, 0 where it
    is the whole graph, on which limits are kept to. by_hops: where there are no points, whether
    hops along edges give some; it is bisected then only where they do not.
    """
    found: list[Placed] = []
    if points is None and by_hops:
        found, good = _by_hops(level, task, depth)
        if good:
            return found
    # Few blocks leave much to chance, and cost little.
    turns = int(np.clip(BISECTED_BLOCKS // task.contract.k, 1, MOST_BISECTIONS))
    tasks = [replace(task, seed=task.seed + OTHER_SEED * turn) for turn in range(turns)]
    found += [_bisected(level, other, depth) for other in tasks]
    if points is not None:
        found.append(_by_kmeans(level, points, task, depth))
    return worth_following(found)


def worth_following(rivals: list[Placed]) -> list[Placed]:
    """Return the two of least cut, or the one, where the second is not close to it; that first."""
    if len(rivals) == 1:  # counting costs as much as a round of searches
        return rivals
    cuts = np.array([cut_of(blocks.level, blocks.part) for blocks in rivals])
    order = np.argsort(cuts, kind="stable")
    return [rivals[i] for i in order[:MOST_RIVALS] if cuts[i] <= CLOSE * cuts[order[0]]]


def _by_kmeans(level: Level, points: npt.NDArray[np.float32], task: Task, depth: int) -> Placed:
    targets = task.contract.targets
    blocks, _ = along_curve(points, level.vwgt, targets, BALANCE, task.threads)
    return refine(rounded(level, blocks, task, depth, THOROUGH), task, depth)


def _by_hops(level: Level, task: Task, depth: int) -> tuple[list[Placed], bool]:
    """Return blocks by k-means of places that hops give, if any; and whether those were good."""
    places, targets = embedded(level), task.contract.targets
    if places is None or not targets.min() > 0:
        return [], False
    blocks = kmeans_blocks(places, level.vwgt, targets, threads=task.threads)
    found = refine(rounded(level, blocks, task, depth, THOROUGH, BRIEFLY), task, depth)
    return [found], cut_of(level, found.part) > MISPLACED * cut_of(level, blocks)


def _bisected(level: Level, task: Task, depth: int) -> Placed:
    """Bisect a still smaller graph, and come back."""
    targets = task.contract.targets
    hierarchy = shrink_freely(
        level, targets, PER_BLOCK_BISECTED, task.preset.shrink_by, task.threads
    )
    blocks = _smallest(hierarchy.coarsest, task, depth + len(hierarchy.above))
    for i in range(len(hierarchy.above) - 1, -1, -1):
        finer, shrunk = hierarchy.above[i]
        blocks = follow(descend(blocks, finer, shrunk, task), task, depth + i)
    return blocks


def _smallest(level: Level, task: Task, depth: int) -> Placed:
    """Bisect, and round where that helps: not where load spreads everywhere at once, as on
    power-law graphs."""
    bisected = recursive_bisection(level, task.contract.targets, 2 * BALANCE, task.seed, ROUGH)
    blocks = refine(rounded(level, bisected, task, depth, THOROUGH), task, depth)
    if cut_of(level, blocks.part) < cut_of(level, bisected):
        return blocks
    plain = refine(placed(level, bisected, task, depth, again=None), task, depth)
    worth = cut_of(level, blocks.part) < WORTH_ROUNDING * cut_of(level, plain.part)
    return blocks if worth else plain


def follow(blocks: Placed, task: Task, depth: int) -> Placed:
    """Round and refine blocks that came down from a coarser level."""
    if blocks.again and blocks.level.n <= PER_BLOCK_ROUNDED * task.contract.k:
        blocks = rounded(blocks.level, blocks.part, task, depth, blocks.again, blocks.again)
    elif depth == 0 and not within(blocks.weight, task.contract):
        # Coarse limits were wider, and searches bring no block back that is outside.
        blocks = placed(blocks.level, blocks.part, task, depth, again=blocks.again)
    return refine(blocks, task, depth)
