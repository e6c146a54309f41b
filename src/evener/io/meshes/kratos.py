"""Kratos Multiphysics' .mdpa: blocks of nodes and elements; element names state the shape.

Elements are the cells; conditions are used only if there are no elements. The number of each
element's properties is the field `properties`.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from evener.graphs.mesh import Mesh
from evener.io.meshes.rows import FileRows, make_mesh, renumber, scan
from evener.io.sources import Source
from evener.wording import plural

_BLOCK = re.compile(
    rb"^[ \t]*Begin[ \t]+(Nodes|Elements|Conditions|Geometries)\b[ \t]*(\S*)[^\n]*\n"
    rb"(.*?)^[ \t]*End[ \t]+\1\b",
    re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(rb"//[^\n]*")
# VTK's types by dimension and number of points.
_KINDS = {
    1: {2: 3, 3: 21, 4: 35},
    2: {3: 5, 4: 9, 6: 22, 8: 23, 9: 28},
    3: {4: 10, 5: 14, 6: 13, 8: 12, 10: 24, 13: 27, 15: 26, 20: 25, 27: 29},
}
# VTK's order of the points, where it differs.
_ORDER = {
    26: [*range(9), 12, 13, 14, 9, 10, 11],
    25: [*range(12), 16, 17, 18, 19, 12, 13, 14, 15],
    29: [*range(12), 16, 17, 18, 19, 12, 13, 14, 15, *range(20, 27)],
}
# Parts of element and geometry names, by the dimension that they imply.
_NAMED = {
    1: re.compile(r"Line|Truss|Beam|Cable|Spring|Edge"),
    2: re.compile(r"Triangle|Quadrilateral|Shell|Membrane|Plate|Surface"),
    3: re.compile(r"Tetrahedr|Hexahedr|Prism|Pyramid|Solid"),
}
_SIZE = re.compile(r"([23])D(\d*)N?")


def recognises(source: Source) -> bool:
    """Return whether the suffix is .mdpa."""
    return source.suffix == ".mdpa"


def read(source: Source) -> Mesh:
    """Return the elements. Raises InputError if a name does not determine the shape."""
    data = _COMMENT.sub(lambda match: b" " * len(match[0]), source.data)
    blocks: dict[bytes, list[tuple[str, FileRows]]] = {}
    for match in _BLOCK.finditer(data):
        rows = scan(source, match.start(3), match.end(3), data=data)
        blocks.setdefault(match[1], []).append((match[2].decode("utf-8", "replace"), rows))
    nodes = [rows for _, rows in blocks.get(b"Nodes", []) if len(rows)]
    if not nodes:
        raise source.error("has no complete block of nodes: Begin Nodes ... End Nodes")
    points = np.concatenate([rows.columns(1, 4) for rows in nodes])
    ids = np.concatenate([rows.integers(rows.first[:-1], "a node's number") for rows in nodes])
    present = [name for name in (b"Elements", b"Geometries", b"Conditions") if _any(blocks, name)]
    if not present:
        raise source.error("has no elements")
    if b"Conditions" in present[1:]:
        count = sum(len(rows) for _, rows in blocks[b"Conditions"])
        source.notes.append(
            f"{plural(count, 'condition is', 'conditions are')} left out, because conditions are "
            "not cells."
        )
    sizes, kinds, corners, properties = [], [], [], []
    for name, rows in blocks[present[0]]:
        if not len(rows):
            continue
        before = 1 if present[0] == b"Geometries" else 2  # the properties follow the number
        size = int(rows.counts[0]) - before
        table = rows.whole_columns(0, before + size, "a number of an element")
        kind = _kind(rows, name, size)
        places = renumber(source, ids, table[:, before:].ravel()).reshape(-1, size)
        if kind == 10:
            _refuse_flat(rows, name, points[places])
        sizes.append(np.full(len(rows), size))
        kinds.append(np.full(len(rows), kind))
        corners.append(places[:, _ORDER.get(kind, range(size))].ravel())
        properties.append(table[:, before - 1] if before == 2 else np.zeros(len(rows), np.int64))
    found = np.concatenate(properties)
    return make_mesh(
        source,
        points,
        np.concatenate(sizes),
        np.concatenate(corners),
        np.concatenate(kinds),
        cell_data={"properties": found} if found.any() else {},
    )


def _any(blocks: dict[bytes, list[tuple[str, FileRows]]], name: bytes) -> bool:
    return any(len(rows) for _, rows in blocks.get(name, []))


def _kind(rows: FileRows, name: str, size: int) -> int:
    """Return VTK's type for elements of this name."""
    told = _SIZE.search(name)
    if told is not None and told[2] and int(told[2]) != size:
        rows.refuse(0, f"{name[:60]} has {told[2]} points, not {size}")
    dims = [dim for dim, names in _NAMED.items() if names.search(name)]
    if size == 1:
        return 1
    if not dims and told is not None:
        # Kratos's own elements: 2 points are lines, 3 points in space are triangles.
        dims = [1] if size == 2 else [2] if size == 3 else [int(told[1])]
    kind = _KINDS[dims[0]].get(size, 0) if len(dims) == 1 else 0
    if not kind:
        raise rows.source.error(
            f"has elements {name[:60]!r} of {size} points, an unknown shape",
            offset=int(rows.place[0]),
            hint="Use Kratos's VTK output (.vtk), which states shapes.",
        )
    return kind


def _refuse_flat(rows: FileRows, name: str, corners: Any) -> None:
    """Raise InputError if no tetrahedron has a volume: the elements are something else."""
    edges = corners[:, 1:] - corners[:, :1]
    extent = np.abs(edges).max()
    if (np.abs(np.linalg.det(edges)) <= 1e-12 * extent**3).all():
        rows.refuse(0, f"{name[:60]} may be tetrahedra or shells; as tetrahedra all would be flat")
