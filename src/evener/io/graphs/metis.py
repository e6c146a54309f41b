"""METIS graph files, also Chaco's and DIMACS10's: a header, then one line per vertex.

Header: n m [fmt [ncon]]. fmt has up to three digits: 1.. vertex sizes, .1. vertex weights (ncon of
them), ..1 edge weights. Lines that begin with % are comments; a blank line is a vertex without
edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np

from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.io import text
from evener.io.graphs.streams import ArcPiece, Tally, TextStream, WholeNeeded, Window, both_ways
from evener.io.sources import Source

_SUFFIXES = {".graph", ".metis", ".chaco"}


@dataclass(frozen=True)
class MetisHeader:
    """n, m, which weights a line contains, and offsets of the header and of the line after it."""

    n: int
    m: int
    has_sizes: bool
    n_weights: int
    has_edge_weights: bool
    offset: int
    body: int

    @property
    def promise(self) -> str:
        """The header's counts in words."""
        return f"{self.n:,} vertices and {self.m:,} edges"


def recognises(source: Source) -> bool:
    """Return whether a header comes first; without METIS's suffix it must fit the lines below."""
    found = next(text.lines(source, b"%"), None)
    if found is None or not source.is_text:
        return False
    offset, line = found
    fields = line.split()
    if not 2 <= len(fields) <= 4 or not all(field.isdigit() for field in fields):
        return False
    if source.suffix in _SUFFIXES:
        return True
    if not all(map(text.is_count, fields)):
        return False
    if set(b"".join(fields[2:3])) - set(b"01") or int(b"".join(fields[3:]) or b"0") > 99:
        return False  # neither flags nor a number of weights
    body = source.data[text.after_line(source, offset) :]
    n = int(fields[0])
    rows = body.rstrip(b"\n").count(b"\n") + 1 - body.count(b"\n%") - body.startswith(b"%")
    if not 0 < rows <= n <= rows + body.count(b"\n"):
        return False
    # The number of lines may agree by chance; the number of neighbours does not.
    return len(fields) > 2 or len(body) > 2**24 or len(body.split()) == 2 * int(fields[1])


def read(source: Source) -> Graph:
    """Return the graph; vertex sizes are skipped, with a note."""
    from evener.io.graphs import lists_kernels as kernels
    from evener.io.number_kernels import OK

    head = header_of(source)
    _check_counts(source, head)
    xadj = np.empty(head.n + 1, np.int64)
    adjncy = np.empty(2 * head.m, np.int32 if head.n < 2**31 else np.int64)
    vwgt = np.empty(head.n * head.n_weights)
    adjwgt = np.empty(2 * head.m if head.has_edge_weights else 0)
    place = text.new_place()
    code = kernels.read_metis(
        source.array, head.body, head.n, 0, int(head.has_sizes), head.n_weights,
        head.has_edge_weights, xadj, adjncy, vwgt, adjwgt, place,
    )  # fmt: skip
    if code != OK:
        _refuse(source, code, place, head)
    arrays: dict[str, Any] = {"xadj": xadj, "adjncy": adjncy}
    if head.n_weights:
        weights = text.weights_of(vwgt, place)
        arrays["vwgt"] = weights.reshape(head.n, head.n_weights)
    if head.has_edge_weights:
        arrays["adjwgt"] = text.weights_of(adjwgt, place)
    source.notes.extend(skipped(head))
    return text.make_graph(
        source,
        arrays,
        base=1,
        line_of=lambda v: kernels.line_of_vertex(source.array, head.body, v),
    )


def header_of(source: Source) -> MetisHeader:
    """Parse the header. Raises InputError."""
    found = next(text.lines(source, b"%"), None)
    if found is None:
        raise source.error("contains only comments")
    offset, line = found
    numbers = text.integers_of(source, offset, line, "the header's n, m, fmt and ncon")
    if not 2 <= len(numbers) <= 4 or min(numbers) < 0:
        raise source.error(
            "the header must be `n m [fmt [ncon]]`, without negative numbers", offset=offset
        )
    n, m = numbers[:2]
    flags = line.split()[2].decode().zfill(3) if len(numbers) > 2 else "000"
    if len(flags) > 3 or set(flags) - {"0", "1"}:
        raise source.error(
            f"fmt must have up to three digits, each 0 or 1, not {flags}", offset=offset
        )
    n_weights = 0
    if flags[1] == "1":
        n_weights = numbers[3] if len(numbers) > 3 else 1
        if n_weights < 1:
            raise source.error("ncon must be at least 1 where fmt has weights", offset=offset)
    body = text.after_line(source, offset)
    return MetisHeader(n, m, flags[0] == "1", n_weights, flags[2] == "1", offset, body)


def skipped(head: MetisHeader) -> list[str]:
    """Return the note on data in the file that the graph does not contain."""
    said = "Vertex sizes (fmt 1..) are ignored: each vertex counts as one value of communication."
    return [said] if head.has_sizes else []


def _check_counts(source: Source, head: MetisHeader) -> None:
    """Raise InputError if the file is too small for its counts, before memory is reserved."""
    rows = text.count_lines(source, head.body)
    if head.n > rows:
        text.check_vertices(source, head.n, head.offset)
        raise source.error(
            f"the header declares {head.n:,} vertices, but {rows:,} lines follow",
            offset=head.offset,
        )
    check_extent(source, head)


def check_extent(source: Source, head: MetisHeader) -> None:
    """Raise InputError if the file has too few bytes for its counts."""
    text.check_vertices(source, head.n, head.offset)
    rest = source.extent - head.body + text.SLACK
    per_edge = 4 if head.has_edge_weights else 2
    if 2 * head.m * per_edge > rest or head.n * head.n_weights * 2 > rest:
        raise source.error(
            f"the header declares {head.promise}, too many for its size",
            offset=head.offset,
        )


def _refuse(source: Source, code: int, place: Any, head: MetisHeader) -> None:
    from evener.io.number_kernels import FEWER_EDGES

    promised = head.promise
    if code == FEWER_EDGES:
        raise wrong_count(source, head, int(place[1]))
    text.refuse(source, code, place, n=head.n, promised=promised)


def wrong_count(source: Source, head: MetisHeader, found: int) -> InputError:
    """Return the error for lists whose number of neighbours differs from the header's."""
    return source.error(
        f"the header declares {head.m:,} edges, but the lists contain {found:,} neighbours, "
        f"not {2 * head.m:,}",
        offset=head.offset,
        hint="The header counts each edge once; the lists contain it at both its ends.",
    )


def stream(head: Window, *, directed: bool) -> MetisStream:
    """Return the file's arcs as a stream. Raises InputError for a wrong header, and WholeNeeded."""
    if head.suffix not in _SUFFIXES:
        raise WholeNeeded("its suffix is not a suffix of METIS files")
    found = header_of(head)
    text_of_arcs = {
        "directed": directed,
        "repeats": "refused",
        "weighted": found.has_edge_weights,
        "vertices_weigh": found.n_weights > 0,
    }
    return MetisStream(head, found.n, **text_of_arcs, start=found.body, header=found)  # type: ignore[arg-type]


@dataclass
class MetisStream(TextStream):
    """A METIS file in pieces; rows (n_pieces + 1,): number of vertices before each piece."""

    header: MetisHeader = None  # type: ignore[assignment]
    rows: list[int] = field(default_factory=list)

    def survey(self, piece: int) -> int:
        """Return the number of vertex lines in a piece, including blank lines at the end."""
        (window,) = self.windows(piece, piece + 1)
        data = window.data
        lines = data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
        if b"%" not in data:  # searching for one byte is much faster than for two
            return lines
        return lines - data.count(b"\n%") - data.startswith(b"%")

    def surveyed(self, rows: Sequence[int]) -> None:
        """Store the line counts of all pieces. Raises InputError for fewer lines than vertices."""
        self.rows = [0, *accumulate(rows)]
        if self.rows[-1] < self.n:
            raise self.source.error(
                f"the header declares {self.n:,} vertices, but {self.rows[-1]:,} lines follow",
                offset=self.header.offset,
            )

    def read(self, first: int, last: int) -> Iterator[tuple[ArcPiece, Tally]]:
        """Yield the arcs of pieces first to last - 1."""
        for window, begin, end in zip(
            self.windows(first, last), self.rows[first:], self.rows[first + 1 :], strict=False
        ):
            yield self._parsed(window, begin, min(end, self.n))

    def _parsed(self, window: Window, begin: int, end: int) -> tuple[ArcPiece, Tally]:
        """Return the arcs of vertices begin to end - 1, whose lines make up the window."""
        from evener.io.graphs import lists_kernels as kernels
        from evener.io.number_kernels import FEWER_EDGES, OK

        head, most = self.header, len(window.data) // 2 + 1
        xadj = np.empty(max(end - begin, 0) + 1, np.int64)
        adjncy = np.empty(most, np.int32 if self.n < 2**31 else np.int64)
        vwgt = np.empty((xadj.size - 1) * head.n_weights)
        adjwgt, place = np.empty(most if self.weighted else 0), text.new_place()
        code = kernels.read_metis(
            window.array, 0, head.n, begin, int(head.has_sizes), head.n_weights,
            head.has_edge_weights, xadj, adjncy, vwgt, adjwgt, place,
        )  # fmt: skip
        if code not in (OK, FEWER_EDGES):
            text.refuse(window, code, place, n=head.n, promised=head.promise)
        count = int(xadj[-1])
        tails = np.repeat(
            np.arange(begin, begin + xadj.size - 1, dtype=adjncy.dtype), np.diff(xadj)
        )
        weights = adjwgt[:count] if self.weighted else None
        # If only vertex weights have fractions, edge weights become float64 as well.
        return ArcPiece(tails, adjncy[:count], weights), Tally(count, fractional=bool(place[3]))

    def finish(self, seen: Tally) -> None:
        """Check the number of neighbours against the header."""
        if seen.lines != 2 * self.header.m:
            raise wrong_count(self.source, self.header, seen.lines)
        self.notes += skipped(self.header)
        if self.directed:
            self.notes.append(both_ways(self.header.m))


def write(graph: Graph) -> tuple[bytes, list[str]]:
    """Return the file's text; raise InputError if weights are not whole numbers."""
    has_edge_weights = graph.adjwgt is not None and graph.m > 0
    flags = f"0{int(graph.vwgt is not None)}{int(has_edge_weights)}"
    header = f"{graph.n} {graph.m}"
    if flags != "000":
        header += f" {flags}"
    if graph.n_constraints > 1:
        header += f" {graph.n_constraints}"
    body = text.lists_text(graph, base=1, with_degree=False, edge_first=False)
    return f"{header}\n".encode() + body, _left_out(graph)


def _left_out(graph: Graph) -> list[str]:
    if graph.first_label in (0, 1):  # the format counts from 1, for any numbering of the input
        return []
    return ["This format does not store vertex labels."]
