"""The tree of a machine: which devices sit together, level by level.

A tree over k devices is a matrix (depth, k): equal numbers in row i mean the same group i levels
below the root. Every row divides the groups of the row before; the root and the devices
themselves are left out, so that a machine without levels has no rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, as_integers
from evener.errors import InputError
from evener.partitioning.initial import halving_kernels as kernels
from evener.platforms.platform import Platform

Tree = npt.NDArray[np.int64]

MOST_LINKED = 1024  # devices joined by links of their own that get a tree
NEAR = 8  # devices that one is joined to, when they are halved
HALVING_TRIES, HALVING_PASSES = 6, 6


def device_tree(platform: Platform) -> Tree:
    """Return the tree (depth, k) of the platform's levels; no rows where all sit side by side.

    Devices joined by links of their own are halved again and again, few links being between the
    halves; above 1,024 of them they have no tree.
    """
    if platform.connections:
        return (
            _tree_of_links(platform) if platform.k <= MOST_LINKED else simplest(platform.places[:0])
        )
    return simplest(platform.places)


def _tree_of_links(platform: Platform) -> Tree:
    """Halve the graph of each device and those nearest to it."""
    k = platform.k
    starts, other, closeness = _nearest(platform.distances())
    rows, groups = [], [np.arange(k)]
    while max(group.size for group in groups) > 3:
        halves: list[npt.NDArray[np.int64]] = []
        for group in groups:
            halves += _halved(starts, other, closeness, group, k) if group.size > 3 else [group]
        groups = halves
        row = np.empty(k, np.int64)
        for number, group in enumerate(groups):
            row[group] = number
        rows.append(row)
    return np.array(rows, np.int64).reshape(len(rows), k)


def _nearest(
    distances: FloatArray,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], FloatArray]:
    """Return the graph of each device's NEAR nearest ones, both ways, weighted by closeness."""
    k = len(distances)
    near = np.argsort(distances, axis=1, kind="stable")[:, : NEAR + 1]
    own = np.repeat(np.arange(k), near.shape[1])
    joined = np.zeros((k, k), np.bool_)
    joined[own, near.ravel()] = True
    joined |= joined.T
    np.fill_diagonal(joined, False)
    u, v = np.nonzero(joined)
    least = distances[distances > 0].min(initial=1.0)
    closeness = 1.0 / np.maximum(distances[u, v], least)
    return np.searchsorted(u, np.arange(k + 1)), np.ascontiguousarray(v), closeness


def _halved(
    starts: npt.NDArray[np.int64],
    other: npt.NDArray[np.int64],
    closeness: FloatArray,
    group: npt.NDArray[np.int64],
    k: int,
) -> list[npt.NDArray[np.int64]]:
    """Return two halves of a group, the closest devices together."""
    kind, tie = np.zeros(k, np.int64), np.empty(k)
    best, least, first = np.zeros(k, np.int8), np.inf, int(group[0])
    for turn in range(HALVING_TRIES):
        side, room = np.full(k, -1, np.int8), np.array([group.size // 2])
        side[group] = 1
        last = kernels.grow(starts, other, closeness, group, kind, room, first, side, tie)
        between = kernels.improve(starts, other, closeness, group, kind, 1, HALVING_PASSES, side)
        if between < least * (1 - 1e-9):
            best, least = side, between
        first = int(last) if turn % 2 == 0 else int(group[(turn * group.size) // HALVING_TRIES])
    return [group[best[group] == 0], group[best[group] == 1]]


def as_tree(values: npt.ArrayLike, k: int) -> Tree:
    """Return `values` (depth, k) as a tree; raises InputError where a row joins what was apart."""
    tree = np.asarray(values)
    if tree.ndim != 2 or tree.shape[1] != k:
        raise InputError(f"a tree over {k} devices has shape (depth, {k}), not {tree.shape}")
    tree = as_integers(tree.ravel(), "the tree").reshape(tree.shape)
    above = np.zeros(k, np.int64)
    for depth, row in enumerate(tree):
        above, row_above = np.unique(row, return_inverse=True)[1], above
        pairs = np.unique(np.column_stack([row_above, above]), axis=0)
        if len(pairs) > above.max(initial=-1) + 1:
            raise InputError(
                f"row {depth} of the tree joins devices that row {depth - 1} separates"
            )
    return tree


def simplest(tree: Tree) -> Tree:
    """Number the groups of each row from 0 on, in order; leave out rows that divide nothing."""
    k, groups, rows = tree.shape[1], 1, []
    for row in tree:
        _, first, number = np.unique(row, return_index=True, return_inverse=True)
        if groups < first.size < k:
            groups = first.size
            rows.append(np.argsort(np.argsort(first))[number])
    return np.array(rows, np.int64).reshape(len(rows), k)


def leaf_order(tree: Tree) -> npt.NDArray[np.int64]:
    """(k,) the devices, those of a group next to each other on every level."""
    k = tree.shape[1]
    return np.lexsort((np.arange(k), *tree[::-1]))
