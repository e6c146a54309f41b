"""Localized k-way FM over one level: rounds of short searches from the boundary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import Part
from evener.partitioning.levels.levels import GraphLevel, Unsigned
from evener.partitioning.refinement import fm_kernels as kernels
from evener.partitioning.refinement.fm_kernels import BlockState, Marks, StoppingRule
from evener.partitioning.refinement.grouping import GROUPS, Groups, grouped, shuffle
from evener.threads import in_slices, slices_for

Flags = npt.NDArray[np.int8]

EVEN_PRICE = 8  # price of a border where all are alike; prices are whole numbers around it
# Mean reads of an adjacency entry in a round, at most, so that a round takes linear time even where
# there are hubs. Set by hand: no record of what chose 32.
MOST_LOOKS = 32


@dataclass(frozen=True)
class FMEffort:
    """How long localized FM goes on.

    rounds, finest_rounds: at most, on coarse levels and on the finest. patience, slope: see
    StoppingRule. least_gain: edge weight per boundary vertex; a round that gains less is the last.
    boldness: share of its vertex's edge weight that the first move of a search may lose. Numbers
    are set by hand: no record of what chose them.
    """

    rounds: int = 6
    finest_rounds: int = 5
    patience: int = 2
    slope: float = 1.0
    least_gain: float = 0.002
    boldness: float = 0.67


def refine_level(
    level: GraphLevel,
    blocks: BlockState,
    flag: Flags,
    rounds: int,
    effort: FMEffort,
    seed: int,
    threads: int,
) -> int:
    """Refine the blocks in place; return the gain, in prices. flag (n,): where searches start."""
    marks = marks_of(flag)
    gained, boundary = 0, np.count_nonzero(flag)
    for turn in range(rounds):
        seeds = np.flatnonzero(marks.active).astype(np.int32)
        if seeds.size == 0:
            break
        k = blocks.price.size
        groups = grouped(level, blocks.part, seeds, k, seed * 1000 + turn, threads)
        for g, own in enumerate(groups.seeds):
            shuffle(own, (seed * 100 + turn) * GROUPS + g)
        won = _round(level, blocks, groups, marks, turn + 1, effort, threads)
        marks.active[:] |= marks.touched
        marks.touched[:] = 0
        gained += won
        if won < 2 * EVEN_PRICE * effort.least_gain * boundary:
            break
    return gained


def marks_of(flag: Flags) -> Marks:
    """Return marks for searches that begin at the flagged vertices (n,)."""
    n = flag.size
    return Marks(np.full(n, -1, np.int32), np.zeros(n, np.int8), flag.copy(), np.zeros(n, np.int8))


def stopping_rule(effort: FMEffort, budget: int, tolerance: float = 0.0) -> StoppingRule:
    """Return when searches end; see StoppingRule."""
    most_lost = 2 * EVEN_PRICE * effort.boldness
    return StoppingRule(effort.patience, effort.slope, most_lost, budget, tolerance)


def _round(
    level: GraphLevel,
    blocks: BlockState,
    groups: Groups,
    marks: Marks,
    stamp: int,
    effort: FMEffort,
    threads: int,
) -> int:
    """Search from all seeds, the groups side by side; return the gain."""
    count = len(groups.seeds)
    won = np.zeros(count, np.int64)
    # A round takes time linear in the graph's size, whatever its degrees.
    rule = stopping_rule(effort, MOST_LOOKS * (level.adjncy.size + level.n) // count)

    def one(g: int) -> None:
        group = g if count > 1 else -1
        won[g] = kernels.search(
            level.arrays, blocks, groups.of_block, group, groups.seeds[g], marks, stamp, rule
        )

    in_slices(one, count, threads)
    return int(won.sum())


def boundary_flags(level: GraphLevel, part: Part, threads: int) -> Flags:
    """Return (n,) whether each vertex has a neighbour in another block."""
    flag = np.empty(level.n, np.int8)
    slices, n = slices_for(level.n), level.n
    in_slices(
        lambda i: kernels.mark_boundary(
            level.xadj, level.adjncy, part, n * i // slices, n * (i + 1) // slices, flag
        ),
        slices,
        threads,
    )
    return flag


def boundary_flags_below(
    level: GraphLevel, part: Part, coarse_flag: Flags, coarse_of: Unsigned, threads: int
) -> Flags:
    """Return the same, given which clusters (coarse_of) were at a boundary: only they are read."""
    flag = np.empty(level.n, np.int8)
    slices, n = slices_for(level.n), level.n
    in_slices(
        lambda i: kernels.mark_boundary_below(
            level.xadj, level.adjncy, part, coarse_flag, coarse_of, n * i // slices,
            n * (i + 1) // slices, flag,
        ),
        slices,
        threads,
    )  # fmt: skip
    return flag
