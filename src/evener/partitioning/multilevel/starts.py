"""Initial partitions of the coarsest level: several are made, since they are cheap there.

Balanced k-means places blocks by distance, which is best where cells are well shaped; large graphs
without coordinates get places from hops along their edges. Recursive bisection uses edges alone,
and is better where cells are stretched or differ in size by orders of magnitude. All are rounded by
diffusion and refined; those of least cut are kept.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from evener.partitioning.initial.bisection import DEALS, cut_of, recursive_bisection
from evener.partitioning.initial.diffusion import BRIEFLY, THOROUGH
from evener.partitioning.initial.embedding import embedded
from evener.partitioning.initial.kmeans import along_curve, kmeans_blocks
from evener.partitioning.levels.levels import GraphLevel
from evener.partitioning.multilevel.level_state import (
    MultilevelTask,
    Placed,
    placed,
    refine,
    rounded,
    within,
)

# Tuned; what chose them is not recorded. benchmarks/partitioners.py shows what they give.
BALANCE = 0.01  # relative deviation from its target that k-means may leave to a block
PER_BLOCK_ROUNDED = 1000  # max. vertices per block of finer graphs on which blocks are rounded too
MOST_RIVALS = 2  # max. initial partitions that are refined on finer levels
BISECTED_BLOCKS = 1024  # max. blocks bisected over all repetitions
FEW_BLOCKS = 32  # up to so many blocks are bisected too: chance decides more, and it takes little
OTHER_SEED = 1009  # added to the seed for each repetition
# Cut after rounding, over that of k-means' blocks: below it, k-means was misled by distances.
MISLED_RATIO = 0.75
CLOSE = 1.06  # times the least cut: partitions up to it may still be best on a finer graph


def starting_blocks(
    level: GraphLevel,
    points: npt.NDArray[np.float32] | None,
    task: MultilevelTask,
    depth: int,
    *,
    trusting: bool = False,
) -> list[Placed]:
    """Return one or two initial partitions of this level, that of least cut first.

    points (d, n) in a unit box, sorted along a curve; or None. depth: of the level, 0 for the whole
    graph, on which limits are kept exactly. trusting: whether k-means alone is enough where
    rounding shows that it places blocks well; without points, only for many blocks.
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
    # Rounding helps meshes; on graphs of small diameter it makes the cut worse.
    finer_rounding = task.preset.finer_rounding
    found += [
        best,
        refine(rounded(level, best.part, task, depth, THOROUGH, finer_rounding), task, depth),
    ]
    if points is not None and not trusting:
        found.append(_by_kmeans(level, points, task, depth))
    return worth_following(found)


def worth_following(rivals: list[Placed]) -> list[Placed]:
    """Return the partition of least cut, and the second where its cut is close to that."""
    if len(rivals) == 1:  # counting the cut costs as much as a round of searches
        return rivals
    cuts = np.array([cut_of(blocks.level, blocks.part) for blocks in rivals])
    order = np.argsort(cuts, kind="stable")
    return [rivals[i] for i in order[:MOST_RIVALS] if cuts[i] <= CLOSE * cuts[order[0]]]


def _by_kmeans(
    level: GraphLevel, points: npt.NDArray[np.float32], task: MultilevelTask, depth: int
) -> Placed:
    targets = task.contract.targets
    blocks, _ = along_curve(points, level.vwgt, targets, BALANCE, task.threads)
    finer_rounding = task.preset.finer_rounding
    return refine(rounded(level, blocks, task, depth, THOROUGH, finer_rounding), task, depth)


def _by_distance(
    level: GraphLevel, points: npt.NDArray[np.float32] | None, task: MultilevelTask, depth: int
) -> tuple[list[Placed], bool]:
    """Return blocks by k-means, of points or of places from hops; and whether they are good.

    No blocks where hops give no places.
    """
    targets = task.contract.targets
    places = embedded(level) if points is None else points.T.astype(np.float64)
    if places is None or not targets.min() > 0:
        return [], False
    blocks = kmeans_blocks(places, level.vwgt, targets, threads=task.threads)
    spread = THOROUGH if points is None else task.preset.rounding
    found = refine(rounded(level, blocks, task, depth, spread, BRIEFLY), task, depth)
    return [found], cut_of(level, found.part) > MISLED_RATIO * cut_of(level, blocks)


def _bisected(level: GraphLevel, task: MultilevelTask, depth: int, deal: str) -> Placed:
    bisected = recursive_bisection(level, task.contract.targets, 2 * BALANCE, task.seed, deal)
    return refine(placed(level, bisected, task, depth, finer_rounding=None), task, depth)


def follow(blocks: Placed, task: MultilevelTask, depth: int) -> Placed:
    """Round and refine blocks projected from a coarser level."""
    if blocks.finer_rounding and blocks.level.n <= PER_BLOCK_ROUNDED * task.contract.k:
        blocks = rounded(
            blocks.level, blocks.part, task, depth, blocks.finer_rounding, blocks.finer_rounding
        )
    elif depth == 0 and not within(blocks.weight, task.contract):
        # Limits are wider on coarse levels, and searches bring back no block that is outside.
        blocks = placed(
            blocks.level, blocks.part, task, depth, finer_rounding=blocks.finer_rounding
        )
    return refine(blocks, task, depth)
