"""Scotch's meshes: lists of the points of each cell and of the cells of each point.

Lines: 1; cells, points, entries of all lists; number of the first cell, of the first point, and
three digits that say whether labels, loads of entries and loads precede a list. Whichever begins
with the smaller number comes first. Cells have no shape: all points of one are neighbours.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from evener.graphs.mesh import POINT_SET, Mesh
from evener.io.meshes.rows import Rows, make_mesh, ragged, scan
from evener.io.sources import Source

_START = re.compile(
    rb"\s*1[ \t\r]*\n\s*\d{1,12}[ \t]+\d{1,12}[ \t]+\d{1,12}[ \t\r]*\n"
    rb"\s*\d{1,12}[ \t]+\d{1,12}[ \t]+[01]{1,3}\s"
)


def recognises(source: Source) -> bool:
    """Return whether the suffix is .msh and the header three lines of counts."""
    return source.suffix == ".msh" and _START.match(source.head) is not None


def read(source: Source) -> Mesh:
    """Return the cells as sets of points, with their loads as the field `weight`."""
    start = _START.match(source.head)
    if start is None:
        raise source.error("has not the three lines a mesh of Scotch's begins with", line=1)
    _, n_cells, n_points, entries, cell_base, point_base, digits = start[0].split()
    n, p, e = int(n_cells), int(n_points), int(entries)
    flags = digits.decode().zfill(3)
    if flags[0] != "0" or flags[1] != "0":
        raise source.error("has labels or loads of entries, which are not read", line=3)
    if n < 1 or p < 1 or n + p + e > len(source.data):
        raise source.error(f"speaks of {n:,} cells, {p:,} points and {e:,} entries", line=2)
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
    source.notes.append("Cells have no shape here: all points of a cell are neighbours.")
    return make_mesh(
        source,
        np.empty((p, 0)),
        counts[cells],
        rows.corners(index, base, p),
        np.full(n, POINT_SET),
        cell_data=fields,
    )


def _lists(rows: Rows, n: int, extra: int) -> Any:
    """(n + 1,) where the entries of each list begin, and past where the last ends, plus 1 + extra.

    A load, if any, stands before the length.
    """
    from evener.io.meshes import rows_kernels as kernels

    values = rows.values
    first = np.zeros(n + 1, np.int64)
    bad = kernels.walk_lists(values, first, extra)
    if bad >= 0 or first[-1] != values.size:
        what = f"list {bad} has not as many entries as it says" if bad >= 0 else "lists go on"
        raise rows.source.error(f"{what}, of {n:,} lists")
    first[-1] += 1 + extra
    return first


def _base(rows: Rows, index: Any, lowest: int, own: int, n: int) -> int:
    """The number of the first point within lists: counted as in the file, or from `lowest`."""
    numbers = rows.integers(index, "the number of a point")
    inside = numbers.size > 0 and numbers.min() >= own and numbers.max() < own + n
    return own if inside else lowest
