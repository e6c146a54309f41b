"""Reads VTK's unstructured grids, .vtu and legacy .vtk, for the program `meshio_child`.

Loaded by its path, so that only NumPy needs to be importable. A grid is returned as arrays: VTK's
types, numbers of corners and corners of all cells; for polyhedra also the faces.
"""

from __future__ import annotations

import base64
import lzma
import re
import zlib
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

_WEDGE, _POLYHEDRON = 13, 42
# Types of cells that are omitted if there are others: vertices and lines with any points.
_LOOSE = (2, 4)
_TYPES = {
    **{f"Int{8 * size}": f"i{size}" for size in (1, 2, 4, 8)},
    **{f"UInt{8 * size}": f"u{size}" for size in (1, 2, 4, 8)},
    **{f"Float{8 * size}": f"f{size}" for size in (4, 8)},
}
# Appended bytes that are not XML.
_RAW = re.compile(rb"<AppendedData[^>]*encoding\s*=\s*[\"']raw[\"'][^>]*>\s*_", re.DOTALL)


class VtkUnreadError(Exception):
    """The file contains something that is not read; `way` is a hint.

    The text completes the sentence `the file ...`.
    """

    def __init__(self, text: str, way: str = ""):
        super().__init__(text)
        self.way = way


def _grid(cells: dict[str, Any], points: Any, fields: dict[str, Any], notes: list[str]) -> Any:
    """Return the grid; cells: `types`, `offsets` (ends) and `connectivity`, optionally faces."""
    types, ends = cells["types"].astype(np.int64), cells["offsets"].astype(np.int64)
    corners = cells["connectivity"].astype(np.int64)
    if types.size != ends.size or (ends.size and ends[-1] != corners.size):
        raise VtkUnreadError(
            f"has {types.size:,} types for {ends.size:,} cells, or wrong numbers of corners"
        )
    counts = np.diff(ends, prepend=0)
    if (counts < 0).any():
        raise VtkUnreadError("has cells whose corners end before they begin")
    wedges = ends[(types == _WEDGE) & (counts == 6)] - 6
    if wedges.size:  # meshlane's wedges have the opposite orientation
        place = wedges[:, None] + np.arange(6)
        corners[place] = corners[wedges[:, None] + [0, 2, 1, 3, 5, 4]]
    keep = ~np.isin(types, _LOOSE)
    if not keep.all():
        notes.append(
            f"{np.count_nonzero(~keep):,} cells that are single points or lines are left out."
        )
        corners = corners[np.repeat(keep, counts)]
        fields["cell"] = {name: values[keep] for name, values in fields["cell"].items()}
        types, counts = types[keep], counts[keep]
    if not types.size:
        raise VtkUnreadError("has no cells")
    grid = SimpleNamespace(points=points, kinds=types, counts=counts, corners=corners, notes=notes)
    grid.cell_data, grid.point_data = fields["cell"], fields["point"]
    grid.faces = cells.get("faces") if (types == _POLYHEDRON).any() else None
    if (types == _POLYHEDRON).any() and grid.faces is None:
        raise VtkUnreadError("has polyhedra without their faces")
    return grid


def vtu(path: str) -> Any:
    """Return the grid of all pieces of a .vtu file."""
    with open(path, "rb") as file:  # noqa: PTH123 - as other readers open it
        data = file.read()
    raw = _RAW.search(data)
    if raw is not None:
        stop = data.rfind(b"</AppendedData>")
        stop = stop if stop >= raw.end() else len(data)
        appended = data[raw.end() : stop]
        data = data[: raw.end()] + data[stop:]
    root = ET.fromstring(data)
    grid = root.find("UnstructuredGrid")
    if root.tag != "VTKFile" or grid is None:
        raise VtkUnreadError(
            f"holds {root.get('type', 'no')[:40]!r} of VTK, not an UnstructuredGrid"
        )
    if raw is None:
        text = root.findtext("AppendedData") or ""
        appended = text.strip().removeprefix("_").encode()
    reader = _Arrays(root.attrib, appended, raw is not None)
    pieces = [_piece(piece, reader) for piece in grid.findall("Piece")]
    pieces = [piece for piece in pieces if len(piece["points"]) and piece["types"].size]
    if not pieces:
        raise VtkUnreadError("has no cells")
    notes: list[str] = []
    fields = {what: _in_all([piece[what] for piece in pieces], notes) for what in ("cell", "point")}
    joined: dict[str, Any] = {
        key: np.concatenate([piece[key] for piece in pieces]) for key in ("types", "points")
    }
    base, before, ends = 0, 0, []
    for piece in pieces:
        piece["connectivity"] = piece["connectivity"] + base
        if piece["faces"] is not None:
            piece["faces"] = [(sizes, nodes + base) for sizes, nodes in piece["faces"]]
        ends.append(piece["offsets"] + before)
        base += len(piece["points"])
        before += piece["connectivity"].size
    joined["offsets"] = np.concatenate(ends)
    joined["connectivity"] = np.concatenate([piece["connectivity"] for piece in pieces])
    faces = [one for piece in pieces for one in piece["faces"] or ()]
    if len(pieces) > 1:
        notes.append(f"The file has {len(pieces):,} pieces, which share no points.")
    return _grid(joined | {"faces": faces or None}, joined["points"], fields, notes)


def _in_all(fields: list[dict[str, Any]], notes: list[str]) -> dict[str, Any]:
    """Return the fields that all pieces have with the same shape."""
    joined: dict[str, Any] = {}
    for name in fields[0]:
        parts = [piece.get(name) for piece in fields]
        shapes = {None if part is None else part.shape[1:] for part in parts}
        if len(shapes) == 1 and None not in shapes:
            joined[name] = np.concatenate(parts)  # type: ignore[arg-type]
        else:
            notes.append(f"The field {name!r} is left out: it differs among pieces.")
    return joined


def _piece(piece: ET.Element, reader: _Arrays) -> dict[str, Any]:
    """Return the arrays of a piece."""
    n_points, n_cells = (int(piece.get(f"NumberOf{what}", "0")) for what in ("Points", "Cells"))
    cells = {array.get("Name", ""): array for array in piece.iterfind("Cells/DataArray")}
    place = piece.find("Points/DataArray")
    if not {"connectivity", "offsets", "types"} <= set(cells) or place is None:
        if n_points and n_cells:
            raise VtkUnreadError("has a piece without points or cells")
        empty = np.empty(0, np.int64)
        return {"points": np.empty((0, 3)), "types": empty, "cell": {}, "point": {}}
    found: dict[str, Any] = {
        name: reader.read(cells[name]) for name in ("connectivity", "offsets", "types")
    }
    found["points"] = reader.read(place).reshape(-1, 3)
    if found["types"].size != n_cells or len(found["points"]) != n_points:
        raise VtkUnreadError(
            f"declares {n_cells:,} cells and {n_points:,} points, but contains other numbers"
        )
    found["faces"] = None
    if (found["types"] == _POLYHEDRON).any():
        found["faces"] = _faces(found["types"], {name: reader.read(cells[name]) for name in cells})
    for what, tag, n in (("cell", "CellData", n_cells), ("point", "PointData", n_points)):
        found[what] = {}
        for array in piece.iterfind(f"{tag}/DataArray"):
            if array.get("type") in _TYPES:
                values = reader.read(array)
                if n and values.size % n == 0:
                    shape = (n, -1) if values.size > n else (n,)
                    found[what][array.get("Name", "")] = values.reshape(shape)
    return found


def _faces(types: Any, arrays: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Return, for each polyhedron, the sizes of its faces and their corners, concatenated."""
    listed = []
    if "face_connectivity" in arrays:  # since VTK 9.4
        ends = arrays["face_offsets"].astype(np.int64)
        begins = np.concatenate([[0], ends[:-1]])
        to_faces, stops = arrays["polyhedron_to_faces"], arrays["polyhedron_offsets"]
        last = 0
        for stop, kind in zip(stops.tolist(), types.tolist(), strict=True):
            if kind == _POLYHEDRON:
                own = to_faces[last:stop]
                nodes = [arrays["face_connectivity"][begins[f] : ends[f]] for f in own]
                listed.append((ends[own] - begins[own], np.concatenate(nodes).astype(np.int64)))
            last = stop
        return listed
    if "faces" not in arrays or "faceoffsets" not in arrays:
        raise VtkUnreadError("has polyhedra without their faces")
    stream, ends = arrays["faces"].astype(np.int64), arrays["faceoffsets"].astype(np.int64)
    start = 0
    for end, kind in zip(ends.tolist(), types.tolist(), strict=True):
        if kind == _POLYHEDRON:
            listed.append(_stream(stream[start:end]))
            start = end
    return listed


def _stream(numbers: Any) -> tuple[Any, Any]:
    """Return the faces of a polyhedron from a stream that begins with their number."""
    at, sizes, nodes = 1, [], []
    for _ in range(int(numbers[0]) if numbers.size else 0):
        size = int(numbers[at]) if at < numbers.size else 0
        if size < 3 or at + 1 + size > numbers.size:
            raise VtkUnreadError("has a polyhedron whose face list has a wrong length")
        sizes.append(size)
        nodes.append(numbers[at + 1 : at + 1 + size])
        at += 1 + size
    if at != numbers.size or not sizes:
        raise VtkUnreadError("has a polyhedron whose face list has a wrong length")
    return np.array(sizes), np.concatenate(nodes)


class _Arrays:
    """Reads the arrays of an XML file: text, base64, or appended bytes; compressed or not."""

    def __init__(self, file: dict[str, str], appended: bytes, is_raw: bool):
        self._order = ">" if file.get("byte_order") == "BigEndian" else "<"
        self._head = np.dtype(self._order + _TYPES[file.get("header_type", "UInt32")])
        packing = file.get("compressor", "")
        unpack = {"": None, "vtkZLibDataCompressor": zlib.decompress,
                  "vtkLZMADataCompressor": lzma.decompress}  # fmt: skip
        if packing not in unpack:
            raise VtkUnreadError(f"is compressed by {packing[:40]}, which Evener does not read")
        self._unpack = unpack[packing]
        self._appended, self._is_raw = appended, is_raw

    def read(self, array: ET.Element) -> Any:
        """Return the numbers of a DataArray, flat."""
        kind, form = _TYPES.get(array.get("type", "")), array.get("format", "ascii")
        if kind is None:
            raise VtkUnreadError(f"has an array of the type {array.get('type')!r}")
        if form == "ascii":
            return np.array((array.text or "").split(), np.float64 if kind[0] == "f" else np.int64)
        if form == "appended":
            data = self._bytes(self._appended[int(array.get("offset", "0")) :], self._is_raw)
        else:
            data = self._bytes("".join((array.text or "").split()).encode(), False)
        return np.frombuffer(data, self._order + kind).astype(kind)

    def _bytes(self, text: bytes, is_raw: bool) -> bytes:
        """Return the decompressed bytes of an array; `text` begins with their lengths."""
        width = self._head.itemsize
        if self._unpack is None:
            n = int(self._words(text, 1, is_raw)[0])
            if is_raw:
                return text[width : width + n]
            return base64.b64decode(text[: -(-(width + n) // 3) * 4])[width : width + n]
        n_blocks = int(self._words(text, 1, is_raw)[0])
        if n_blocks > len(text):
            raise VtkUnreadError("declares more blocks than it has bytes")
        lengths = self._words(text, 3 + n_blocks, is_raw)[3:].astype(np.int64)
        head = width * (3 + n_blocks)
        start = head if is_raw else -(-head // 3) * 4
        total = int(lengths.sum())
        body = (
            text[start:] if is_raw else base64.b64decode(text[start : start + -(-total // 3) * 4])
        )
        ends = np.cumsum(lengths)
        return b"".join(
            self._unpack(body[end - size : end])
            for end, size in zip(ends.tolist(), lengths.tolist(), strict=True)
        )

    def _words(self, text: bytes, count: int, is_raw: bool) -> Any:
        size = count * self._head.itemsize
        data = text[:size] if is_raw else base64.b64decode(text[: -(-size // 3) * 4])[:size]
        return np.frombuffer(data, self._head)


_LEGACY = {
    "bit": "u1",
    "char": "i1",
    "unsigned_char": "u1",
    "short": "i2",
    "unsigned_short": "u2",
    "int": "i4",
    "unsigned_int": "u4",
    "long": "i8",
    "unsigned_long": "u8",
    "float": "f4",
    "double": "f8",
    "vtkidtype": "i8",
    "vtktypeint64": "i8",
    "vtktypeint32": "i4",
}


def vtk(path: str) -> Any:
    """Return the grid of a legacy file; None if it contains another kind of data set."""
    with open(path, "rb") as file:  # noqa: PTH123 - as other readers open it
        text = _Legacy(file.read())
    if not text.line().startswith(b"# vtk DataFile"):
        raise VtkUnreadError("does not begin with `# vtk DataFile Version`")
    text.line()
    text.is_text = text.line().strip().upper() == b"ASCII"
    if [word.upper() for word in text.words()] != ["DATASET", "UNSTRUCTURED_GRID"]:
        return None
    points, cells = np.empty((0, 3)), dict[str, Any]()
    fields: dict[str, Any] = {"cell": {}, "point": {}}
    notes, into, n = list[str](), "", 0
    while words := text.words():
        key = words[0].upper()
        if key == "POINTS":
            points = text.numbers(words[2], 3 * int(words[1])).reshape(-1, 3)
        elif key == "CELLS":
            cells |= text.cells(int(words[1]), int(words[2]))
        elif key == "CELL_TYPES":
            cells["types"] = text.numbers("int", int(words[1]))
        elif key in ("CELL_DATA", "POINT_DATA"):
            into, n = key[:-5].lower(), int(words[1])
        elif key == "METADATA":
            while text.line().strip():
                pass
        elif not _attribute(key, words, text, fields.get(into, {}), n):
            raise VtkUnreadError(f"has a section {words[0][:30]!r}, which Evener does not know")
    if "types" not in cells or "offsets" not in cells:
        raise VtkUnreadError("has no cells")
    _replace_face_streams(cells)
    return _grid(cells, points, fields, notes)


def _attribute(key: str, words: list[str], text: _Legacy, into: dict[str, Any], n: int) -> bool:
    """Read the values of an attribute; return whether `key` is an attribute."""
    widths = {"VECTORS": 3, "NORMALS": 3, "TENSORS": 9, "TENSORS6": 6, "GLOBAL_IDS": 1,
              "PEDIGREE_IDS": 1}  # fmt: skip
    if key == "FIELD":
        for _ in range(int(words[2])):
            name, columns, count, kind = text.words()
            values = text.numbers(kind, int(columns) * int(count))
            if int(count) == n and values is not None:
                into[name] = values if columns == "1" else values.reshape(n, -1)
        return True
    if key == "SCALARS":
        width, kind = int(words[3]) if len(words) > 3 else 1, words[2]
        place = text.at
        if text.words()[:1] != ["LOOKUP_TABLE"]:
            text.at = place
    elif key == "TEXTURE_COORDINATES":
        width, kind = int(words[2]), words[3]
    elif key == "COLOR_SCALARS":
        width, kind = int(words[2]), "float" if text.is_text else "unsigned_char"
    elif key == "LOOKUP_TABLE":
        text.numbers("float" if text.is_text else "unsigned_char", 4 * int(words[2]))
        return True
    elif key in widths:
        width, kind = widths[key], words[2]
    else:
        return False
    values = text.numbers(kind, width * n)
    if values is not None:
        into[words[1]] = values if width == 1 else values.reshape(n, width)
    return True


def _replace_face_streams(cells: dict[str, Any]) -> None:
    """Replace polyhedra's streams of faces in `connectivity` by points; set `faces`."""
    poly = cells["types"] == _POLYHEDRON
    if not poly.any():
        return
    ends = cells["offsets"]
    begins = np.concatenate([[0], ends[:-1]])
    counts, faces, kept = (ends - begins).astype(np.int64), [], []
    for cell in range(poly.size):
        own = cells["connectivity"][begins[cell] : ends[cell]]
        if poly[cell]:
            faces.append(_stream(own))
            own = np.unique(faces[-1][1])
            counts[cell] = own.size
        kept.append(own)
    cells["faces"], cells["connectivity"] = faces, np.concatenate(kept)
    cells["offsets"] = np.cumsum(counts)


class _Legacy:
    """The content of a legacy file, read sequentially."""

    def __init__(self, data: bytes):
        self._data, self.at, self.is_text = data, 0, True

    def line(self) -> bytes:
        """Return the next line."""
        stop = self._data.find(b"\n", self.at)
        stop = len(self._data) if stop < 0 else stop
        line = self._data[self.at : stop]
        self.at = stop + 1
        return line

    def words(self) -> list[str]:
        """Return the words of the next line that is not blank; [] at the end."""
        while self.at < len(self._data):
            if words := self.line().decode("latin-1").split():
                return words
        return []

    def cells(self, n: int, size: int) -> dict[str, Any]:
        """Return offsets and connectivity: two arrays from version 5 on, one array before."""
        place = self.at
        words = self.words()
        if words[:1] == ["OFFSETS"]:
            ends = self.numbers(words[1], n)[1:]
            return {"offsets": ends, "connectivity": self.numbers(self.words()[1], size)}
        self.at = place
        stream = self.numbers("int", size).astype(np.int64)
        heads, at = np.empty(n, np.int64), 0
        for cell in range(n):
            if at >= size or stream[at] < 0:
                raise VtkUnreadError(
                    "has cells whose lists of points do not add up to the declared size"
                )
            heads[cell] = at
            at += 1 + int(stream[at])
        if at != size:
            raise VtkUnreadError(
                "has cells whose lists of points do not add up to the declared size"
            )
        counts = stream[heads]
        return {"offsets": np.cumsum(counts), "connectivity": np.delete(stream, heads)}

    def numbers(self, kind: str, count: int) -> Any:
        """Return numbers of a VTK type; None for text, which is skipped."""
        if count < 0 or count > len(self._data):
            raise VtkUnreadError(f"declares {count:,} numbers, too many for its size")
        kind = kind.lower()
        if kind == "string" and self.is_text:
            for _ in range(count):
                self.line()
            return None
        if kind not in _LEGACY:
            raise VtkUnreadError(f"has numbers of the type {kind[:30]!r}")
        if not self.is_text:
            size = -(-count // 8) if kind == "bit" else count * int(_LEGACY[kind][1])
            data = self._data[self.at : self.at + size]
            if len(data) < size:
                raise VtkUnreadError("ends within its numbers")
            self.at += size
            if kind == "bit":
                return np.unpackbits(np.frombuffer(data, np.uint8))[:count]
            return np.frombuffer(data, ">" + _LEGACY[kind]).astype(_LEGACY[kind])
        words: list[bytes] = []
        while len(words) < count and self.at < len(self._data):
            words += self.line().split()
        if len(words) != count:
            raise VtkUnreadError(f"contains {len(words):,} numbers but declares {count:,}")
        return np.array(words).astype(np.float64 if _LEGACY[kind][0] == "f" else np.int64)
