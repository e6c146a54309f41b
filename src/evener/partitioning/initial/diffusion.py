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

from evener.arrays import FloatArray, Part
from evener.partitioning.initial import diffusion_kernels as kernels
from evener.partitioning.initial.diffusion_kernels import DiffusedLoads
from evener.partitioning.levels.levels import GraphLevel
from evener.threads import MOST_SLICES, in_rounds, slice_ends

LEAST_TARGET = 1e-9  # of the mean target: targets of 0 count as this
LARGE = 1 << 16  # vertices from which threads share a step; below, all rounds are one call
DENSE_PER_BLOCK = 250  # vertices: on larger graphs most loads would be 0
SLICE = 1 << 11  # least vertices of a slice


@dataclass(frozen=True)
class Spread:
    """How often blocks are formed anew, and steps that their loads spread each time.

    settled: share of the vertices; a round that changes fewer is the last. dense: up to so many
    blocks, small loads are kept too on small graphs, which takes less time than to drop them.
    """

    rounds: int
    steps: int
    settled: float = 0.0
    dense: int = 0


# Loads reach the middle of the next block where it has some 30 vertices.
THOROUGH = Spread(rounds=14, steps=8)
AGAIN = Spread(rounds=6, steps=5)  # on a finer graph, where blocks are in their places
BRIEFLY = Spread(rounds=3, steps=5)  # likewise, where they were round from the start


def diffused_blocks(
    level: GraphLevel, targets: FloatArray, part: Part, spread: Spread, threads: int = 1
) -> Part:
    """Return blocks (n,) of weights near `targets` (k,) [units], rounder than those of `part`.

    For graphs of 20 to 300 vertices a block; those of `part` may be rough. Weights are met as
    nearly as factors can. Where all targets are 0, nothing changes. Fixed vertices keep their loads
    and blocks.
    """
    if not targets.sum() > 0:
        return part.copy()
    k = targets.size
    targets = np.maximum(targets, LEAST_TARGET * targets.mean())
    part = part.copy()
    least_changed = int(np.ceil(spread.settled * level.n))
    if level.n < LARGE or threads == 1:
        dense = k <= spread.dense and level.n <= DENSE_PER_BLOCK * k
        kernels.diffuse(
            level.arrays, targets, spread.rounds, spread.steps, least_changed, dense, level.fixed,
            part,
        )  # fmt: skip
        return part
    loads, factor, scratch = Spreading.of(level, k, threads), np.ones(k), np.empty_like(part)
    for _ in range(spread.rounds):
        held = loads.after(part, spread.steps)
        if kernels.settle(level.vwgt, held, targets, factor, part, scratch) < least_changed:
            break
    return part


def _no_loads(n: int) -> DiffusedLoads:
    """Return room for the loads of n vertices."""
    size = (n, kernels.MOST)
    return DiffusedLoads(
        np.empty(size, np.int32), np.empty(size, np.float32), np.empty(n, np.int32)
    )


@dataclass(eq=False)
class Spreading:
    """A level, what spreads over its edges, and the two sets of loads that take turns."""

    level: GraphLevel
    k: int
    threads: int
    share: npt.NDArray[np.float32]
    layer: Part
    queue: Part
    now: DiffusedLoads
    later: DiffusedLoads

    @classmethod
    def of(cls, level: GraphLevel, k: int, threads: int) -> Spreading:
        """Return what spreads over the edges of this level, for k blocks."""
        n = level.n
        share = np.empty(n, np.float32)
        kernels.shares(level.xadj, level.adjwgt, kernels.MOVES, share)
        layer, queue = np.empty(n, np.int32), np.empty(n, np.int32)
        return cls(level, k, threads, share, layer, queue, _no_loads(n), _no_loads(n))

    def after(self, part: Part, steps: int) -> DiffusedLoads:
        """Return the loads after some steps, 1 of its own block on every vertex before them."""
        level = self.level
        slices = min(max(level.n // SLICE, 1), MOST_SLICES)
        kernels.layers(level.xadj, level.adjncy, part, level.fixed, steps, self.layer, self.queue)
        kernels.start(part, self.now)
        kernels.start(part, self.later)
        pools = np.zeros((slices, self.k), np.float32), np.empty((slices, self.k), np.int32)
        ends = slice_ends(level.n, slices)

        def one(step: int, i: int) -> None:
            before, after = (self.now, self.later) if step % 2 == 0 else (self.later, self.now)
            kernels.spread(
                level.arrays, kernels.STAYS, self.share, self.layer, step, ends[i], ends[i + 1],
                before, after, pools[0][i], pools[1][i],
            )  # fmt: skip

        in_rounds(one, steps, slices, self.threads)
        return self.now if steps % 2 == 0 else self.later
