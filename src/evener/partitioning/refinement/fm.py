"""Localized k-way FM on one level: rounds of short searches from the border.

If there are enough boundary vertices, groups of blocks are searched in parallel. Groups are grown
along the heaviest connections between blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import NO_VERTICES, IntVector, Part
from evener.partitioning.levels.levels import GraphLevel, Unsigned
from evener.partitioning.refinement import fm_kernels as kernels
from evener.partitioning.refinement import pairs_kernels
from evener.partitioning.refinement.fm_kernels import BlockState, Marks, StoppingRule
from evener.threads import in_slices, slice_ends, slices_for

Seeds = npt.NDArray[np.int32]

GROUPS = 4  # number of groups of blocks that are searched in parallel
WORTH_GROUPS = 1000  # groups are used for more boundary vertices than this


@dataclass(eq=False)
class Groups:
    """The group (k,) of every block, and the seeds of each group in ascending order."""

    of_block: npt.NDArray[np.int64]
    seeds: list[Seeds]


def grouped(level: GraphLevel, part: Part, seeds: Seeds, k: int, seed: int, threads: int) -> Groups:
    """Divide the blocks into groups that depend on `seed`; one group if there is little to search.

    seeds: boundary vertices where searches begin, ascending.
    """
    group_of = np.zeros(k, np.int64)
    if seeds.size <= WORTH_GROUPS or k <= GROUPS:
        return Groups(group_of, [seeds])
    starts, other, weight = touching(level, part, seeds, k, threads)
    order = np.arange(k)
    shuffle(order, seed)
    pairs_kernels.group_blocks(starts, other, weight, order, GROUPS, group_of)
    own = group_of[part[seeds]]
    return Groups(group_of, [seeds[own == g] for g in range(GROUPS)])


def touching(
    level: GraphLevel, part: Part, seeds: Seeds, k: int, threads: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return the quotient graph that results from the edges of the seeds alone.

    It has CSR form: starts (k + 1,), other blocks, edge weights.
    """
    listed, bounds = np.empty_like(seeds), np.zeros(k + 1, np.int64)
    pairs_kernels.list_by_block(part, seeds, bounds, listed)
    slices = slices_for(seeds.size)
    first = np.searchsorted(bounds, slice_ends(seeds.size, slices))
    first[0], first[-1] = 0, k
    degree = np.zeros(k, np.int64)
    arcs: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]] = []
    arcs += [(np.empty(0, np.int32), np.empty(0, np.int64))] * slices

    def one(i: int) -> None:
        own = listed[bounds[first[i]] : bounds[first[i + 1]]].astype(np.int64)
        room = int((level.xadj[own + 1] - level.xadj[own]).sum(dtype=np.int64))
        other, weight = np.empty(room, np.int32), np.empty(room, np.int64)
        size = pairs_kernels.quotient_arcs(
            level.xadj, level.adjncy, level.adjwgt, part, listed, bounds, first[i], first[i + 1],
            other, weight, degree,
        )  # fmt: skip
        arcs[i] = other[:size].copy(), weight[:size].copy()

    in_slices(one, slices, threads)
    starts = np.zeros(k + 1, np.int64)
    np.cumsum(degree, out=starts[1:])
    return starts, np.concatenate([a[0] for a in arcs]), np.concatenate([a[1] for a in arcs])


def shuffle(values: npt.NDArray[np.integer], seed: int) -> None:
    """Permute the values in place; the permutation depends only on the seed, any whole number."""
    state = (seed * 0x9E3779B97F4A7C15 + 0x2545F4914F6CDD1D) % 2**64
    kernels.shuffle(values, np.uint64(state))


Flags = npt.NDArray[np.int8]

EVEN_PRICE = 8  # the price of each border if all are equal; prices are whole numbers near it
# Limit on the mean number of times a round reads an adjacency entry, so that a round takes linear
# time even with hubs. Set by hand, like GROUPS; benchmarks/constants.py compares other values.
MOST_LOOKS = 32


@dataclass(frozen=True)
class FMEffort:
    """The effort of localized FM.

    rounds, finest_rounds: largest number of rounds on coarse levels, and on the finest. patience:
    see StoppingRule. least_gain: rounds end after one that gains less than this edge weight per
    boundary vertex. boldness: the first move of a search may lose this fraction of its vertex's
    edge weight. The defaults are for levels without minimum cuts; evener.partitioning.multilevel
    has its own (`Preset.fm_with_cuts`). Set by hand and checked by benchmarks/partitioners.py.
    """

    rounds: int = 6
    finest_rounds: int = 5
    patience: int = 2
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
    """Refine the blocks in place; return the gain, in prices.

    flag (n,): whether searches start at a vertex.
    """

    def one(marks: Marks, seeds: Seeds, turn: int) -> int:
        k = blocks.price.size
        groups = grouped(level, blocks.part, seeds, k, seed * 1000 + turn, threads)
        for g, own in enumerate(groups.seeds):
            shuffle(own, (seed * 100 + turn) * GROUPS + g)
        return _round(level, blocks, groups, marks, turn + 1, effort, threads)

    return int(search_in_rounds(flag, rounds, least_won(effort, flag), one, level.fixed))


def search_in_rounds(
    flag: Flags,
    rounds: int,
    least: float,
    search: Callable[[Marks, Seeds, int], float],
    fixed: IntVector = NO_VERTICES,
) -> float:
    """Search in rounds: from the flagged vertices (n,), then around vertices that moved.

    Returns the total gain. Rounds end after one that gains less than `least`, or if no vertex is
    marked. search(marks, seeds, turn) makes one round and returns its gain; it marks vertices that
    moved with the lock turn + 1. fixed: the vertices that must not move.
    """
    n = flag.size
    marks = Marks(np.full(n, -1, np.int32), np.zeros(n, np.int8), flag.copy(), np.zeros(n, np.int8))
    gained = 0.0
    for turn in range(rounds):
        marks.active[fixed], marks.lock[fixed] = 0, turn + 1  # as if they had moved already
        seeds = np.flatnonzero(marks.active).astype(np.int32)
        if seeds.size == 0:
            break
        won = search(marks, seeds, turn)
        marks.active[:] |= marks.touched
        marks.touched[:] = 0
        gained += won
        if won < least:
            break
    return gained


def least_won(effort: FMEffort, flag: Flags) -> float:
    """Return the least gain, in prices, of a round after which another round follows."""
    return 2 * EVEN_PRICE * effort.least_gain * np.count_nonzero(flag)


def stopping_rule(effort: FMEffort, budget: int, tolerance: float = 0.0) -> StoppingRule:
    """Return the StoppingRule of searches with this effort."""
    most_lost = 2 * EVEN_PRICE * effort.boldness
    return StoppingRule(effort.patience, most_lost, budget, tolerance)


def _round(
    level: GraphLevel,
    blocks: BlockState,
    groups: Groups,
    marks: Marks,
    stamp: int,
    effort: FMEffort,
    threads: int,
) -> int:
    """Search from all seeds, groups in parallel; return the gain."""
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
    """Return flags (n,): whether each vertex has a neighbour in another block."""
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
    """Like boundary_flags, but faster: only vertices of flagged coarse vertices are examined.

    coarse_flag: boundary flags of the coarser level. coarse_of (n,): coarse vertex of each vertex.
    """
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
