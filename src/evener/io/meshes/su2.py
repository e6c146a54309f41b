"""Reads and writes SU2 meshes, 2-D and 3-D: KEY= number, then lines of cells or points.

A cell's line: VTK's cell type, corners from 0 on, and optionally its index. SU2's configuration,
not the mesh, states which periodic markers belong together: markers whose names contain `period`
are coupled if a translation makes their faces meet.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray, offsets_of, ragged
from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.graphs.mesh import Faces, Mesh, cells_called
from evener.io.meshes.couplings import Boundary, once, paired_surfaces, rows_of
from evener.io.meshes.rows import FileRows, make_mesh, scan
from evener.io.sources import Source
from evener.io.text import table_text

_KEY = re.compile(rb"^[ \t]*([A-Za-z_]\w*)[ \t]*=[ \t]*([^\r\n]*)", re.MULTILINE)
# The types SU2 knows, with their number of corners.
_SIZES = {3: 2, 5: 3, 9: 4, 10: 4, 12: 8, 13: 6, 14: 5}


class _Section(NamedTuple):
    key: bytes
    value: bytes
    offset: int
    start: int
    stop: int


class _Zone:
    """The cells and points of a zone, and its periodic markers by name."""

    points: Any = None
    cells: Any = None  # (rows, counts, corner index, kinds)

    def __init__(self) -> None:
        self.markers: dict[str, Any] = {}  # same form as cells


def recognises(source: Source) -> bool:
    """Return whether the first lines contain NDIME= or NZONE=."""
    return re.search(rb"^[ \t]*(NDIME|NZONE)[ \t]*=", source.head, re.MULTILINE) is not None


def read(source: Source) -> Mesh:
    """Return the cells of all zones as one mesh; with several zones, `zone` is a cell field."""
    zones: list[_Zone] = [_Zone()]
    dim, promised, marker = 0, 1, ""
    for section in _sections(source):
        zone = zones[-1]
        if section.key == b"NZONE":
            promised = _number(source, section)
        elif section.key == b"IZONE" and (zone.points is not None or zone.cells is not None):
            zones.append(_Zone())
        elif section.key == b"NDIME":
            dim = _number(source, section)
            if dim not in (2, 3):
                raise source.error(f"NDIME must be 2 or 3, not {dim}", offset=section.offset)
        elif section.key == b"NELEM":
            _once(source, section, zone.cells)
            zone.cells = _read_cells(source, section)
        elif section.key == b"NPOIN":
            if dim == 0:
                raise source.error("NDIME= must come before NPOIN=", offset=section.offset)
            _once(source, section, zone.points)
            rows = _rows(source, section)
            zone.points = rows.columns(0, dim, at_most=dim + 2)
        elif section.key == b"MARKER_TAG":
            marker = section.value.decode("utf-8", "replace")
        elif section.key == b"MARKER_ELEMS" and "period" in marker.lower():
            zone.markers[marker] = _read_cells(source, section)
        elif section.key == b"NPERIODIC" and _number(source, section) > 1:
            source.notes.append(
                "NPERIODIC, the periodic boundaries of older versions of SU2, is left out."
            )
    if len(zones) != promised:
        raise source.error(f"declares {promised} zones (NZONE=), but contains {len(zones)}")
    return _join(source, zones)


def _sections(source: Source) -> list[_Section]:
    found = list(_KEY.finditer(source.data))
    if not found:
        raise source.error("must begin with a line such as NDIME= 2")
    stops = [*(match.start() for match in found[1:]), len(source.data)]
    return [
        _Section(
            match[1].upper(), match[2].split(b"%")[0].strip(), match.start(), match.end(), stop
        )
        for match, stop in zip(found, stops, strict=True)
    ]


def _number(source: Source, section: _Section) -> int:
    # NPOIN= may have a second number, the count of points without those of ghost cells.
    words = section.value.split()
    if not words or not words[0].isdigit() or len(words[0]) > 15:
        what = section.key.decode()
        raise source.error(f"{what}= needs a whole number", offset=section.offset)
    return int(words[0])


def _once(source: Source, section: _Section, seen: Any) -> None:
    if seen is not None:
        what = section.key.decode()
        raise source.error(f"{what}= appears twice in one zone", offset=section.offset)


def _rows(source: Source, section: _Section) -> FileRows:
    what = "points" if section.key == b"NPOIN" else "cells"
    n = _number(source, section)
    return scan(source, section.start, section.stop, comment=b"%").expect(n, what)


def _read_cells(source: Source, section: _Section) -> Any:
    """Return rows, corners per cell (c,), indices of corners in the rows' values, and VTK types."""
    rows = _rows(source, section)
    kinds = rows.integers(rows.first[:-1], "the type of a cell")
    sizes = np.zeros(256, np.int64)
    sizes[list(_SIZES)] = list(_SIZES.values())
    known = sizes[np.clip(kinds, 0, 255)]
    if (bad := np.flatnonzero((known == 0) | (kinds > 255))).size:
        rows.refuse(int(bad[0]), f"SU2 has no cell type {kinds[bad[0]]}")
    extra = rows.counts - 1 - known
    if (bad := np.flatnonzero((extra < 0) | (extra > 1))).size:
        row = int(bad[0])
        rows.refuse(row, f"a cell of type {kinds[row]} needs {known[row]} corners")
    return rows, known, ragged(rows.first[:-1] + 1, known), kinds


def _join(source: Source, zones: list[_Zone]) -> Mesh:
    for number, zone in enumerate(zones, 1):
        if zone.points is None or zone.cells is None:
            missing = "points (NPOIN=)" if zone.points is None else "cells (NELEM=)"
            where = f" in zone {number}" if len(zones) > 1 else ""
            raise source.error(f"has no {missing}{where}")
    if len({zone.points.shape[1] for zone in zones}) > 1:
        raise source.error("has zones in 2 and in 3 dimensions")
    starts = offsets_of(np.array([len(zone.points) for zone in zones]))
    corners = [
        zone.cells[0].corners(zone.cells[2], 0, stop - start) + start
        for zone, (start, stop) in zip(zones, pairwise(starts), strict=True)
    ]
    counts = [zone.cells[1] for zone in zones]
    fields = {}
    if len(zones) > 1:
        source.notes.append(
            f"{len(zones)} zones are joined; cells of different zones are not neighbours."
        )
        fields["zone"] = np.repeat(np.arange(len(zones)), [c.size for c in counts])
    mesh = make_mesh(
        source,
        np.concatenate([zone.points for zone in zones]),
        np.concatenate(counts),
        np.concatenate(corners),
        np.concatenate([zone.cells[3] for zone in zones]),
        cell_data=fields,
    )
    return _with_couplings(source, mesh, zones, starts)


def _with_couplings(source: Source, mesh: Mesh, zones: list[_Zone], starts: IntArray) -> Mesh:
    """Return the mesh with couplings between cells at periodic markers of the same zone."""
    if not any(zone.markers for zone in zones):
        return mesh
    boundary, pairs, left = Boundary(mesh), [], list[str]()
    for zone, (start, stop) in zip(zones, pairwise(starts), strict=True):
        faces = {
            name: boundary.places(rows_of(sizes, rows.corners(index, 0, stop - start) + start))
            for name, (rows, sizes, index, _) in zone.markers.items()
        }
        found, apart = paired_surfaces(boundary, faces, combinations(faces, 2))
        pairs.append(found)
        left += apart
    if left:
        names = ", ".join(left)
        source.notes.append(f"Periodic markers whose faces do not match are left out: {names}.")
    return replace(mesh, coupled=boundary.coupled(once(np.concatenate(pairs))))


SU2_KINDS = (5, 9, 10, 12, 13, 14)  # VTK's numbers are SU2's: triangles to pyramids
_FACE_KINDS = {2: 3, 3: 5, 4: 9}  # corners of a boundary face: line, triangle, quad


def su2_text(mesh: Mesh) -> bytes:
    """Return the mesh as an SU2 file, with a marker for each connected piece of its boundary.

    The pieces are called boundary0, boundary1, ... in the order of their smallest point. Raises
    InputError for cells that SU2 does not know and for points without coordinates.
    """
    unknown = sorted(set(mesh.kinds.tolist()) - set(SU2_KINDS))
    if unknown:
        raise InputError(f"SU2 has no {cells_called(unknown[0])}")
    if not mesh.has_coordinates or mesh.dim > mesh.points.shape[1]:
        raise InputError("SU2 needs the coordinates of all points")
    dim = mesh.points.shape[1] if mesh.dim == 3 else 2
    if mesh.points.shape[1] > dim and np.ptp(mesh.points[:, dim]) > 0:
        raise InputError("SU2 has no surfaces in space, but the points differ in z")
    numbers = list(map(repr, mesh.points[:, :dim].ravel().tolist()))
    columns = [numbers[j::dim] for j in range(dim)]
    rows = map(" ".join, zip(*columns, map(str, range(mesh.n_points)), strict=True))
    return b"".join(
        [
            f"NDIME= {dim}\nNELEM= {mesh.n_cells}\n".encode(),
            _lists(mesh.kinds, mesh.offsets, mesh.corners, numbered=True),
            f"NPOIN= {mesh.n_points}\n".encode(),
            "\n".join(rows).encode(),
            b"\n",
            _markers(mesh.boundary_faces(), mesh.n_points),
        ]
    )


def _lists(
    kinds: npt.NDArray[np.integer], offsets: IntArray, corners: IntArray, *, numbered: bool
) -> bytes:
    """Return lines of type, corners and, if `numbered`, the running number.

    Consecutive cells of one type are formatted together.
    """
    ends = np.flatnonzero(np.diff(kinds)) + 1
    pieces = []
    for first, last in pairwise([0, *ends.tolist(), kinds.size]):
        width = int(offsets[first + 1] - offsets[first])
        table = np.empty((last - first, width + 1 + numbered), np.int64)
        table[:, 0] = kinds[first]
        table[:, 1 : width + 1] = corners[offsets[first] : offsets[last]].reshape(-1, width)
        if numbered:
            table[:, -1] = np.arange(first, last)
        pieces.append(table_text(table, " "))
    return b"".join(pieces)


def _markers(faces: Faces, n_points: int) -> bytes:
    """Return the boundary, split into connected pieces."""
    counts = np.diff(faces.offsets)
    starts = faces.offsets[:-1]
    following = np.arange(faces.corners.size) + 1
    following[faces.offsets[1:] - 1] = starts
    joined = Graph.from_edges(n_points, faces.corners, faces.corners[following])
    _, label = joined.components()
    of_face = label[faces.corners[starts]]
    pieces = [f"NMARK= {np.unique(of_face).size}\n".encode()]
    for number, piece in enumerate(np.unique(of_face)):
        chosen = np.flatnonzero(of_face == piece)
        chosen = chosen[np.argsort(counts[chosen], kind="stable")]
        sizes = counts[chosen]
        inside = ragged(starts[chosen], sizes)
        kinds = np.array([_FACE_KINDS[size] for size in sizes.tolist()])
        pieces.append(f"MARKER_TAG= boundary{number}\nMARKER_ELEMS= {chosen.size}\n".encode())
        pieces.append(_lists(kinds, offsets_of(sizes), faces.corners[inside], numbered=False))
    return b"".join(pieces)
