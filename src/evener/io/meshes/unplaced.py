"""Meshes of METIS and Scotch: the points of each cell, in files without coordinates.

METIS: the number of cells, then for each cell a line of points, from 1 on. METIS 5's header is
`cells [weights per cell]`, METIS 4's `cells type`; the number of points determines a cell's shape.

Scotch: lists of the points of each cell and of the cells of each point, after these lines: 1;
numbers of cells, points and entries of all lists; numbers of the first cell and the first point,
and three digits that say whether labels, loads of entries and loads precede a list. The lists of
cells come first if their first number is smaller, otherwise those of points. Cells have no shape:
all points of a cell are neighbours.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from evener.arrays import ragged
from evener.graphs.mesh import (
    HEXAHEDRON,
    LINE,
    POINT_SET,
    PYRAMID,
    QUAD,
    TETRA,
    TRIANGLE,
    WEDGE,
    Mesh,
)
from evener.io.entries import whole_where_all_are
from evener.io.meshes.rows import FileRows, make_mesh, scan
from evener.io.sources import Source

# METIS 4's types: triangles, tetrahedra, hexahedra, quads.
_OLD = {1: (TRIANGLE, 3), 2: (TETRA, 4), 3: (HEXAHEDRON, 8), 4: (QUAD, 4)}
_BY_SIZE = {2: LINE, 3: TRIANGLE, 4: TETRA, 5: PYRAMID, 6: WEDGE, 8: HEXAHEDRON}
_MIXED = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
_METIS_START = re.compile(rb"(?:[ \t]*%[^\n]*\n|[ \t\r]*\n)*[ \t]*\d+(?:[ \t]+\d+)?[ \t\r]*\n")
_SCOTCH_START = re.compile(
    rb"\s*1[ \t\r]*\n\s*\d{1,12}[ \t]+\d{1,12}[ \t]+\d{1,12}[ \t\r]*\n"
    rb"\s*\d{1,12}[ \t]+\d{1,12}[ \t]+[01]{1,3}\s"
)


def recognises_metis(source: Source) -> bool:
    """Return whether the suffix is .mesh and the header has one or two numbers."""
    return source.suffix == ".mesh" and _METIS_START.match(source.head) is not None


def read_metis(source: Source) -> Mesh:
    """Return the cells; weights are the field `weight`, or `weight0`, `weight1`..."""
    rows = scan(source, comment=b"%")
    if not len(rows) or rows.counts[0] > 2:
        raise source.error(
            "must begin with the number of cells, then the number of weights or the type", line=1
        )
    header = rows.integers(np.arange(rows.counts[0]), "a count")
    cells = rows.part(1, len(rows)).expect(int(header[0]), "cells")
    if not len(cells):
        raise source.error("has no cells", line=1)
    second = int(header[1]) if header.size == 2 else 0
    is_old = second in _OLD and bool((cells.counts == _OLD[second][1]).all())
    n_weights = 0 if is_old else second
    sizes = cells.counts - n_weights
    if n_weights < 0 or (bad := np.flatnonzero(sizes < 1)).size:
        cells.refuse(int(bad[0]), f"at least {n_weights} weights and a point are needed")
    index = ragged(cells.first[:-1] + n_weights, sizes)
    numbers = cells.integers(index, "the number of a point")
    corners = cells.corners(index, 1, _n_points(source, numbers))
    kinds = np.full(sizes.size, _OLD[second][0]) if is_old else _kinds(source, sizes, corners)
    weights = cells.columns(0, n_weights, at_most=2**40)
    names = ["weight"] if n_weights == 1 else [f"weight{i}" for i in range(n_weights)]
    fields = {name: whole_where_all_are(weights[:, i]) for i, name in enumerate(names)}
    points = np.empty((int(corners.max()) + 1, 0))
    return make_mesh(source, points, sizes, corners, kinds, cell_data=fields)


def _n_points(source: Source, numbers: Any) -> int:
    """Return the largest point number; raise InputError if it far exceeds the number of corners."""
    largest = int(numbers.max())
    if largest > 1_000_000 + 100 * numbers.size:
        raise source.error(f"has point {largest:,}, but only {numbers.size:,} corners in all")
    return max(largest, 1)


def _kinds(source: Source, sizes: Any, corners: Any) -> Any:
    """Return the cells' shapes by number of points; for 4 points, by how cells share points."""
    kinds = np.zeros(256, np.int64)
    kinds[list(_BY_SIZE)] = list(_BY_SIZE.values())
    if (bad := np.flatnonzero(kinds[np.clip(sizes, 0, 255)] == 0)).size or sizes.max() > 255:
        size = sizes[bad[0]] if bad.size else sizes.max()
        raise source.error(f"has a cell of {size} points, whose shape is unknown")
    present = set(np.unique(sizes).tolist())
    flat = present <= {3, 4} and (3 in present or not _share_triples(sizes, corners))
    if 4 in present:
        kinds[4] = QUAD if flat else TETRA
        shape = "quads" if flat else "tetrahedra"
        source.notes.append(f"Cells of 4 points are read as {shape}.")
    return kinds[sizes]


def _share_triples(sizes: Any, corners: Any) -> bool:
    """Return whether cells of 4 points share 3 points, as tetrahedra do but quads do not."""
    cells = np.sort(corners.reshape(-1, 4), axis=1) if (sizes == 4).all() else None
    if cells is None or len(cells) == 1:
        return True
    triples = np.concatenate([np.delete(cells, i, axis=1) for i in range(4)])
    keys = triples.astype(np.uint64) @ _MIXED  # modulo 2^64: different triples rarely collide
    return 10 * (keys.size - np.unique(keys).size) >= len(cells)


def recognises_scotch(source: Source) -> bool:
    """Return whether the suffix is .msh and the header has three lines of counts."""
    return source.suffix == ".msh" and _SCOTCH_START.match(source.head) is not None


def read_scotch(source: Source) -> Mesh:
    """Return the cells as sets of points, with their loads as the field `weight`."""
    start = _SCOTCH_START.match(source.head)
    if start is None:
        raise source.error("lacks the three lines with which a Scotch mesh begins", line=1)
    _, n_cells, n_points, entries, cell_base, point_base, digits = start[0].split()
    n, p, e = int(n_cells), int(n_points), int(entries)
    flags = digits.decode().zfill(3)
    if flags[0] != "0" or flags[1] != "0":
        raise source.error("has labels or loads of entries, which are not read", line=3)
    if n < 1 or p < 1 or n + p + e > len(source.data):
        raise source.error(
            f"declares {n:,} cells, {p:,} points and {e:,} entries, which do not fit the file",
            line=2,
        )
    extra = int(flags[2])
    rows = scan(source, start.end())
    first = _lists(rows, n + p, extra)
    counts = np.diff(first) - 1 - extra
    if int(counts.sum()) != e:
        raise source.error(f"has {counts.sum():,} entries in its lists, not {e:,}", line=2)
    cells = slice(0, n) if int(cell_base) < int(point_base) else slice(p, p + n)
    index = ragged(first[:-1][cells], counts[cells])
    if (bad := np.flatnonzero(counts[cells] < 1)).size:
        raise source.error(f"the cell {bad[0] + int(cell_base)} has no point")
    base = _base(rows, index, min(int(cell_base), int(point_base)), int(point_base), p)
    fields = {"weight": rows.values[first[:-1][cells] - 2].copy()} if extra else {}
    source.notes.append("Cells have no shape in this format: all points of a cell are neighbours.")
    return make_mesh(
        source,
        np.empty((p, 0)),
        counts[cells],
        rows.corners(index, base, p),
        np.full(n, POINT_SET),
        cell_data=fields,
    )


def _lists(rows: FileRows, n: int, extra: int) -> Any:
    """Return the offsets (n + 1,) of the lists' entries; differences are lengths + 1 + extra.

    extra: 1 if a load precedes each length, otherwise 0.
    """
    from evener.io import text_kernels as kernels

    values = rows.values
    first = np.zeros(n + 1, np.int64)
    bad = kernels.walk_lists(values, first, extra)
    if bad >= 0 or first[-1] != values.size:
        what = (
            f"list {bad} has another number of entries than declared"
            if bad >= 0
            else "numbers follow the last"
        )
        raise rows.source.error(f"{what}, of {n:,} lists")
    first[-1] += 1 + extra
    return first


def _base(rows: FileRows, index: Any, lowest: int, own: int, n: int) -> int:
    """Return the number of the first point in lists: `own` if all numbers fit, else `lowest`."""
    numbers = rows.integers(index, "the number of a point")
    inside = numbers.size > 0 and numbers.min() >= own and numbers.max() < own + n
    return own if inside else lowest
