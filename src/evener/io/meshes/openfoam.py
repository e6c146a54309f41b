"""OpenFOAM's polyMesh: a folder with the files points, faces, owner, neighbour and boundary.

Lists are text, or binary: a count as text, then the entries as in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, ragged
from evener.errors import InputError
from evener.graphs.polymesh import PolyMesh
from evener.io.meshes.couplings import met_when_moved
from evener.io.meshes.rows import FileRows, note_unused, scan
from evener.io.sources import Source

FILES = ("points", "faces", "owner", "neighbour")
_HEAD = 2**14  # bytes within which a file's header ends
_COMMENT = re.compile(rb"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_HEADER = re.compile(rb"\bFoamFile\s*\{([^{}]*)\}")
_BLANK = re.compile(rb"\s+")
_OPENING = re.compile(rb"\s*(\d{1,15})\s*([({])")
# The name of a cell zone, and the number of its cells before their list.
_ZONE = re.compile(rb"([^\s{}()]{1,200})\s*\{[^{}()]*?\bcellLabels\s+List<label>\s*(\d{1,15})\s*\(")
_BRACE = re.compile(r"[{}]")
_NUMBER = re.compile(r"\d{1,15}", re.ASCII)
_COUPLING = re.compile("^(cyclic|nonConformalCyclic)")
_INEXACT = re.compile("AMI|ACMI|nonConformal")
_PARENTHESES = bytes.maketrans(b"()", b"  ")


@dataclass(frozen=True)
class _List:
    """An OpenFOAM list in text: n entries, and the text between its parentheses."""

    source: Source
    n: int
    start: int
    stop: int
    body: bytes
    uniform: bool

    def rows(self) -> FileRows:
        """Return the numbers in the list, ignoring inner parentheses."""
        flat = self.body.translate(_PARENTHESES)
        return scan(self.source, self.start, self.stop, data=flat)


def recognises(source: Source) -> bool:
    """Return whether the source is a folder with a mesh, or one of its files."""
    return source.folder or (source.name in FILES and b"FoamFile" in source.head)


def read(source: Source) -> PolyMesh:
    """Return the mesh in the folder `source`, or in the folder that contains the file `source`."""
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
    mesh = replace(_with_couplings(source, mesh), regions=_zones(source, mesh.n_cells))
    note_unused(source, mesh)
    return mesh


def _list_in(folder: Source, name: str) -> _List | BinaryFile:
    source = folder if folder.name == name and not folder.folder else folder.open_beside(name)
    if source is None:
        raise folder.error(f"the mesh's folder has no file {name!r}")
    head = _without_comments(source.data[:_HEAD])
    header = _HEADER.search(head)
    if header is None:
        raise source.error("is not an OpenFOAM file: it has no FoamFile header", line=1)
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
    """Return the text with comments replaced by blanks."""
    return _COMMENT.sub(lambda match: re.sub(rb"[^\n]", b" ", match[0]), data)


def _points(points: _List | BinaryFile) -> Any:
    """Return the coordinates (p, 3)."""
    if isinstance(points, BinaryFile):
        return points.points()
    rows = points.rows()
    if rows.values.size != 3 * points.n:
        found = f"{rows.values.size:,} numbers for {points.n:,} points"
        raise rows.source.error(f"holds {found}; each point needs 3")
    return rows.values.reshape(points.n, 3)


def _faces(faces: _List | BinaryFile, n_points: int) -> tuple[Any, Any]:
    """Return the offsets of the faces and their corners."""
    if isinstance(faces, BinaryFile):
        return faces.faces()
    opened = faces.body.count(b"(", faces.start, faces.stop)
    closed = faces.body.count(b")", faces.start, faces.stop)
    if not opened == closed == faces.n:
        raise faces.source.error(f"declares {faces.n:,} faces, but contains {opened:,}")
    from evener.io import text_kernels as kernels

    rows = faces.rows()
    first = np.zeros(faces.n + 1, np.int64)
    bad = kernels.walk_lists(rows.values, first, 0)
    if bad >= 0 or first[-1] != rows.values.size:
        which = f"face {bad}" if bad >= 0 else "one of the faces"
        raise faces.source.error(f"{which} has another number of corners than declared")
    keep = np.ones(rows.values.size, np.bool_)
    keep[first[:-1] - 1] = False
    offsets = first - np.arange(1, faces.n + 2)
    offsets[-1] += 1
    return offsets, rows.corners(np.flatnonzero(keep), 0, n_points)


def _cells(numbers: _List | BinaryFile) -> Any:
    """Return the cell number of each face."""
    if isinstance(numbers, BinaryFile):
        return numbers.labels()
    rows = numbers.rows()
    values = rows.integers(np.arange(rows.values.size), "the number of a cell")
    if numbers.uniform and values.size == 1:
        if numbers.n > len(numbers.source.data) * 100:
            raise numbers.source.error(f"declares {numbers.n:,} faces, but contains fewer")
        return np.full(numbers.n, values[0])
    if values.size != numbers.n:
        raise numbers.source.error(f"declares {numbers.n:,} numbers, but contains {values.size:,}")
    return values


def _inside(neighbour: Any, n_faces: int) -> Any:
    """Return the neighbours of inner faces; older files have -1 for boundary faces."""
    if neighbour.size != n_faces:
        return neighbour
    boundary = np.flatnonzero(neighbour < 0)
    first = int(boundary[0]) if boundary.size else neighbour.size
    return neighbour[:first] if (neighbour[first:] == -1).all() else neighbour


class _Patch(NamedTuple):
    """A patch of the file `boundary`: its entries by name, and the numbers of its faces."""

    name: str
    entries: dict[str, str]
    faces: IntArray

    @property
    def kind(self) -> str:
        return self.entries["type"]

    def half(self, second: bool) -> IntArray:
        """Return the first or second half of the faces, which old versions couple in one patch."""
        middle = self.faces.size // 2
        return self.faces[middle : 2 * middle] if second else self.faces[:middle]


def _with_couplings(folder: Source, mesh: PolyMesh) -> PolyMesh:
    """Return the mesh with cells coupled by cyclic faces; notes name patches left out.

    Faces of two coupled `cyclic` patches are listed in the same order. Faces of cyclicAMI and
    similar types are coupled if, after a translation, each coincides with one face of the other
    patch.
    """
    source = folder if folder.name == "boundary" else folder.open_beside("boundary")
    patches = {} if source is None else _patches(source, mesh)
    coupled, left, done = [mesh.coupled], list[str](), set[str]()
    for patch in patches.values():
        if patch.name in done or not _COUPLING.search(patch.kind):
            continue
        other = patches.get(patch.entries.get("neighbourPatch", ""))
        done |= {patch.name} if other is None else {patch.name, other.name}
        if patch.kind.startswith("cyclic") and not _INEXACT.search(patch.kind):
            assert source is not None
            first, second = _sides(source, patch, other)
        elif other is None or (met := _met(mesh, patch, other)) is None:
            left += sorted({patch.name} if other is None else {patch.name, other.name})
            continue
        else:
            first, second = patch.faces, other.faces[met]
        coupled.append(mesh.owner[np.column_stack([first, second])].astype(np.int64))
    if left:
        folder.notes.append(
            f"Coupled patches whose faces do not match one by one are left out: {', '.join(left)}."
        )
    return replace(mesh, coupled=np.concatenate(coupled)) if len(coupled) > 1 else mesh


def _sides(source: Source, patch: _Patch, other: _Patch | None) -> tuple[IntArray, IntArray]:
    """Return the faces of a cyclic patch and the faces coupled with them, in the same order."""
    if other is None and "neighbourPatch" in patch.entries:
        missing = patch.entries["neighbourPatch"]
        raise source.error(
            f"patch {patch.name} names neighbourPatch {missing}, which does not exist"
        )
    if other is None:
        return patch.half(second=False), patch.half(second=True)
    if patch.faces.size != other.faces.size:
        counts = f"{patch.faces.size:,} and {other.faces.size:,} faces"
        raise source.error(f"the cyclic patches {patch.name} and {other.name} have {counts}")
    return patch.faces, other.faces


def _met(mesh: PolyMesh, patch: _Patch, other: _Patch) -> IntArray | None:
    return met_when_moved(_centres(mesh, patch.faces), _centres(mesh, other.faces))


def _centres(mesh: PolyMesh, faces: IntArray) -> FloatArray:
    """Return the mean of the corners of faces, (f, 3)."""
    counts = np.diff(mesh.face_offsets)[faces]
    corners = mesh.points[mesh.face_corners[ragged(mesh.face_offsets[faces], counts)]]
    starts = np.cumsum(counts) - counts
    if not faces.size:
        return np.empty((0, 3))
    return np.asarray(np.add.reduceat(corners, starts, axis=0) / counts[:, None])


def _patches(source: Source, mesh: PolyMesh) -> dict[str, _Patch]:
    """Return the patches of a file `boundary` by name, in file order."""
    text = _without_comments(source.data).decode("utf-8", "replace")
    patches = {}
    for name, entries in _dictionaries(text):
        if name == "FoamFile":
            continue
        count, start = entries.get("nFaces", ""), entries.get("startFace", "")
        if "type" not in entries or not (_NUMBER.fullmatch(count) and _NUMBER.fullmatch(start)):
            raise source.error(f"patch {name} has no type, nFaces or startFace")
        first, last = int(start), int(start) + int(count)
        if not mesh.neighbour.size <= first <= last <= mesh.owner.size and first < last:
            what = f"faces {first:,} to {last - 1:,}, some of which are inner faces or do not exist"
            raise source.error(f"patch {name} has {what}")
        patches[name] = _Patch(name, entries, np.arange(first, last))
    return patches


def _dictionaries(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name and the entries of each dictionary, without nested dictionaries."""
    depth, last, name, body = 0, 0, "", list[str]()
    for brace in _BRACE.finditer(text):
        before = text[last : brace.start()]
        last = brace.end()
        if depth == 0:
            name, body = (before.replace("(", " ").split() or [""])[-1], []
        elif depth == 1:
            body.append(before)
        depth = max(0, depth + (1 if brace[0] == "{" else -1))
        if depth == 0 and brace[0] == "}":
            words = [entry.split(None, 1) for entry in ";".join(body).split(";")]
            yield name.strip('"'), {one[0]: one[1].strip() for one in words if len(one) == 2}


def _zones(folder: Source, n_cells: int) -> dict[str, IntArray]:
    """Return the cells of each zone in the file `cellZones`, if it exists."""
    source = folder.open_beside("cellZones")
    if source is None:
        return {}
    data = source.data
    head = _HEADER.search(_without_comments(data[:_HEAD]))
    binary = head is not None and re.search(rb"\bformat\s+binary\b", head[1]) is not None
    zones: dict[str, IntArray] = {}
    for match in _ZONE.finditer(data):
        name, count, first = match[1].decode("utf-8", "replace"), int(match[2]), match.end()
        if binary and head is not None:
            labels = binary_file(source, head[1], first).label
            count = min(count, (len(data) - first) // labels.itemsize)
            stop = first + count * labels.itemsize
            cells = np.frombuffer(data, labels, count, first).astype(np.int64)
        else:
            stop = data.find(b")", first)
            rows = scan(source, first, max(stop, first))
            cells = rows.integers(np.arange(rows.values.size), "the number of a cell")
        if cells.size != count or data[stop : stop + 1] != b")":
            raise source.error(f"zone {name} does not list its {count:,} cells", offset=first)
        if count and not 0 <= cells.min() <= cells.max() < n_cells:
            raise source.error(
                f"zone {name} has a cell that does not exist: there are {n_cells:,} cells"
            )
        zones[name.strip('"')] = cells
    return zones


_ARCH = re.compile(rb'\barch\s+"\s*(LSB|MSB);\s*label=(32|64);\s*scalar=(32|64)\s*"')
_COUNT = re.compile(rb"\s*(\d{1,15})\s*")
_CLASS = re.compile(rb"\bclass\s+(\w+)")
_COMMENT_OR_SPACE = re.compile(rb"/\*.*?\*/|//[^\n]*|\s+", re.DOTALL)
_TEXT_OF_IT = "Convert it to text with foamFormatConvert."


@dataclass(frozen=True, eq=False)
class BinaryFile:
    """A file of OpenFOAM's class `kind`, with one or two lists; the first begins at `start`.

    label, scalar: the types of its integers and floating-point numbers.
    """

    source: Source
    kind: str
    start: int
    label: np.dtype[Any]
    scalar: np.dtype[Any]

    def points(self) -> npt.NDArray[np.float64]:
        """Return the coordinates (p, 3)."""
        values, place = self._list(self.start, self.scalar, 3)
        self._refuse_more(place)
        return values.reshape(-1, 3).astype(np.float64)

    def labels(self) -> npt.NDArray[np.int64]:
        """Return the integers (m,)."""
        values, place = self._list(self.start, self.label, 1)
        self._refuse_more(place)
        return values.astype(np.int64)

    def faces(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the offsets (f + 1,) and the corners of the faces, from two consecutive lists."""
        if self.kind != "faceCompactList":
            message = f"is a binary {self.kind}; Evener reads binary faces from a faceCompactList"
            raise self.source.error(message, hint=_TEXT_OF_IT)
        offsets, place = self._list(self.start, self.label, 1)
        corners, place = self._list(place, self.label, 1)
        self._refuse_more(place)
        return offsets.astype(np.int64), corners.astype(np.int64)

    def _list(self, place: int, dtype: np.dtype[Any], width: int) -> tuple[npt.NDArray[Any], int]:
        """Return the list whose count is at `place`, flat, and the offset after it."""
        data = self.source.data
        count = _COUNT.match(data, place)
        if count is None:
            raise self.source.error("has no list where a list must begin")
        first, n = count.end() + 1, int(count[1]) * width
        opened = data[first - 1 : first] == b"("
        if n == 0:
            closed = data[first : first + 1] == b")"
            return np.zeros(0, dtype), first + 1 if opened and closed else count.end()
        last = first + n * dtype.itemsize
        if not opened or data[last : last + 1] != b")":
            message = f"its list of {int(count[1]):,} entries does not end where it should"
            raise self.source.error(message, hint=_TEXT_OF_IT)
        return np.frombuffer(data, dtype, n, first), last + 1

    def _refuse_more(self, place: int) -> None:
        if _COMMENT_OR_SPACE.sub(b"", self.source.data[place:]):
            raise self.source.error("continues after its list")


def binary_file(source: Source, header: bytes, start: int) -> BinaryFile:
    """Return the file with these header entries, whose lists begin at `start`.

    Without an entry `arch`, as in older versions, numbers are assumed to have the usual types.
    """
    arch = _ARCH.search(header)
    order, label, scalar = (b"LSB", b"32", b"64") if arch is None else arch.groups()
    sign = ">" if order == b"MSB" else "<"
    kind = _CLASS.search(header)
    return BinaryFile(
        source,
        "list" if kind is None else kind[1].decode(),
        start,
        np.dtype(f"{sign}i{int(label) // 8}"),
        np.dtype(f"{sign}f{int(scalar) // 8}"),
    )
