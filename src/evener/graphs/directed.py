"""DirectedGraph: arcs in CSR form, validated once, on construction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from evener.graphs import graph_checks as arrays
from evener.graphs.foreign import (
    NetworkXGraph,
    SparseMatrix,
    arcs_of_matrix,
    nodes_of_graph,
)
from evener.graphs.lists import AdjacencyLists, Arcs
from evener.wording import plural, spread, two_lines

if TYPE_CHECKING:
    from evener.graphs.graph import Graph


@dataclass(frozen=True, eq=False)
class DirectedGraph(AdjacencyLists):
    """A directed graph without loops or parallel arcs; it may contain both v to w and w to v.

    xadj (n + 1,) int64 and adjncy (m,) int32 (int64 from 2^31 vertices on): the arcs that leave v
    reach adjncy[xadj[v]:xadj[v + 1]]. The constructor sorts every list in ascending order, and its
    weights with it.
    vwgt (n,) or (n, c), int64 or float64, or None: every vertex weighs 1.
    adjwgt (m,), int64 or float64, or None: every arc weighs 1.
    coords (n, 2) or (n, 3) float64, or None.
    bytes_per_vertex, bytes_per_edge [B]: the memory of a vertex, and of each arc.
    labels (n,): the vertices' names in the file they came from, or None: 0 to n - 1.

    Arrays that already have these types are not copied: do not change them afterwards. Raises
    InputError for loops, parallel arcs, indices out of range, and negative or non-finite weights
    and coordinates.
    """

    symmetric: ClassVar[bool] = False

    def __repr__(self) -> str:
        weights, coords = self._said_of_vertices()
        first = plural(self.n, "vertex", "vertices"), plural(self.m, "arc")
        more = "" if self.n == 0 else f"{spread(self.degrees)} arcs leave each"
        arcs = (
            "arcs weigh 1 each" if self.adjwgt is None else f"arcs weigh {spread(self.adjwgt)} each"
        )
        return two_lines("DirectedGraph", [*first, *filter(None, [more])], [weights, arcs, coords])

    @property
    def m(self) -> int:
        """Number of arcs."""
        return int(self.adjncy.size)

    @property
    def isolated(self) -> npt.NDArray[np.intp]:
        """The vertices that no arc leaves or reaches, (i,)."""
        joined = self.degrees > 0
        joined[self.adjncy] = True
        return np.flatnonzero(~joined)

    def arcs_in(self) -> Arcs:
        """Return the arcs that reach each vertex; computed at the first call, then cached."""
        return self._arcs_in

    @cached_property
    def _arcs_in(self) -> Arcs:
        from evener.graphs import graph_kernels as kernels

        xadj = np.zeros(self.n + 1, np.int64)
        np.cumsum(np.bincount(self.adjncy, minlength=self.n), out=xadj[1:])
        adjncy = np.empty_like(self.adjncy)
        origin = np.empty(0 if self.adjwgt is None else self.m, np.int64)
        kernels.reverse_lists(self.xadj, self.adjncy, xadj[:-1].copy(), adjncy, origin)
        return Arcs(xadj, adjncy, None if self.adjwgt is None else self.adjwgt[origin])

    def undirected(self) -> Graph:
        """Return the graph whose edges join vertices that an arc joins in either direction.

        If arcs have weights, the weights of both directions are added. Vertices keep weights,
        coordinates, labels and memory.
        """
        from evener.graphs import graph_kernels as kernels
        from evener.graphs.graph import Graph

        none = np.empty(0, np.int64 if self.adjwgt is None else self.adjwgt.dtype)
        both = [
            (arcs.xadj, arcs.adjncy, none if arcs.adjwgt is None else arcs.adjwgt)
            for arcs in (self.arcs_out(), self.arcs_in())
        ]
        xadj, adjncy = np.empty(self.n + 1, np.int64), np.empty(2 * self.m, self.adjncy.dtype)
        weights = np.empty(0 if self.adjwgt is None else 2 * self.m, none.dtype)
        size = int(kernels.merge_lists(both[0], both[1], xadj, adjncy, weights))
        return Graph(
            xadj,
            adjncy[:size].copy(),
            adjwgt=None if self.adjwgt is None else weights[:size].copy(),
            **_of_vertices(self),
        )

    @classmethod
    def of_edges(cls, graph: Graph) -> DirectedGraph:
        """Return the directed graph with two arcs for each edge, which have the edge's weight."""
        return cls(graph.xadj, graph.adjncy, adjwgt=graph.adjwgt, **_of_vertices(graph))

    @classmethod
    def from_arcs(
        cls,
        n: int,
        tails: npt.ArrayLike,
        heads: npt.ArrayLike,
        *,
        weights: npt.ArrayLike | None = None,
        **fields: Any,
    ) -> DirectedGraph:
        """Build the graph of the arcs from tails[i] to heads[i], without loops.

        Of equal arcs, only the first counts, with its weight. tails, heads (p,) whole numbers in
        [0, n); weights (p,) or None; fields as in DirectedGraph. Raises InputError for vertices out
        of range and for different lengths.
        """
        xadj, adjncy, adjwgt = arrays.listed(n, tails, heads, weights, both=False)
        return cls(xadj, adjncy, adjwgt=adjwgt, **fields)

    @classmethod
    def from_scipy(
        cls, matrix: SparseMatrix, *, weights: bool = False, **fields: Any
    ) -> DirectedGraph:
        """Return the directed graph of a square sparse matrix: entry (i, j) is an arc from i to j.

        All stored entries count, including zeros, except the diagonal. weights: use the entries as
        weights of the arcs; they must then not be negative. fields: as in DirectedGraph.
        """
        n, tails, heads, values = arcs_of_matrix(matrix, weights=weights)
        return cls.from_arcs(n, tails, heads, weights=values, **fields)

    @classmethod
    def from_networkx(
        cls,
        graph: NetworkXGraph,
        *,
        weight: str | None = None,
        node_weight: str | None = None,
        coords: str | None = None,
        **fields: Any,
    ) -> DirectedGraph:
        """Convert a directed networkx graph; options as in Graph.from_networkx.

        An undirected graph gets two arcs for each edge. Raises InputError for multigraphs and
        missing attributes.
        """
        found = nodes_of_graph(
            graph, weight=weight, node_weight=node_weight, coords=coords, directed=True
        )
        own = found.of_vertices | fields
        return cls.from_arcs(found.n, found.u, found.v, weights=found.weights, **own)


def said_of_division(graph: DirectedGraph, edges: Graph) -> str:
    """Return a note for the user: Evener divides the undirected `edges`, not the arcs of
    `graph`."""
    return (
        f"Evener divides arcs as edges: {plural(graph.m, 'arc')} join "
        f"{plural(edges.m, 'pair')} of vertices"
    )


def _of_vertices(lists: AdjacencyLists) -> dict[str, Any]:
    """Return the fields that belong to vertices, by name."""
    names = ("vwgt", "coords", "bytes_per_vertex", "bytes_per_edge", "labels", "together")
    return {name: getattr(lists, name) for name in names}
