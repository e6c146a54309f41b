"""Harwell-Boeing files: a matrix by columns, in Fortran's fixed-width fields [DGL89]_.

Reads column pointers and row indices of assembled square matrices; values are used only as weights
of arcs. SciPy's reader accepts unsymmetric real matrices without right-hand sides; this one also
accepts symmetric, complex and pattern matrices, and reports the line of an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.io import text
from evener.io.entries import Entries
from evener.io.graphs.pairs import arcs_of_entries, check_square, graph_of_pattern
from evener.io.sources import Source

_TYPE = re.compile(rb"[RCP][SUHZR][AE]\s", re.IGNORECASE)
_REALS = re.compile(r"\(\s*(?:\d+\s*[pP]\s*,?\s*)?(\d{0,4})\s*[eEdDfFgG]\s*(\d{1,4})")
# An exponent without a letter, as Fortran writes exponents of three digits.
_BARE_EXPONENT = re.compile(rb"(?<=[\d.])(?=[+-])")
_SYMMETRIES = {"S": "symmetric", "H": "hermitian", "Z": "skew-symmetric"}
_INTEGERS = re.compile(r"\(\s*(\d{0,4})\s*[iI]\s*(\d{1,4})(?:\.\d+)?\s*\)")


@dataclass(frozen=True)
class _Header:
    type: str
    rows: int
    columns: int
    entries: int
    pointers: tuple[int, int]
    indices: tuple[int, int]
    values: str
    offset: int
    body: int


def recognises(source: Source) -> bool:
    """Return whether line 3 begins with a matrix type and line 4 with Fortran formats."""
    rows = source.head.split(b"\n", 4)
    return (
        source.is_text
        and len(rows) > 4
        and bool(_TYPE.match(rows[2]))
        and rows[3].lstrip().startswith(b"(")
    )


def read(source: Source, *, directed: bool = False) -> Graph | DirectedGraph:
    """Return the graph of A + A^T; directed: the arcs of A.

    The values of a real matrix become the weights of the arcs.
    """
    head = _header(source)
    check_square(source, head.rows, head.columns, head.offset)
    rows, columns, values = _stored(source, head, with_values=directed)
    symmetry = _SYMMETRIES.get(head.type[1], "general")
    if directed:
        return arcs_of_entries(source, head.rows, rows, columns, values, symmetry=symmetry)
    return graph_of_pattern(source, head.rows, rows, columns, halved=symmetry != "general")


def entries(source: Source, *, with_values: bool = False) -> Entries:
    """Return the stored entries of a matrix of any shape."""
    head = _header(source)
    halved = head.type[1] in _SYMMETRIES
    if halved:
        check_square(source, head.rows, head.columns, head.offset)
    rows, columns, values = _stored(source, head, with_values=with_values)
    return Entries(head.rows, head.columns, rows, columns, values, triangle=halved)


def _stored(
    source: Source, head: _Header, *, with_values: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[Any] | None]:
    """Return rows and columns from 0, and values (None for a pattern, or if not requested)."""
    pointers, pos = _numbers(source, head.body, head.columns + 1, head.pointers, "column pointers")
    indices, pos_of_values = _numbers(source, pos, head.entries, head.indices, "row indices")
    if pointers[0] != 1 or pointers[-1] != head.entries + 1 or (np.diff(pointers) < 0).any():
        raise source.error(
            f"the column pointers must increase from 1 to {head.entries + 1}", offset=head.body
        )
    bad = np.flatnonzero((indices < 1) | (indices > head.rows))
    if bad.size:
        line = source.line_at(pos) + int(bad[0]) // head.indices[0]
        raise source.error(
            f"the row index {indices[bad[0]]} is out of range: there are {head.rows:,} rows",
            line=line,
        )
    columns = np.repeat(np.arange(head.columns), np.diff(pointers))
    values = _values(source, pos_of_values, head) if with_values else None
    return indices - 1, columns, values


def _header(source: Source) -> _Header:
    rows = source.data[: 16 * 1024].split(b"\n", 5)
    if len(rows) < 5:
        raise source.error("ends within the header")
    lines = [row.decode("latin-1").rstrip("\r") for row in rows[:5]]
    type_ = lines[2][:3].upper()
    if not _TYPE.match(rows[2]):
        raise source.error(f"the matrix type must be like RUA or PSA, not {type_!r}", line=3)
    if type_[2] == "E":
        raise source.error("contains unassembled elements; an assembled matrix is needed", line=3)
    counts = _counts(source, lines[2][3:], 3)
    cards = _counts(source, lines[1], 2)
    if len(counts) < 3 or len(cards) < 4:
        raise source.error("the header lacks counts", line=2 if len(cards) < 4 else 3)
    formats = _INTEGERS.findall(lines[3])
    if len(formats) < 2:
        raise source.error("the formats of pointers and indices must be like (13I6)", line=4)
    (p_each, p_width), (i_each, i_width) = (
        (int(each or 1), int(width)) for each, width in formats[:2]
    )
    if not all(0 < number < 1000 for number in (p_each, p_width, i_each, i_width)):
        raise source.error("the formats' widths must lie between 1 and 999", line=4)
    # Files with right-hand sides have a fifth header line.
    extra = len(cards) > 4 and cards[4] > 0
    starts = [0, *accumulate(len(row) + 1 for row in rows)]
    return _Header(
        type_,
        *(counts[0], counts[1], counts[2]),
        pointers=(p_each, p_width),
        indices=(i_each, i_width),
        values=lines[3],
        offset=starts[2],
        body=starts[5 if extra else 4],
    )


def _values(source: Source, pos: int, head: _Header) -> npt.NDArray[Any] | None:
    """Return the values of a real matrix, zeros for a complex matrix, None for a pattern."""
    if head.type[0] != "R":
        return None if head.type[0] == "P" else np.zeros(head.entries, np.complex128)
    form = _REALS.search(head.values)
    each, width = (int(form[1] or 1), int(form[2])) if form else (0, 0)
    if not (0 < each < 1000 and 0 < width < 1000):
        raise source.error("the format of the values must be like (4E20.12)", line=4)
    rows = source.data[pos:].split(b"\n", -(-head.entries // each))
    fields = [row[i : i + width] for row in rows for i in range(0, each * width, width)]
    values = np.empty(head.entries)
    for i in range(head.entries):
        field = fields[i].strip() if i < len(fields) else b""
        try:
            values[i] = _real(field)
        except ValueError:
            line = source.line_at(pos) + i // each
            raise source.error(f"a number is needed, not {text.shown(field)}", line=line) from None
    return values


def _real(field: bytes) -> float:
    """Parse a Fortran field as a number; raise ValueError if it is not one."""
    plain = field.lower().replace(b"d", b"e")
    if b"e" not in plain:
        plain = _BARE_EXPONENT.sub(b"e", plain)
    if b"_" in plain:
        raise ValueError
    return float(plain)


def _counts(source: Source, line: str, number: int) -> list[int]:
    fields = line.split()
    if not all(field.isdecimal() and field.isascii() and len(field) < 19 for field in fields):
        raise source.error("whole numbers are needed", line=number)
    return [int(field) for field in fields]


def _numbers(
    source: Source, pos: int, count: int, form: tuple[int, int], what: str
) -> tuple[npt.NDArray[np.int64], int]:
    """Return `count` numbers in fixed-width fields, and the offset after their last line.

    form: fields per line, and their width.
    """
    from evener.io import text_kernels as kernels
    from evener.io.number_kernels import OK

    if count > len(source.data) - pos + text.SLACK:
        raise source.error(f"declares {count:,} {what}, too many for its size", line=3)
    numbers = np.empty(count, np.int64)
    place = text.new_place()
    code = kernels.read_fixed(source.array, pos, *form, numbers, place)
    if code != OK:
        text.refuse(source, code, place, promised=f"{count:,} {what}")
    return numbers, int(place[1])
