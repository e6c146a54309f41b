"""Medit's .mesh (INRIA) in text: keywords, each followed by a count and the entries.

Each entry ends with a reference, stored as the field `ref`. Meshlane reads binary .meshb.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from evener.graphs.mesh import Mesh
from evener.io.meshes.rows import FileRows, make_mesh, scan
from evener.io.sources import Source

_KEY = re.compile(rb"^[ \t]*([A-Za-z]\w*)", re.MULTILINE)
# Keywords of cells: VTK's type, number of points.
_CELLS = {
    "Edges": (3, 2),
    "Triangles": (5, 3),
    "Quadrilaterals": (9, 4),
    "Tetrahedra": (10, 4),
    "Hexahedra": (12, 8),
    "Hexaedra": (12, 8),
    "Prisms": (13, 6),
    "Wedges": (13, 6),
    "Pyramids": (14, 5),
    "EdgesP2": (21, 3),
    "TrianglesP2": (22, 6),
    "TetrahedraP2": (24, 10),
}


def recognises(source: Source) -> bool:
    """Return whether the file begins with MeshVersionFormatted."""
    return re.match(rb"(\s|#[^\n]*\n)*MeshVersionFormatted\b", source.head) is not None


def read(source: Source) -> Mesh:
    """Return the cells of the highest dimension."""
    sections = _sections(source)
    if "Dimension" not in sections or "Vertices" not in sections:
        raise source.error("has no Dimension, or no Vertices")
    dimension = scan(source, *sections["Dimension"], comment=b"#").values
    if dimension.size != 1 or dimension[0] not in (2, 3):
        raise source.error("Dimension must be 2 or 3", offset=sections["Dimension"][0])
    dim = int(dimension[0])
    rows, n_points = _entries(source, sections, "Vertices", dim + 1)
    table = rows.values[1:].reshape(n_points, dim + 1)
    counts, corners, kinds, refs = [], [], [], []
    for key, (kind, size) in _CELLS.items():
        if key not in sections:
            continue
        rows, n = _entries(source, sections, key, size + 1)
        index = np.arange(1, rows.values.size).reshape(n, size + 1)
        corners.append(rows.corners(index[:, :-1].ravel(), 1, n_points))
        refs.append(rows.integers(index[:, -1], "a reference"))
        counts.append(np.full(n, size))
        kinds.append(np.full(n, kind))
    if not kinds:
        raise source.error("has no cells of a known kind")
    ref = np.concatenate(refs)
    return make_mesh(
        source,
        table[:, :dim],
        np.concatenate(counts),
        np.concatenate(corners),
        np.concatenate(kinds),
        cell_data={"ref": ref} if ref.any() else {},
    )


def _sections(source: Source) -> dict[str, tuple[int, int]]:
    """Return the offsets of each keyword's content."""
    matches = list(_KEY.finditer(source.data))
    if not matches:
        raise source.error("has no Medit keyword such as Vertices")
    stops = [*(match.start() for match in matches[1:]), len(source.data)]
    found: dict[str, tuple[int, int]] = {}
    for match, stop in zip(matches, stops, strict=True):
        key = match[1].decode("ascii", "replace")
        if key in found and key in (*_CELLS, "Vertices", "Dimension"):
            raise source.error(f"{key} appears twice", offset=match.start())
        found[key] = (match.end(), stop)
    return found


def _entries(source: Source, sections: Any, key: str, width: int) -> tuple[FileRows, int]:
    """Return a section's numbers, which begin with the count of its entries, and this count."""
    rows = scan(source, *sections[key], comment=b"#")
    if not len(rows):
        raise source.error(f"{key} ends without a number", offset=sections[key][0])
    n = int(rows.integers(np.zeros(1, np.int64), f"the number of {key}")[0])
    if n < 0 or rows.values.size != 1 + n * width:
        found = f"{rows.values.size - 1:,} numbers follow"
        message = f"{key} declares {n:,} entries of {width} numbers, but {found}"
        raise source.error(message, offset=sections[key][0])
    return rows, n
