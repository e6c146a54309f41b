"""The tree of a machine: groups of devices on each level.

A tree of k devices is a matrix (depth, k): devices with equal numbers in row i are in the same
group, i + 1 levels below the root. Each row divides the groups of the previous row. There are no
rows for the root and for single devices, so a machine without levels has no rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, as_integers
from evener.errors import InputError
from evener.partitioning.initial import halving_kernels as kernels
from evener.platforms.platform import Platform

Tree = npt.NDArray[np.int64]

MOST_LINKED = 1024  # at most this many devices with individual links get a tree
NEAR = 8  # a device is connected to this many nearest ones in the graph that is bisected
HALVING_TRIES, HALVING_PASSES = 6, 6


def device_tree(platform: Platform) -> Tree:
    """Return the tree (depth, k) of the platform's levels; it has no rows if there are no levels.

    If devices have individual links, the tree is made by recursive bisection with few links between
    the halves; for more than 1,024 such devices it has no rows.
    """
    if platform.connections:
        return (
            _tree_of_links(platform) if platform.k <= MOST_LINKED else simplest(platform.places[:0])
        )
    return simplest(platform.places)


def _tree_of_links(platform: Platform) -> Tree:
    """Return the tree by recursive bisection of the graph of nearest devices."""
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
    """Return the graph that connects each device with its NEAR nearest, weighted by closeness."""
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
    """Divide a group of devices in two halves, with the closest devices in the same half."""
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
    """Return `values` (depth, k) as a tree.

    Raises InputError if a row joins devices that the previous row separates.
    """
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
    """Return the tree with groups numbered from 0, without rows that divide nothing."""
    k, groups, rows = tree.shape[1], 1, []
    for row in tree:
        _, first, number = np.unique(row, return_index=True, return_inverse=True)
        if groups < first.size < k:
            groups = first.size
            rows.append(np.argsort(np.argsort(first))[number])
    return np.array(rows, np.int64).reshape(len(rows), k)


def leaf_order(tree: Tree) -> npt.NDArray[np.int64]:
    """Return the devices (k,) in an order in which each group of each level is contiguous."""
    k = tree.shape[1]
    return np.lexsort((np.arange(k), *tree[::-1]))
