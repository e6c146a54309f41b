"""Reads lists of pairs of whole numbers, one a line: edge lists and triplets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, NumberArray
from evener.io import text
from evener.io.sources import Source
from evener.io.text import Pieces

_BREAKS = bytes.maketrans(b",;|", b"   ")


@dataclass(frozen=True)
class Pairs:
    """The pairs (u, v) of a file, and the numbers of its last column if they are kept."""

    u: npt.NDArray[np.int64]
    v: npt.NDArray[np.int64]
    weights: NumberArray | None


@dataclass(frozen=True)
class Layout:
    """Where the lines begin, how many fields each has, whether they begin with whole numbers."""

    start: int
    n_columns: int
    numbered: bool
    first: bytes


def layout_of(source: Source) -> Layout | None:
    """Return the layout by the first lines; words above lines of numbers are a header."""
    rows = []
    for row in text.lines(source, b"#%"):
        rows.append(row)
        if len(rows) == 2:
            break
    if not rows:
        return None
    (start, line), *more = rows
    if not begins_with_numbers(line) and more and begins_with_numbers(more[0][1]):
        start, line = more[0]
    numbered = begins_with_numbers(line)
    return Layout(start, len(fields_of(line)), numbered, line)


def fields_of(line: bytes) -> list[bytes]:
    """Return the fields of a line, up to a brace (networkx's empty data)."""
    return line.split(b"{")[0].translate(_BREAKS).split()


def begins_with_numbers(line: bytes) -> bool:
    """Whether the first two fields are whole numbers."""
    fields = fields_of(line)[:2]
    return len(fields) == 2 and all(f.removeprefix(b"-").isdigit() for f in fields)


def read_pairs(source: Source, layout: Layout, *, matrix: bool) -> Pairs:
    """Return the pairs of all lines; a matrix's further columns are checked, not kept."""
    from evener.io.graphs import pairs_kernels as kernels
    from evener.io.number_kernels import COLUMNS, OK

    pieces = Pieces(source, layout.start)
    # A line takes at least four bytes: two digits, a blank, the line's end.
    rows = min(pieces.rows[-1], (len(source.data) - layout.start) // 4 + 1)
    weighted = layout.n_columns > 2 and not matrix
    u, v = np.empty(rows, np.int64), np.empty(rows, np.int64)
    w: FloatArray = np.empty(rows if weighted else 0)

    def parse(start: int, stop: int, first: int, last: int, place: npt.NDArray[np.int64]) -> int:
        code: int = kernels.read_pairs(
            source.array,
            start,
            stop,
            layout.n_columns,
            matrix,
            u[first:last],
            v[first:last],
            w[first:last],
            place,
        )
        return code

    place = pieces.parse(parse) if pieces.rows[-1] == rows else None
    if place is None:
        place = text.new_place()
        code = parse(layout.start, len(source.data), 0, rows, place)
        if code == COLUMNS:
            raise source.error(
                f"the line has {place[1]} fields; the lines before have {layout.n_columns}",
                offset=int(place[0]),
            )
        if code != OK:
            text.refuse(source, code, place)
        rows = int(place[1])
    weights = text.weights_of(w[:rows], place) if weighted else None
    return Pairs(u[:rows], v[:rows], weights)
