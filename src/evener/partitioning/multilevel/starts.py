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

from evener.partitioning.initial.bisection import DEALS, cut_of, recursive_bisection
from evener.partitioning.initial.diffusion import BRIEFLY, THOROUGH
from evener.partitioning.initial.embedding import embedded
from evener.partitioning.initial.kmeans import along_curve, kmeans_blocks
from evener.partitioning.levels.levels import Level
from evener.partitioning.multilevel.level_state import (
    MultilevelTask,
    Placed,
    placed,
    refine,
    rounded,
    within,
)

BALANCE = 0.01  # what k-means leaves a block off its target
PER_BLOCK_ROUNDED = 1000  # vertices for each block of graphs on which blocks are rounded again
MOST_RIVALS = 2
BISECTED_BLOCKS = 1024  # in all turns together, where they are fewer than this
FEW_BLOCKS = 32  # leave much to chance, and cost little: they are bisected in any case
OTHER_SEED = 1009
MISPLACED = 0.75  # of the cut is left where distance has misled k-means
CLOSE = 1.06  # of the least cut: ways that cut no more than this may still win on a finer graph


def starting_blocks(
    level: Level,
    points: npt.NDArray[np.float32] | None,
    task: MultilevelTask,
    depth: int,
    *,
    trusting: bool = False,
) -> list[Placed]:
    """Return one start or more on this level, the best first.

    points (d, n) in a unit box, sorted along a curve; or None. depth: of the level, 0 where it
    is the whole graph, on which limits are kept to. trusting: whether distances, of points or in
    hops, are enough where rounding shows that they place blocks well; hops, for many blocks only.
    """
    found: list[Placed] = []
    if trusting:
        found, good = _by_distance(level, points, task, depth)
        if good and (points is not None or task.contract.k > FEW_BLOCKS):
            return found
    turns = int(np.clip(BISECTED_BLOCKS // task.contract.k, 1, len(DEALS)))
    tasks = [replace(task, seed=task.seed + OTHER_SEED * turn) for turn in range(turns)]
    bisected = [
        _bisected(level, other, depth, deal) for other, deal in zip(tasks, DEALS, strict=False)
    ]
    best = worth_following(bisected)[0]
    # Rounding helps meshes, and spoils graphs on which load spreads everywhere at once.
    again = task.preset.again
    found += [best, refine(rounded(level, best.part, task, depth, THOROUGH, again), task, depth)]
    if points is not None and not trusting:
        found.append(_by_kmeans(level, points, task, depth))
    return worth_following(found)


def worth_following(rivals: list[Placed]) -> list[Placed]:
    """Return the two of least cut, or the one, where the second is not close to it; that first."""
    if len(rivals) == 1:  # counting costs as much as a round of searches
        return rivals
    cuts = np.array([cut_of(blocks.level, blocks.part) for blocks in rivals])
    order = np.argsort(cuts, kind="stable")
    return [rivals[i] for i in order[:MOST_RIVALS] if cuts[i] <= CLOSE * cuts[order[0]]]


def _by_kmeans(
    level: Level, points: npt.NDArray[np.float32], task: MultilevelTask, depth: int
) -> Placed:
    targets = task.contract.targets
    blocks, _ = along_curve(points, level.vwgt, targets, BALANCE, task.threads)
    again = task.preset.again
    return refine(rounded(level, blocks, task, depth, THOROUGH, again), task, depth)


def _by_distance(
    level: Level, points: npt.NDArray[np.float32] | None, task: MultilevelTask, depth: int
) -> tuple[list[Placed], bool]:
    """Return blocks by k-means of points, or of places that hops give; and whether they are good.

    There are none where hops give no places.
    """
    targets = task.contract.targets
    places = embedded(level) if points is None else points.T.astype(np.float64)
    if places is None or not targets.min() > 0:
        return [], False
    blocks = kmeans_blocks(places, level.vwgt, targets, threads=task.threads)
    spread = THOROUGH if points is None else task.preset.rounding
    found = refine(rounded(level, blocks, task, depth, spread, BRIEFLY), task, depth)
    return [found], cut_of(level, found.part) > MISPLACED * cut_of(level, blocks)


def _bisected(level: Level, task: MultilevelTask, depth: int, deal: str) -> Placed:
    bisected = recursive_bisection(level, task.contract.targets, 2 * BALANCE, task.seed, deal)
    return refine(placed(level, bisected, task, depth, again=None), task, depth)


def follow(blocks: Placed, task: MultilevelTask, depth: int) -> Placed:
    """Round and refine blocks that came down from a coarser level."""
    if blocks.again and blocks.level.n <= PER_BLOCK_ROUNDED * task.contract.k:
        blocks = rounded(blocks.level, blocks.part, task, depth, blocks.again, blocks.again)
    elif depth == 0 and not within(blocks.weight, task.contract):
        # Coarse limits were wider, and searches bring no block back that is outside.
        blocks = placed(blocks.level, blocks.part, task, depth, again=blocks.again)
    return refine(blocks, task, depth)
