"""Replaces the border of each pair of blocks by a minimum cut in a corridor along it [SS11]_.

Pairs that share no block are processed in parallel. A new border is used if it is cheaper and
satisfies the limits.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, Part
from evener.partitioning.levels.levels import GraphLevel
from evener.partitioning.refinement import cutting_kernels as kernels
from evener.partitioning.refinement.cutting_kernels import Borders
from evener.partitioning.refinement.fm import shuffle
from evener.partitioning.refinement.fm_kernels import BlockState
from evener.threads import in_slices, slice_ends, slices_for

LEAST_VERTICES = 40  # least limit on the weight of a corridor's side, in mean vertices
AT_ONCE = 4  # slices of a group of pairs per slice of the graph
MOST_PAIRS = 12  # limit on pairs per block; mesh blocks are in about 3 pairs in 2-D, 8 in 3-D


def cut_anew(level: GraphLevel, blocks: BlockState, reach: float, seed: int, threads: int) -> int:
    """Replace borders of neighbouring blocks by minimum cuts, in place; return the gain, in prices.

    reach: weight of a corridor on each side, as a multiple of what a block may lose or gain.
    """
    k, limits = blocks.weight.size, blocks.limits
    if k == 1:
        return 0
    local = np.full(level.n, -1, np.int32)
    local[level.fixed] = kernels.NEVER_TAKEN
    least = LEAST_VERTICES * level.free_weights.sum() / max(level.n_free, 1)
    widest: FloatArray = np.maximum(0.5 * reach * (limits.high - limits.low), least)
    borders, groups = _borders(level, blocks.part, k, seed * 100, threads)
    gain = np.zeros(borders.pairs.size, np.int64)
    for first, last in groups:
        _cut_group(level, blocks, widest, borders, range(first, last), local, gain, threads)
    return int(gain.sum())


def _borders(
    level: GraphLevel, part: Part, k: int, seed: int, threads: int
) -> tuple[Borders, list[tuple[int, int]]]:
    """Return the pairs of neighbouring blocks.

    They are sorted into groups of pairs that share no block; the first pair and the end of each
    group are returned too. If there are more than MOST_PAIRS pairs per block, only those with the
    longest borders are returned.
    """
    pair, vertex = _listed(level, part, k, threads)
    along = np.argsort(pair, kind="stable")
    pairs, begins, size = np.unique(pair[along], return_index=True, return_counts=True)
    longest = np.sort(np.argsort(-size, kind="stable")[: MOST_PAIRS * k])
    shuffle(longest, seed)
    # Long borders in the first groups, short ones in the last: threads share each group.
    longest = longest[np.argsort(-np.log2(size[longest]).astype(np.int64), kind="stable")]
    order, groups = coloured(pairs, size, longest, k)
    begins, ends = begins[order], (begins + size)[order]
    return Borders(pairs[order], begins, ends, vertex[along]), groups


def _listed(
    level: GraphLevel, part: Part, k: int, threads: int
) -> tuple[IntArray, npt.NDArray[np.int32]]:
    """Return for each vertex at a border the pairs of blocks, as parallel arrays (pair, vertex)."""
    slices = slices_for(level.n)
    ends = slice_ends(level.n, slices)
    found = [(np.empty(0, np.int64), np.empty(0, np.int32))] * slices

    def one(i: int) -> None:
        seen = np.full(k, -1, np.int64)
        arguments = (level.xadj, level.adjncy, part, k, seen, ends[i], ends[i + 1])
        count = kernels.list_borders(*arguments, *found[i])
        found[i] = np.empty(count, np.int64), np.empty(count, np.int32)
        seen[:] = -1
        kernels.list_borders(*arguments, *found[i])

    in_slices(one, slices, threads)
    return np.concatenate([pair for pair, _ in found]), np.concatenate([v for _, v in found])


def coloured(
    pairs: IntArray, size: IntArray | FloatArray, order: IntArray, k: int
) -> tuple[IntArray, list[tuple[int, int]]]:
    """Sort the pairs into groups in which no block occurs twice, each by descending border length.

    pairs (p,): lower block x k + higher block; size (p,): border lengths. order: in which pairs are
    assigned, each to the first group possible. Returns the pairs of all groups as indices, and the
    begin and end of each group. Threads end at about the same time if the largest pieces of work
    come first.
    """
    colour = np.empty(pairs.size, np.int64)
    kernels.colour_pairs(pairs, order, k, colour)
    ends = [0, *np.cumsum(np.bincount(colour[order])).tolist()]
    return order[np.lexsort((-size[order], colour[order]))], list(pairwise(ends))


def _cut_group(
    level: GraphLevel,
    blocks: BlockState,
    widest: FloatArray,
    borders: Borders,
    group: range,
    local: npt.NDArray[np.int32],
    gain: IntArray,
    threads: int,
) -> None:
    """Cut the pairs of one group in parallel; store the gain of each pair in `gain` (p,)."""
    slices = min(AT_ONCE * slices_for(level.n), len(group)) if threads > 1 else 1
    ends = [group.start + len(group) * i // max(slices, 1) for i in range(slices + 1)]
    in_slices(
        lambda i: kernels.cut_pairs(
            level.arrays, blocks, widest, borders, ends[i], ends[i + 1], local, gain
        ),
        slices,
        threads,
    )
