"""Diffused blocks: k-means where there are no coordinates.

Load spreads from every block over the edges for a while, and every vertex joins the block whose
load is largest there: blocks with a bulge shrink, dents fill up, three borders meet at like
angles. It is k-means in the space of heat kernels, where distances do not depend on the
directions a small graph's edges happen to have, as those along its paths do. Factors on the loads
hold the blocks' weights. Merriman, Bence and Osher (1992) move borders this way; with unequal
weights held: Jacobs, Merkurjev and Esedoglu, "Auction dynamics" (2018); for graphs to be
partitioned: Meyerhenke, Monien and Sauerwald, "A new diffusion-based multilevel algorithm for
computing graph partitions" (2009).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.partitioning import diffusion_kernels as kernels
from evener.partitioning.levels import Level, Part

STAYS = np.float32(0.1)  # of a vertex's load, a step
CORRECTIONS = 10  # of the factors, a round
LARGEST_CORRECTION = 0.1
LEAST_TARGET = 1e-9  # of the mean: targets of 0 count as this
BALANCED = 0.01  # of the target: weights that are this near need no correction


@dataclass(frozen=True)
class Spread:
    """How often blocks are formed anew, and steps that their loads spread each time."""

    rounds: int
    steps: int


# Loads reach the middle of the next block where it has some 30 vertices.
THOROUGH = Spread(rounds=14, steps=8)
AGAIN = Spread(rounds=3, steps=10)  # on a finer graph, where blocks are in their places


def diffused_blocks(level: Level, targets: FloatArray, part: Part, spread: Spread) -> Part:
    """Return blocks (n,) of weights near `targets` (k,) [units], rounder than those of `part`.

    For graphs of 20 to 300 vertices a block; those of `part` may be rough. Weights are met as
    nearly as factors can. Where all targets are 0, nothing changes.
    """
    if not targets.sum() > 0:
        return part.copy()
    k = targets.size
    targets = np.maximum(targets, LEAST_TARGET * targets.mean())
    part = part.copy()
    now, later = _Loads.empty(level.n), _Loads.empty(level.n)
    factor, weight = np.ones(k), np.empty(k)
    pool, near = np.zeros(k, np.float32), np.empty(k, np.int32)
    for _ in range(spread.rounds):
        kernels.start(part, *now.arrays)
        for _ in range(spread.steps):
            kernels.spread(
                level.xadj, level.adjncy, level.adjwgt, STAYS, *now.arrays, *later.arrays, pool,
                near,
            )  # fmt: skip
            now, later = later, now
        for _ in range(CORRECTIONS):
            kernels.assign(level.vwgt, *now.arrays, factor, part, weight)
            ratio = weight / targets
            if np.abs(ratio - 1).max() < BALANCED:
                break
            change = np.maximum(ratio, 1e-3) ** -0.5
            factor *= np.clip(change, 1 - LARGEST_CORRECTION, 1 + LARGEST_CORRECTION)
    return part


@dataclass(eq=False)
class _Loads:
    """The blocks (n, MOST) whose loads (n, MOST) every vertex holds, count (n,) of them."""

    block: Part
    load: npt.NDArray[np.float32]
    count: Part

    @classmethod
    def empty(cls, n: int) -> _Loads:
        size = (n, kernels.MOST)
        return cls(np.empty(size, np.int32), np.empty(size, np.float32), np.empty(n, np.int32))

    @property
    def arrays(self) -> tuple[Part, npt.NDArray[np.float32], Part]:
        return self.block, self.load, self.count
