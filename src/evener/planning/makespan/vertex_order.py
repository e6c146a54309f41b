"""The graph with neighbours near each other in memory, which makes all later steps faster.

Adjacency lists are laid out as the partitioner would do for itself: it makes the same blocks of
this graph as of the given one, and need not order it again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import IntArray, Part
from evener.graphs.graph import Graph
from evener.partitioning.label_propagation.propagation import is_uneven
from evener.partitioning.levels.levels import finest, scattered
from evener.partitioning.multilevel.multilevel import vertex_order

MIN_ORDERED = 1 << 14  # vertices: a smaller graph stays in the cache in any order; set by hand


@dataclass(frozen=True, eq=False)
class OrderedGraph:
    """A graph whose vertex v was order[v] (n,) in the given graph; None: the given graph itself."""

    graph: Graph
    order: IntArray | None

    def given(self, part: Part) -> Part:
        """Return blocks of the ordered graph in the order of the given one."""
        return part if self.order is None else scattered(part, self.order, 1)

    def ordered(self, part: Part) -> Part:
        """Return blocks of the given graph in the order of the ordered one."""
        return part if self.order is None else part[self.order]


def order_vertices(graph: Graph, threads: int) -> OrderedGraph:
    """Return the graph in an order of few cache misses, where that pays.

    Left as they are: small graphs; graphs with weighted edges, whose weights would have to move
    along; graphs of uneven degrees, whose blocks are spread over memory in any order.
    """
    if graph.n < MIN_ORDERED or graph.adjwgt is not None or is_uneven(graph):
        return OrderedGraph(graph, None)
    order = vertex_order(graph, threads)
    level = finest(graph, order, None, np.empty(0, np.int32), threads)
    made = graph.renumbered(order, level.xadj.astype(np.int64), level.adjncy.view(np.int32))
    return OrderedGraph(made, order)
