"""Edges to be divided: the edges of a graph, or the arcs or matrix entries that a file contains.

Graphs have no loops and no parallel edges, but edges to be divided may. `read_edges` therefore
takes the lines of an edge list and the stored entries of a matrix one by one, without the Graph
that `read` would make from them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray, NumberArray
from evener.errors import InputError, UsageError, one_of
from evener.graphs.directed import DirectedGraph
from evener.graphs.edge_list import EdgeList, by_ends
from evener.graphs.foreign import is_matrix
from evener.graphs.graph import Graph
from evener.io.accept import GraphLike, as_graph_or_arcs
from evener.io.entries import Entries, no_weights
from evener.io.formats import Format, format_named, format_of
from evener.io.graphs.edge_pieces import EdgePieces
from evener.io.read import Progress, read
from evener.io.sources import Source, open_source
from evener.io.streaming import digest_of
from evener.wording import plural, two_lines

Kind = Literal["graph", "arcs", "matrix", "file"]
KINDS: tuple[str, ...] = get_args(Kind)
EdgesLike: TypeAlias = "EdgeList | EdgeReading | GraphLike"
# Options of `read` that are accepted for lines and entries; all others concern vertices.
_OF_LINES = ("format", "by", "directed")


@dataclass(frozen=True, eq=False)
class EdgeReading:
    """The edges that were read from a file, in the order in which a plan numbers them.

    of: the kind of edges: "graph" (edges u <= v), "arcs" (u -> v) or "matrix" (stored entries),
    each sorted by the first number, then the second, with parallel edges in file order; or "file"
    (lines, in file order). names (n,): the name of each vertex in the file; rows and columns of a
    matrix are named by their numbers, from 0; None if each name equals the vertex number. weighted:
    whether the edges have weights. rows: for a matrix, how many of the vertices are rows; the
    others are columns. notes, inputs and asked: as in Reading.
    """

    edges: EdgeList
    of: Kind
    names: npt.NDArray[Any] | None = None
    weighted: bool = False
    format: str = ""
    rows: int = 0
    notes: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    asked: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ends(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The names, in the file, of both ends of each edge: two arrays (m,)."""
        ends = self.edges.tails, self.edges.heads
        return ends if self.names is None else (self.names[ends[0]], self.names[ends[1]])

    def __repr__(self) -> str:
        files = f"from {', '.join(self.inputs)}" if self.inputs else "from no file"
        what = [self.format, self.of, plural(self.edges.m, "edge")]
        return two_lines("EdgeReading", what, [files, plural(len(self.notes), "note")])


def read_edges(
    path: str | os.PathLike[str],
    *,
    of: str = "graph",
    weighted: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> EdgeReading:
    """Read the edges of a graph, or the arcs or matrix entries in a file.

    of: "graph": each edge once, with ends u <= v. "arcs": lines and entries are arcs; an edge of a
    format without directions becomes two arcs. "matrix": the stored entries, including the
    diagonal, of a matrix of any shape; rows and columns are separate vertices, and those without an
    entry are dropped; if the file contains no matrix, its adjacency matrix is used. "file": lines
    of whole numbers, or an `.npy` array (m, 2), in file order, as `split_file` reads them.
    weighted: use weights of edges, and values of entries, as work. options: as for `read`, except
    `directed`.

    Lines of an edge list that repeat an edge, or join a vertex to itself, count as separate edges,
    and a note says so; two lines that name an edge in both directions are one edge of the graph.
    Raises InputError for any fault in the file, and for weights that are missing, negative or not
    finite; UsageError for a wrong option.
    """
    kind = cast(Kind, one_of("kind of edges", of, KINDS))
    given = {key: value for key, value in options.items() if value is not None}
    if kind == "file":
        refuse_of_vertices(given)
        return _read_pieces(Path(path), weighted=weighted)
    source = open_source(Path(path))
    entry = format_of(source) if given.get("format") is None else format_named(given["format"])
    try:
        made = _read_entries(source, entry, kind, given, weighted=weighted)
        if made is not None:
            return made
        return _read_graph(source, kind, given, weighted=weighted, progress=progress)
    except InputError as error:
        error.file = error.file or str(path)
        raise


def as_edges(given: EdgesLike, *, of: str = "graph", weighted: bool = False) -> EdgeReading:
    """Convert edges, a file name or anything that `plan` accepts as a graph to an EdgeReading.

    of, weighted: as in `read_edges`; they do not change an EdgeList or an EdgeReading. If `of` is
    "matrix", the entries of a SciPy matrix become the edges.
    """
    if isinstance(given, EdgeReading):
        return given
    kind = cast(Kind, one_of("kind of edges", of, KINDS))
    if isinstance(given, EdgeList):
        return EdgeReading(given, kind, weighted=given.weights is not None)
    if isinstance(given, str | os.PathLike):
        return read_edges(given, of=of, weighted=weighted)
    if kind == "matrix" and is_matrix(given):
        found = given.tocoo()
        rows, columns = np.asarray(found.row, np.int64), np.asarray(found.col, np.int64)
        n_rows, n_columns = map(int, found.shape)
        stored = Entries(n_rows, n_columns, rows, columns, np.asarray(found.data))
        return _matrix(stored, weighted=weighted)
    graph = as_graph_or_arcs(given)
    return _of_graph(graph.undirected() if kind == "graph" else graph, kind, weighted=weighted)


def graph_of_lines(edges: EdgeList, *, directed: bool = False) -> Graph | DirectedGraph:
    """Return the graph of lines u v, without loops or repetitions, as `read` makes it.

    Numbers that occur in no line are not vertices; `labels` then holds the original numbers.
    directed: each line is an arc.
    """
    named, number = _numbers(np.concatenate([edges.tails, edges.heads]), edges.n)
    fields = {} if named.size == edges.n else {"labels": named}
    make = DirectedGraph.from_arcs if directed else Graph.from_edges
    return make(named.size, number[edges.tails], number[edges.heads], **fields)


def _read_entries(
    source: Source, entry: Format, kind: Kind, given: Mapping[str, Any], *, weighted: bool
) -> EdgeReading | None:
    """Return the edges that the file stores one by one; None if `read` must make a graph first."""
    if entry.stores != "lines" and (entry.stores != "matrix" or kind != "matrix"):
        return None
    found = entry.entries(source, with_values=weighted)
    if found is None:
        return None
    refuse_of_vertices(given)
    made = {"graph": _pairs, "arcs": _arcs, "matrix": _matrix}[kind](found, weighted=weighted)
    asked = {"format": given["format"]} if "format" in given else {}
    inputs = {source.path.name: source.sha256, **source.beside}
    notes = (*source.notes, *made.notes)
    return replace(made, format=entry.name, notes=notes, inputs=inputs, asked=asked)


def refuse_of_vertices(given: Mapping[str, Any]) -> None:
    """Raise UsageError for an option that concerns vertices, which are not divided."""
    for name, value in given.items():
        if name not in _OF_LINES and (name, value) != ("couplings", True):  # the default
            flag = "--no-couplings" if name == "couplings" else f"--{name.replace('_', '-')}"
            raise UsageError(
                f"{flag} applies to vertices, but this command divides edges",
                hint="--weighted takes the edges' weights.",
            )


def _read_pieces(path: Path, *, weighted: bool) -> EdgeReading:
    """Return all edges of a file that is read in pieces, in file order."""
    if weighted:
        raise UsageError("--weighted does not work with edges in file order")
    pieces = EdgePieces(path)
    none = np.empty(0, np.int32)
    found = [(piece.tails, piece.heads) for piece in pieces.read()] or [(none, none)]
    tails, heads = (np.concatenate(ends) for ends in zip(*found, strict=True))
    n = max(int(ends.max(initial=-1)) for ends in (tails, heads)) + 1
    edges = EdgeList(n, tails, heads)
    inputs = {path.name: digest_of(path)}
    return EdgeReading(edges, "file", format="pieces", inputs=inputs)


def _read_graph(
    source: Source,
    kind: Kind,
    given: Mapping[str, Any],
    *,
    weighted: bool,
    progress: Progress | None,
) -> EdgeReading:
    """Return the edges or arcs of the graph in a file."""
    options = {key: value for key, value in given.items() if key != "directed"}
    reading = read(source, directed=kind != "graph", progress=progress, **options)
    made = _of_graph(reading.graph, kind, weighted=weighted)
    asked = {key: value for key, value in reading.asked.items() if key != "directed"}
    notes = (*reading.notes, *made.notes)
    return replace(made, format=reading.format, notes=notes, inputs=reading.inputs, asked=asked)


def _of_graph(graph: Graph | DirectedGraph, kind: Kind, *, weighted: bool) -> EdgeReading:
    """Return the edges of a graph, its arcs, or its arcs as matrix entries, according to `kind`."""
    if weighted and graph.adjwgt is None:
        raise no_weights()
    if kind == "matrix":
        arcs = EdgeList.of_arcs(graph, weighted=weighted)
        found = Entries(graph.n, graph.n, arcs.tails, arcs.heads, arcs.weights, graph.labels)
        return _matrix(found, weighted=weighted)
    if kind == "graph":
        edges = EdgeList.of_graph(graph.undirected(), weighted=weighted)
    else:
        edges = EdgeList.of_arcs(graph, weighted=weighted)
    return EdgeReading(edges, kind, graph.labels, weighted)


def _pairs(found: Entries, *, weighted: bool) -> EdgeReading:
    """Return lines as edges u <= v; if lines name an edge both ways, only one way counts."""
    u, v = np.minimum(found.rows, found.columns), np.maximum(found.rows, found.columns)
    order = by_ends(u, v)
    kept = order[_one_direction(u[order], v[order], (found.rows <= found.columns)[order])]
    turned = found.m - kept.size
    lines = plural(turned, "line names", "lines name")
    note = f"{lines} an edge again, in the other direction: each pair is one edge."
    return _chosen("graph", found, u, v, kept, (note,) if turned else (), weighted=weighted)


def _one_direction(
    u: IntArray, v: IntArray, forward: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Return which lines count (m,), for lines sorted by their ends u <= v.

    If f lines name an edge as u v and b lines as v u, only the more frequent direction counts, or
    the direction of the first line if f = b: max(f, b) lines in all.
    """
    if not u.size:
        return np.zeros(0, np.bool_)
    begins = np.flatnonzero(np.concatenate([[True], (np.diff(u) != 0) | (np.diff(v) != 0)]))
    sizes = np.diff(np.append(begins, u.size))
    ahead = np.add.reduceat(forward.astype(np.int64), begins)
    kept = (2 * ahead > sizes) | ((2 * ahead == sizes) & forward[begins])
    return np.asarray(forward == np.repeat(kept, sizes))


def _arcs(found: Entries, *, weighted: bool) -> EdgeReading:
    """Return each line as an arc from its first vertex to its second."""
    order = by_ends(found.rows, found.columns)
    return _chosen("arcs", found, found.rows, found.columns, order, (), weighted=weighted)


def _chosen(
    kind: Kind,
    found: Entries,
    u: IntArray,
    v: IntArray,
    kept: IntArray,
    notes: tuple[str, ...],
    *,
    weighted: bool,
) -> EdgeReading:
    """Return the lines with these numbers as edges; notes count loops and parallel edges."""
    tails, heads = u[kept], v[kept]
    loops = int(np.count_nonzero(tails == heads))
    again = int(np.count_nonzero((np.diff(tails) == 0) & (np.diff(heads) == 0)))
    if loops:
        lines = plural(loops, "line joins", "lines join")
        notes += (
            f"{lines} a vertex to itself: each counts as work, but needs no copy of a vertex.",
        )
    if again:
        lines = plural(again, "line repeats", "lines repeat")
        notes += (f"{lines} an edge: each repetition counts as work.",)
    weights = found.weights()[kept] if weighted else None
    edges = EdgeList(found.n_rows, tails, heads, weights)
    return EdgeReading(edges, kind, found.labels, weighted, notes=notes)


def _matrix(found: Entries, *, weighted: bool) -> EdgeReading:
    """Return stored entries as edges from rows to columns; drop empty rows and columns."""
    order = by_ends(found.rows, found.columns)
    used_rows, row_numbers = _numbers(found.rows, found.n_rows)
    used_columns, column_numbers = _numbers(found.columns, found.n_columns)
    n_rows, n = used_rows.size, used_rows.size + used_columns.size
    weights: NumberArray | None = found.weights()[order] if weighted else None
    heads = n_rows + column_numbers[found.columns[order]]
    edges = EdgeList(n, row_numbers[found.rows[order]], heads, weights)
    said = f"A matrix of {found.n_rows:,} x {found.n_columns:,}: {found.m:,} stored entries"
    if found.triangle:
        said += " of one triangle; the other triangle is not stored, and not divided"
    empty = found.n_rows + found.n_columns - edges.n
    if empty:
        said += f"; {plural(empty, 'row or column', 'rows and columns')} without an entry dropped"
    names = np.concatenate([used_rows, used_columns])
    if found.labels is not None:
        names = found.labels[names]
    return EdgeReading(edges, "matrix", names, weighted, rows=n_rows, notes=(f"{said}.",))


def _numbers(indices: IntArray, extent: int) -> tuple[IntArray, IntArray]:
    """Return the indices that occur, ascending, and the rank of each among them (extent,)."""
    used = np.zeros(extent, np.bool_)
    used[indices] = True
    return np.flatnonzero(used), np.cumsum(used) - 1
