"""Coarsening for edge partitions: levels of ever fewer and larger groups of edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import IntArray, Part
from evener.graphs.edge_list import EdgeList
from evener.splitting import groups_kernels as kernels
from evener.splitting.copies_kernels import EdgeGroups
from evener.splitting.splits import work_of

SHRINKS = 0.9  # coarsening ends if a level has more than this fraction of the finer level's groups


@dataclass(frozen=True)
class Levels:
    """The levels of groups, from single edges to the coarsest.

    groups: the groups of each level, finest first. clusters: for each level but the coarsest, an
    array (groups,) int32 with the group of the next level to which each group belongs.
    """

    groups: list[EdgeGroups]
    clusters: list[IntArray]


def single_edges(edges: EdgeList) -> EdgeGroups:
    """Return the groups of one edge each."""
    offsets, listed = edges.incidence
    starts = np.arange(0, 2 * edges.m + 1, 2, dtype=np.int64)
    pins = np.empty(2 * edges.m, np.int32)
    pins[::2] = np.minimum(edges.tails, edges.heads)
    pins[1::2] = np.maximum(edges.tails, edges.heads)
    return EdgeGroups(starts, pins, offsets, listed.astype(np.int32, copy=False), work_of(edges))


def levels_of(
    finest: EdgeGroups, part: Part, fewest: int, most: float, rng: np.random.Generator
) -> Levels:
    """Return levels until at most `fewest` groups are left, or until levels hardly shrink.

    part (edges,): each group lies inside one of these blocks. most [units]: largest work of a
    group.
    """
    levels = Levels([finest], [])
    while levels.groups[-1].work.size > fewest:
        fine = levels.groups[-1]
        cluster = np.empty(fine.work.size, np.int32)
        order = rng.permutation(fine.work.size).astype(np.int32)
        count = int(kernels.join(fine, part, most, order, cluster))
        if count > SHRINKS * fine.work.size:
            break
        levels.groups.append(_joined(fine, cluster, count))
        levels.clusters.append(cluster)
        part = coarser_part(part, cluster, count)
    return levels


def coarser_part(part: Part, cluster: IntArray, count: int) -> Part:
    """Return the blocks (count,) of the groups of the coarser level.

    part, cluster: the block, and the coarser group, of each group of the finer level.
    """
    coarse = np.empty(count, np.int32)
    coarse[cluster] = part
    return coarse


def _joined(fine: EdgeGroups, cluster: IntArray, count: int) -> EdgeGroups:
    offsets = np.empty(fine.offsets.size, np.int64)
    listed = np.empty(fine.groups.size, np.int32)
    n = int(kernels.joined_lists(fine, cluster, count, offsets, listed))
    offsets = offsets[: n + 1].copy()
    listed = listed[: offsets[-1]].copy()
    starts, pins = np.empty(count + 1, np.int64), np.empty(listed.size, np.int32)
    kernels.turn(offsets, listed, starts, pins)
    return EdgeGroups(starts, pins, offsets, listed, np.bincount(cluster, fine.work, count))
