"""OpenFOAM's polyMesh: the text files points, faces, owner and neighbour of one folder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from evener.errors import InputError
from evener.graphs.polymesh import PolyMesh
from evener.io.meshes.rows import Rows, note_unused, scan
from evener.io.sources import Source

FILES = ("points", "faces", "owner", "neighbour")
_COMMENT = re.compile(rb"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_HEADER = re.compile(rb"\bFoamFile\s*\{([^{}]*)\}")
_OPENING = re.compile(rb"\s*(\d{1,15})\s*([({])")
_PARENTHESES = bytes.maketrans(b"()", b"  ")


@dataclass(frozen=True)
class _List:
    """An OpenFOAM list: n entries, and the text between its parentheses."""

    source: Source
    n: int
    start: int
    stop: int
    body: bytes
    uniform: bool

    def rows(self) -> Rows:
        """Return the numbers of the list without its inner parentheses."""
        flat = self.body.translate(_PARENTHESES)
        return scan(self.source, self.start, self.stop, data=flat)


def recognises(source: Source) -> bool:
    """Return whether it is a folder with a mesh, or one of its files."""
    return source.folder or (source.name in FILES and b"FoamFile" in source.head)


def read(source: Source) -> PolyMesh:
    """Return the mesh of the folder that `source` is or lies in."""
    lists = {name: _list_in(source, name) for name in FILES}
    points = lists["points"].rows()
    n = lists["points"].n
    if points.values.size != 3 * n:
        found = f"{points.values.size:,} numbers for {n:,} points"
        raise points.source.error(f"holds {found}; each has 3")
    first, index, rows = _faces(lists["faces"])
    corners = rows.corners(index, 0, n)
    owner, neighbour = _cells(lists["owner"]), _cells(lists["neighbour"])
    if owner.size != first.size - 1:
        found = f"{owner.size:,} owners for {first.size - 1:,} faces"
        raise lists["owner"].source.error(f"holds {found}")
    try:
        mesh = PolyMesh(
            points.values.reshape(n, 3), first, corners, owner, _inside(neighbour, owner.size)
        )
    except InputError as error:
        raise source.error(error.message, hint=error.hint) from error
    note_unused(source, mesh)
    return mesh


def _list_in(folder: Source, name: str) -> _List:
    source = folder if folder.name == name and not folder.folder else folder.open_beside(name)
    if source is None:
        raise folder.error(f"has no file {name!r} beside the others of the mesh")
    data = _COMMENT.sub(lambda match: re.sub(rb"[^\n]", b" ", match[0]), source.data)
    header = _HEADER.search(data)
    if header is None:
        raise source.error("is no file of OpenFOAM's: it has no FoamFile header", line=1)
    if re.search(rb"\bformat\s+binary\b", header[1]):
        raise source.error("is binary", hint="foamFormatConvert makes text of it.")
    opening = _OPENING.match(data, header.end())
    if opening is None:
        raise source.error("has no list after its header", offset=header.end())
    uniform = opening[2] == b"{"
    stop = data.rfind(b"}" if uniform else b")")
    if stop < opening.end() or data[stop + 1 :].strip():
        raise source.error("ends within its list", offset=len(data.rstrip()) - 1)
    return _List(source, int(opening[1]), opening.end(), stop, data, uniform)


def _faces(faces: _List) -> tuple[Any, Any, Rows]:
    """Return (offsets of the faces, index of their corners among the numbers, the numbers)."""
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
    return offsets, np.flatnonzero(keep), rows


def _cells(numbers: _List) -> Any:
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
