"""Graph: an undirected graph in CSR form, validated once, on construction."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from evener.arrays import (
    FloatArray,
    IntArray,
    NumberArray,
    as_array,
    as_integers,
    as_numbers,
    as_weights,
)
from evener.errors import InputError

# What one row and one entry of a sparse matrix in CSR form cost in double precision, with one
# input and one output vector: indptr, x and y; column index and value.
BYTES_PER_VERTEX = 24.0
BYTES_PER_EDGE = 12.0


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph without loops or parallel edges.

    xadj (n + 1,) int64 and adjncy (2m,) int32 (int64 from 2^31 vertices on) are METIS's CSR:
    the neighbours of v are adjncy[xadj[v]:xadj[v + 1]], each edge stands at both its ends.
    Every list is kept in ascending order; it is sorted here, weights along with it, if it is not.
    vwgt (n,) or (n, c), int64 or float64, or None: every vertex weighs 1.
    adjwgt (2m,), equal at both ends, or None: every edge weighs 1.
    coords (n, 2) or (n, 3) float64, or None.
    bytes_per_vertex, bytes_per_edge [B]: the memory a vertex costs, and each adjacency entry (an
    edge costs once at each end).
    labels (n,): the vertices' names in the file they came from, or None: 0 to n - 1.

    Arrays that are already of these types are kept, not copied: leave them as they are afterwards.

    Raises InputError on anything else: asymmetry, loops, parallel edges, indices out of range,
    negative or non-finite weights and coordinates.
    """

    xadj: IntArray
    adjncy: IntArray
    vwgt: NumberArray | None = None
    adjwgt: NumberArray | None = None
    coords: FloatArray | None = None
    bytes_per_vertex: float = BYTES_PER_VERTEX
    bytes_per_edge: float = BYTES_PER_EDGE
    labels: npt.NDArray[np.generic] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        put = object.__setattr__  # the dataclass is frozen for everyone but its constructor
        xadj = as_integers(self.xadj, "xadj")
        _check_offsets(xadj, as_array(self.adjncy, "adjncy").size)
        n = xadj.size - 1
        put(self, "xadj", xadj)
        put(self, "adjncy", _narrow(self.adjncy, n))
        if self.adjwgt is not None:
            weights = as_weights(self.adjwgt, "adjwgt")
            _same_length(weights, self.adjncy.size, "adjwgt", "adjacency entries")
            put(self, "adjwgt", weights)
        _sort_and_check(self)
        _check_vertices(self)
        if self.labels is not None:
            put(self, "labels", np.atleast_1d(as_array(self.labels, "labels")))
            _same_length(self.labels, n, "labels", "vertices")
        for name in ("bytes_per_vertex", "bytes_per_edge"):
            put(self, name, _cost(getattr(self, name), name))
        if not np.isfinite(self.total_bytes):
            raise InputError("bytes_per_vertex and bytes_per_edge add up to more than 1e308")

    @property
    def n(self) -> int:
        """Number of vertices."""
        return int(self.xadj.size - 1)

    @property
    def m(self) -> int:
        """Number of undirected edges."""
        return int(self.adjncy.size // 2)

    @property
    def n_constraints(self) -> int:
        """Number of weights a vertex has."""
        return 1 if self.vwgt is None or self.vwgt.ndim == 1 else int(self.vwgt.shape[1])

    @property
    def is_unit(self) -> bool:
        """Whether every vertex weighs exactly 1."""
        return self.vwgt is None or bool((self.vwgt == 1).all())

    @property
    def degrees(self) -> npt.NDArray[np.int64]:
        """(n,) number of neighbours."""
        return np.diff(self.xadj)

    @property
    def total_weight(self) -> float:
        """Sum of the vertex weights [units]; of the first of several."""
        return float(self.n) if self.vwgt is None else float(self.weights().sum())

    @property
    def total_bytes(self) -> float:
        """Memory that all vertices and adjacency entries need together [B]."""
        return self.n * self.bytes_per_vertex + self.adjncy.size * self.bytes_per_edge

    def weights(self, constraint: int = 0) -> NumberArray:
        """(n,) vertex weights [units], ones where there are none."""
        if self.vwgt is None:
            return np.ones(self.n, np.int64)
        return self.vwgt if self.vwgt.ndim == 1 else self.vwgt[:, constraint].copy()

    def edge_weights(self) -> NumberArray:
        """(2m,) edge weights, ones where there are none."""
        return np.ones(self.adjncy.size, np.int64) if self.adjwgt is None else self.adjwgt

    def vertex_bytes(self) -> FloatArray:
        """(n,) memory of each vertex with its adjacency entries [B]."""
        return np.asarray(self.bytes_per_vertex + self.bytes_per_edge * self.degrees, np.float64)

    def components(self) -> tuple[int, npt.NDArray[np.int32]]:
        """Number of connected components and (n,) the one of each vertex, by smallest vertex."""
        from evener import graphs_kernels

        label = np.empty(self.n, np.int32)
        count = graphs_kernels.components(self.xadj, self.adjncy, np.empty(self.n, np.int32), label)
        return int(count), label

    def with_(self, **changes: object) -> Graph:
        """Return a copy with some fields replaced; what is new is validated."""
        if not changes.keys() <= {"vwgt", "coords"}:
            return replace(self, **changes)  # type: ignore[arg-type]
        made = copy(self)
        for name, value in changes.items():
            object.__setattr__(made, name, value)
        _check_vertices(made)
        return made

    def renumbered(self, order: IntArray, xadj: IntArray, adjncy: IntArray) -> Graph:
        """Return the same graph, its vertex v the one that was order[v] (n,); without edge weights.

        xadj (n + 1,) int64, adjncy (2m,) int32: its edges in these numbers, which are not checked;
        lists may be in any order.
        """
        made = copy(self)
        new = {"xadj": xadj, "adjncy": adjncy, "adjwgt": None}
        for name in ("vwgt", "coords", "labels"):
            value = getattr(self, name)
            new[name] = None if value is None else value[order]
        for name, value in new.items():
            object.__setattr__(made, name, value)
        return made

    @classmethod
    def from_edges(
        cls,
        n: int,
        u: npt.ArrayLike,
        v: npt.ArrayLike,
        *,
        weights: npt.ArrayLike | None = None,
        **fields: object,
    ) -> Graph:
        """Build the graph of the pairs (u[i], v[i]), each direction or both, loops dropped.

        Of equal pairs, whatever their direction, the first given is kept, with its weight.
        u, v (p,) whole numbers in [0, n); weights (p,) or None; fields as of Graph. Raises
        InputError for vertices out of range and lengths that differ.
        """
        from evener import graphs_kernels as kernels

        if n < 0:
            raise InputError(f"the number of vertices must not be negative, and is {n}")
        dtype = _index_type(n)
        u, v = _endpoints(u, n, "u").astype(dtype), _endpoints(v, n, "v").astype(dtype)
        _same_length(v, u.size, "v", "entries of u")
        given = None if weights is None else as_weights(weights, "weights")
        if given is not None:
            _same_length(given, u.size, "weights", "entries of u")
        xadj = np.zeros(n + 1, np.int64)
        kernels.count_pairs(u, v, xadj)
        adjncy = np.empty(int(xadj[-1]), dtype)
        origin = np.empty(adjncy.size if given is not None else 0, np.int64)
        kernels.fill_pairs(u, v, xadj[:-1].copy(), adjncy, origin)
        adjwgt = _sort_with(xadj, adjncy, origin, given)
        kept = np.empty(n + 1, np.int64)
        dropped = kernels.drop_duplicates(xadj, adjncy, adjwgt, kept)
        size = adjncy.size - dropped
        return cls(
            kept,
            adjncy[:size].copy() if dropped else adjncy,
            adjwgt=None if given is None else adjwgt[:size],
            **fields,  # type: ignore[arg-type]
        )


def _index_type(n: int) -> type[np.int32 | np.int64]:
    return np.int32 if n < 2**31 else np.int64


def _endpoints(values: npt.ArrayLike, n: int, name: str) -> npt.NDArray[np.int64]:
    array = as_integers(values, name)
    if array.size and (array.min() < 0 or array.max() >= n):
        raise InputError(f"{name} must lie in [0, {n}); it reaches {array.min()} to {array.max()}")
    return array


def _sort_with(
    xadj: IntArray, adjncy: IntArray, origin: IntArray, weights: NumberArray | None
) -> NumberArray:
    """Sort all lists; return the entries' weights in the new order (empty without weights)."""
    from evener import graphs_kernels as kernels

    if weights is None:
        none = np.empty(0, np.int64)
        kernels.sort_lists(xadj, adjncy, none)
        return none
    order = np.empty(adjncy.size, np.int64)
    kernels.sort_lists(xadj, adjncy, order)
    return weights[origin[order]]


def _check_offsets(xadj: IntArray, entries: int) -> None:
    if xadj.size == 0:
        raise InputError("xadj is empty; a graph with n vertices has n + 1 offsets")
    if xadj[0] != 0 or xadj[-1] != entries:
        raise InputError(f"xadj must run from 0 to {entries}, not {xadj[0]} to {xadj[-1]}")
    # Compared, not subtracted: the difference of far-off numbers wraps around to a positive one.
    decreases = xadj[1:] < xadj[:-1]
    if decreases.any():
        raise InputError(f"xadj decreases at vertex {int(np.argmax(decreases))}")


def _narrow(adjncy: npt.ArrayLike, n: int) -> IntArray:
    """Bring the indices to the width the kernels use; no wrap-around can hide a bad one."""
    array = np.asarray(adjncy)
    dtype = _index_type(n)
    if array.dtype == dtype and array.ndim == 1:
        return np.ascontiguousarray(array)
    wide = as_integers(array, "adjncy")
    if wide.size and (wide.min() < 0 or wide.max() >= n):
        bad = int(np.argmax((wide < 0) | (wide >= n)))
        raise InputError(f"adjncy[{bad}] is {wide[bad]}: there is no such vertex among {n}")
    return wide.astype(dtype)


def _vertex_weights(values: npt.ArrayLike, n: int) -> NumberArray:
    array = as_array(values, "vwgt")
    weights = as_weights(array, "vwgt", ndim=2 if array.ndim == 2 else 1)
    _same_length(weights, n, "vwgt", "vertices")
    if weights.ndim == 2 and weights.shape[1] == 0:
        raise InputError("vwgt has no column")
    return weights[:, 0].copy() if weights.ndim == 2 and weights.shape[1] == 1 else weights


def _coordinates(values: npt.ArrayLike, n: int) -> FloatArray:
    coords = as_numbers(values, "coords", ndim=2)
    _same_length(coords, n, "coords", "vertices")
    if coords.shape[1] not in (2, 3):
        raise InputError(f"coords must have 2 or 3 columns, not {coords.shape[1]}")
    return coords


def _cost(value: object, name: str) -> float:
    if not (
        isinstance(value, int | float | np.integer | np.floating)
        and np.isfinite(value)
        and value >= 0
    ):
        raise InputError(f"{name} must be a number, finite and not negative, not {value!r}")
    return float(value)


def _same_length(array: npt.NDArray[np.generic], length: int, name: str, what: str) -> None:
    if len(array) != length:
        raise InputError(f"{name} has {len(array)} entries for {length} {what}")


def _check_vertices(graph: Graph) -> None:
    """Check and bring into shape what its vertices weigh, and where they are."""
    put = object.__setattr__
    if graph.vwgt is not None:
        put(graph, "vwgt", _vertex_weights(graph.vwgt, graph.n))
    if graph.coords is not None:
        put(graph, "coords", _coordinates(graph.coords, graph.n))


def _sort_and_check(graph: Graph) -> None:
    """Sort the lists where they are not, then prove symmetry (one linear pass each)."""
    from evener import graphs_kernels as kernels

    where = np.zeros(2, np.int64)
    code = kernels.check_entries(graph.xadj, graph.adjncy, where)
    if code == kernels.OK and kernels.first_unsorted(graph.xadj, graph.adjncy) >= 0:
        _sort(graph)
        code = kernels.check_duplicates(graph.xadj, graph.adjncy, where)
    if code == kernels.OK:
        none = np.empty(0, np.int64)
        adjwgt = none if graph.adjwgt is None else graph.adjwgt
        pointer = np.empty(graph.n, np.int64)
        code = kernels.check_symmetry(graph.xadj, graph.adjncy, adjwgt, pointer, where)
    if code != kernels.OK:
        _refuse(code, int(where[0]), int(where[1]), graph.n)


def _sort(graph: Graph) -> None:
    from evener import graphs_kernels as kernels

    adjncy = graph.adjncy.copy()  # the caller's array stays as it is
    if graph.adjwgt is None:
        kernels.sort_lists(graph.xadj, adjncy, np.empty(0, np.int64))
    else:
        order = np.empty(adjncy.size, np.int64)
        kernels.sort_lists(graph.xadj, adjncy, order)
        object.__setattr__(graph, "adjwgt", graph.adjwgt[order])
    object.__setattr__(graph, "adjncy", adjncy)


def _refuse(code: int, v: int, u: int, n: int) -> NoReturn:
    from evener import graphs_kernels as kernels

    reasons = {
        kernels.OUT_OF_RANGE: f"vertex {v} has the neighbour {u}: there is no such one among {n}",
        kernels.LOOP: f"vertex {v} is its own neighbour: loops are not allowed",
        kernels.DUPLICATE: f"vertex {v} lists its neighbour {u} more than once",
        kernels.ASYMMETRIC: f"vertex {v} lists {u} as a neighbour, but not the other way round",
        kernels.WEIGHT: f"the edge between {v} and {u} has different weights at its two ends",
    }
    raise InputError(reasons[code] + " (vertices counted from 0)")
