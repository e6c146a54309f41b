"""Localized k-way FM over one level: rounds of short searches from the boundary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, Part
from evener.partitioning.levels.levels import Level, Unsigned
from evener.partitioning.refinement import fm_kernels as kernels
from evener.partitioning.refinement.grouping import GROUPS, Groups, grouped, shuffle
from evener.threads import in_slices, slices_for

Flags = npt.NDArray[np.int8]

EVEN_PRICE = 8  # prices are whole numbers around this
MOST_LOOKS = 32  # at each adjacency entry in a round; hubs would ask for hundreds of thousands


@dataclass(frozen=True)
class Effort:
    """How long refinement goes on.

    rounds: at most, on a coarse level and on the finest. patience: steps without gain before a
    search looks at its slope. least_gain: a round that wins less, per boundary vertex, is the
    last. boldness: no search begins with a move that loses more than this share of the edges
    of its vertex.
    """

    rounds: int = 6
    finest_rounds: int = 5
    patience: int = 2
    slope: float = 1.0
    least_gain: float = 0.002
    boldness: float = 0.67


@dataclass(eq=False)
class Limits:
    """Weights (k,) that blocks keep to, and those that searches may reach on their way."""

    low: FloatArray
    high: FloatArray
    soft_low: FloatArray
    soft_high: FloatArray


def refine_level(
    level: Level,
    part: Part,
    weight: FloatArray,
    limits: Limits,
    price: npt.NDArray[np.int64],
    flag: Flags,
    rounds: int,
    effort: Effort,
    seed: int,
    threads: int,
) -> int:
    """Refine `part` in place, block weights (k,) with it; return the gain, in prices.

    flag (n,): the vertices to start from.
    """
    n = level.n
    marks = _Marks(
        np.full(n, -1, np.int32), np.zeros(n, np.int8), flag.copy(), np.zeros(n, np.int8)
    )
    gained, boundary = 0, np.count_nonzero(flag)
    for turn in range(rounds):
        seeds = np.flatnonzero(marks.active).astype(np.int32)
        if seeds.size == 0:
            break
        groups = grouped(level, part, seeds, price.size, seed * 1000 + turn, threads)
        won = _round(
            level, part, weight, limits, price, groups, seed * 100 + turn, turn + 1, marks, effort,
            threads,
        )  # fmt: skip
        marks.active |= marks.touched
        marks.touched[:] = 0
        gained += won
        if won < 2 * EVEN_PRICE * effort.least_gain * boundary:
            break
    return gained


@dataclass(eq=False)
class _Marks:
    """What searches mark (n,): places in the heap, when moved, where to begin now and next."""

    place: npt.NDArray[np.int32]
    lock: npt.NDArray[np.int8]
    active: Flags
    touched: Flags


def _round(
    level: Level,
    part: Part,
    weight: FloatArray,
    limits: Limits,
    price: npt.NDArray[np.int64],
    groups: Groups,
    seed: int,
    stamp: int,
    marks: _Marks,
    effort: Effort,
    threads: int,
) -> int:
    """Search from all seeds, group beside group; return the gain."""
    count = len(groups.seeds)
    won = np.zeros(count, np.int64)
    # It takes time linear in the graph, whatever the degrees.
    budget = MOST_LOOKS * (level.adjncy.size + level.n) // count

    def one(g: int) -> None:
        shuffle(groups.seeds[g], seed * GROUPS + g)
        won[g] = kernels.search(
            *level.arrays, part, weight, limits.low, limits.high, limits.soft_low,
            limits.soft_high, price, groups.of_block, g if count > 1 else -1, groups.seeds[g],
            marks.place, marks.lock, stamp, marks.active, marks.touched, effort.patience,
            effort.slope, 2 * EVEN_PRICE * effort.boldness, budget,
        )  # fmt: skip

    in_slices(one, count, threads)
    return int(won.sum())


def boundary_flags(level: Level, part: Part, threads: int) -> Flags:
    """(n,) whether each vertex has a neighbour in another block."""
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
    level: Level, part: Part, coarse_flag: Flags, coarse_of: Unsigned, threads: int
) -> Flags:
    """As boundary_flags, knowing which clusters were at a boundary."""
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
