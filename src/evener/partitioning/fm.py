"""Localized k-way FM over one level: rounds of short searches from the boundary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.partitioning import fm_kernels as kernels
from evener.partitioning.levels import Level, Part, Unsigned, slices_for
from evener.partitioning.threads import in_slices

Flags = npt.NDArray[np.int8]

EVEN_PRICE = 8  # prices are whole numbers around this
GROUPS = 4  # groups of blocks that are searched side by side
WORTH_GROUPS = 1000  # boundary vertices
MOST_GROUPED = 2048  # blocks whose table of connections is small


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
    n, k = level.n, price.size
    place, lock = np.full(n, -1, np.int32), np.zeros(n, np.int8)
    active, touched = flag.copy(), np.zeros(n, np.int8)
    gained = 0
    for turn in range(rounds):
        seeds = np.flatnonzero(active).astype(np.int32)
        if turn == 0:
            boundary = seeds.size
        if seeds.size == 0:
            break
        kernels.shuffle(seeds, seed * 100 + turn)
        groups = GROUPS if seeds.size > WORTH_GROUPS and GROUPS < k <= MOST_GROUPED else 1
        group_of, of_group = _grouped(level, part, seeds, k, groups, seed * 1000 + turn)
        won = np.zeros(groups, np.int64)

        def one(
            g: int,
            group_of: npt.NDArray[np.int64] = group_of,
            of_group: list[npt.NDArray[np.int32]] = of_group,
            won: npt.NDArray[np.int64] = won,
            stamp: int = turn + 1,
        ) -> None:
            group = g if len(of_group) > 1 else -1
            won[g] = kernels.search(
                *level.arrays, part, weight, limits.low, limits.high, limits.soft_low,
                limits.soft_high, price, group_of, group, of_group[g], place, lock, stamp, active,
                touched, effort.patience, effort.slope, 2 * EVEN_PRICE * effort.boldness,
            )  # fmt: skip

        in_slices(one, groups, threads)
        active |= touched
        touched[:] = 0
        gained += int(won.sum())
        if won.sum() < 2 * EVEN_PRICE * effort.least_gain * boundary:
            break
    return gained


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


def _grouped(
    level: Level, part: Part, seeds: npt.NDArray[np.int32], k: int, groups: int, seed: int
) -> tuple[npt.NDArray[np.int64], list[npt.NDArray[np.int32]]]:
    """Return the group (k,) of every block, and the seeds of each group in their order."""
    group_of = np.zeros(k, np.int64)
    if groups == 1:
        return group_of, [seeds]
    between = np.zeros((k, k), np.int64)
    kernels.quotient_weights(level.xadj, level.adjncy, level.adjwgt, part, seeds, between)
    order = np.arange(k)
    kernels.shuffle(order, seed)
    kernels.group_blocks(between, order, groups, group_of)
    own = group_of[part[seeds]]
    return group_of, [seeds[own == g] for g in range(groups)]
