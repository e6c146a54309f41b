"""Levels of groups of edges: ever fewer and larger ones, inside given blocks or free of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import IntArray, Part
from evener.graphs.edge_list import EdgeList
from evener.splitting import groups_kernels as kernels
from evener.splitting.copies_kernels import EdgeGroups
from evener.splitting.splits import work_of

SHRINKS = 0.9  # a level of more than this share of the finer one's groups is not worth its time


@dataclass(frozen=True)
class Levels:
    """Groups from single edges to the coarsest.

    groups: of each level, the finest first. clusters: for each level but the last, which group of
    the next one each of its groups is in (groups,) int32.
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
    """Return levels until `fewest` groups are left, or they shrink no more.

    part (edges,): groups stay inside its blocks. most [units]: of work in a group.
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
    """(count,) blocks of joined groups, by those of what was joined."""
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
