"""The graph with neighbours near each other in memory: everything that follows takes less time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import IntArray
from evener.graphs import Graph
from evener.partitioning.levels import Part, finest, scattered
from evener.partitioning.multilevel import vertex_order

LARGE = 1 << 14  # vertices of which an order pays


@dataclass(frozen=True, eq=False)
class Ordered:
    """A graph, and where its vertices were: vertex v was order[v] (n,); None: as it was."""

    graph: Graph
    order: IntArray | None

    def given(self, part: Part) -> Part:
        """Return blocks of the ordered graph for the vertices as they were."""
        return part if self.order is None else scattered(part, self.order, 1)

    def ordered(self, part: Part) -> Part:
        """Return blocks of the vertices as they were for the ordered graph."""
        return part if self.order is None else part[self.order]


def ordered(graph: Graph, threads: int) -> Ordered:
    """Order the vertices of a large graph; weighted edges stay where they are."""
    if graph.n < LARGE or graph.adjwgt is not None:
        return Ordered(graph, None)
    order = vertex_order(graph, threads)
    level = finest(graph, order, None, np.empty(0, np.int32), threads)
    made = Graph(
        level.xadj.astype(np.int64),
        level.adjncy.astype(np.int32),
        vwgt=None if graph.vwgt is None else graph.vwgt[order],
        coords=None if graph.coords is None else graph.coords[order],
        bytes_per_vertex=graph.bytes_per_vertex,
        bytes_per_edge=graph.bytes_per_edge,
    )
    return Ordered(made, order)
