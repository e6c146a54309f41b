"""Lists of pairs of whole numbers, one per line, and matrices given by the pairs of their entries.

`recognises` and `read` are for plain triplets: `row column [value]` per line, without a header,
numbered from 0 or from 1 (CSparse).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, NumberArray
from evener.errors import InputError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.io import text
from evener.io.entries import Entries, unfit_for_weights, whole_where_all_are
from evener.io.sources import Source
from evener.io.text import Pieces
from evener.wording import plural

_NO_LIMITS = (-(2**63), 2**63 - 1, 2**63 - 1)
_BREAKS = bytes.maketrans(b",;|", b"   ")


@dataclass(frozen=True)
class Pairs:
    """The pairs (u, v) of a file, and the numbers in its last column if they are kept."""

    u: npt.NDArray[np.int64]
    v: npt.NDArray[np.int64]
    weights: NumberArray | None


@dataclass(frozen=True)
class Layout:
    """Where the lines begin, their number of fields, and whether they begin with whole numbers.

    header: the numbers in a header line, which states counts; empty if there is none.
    """

    start: int
    n_columns: int
    numbered: bool
    first: bytes
    header: tuple[int, ...] = ()


def layout_of(source: Source) -> Layout | None:
    """Return the layout, judging by the first lines; words above lines of numbers are a header."""
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


def below_header(source: Source, layout: Layout, *, matrix: bool) -> Layout:
    """Return the layout without the first line if that line is a header, and add a note.

    A header counts the lines below it and, for a matrix, rows and columns: `rows columns entries`;
    for an edge list: `vertices edges`, or the same as for a square matrix. If the line could also
    be the first edge, it is taken as an edge.
    """
    fields = fields_of(layout.first)
    if not layout.numbered or not all(map(text.is_count, fields[:3])):
        return layout
    start = text.after_line(source, layout.start)
    below = next(text.lines(source, b"#%", start), None)
    numbers = [int(field) for field in fields[:3]]
    if below is None or not begins_with_numbers(below[1]) or numbers[-1] != _rows(source, start):
        return layout
    found = Layout(start, len(fields_of(below[1])), True, below[1], header=tuple(numbers))
    pairs = read_pairs(source, found, matrix=True)
    base = min(int(pairs.u.min()), int(pairs.v.min()), 1)
    rows, columns = (int(ends.max()) + 1 - base for ends in (pairs.u, pairs.v))
    if len(numbers) == 3:
        fits = numbers[0] >= rows and numbers[1] >= columns
        fits = fits and (matrix or numbers[0] == numbers[1])
        what = f"{numbers[0]:,} rows, {numbers[1]:,} columns and {numbers[2]:,} entries"
    else:
        n, m = numbers
        fits = n == max(rows, columns) and (m == n or m > n + 1 or found.n_columns != len(fields))
        what = f"{n:,} vertices and {m:,} edges"
    if not fits:
        return layout
    source.notes.append(f"Line {source.line_at(layout.start)} is a header: {what}.")
    return found


def may_have_header(window: Source, layout: Layout) -> bool:
    """Return whether the first line may be a header; only the file's beginning is known."""
    if len(window.data) == window.extent:
        whole = Source(window.path, window.name, window.data, "")
        return below_header(whole, layout, matrix=False) is not layout
    fields = fields_of(layout.first)[:3]
    if not layout.numbered or not all(map(text.is_count, fields)):
        return False
    rows = _rows(window, layout.start) * (window.extent / len(window.data))
    return 0.5 * rows < int(fields[-1]) < 2 * rows


def _rows(source: Source, start: int) -> int:
    """Return the number of lines from `start` on that are neither blank nor comments."""
    body = b"\n" + source.data[start:].strip()
    comments = sum(body.count(mark) for mark in (b"\n%", b"\n#", b"\n\n", b"\n\r\n"))
    return body.count(b"\n") - comments


def fields_of(line: bytes) -> list[bytes]:
    """Return the fields of a line, up to a brace (networkx's empty data)."""
    return line.split(b"{")[0].translate(_BREAKS).split()


def begins_with_numbers(line: bytes) -> bool:
    """Return whether the first two fields are whole numbers."""
    fields = fields_of(line)[:2]
    return len(fields) == 2 and all(f.removeprefix(b"-").isdigit() for f in fields)


def read_pairs(source: Source, layout: Layout, *, matrix: bool, with_values: bool = False) -> Pairs:
    """Return the pairs of all lines; further columns of a matrix are checked.

    with_values: keep the third column of a matrix, numbers of any sign, as weights.
    """
    pieces = Pieces(source, layout.start)
    # A line takes at least four bytes: two digits, a blank, the line's end.
    rows = min(pieces.rows[-1], (len(source.data) - layout.start) // 4 + 1)
    weighted = layout.n_columns > 2 and (with_values or not matrix)
    u, v = np.empty(rows, np.int64), np.empty(rows, np.int64)
    w: FloatArray = np.empty(rows if weighted else 0)

    def parse(start: int, stop: int, first: int, last: int, place: npt.NDArray[np.int64]) -> int:
        into = u[first:last], v[first:last], w[first:last]
        return parse_pairs(source, layout, matrix, (start, stop), into, place)

    place = pieces.parse(parse) if pieces.rows[-1] == rows else None
    if place is None:
        place = text.new_place()
        code = parse(layout.start, len(source.data), 0, rows, place)
        if code:
            refuse_pairs(source, layout, code, place)
        rows = int(place[1])
    weights: NumberArray | None = w[:rows] if weighted else None
    if weighted and not matrix:
        weights = text.weights_of(w[:rows], place)
    return Pairs(u[:rows], v[:rows], weights)


def parse_pairs(
    source: Source,
    layout: Layout,
    matrix: bool,
    span: tuple[int, int],
    into: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], FloatArray],
    place: npt.NDArray[np.int64],
) -> int:
    """Parse the bytes of `span` into u, v and w; return the parser's code, 0 for success."""
    from evener.io.graphs import pairs_kernels as kernels

    form = kernels.TRIPLETS if matrix else kernels.EDGES
    code: int = kernels.read_pairs(
        source.array, *span, layout.n_columns, form, True, _NO_LIMITS, *into, place
    )
    return code


def refuse_pairs(
    source: Source, layout: Layout, code: int, place: npt.NDArray[np.int64]
) -> NoReturn:
    """Raise the InputError that belongs to an error code of a parser."""
    from evener.io.number_kernels import COLUMNS

    if code == COLUMNS:
        raise source.error(
            f"the line has {plural(int(place[1]), 'field')}; the lines before have "
            f"{layout.n_columns}",
            offset=int(place[0]),
        )
    text.refuse(source, code, place)


def check_square(source: Source, rows: int, columns: int, offset: int | None = None) -> None:
    """Raise InputError for a rectangular matrix: its rows and columns are different vertices."""
    if rows != columns:
        coordinates = "If these are coordinates, give them to a graph by --coords FILE."
        product = (
            "Use A A^T or A^T A, depending on the computation; `evener split --as "
            "matrix` divides the entries themselves."
        )
        raise source.error(
            f"is a rectangular matrix, {rows:,} x {columns:,}: only a square matrix is a graph",
            offset=offset,
            hint=coordinates if columns in (2, 3) else product,
        )
    text.check_vertices(source, rows, offset)


def graph_of_pattern(
    source: Source, n: int, rows: IntArray, columns: IntArray, *, halved: bool
) -> Graph:
    """Return the graph of A + A^T; add notes on entries left out or merged.

    halved: whether the file contains only one triangle of a symmetric, skew or hermitian matrix.
    """
    graph = Graph.from_edges(n, rows, columns)
    diagonal = int(np.count_nonzero(rows == columns))
    other = rows.size - diagonal
    entries = diagonal + (2 * other if halved else other)
    source.notes.extend(notes_of_pattern(entries, diagonal, 2 * graph.m))
    return graph


def notes_of_pattern(entries: int, diagonal: int, arcs: int) -> list[str]:
    """Return the notes on a matrix with `diagonal` of its entries on the diagonal.

    arcs: number of entries of the pattern of A + A^T without its diagonal.
    """
    note = f"A matrix of {entries:,} entries: its values are ignored"
    notes = [note + (f", the {diagonal:,} on the diagonal are left out." if diagonal else ".")]
    added = arcs - (entries - diagonal)
    if added > 0:
        notes.append(
            f"Its pattern is not symmetric: Evener uses the pattern of A + A^T ({added:,} "
            "entries added)."
        )
    return notes


def arcs_of_entries(
    source: Source,
    n: int,
    rows: IntArray,
    columns: IntArray,
    values: npt.NDArray[Any] | None,
    *,
    symmetry: str = "general",
) -> DirectedGraph:
    """Return the graph with an arc from i to j for each entry (i, j) of a matrix of n rows.

    values (entries,): the weights of the arcs, unless some value cannot be a weight; None for a
    pattern. symmetry: how the omitted triangle follows from the stored triangle, as a Matrix Market
    symmetry. Repeated entries are added up. Adds notes on entries left out.
    """
    off = rows != columns
    diagonal = int(off.size - np.count_nonzero(off))
    tails, heads = rows[off], columns[off]
    values = None if values is None else values[off]
    if symmetry != "general":
        tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
        if values is not None:
            other = -values if symmetry == "skew-symmetric" else values
            values = np.concatenate([values, other])
    unfit, valued = "" if values is None else unfit_for_weights(values), values is not None
    values = None if unfit else values
    weights = None if values is None else whole_where_all_are(values)
    graph = DirectedGraph.from_arcs(n, tails, heads, weights=weights)
    entries = diagonal + tails.size
    source.notes.extend(notes_of_arcs(entries, diagonal, graph.m, unfit, valued=valued))
    if graph.m < tails.size and values is not None:
        return _added_up(n, tails, heads, values)
    return graph


def notes_of_arcs(entries: int, diagonal: int, arcs: int, unfit: str, *, valued: bool) -> list[str]:
    """Return the notes on a matrix whose entries are arcs.

    unfit: why its values cannot be weights; valued: whether it has values.
    """
    note = f"A matrix of {entries:,} entries, each an arc from its row to its column"
    if valued:
        note += f"; its values are ignored: {unfit}" if unfit else " whose weight is its value"
    if diagonal:
        note += f"; the {diagonal:,} on the diagonal are left out"
    repeated = entries - diagonal - arcs
    more = [f"{repeated:,} entries appear more than once and are added up."] if repeated else []
    return [note + ".", *more]


def _added_up(n: int, tails: IntArray, heads: IntArray, values: npt.NDArray[Any]) -> DirectedGraph:
    """Return the graph in which equal arcs are merged and their weights added up."""
    from scipy.sparse import coo_array

    matrix = coo_array((values, (tails, heads)), shape=(n, n))
    matrix.sum_duplicates()
    weights = whole_where_all_are(matrix.data)
    return DirectedGraph.from_arcs(n, matrix.row, matrix.col, weights=weights)


def recognises(source: Source) -> bool:
    """Return whether suffix and lines fit; without the suffix, the lines could be an edge list."""
    if source.suffix not in {".triplet", ".triplets", ".tri", ".ijv", ".mtx"} or not source.is_text:
        return False
    layout = layout_of(source)
    return layout is not None and layout.numbered and 2 <= layout.n_columns <= 4


def read(source: Source, *, directed: bool = False) -> Graph | DirectedGraph:
    """Return the graph of A + A^T; the largest index determines the number of rows.

    directed: the arcs of A, with the third column, if there is one, as weights.
    """
    found = entries(source, with_values=directed)
    n = max(found.n_rows, found.n_columns)
    source.notes[-1] = f"{source.notes[-1][:-1]}: {n:,} rows."
    if directed:
        return arcs_of_entries(source, n, found.rows, found.columns, found.values)
    return graph_of_pattern(source, n, found.rows, found.columns, halved=False)


def entries(source: Source, *, with_values: bool = False) -> Entries:
    """Return the stored entries; the largest indices determine the numbers of rows and columns."""
    layout = layout_of(source)
    if layout is not None:
        layout = below_header(source, layout, matrix=True)
    if layout is None or not 2 <= layout.n_columns <= 4:
        raise source.error("the lines must be `row column [value]`")
    try:
        kept = with_values and layout.n_columns == 3
        pairs = read_pairs(source, layout, matrix=True, with_values=kept)
    except InputError as error:
        if source.suffix != ".mtx":
            raise
        hint = "Matrix Market files begin with %%MatrixMarket; this one was read as plain triplets."
        raise InputError(error.message, file=error.file, line=error.line, hint=hint) from error
    smallest = int(min(pairs.u.min(), pairs.v.min()))
    if smallest < 0:
        raise source.error(f"the index {smallest} must not be negative")
    base = min(smallest, 1)
    rows, columns = (int(ends.max()) + 1 - base for ends in (pairs.u, pairs.v))
    if len(layout.header) == 3:
        rows, columns = layout.header[:2]
    text.check_vertices(source, max(rows, columns))
    source.notes.append(f"Triplets without a header, numbered from {base}.")
    return Entries(rows, columns, pairs.u - base, pairs.v - base, pairs.weights)
