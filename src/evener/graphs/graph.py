"""Graph: an undirected graph in CSR form, validated once, on construction."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evener.arrays import (
    FloatArray,
    IntArray,
    NumberArray,
    as_array,
    as_integers,
    as_weights,
)
from evener.errors import InputError
from evener.graphs import graph_checks as arrays
from evener.graphs.foreign import MeshioMesh, NetworkXGraph, SparseMatrix
from evener.wording import number, plural, spread, two_lines

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
        arrays.check_offsets(xadj, as_array(self.adjncy, "adjncy").size)
        n = xadj.size - 1
        put(self, "xadj", xadj)
        put(self, "adjncy", arrays.narrow(self.adjncy, n))
        if self.adjwgt is not None:
            weights = as_weights(self.adjwgt, "adjwgt")
            arrays.same_length(weights, self.adjncy.size, "adjwgt", "adjacency entries")
            put(self, "adjwgt", weights)
        adjncy, adjwgt = arrays.sorted_entries(xadj, self.adjncy, self.adjwgt)
        put(self, "adjncy", adjncy)
        put(self, "adjwgt", adjwgt)
        self._check_vertices()
        if self.labels is not None:
            put(self, "labels", np.atleast_1d(as_array(self.labels, "labels")))
            arrays.same_length(self.labels, n, "labels", "vertices")
        for name in ("bytes_per_vertex", "bytes_per_edge"):
            put(self, name, arrays.cost(getattr(self, name), name))
        if not np.isfinite(self.total_bytes):
            raise InputError("bytes_per_vertex and bytes_per_edge add up to more than 1e308")

    def __repr__(self) -> str:
        weights = "weight 1 each" if self.is_unit else f"weight {number(self.total_weight)} in all"
        if self.n_constraints > 1:
            weights = f"{self.n_constraints} weights each"
        coords = (
            "no coordinates" if self.coords is None else f"coordinates in {self.coords.shape[1]}-D"
        )
        edges = (
            "edges weigh 1 each"
            if self.adjwgt is None
            else f"edges weigh {spread(self.adjwgt)} each"
        )
        first = plural(self.n, "vertex", "vertices"), plural(self.m, "edge")
        more = "" if self.n == 0 else f"{spread(self.degrees)} neighbours each"
        return two_lines("Graph", [*first, *filter(None, [more])], [weights, edges, coords])

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
        from evener.graphs import graph_kernels

        label = np.empty(self.n, np.int32)
        count = graph_kernels.components(self.xadj, self.adjncy, np.empty(self.n, np.int32), label)
        return int(count), label

    def with_(self, **changes: object) -> Graph:
        """Return a copy with some fields replaced; what is new is validated."""
        if not changes.keys() <= {"vwgt", "coords"}:
            return replace(self, **changes)  # type: ignore[arg-type]
        made = copy(self)
        for name, value in changes.items():
            object.__setattr__(made, name, value)
        made._check_vertices()  # noqa: SLF001
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
        **fields: Any,
    ) -> Graph:
        """Build the graph of the pairs (u[i], v[i]), each direction or both, loops dropped.

        Of equal pairs, whatever their direction, the first given is kept, with its weight.
        u, v (p,) whole numbers in [0, n); weights (p,) or None; fields as of Graph. Raises
        InputError for vertices out of range and lengths that differ.
        """
        from evener.graphs import graph_kernels as kernels

        if n < 0:
            raise InputError(f"the number of vertices must not be negative, and is {n}")
        dtype = arrays.index_type(n)
        u, v = arrays.endpoints(u, n, "u").astype(dtype), arrays.endpoints(v, n, "v").astype(dtype)
        arrays.same_length(v, u.size, "v", "entries of u")
        given = None if weights is None else as_weights(weights, "weights")
        if given is not None:
            arrays.same_length(given, u.size, "weights", "entries of u")
        xadj = np.zeros(n + 1, np.int64)
        kernels.count_pairs(u, v, xadj)
        adjncy = np.empty(int(xadj[-1]), dtype)
        origin = np.empty(adjncy.size if given is not None else 0, np.int64)
        kernels.fill_pairs(u, v, xadj[:-1].copy(), adjncy, origin)
        adjwgt = arrays.sort_with(xadj, adjncy, origin, given)
        kept = np.empty(n + 1, np.int64)
        dropped = kernels.drop_duplicates(xadj, adjncy, adjwgt, kept)
        size = adjncy.size - dropped
        return cls(
            kept,
            adjncy[:size].copy() if dropped else adjncy,
            adjwgt=None if given is None else adjwgt[:size],
            **fields,
        )

    @classmethod
    def from_scipy(
        cls, matrix: SparseMatrix, *, symmetrize: bool = False, weights: bool = False, **fields: Any
    ) -> Graph:
        """Return the graph of a square sparse matrix: vertices i and j are joined by entry (i, j).

        Whatever is stored counts, zeros too; the diagonal is left out. weights: whether entries
        weigh the edges, which must not be negative then. symmetrize: the graph of A + A^T, which
        adds such weights up; without it, InputError where (i, j) is stored and (j, i) is not, or
        weighs something else. fields: as of Graph (vwgt, coords, labels, bytes_per_vertex, ...).
        """
        from evener.graphs.foreign import pairs_of_matrix

        n, u, v, values = pairs_of_matrix(matrix, symmetrize=symmetrize, weights=weights)
        return cls.from_edges(n, u, v, weights=values, **fields)

    @classmethod
    def from_networkx(
        cls,
        graph: NetworkXGraph,
        *,
        weight: str | None = None,
        node_weight: str | None = None,
        coords: str | None = None,
        **fields: Any,
    ) -> Graph:
        """Return an undirected networkx graph; vertex i is the i-th of its nodes, loops dropped.

        weight, node_weight, coords: names of attributes that weigh edges and nodes, and say where
        these are; without them all weigh 1. labels are the nodes' names, unless these are 0 to
        n - 1 in order. fields: others of Graph. Raises InputError for directed graphs, multigraphs
        and missing attributes.
        """
        from evener.graphs.foreign import nodes_of_graph

        found = nodes_of_graph(graph, weight=weight, node_weight=node_weight, coords=coords)
        own = {"vwgt": found.vwgt, "coords": found.coords, "labels": found.labels} | fields
        return cls.from_edges(found.n, found.u, found.v, weights=found.weights, **own)

    @classmethod
    def from_meshio(cls, mesh: MeshioMesh, *, by: Literal["cells", "points"] = "cells") -> Graph:
        """Return the graph of a meshio mesh, as `read` makes it of the file the mesh is in.

        by: whether its vertices are the cells of the highest dimension (dual graph) or the points
        (nodal graph).
        """
        from evener.graphs.mesh import Mesh

        return Mesh.from_meshio(mesh).graph(by)

    def _check_vertices(self) -> None:
        """Check and bring into shape what its vertices weigh, and where they are."""
        put = object.__setattr__
        if self.vwgt is not None:
            put(self, "vwgt", arrays.vertex_weights(self.vwgt, self.n))
        if self.coords is not None:
            put(self, "coords", arrays.coordinates(self.coords, self.n))
