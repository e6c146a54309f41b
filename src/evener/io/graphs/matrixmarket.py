"""Matrix Market files, coordinate and array, of every field and symmetry [BPR96]_.

A square matrix is read as the graph of its pattern; a dense matrix with two or three columns may
also be read as coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.io import text
from evener.io.entries import Entries, unfit_for_weights
from evener.io.graphs.pairs import (
    arcs_of_entries,
    check_square,
    graph_of_pattern,
    notes_of_arcs,
    notes_of_pattern,
)
from evener.io.graphs.streams import (
    ArcPiece,
    Tally,
    TextStream,
    WholeNeeded,
    Window,
    lines_at_most,
)
from evener.io.sources import Source
from evener.io.text import Pieces

_VALUES = {"pattern": 0, "real": 1, "integer": 1, "double": 1, "unsigned-integer": 1, "complex": 2}
# Rows and columns, from 0, and values or None.
_Entries = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[Any] | None]
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


@dataclass(frozen=True)
class MatrixHeader:
    """The banner and the line of sizes; offset: start of that line, body: start of the next."""

    dense: bool
    field: str
    symmetry: str
    rows: int
    columns: int
    entries: int
    offset: int
    body: int


def recognises(source: Source) -> bool:
    """Return whether the file begins with the banner %%MatrixMarket."""
    return source.head[:14].lower() == b"%%matrixmarket"


def read(source: Source, *, directed: bool = False) -> Graph | DirectedGraph:
    """Return the graph of A + A^T; loops are dropped and values ignored, with notes.

    directed: the arcs of A; its values are the weights if none is negative or complex.
    """
    head = header_of(source)
    check_square(source, head.rows, head.columns, head.offset)
    rows, columns, values = _stored(source, head, with_values=directed)
    if directed:
        return arcs_of_entries(source, head.rows, rows, columns, values, symmetry=head.symmetry)
    return graph_of_pattern(source, head.rows, rows, columns, halved=head.symmetry != "general")


def entries(source: Source, *, with_values: bool = False) -> Entries:
    """Return the stored entries of a matrix of any shape; for a dense matrix, the non-zeros."""
    head = header_of(source)
    halved = head.symmetry != "general"
    if halved:
        check_square(source, head.rows, head.columns, head.offset)
    rows, columns, values = _stored(source, head, with_values=with_values)
    kept = values if with_values else None
    return Entries(head.rows, head.columns, rows, columns, kept, triangle=halved)


def _stored(source: Source, head: MatrixHeader, *, with_values: bool) -> _Entries:
    """Return the entries of a coordinate file, or the non-zeros of a dense matrix."""
    if head.dense:
        return _dense_entries(source, head)
    return _entries(source, head, with_values=with_values)


def read_dense(source: Source) -> FloatArray:
    """Return the dense matrix of an array file; raise InputError for any other file."""
    head = header_of(source)
    if not head.dense or head.symmetry != "general" or _VALUES[head.field] != 1:
        raise source.error("coordinates must be a general array of real numbers", line=1)
    values = _array_values(source, head, head.rows * head.columns)
    return values.reshape(head.columns, head.rows).T


def header_of(source: Source) -> MatrixHeader:
    """Parse the banner and the line of sizes. Raises InputError."""
    found = text.lines(source)
    banner_at, banner = next(found)
    words = [word.decode("latin-1").lower() for word in banner.split()]
    if words[0] != "%%matrixmarket" or len(words) != 5 or words[1] != "matrix":
        raise source.error(
            "must begin `%%MatrixMarket matrix FORM FIELD SYMMETRY`", offset=banner_at
        )
    form, field, symmetry = words[2:]
    if form not in ("coordinate", "array") or field not in _VALUES or symmetry not in _SYMMETRIES:
        raise source.error(
            f"there is no matrix of the kind `{form[:20]} {field[:20]} {symmetry[:20]}`",
            offset=banner_at,
        )
    offset, line = next(text.lines(source, b"%", banner_at), (None, b""))
    if offset is None:
        raise source.error("ends before the size of the matrix")
    sizes = text.integers_of(source, offset, line, "the size")
    dense = form == "array"
    if len(sizes) != (2 if dense else 3) or min(sizes) < 0:
        raise source.error(
            f"the size must be {'`rows columns`' if dense else '`rows columns entries`'}",
            offset=offset,
        )
    entries = sizes[0] * sizes[1] if dense else sizes[2]
    body = text.after_line(source, offset)
    return MatrixHeader(dense, field, symmetry, sizes[0], sizes[1], entries, offset, body)


def _entries(source: Source, head: MatrixHeader, *, with_values: bool) -> _Entries:
    """Return rows and columns, from 0, and values (None for a pattern, or if not requested).

    Complex values are replaced by zeros.
    """
    from evener.io.graphs import pairs_kernels as kernels
    from evener.io.number_kernels import OK, TOO_FEW

    # An entry without a value takes four bytes: two digits, a space, the line's end.
    if 4 * head.entries > len(source.data) - head.body + text.SLACK:
        raise source.error(
            f"declares {head.entries:,} entries, too many for its size",
            offset=head.offset,
        )
    rows, columns = np.empty(head.entries, np.int64), np.empty(head.entries, np.int64)
    width = _VALUES[head.field]
    values = np.empty(head.entries if with_values and width == 1 else 0)

    def parse(start: int, stop: int, first: int, last: int, place: npt.NDArray[np.int64]) -> int:
        code: int = kernels.read_pairs(
            source.array,
            start,
            stop,
            2 + width,
            kernels.ENTRIES,
            None,
            (1, head.rows, head.columns),
            rows[first:last],
            columns[first:last],
            values[first:last],
            place,
        )
        return code

    pieces = Pieces(source, head.body)
    if pieces.rows[-1] == head.entries and pieces.parse(parse) is not None:
        return rows, columns, _kept(values, head, with_values=with_values)
    place = text.new_place()
    code = parse(head.body, len(source.data), 0, head.entries, place)
    if code == OK and place[1] < head.entries:
        code = TOO_FEW
    if code != OK:
        _refuse(source, code, place, head)
    return rows, columns, _kept(values, head, with_values=with_values)


def _refuse(
    source: Source, code: int, place: npt.NDArray[np.int64], head: MatrixHeader
) -> NoReturn:
    """Raise the InputError for a code of read_pairs."""
    from evener.io.number_kernels import OUT_OF_RANGE

    if code == OUT_OF_RANGE:
        raise source.error(
            f"the index {place[1]} is out of range: the matrix is {head.rows:,} x {head.columns:,}",
            offset=int(place[0]),
            hint="Rows and columns are numbered from 1." if place[1] == 0 else None,
        )
    promised, columns = f"{head.entries:,} entries", 2 + _VALUES[head.field]
    text.refuse(source, code, place, columns=columns, promised=promised)


def _kept(values: FloatArray, head: MatrixHeader, *, with_values: bool) -> npt.NDArray[Any] | None:
    if not with_values or head.field == "pattern":
        return None
    return np.zeros(head.entries, np.complex128) if head.field == "complex" else values


def _dense_entries(source: Source, head: MatrixHeader) -> _Entries:
    """Return rows, columns and values of the non-zeros of a dense matrix, stored by columns."""
    n = head.rows
    if head.field == "pattern":
        raise source.error("an array cannot be a pattern", line=1)
    if head.symmetry == "general":
        values = _array_values(source, head, n * head.columns)
        places = np.flatnonzero(values)
        columns, rows = np.divmod(places, n)
        return rows, columns, _with_kind(values[places], head)
    # The lower triangle, column by column; without the diagonal if skew-symmetric.
    skew = int(head.symmetry == "skew-symmetric")
    held = n * (n + 1 - 2 * skew) // 2
    values = _array_values(source, head, held)
    lengths = np.arange(n - skew, -skew, -1)
    columns = np.repeat(np.arange(n), lengths)
    first = np.cumsum(lengths) - lengths
    rows = np.arange(held) - first[columns] + columns + skew
    kept = values != 0
    return rows[kept], columns[kept], _with_kind(values[kept], head)


def _with_kind(values: FloatArray, head: MatrixHeader) -> npt.NDArray[Any]:
    """Return the values; magnitudes of complex numbers become complex, to mark their type."""
    return values.astype(np.complex128) if head.field == "complex" else values


def _array_values(source: Source, head: MatrixHeader, count: int) -> FloatArray:
    """Return the `count` values of an array file; for complex values, |real| + |imaginary|."""
    width = _VALUES[head.field]
    if 2 * count * width > len(source.data) - head.body + text.SLACK:
        raise source.error(f"declares {count:,} values, too many for its size", offset=head.offset)
    values = text.read_reals(source, head.body, width)
    if len(values) != count:
        raise source.error(
            f"contains {len(values):,} values but declares {count:,}", offset=head.offset
        )
    return values[:, 0] if width == 1 else np.abs(values).sum(axis=1)


def write(graph: Graph | DirectedGraph) -> tuple[bytes, list[str]]:
    """Return a pattern, or a matrix of the weights if there are any; symmetric unless directed."""
    u = np.repeat(np.arange(graph.n), graph.degrees)
    kept = (u > graph.adjncy) if graph.symmetric else np.ones(u.size, np.bool_)
    table = np.stack((u[kept] + 1, graph.adjncy[kept].astype(np.int64) + 1), axis=1)
    notes = []
    if graph.vwgt is not None:
        notes.append("This format does not store vertex weights.")
    if graph.labels is not None:
        notes.append("This format does not store vertex labels.")
    field, body = "pattern", b""
    if graph.adjwgt is None:
        body = text.table_text(table, " ")
    elif graph.adjwgt.dtype.kind == "i":
        field = "integer"
        body = text.table_text(np.column_stack((table, graph.adjwgt[kept])), " ")
    else:
        field = "real"
        pairs = text.table_text(table, " ").split(b"\n")[:-1]
        values = (repr(value).encode() for value in graph.adjwgt[kept].tolist())
        body = b"".join(a + b" " + b + b"\n" for a, b in zip(pairs, values, strict=True))
    symmetry = "symmetric" if graph.symmetric else "general"
    banner = f"%%MatrixMarket matrix coordinate {field} {symmetry}"
    return f"{banner}\n{graph.n} {graph.n} {len(table)}\n".encode() + body, notes


def stream(head: Window, *, directed: bool) -> MatrixStream:
    """Return the entries of a coordinate file as a stream. Raises InputError and WholeNeeded."""
    found = header_of(head)
    if found.dense:
        raise WholeNeeded("a dense matrix is stored by columns")
    check_square(head, found.rows, found.columns, found.offset)
    symmetric, width = found.symmetry != "general", _VALUES[found.field]
    return MatrixStream(
        head,
        found.rows,
        directed,
        both=symmetric or not directed,
        turned=-1.0 if found.symmetry == "skew-symmetric" else 1.0,
        repeats="sum" if directed and width == 1 else "first",
        weighted=directed and width == 1,
        start=found.body,
        header=found,
    )


def entries_in(
    window: Window, head: MatrixHeader, *, with_values: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], FloatArray]:
    """Return rows and columns, from 0, of the entries in a window, and values if requested."""
    from evener.io.graphs import pairs_kernels as kernels
    from evener.io.number_kernels import OK

    most, place = lines_at_most(window), text.new_place()
    rows, columns = np.empty(most, np.int64), np.empty(most, np.int64)
    values = np.empty(most if with_values else 0)
    width, limits = _VALUES[head.field], (1, head.rows, head.columns)
    code = kernels.read_pairs(
        window.array, 0, len(window.data), 2 + width, kernels.ENTRIES, None, limits, rows,
        columns, values, place,
    )  # fmt: skip
    if code != OK:
        _refuse(window, code, place, head)
    count = int(place[1])
    return rows[:count], columns[:count], values[:count] if with_values else values


def wrong_count(source: Source, head: MatrixHeader, found: int) -> InputError:
    """Return the error for a file whose number of entries differs from the header's."""
    what = f"contains {found:,} entries but declares {head.entries:,}"
    return source.error(what, offset=head.offset)


@dataclass
class MatrixStream(TextStream):
    """A coordinate file of Matrix Market in pieces."""

    header: MatrixHeader = None  # type: ignore[assignment]

    def read(self, first: int, last: int) -> Iterator[tuple[ArcPiece, Tally]]:
        """Yield the entries of pieces first to last - 1."""
        for window in self.windows(first, last):
            yield self._parsed(window)

    def _parsed(self, window: Window) -> tuple[ArcPiece, Tally]:
        rows, columns, values = entries_in(window, self.header, with_values=self.weighted)
        count = rows.size
        off = rows != columns
        weights = values if self.weighted else None
        unfit = ""
        if weights is not None:
            unfit = unfit_for_weights(weights[off]) or unfit_for_weights(self.turned * weights[off])
        return ArcPiece(rows, columns, weights), Tally(count, count - int(off.sum()), unfit=unfit)

    def finish(self, seen: Tally) -> None:
        """Check the number of entries; add notes on entries left out, merged and added."""
        if seen.lines != self.header.entries:
            raise wrong_count(self.source, self.header, seen.lines)
        other, halved = seen.lines - seen.loops, self.header.symmetry != "general"
        entries = seen.loops + (2 * other if halved else other)
        if not self.directed:
            self.notes += notes_of_pattern(entries, seen.loops, seen.arcs)
            return
        unfit = "they are complex" if self.header.field == "complex" else seen.unfit
        valued = self.header.field != "pattern"
        self.notes += notes_of_arcs(entries, seen.loops, seen.arcs, unfit, valued=valued)
