"""Reads and writes edge lists: lines `u v [weight]` (SNAP, networkx, CSV with optional header).

The vertices are the whole numbers in the list, in ascending order, or the names in the list, in
order of first appearance. They become Graph.labels unless they are 0 to n - 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray, NumberArray
from evener.errors import InputError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.io import text
from evener.io.entries import Entries
from evener.io.graphs.pairs import (
    Layout,
    Pairs,
    begins_with_numbers,
    below_header,
    fields_of,
    layout_of,
    may_have_header,
    parse_pairs,
    read_pairs,
    refuse_pairs,
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
from evener.wording import plural

_SUFFIXES = {".csv", ".tsv", ".edgelist", ".edges", ".el", ".snap"}
_HEADINGS = {
    *(b"source target from to src dst u v id1 id2 id_1 id_2 node1 node2 node_1 node_2".split()),
    *(b"fromnodeid tonodeid weight start end tail head".split()),
}
# The attributes of an edge as networkx writes them; their names; the weight among them.
_BRACES = re.compile(rb"[ \t,;]*\{([^{}\n]*)\}")
_FILLED = re.compile(rb"\{[^{}\n]+\}")
_KEY = re.compile(rb"[{,]?\s*['\"]([^'\"]{1,40})['\"]\s*:")
_WEIGHT = re.compile(rb"['\"]weight['\"]\s*:\s*([^\s,}]+)")
# Fields that are read correctly without quotes: no separator, comment or quote at the beginning.
_BARE = re.compile(r"""[^\s,"#%]([^,]*[^\s,])?""")


def recognises(source: Source) -> bool:
    """Return whether lines have two or three whole numbers, or an edge list's suffix."""
    layout = layout_of(source)
    if layout is None or not source.is_text:
        return False
    if source.suffix in _SUFFIXES:
        return len(fields_of(layout.first)) >= 2
    if not layout.numbered or layout.n_columns not in (2, 3):
        return False
    return all(begins_with_numbers(line) for line in _first(source, layout.start))


def read(source: Source, *, directed: bool = False) -> Graph | DirectedGraph:
    """Return the graph; loops are dropped and repeated edges merged, with notes.

    directed: each line is an arc from its first vertex to its second.
    """
    found = entries(source)
    fields: dict[str, Any] = {} if found.labels is None else {"labels": found.labels}
    make = DirectedGraph.from_arcs if directed else Graph.from_edges
    graph = make(found.n_rows, found.rows, found.columns, weights=found.values, **fields)
    loops = int(np.count_nonzero(found.rows == found.columns))
    merged = found.m - loops - graph.m
    weighted = found.values is not None
    source.notes.extend(said_of_lines(loops, merged, weighted=weighted, directed=directed))
    return graph


def entries(source: Source, *, with_values: bool = True) -> Entries:  # noqa: ARG001 - kept if any
    """Return the lines in file order, including loops and repetitions."""
    layout = layout_of(source)
    if layout is not None and b"{" in layout.first:
        source = _with_weights(source)
        layout = layout_of(source)
    if layout is None:
        raise source.error("contains only comments")
    _note_column(source, layout)
    return _numbered(source, layout) if layout.numbered else _named(source, layout)


def _with_weights(source: Source) -> Source:
    """Convert networkx's lines `u v {'weight': 3}` to lines `u v 3`; return a new source.

    If only some edges have a weight, the other edges get 1, as in networkx. Adds a note on
    attributes left out.
    """
    keys = set(_KEY.findall(b"\n".join(_BRACES.findall(source.data))))
    weighted = b"weight" in keys
    if left_out := sorted(key.decode("utf-8", "replace") for key in keys - {b"weight"}):
        source.notes.append(f"Attributes of edges are not read: {', '.join(left_out[:5])}.")

    def weight(match: re.Match[bytes]) -> bytes:
        found = _WEIGHT.search(match[1])
        without[0] += found is None
        return b" " + (found[1] if found else b"1") if weighted else b""

    without = [0]
    data = _BRACES.sub(weight, source.data)
    if weighted and without[0]:
        source.notes.append(f"{without[0]:,} edges have no weight; each gets weight 1.")
    return Source(source.path, source.name, data, source.sha256, notes=source.notes)


def _note_column(source: Source, layout: Layout) -> None:
    """Add a note if the heading of the third column is not a usual name of a weight."""
    heading = source.data[: layout.start].rstrip().rsplit(b"\n", 1)[-1].lstrip(b"#% \t")
    words = [word.strip(b"\"'") for word in fields_of(heading)]
    if layout.n_columns == len(words) == 3 and words[0].lower() in _HEADINGS:
        name = words[2].decode("utf-8", "replace")
        if name.lower() not in ("weight", "w", "value"):
            source.notes.append(f"The column {name[:40]!r} is read as edge weights.")


def _first(source: Source, start: int) -> list[bytes]:
    rows = text.lines(source, b"#%", start)
    return [line for _, (_, line) in zip(range(4), rows, strict=False)]


def _numbered(source: Source, layout: Layout) -> Entries:
    layout = below_header(source, layout, matrix=False)
    check_columns(source, layout)
    pairs = read_pairs(source, layout, matrix=False)
    u, v, ids = _relabelled(pairs.u, pairs.v)
    labels = None
    if ids[0] != 0 or ids[-1] != ids.size - 1:
        labels = ids
        gaps = int(ids[-1]) - int(ids[0]) + 1 - ids.size
        source.notes.append(said_of_names(int(ids[0]), int(ids[-1]), gaps))
    return Entries(ids.size, ids.size, u, v, pairs.weights, labels)


def pairs_in(window: Window, layout: Layout) -> tuple[Pairs, bool]:
    """Return the lines in a window, and whether some weight is not a whole number.

    Weights are float64.
    """
    most, place = lines_at_most(window), text.new_place()
    u, v = np.empty(most, np.int64), np.empty(most, np.int64)
    w = np.empty(most if layout.n_columns == 3 else 0)
    code = parse_pairs(window, layout, False, (0, len(window.data)), (u, v, w), place)
    if code:
        refuse_pairs(window, layout, code, place)
    count = int(place[1])
    return Pairs(u[:count], v[:count], w[:count] if w.size else None), bool(place[3])


def check_columns(source: Source, layout: Layout) -> None:
    """Raise InputError unless lines have two or three fields."""
    if layout.n_columns not in (2, 3):
        raise source.error(
            f"each line must be `u v [weight]`, but this line has {layout.n_columns} fields",
            offset=layout.start,
        )


def said_of_names(first: int, last: int, gaps: int) -> str:
    """Return the note on vertex numbers from `first` to `last`; `gaps`: how many do not occur."""
    unused = plural(gaps, "number") + " unused"
    what = f"with {unused}" if gaps else f"counted from {first}"
    return f"Vertices are named {first} to {last}, {what}; labels store the names."


def said_of_lines(loops: int, merged: int, *, weighted: bool, directed: bool) -> list[str]:
    """Return the notes on the numbers of lines left out and merged."""
    notes = []
    if loops:
        lines = plural(loops, "line joins", "lines join")
        notes.append(f"{lines} a vertex with itself (left out).")
    if merged:
        which = "; the first weight counts" if weighted else ""
        what = "an arc" if directed else "an edge, in this or the other direction"
        lines = plural(merged, "line repeats", "lines repeat")
        notes.append(f"{lines} {what} (merged{which}).")
    return notes


def _relabelled(
    u: npt.NDArray[np.int64], v: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return u, v renumbered 0 to n - 1 in ascending order of the ids, and the ids (n,)."""
    low, high = int(min(u.min(), v.min())), int(max(u.max(), v.max()))
    if high - low <= 16 * u.size + 1024:
        used = np.zeros(high - low + 1, np.bool_)
        used[u - low] = True
        used[v - low] = True
        ids = np.flatnonzero(used) + low
        if ids.size == used.size:
            return u - low, v - low, ids
        number = np.cumsum(used) - 1
        return number[u - low], number[v - low], ids
    ids, numbers = np.unique(np.concatenate((u, v)), return_inverse=True)
    return numbers[: u.size], numbers[u.size :], ids


def _named(source: Source, layout: Layout) -> Entries:
    from evener.io.graphs import pairs_kernels as kernels
    from evener.io.number_kernels import OK

    separator = next((mark for mark in b"\t,;" if mark in layout.first), 0)
    start = layout.start
    n_columns = _n_fields(source, start, separator)
    if all(f.strip(b'"').lower() in _HEADINGS for f in fields_of(layout.first)):
        start = text.after_line(source, start)
    if n_columns not in (2, 3):
        raise source.error(
            f"each line must be `u v [weight]`, but this line has {n_columns} fields", offset=start
        )
    rows = min(text.count_lines(source, start), (len(source.data) - start) // 4 + 1)
    size = 1 << (4 * rows).bit_length()
    table = np.full(size, -1, np.int32 if size < 2**31 else np.int64)
    first, last = np.empty(2 * rows, np.int64), np.empty(2 * rows, np.int64)
    u, v = np.empty(rows, np.int64), np.empty(rows, np.int64)
    w = np.empty(rows if n_columns == 3 else 0)
    place = text.new_place()
    code = kernels.read_named_pairs(
        source.array, start, separator, n_columns, table, first, last, u, v, w, place
    )
    if code != OK:
        text.refuse(source, code, place, columns=n_columns)
    count, n = int(place[1]), int(place[2])
    if n == 0:
        raise source.error("has no vertex")
    labels = _labels(source, first[:n], last[:n])
    source.notes.append(f"Vertices have names, such as {str(labels[0])!r}: they become labels.")
    weights = text.weights_of(w[:count], place) if n_columns == 3 else None
    return Entries(n, n, u[:count], v[:count], weights, labels)


def _n_fields(source: Source, pos: int, separator: int) -> int:
    """Return the number of fields in the line at `pos`, up to a brace.

    A quoted name is one field.
    """
    from evener.io.graphs import pairs_kernels as kernels

    stop = text.after_line(source, pos)
    count = 0
    while pos < stop and source.data[pos : pos + 1] not in (b"\n", b"{"):
        _, _, pos = kernels.field(source.array, pos, separator)
        count += 1
    return count


def _labels(
    source: Source, first: npt.NDArray[np.int64], last: npt.NDArray[np.int64]
) -> npt.NDArray[np.str_]:
    width = int((last - first).max())
    # An array of text takes, for every name, four bytes times the length of the longest name.
    if 4 * width * first.size > 2**26 + 40 * len(source.data):
        raise source.error(f"has a name of {width:,} bytes, which is too long")
    data = source.data
    try:
        return np.array([data[a:b].decode() for a, b in zip(first, last, strict=True)])
    except UnicodeDecodeError as error:
        raise source.error("has names that are not UTF-8 text") from error


def refuse_whole(head: Window, layout: Layout) -> None:
    """Raise WholeNeeded if lines have a header or attributes and cannot be read one by one."""
    if may_have_header(head, layout):
        raise WholeNeeded("its first line may be a header of counts")
    if _FILLED.search(head.data):
        raise WholeNeeded("its edges have attributes")


def stream(head: Window, *, directed: bool, n: int) -> EdgeStream:
    """Return the lines' edges or arcs in pieces; n: the expected number of vertices.

    Raises InputError, and WholeNeeded if vertices have names.
    """
    layout = layout_of(head)
    if head.suffix not in _SUFFIXES or layout is None:
        raise WholeNeeded("its suffix is not a suffix of edge lists")
    if not layout.numbered:
        raise WholeNeeded("its vertices have names")
    refuse_whole(head, layout)
    check_columns(head, layout)
    made = EdgeStream(
        head,
        n,
        directed,
        both=not directed,
        weighted=layout.n_columns == 3,
        start=layout.start,
        layout=layout,
    )
    made.find_base()
    return made


@dataclass
class EdgeStream(TextStream):
    """An edge list of numbers without gaps, in pieces; base: the lowest number."""

    layout: Layout = None  # type: ignore[assignment]
    base: int = 0

    def find_base(self) -> None:
        """Set `base` to the lowest number in the first piece; `finish` checks it."""
        piece, _ = next(self.read(0, 1))
        self.base = min(int(ends.min()) for ends in piece[:2]) if piece.tails.size else 0

    def read(self, first: int, last: int) -> Iterator[tuple[ArcPiece, Tally]]:
        """Yield the lines of pieces first to last - 1. Raises WholeNeeded if numbers have gaps."""
        for window in self.windows(first, last):
            yield self._parsed(window)

    def _parsed(self, window: Window) -> tuple[ArcPiece, Tally]:
        pairs, fractional = pairs_in(window, self.layout)
        u, v, count = pairs.u - self.base, pairs.v - self.base, pairs.u.size
        ends = (u, v) if count else (np.zeros(1, np.int64),)
        low, high = min(int(one.min()) for one in ends), max(int(one.max()) for one in ends)
        loops = int(np.count_nonzero(u == v))
        seen = Tally(count, loops, fractional, low=low, high=high)
        return ArcPiece(u, v, pairs.weights), seen

    def finish(self, seen: Tally) -> None:
        """Add notes on lines left out or merged. Raises WholeNeeded if numbers have gaps."""
        if seen.isolated or (seen.low, seen.high) != (0, self.n - 1):
            raise WholeNeeded("its vertex numbers have gaps")
        if self.base:
            self.notes.append(said_of_names(self.base, self.base + self.n - 1, 0))
        m = seen.arcs if self.directed else seen.arcs // 2
        merged = seen.lines - seen.loops - m
        self.notes += said_of_lines(
            seen.loops, merged, weighted=self.weighted, directed=self.directed
        )


def write(graph: Graph | DirectedGraph) -> tuple[bytes, list[str]]:
    """Return CSV with a header; vertices are written as their labels, if they have labels.

    Each line is an arc of a directed graph, or an edge of an undirected graph.
    """
    u = np.repeat(np.arange(graph.n), graph.degrees)
    kept = (u < graph.adjncy) if graph.symmetric else np.ones(u.size, np.bool_)
    ends = np.stack((u[kept], graph.adjncy[kept].astype(np.int64)), axis=1)
    notes = []
    if graph.vwgt is not None:
        notes.append("This format does not store vertex weights.")
    alone = graph.isolated.size
    if alone:
        notes.append(f"This format does not store the {alone:,} vertices without edges.")
    header = b"source,target\n" if graph.adjwgt is None else b"source,target,weight\n"
    numbered = graph.labels is None or graph.labels.dtype.kind in "iu"
    fractional = graph.adjwgt is not None and graph.adjwgt.dtype.kind == "f"
    weights = None if graph.adjwgt is None else graph.adjwgt[kept]
    if weights is not None and not fractional:
        weights = text.whole(weights, "edge weights")
    if numbered and not fractional:
        table = ends if graph.labels is None else np.asarray(graph.labels, np.int64)[ends]
        columns = [table] if weights is None else [table, weights]
        return header + text.table_text(np.column_stack(columns), ","), notes
    return header + _text_of_rows(graph, ends, weights), notes


def _text_of_rows(
    graph: Graph | DirectedGraph, ends: IntArray, weights: NumberArray | None
) -> bytes:
    names = list(range(graph.n)) if graph.labels is None else graph.labels.tolist()
    words = [_quoted(name) if isinstance(name, str) else str(name) for name in names]
    columns = [[words[v] for v in ends[:, i].tolist()] for i in range(2)]
    if weights is not None:
        columns.append(list(map(repr, weights.tolist())))
    return "".join(",".join(row) + "\n" for row in zip(*columns, strict=True)).encode()


def _quoted(name: str) -> str:
    """Return a name as a field that reads back unchanged: quoted, or bare if it holds a quote."""
    bare = '"' in name
    if not name or "\n" in name or (bare and not _BARE.fullmatch(name)):
        raise InputError(
            f"the vertex name {name!r} cannot be written as a field of a line",
            hint="`.npz` stores all names.",
        )
    return name if bare else f'"{name}"'
