"""MFEM's own meshes, versions 1.0 to 1.3: elements, boundary elements, and vertices or nodes.

Each element's attribute is the field `attribute`. For a curved mesh, only the vertices are read.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from evener.arrays import ragged
from evener.graphs.mesh import Mesh
from evener.io.meshes.rows import FileRows, make_mesh, scan
from evener.io.sources import Source

_HEAD = re.compile(rb"\s*MFEM ((?:NC |NURBS |INLINE )*)mesh v(\d{1,3}\.\d{1,3})")
_KEYS = (
    rb"dimension|elements|boundary|vertices|nodes|attribute_sets|bdr_attribute_sets|"
    rb"mfem_mesh_end|mfem_serial_mesh_end|communication_groups"
)
_KEY = re.compile(rb"^[ \t]*(" + _KEYS + rb")[ \t\r]*$", re.MULTILINE)
_SPACE = re.compile(
    rb"\s*FiniteElementSpace\s+FiniteElementCollection:\s*(\S+)\s+VDim:\s*([123])\s+"
    rb"Ordering:\s*([01])[ \t\r]*\n"
)
# Geometries: point, segment, triangle, square, tetrahedron, cube, prism, pyramid.
_KINDS = np.array([1, 3, 5, 9, 10, 12, 13, 14])
_SIZES = np.array([1, 2, 3, 4, 4, 8, 6, 5])


def recognises(source: Source) -> bool:
    """Return whether the file begins with `MFEM mesh`."""
    return _HEAD.match(source.head) is not None


def read(source: Source) -> Mesh:
    """Return the elements; boundary elements are left out, with a note."""
    head = _HEAD.match(source.head)
    if head is None:
        raise source.error("does not begin with `MFEM mesh v1.0`", line=1)
    if head[1] or head[2] not in (b"1.0", b"1.2", b"1.3"):
        kind = head[0].strip().decode()
        hint = "Evener reads meshes v1.0, 1.2 and 1.3 without local refinement and without "
        raise source.error(
            f"is an {kind}, which Evener does not read",
            line=1,
            hint=f"{hint}NURBS; Mesh::Print writes them.",
        )
    sections = _sections(source)
    counts, corners, kinds, attributes, places = _cells(source, sections)
    points = _points(source, sections)
    n_points = len(points)
    if (bad := np.flatnonzero((corners < 0) | (corners >= n_points))).size:
        cell = int(np.searchsorted(np.cumsum(counts), bad[0], side="right"))
        message = (
            f"vertex {corners[bad[0]]} does not exist: vertices are numbered 0 to {n_points - 1}"
        )
        raise source.error(message, offset=int(places[cell]))
    if "communication_groups" in sections:
        source.notes.append("This is the part of one rank; use the file of the whole mesh.")
    fields = {"attribute": attributes}
    return make_mesh(source, points, counts, corners, kinds, cell_data=fields)


def _sections(source: Source) -> dict[str, tuple[int, int]]:
    """Return the offsets of each section's content, by keyword."""
    matches = list(_KEY.finditer(source.data))
    stops = [*(match.start() for match in matches[1:]), len(source.data)]
    found: dict[str, tuple[int, int]] = {}
    for match, stop in zip(matches, stops, strict=False):
        key = match[1].decode()
        if key in found:
            raise source.error(f"{key} appears twice", offset=match.start())
        found[key] = (match.end(), stop)
    for key in ("dimension", "elements", "vertices"):
        if key not in found:
            raise source.error(f"has no section {key}")
    return found


def _cells(source: Source, sections: dict[str, tuple[int, int]]) -> tuple[Any, ...]:
    """Return counts, corners, kinds, attributes and byte offsets of all elements, boundary last."""
    dimension = scan(source, *sections["dimension"], comment=b"#").values
    if dimension.size != 1 or dimension[0] not in (1, 2, 3):
        raise source.error("dimension must be 1, 2 or 3", offset=sections["dimension"][0])
    columns = [_elements(source, sections["elements"], int(dimension[0]))]
    if "boundary" in sections:
        columns.append(_elements(source, sections["boundary"], int(dimension[0]) - 1))
    return tuple(np.concatenate(column) for column in zip(*columns, strict=True))


_DIMS = np.array([0, 1, 2, 2, 3, 3, 3, 3])


def _elements(source: Source, where: tuple[int, int], dim: int) -> tuple[Any, ...]:
    rows = _counted(source, where, "elements")
    head = rows.whole_columns(0, 2, "an attribute or a geometry", at_most=10)
    geometry = head[:, 1]
    safe = np.clip(geometry, 0, _KINDS.size - 1)
    if (bad := np.flatnonzero((safe != geometry) | (_DIMS[safe] != dim))).size:
        rows.refuse(int(bad[0]), f"an element of geometry {geometry[bad[0]]} is not {dim}-D")
    if (bad := np.flatnonzero(rows.counts != 2 + _SIZES[safe])).size:
        size = _SIZES[safe[bad[0]]]
        rows.refuse(int(bad[0]), f"an element of geometry {geometry[bad[0]]} has {size} vertices")
    index = ragged(rows.first[:-1] + 2, _SIZES[safe])
    corners = rows.integers(index, "the number of a vertex")
    return _SIZES[safe], corners, _KINDS[safe], head[:, 0], rows.place


def _counted(source: Source, where: tuple[int, int], what: str) -> FileRows:
    """Return the rows after the first, which states their number."""
    rows = scan(source, *where, comment=b"#")
    if not len(rows) or rows.counts[0] != 1:
        raise source.error(f"the number of {what} is missing", offset=where[0])
    n = int(rows.integers(rows.first[:1], f"the number of {what}")[0])
    return rows.part(1, len(rows)).expect(n, what)


def _points(source: Source, sections: dict[str, tuple[int, int]]) -> Any:
    """Return the vertices' coordinates, (p, 2) or (p, 3); (p, 0) if the nodes do not state them."""
    rows = scan(source, *sections["vertices"], comment=b"#")
    if not len(rows) or rows.counts[0] != 1:
        raise source.error("the number of vertices is missing", offset=sections["vertices"][0])
    n = int(rows.integers(rows.first[:1], "the number of vertices")[0])
    if not 0 < n <= len(source.data):
        rows.refuse(0, f"the number of vertices cannot be {n:,}")
    if "nodes" in sections:
        return _padded(_of_nodes(source, *sections["nodes"], n))
    if len(rows) < 2 or rows.counts[1] != 1 or rows.values[1] not in (1, 2, 3):
        rows.refuse(
            0, "the number of vertices must be followed by the number of coordinates: 1, 2 or 3"
        )
    return _padded(rows.part(2, len(rows)).expect(n, "vertices").columns(0, int(rows.values[1])))


def _of_nodes(source: Source, start: int, stop: int, n: int) -> Any:
    """Return the coordinates of vertices from the nodes of a curved mesh.

    In spaces of continuous functions (H1), the nodes at vertices come first, in vertex order.
    """
    match = _SPACE.match(source.data, start, stop)
    if match is None:
        raise source.error(
            "nodes must begin with FiniteElementSpace, VDim and Ordering", offset=start
        )
    if not match[1].startswith((b"H1", b"Linear", b"Quadratic", b"Cubic")):
        source.notes.append(
            f"Nodes in the space {match[1].decode('ascii', 'replace')} are not read."
        )
        return np.zeros((n, 0))
    width = int(match[2])
    values = scan(source, match.end(), stop, comment=b"#").values
    if values.size % width or values.size < n * width:
        message = (
            f"{n:,} vertices have {width} coordinates each; nodes hold {values.size:,} numbers"
        )
        raise source.error(message, offset=start)
    is_by_point = match[3] == b"1"
    table = values.reshape(-1, width) if is_by_point else values.reshape(width, -1).T
    return np.ascontiguousarray(table[:n])


def _padded(points: Any) -> Any:
    """Return points; those with one coordinate get a second coordinate, zero."""
    return np.column_stack([points, np.zeros(len(points))]) if points.shape[1] == 1 else points
