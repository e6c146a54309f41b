"""OpenFOAM's polyMesh: the files points, faces, owner and neighbour of one folder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from evener.errors import InputError
from evener.graphs.polymesh import PolyMesh
from evener.io.meshes.openfoam_binary import BinaryFile, binary_file
from evener.io.meshes.rows import FileRows, note_unused, scan
from evener.io.sources import Source

FILES = ("points", "faces", "owner", "neighbour")
_HEAD = 2**14  # bytes within which a file's header ends
_COMMENT = re.compile(rb"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_HEADER = re.compile(rb"\bFoamFile\s*\{([^{}]*)\}")
_BLANK = re.compile(rb"\s+")
_OPENING = re.compile(rb"\s*(\d{1,15})\s*([({])")
_PARENTHESES = bytes.maketrans(b"()", b"  ")


@dataclass(frozen=True)
class _List:
    """An OpenFOAM list in text: n entries, and what stands between its parentheses."""

    source: Source
    n: int
    start: int
    stop: int
    body: bytes
    uniform: bool

    def rows(self) -> FileRows:
        """Return the numbers of the list without its inner parentheses."""
        flat = self.body.translate(_PARENTHESES)
        return scan(self.source, self.start, self.stop, data=flat)


def recognises(source: Source) -> bool:
    """Return whether it is a folder with a mesh, or one of its files."""
    return source.folder or (source.name in FILES and b"FoamFile" in source.head)


def read(source: Source) -> PolyMesh:
    """Return the mesh of the folder that `source` is or lies in."""
    lists = {name: _list_in(source, name) for name in FILES}
    points = _points(lists["points"])
    first, corners = _faces(lists["faces"], len(points))
    owner, neighbour = _cells(lists["owner"]), _cells(lists["neighbour"])
    if owner.size != first.size - 1:
        found = f"{owner.size:,} owners for {first.size - 1:,} faces"
        raise lists["owner"].source.error(f"holds {found}")
    try:
        mesh = PolyMesh(points, first, corners, owner, _inside(neighbour, owner.size))
    except InputError as error:
        raise source.error(error.message, hint=error.hint) from error
    note_unused(source, mesh)
    return mesh


def _list_in(folder: Source, name: str) -> _List | BinaryFile:
    source = folder if folder.name == name and not folder.folder else folder.open_beside(name)
    if source is None:
        raise folder.error(f"has no file {name!r} beside the others of the mesh")
    head = _without_comments(source.data[:_HEAD])
    header = _HEADER.search(head)
    if header is None:
        raise source.error("is no file of OpenFOAM's: it has no FoamFile header", line=1)
    if re.search(rb"\bformat\s+binary\b", header[1]):
        begin = _BLANK.match(head, header.end())
        return binary_file(source, header[1], header.end() if begin is None else begin.end())
    data = _without_comments(source.data)
    opening = _OPENING.match(data, header.end())
    if opening is None:
        raise source.error("has no list after its header", offset=header.end())
    uniform = opening[2] == b"{"
    stop = data.rfind(b"}" if uniform else b")")
    if stop < opening.end() or data[stop + 1 :].strip():
        raise source.error("ends within its list", offset=len(data.rstrip()) - 1)
    return _List(source, int(opening[1]), opening.end(), stop, data, uniform)


def _without_comments(data: bytes) -> bytes:
    """Return text with blanks in place of comments."""
    return _COMMENT.sub(lambda match: re.sub(rb"[^\n]", b" ", match[0]), data)


def _points(points: _List | BinaryFile) -> Any:
    """Return (p, 3) coordinates."""
    if isinstance(points, BinaryFile):
        return points.points()
    rows = points.rows()
    if rows.values.size != 3 * points.n:
        found = f"{rows.values.size:,} numbers for {points.n:,} points"
        raise rows.source.error(f"holds {found}; each has 3")
    return rows.values.reshape(points.n, 3)


def _faces(faces: _List | BinaryFile, n_points: int) -> tuple[Any, Any]:
    """Return the offsets of the faces and their corners."""
    if isinstance(faces, BinaryFile):
        return faces.faces()
    opened = faces.body.count(b"(", faces.start, faces.stop)
    closed = faces.body.count(b")", faces.start, faces.stop)
    if not opened == closed == faces.n:
        raise faces.source.error(f"speaks of {faces.n:,} faces, but has {opened:,} of them")
    from evener.io import text_kernels as kernels

    rows = faces.rows()
    first = np.zeros(faces.n + 1, np.int64)
    bad = kernels.walk_lists(rows.values, first, 0)
    if bad >= 0 or first[-1] != rows.values.size:
        which = f"face {bad}" if bad >= 0 else "one of the faces"
        raise faces.source.error(f"{which} has not as many corners as it says")
    keep = np.ones(rows.values.size, np.bool_)
    keep[first[:-1] - 1] = False
    offsets = first - np.arange(1, faces.n + 2)
    offsets[-1] += 1
    return offsets, rows.corners(np.flatnonzero(keep), 0, n_points)


def _cells(numbers: _List | BinaryFile) -> Any:
    """Return the number of a cell for each face."""
    if isinstance(numbers, BinaryFile):
        return numbers.labels()
    rows = numbers.rows()
    values = rows.integers(np.arange(rows.values.size), "the number of a cell")
    if numbers.uniform and values.size == 1:
        if numbers.n > len(numbers.source.data) * 100:
            raise numbers.source.error(f"speaks of {numbers.n:,} faces: there are not as many")
        return np.full(numbers.n, values[0])
    if values.size != numbers.n:
        raise numbers.source.error(f"speaks of {numbers.n:,} numbers, but has {values.size:,}")
    return values


def _inside(neighbour: Any, n_faces: int) -> Any:
    """Return the neighbours of inner faces; older files have -1 for boundary faces."""
    if neighbour.size != n_faces:
        return neighbour
    boundary = np.flatnonzero(neighbour < 0)
    first = int(boundary[0]) if boundary.size else neighbour.size
    return neighbour[:first] if (neighbour[first:] == -1).all() else neighbour
