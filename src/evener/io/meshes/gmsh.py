"""Gmsh's .msh in text, versions 2.x, 4.0 and 4.1; binary files go to meshio.

Each cell's physical group is the field `physical`, 0 where it has none.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from evener.graphs.mesh import Mesh
from evener.io.meshes import meshio
from evener.io.meshes.rows import Rows, make_mesh, ragged, renumber, scan
from evener.io.sources import Source

# Gmsh's cell types: VTK's type, number of points, and VTK's order of them where it differs.
_KINDS: dict[int, tuple[int, int]] = {
    1: (3, 2),
    2: (5, 3),
    3: (9, 4),
    4: (10, 4),
    5: (12, 8),
    6: (13, 6),
    7: (14, 5),
    8: (21, 3),
    9: (22, 6),
    10: (28, 9),
    11: (24, 10),
    12: (29, 27),
    13: (32, 18),
    15: (1, 1),
    16: (23, 8),
    17: (25, 20),
    18: (26, 15),
    19: (27, 13),
    26: (35, 4),
    21: (69, 10),
    29: (71, 20),
    36: (70, 16),
}
_ORDER = {
    11: [*range(8), 9, 8],
    12: [*range(8), 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15, 22, 23, 21, 24, 20, 25, 26],
    13: [*range(6), 6, 9, 7, 12, 14, 13, 8, 10, 11, 15, 17, 16],
    17: [*range(8), 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15],
    18: [*range(6), 6, 9, 7, 12, 14, 13, 8, 10, 11],
    19: [*range(5), 5, 8, 10, 6, 7, 9, 11, 12],
}
_MARK = re.compile(rb"^[ \t]*\$(\w+)[ \t\r]*$", re.MULTILINE)


def recognises(source: Source) -> bool:
    """Return whether the file begins with $MeshFormat."""
    return source.data[:64].lstrip().startswith((b"$MeshFormat", b"$Comments"))


def read(source: Source) -> Mesh:
    """Return the cells of the highest dimension."""
    sections = _sections(source)
    version, binary = _format(source, sections)
    if binary:
        return meshio.read_as(source, "gmsh")
    for name in ("Nodes", "Elements"):
        if name not in sections:
            raise source.error(f"has no section ${name}")
    if version < 4:
        return _read_2(source, sections)
    return _Blocks(source, sections, version).read()


def _sections(source: Source) -> dict[str, tuple[int, int]]:
    """Return the offsets of the content of each section, the first of each name."""
    found: dict[str, tuple[int, int]] = {}
    name, start = "", 0
    for match in _MARK.finditer(source.data):
        word = match[1].decode("ascii", "replace")
        if not name and not word.startswith("End"):
            name, start = word, match.end()
        elif name and word == f"End{name}":
            found.setdefault(name, (start, match.start()))
            name = ""
    if name in ("Nodes", "Elements"):
        raise source.error(f"ends within the section ${name}", offset=start)
    return found


def _format(source: Source, sections: dict[str, tuple[int, int]]) -> tuple[float, bool]:
    start, stop = sections.get("MeshFormat", (0, 0))
    words = source.data[start:stop].split(maxsplit=3)
    match = re.fullmatch(rb"\d\.?\d{0,3}", words[0]) if len(words) > 2 else None
    if match is None or words[1] not in (b"0", b"1"):
        raise source.error("has no $MeshFormat with a version that is known", line=1)
    version = float(words[0])
    if not (2 <= version < 3 or 4 <= version < 4.2):
        hint = "Versions 2.x, 4.0 and 4.1 are; gmsh -save converts."
        raise source.error(f"is of version {version:g}, which is not read", line=2, hint=hint)
    return version, words[1] == b"1"


def _read_2(source: Source, sections: dict[str, tuple[int, int]]) -> Mesh:
    """Return the mesh of lines `id x y z` and `id type n_tags tags... corners...`."""
    nodes = _counted(scan(source, *sections["Nodes"]), "points")
    points = nodes.columns(1, 4)
    ids = nodes.integers(nodes.first[:-1], "the number of a point")
    rows = _counted(scan(source, *sections["Elements"]), "cells")
    head = rows.whole_columns(1, 3, "the type of a cell", at_most=2**31)
    kinds, sizes = _known(rows, head[:, 0])
    tags = head[:, 1]
    bad = np.flatnonzero((tags < 0) | (rows.counts != 3 + tags + sizes))
    if bad.size:
        row = int(bad[0])
        what = f"{tags[row]} tags and {sizes[row]} corners"
        rows.refuse(row, f"a cell of type {head[row, 0]} needs {what} after the first 3 numbers")
    index = ragged(rows.first[:-1] + 3 + tags, sizes)
    physical = np.zeros(len(rows), np.int64)
    tagged = tags > 0
    physical[tagged] = rows.integers(rows.first[:-1][tagged] + 3, "a tag")
    corners = _corners(source, ids, rows.integers(index, "the number of a point"))
    _reorder(corners, head[:, 0], sizes)
    fields = {"physical": physical} if physical.any() else {}
    return make_mesh(source, points, sizes, corners, kinds, cell_data=fields)


def _counted(rows: Rows, what: str) -> Rows:
    """Return the rows after the first, which states their number."""
    if not len(rows) or rows.counts[0] != 1:
        raise rows.source.error(f"the number of {what} is missing")
    n = int(rows.integers(rows.first[:1], f"the number of {what}")[0])
    if n < 1:
        rows.refuse(0, f"there are no {what}")
    return rows.part(1, len(rows)).expect(n, what)


def _known(rows: Rows, types: Any) -> tuple[Any, Any]:
    """Return VTK's types of the cells, and their numbers of corners."""
    kinds, sizes = np.zeros(256, np.int64), np.zeros(256, np.int64)
    for number, (kind, size) in _KINDS.items():
        kinds[number], sizes[number] = kind, size
    safe = np.clip(types, 0, 255)
    if (bad := np.flatnonzero((sizes[safe] == 0) | (types != safe))).size:
        rows.refuse(int(bad[0]), f"cells of Gmsh's type {types[bad[0]]} are not known")
    return kinds[safe], sizes[safe]


def _corners(source: Source, ids: Any, numbers: Any) -> Any:
    """Return the places of the points with these numbers, which usually ascend from 1."""
    in_order = (ids == np.arange(1, ids.size + 1)).all()
    if in_order and numbers.size and numbers.min() >= 1 and numbers.max() <= ids.size:
        return numbers - 1
    return renumber(source, ids, numbers)


def _reorder(corners: Any, types: Any, sizes: Any) -> None:
    """Put the points of cells of higher order into VTK's order, in place."""
    starts = np.cumsum(sizes) - sizes
    for number in np.intersect1d(types, list(_ORDER)):
        first = starts[types == number][:, None]
        order = np.array(_ORDER[int(number)])
        corners[first + np.arange(order.size)] = corners[first + order]


class _Blocks:
    """Version 4: blocks of points and cells, one a geometric entity, read number by number."""

    def __init__(self, source: Source, sections: dict[str, tuple[int, int]], version: float):
        self.source, self.sections, self.is_40 = source, sections, version < 4.1

    def read(self) -> Mesh:
        """Return the mesh; the physical groups are those of the entities."""
        ids, points = self._points()
        groups = self._groups() if "Entities" in self.sections else {}
        rows, at, end = self._open("Elements", "cells")
        types, counts, blocks, physical = [], [], [], []
        while at < end:
            row = int(np.searchsorted(rows.first, at, side="right")) - 1
            (a, b, number, n), at = self._head(rows, at, end)
            tag, dim = (a, b) if self.is_40 else (b, a)
            size = int(_known(rows.part(row, row + 1), np.array([number]))[1][0])
            if n < 0 or n * (size + 1) > end - at:
                rows.refuse(row, f"{n:,} cells of {size} points are spoken of; the section ends")
            block = np.arange(at, at + n * (size + 1)).reshape(n, size + 1)[:, 1:]
            blocks.append(block.ravel())
            types.append(np.full(n, number))
            counts.append(np.full(n, size))
            physical.append(np.full(n, groups.get((dim, tag), 0)))
            at += n * (size + 1)
        if not types or not sum(t.size for t in types):
            raise self.source.error("has no cells")
        kinds, _ = _known(rows, np.concatenate(types))
        sizes = np.concatenate(counts)
        numbers = rows.integers(np.concatenate(blocks), "the number of a point")
        corners = _corners(self.source, ids, numbers)
        _reorder(corners, np.concatenate(types), sizes)
        group = np.concatenate(physical)
        fields = {"physical": group} if group.any() else {}
        return make_mesh(self.source, points, sizes, corners, kinds, cell_data=fields)

    def _open(self, name: str, what: str) -> tuple[Rows, int, int]:
        """Return a section's numbers, and where those after its first line begin and end."""
        rows = scan(self.source, *self.sections[name])
        if not len(rows) or rows.counts[0] < 2:
            raise self.source.error(f"${name} begins with the numbers of its blocks and {what}")
        return rows, int(rows.first[1]), int(rows.first[-1])

    def _head(self, rows: Rows, at: int, end: int) -> tuple[list[int], int]:
        if at + 4 > end:
            rows.refuse(len(rows) - 1, "the section ends within a block")
        return rows.integers(np.arange(at, at + 4), "the head of a block").tolist(), at + 4

    def _points(self) -> tuple[Any, Any]:
        rows, at, end = self._open("Nodes", "points")
        ids, where = [], []
        while at < end:
            row = int(np.searchsorted(rows.first, at, side="right")) - 1
            (a, b, parametric, n), at = self._head(rows, at, end)
            dim = b if self.is_40 else a
            width = 3 + (dim if parametric and 0 <= dim <= 3 else 0)
            if n < 0 or n * (width + 1) > end - at:
                rows.refuse(row, f"{n:,} points are spoken of, but the section ends")
            if self.is_40:
                index = np.arange(at, at + n * (width + 1)).reshape(n, width + 1)
                ids.append(index[:, 0])
                where.append(index[:, 1:4])
            else:
                ids.append(np.arange(at, at + n))
                where.append((at + n + np.arange(n * width)).reshape(n, width)[:, :3])
            at += n * (width + 1)
        if not ids or not sum(i.size for i in ids):
            raise self.source.error("has no points")
        points = rows.values[np.concatenate(where)]
        return rows.integers(np.concatenate(ids), "the number of a point"), points

    def _groups(self) -> dict[tuple[int, int], int]:
        """Return the first physical group of each entity that has one, by (dimension, tag)."""
        rows, _, end = self._open("Entities", "entities")
        groups: dict[tuple[int, int], int] = {}
        counts = rows.integers(np.arange(rows.first[0], rows.first[1]), "a count").tolist()
        at = int(rows.first[1])
        for dim, count in enumerate(counts[:4]):
            box = 3 if dim == 0 and not self.is_40 else 6
            for _ in range(count):
                tag_at, at = at, at + 1 + box
                at, first = self._skip_list(rows, at, end)
                if first:
                    tag, group = rows.integers(np.array([tag_at, first]), "a tag").tolist()
                    groups[dim, tag] = abs(group)
                if dim > 0:
                    at, _ = self._skip_list(rows, at, end)
        return groups

    def _skip_list(self, rows: Rows, at: int, end: int) -> tuple[int, int]:
        """Return where the list that begins with its length ends, and its first entry or 0."""
        length = int(rows.integers(np.array([at]), "a length")[0]) if at < end else -1
        if length < 0 or at + 1 + length > end:
            rows.refuse(len(rows) - 1, "$Entities ends early")
        return at + 1 + length, at + 1 if length else 0
