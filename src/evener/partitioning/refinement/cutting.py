"""Pairs of blocks cut anew: a minimum cut in a corridor along the border of each pair.

Pairs that share no block are cut side by side; a cut is taken where it is cheaper and keeps the
limits [SS11]_.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, Part
from evener.partitioning.levels.levels import Level
from evener.partitioning.refinement import cutting_kernels as kernels
from evener.partitioning.refinement.fm import Limits
from evener.partitioning.refinement.grouping import shuffle
from evener.threads import in_slices, slice_ends, slices_for

LEAST_VERTICES = 40  # that a side of a corridor may have, where it would be lighter
AT_ONCE = 4  # slices of a group of pairs, for each slice of the graph
MOST_PAIRS = 12  # for each block; meshes have three in the plane and eight in space


def cut_anew(
    level: Level,
    part: Part,
    weight: FloatArray,
    limits: Limits,
    price: npt.NDArray[np.int64],
    rounds: int,
    reach: float,
    seed: int,
    threads: int,
) -> int:
    """Cut neighbouring blocks anew in place, block weights (k,) with it.

    reach: what a corridor may weigh on a side, in times what a block may lose or gain. Returns
    the gain, in prices. Rounds after the first look at the pairs with a block that the round
    before changed.
    """
    k = weight.size
    local = np.full(level.n, -1, np.int32)
    least = LEAST_VERTICES * level.vwgt.sum() / max(level.n, 1)
    widest: FloatArray = np.maximum(0.5 * reach * (limits.high - limits.low), least)
    changed = np.ones(k, np.bool_)
    total = 0
    if k == 1:
        rounds = 0
    for turn in range(rounds):
        borders = _borders(level, part, k, changed, seed * 100 + turn, threads)
        gain = np.zeros(borders.pairs.size, np.int64)
        for group in borders.groups:
            _cut_group(
                level, part, weight, limits, price, widest, borders, group, local, gain,
                threads,
            )  # fmt: skip
        won = int(gain.sum())
        total += won
        if won == 0:
            break
        changed[:] = False
        changed[borders.pairs[gain > 0] // k] = True
        changed[borders.pairs[gain > 0] % k] = True
    return total


@dataclass(eq=False)
class _Borders:
    """Pairs (p,) of blocks, lower * k + higher, in groups that share none; vertices at a border.

    Those of pair i are vertices[begins[i]:ends[i]]. groups: first pair of each, and its end.
    """

    pairs: IntArray
    begins: IntArray
    ends: IntArray
    vertices: npt.NDArray[np.int32]
    groups: list[tuple[int, int]]


def _borders(
    level: Level, part: Part, k: int, changed: npt.NDArray[np.bool_], seed: int, threads: int
) -> _Borders:
    """List the pairs of neighbouring blocks of which one has changed, group by group.

    Where nearly all blocks are neighbours, only the pairs with the longest borders.
    """
    pair, vertex = _listed(level, part, k, threads)
    along = np.argsort(pair, kind="stable")
    pairs, begins, size = np.unique(pair[along], return_index=True, return_counts=True)
    active = np.flatnonzero(changed[pairs // k] | changed[pairs % k])
    if active.size > MOST_PAIRS * k:
        longest = np.argsort(-size[active], kind="stable")[: MOST_PAIRS * k]
        active = np.sort(active[longest])
    shuffle(active, seed)
    # Long borders in the first groups, short ones in the last: threads share each group.
    active = active[np.argsort(-np.log2(size[active]).astype(np.int64), kind="stable")]
    order, groups = _coloured(pairs, size, active, k)
    begins, ends = begins[order], (begins + size)[order]
    return _Borders(pairs[order], begins, ends, vertex[along], groups)


def _listed(
    level: Level, part: Part, k: int, threads: int
) -> tuple[IntArray, npt.NDArray[np.int32]]:
    """Return pairs of blocks and vertices at their borders, vertex by vertex."""
    slices = slices_for(level.n)
    ends = slice_ends(level.n, slices)
    found = [(np.empty(0, np.int64), np.empty(0, np.int32))] * slices

    def one(i: int) -> None:
        seen = np.full(k, -1, np.int64)
        arguments = (seen, ends[i], ends[i + 1])
        room = kernels.count_borders(level.xadj, level.adjncy, part, *arguments)
        found[i] = np.empty(room, np.int64), np.empty(room, np.int32)
        seen[:] = -1
        kernels.list_borders(level.xadj, level.adjncy, part, k, *arguments, *found[i])

    in_slices(one, slices, threads)
    return np.concatenate([pair for pair, _ in found]), np.concatenate([v for _, v in found])


def _coloured(
    pairs: IntArray, size: IntArray, order: IntArray, k: int
) -> tuple[IntArray, list[tuple[int, int]]]:
    """Bring pairs in an order of groups in which no block comes twice, each by length of border.

    Threads end at about the same time where the largest pieces of work come first.
    """
    colour = np.empty(pairs.size, np.int64)
    kernels.colour_pairs(pairs, order, k, colour)
    ends = [0, *np.cumsum(np.bincount(colour[order])).tolist()]
    return order[np.lexsort((-size[order], colour[order]))], list(pairwise(ends))


def _cut_group(
    level: Level,
    part: Part,
    weight: FloatArray,
    limits: Limits,
    price: npt.NDArray[np.int64],
    widest: FloatArray,
    borders: _Borders,
    group: tuple[int, int],
    local: npt.NDArray[np.int32],
    gain: IntArray,
    threads: int,
) -> None:
    """Cut the pairs of one group, side by side."""
    first, last = group
    slices = min(AT_ONCE * slices_for(level.n), last - first)

    def one(i: int) -> None:
        kernels.cut_pairs(
            *level.arrays, part, weight, limits.low, limits.high, price, widest, weight.size,
            borders.pairs, borders.begins, borders.ends, borders.vertices,
            first + (last - first) * i // slices, first + (last - first) * (i + 1) // slices,
            local, gain,
        )  # fmt: skip

    in_slices(one, slices, threads)
