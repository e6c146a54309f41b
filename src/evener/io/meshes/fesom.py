"""FESOM's meshes: nod2d.out (id, longitude, latitude, flag) and elem2d.out (three points)."""

from __future__ import annotations

import numpy as np

from evener.graphs.mesh import TRIANGLE, Mesh
from evener.io.meshes.rows import Rows, make_mesh, renumber, scan
from evener.io.sources import Source

_POINTS, _CELLS = "nod2d.out", "elem2d.out"


def recognises(source: Source) -> bool:
    """Return whether the name is that of either file."""
    return source.name.endswith((_POINTS, _CELLS))


def read(source: Source) -> Mesh:
    """Return the triangles, with `flag` as a field of the points; either file finds the other."""
    mine, other = (_POINTS, _CELLS) if source.name.endswith(_POINTS) else (_CELLS, _POINTS)
    name = source.name.removesuffix(mine) + other
    beside = source.open_beside(name)
    if beside is None:
        raise source.error(f"is half a mesh: {name} must lie beside it")
    at, cells_at = (source, beside) if mine == _POINTS else (beside, source)
    points, cells = _counted(at, "points"), _counted(cells_at, "cells")
    ids = points.integers(points.first[:-1], "the number of a point")
    table = points.columns(1, 3, at_most=4)
    cells.columns(0, 3)
    index = (cells.first[:-1, None] + np.arange(3)).ravel()
    if (ids == np.arange(1, ids.size + 1)).all():
        corners = cells.corners(index, 1, ids.size)
    else:
        numbers = cells.integers(index, "the number of a point")
        corners = renumber(cells_at, ids, numbers)
    fields = {}
    if (points.counts == 4).all():
        fields["flag"] = points.whole_columns(3, 4, "the flag of a point")[:, 0]
    n = len(cells)
    return make_mesh(source, table, np.full(n, 3), corners, np.full(n, TRIANGLE), point_data=fields)


def _counted(source: Source, what: str) -> Rows:
    rows = scan(source)
    if not len(rows) or rows.counts[0] != 1:
        raise source.error(f"begins with the number of {what}", line=1)
    n = int(rows.integers(rows.first[:1], f"the number of {what}")[0])
    if n < 1:
        raise source.error(f"has no {what}", line=1)
    return rows.part(1, len(rows)).expect(n, what)
