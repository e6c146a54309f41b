"""Groups of blocks that can be searched side by side, each along its heaviest connections."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import Part
from evener.partitioning.levels.levels import GraphLevel
from evener.partitioning.refinement import fm_kernels
from evener.partitioning.refinement import grouping_kernels as kernels
from evener.threads import in_slices, slice_ends, slices_for

Seeds = npt.NDArray[np.int32]

GROUPS = 4  # groups of blocks that are searched side by side
WORTH_GROUPS = 1000  # boundary vertices


@dataclass(eq=False)
class Groups:
    """The group (k,) of every block, and the seeds of each group in ascending order."""

    of_block: npt.NDArray[np.int64]
    seeds: list[Seeds]


def grouped(level: GraphLevel, part: Part, seeds: Seeds, k: int, seed: int, threads: int) -> Groups:
    """Divide the blocks into groups, other ones for every `seed`, where there is enough to do.

    seeds, ascending: boundary vertices that searches are to begin at.
    """
    group_of = np.zeros(k, np.int64)
    if seeds.size <= WORTH_GROUPS or k <= GROUPS:
        return Groups(group_of, [seeds])
    starts, other, weight = touching(level, part, seeds, k, threads)
    order = np.arange(k)
    shuffle(order, seed)
    kernels.group_blocks(starts, other, weight, order, GROUPS, group_of)
    own = group_of[part[seeds]]
    return Groups(group_of, [seeds[own == g] for g in range(GROUPS)])


def touching(
    level: GraphLevel, part: Part, seeds: Seeds, k: int, threads: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return which blocks touch, as seen from the seeds: starts (k + 1,), others, edge weights."""
    listed, bounds = np.empty_like(seeds), np.zeros(k + 1, np.int64)
    kernels.list_by_block(part, seeds, bounds, listed)
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
        size = kernels.quotient_arcs(
            level.xadj, level.adjncy, level.adjwgt, part, listed, bounds, first[i], first[i + 1],
            other, weight, degree,
        )  # fmt: skip
        arcs[i] = other[:size].copy(), weight[:size].copy()

    in_slices(one, slices, threads)
    starts = np.zeros(k + 1, np.int64)
    np.cumsum(degree, out=starts[1:])
    return starts, np.concatenate([a[0] for a in arcs]), np.concatenate([a[1] for a in arcs])


def shuffle(values: npt.NDArray[np.integer], seed: int) -> None:
    """Permute in place, by the seed alone; it may be any whole number."""
    state = (seed * 0x9E3779B97F4A7C15 + 0x2545F4914F6CDD1D) % 2**64
    fm_kernels.shuffle(values, np.uint64(state))
