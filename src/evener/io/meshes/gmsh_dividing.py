"""Divides a Gmsh mesh: sets the partition of every element from the blocks of its cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from evener.arrays import IntVector, Part
from evener.io.meshes.gmsh_elements import SIZES, GmshElements

_AT_ONCE = 2**16  # elements whose neighbours are found at a time
_NONE = np.iinfo(np.int64).max  # above all blocks


def divided(elements: GmshElements, part: Part) -> tuple[GmshElements, int]:
    """Return the elements with partitions, from 1, and the number that got one by default.

    part: the block of each cell, from 0. An element of lower dimension, such as on a boundary, gets
    the partition of the cell that it bounds, the lowest if there are several; 1 if it shares no
    point with a cell.
    """
    cells = elements.is_cell
    partitions = np.ones(elements.types.size, np.int64)
    partitions[cells] = part.astype(np.int64) + 1
    lower = np.flatnonzero(~cells)
    loose = 0
    cell_points = _points_of(elements, np.flatnonzero(cells)).T.tocsr()
    for first in range(0, lower.size, _AT_ONCE):
        some = lower[first : first + _AT_ONCE]
        shared = (_points_of(elements, some) @ cell_points).tocsr()
        loose += _take_lowest(partitions, some, shared, part)
    return replace(elements, partitions=partitions), loose


def _points_of(elements: GmshElements, some: IntVector) -> csr_array:
    """Return a matrix with a one for each point (column) of some elements (rows)."""
    sizes = SIZES[elements.types[some]]
    offsets = np.zeros(some.size + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    index = np.repeat(elements.starts[some] - offsets[:-1], sizes) + np.arange(offsets[-1])
    shape = (some.size, len(elements.points))
    return csr_array((np.ones(index.size, np.int64), elements.corners[index], offsets), shape=shape)


def _take_lowest(partitions: IntVector, some: IntVector, shared: csr_array, part: Part) -> int:
    """Set the partitions of some elements, given the number of points shared with each cell.

    Returns the number of elements that share no point with a cell.
    """
    touched = np.flatnonzero(np.diff(shared.indptr))
    begins = shared.indptr[touched]
    if touched.size:
        most = np.maximum.reduceat(shared.data, begins)
        blocks = part[shared.indices].astype(np.int64)
        blocks[shared.data < np.repeat(most, np.diff(shared.indptr)[touched])] = _NONE
        partitions[some[touched]] = np.minimum.reduceat(blocks, begins) + 1
    return int(some.size - touched.size)
