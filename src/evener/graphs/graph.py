"""Graph: an undirected graph in CSR form, validated once, on construction."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray, NumberArray
from evener.graphs import graph_checks as arrays
from evener.graphs.foreign import MeshioMesh, NetworkXGraph, SparseMatrix
from evener.graphs.lists import AdjacencyLists, Arcs
from evener.wording import plural, spread, two_lines


@dataclass(frozen=True, eq=False)
class Graph(AdjacencyLists):
    """An undirected graph without loops or parallel edges.

    xadj (n + 1,) int64 and adjncy (2m,) int32 (int64 from 2^31 vertices on) are METIS's CSR:
    the neighbours of v are adjncy[xadj[v]:xadj[v + 1]]; each edge is listed at both its ends. The
    constructor sorts every list in ascending order, and its weights with it.
    vwgt (n,) or (n, c), int64 or float64, or None: every vertex weighs 1.
    adjwgt (2m,), equal at both ends, or None: every edge weighs 1.
    coords (n, 2) or (n, 3) float64, or None.
    bytes_per_vertex, bytes_per_edge [B]: the memory of a vertex, and of each adjacency entry (an
    edge costs once at each end).
    labels (n,): the vertices' names in the file they came from, or None: 0 to n - 1.
    together (n,) int64: vertices with equal numbers must share a block of a plan, vertices with
    negative numbers are free; None: all are free.

    Arrays that already have these types are not copied: do not change them afterwards. Raises
    InputError for asymmetry, loops, parallel edges, indices out of range, and negative or
    non-finite weights and coordinates.
    """

    symmetric: ClassVar[bool] = True

    def __repr__(self) -> str:
        weights, coords = self._said_of_vertices()
        edges = (
            "edges weigh 1 each"
            if self.adjwgt is None
            else f"edges weigh {spread(self.adjwgt)} each"
        )
        first = plural(self.n, "vertex", "vertices"), plural(self.m, "edge")
        more = "" if self.n == 0 else f"{spread(self.degrees)} neighbours each"
        return two_lines("Graph", [*first, *filter(None, [more])], [weights, edges, coords])

    @property
    def m(self) -> int:
        """Number of undirected edges."""
        return int(self.adjncy.size // 2)

    @property
    def isolated(self) -> npt.NDArray[np.intp]:
        """The vertices without an edge, (i,)."""
        return np.flatnonzero(self.degrees == 0)

    @property
    def first_label(self) -> int | None:
        """The first label if labels are consecutive numbers; 0 without labels.

        None if labels are names, or numbers in another order or with gaps.
        """
        if self.labels is None:
            return 0
        if self.labels.dtype.kind not in "iu" or self.n == 0:
            return None
        first = int(self.labels[0])
        counted = np.array_equal(self.labels, np.arange(first, first + self.n))
        return first if counted else None

    def arcs_in(self) -> Arcs:
        """Return the arcs that reach each vertex: those of arcs_out, as edges go both ways."""
        return self.arcs_out()

    def undirected(self) -> Graph:
        """Return the graph itself, for compatibility with `DirectedGraph.undirected`."""
        return self

    def components(self) -> tuple[int, npt.NDArray[np.int32]]:
        """Number of connected components; that of each vertex (n,), in order of smallest vertex."""
        from evener.graphs import graph_kernels

        label = np.empty(self.n, np.int32)
        count = graph_kernels.components(self.xadj, self.adjncy, np.empty(self.n, np.int32), label)
        return int(count), label

    def renumbered(self, order: IntArray, xadj: IntArray, adjncy: IntArray) -> Graph:
        """Return the graph with new numbers: new vertex v was order[v] (n,). Edge weights are left
        out.

        xadj (n + 1,) int64, adjncy (2m,) int32: the edges in the new numbers, which are not
        checked; lists may be in any order.
        """
        made = copy(self)
        new = {"xadj": xadj, "adjncy": adjncy, "adjwgt": None}
        for name in ("vwgt", "coords", "labels", "together"):
            value = getattr(self, name)
            new[name] = None if value is None else value[order]
        for name, value in new.items():
            object.__setattr__(made, name, value)
        return made

    @classmethod
    def trusted(
        cls, xadj: IntArray, adjncy: IntArray, vwgt: NumberArray, adjwgt: NumberArray | None
    ) -> Graph:
        """Return the graph of lists that are known to be valid and are not checked.

        xadj (n + 1,) int64, adjncy (2m,) int32, lists in any order; vwgt (n,), adjwgt (2m,).
        """
        made = copy(_empty())
        for name, value in (
            ("xadj", xadj), ("adjncy", adjncy), ("vwgt", vwgt), ("adjwgt", adjwgt),
        ):  # fmt: skip
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
        """Build the graph of the pairs (u[i], v[i]), in one or both directions, without loops.

        Of equal pairs, in any direction, only the first counts, with its weight. u, v (p,) whole
        numbers in [0, n); weights (p,) or None; fields as in Graph. Raises InputError for vertices
        out of range and different lengths.
        """
        xadj, adjncy, adjwgt = arrays.listed(n, u, v, weights, both=True)
        return cls(xadj, adjncy, adjwgt=adjwgt, **fields)

    @classmethod
    def from_scipy(
        cls, matrix: SparseMatrix, *, symmetrize: bool = False, weights: bool = False, **fields: Any
    ) -> Graph:
        """Return the graph of a square sparse matrix: entry (i, j) joins vertices i and j.

        All stored entries count, including zeros, except the diagonal. weights: use the entries as
        weights of the edges; they must then not be negative. symmetrize: the graph of A + A^T,
        whose weights are added; without it, InputError if (i, j) is stored but (j, i) is not, or if
        they differ. fields: as in Graph (vwgt, coords, labels, bytes_per_vertex, ...).
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
        """Convert an undirected networkx graph; vertex i is its i-th node; loops are dropped.

        weight, node_weight, coords: names of the attributes with edge weights, node weights and
        node coordinates; without a name of weights, all weigh 1. labels are the nodes' names,
        unless these are 0 to n - 1 in order. fields: other fields of Graph. Raises InputError for
        directed graphs, multigraphs and missing attributes.
        """
        from evener.graphs.foreign import nodes_of_graph

        found = nodes_of_graph(graph, weight=weight, node_weight=node_weight, coords=coords)
        own = found.of_vertices | fields
        return cls.from_edges(found.n, found.u, found.v, weights=found.weights, **own)

    @classmethod
    def from_meshio(cls, mesh: MeshioMesh, *, by: Literal["cells", "points"] = "cells") -> Graph:
        """Return the graph of a meshio mesh, as `read` makes it from the mesh's file.

        by: whether vertices are the cells of the highest dimension (dual graph) or the points
        (nodal graph).
        """
        from evener.graphs.mesh import Mesh

        return Mesh.from_meshio(mesh).graph(by)


@cache
def _empty() -> Graph:
    """Return a graph without vertices; made only when needed, because its checks import Numba."""
    return Graph(np.zeros(1, np.int64), np.empty(0, np.int32))
