"""Hierarchy: a graph and the ever smaller ones it was shrunk to, freely or inside blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.partitioning.levels import Level, Part, Shrunk, projected, shrink

LARGEST_CLUSTER = 1 / 8  # of the smallest block's target
CRUMBS = 0.01  # of the whole: the smallest blocks, up to so much together, do not keep it from
# shrinking; they are made of what is left, or on the finest graph
LEAST_SHRINKAGE = 0.95


@dataclass(eq=False)
class Hierarchy:
    """Levels from the finest on, each with what it was shrunk to; the coarsest, its blocks (n,)."""

    above: list[tuple[Level, Shrunk]]
    coarsest: Level
    part: Part

    def on_finest(self, blocks: Part, threads: int) -> Part:
        """Return the blocks (n,) of the finest level, given those of the coarsest."""
        for _, shrunk in reversed(self.above):
            blocks = projected(shrunk, blocks, threads)
        return blocks

    def coarse_points(self, points: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the middles (d, coarse n) of clusters of points (d, n), by weight."""
        middles = points.astype(np.float64)
        for level, shrunk in self.above:
            # Clusters of no weight lie where their vertices do.
            weight = np.maximum(level.vwgt, 1e-300)
            count, of = shrunk.level.n, shrunk.coarse_of
            mass = np.bincount(of, weight, count)
            middles = np.stack([np.bincount(of, weight * x, count) / mass for x in middles])
        return np.asarray(middles, np.float32)


def shrink_freely(
    level: Level, targets: FloatArray, per_block: int, shrink_by: float, threads: int
) -> Hierarchy:
    """Shrink until some `per_block` vertices are left for each block of `targets` (k,)."""
    enough = per_block * targets.size
    heaviest = 2 * float(level.vwgt.sum()) / enough
    caps = np.array([min(heaviest, LARGEST_CLUSTER * _smallest(targets))])
    return _shrink_all(level, np.zeros(level.n, np.int32), caps, enough, shrink_by, threads)


def _smallest(targets: FloatArray) -> float:
    """Return the smallest target (k,) beyond the crumbs."""
    ascending = np.sort(targets)
    crumbs = np.cumsum(ascending) <= CRUMBS * targets.sum()
    return float(ascending[min(int(crumbs.sum()), targets.size - 1)])


def shrink_inside(
    level: Level, part: Part, targets: FloatArray, per_block: int, shrink_by: float, threads: int
) -> Hierarchy:
    """Shrink likewise inside the blocks (n,) of `part`; no cluster crosses a border."""
    k = targets.size
    total = float(level.vwgt.sum())
    caps = np.minimum(total / (per_block * k), LARGEST_CLUSTER * targets)
    return _shrink_all(level, part, caps, int(1.5 * per_block * k), shrink_by, threads)


def _shrink_all(
    level: Level, part: Part, heaviest: FloatArray, enough: int, shrink_by: float, threads: int
) -> Hierarchy:
    """Shrink until `enough` vertices are left, or nothing shrinks any more."""
    total, above = float(level.vwgt.sum()), []
    # Clusters stay lighter than blocks, or the least blocks could not be made of them.
    while level.n > enough and total < heaviest.max() * level.n:
        mean = total / level.n
        caps = np.minimum(np.maximum(heaviest, 2 * mean), shrink_by * mean)
        shrunk = shrink(level, part, caps, threads)
        if shrunk.level.n > LEAST_SHRINKAGE * level.n:
            break
        above.append((level, shrunk))
        level, part = shrunk.level, shrunk.part
    return Hierarchy(above, level, part)
