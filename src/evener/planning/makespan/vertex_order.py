"""The graph with neighbours near each other in memory: everything that follows takes less time.

Its lists are as the partitioner would lay them out for itself, so that it makes of this graph what
it makes of the given one, without ordering it once more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import IntArray, Part
from evener.graphs.graph import Graph
from evener.partitioning.label_propagation.propagation import is_uneven
from evener.partitioning.levels.levels import finest, scattered
from evener.partitioning.multilevel.multilevel import vertex_order

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
    """Order the vertices of a large graph.

    Weighted edges stay where they are, and graphs of uneven degrees, whose blocks spread anyhow.
    """
    if graph.n < LARGE or graph.adjwgt is not None or is_uneven(graph):
        return Ordered(graph, None)
    order = vertex_order(graph, threads)
    level = finest(graph, order, None, np.empty(0, np.int32), threads)
    made = graph.renumbered(order, level.xadj.astype(np.int64), level.adjncy.view(np.int32))
    return Ordered(made, order)
