"""Reads SciPy's sparse matrices and Evener's graphs from NumPy archives; writes graphs.

An archive of a graph has `evener_graph` (the version, 1) and the arrays of Graph by name; an
archive of a directed graph has `evener_directed_graph` instead. Plain NumPy can open it. Pickled
objects are never loaded.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import as_integers, as_weights
from evener.errors import InputError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.graphs.graph_checks import check_offsets, index_type
from evener.io import archives
from evener.io.entries import Entries
from evener.io.graphs.pairs import arcs_of_entries, check_square, graph_of_pattern
from evener.io.graphs.streams import ArcPiece, ArcStream, Tally, WholeNeeded, Window, both_ways
from evener.io.sources import Source

ENTRIES = 2**20  # arcs per piece
_FIELDS = ("xadj", "adjncy", "vwgt", "adjwgt", "coords", "labels")
_BYTES = ("bytes_per_vertex", "bytes_per_edge")
# Names of SciPy's arrays; `data`, the values, is read only for weights of arcs.
_SPARSE = ("format", "shape", "row", "col", "indptr", "indices")
_VERSIONS = ("evener_graph", "evener_directed_graph")
_WANTED = {*_VERSIONS, *_FIELDS, *_BYTES, *_SPARSE}


def recognises(source: Source) -> bool:
    """Return whether the file is a zip archive with a .npy member."""
    return source.data.startswith(b"PK") and b".npy" in source.data


def read(source: Source, *, directed: bool = False) -> Graph | DirectedGraph:
    """Return the graph stored in the archive, or the graph of a sparse matrix's pattern.

    directed: return the stored arcs, or the entries of a matrix as arcs, with their values as
    weights.
    """
    arrays = _load(source, _WANTED | {"data"} if directed else _WANTED)
    if any(name in arrays for name in _VERSIONS):
        return _own(source, arrays, directed=directed)
    if "format" in arrays and "shape" in arrays:
        return _sparse(source, arrays, directed=directed)
    raise source.error("is a NumPy archive, but neither a graph nor a SciPy sparse matrix")


def write(graph: Graph | DirectedGraph) -> tuple[bytes, list[str]]:
    """Return the archive with all data of the graph; equal graphs give equal bytes."""
    arrays: dict[str, npt.NDArray[Any]] = {_VERSIONS[not graph.symmetric]: np.array(1)}
    for name in _FIELDS + _BYTES:
        value = getattr(graph, name)
        if value is not None:
            arrays[name] = np.asarray(value)
    out = io.BytesIO()
    archives.write_arrays(out, arrays, level=1)
    return out.getvalue(), []


def array_of(source: Source, content: bytes, name: str) -> npt.NDArray[Any]:
    """Return the array of one .npy file, after checking that its header fits the content."""
    try:
        return archives.array_of(content, name)
    except InputError as error:
        raise source.error(error.message) from error


def _load(source: Source, wanted: set[str]) -> archives.Arrays:
    """Return the arrays of a graph or sparse matrix in the archive."""
    try:
        found = archives.read_arrays(source.data, wanted)
        names = found or archives.names_in(source.data)
    except InputError as error:
        raise source.error(error.message, hint=error.hint) from error
    if not found and "part" in names:
        raise source.error("contains a plan or a partition, not a graph")
    return found


def _own(
    source: Source, arrays: dict[str, npt.NDArray[Any]], *, directed: bool
) -> Graph | DirectedGraph:
    make, version = (
        (Graph, _VERSIONS[0]) if _VERSIONS[0] in arrays else (DirectedGraph, _VERSIONS[1])
    )
    if arrays[version].tolist() != 1:
        raise source.error("has an unknown version of this format")
    if "xadj" not in arrays or "adjncy" not in arrays:
        raise source.error("lacks xadj or adjncy")
    fields: dict[str, Any] = {name: arrays[name] for name in _FIELDS if name in arrays}
    if "labels" in fields and fields["labels"].ndim != 1:
        raise source.error("labels must be one-dimensional")
    for name in _BYTES:
        if name in arrays:
            if arrays[name].shape != () or arrays[name].dtype.kind not in "iuf":
                raise source.error(f"{name} must be one number")
            fields[name] = float(arrays[name])
    graph: Graph | DirectedGraph = make(**fields)
    if graph.n < 1:
        raise source.error("has no vertex")
    if directed or graph.symmetric:
        return graph
    source.notes.append(f"Its {graph.m:,} arcs are read as edges without direction.")
    return graph.undirected()


def _sparse(
    source: Source, arrays: dict[str, npt.NDArray[Any]], *, directed: bool
) -> Graph | DirectedGraph:
    """Return the graph of a matrix written by scipy.sparse.save_npz."""
    rows, columns = _shape(source, arrays)
    check_square(source, rows, columns)
    u, v = _stored(source, arrays, rows, columns)
    if directed:
        return arcs_of_entries(source, rows, u, v, _values(source, arrays, u.size))
    return graph_of_pattern(source, rows, u, v, halved=False)


def entries(source: Source, *, with_values: bool = False) -> Entries | None:
    """Return the stored entries of a SciPy matrix of any shape; None for an archive of a graph."""
    arrays = _load(source, _WANTED | {"data"} if with_values else _WANTED)
    if "format" not in arrays or "shape" not in arrays:
        return None
    rows, columns = _shape(source, arrays)
    u, v = _stored(source, arrays, rows, columns)
    values = _values(source, arrays, u.size) if with_values else None
    return Entries(rows, columns, u, v, values)


def _shape(source: Source, arrays: dict[str, npt.NDArray[Any]]) -> tuple[int, int]:
    """Return the numbers of rows and columns of a matrix."""
    shape = arrays["shape"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise source.error("the matrix must have two dimensions")
    rows, columns = (int(extent) for extent in shape)
    if min(rows, columns) < 0:
        raise source.error("the matrix's shape must not be negative")
    return rows, columns


def _stored(
    source: Source, arrays: dict[str, npt.NDArray[Any]], rows: int, columns: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the rows and columns of the stored entries."""
    form = arrays["format"]
    kind = form.item() if form.shape == () else ""
    kind = kind.decode("latin-1") if isinstance(kind, bytes) else str(kind)
    u, v = _coordinates_of(source, kind, arrays, columns if kind == "csc" else rows)
    for index, extent in ((u, rows), (v, columns)):
        if index.size and (index.min() < 0 or index.max() >= extent):
            raise source.error(f"an index is outside the {rows:,} x {columns:,} matrix")
    return u, v


def _values(source: Source, arrays: dict[str, npt.NDArray[Any]], count: int) -> npt.NDArray[Any]:
    """Return the values (count,) of a matrix, as 64-bit or complex numbers."""
    values = arrays.get("data")
    if values is None or values.shape != (count,) or values.dtype.kind not in "biufc":
        raise source.error(f"lacks data, a list of {count:,} numbers")
    if values.dtype.kind == "c":
        return values
    return values.astype(np.int64 if values.dtype.kind in "bi" else np.float64)


def _coordinates_of(
    source: Source, kind: str, arrays: dict[str, npt.NDArray[Any]], n: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    if kind == "coo":
        if "coords" in arrays and "row" not in arrays:  # sparse arrays since SciPy 1.15
            pair = arrays["coords"]
            if pair.ndim != 2 or len(pair) != 2:
                raise source.error("coords must have two rows")
            arrays = arrays | {"row": pair[0], "col": pair[1]}
        row, column = (_indices(source, arrays, name) for name in ("row", "col"))
        if row.size != column.size:
            raise source.error(f"has {row.size} row indices but {column.size} column indices")
        return row, column
    if kind not in ("csr", "csc"):
        raise source.error(
            f"contains a matrix in the format {kind[:10]!r}; Evener reads csr, csc and coo",
            hint="Call matrix.tocsr() before save_npz.",
        )
    indptr, indices = (_indices(source, arrays, name) for name in ("indptr", "indices"))
    if (
        indptr.size != n + 1
        or indptr[0] != 0
        or indptr[-1] != indices.size
        or (np.diff(indptr) < 0).any()
    ):
        raise source.error(f"indptr must increase from 0 to {indices.size} with {n + 1} entries")
    lists = np.repeat(np.arange(n), np.diff(indptr))
    return (lists, indices) if kind == "csr" else (indices, lists)


def _indices(
    source: Source, arrays: dict[str, npt.NDArray[Any]], name: str
) -> npt.NDArray[np.int64]:
    array = arrays.get(name)
    if array is None or array.ndim != 1 or array.dtype.kind not in "iu":
        raise source.error(f"lacks {name}, a list of whole numbers")
    return array.astype(np.int64)


def stream(head: Window, *, directed: bool) -> ArchiveStream:
    """Return the arcs of an Evener archive as a stream. Raises InputError and WholeNeeded."""
    try:
        with archives.ArrayFile(head.path) as file:
            names = file.names
            if not set(_VERSIONS) & names or not {"xadj", "adjncy"} <= names:
                raise WholeNeeded("it is not a graph archive written by Evener")
            is_directed = _VERSIONS[1] in names
            if is_directed and not directed:
                raise WholeNeeded("its arcs are read as edges")
            if file.read(_VERSIONS[is_directed]).tolist() != 1:
                raise head.error("has an unknown version of this format")
            xadj, ends = file.read("xadj"), file.header("adjncy")
            weights = file.header("adjwgt") if "adjwgt" in names else None
    except InputError as error:
        raise head.error(error.message, hint=error.hint) from error
    for header in (ends, *([] if weights is None else [weights])):
        if len(header.shape) != 1 or header.dtype.kind not in ("iu" if header is ends else "iuf"):
            raise head.error("has an adjncy or adjwgt that is not a list of numbers")
    check_offsets(as_integers(xadj, "xadj"), ends.shape[0])
    if weights is not None and weights.shape != ends.shape:
        raise head.error(f"has {weights.shape} weights for {ends.shape} arcs")
    made = ArchiveStream(
        head,
        xadj.size - 1,
        directed,
        repeats="refused",
        weighted=weights is not None,
        fractional=weights is not None and weights.dtype.kind == "f",
        vertices_weigh="vwgt" in names,
        xadj=xadj,
    )
    made.n_pieces = -(-ends.shape[0] // ENTRIES)
    if directed and not is_directed:
        made.notes.append(both_ways(ends.shape[0] // 2))
    return made


@dataclass
class ArchiveStream(ArcStream):
    """An Evener archive in pieces of ENTRIES arcs; xadj (n + 1,) is held whole in memory."""

    xadj: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(1, np.int64))

    def read(self, first: int, last: int) -> Iterator[tuple[ArcPiece, Tally]]:
        """Yield the arcs of pieces first to last - 1; unpacks the previous pieces once."""
        with archives.ArrayFile(self.source.path) as file:
            size, start = int(self.xadj[-1]), first * ENTRIES
            ends = file.pieces("adjncy", start, ENTRIES)
            weights = file.pieces("adjwgt", start, ENTRIES) if self.weighted else None
            for begin in range(start, min(last * ENTRIES, size), ENTRIES):
                heads = next(ends)
                yield self._checked(begin, heads, None if weights is None else next(weights))

    def _checked(
        self, begin: int, heads: npt.NDArray[Any], weights: npt.NDArray[Any] | None
    ) -> tuple[ArcPiece, Tally]:
        """Return a piece of arcs that begins with arc number `begin`."""
        end = begin + heads.size
        v, last = (int(np.searchsorted(self.xadj, e, "right")) - 1 for e in (begin, end - 1))
        bounds = np.clip(self.xadj[v : last + 2], begin, end)
        tails = np.repeat(np.arange(v, last + 1, dtype=heads.dtype), np.diff(bounds))
        if heads.min() < 0 or heads.max() >= self.n or (heads == tails).any():
            raise self.source.error("has arcs out of range, or from a vertex to itself")
        heads, tails = (one.astype(index_type(self.n)) for one in (heads, tails))
        if weights is not None:
            weights = as_weights(weights, "adjwgt")
        return ArcPiece(tails, heads, weights), Tally(heads.size)
