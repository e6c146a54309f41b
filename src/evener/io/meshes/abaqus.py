""".inp files of Abaqus and CalculiX: nodes and elements, also of parts and of their instances.

Each part numbers its own nodes. Keywords that generate or include further nodes and elements are
refused. `block` is a field of the cells: the number, from 0, of the *ELEMENT keyword.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from evener.arrays import FloatArray
from evener.graphs.mesh import Mesh
from evener.io.meshes.rows import FileRows, make_mesh, renumber, scan
from evener.io.sources import Source
from evener.wording import plural

_KEYWORD = re.compile(rb"^\*[ \t]*([A-Za-z][A-Za-z -]*)((?:,[ \t\r]*\n|[^\n])*)", re.MULTILINE)
_COMMENT = re.compile(rb"^\*\*[^\n]*", re.MULTILINE)
_PARAMETER = re.compile(r",\s*([A-Z][A-Z ]*?)\s*(?:=\s*(\"[^\"]*\"|[^,]*?)\s*)?(?=,|\Z)", re.I)
_MAKES_MORE = ("NGEN", "ELGEN", "NCOPY", "ELCOPY", "NFILL", "NMAP")
# Element types: dimension, and a pattern whose group is the number of points.
_TYPES = [
    (2, re.compile(r"D?S(?:TRI)?([34689])(?:5|RT?|RSW?|R5|RHT?|T)?\Z")),  # S4R, STRI3, STRI65
    (2, re.compile(r"(?:S?F?M3D|R3D)([346789])R?\Z")),
    (3, re.compile(r"SC([68])R?T?\Z")),
    (2, re.compile(r"(?:CPEG|CPE|CPS|CGAX|CAX|DCAX|ACAX|DC2D|AC2D|COH2D|COHAX|QAX)([34689])\D*\Z")),
    (3, re.compile(r"(?:[DAQ]?CC?|Q|GK|COH|EMC)3D(\d+)\D*\Z")),
    (1, re.compile(r"(?:T[23]D|R2D|RAX|DC1D|AC1D)([23])\D*\Z")),
]
_LINES = re.compile(r"(?:B[23]|PIPE[23]|SAX|DSAX|B3[123]OS)([123])\D*\Z")
_NO_CELLS = re.compile(r"MASS|ROTARYI|CONN|SPRING|DASHPOT|DCOUP|JOINT|GAP|ITS|ITT|HEATCAP")
_KINDS = {
    1: {2: 3, 3: 21},
    2: {3: 5, 4: 9, 6: 22, 8: 23, 9: 28},
    3: {4: 10, 5: 14, 6: 13, 8: 12, 10: 24, 13: 27, 15: 26, 20: 25, 27: 29},
}


class _Keyword(NamedTuple):
    """A keyword in capitals, its parameters, and the offsets of its lines."""

    name: str
    given: dict[str, str]
    place: int
    start: int
    stop: int


@dataclass
class _Piece:
    """Nodes and elements with common numbering: of a part, an instance, or the model."""

    ids: list[Any] = field(default_factory=list)
    points: list[FloatArray] = field(default_factory=list)
    blocks: list[tuple[int, int, Any]] = field(default_factory=list)  # block, VTK's type, nodes


def recognises(source: Source) -> bool:
    """Return whether the suffix is .inp and a line begins with a keyword."""
    return (
        source.suffix == ".inp" and re.search(rb"^\*[ \t]*[A-Za-z*]", source.head, re.M) is not None
    )


def read(source: Source) -> Mesh:
    """Return the cells of the highest dimension. Raises InputError for unknown element types."""
    data = _COMMENT.sub(lambda match: b" " * len(match[0]), source.data)
    pieces = [piece for piece in _pieces(source, data) if piece.blocks]
    if not pieces:
        raise source.error("has no elements: *ELEMENT, TYPE=...")
    points, sizes, kinds, corners, blocks, base = [], [], [], [], [], 0
    for piece in pieces:
        if not piece.ids:
            raise source.error("has elements, but their part has no nodes")
        ids = np.concatenate(piece.ids)
        for block, kind, nodes in piece.blocks:
            corners.append(base + renumber(source, ids, nodes.ravel()))
            sizes.append(np.full(len(nodes), nodes.shape[1]))
            kinds.append(np.full(len(nodes), kind))
            blocks.append(np.full(len(nodes), block))
        points += piece.points
        base += ids.size
    numbers = np.concatenate(blocks)
    return make_mesh(
        source,
        np.concatenate(points),
        np.concatenate(sizes),
        np.concatenate(corners),
        np.concatenate(kinds),
        cell_data={"block": numbers} if numbers.any() else {},
    )


def _keywords(source: Source, data: bytes) -> Iterator[_Keyword]:
    matches = list(_KEYWORD.finditer(data))
    stops = [*(match.start() for match in matches[1:]), len(data)]
    for match, stop in zip(matches, stops, strict=False):
        name = " ".join(match[1].decode().upper().split())
        given = {
            key.upper(): value.strip('" ')
            for key, value in _PARAMETER.findall(match[2].decode("latin-1").replace("\n", " "))
        }
        if name == "INCLUDE":
            raise source.error(
                f"includes the file {given.get('INPUT', '')[:60]!r}, which Evener does not read",
                offset=match.start(),
                hint="Replace the line by the text of that file.",
            )
        if name in _MAKES_MORE:
            raise source.error(
                f"generates nodes or elements by *{name}, which Evener does not support",
                offset=match.start(),
                hint="Save the model again in Abaqus, which writes all nodes and elements.",
            )
        yield _Keyword(name, given, match.start(), match.end(), stop)


def _pieces(source: Source, data: bytes) -> list[_Piece]:
    """Return what belongs to no part, then each instance, or each part if there are none."""
    model, parts, instances = _Piece(), dict[str, _Piece](), list[_Piece]()
    into, used, skipped, block = model, set[str](), 0, 0
    for word in _keywords(source, data):
        if word.name == "PART":
            into = parts.setdefault(word.given.get("NAME", "").upper(), _Piece())
        elif word.name == "INSTANCE":
            name = word.given.get("PART", "").upper()
            used.add(name)
            into = _placed(parts.get(name, _Piece()), _rows(source, data, word))
            instances.append(into)
        elif word.name in ("END PART", "END INSTANCE"):
            into = model
        elif word.name == "NODE":
            _take_nodes(source, into, _rows(source, data, word), word)
        elif word.name == "ELEMENT":
            skipped += _take_elements(source, into, _rows(source, data, word), word, block)
            block += 1
    if skipped:
        found = plural(skipped, "mass, spring or connector is", "masses, springs or connectors are")
        source.notes.append(f"{found} left out, because only cells are read.")
    if not instances:
        return [model, *parts.values()]
    if lost := [name for name in parts if name not in used]:
        source.notes.append(f"Parts without an instance are left out: {', '.join(lost[:5])}.")
    return [model, *instances]


def _rows(source: Source, data: bytes, word: _Keyword) -> FileRows:
    """Return the numbers below a keyword, which are separated by commas and blanks."""
    body = data[word.start : word.stop]
    if (empty := re.search(rb",[ \t]*,", body)) is not None:
        raise source.error("a field is empty", offset=word.start + empty.start())
    plain = data[: word.start] + body.replace(b",", b" ")
    return scan(source, word.start, word.stop, data=plain + data[word.stop :])


def _take_nodes(source: Source, into: _Piece, rows: FileRows, word: _Keyword) -> None:
    system = word.given.get("SYSTEM", "R").upper()
    if system != "R":
        raise source.error(f"has nodes in the system {system[:10]}, not x, y, z", offset=word.place)
    points = np.zeros((len(rows), 3))
    for axis in range(3):
        has = rows.counts > axis + 1
        points[has, axis] = rows.values[rows.first[:-1][has] + axis + 1]
    into.ids.append(rows.integers(rows.first[:-1], "the number of a node"))
    into.points.append(points)


def _take_elements(source: Source, into: _Piece, rows: FileRows, word: _Keyword, block: int) -> int:
    """Add the elements to `into`; return the number of elements that are not cells."""
    name = word.given.get("TYPE", "").upper()
    if _NO_CELLS.match(name):
        return len(rows)
    kind, size = _kind(source, name, word)
    numbers = rows.integers(np.arange(rows.first[0], rows.first[-1]), "a number of an element")
    if numbers.size % (size + 1):
        raise source.error(
            f"has {numbers.size:,} numbers below {name}, but each element takes {size + 1}",
            offset=word.place,
        )
    nodes = numbers.reshape(-1, size + 1)[:, 1:]
    into.blocks.append((block, kind, nodes[:, [0, 2, 1]] if kind == 21 else nodes))
    return 0


def _kind(source: Source, name: str, word: _Keyword) -> tuple[int, int]:
    """Return VTK's type and the number of points for Abaqus's element type."""
    line = _LINES.match(name)
    if line is not None:
        return (21, 3) if line[1] == "2" else (3, 2)
    if name == "STRI65":
        return 22, 6
    for dim, pattern in _TYPES:
        match = pattern.match(name)
        if match is not None and int(match[1]) in _KINDS[dim]:
            return _KINDS[dim][int(match[1])], int(match[1])
    raise source.error(
        f"has elements of the type {name[:40]!r}, which Evener does not know",
        offset=word.place,
        hint="Use a type of the same shape, such as C3D8, or convert the mesh to .vtk or .msh.",
    )


def _placed(part: _Piece, rows: FileRows) -> _Piece:
    """Return a part translated, then rotated, as the instance's lines state."""
    points = [piece.copy() for piece in part.points]
    if len(rows) > 0:
        shift = rows.values[rows.first[0] : rows.first[1]]
        if shift.size != 3:
            rows.refuse(0, "an instance needs three numbers for its translation")
        points = [piece + shift for piece in points]
    if len(rows) > 1:
        turn = rows.values[rows.first[1] : rows.first[2]]
        if turn.size != 7 or not (turn[3:6] != turn[:3]).any():
            rows.refuse(1, "an instance needs two points and an angle for its rotation")
        points = [_turned(piece, turn) for piece in points]
    return _Piece(list(part.ids), points, list(part.blocks))


def _turned(points: FloatArray, turn: FloatArray) -> FloatArray:
    """Return points rotated by an angle [degrees] about the axis through two points."""
    axis = (turn[3:6] - turn[:3]) / np.linalg.norm(turn[3:6] - turn[:3])
    angle, away = np.radians(turn[6]), points - turn[:3]
    along = np.outer(away @ axis, axis)
    turned = np.cos(angle) * (away - along) + np.sin(angle) * np.cross(axis, away)
    return np.asarray(turn[:3] + along + turned, np.float64)
