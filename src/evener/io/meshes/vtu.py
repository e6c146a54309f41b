"""Writes a mesh with fields as VTK's .vtu: XML, with arrays compressed by zlib, in base64.

A mesh in several files has an index, .pvtu, which names the files and the arrays in each.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt

from evener.arrays import offsets_of
from evener.errors import InputError
from evener.graphs.cell_kernels import BASE, CORNERS
from evener.graphs.mesh import WEDGE, Mesh
from evener.graphs.polymesh import PolyMesh

_BLOCK = 2**20  # bytes compressed at a time; a multiple of every item's size
_LEVEL = 1  # output a tenth larger than at level 6, three times as fast
_POLYHEDRON = 42
# Max. points of Lagrange cells (68 to 74) whose point order equals VTK's; 0: not Lagrange.
_MOST_POINTS = np.zeros(256, np.int64)
_MOST_POINTS[68:75] = [4, 10, 16, 20, 1, 1, 1]
_LINEAR = np.array([0, 1, 3, 5, 9, 10, 12, 13, 14, 7, 41, 8, 11], np.uint8)  # by base
_NAMES = {
    **{np.dtype(f"i{size}"): f"Int{8 * size}" for size in (1, 2, 4, 8)},
    **{np.dtype(f"u{size}"): f"UInt{8 * size}" for size in (1, 2, 4, 8)},
    **{np.dtype(f"f{size}"): f"Float{8 * size}" for size in (4, 8)},
}

Fields = Mapping[str, npt.NDArray[Any]]
# Fields with these names hold a piece's global cell and point numbers.
CELL_IDS, POINT_IDS = "GlobalCellIds", "GlobalPointIds"
_FORM = 'version="1.0" byte_order="LittleEndian" header_type="UInt64"'
_ZLIB = 'compressor="vtkZLibDataCompressor"'


def vtu(
    mesh: Mesh | PolyMesh, cell_data: Fields, point_data: Fields, comment: str = ""
) -> Iterator[bytes]:
    """Yield the file in pieces; points of flat meshes get a third coordinate, zero.

    comment: a line without "--", written as an XML comment. Raises InputError for a mesh without
    coordinates and for fields of types that VTK lacks.
    """
    if not mesh.has_coordinates:
        raise InputError("the mesh has no coordinates, which VTU needs")
    points = np.zeros((mesh.n_points, 3))
    points[:, : mesh.points.shape[1]] = mesh.points
    cells = _polyhedra(mesh) if isinstance(mesh, PolyMesh) else _cells(mesh)
    yield (
        _head("UnstructuredGrid", comment)
        + f'<Piece NumberOfPoints="{mesh.n_points}" NumberOfCells="{mesh.n_cells}">\n'.encode()
    )
    groups = {"Points": {"Points": points}, "Cells": cells}
    for tag, fields in {**groups, "PointData": point_data, "CellData": cell_data}.items():
        yield f"<{tag}{_ids_in(fields)}>\n".encode()
        for name, values in fields.items():
            yield from _array(name, np.asarray(values))
        yield f"</{tag}>\n".encode()
    yield b"</Piece>\n</UnstructuredGrid>\n</VTKFile>\n"


def pvtu(
    files: Iterable[str], cell_data: Fields, point_data: Fields, comment: str = ""
) -> Iterator[bytes]:
    """Yield the index of these .vtu files; each has fields with these names and types.

    comment: a line without "--", written as an XML comment. Raises the errors of `vtu`.
    """
    yield _head("PUnstructuredGrid", comment, ' GhostLevel="0"')
    groups = {"PPoints": {"Points": np.zeros((0, 3))}}
    for tag, fields in {**groups, "PPointData": point_data, "PCellData": cell_data}.items():
        arrays = "".join(
            f"<PDataArray {_declared(name, np.asarray(values))}/>\n"
            for name, values in fields.items()
        )
        yield f"<{tag}{_ids_in(fields)}>\n{arrays}</{tag}>\n".encode()
    yield "".join(f"<Piece Source={quoteattr(file)}/>\n" for file in files).encode()
    yield b"</PUnstructuredGrid>\n</VTKFile>\n"


def _head(kind: str, comment: str, more: str = "") -> bytes:
    said = f"<!-- {comment} -->\n" if comment else ""
    file = f'<VTKFile type="{kind}" {_FORM} {_ZLIB}>'
    return f'<?xml version="1.0"?>\n{said}{file}\n<{kind}{more}>\n'.encode()


def _ids_in(fields: Fields) -> str:
    """Return the attribute that tells VTK which field holds global numbers, if there is one."""
    name = next((name for name in (CELL_IDS, POINT_IDS) if name in fields), None)
    return f' GlobalIds="{name}"' if name else ""


def _cells(mesh: Mesh) -> dict[str, npt.NDArray[Any]]:
    """Return cells with all their points; only the corners for order 4 and above."""
    sizes = np.diff(mesh.offsets)
    most = _MOST_POINTS[mesh.kinds]
    if ((most > 0) & (sizes > most)).any():
        bases = BASE[mesh.kinds]
        size = np.where((most > 0) & (sizes > most), CORNERS[bases], sizes)
        place = np.arange(mesh.corners.size) - np.repeat(mesh.offsets[:-1], sizes)
        corners = mesh.corners[place < np.repeat(size, sizes)]
        kinds = np.where(size < sizes, _LINEAR[bases], mesh.kinds)
        mesh = Mesh(mesh.points, offsets_of(size), corners, kinds)
    corners = mesh.corners
    wedges = mesh.offsets[:-1][mesh.kinds == WEDGE]
    if wedges.size:
        corners = corners.copy()
        corners[wedges[:, None] + np.arange(6)] = corners[wedges[:, None] + [0, 2, 1, 3, 5, 4]]
    return {"connectivity": corners, "offsets": mesh.offsets[1:], "types": mesh.kinds}


def _polyhedra(mesh: PolyMesh) -> dict[str, npt.NDArray[Any]]:
    """Return cells as lists of faces: their number, then each face's size and corners."""
    inside = mesh.neighbour.size
    cell = np.concatenate([mesh.owner, mesh.neighbour])
    face = np.concatenate([np.arange(mesh.owner.size), np.arange(inside)])
    order = np.argsort(cell, kind="stable")
    cell, face = cell[order], face[order]
    sizes = np.diff(mesh.face_offsets)
    # Each face takes its size and its corners; each cell one more number, its count of faces.
    takes = 1 + sizes[face]
    n_faces = np.bincount(cell, minlength=mesh.n_cells)
    ends = np.cumsum(np.bincount(cell, weights=takes, minlength=mesh.n_cells).astype(np.int64) + 1)
    faces = np.empty(int(ends[-1]), np.int64)
    heads = np.cumsum(takes) - takes + cell + 1
    faces[np.concatenate([[0], ends[:-1]])] = n_faces
    faces[heads] = sizes[face]
    corner = np.arange(int(sizes[face].sum()))
    shift = np.repeat(np.cumsum(sizes[face]) - sizes[face], sizes[face])
    corners = mesh.face_corners[np.repeat(mesh.face_offsets[face], sizes[face]) + corner - shift]
    faces[np.repeat(heads + 1, sizes[face]) + corner - shift] = corners
    key = np.unique(np.repeat(cell.astype(np.int64), sizes[face]) * mesh.n_points + corners)
    return {
        "connectivity": key % mesh.n_points,
        "offsets": np.cumsum(np.bincount(key // mesh.n_points, minlength=mesh.n_cells)),
        "types": np.full(mesh.n_cells, _POLYHEDRON, np.uint8),
        "faces": faces,
        "faceoffsets": ends,
    }


def _array(name: str, values: npt.NDArray[Any]) -> Iterator[bytes]:
    yield f'<DataArray {_declared(name, values)} format="binary">\n'.encode()
    raw = np.ascontiguousarray(values, _stored(name, values).newbyteorder("<")).tobytes()
    blocks = [zlib.compress(raw[i : i + _BLOCK], _LEVEL) for i in range(0, len(raw), _BLOCK)]
    last = len(raw) - (len(blocks) - 1) * _BLOCK if blocks else 0
    header = np.array([len(blocks), _BLOCK, last, *map(len, blocks)], "<u8")
    yield base64.b64encode(header.tobytes())
    yield base64.b64encode(b"".join(blocks))
    yield b"\n</DataArray>\n"


def _declared(name: str, values: npt.NDArray[Any]) -> str:
    """Return the attributes of an array: type, name, columns."""
    columns = f' NumberOfComponents="{values.shape[1]}"' if values.ndim == 2 else ""
    return f'type="{_NAMES[_stored(name, values)]}" Name={quoteattr(name)}{columns}'


def _stored(name: str, values: npt.NDArray[Any]) -> np.dtype[Any]:
    """Return the type in which an array is stored. Raises InputError if VTU has none for it."""
    dtype = np.dtype(np.uint8) if values.dtype.kind == "b" else values.dtype.newbyteorder("=")
    if dtype not in _NAMES or values.ndim not in (1, 2):
        raise InputError(
            f"the field {name!r} of {values.dtype}, {values.ndim}-D, cannot be written to VTU"
        )
    return dtype
