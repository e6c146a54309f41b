"""Regular grids: 5-point stencils in the plane, 7-point stencils in space."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from evener.errors import UsageError
from evener.graphs.generating.checks import at_least, check_memory
from evener.graphs.graph import Graph

BYTES_A_SIDE = 60  # bytes per vertex and dimension, measured


def grid(shape: Sequence[int], triangulated: bool = False) -> Graph:
    """Return the grid of nx * ny (* nz) vertices; vertices one step apart are neighbours.

    Vertices are numbered with the last axis fastest; coordinates are their indices. triangulated:
    in the plane, vertices one step apart along both axes are neighbours, too, which divides each
    square into two triangles.
    """
    n = check_shape(shape, triangulated=triangulated)
    check_memory(n, BYTES_A_SIDE * len(shape), "vertices")
    number = np.arange(n, dtype=np.int32).reshape(tuple(shape))
    u = [np.moveaxis(number, axis, 0)[:-1].ravel() for axis in range(number.ndim)]
    v = [np.moveaxis(number, axis, 0)[1:].ravel() for axis in range(number.ndim)]
    if triangulated:
        u.append(number[:-1, :-1].ravel())
        v.append(number[1:, 1:].ravel())
    coords = np.stack(np.unravel_index(np.arange(n), tuple(shape)), axis=1).astype(np.float64)
    return Graph.from_edges(n, np.concatenate(u), np.concatenate(v), coords=coords)


def check_shape(shape: Sequence[int], *, triangulated: bool) -> int:
    """Return the number of vertices of a grid. Raises UsageError if the shape is not valid."""
    if len(shape) not in (2, 3):
        raise UsageError(f"shape must have 2 or 3 sides, not {len(shape)}")
    if triangulated and len(shape) != 2:
        raise UsageError("triangulated works with 2-D grids only: shape must have 2 sides")
    for side in shape:
        at_least(side, 1, "a side of shape")
    n = prod(shape)
    at_least(n, 1, "the number of vertices of the grid")
    return n
