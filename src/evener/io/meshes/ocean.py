"""Meshes of ocean models, ADCIRC, SCHISM and FESOM: numbered points, then each cell's points.

ADCIRC's grids, fort.14, and SCHISM's, hgrid.gr3: title; numbers of cells and points; `id x y
depth`; `id 3 a b c`, or `id 4 a b c d` for quadrilaterals; boundaries. The depth is a field of the
points, not a third coordinate. FESOM has two files, each beginning with a count: nod2d.out (id,
longitude, latitude, flag) and elem2d.out (three points).
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from evener.arrays import FloatArray, IntArray, ragged
from evener.graphs.mesh import QUAD, TRIANGLE, Fields, Mesh
from evener.io.meshes.rows import FileRows, make_mesh, renumber, scan
from evener.io.sources import Source
from evener.wording import plural

# The title, the two counts and the first point of a fort.14 grid.
_START = re.compile(
    rb"[^\n]*\n[ \t]*(\d{1,12})[ \t,]+(\d{1,12})[ \t\r]*(?:[^-+.\d\s][^\n]*)?\n"
    rb"[ \t]*\d+(?:[ \t]+[-+.\deEdD]+){3}\s"
)
_POINTS, _CELLS = "nod2d.out", "elem2d.out"  # of FESOM


def recognises_fort14(source: Source) -> bool:
    """Return whether lines 2 and 3 have 2 and 4 numbers, and the name fits or line 1 is a title."""
    name = source.name.lower()
    named = name.endswith((".14", ".grd", ".gr3")) or "fort.14" in name
    title = re.match(rb"[^\n%#]*[A-Za-z][^\n]*\n", source.head)
    return _START.match(source.head) is not None and (named or title is not None)


def read_fort14(source: Source) -> Mesh:
    """Return the cells, with `depth` as a field of the points."""
    start = _START.match(source.head)
    if start is None:
        raise source.error(
            "line 2 of a fort.14 grid must be the numbers of cells and points", line=2
        )
    n_cells, n_points = int(start[1]), int(start[2])
    ends = np.flatnonzero(source.array == 10) + 1
    if ends.size < 2 + n_points or n_points == 0 or n_cells == 0:
        raise source.error(f"ends before the declared {n_points:,} points", line=2)
    middle = int(ends[1 + n_points])
    lines = min(1 + n_points + n_cells, ends.size)
    stop = int(ends[lines]) if lines < ends.size else len(source.data)
    points = scan(source, int(ends[1]), middle).expect(n_points, "points")
    cells = scan(source, middle, stop).expect(n_cells, "cells")
    ids = points.integers(points.first[:-1], "the number of a point")
    sizes = cells.whole_columns(1, 2, "the number of corners", at_most=9)[:, 0]
    if (bad := np.flatnonzero((sizes != 3) & (sizes != 4))).size:
        cells.refuse(
            int(bad[0]), "the second number of a cell, its number of corners, must be 3 or 4"
        )
    if (bad := np.flatnonzero(cells.counts < 2 + sizes)).size:
        cells.refuse(int(bad[0]), f"the cell needs {sizes[bad[0]]} corners")
    if (table := points.columns(1, 4, at_most=8)).size and points.counts.max() > 4:
        source.notes.append("Columns after the depth of points are ignored.")
    fields = {"depth": table[:, 2].copy()}
    return _cells(source, table[:, :2], ids, cells, 2, sizes, fields)


def recognises_fesom(source: Source) -> bool:
    """Return whether the file has the name of one of FESOM's two files."""
    return source.name.endswith((_POINTS, _CELLS))


def read_fesom(source: Source) -> Mesh:
    """Return the triangles, with `flag` as a field of the points; reads both files."""
    mine, other = (_POINTS, _CELLS) if source.name.endswith(_POINTS) else (_CELLS, _POINTS)
    name = source.name.removesuffix(mine) + other
    beside = source.open_beside(name)
    if beside is None:
        raise source.error(f"is one half of a mesh; {name} must be in the same folder")
    at, cells_at = (source, beside) if mine == _POINTS else (beside, source)
    points, cells = _counted(at, "points"), _counted(cells_at, "cells")
    ids = points.integers(points.first[:-1], "the number of a point")
    table = points.columns(1, 3, at_most=4)
    cells.columns(0, 3)
    fields = {}
    if (points.counts == 4).all():
        fields["flag"] = points.whole_columns(3, 4, "the flag of a point")[:, 0]
    return _cells(source, table, ids, cells, 0, np.full(len(cells), 3), fields)


def _counted(source: Source, what: str) -> FileRows:
    rows = scan(source)
    if not len(rows) or rows.counts[0] != 1:
        raise source.error(f"must begin with the number of {what}", line=1)
    n = int(rows.integers(rows.first[:1], f"the number of {what}")[0])
    if n < 1:
        raise source.error(f"has no {what}", line=1)
    return rows.part(1, len(rows)).expect(n, what)


def _cells(
    source: Source,
    points: FloatArray,
    ids: IntArray,
    cells: FileRows,
    column: int,
    sizes: IntArray,
    fields: Fields,
) -> Mesh:
    """Return the mesh. A row of `cells` lists the ids of its cell's points from `column` on.

    ids (p,): the id of each point. sizes: number of points of each cell.
    """
    index = ragged(cells.first[:-1] + column, sizes)
    if (ids == np.arange(1, ids.size + 1)).all():
        corners = cells.corners(index, 1, ids.size)
    else:
        corners = renumber(cells.source, ids, cells.integers(index, "the number of a point"))
    kinds = np.where(sizes == 3, TRIANGLE, QUAD)
    mesh = make_mesh(source, points, sizes, corners, kinds, point_data=fields)
    return _around_the_globe(source, mesh)


def _around_the_globe(source: Source, mesh: Mesh) -> Mesh:
    """Set a period of 360 if coordinates are in degrees and cells extend across 360."""
    extent, far = np.ptp(mesh.points[:, 0]), np.abs(mesh.points[:, 1]).max()
    across = mesh.cells_across(360.0).size if 180 < extent <= 360 and far <= 90 else 0
    if not across:
        return mesh
    source.notes.append(
        f"Coordinates are read as degrees: {plural(across, 'cell crosses', 'cells cross')} 360."
    )
    return replace(mesh, period=360.0)
