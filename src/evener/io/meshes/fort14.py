"""ADCIRC grids, fort.14: title; cells and points; `id x y depth`; `id 3 a b c`; boundaries.

The depth is a field of the points, not a third coordinate.
"""

from __future__ import annotations

import re

import numpy as np

from evener.graphs.mesh import TRIANGLE, Mesh
from evener.io.meshes.rows import make_mesh, renumber, scan
from evener.io.sources import Source

_START = re.compile(
    rb"[^\n]*\n[ \t]*(\d{1,12})[ \t,]+(\d{1,12})(?:[ \t!][^\n]*|\r)?\n"
    rb"[ \t]*\d+(?:[ \t]+[-+.\deEdD]+){3}\s"
)


def recognises(source: Source) -> bool:
    """Return whether line 2 has two counts and line 3 four numbers; or by part of the name."""
    name = source.name.lower()
    named = name.endswith((".14", ".grd")) or "fort.14" in name
    first = source.head.split(b"\n", 1)[0]
    return _START.match(source.head) is not None and (
        named or re.search(rb"[A-Za-z]", first) is not None
    )


def read(source: Source) -> Mesh:
    """Return the triangles, with `depth` as a field of the points."""
    start = _START.match(source.head)
    if start is None:
        raise source.error("line 2 of a fort.14 grid holds its numbers of cells and points", line=2)
    n_cells, n_points = int(start[1]), int(start[2])
    ends = np.flatnonzero(source.array == 10) + 1
    if ends.size < 2 + n_points or n_points == 0 or n_cells == 0:
        raise source.error(f"ends before the {n_points:,} points it speaks of", line=2)
    middle = int(ends[1 + n_points])
    lines = min(1 + n_points + n_cells, ends.size)
    stop = int(ends[lines]) if lines < ends.size else len(source.data)
    points = scan(source, int(ends[1]), middle).expect(n_points, "points")
    cells = scan(source, middle, stop).expect(n_cells, "cells")
    table = points.columns(1, 4, at_most=8)
    ids = points.integers(points.first[:-1], "the number of a point")
    if (bad := np.flatnonzero(cells.columns(1, 2, at_most=8)[:, 0] != 3)).size:
        cells.refuse(int(bad[0]), "only triangles are known: the second number must be 3")
    cells.columns(0, 5, at_most=8)
    index = (cells.first[:-1, None] + np.arange(2, 5)).ravel()
    if (ids == np.arange(1, n_points + 1)).all():
        corners = cells.corners(index, 1, n_points)
    else:
        corners = renumber(source, ids, cells.integers(index, "the number of a point"))
    return make_mesh(
        source,
        table[:, :2],
        np.full(n_cells, 3),
        corners,
        np.full(n_cells, TRIANGLE),
        point_data={"depth": table[:, 2].copy()},
    )
