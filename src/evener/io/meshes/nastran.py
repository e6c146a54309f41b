"""Nastran's bulk data (.bdf, .nas, .fem): fields of 8 or 16 columns, or separated by commas.

Tabs are accepted, too. The number of each element's property is the field `property`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from evener.graphs.mesh import Mesh
from evener.io.meshes.rows import make_mesh, renumber
from evener.io.sources import Source
from evener.wording import plural

SUFFIXES = (".bdf", ".nas", ".fem")
_BULK = re.compile(rb"^[ \t]*BEGIN[ \t]+(?:BULK|\w+[ \t]*=)[^\n]*\n", re.MULTILINE | re.IGNORECASE)
_REAL = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+))(?:E|D)?([-+]?\d+)?\Z")
# Elements: VTK's type and points; VTK's type and points with mid-edge nodes, 0 for none.
_CELLS = {
    **dict.fromkeys(("CTRIA3", "CTRIAR", "CPLSTN3", "CPLSTS3", "CTRAX3"), (5, 3, 0, 0)),
    **dict.fromkeys(("CQUAD4", "CQUADR", "CSHEAR", "CPLSTN4", "CPLSTS4", "CQUADX4"), (9, 4, 0, 0)),
    **dict.fromkeys(("CTRIA6", "CPLSTN6", "CPLSTS6", "CTRAX6"), (5, 3, 22, 6)),
    **dict.fromkeys(("CQUAD8", "CPLSTN8", "CPLSTS8", "CQUADX8"), (9, 4, 23, 8)),
    **dict.fromkeys(("CQUAD", "CQUADX"), (9, 4, 28, 9)),
    "CTETRA": (10, 4, 24, 10),
    **dict.fromkeys(("CPYRAM", "CPYRA"), (14, 5, 27, 13)),
    "CPENTA": (13, 6, 26, 15),
    "CHEXA": (12, 8, 25, 20),
    **dict.fromkeys(("CBAR", "CBEAM", "CBEND", "CROD", "CTUBE", "CBUSH", "CGAP"), (3, 2, 0, 0)),
}
# VTK's order of the points, where it differs.
_ORDER = {26: [*range(9), 12, 13, 14, 9, 10, 11], 25: [*range(12), *range(16, 20), *range(12, 16)]}
_SOLID = re.compile(r"C(TRI|TRA|QUAD|TET|HEX|PEN|PYR|PLST|AXIF|RAC|AABSF|ACINF)")
Card = tuple[int, str, list[str]]  # line, name, fields


def recognises(source: Source) -> bool:
    """Return whether the suffix is one of Nastran's."""
    return source.suffix in SUFFIXES and source.is_text


def read(source: Source) -> Mesh:
    """Return the cells of the highest dimension. Raises InputError for unknown elements."""
    ids, points, sizes, kinds, corners, properties = [], [], [], [], list[int](), []
    systems = 0
    for line, name, fields in _cards(source):
        if name == "GRID":
            ids.append(_whole(source, line, fields, 0))
            systems += bool(fields[1].strip("0"))
            points.append([_real(source, line, field) for field in (*fields, "", "", "")[2:5]])
        elif name in _CELLS:
            kind, nodes = _cell(source, line, name, fields)
            kinds.append(kind)
            sizes.append(len(nodes))
            corners += [nodes[i] for i in _ORDER.get(kind, range(len(nodes)))]
            properties.append(_whole(source, line, fields, 1, 0))
        elif _SOLID.match(name):
            raise source.error(
                f"has elements {name}, which Evener does not know",
                line=line,
                hint="Gmsh may know them: gmsh x.bdf -save -o x.msh.",
            )
        elif name == "INCLUDE":
            raise source.error(
                "includes another file, which Evener does not read",
                line=line,
                hint="Replace the line by the text of that file.",
            )
    if not points or not kinds:
        raise source.error("has no GRID cards" if not points else "has no elements")
    if systems:
        source.notes.append(
            f"{plural(systems, 'point lies', 'points lie')} in another coordinate system; "
            "Evener reads them as if in the basic system."
        )
    return make_mesh(
        source,
        np.array(points),
        np.array(sizes),
        renumber(source, np.array(ids), np.array(corners)),
        np.array(kinds),
        cell_data={"property": np.array(properties)} if any(properties) else {},
    )


def _cell(source: Source, line: int, name: str, fields: list[str]) -> tuple[int, list[int]]:
    """Return VTK's type and the nodes; mid-edge nodes only if all are stated."""
    kind, size, higher, most = _CELLS[name]
    given = [_whole(source, line, fields, 2 + i, 0) for i in range(max(size, most))]
    if 0 in given[:size]:
        raise source.error(f"{name} needs {size} points", line=line)
    return (higher, given) if most and 0 not in given else (kind, given[:size])


def _cards(source: Source) -> Iterator[Card]:
    """Yield the cards, including the fields of their continuation lines."""
    start = _BULK.search(source.data)
    first = start.end() if start is not None else 0
    line = source.data.count(b"\n", 0, first)
    place, name, fields = 0, "", list[str]()
    for whole in source.data[first:].decode("latin-1").upper().split("\n"):
        line += 1
        text = whole.partition("$")[0].rstrip()
        if not text.strip():
            continue
        if text.startswith("ENDDATA"):
            break
        head, own = _fields(text)
        if head.strip("+* ") == "" or head[0] in "+*":
            fields += own
            continue
        if name:
            yield place, name, fields
        place, name, fields = line, head.strip("* "), own
    if name:
        yield place, name, fields


def _fields(text: str) -> tuple[str, list[str]]:
    """Return the first field of a line, and the other fields: 8, or 4 for a wide card."""
    if text.startswith("INCLUDE"):
        return "INCLUDE", []
    if "," in text:
        head, *rest = (field.strip() for field in text.split(","))
        head = head or "+"
        count = 4 if "*" in head else 8
        return head, (rest + [""] * count)[:count]
    text = text.expandtabs(8)
    width, count = (16, 4) if "*" in text[:8] else (8, 8)
    stops = range(8, 8 + width * count, width)
    return text[:8].strip() or "+", [text[at : at + width].strip() for at in stops]


def _whole(
    source: Source, line: int, fields: list[str], at: int, missing: int | None = None
) -> int:
    text = fields[at] if at < len(fields) else ""
    if not text and missing is not None:
        return missing
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise source.error(f"a whole number is needed, not {text[:24]!r}", line=line)
    return int(text)


def _real(source: Source, line: int, text: str) -> float:
    """Return a number, also in Nastran's short form: 1.5-3 is 0.0015."""
    match = _REAL.match(text) if text else None
    if match is None:
        if not text:
            return 0.0
        raise source.error(f"a number is needed, not {text[:24]!r}", line=line)
    return float(f"{match[1]}e{match[2] or 0}")
