"""DIMACS graphs: shortest paths (`a u v weight`), colouring (`e u v`) and PACE (`u v`)."""

from __future__ import annotations

import re

import numpy as np

from evener.arrays import FloatArray
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.io import text
from evener.io.entries import whole_where_all_are
from evener.io.graphs.edges import said_of_lines
from evener.io.sources import Source

_START = re.compile(
    rb"(?:c[^\n]*\n|\s)*p[ \t]+(\w+)[ \t]+(\d{1,12})[ \t]+(\d{1,12})[ \t\r]*(?:\n|\Z)"
)
_MARK = re.compile(rb"^(?:c[^\n]*|[ae](?=[ \t]))", re.MULTILINE)


def recognises(source: Source) -> bool:
    """Return whether the first line that is not a comment is `p KIND n m`."""
    return source.is_text and _START.match(source.head) is not None


def read(source: Source, *, directed: bool = False) -> Graph | DirectedGraph:
    """Return the graph. Arcs in both directions become one edge with the first arc's weight.

    directed: each line is an arc.
    """
    start = _START.match(source.data)
    if start is None:
        raise source.error("must begin with `p KIND vertices edges`", line=1)
    n, m = int(start[2]), int(start[3])
    text.check_vertices(source, n, start.start(1))
    data = _MARK.sub(lambda match: b" " * len(match[0]), source.data)
    table = _table(source, data, start.end())
    if len(table) not in (m, 2 * m):
        raise source.error(
            f"declares {m:,} edges, but {len(table):,} lines follow", offset=start.start(1)
        )
    if (bad := np.flatnonzero(((table[:, :2] < 1) | (table[:, :2] > n)).any(axis=1))).size:
        u, v = table[bad[0], :2].tolist()
        raise source.error(f"has edge {u:g} {v:g}, but vertices are numbered 1 to {n}")
    u, v = (table[:, end].astype(np.int64) - 1 for end in (0, 1))
    weights = whole_where_all_are(table[:, 2].copy()) if table.shape[1] == 3 else None
    make = DirectedGraph.from_arcs if directed else Graph.from_edges
    graph = make(n, u, v, weights=weights)
    loops = int(np.count_nonzero(u == v))
    merged = u.size - loops - graph.m
    weighted = weights is not None
    source.notes.extend(said_of_lines(loops, merged, weighted=weighted, directed=directed))
    return graph


def _table(source: Source, data: bytes, start: int) -> FloatArray:
    """Return the numbers (rows, 2 or 3) of all lines, without the leading letters."""
    plain = Source(source.path, source.name, data, source.sha256)
    first = next(text.lines(plain, b"", start), None)
    if first is None:
        return np.empty((0, 2))
    width = len(first[1].split())
    if width not in (2, 3):
        raise source.error("the lines must be `u v` or `u v weight`", offset=first[0])
    table = text.read_reals(plain, start, width)
    if (table != np.rint(table))[:, :2].any():
        raise source.error("has a vertex that is not a whole number")
    return table
