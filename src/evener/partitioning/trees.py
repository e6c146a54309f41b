"""The tree of a machine: which devices sit together, level by level.

A tree over k devices is a matrix (depth, k): equal numbers in row i mean the same group i levels
below the root. Every row divides the groups of the row before; the root and the devices
themselves are left out, so that a machine without levels has no rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import as_integers
from evener.errors import InputError
from evener.platforms import Platform

Tree = npt.NDArray[np.int64]


def device_tree(platform: Platform) -> Tree:
    """Return the tree (depth, k) of the platform's levels; no rows where all sit side by side."""
    return simplest(platform.places)


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
            raise InputError(f"row {depth} of the tree joins devices that row {depth - 1} divides")
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
