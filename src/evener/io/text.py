"""Calls the compiled text parsers and writers: allocates arrays, turns error codes into exceptions.

Large texts are cut at line ends and parsed by several threads (Pieces). The pieces depend only on
the text, and each piece fills its own rows, so the result does not depend on the number of threads.
If a piece has an error, or does not have exactly one row per line, a single thread reads again from
the first line and reports the first error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, NumberArray
from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.io.sources import Source
from evener.threads import cores
from evener.wording import plural

_INK = re.compile(rb"\S")
# Number of vertices that a header may state at any file size; more need two bytes each. No
# memory is reserved for larger counts.
_VERTICES_WITHOUT_PROOF = 5_000_000
# Entries by which a header's count may exceed what the file can hold: the parser then finds
# the line where entries are missing, which gives a better error message than the count.
SLACK = 2**16
PIECE = 2**22  # bytes per task of a thread; parsing them takes much longer than starting a task

# parse(first byte, past the last, first row, past the last, place) -> code; see text_kernels.
Parse = Callable[[int, int, int, int, npt.NDArray[np.int64]], int]
_NEWLINE = ord("\n")


def lines(source: Source, comments: bytes = b"", start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, stripped line) of lines that are not blank and not comments.

    comments: the bytes with which comment lines begin.
    """
    data = source.data
    while (ink := _INK.search(data, start)) is not None:
        start = data.rfind(b"\n", start, ink.start()) + 1 or start
        stop = after_line(source, start)
        line = data[start:stop].strip()
        if line[:1] not in (bytes([c]) for c in comments):
            yield start, line
        start = stop


def after_line(source: Source, offset: int) -> int:
    """Return the offset of the line after the line that contains `offset`."""
    stop = source.data.find(b"\n", offset)
    return len(source.data) if stop < 0 else stop + 1


def is_count(field: bytes) -> bool:
    """Return whether a field is a whole number, not negative, of at most 18 digits."""
    return field.isdigit() and len(field) <= 18


def integers_of(source: Source, offset: int, line: bytes, what: str) -> list[int]:
    """Return the whole numbers of a header line; raise InputError if it contains anything else."""
    numbers = []
    for field in line.split():
        digits = field[1:] if field[:1] in b"+-" else field
        if not digits.isdigit():
            raise source.error(f"{what} must be whole numbers, not {shown(field)}", offset=offset)
        if len(digits) > 18:
            raise source.error(f"the number {shown(field)} is too large", offset=offset)
        numbers.append(int(field))
    return numbers


def shown(field: bytes) -> str:
    """Quote a field of a line for an error message, at most 24 bytes of it."""
    text = field[:24].decode("utf-8", "replace")
    return repr(text if len(field) <= 24 else text + "...")


def check_vertices(source: Source, n: int, offset: int | None = None) -> None:
    """Raise InputError if n is 0, or too large for the size of the file."""
    if n < 1:
        raise source.error("has no vertex", offset=offset)
    if n > _VERTICES_WITHOUT_PROOF + source.extent // 2:
        raise source.error(
            f"declares {n:,} vertices, too many for a file of {source.extent:,} bytes",
            offset=offset,
        )


def count_lines(source: Source, start: int = 0) -> int:
    """Return the number of lines from `start` on; the last may lack a newline."""
    unended = start < len(source.data) and source.data[-1] != ord("\n")
    return source.data.count(b"\n", start) + int(unended)


def new_place() -> npt.NDArray[np.int64]:
    """Return an array (4,) for the place at which a parser stops: see text_kernels."""
    return np.zeros(4, np.int64)


def weights_of(values: FloatArray, place: npt.NDArray[np.int64]) -> NumberArray:
    """Return the weights as int64 if all are whole numbers (place[3] is 0), else unchanged."""
    return values if place[3] else values.astype(np.int64)


def read_reals(source: Source, start: int, n_columns: int) -> FloatArray:
    """Parse the table of numbers (rows, n_columns) that begins at byte `start`."""
    from evener.io import text_kernels as kernels
    from evener.io.number_kernels import OK

    # A number takes at least two bytes; rows of blank lines are cut off below.
    rows = min(count_lines(source, start), (len(source.data) - start) // (2 * n_columns) + 1)
    table = np.empty(rows * n_columns)
    place = new_place()
    code = kernels.read_table(source.array, start, n_columns, table, place)
    if code != OK:
        refuse(source, code, place, columns=n_columns)
    return table[: int(place[1]) * n_columns].reshape(-1, n_columns).copy()


def refuse(
    source: Source,
    code: int,
    place: npt.NDArray[np.int64],
    *,
    n: int = 0,
    columns: int = 0,
    promised: str = "",
) -> NoReturn:
    """Raise the InputError for a parser's error code and place.

    n: the largest vertex number; columns: fields required in each line; promised: the counts of the
    header, in words.
    """
    from evener.io import number_kernels as kernels

    offset, number = int(place[0]), int(place[1])
    field = _field_at(source.data, offset)
    reasons = {
        kernels.NOT_A_NUMBER: f"a number is needed, not {field}",
        kernels.OVERFLOW: f"the number {field} is too large",
        kernels.OUT_OF_RANGE: f"{number} is out of range: vertices are numbered 1 to {n}",
        kernels.NEGATIVE: f"the number {field} must not be negative",
        kernels.NOT_FINITE: f"the number {field} is not finite",
        kernels.TOO_MANY: f"there are more neighbours than the header declares: {promised}",
        kernels.TOO_FEW: f"the file ends after {number:,} of {promised}",
        kernels.COLUMNS: _columns(columns, number),
        kernels.LOOP: f"vertex {number} is its own neighbour: loops are not allowed",
        kernels.TOO_LONG: f"the file contains more than the header declares: {promised}",
        kernels.FEWER_EDGES: f"there are {number:,} neighbours, but the header declares {promised}",
    }
    hints = {
        kernels.LOOP: "Remove the vertex from its own list. If vertices are numbered from 0, add "
        "1 to all numbers.",
        kernels.TOO_FEW: "The file may be cut short: the header counts what must follow.",
        kernels.NEGATIVE: "Weights and counts must be >= 0.",
        kernels.NOT_FINITE: "Correct or remove the line: numbers must be finite.",
    }
    if code == kernels.OUT_OF_RANGE and number == 0:
        hints[code] = "This format numbers vertices from 1: add 1 to every vertex number."
    raise source.error(reasons[code], offset=min(offset, _last(source.data)), hint=hints.get(code))


def _columns(wanted: int, found: int) -> str:
    if not wanted:
        return "the line ends, but another number is needed"
    return f"the line has {plural(found, 'field')}; {wanted} are needed"


def _last(data: bytes) -> int:
    """Return the offset of the last byte that is not white space."""
    return max(0, len(data.rstrip()) - 1)


def _field_at(data: bytes, offset: int) -> str:
    words = data[offset : offset + 64].split(b"\n")[0].split()
    return shown(words[0]) if words else "the end of the line"


def refuse_graph(
    source: Source,
    arrays: dict[str, Any],
    error: InputError,
    *,
    base: int,
    line_of: Any = None,
) -> NoReturn:
    """Repeat a Graph's check and raise its InputError with the file's numbering and line number.

    arrays: the xadj, adjncy and adjwgt that Graph refused; base: the file's first vertex number;
    line_of(v): the offset of the line of vertex v.
    """
    from evener.graphs import graph_kernels as kernels

    xadj, adjncy = arrays["xadj"], arrays["adjncy"].copy()
    adjwgt, order = arrays.get("adjwgt"), np.empty(adjncy.size, np.int64)
    place = np.zeros(2, np.int64)
    code = kernels.check_entries(xadj, adjncy, place)
    if code == kernels.OK:
        kernels.sort_lists(xadj, adjncy, order)
        code = kernels.check_duplicates(xadj, adjncy, place)
    if code == kernels.OK:
        weights = np.empty(0, np.int64) if adjwgt is None else adjwgt[order]
        pointer = np.empty(xadj.size - 1, np.int64)
        code = kernels.check_symmetry(xadj, adjncy, weights, pointer, place)
    if code == kernels.OK:
        raise source.error(error.message, hint=error.hint) from error
    v, u = int(place[0]), int(place[1])
    reasons = {
        kernels.OUT_OF_RANGE: f"vertex {v + base} has neighbour {u + base}, which does not exist",
        kernels.LOOP: f"vertex {v + base} is its own neighbour: loops are not allowed",
        kernels.DUPLICATE: f"vertex {v + base} lists its neighbour {u + base} more than once",
        kernels.ASYMMETRIC: f"vertex {v + base} lists {u + base} as a neighbour, "
        "but not the other way round",
        kernels.WEIGHT: f"the edge between {v + base} and {u + base} has different weights "
        "at its two ends",
    }
    hints = {
        kernels.LOOP: "Remove the vertex from its own list.",
        kernels.DUPLICATE: "List each neighbour once; add up the weights of repeated edges.",
        kernels.ASYMMETRIC: f"Add {v + base} to the list of {u + base}, or remove {u + base} "
        f"from the list of {v + base}: every edge must be listed at both ends.",
        kernels.WEIGHT: "Give the edge the same weight in both lists.",
    }
    offset = None if line_of is None else line_of(v)
    raise source.error(reasons[code], offset=offset, hint=hints.get(code)) from error


def make_graph(source: Source, arrays: dict[str, Any], *, base: int, line_of: Any = None) -> Graph:
    """Return Graph(**arrays); errors number vertices as the file does, from `base`."""
    try:
        return Graph(**arrays)
    except InputError as error:
        refuse_graph(source, arrays, error, base=base, line_of=line_of)


class Pieces:
    """The text of `source` from byte `start` on, cut into pieces at line ends.

    rows (pieces + 1,): the number of lines before each piece, then the total.
    """

    def __init__(self, source: Source, start: int) -> None:
        end = len(source.data)
        bounds = [start]
        while bounds[-1] + PIECE < end:
            bounds.append(after_line(source, bounds[-1] + PIECE))
        if bounds[-1] < end or start == end:
            bounds.append(end)
        self._spans = list(pairwise(bounds))
        counts = self._in_threads(lambda i: _count_lines(source.array, *self._spans[i]))
        self.rows = [0, *np.cumsum(counts).tolist()]

    def parse(self, parse: Parse) -> npt.NDArray[np.int64] | None:
        """Parse all pieces in threads; return the element-wise maximum of the pieces' `place`.

        Returns None if a piece had an error, or lines without a row: blank lines or comments.
        """
        from evener.io.number_kernels import OK

        places = [new_place() for _ in self._spans]
        codes = self._in_threads(
            lambda i: parse(*self._spans[i], self.rows[i], self.rows[i + 1], places[i])
        )
        counts = [int(place[1]) for place in places]
        if any(code != OK for code in codes) or counts != np.diff(self.rows).tolist():
            return None
        most: npt.NDArray[np.int64] = np.max(places, axis=0)
        return most

    def _in_threads(self, work: Callable[[int], int]) -> list[int]:
        """Return [work(i) for each piece i], computed in threads."""
        numbers = range(len(self._spans))
        if len(numbers) == 1:
            return [work(0)]
        with ThreadPoolExecutor(cores()) as pool:
            return list(pool.map(work, numbers))


def _count_lines(data: npt.NDArray[np.uint8], start: int, stop: int) -> int:
    """Return the number of lines in data[start:stop]; the last may lack a newline."""
    # NumPy compares and counts many bytes at once; a block of them stays in the cache.
    blocks = range(start, stop, 2**18)
    ends = sum(np.count_nonzero(data[i : min(i + 2**18, stop)] == _NEWLINE) for i in blocks)
    return int(ends) + int(stop > start and data[stop - 1] != _NEWLINE)


def whole(values: npt.NDArray[Any] | None, what: str) -> npt.NDArray[np.int64]:
    """Return the weights as int64; an empty array if `values` is None.

    Raises InputError for values that the text format cannot restore: fractions, and whole numbers
    that a double cannot represent.
    """
    if values is None:
        return np.empty(0, np.int64)
    if values.dtype.kind == "f" and (values != np.rint(values)).any():
        raise InputError(
            f"the format stores only whole numbers, but {what} are not all whole",
            hint="`.npz` stores them exactly.",
        )
    if (values.astype(np.float64).astype(values.dtype) != values).any():
        raise InputError(
            f"the format cannot store whole numbers above 2^53 exactly, but {what} are larger",
            hint="`.npz` stores them exactly.",
        )
    return np.ascontiguousarray(values.ravel(), np.int64)


def table_text(table: npt.NDArray[np.int64], separator: str) -> bytes:
    """Return the (rows, c) table as lines of text."""
    from evener.io import text_kernels as kernels

    step = 2**20
    buffer = np.empty(min(step, len(table)) * table.shape[1] * (kernels.WIDTH + 1) + 1, np.uint8)
    pieces = []
    for first in range(0, len(table), step):
        part = np.ascontiguousarray(table[first : first + step])
        pieces.append(buffer[: kernels.put_columns(part, ord(separator), buffer)].tobytes())
    return b"".join(pieces)


def lists_text(graph: Graph, *, base: int, with_degree: bool, edge_first: bool) -> bytes:
    """Return a line of text per vertex: weights, degree if requested, neighbours with weights."""
    from evener.io import text_kernels as kernels

    vwgt, adjwgt = whole(graph.vwgt, "vertex weights"), whole(graph.adjwgt, "edge weights")
    n_weights = 0 if graph.vwgt is None else graph.n_constraints
    pieces = []
    for first, last in _ranges(graph):
        numbers = (last - first) * (2 + n_weights) + 2 * int(graph.xadj[last] - graph.xadj[first])
        buffer = np.empty(numbers * (kernels.WIDTH + 1), np.uint8)
        size = kernels.put_lists(
            first,
            last,
            graph.xadj,
            graph.adjncy,
            base,
            with_degree,
            vwgt,
            n_weights,
            adjwgt,
            edge_first,
            buffer,
        )
        pieces.append(buffer[:size].tobytes())
    return b"".join(pieces)


def _ranges(graph: Graph) -> list[tuple[int, int]]:
    """Return ranges of vertices with about 2^20 adjacency entries each, to keep buffers small."""
    marks = np.arange(0, graph.adjncy.size + graph.n, 2**20)
    cuts = np.unique(np.searchsorted(graph.xadj[:-1] + np.arange(graph.n), marks))
    bounds = [*cuts.tolist(), graph.n]
    return [(a, b) for a, b in pairwise(bounds) if a < b]
