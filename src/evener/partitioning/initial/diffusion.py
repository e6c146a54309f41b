"""Diffusion: rounds the blocks of a graph, like k-means, but without coordinates.

Load spreads from every block over the edges for some steps, and every vertex joins the block with
the largest load there. So bulges of blocks shrink, dents fill up, and where three borders meet,
their angles become equal. This is k-means in the space of heat kernels, in which distances do not
depend on the directions of a small graph's edges, unlike path lengths. Factors on the loads keep
the weights of the blocks near their targets. Merriman, Bence and Osher (1992) move borders in this
way; with unequal weights: Jacobs, Merkurjev and Esedoglu, "Auction dynamics" (2018); for graph
partitioning: Meyerhenke, Monien and Sauerwald, "A new diffusion-based multilevel algorithm for
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

LEAST_TARGET = 1e-9  # targets below this fraction of the mean target are raised to it
LARGE = 1 << 16  # from this number of vertices, threads share a step; below, one call does all
DENSE_PER_BLOCK = 250  # [vertices per block] on larger graphs most loads would be 0
SLICE = 1 << 11  # least number of vertices in a slice


@dataclass(frozen=True)
class Spread:
    """The effort of diffusion.

    rounds: how often blocks are formed from loads. steps: how far loads spread in each round.
    settled: rounds end after one that changes less than this fraction of the vertices. dense:
    largest number of blocks for which all loads are stored on small graphs; this is faster than
    dropping small loads.
    """

    rounds: int
    steps: int
    settled: float = 0.0
    dense: int = 0


# In 8 steps, loads reach the middle of the next block if it has about 30 vertices.
THOROUGH = Spread(rounds=14, steps=8)
AGAIN = Spread(rounds=6, steps=5)  # on a finer graph, on which blocks are placed already
BRIEFLY = Spread(rounds=3, steps=5)  # on a finer graph, for blocks that were round at the start


def diffused_blocks(
    level: GraphLevel, targets: FloatArray, part: Part, spread: Spread, threads: int = 1
) -> Part:
    """Return blocks (n,) that are rounder than those of `part`, with weights near the targets.

    targets (k,) [units]; if all are 0, nothing changes. This is for graphs of 20 to 300 vertices
    per block; the borders of `part` may be rough. Weights are as near to the targets as factors on
    the loads can bring them. Fixed vertices keep their loads and blocks.
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
    """Return arrays for the loads of n vertices."""
    size = (n, kernels.MOST)
    return DiffusedLoads(
        np.empty(size, np.int32), np.empty(size, np.float32), np.empty(n, np.int32)
    )


@dataclass(eq=False)
class Spreading:
    """The data of diffusion on a level for k blocks.

    share: fraction of a load that moves over an edge. now, later: two sets of loads, of which each
    step reads one and writes the other. layer, queue: work arrays.
    """

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
        """Return the data of diffusion on this level for k blocks."""
        n = level.n
        share = np.empty(n, np.float32)
        kernels.shares(level.xadj, level.adjwgt, share)
        layer, queue = np.empty(n, np.int32), np.empty(n, np.int32)
        return cls(level, k, threads, share, layer, queue, _no_loads(n), _no_loads(n))

    def after(self, part: Part, steps: int) -> DiffusedLoads:
        """Return the loads after `steps` steps; initially each vertex has load 1 of its block."""
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
                level.arrays, self.share, self.layer, step, ends[i], ends[i + 1],
                before, after, pools[0][i], pools[1][i],
            )  # fmt: skip

        in_rounds(one, steps, slices, self.threads)
        return self.now if steps % 2 == 0 else self.later
