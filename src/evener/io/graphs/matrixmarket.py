"""Matrix Market files, coordinate and array, of every field and symmetry [BPR96]_.

A square matrix is read as the graph of its pattern; a dense one of two or three columns also as
coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.graphs.graph import Graph
from evener.io import text
from evener.io.graphs.pairs import check_square, graph_of_pattern
from evener.io.sources import Source
from evener.io.text import Pieces

_VALUES = {"pattern": 0, "real": 1, "integer": 1, "double": 1, "unsigned-integer": 1, "complex": 2}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


@dataclass(frozen=True)
class _Header:
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


def read(source: Source) -> Graph:
    """Return the graph of A + A^T; loops are dropped, values not used, and notes say so."""
    head = _header(source)
    check_square(source, head.rows, head.columns, head.offset)
    rows, columns = _dense_pattern(source, head) if head.dense else _entries(source, head)
    return graph_of_pattern(source, head.rows, rows, columns, halved=head.symmetry != "general")


def read_entries(source: Source) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the rows and columns, from 0, of the entries of a coordinate file, as stored."""
    return _entries(source, _header(source))


def read_dense(source: Source) -> FloatArray:
    """Return the dense matrix of an array file; InputError for any other."""
    head = _header(source)
    if not head.dense or head.symmetry != "general" or _VALUES[head.field] != 1:
        raise source.error("coordinates must be a general array of real numbers", line=1)
    values = _array_values(source, head, head.rows * head.columns)
    return values.reshape(head.columns, head.rows).T


def _header(source: Source) -> _Header:
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
            f"no matrix is `{form[:20]} {field[:20]} {symmetry[:20]}`", offset=banner_at
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
    return _Header(dense, field, symmetry, sizes[0], sizes[1], entries, offset, body)


def _entries(source: Source, head: _Header) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    from evener.io.graphs import pairs_kernels as kernels
    from evener.io.number_kernels import OK, OUT_OF_RANGE, TOO_FEW

    # An entry without a value takes four bytes: two digits, a space, the line's end.
    if 4 * head.entries > len(source.data) - head.body + text.SLACK:
        raise source.error(
            f"promises {head.entries:,} entries, more than the file can hold", offset=head.offset
        )
    rows, columns = np.empty(head.entries, np.int64), np.empty(head.entries, np.int64)
    values, unused = _VALUES[head.field], np.empty(0)

    def parse(start: int, stop: int, first: int, last: int, place: npt.NDArray[np.int64]) -> int:
        code: int = kernels.read_pairs(
            source.array,
            start,
            stop,
            2 + values,
            kernels.ENTRIES,
            (1, head.rows, head.columns),
            rows[first:last],
            columns[first:last],
            unused,
            place,
        )
        return code

    pieces = Pieces(source, head.body)
    if pieces.rows[-1] == head.entries and pieces.parse(parse) is not None:
        return rows, columns
    place = text.new_place()
    code = parse(head.body, len(source.data), 0, head.entries, place)
    if code == OK and place[1] < head.entries:
        code = TOO_FEW
    if code == OUT_OF_RANGE:
        raise source.error(
            f"the index {place[1]} is out of range: the matrix is {head.rows:,} x {head.columns:,}",
            offset=int(place[0]),
            hint="Rows and columns are counted from 1." if place[1] == 0 else None,
        )
    if code != OK:
        promised = f"{head.entries:,} entries"
        text.refuse(source, code, place, columns=2 + values, promised=promised)
    return rows, columns


def _dense_pattern(
    source: Source, head: _Header
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the rows and columns of a dense matrix's non-zeros; it is stored by columns."""
    n = head.rows
    if head.field == "pattern":
        raise source.error("an array cannot be a pattern", line=1)
    if head.symmetry == "general":
        columns, rows = np.divmod(np.flatnonzero(_array_values(source, head, n * n)), n)
        return rows, columns
    # The lower triangle, column after column; a skew matrix's without its diagonal.
    skew = int(head.symmetry == "skew-symmetric")
    held = n * (n + 1 - 2 * skew) // 2
    values = _array_values(source, head, held)
    lengths = np.arange(n - skew, -skew, -1)
    columns = np.repeat(np.arange(n), lengths)
    first = np.cumsum(lengths) - lengths
    rows = np.arange(held) - first[columns] + columns + skew
    kept = values != 0
    return rows[kept], columns[kept]


def _array_values(source: Source, head: _Header, count: int) -> FloatArray:
    """Return the `count` values of an array file; of complex ones the sum of magnitudes."""
    width = _VALUES[head.field]
    if 2 * count * width > len(source.data) - head.body + text.SLACK:
        raise source.error(
            f"promises {count:,} values, more than the file can hold", offset=head.offset
        )
    values = text.read_reals(source, head.body, width)
    if len(values) != count:
        raise source.error(
            f"holds {len(values):,} values where {count:,} are promised", offset=head.offset
        )
    return values[:, 0] if width == 1 else np.abs(values).sum(axis=1)


def write(graph: Graph) -> tuple[bytes, list[str]]:
    """Return a symmetric pattern, or a matrix of the edge weights where there are such."""
    u = np.repeat(np.arange(graph.n), graph.degrees)
    lower = u > graph.adjncy
    table = np.stack((u[lower] + 1, graph.adjncy[lower].astype(np.int64) + 1), axis=1)
    notes = []
    if graph.vwgt is not None:
        notes.append("The vertices' weights are not kept by this format.")
    if graph.labels is not None:
        notes.append("The vertices' labels are not kept by this format.")
    field, body = "pattern", b""
    if graph.adjwgt is None:
        body = text.table_text(table, " ")
    elif graph.adjwgt.dtype.kind == "i":
        field = "integer"
        body = text.table_text(np.column_stack((table, graph.adjwgt[lower])), " ")
    else:
        field = "real"
        pairs = text.table_text(table, " ").split(b"\n")[:-1]
        values = (repr(value).encode() for value in graph.adjwgt[lower].tolist())
        body = b"".join(a + b" " + b + b"\n" for a, b in zip(pairs, values, strict=True))
    head = f"%%MatrixMarket matrix coordinate {field} symmetric\n{graph.n} {graph.n} {len(table)}\n"
    return head.encode() + body, notes
