"""InMemoryGraph: a graph in memory, in slices, for code that divides graphs in slices."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from evener.arrays import FloatArray
from evener.graphs.graph import Graph
from evener.running.comm import Comm, run_threads
from evener.sliced.rows import OneProcess, SliceRows

NO_WEIGHTS = np.empty(0)


def alone() -> Comm:
    """Return a communicator of a single process."""
    return run_threads(1, lambda comm: comm)[0]


@dataclass(frozen=True, eq=False)
class InMemoryGraph(OneProcess):
    """A SlicedGraph of a graph in memory: one process holds all slices, and there are no ghosts."""

    graph: Graph
    comm: Comm = field(default_factory=alone)

    @property
    def n(self) -> int:
        """Number of vertices."""
        return self.graph.n

    @property
    def arcs(self) -> int:
        """Number of adjacency entries."""
        return int(self.graph.adjncy.size)

    @property
    def dimension(self) -> int:
        """Number of coordinates of a vertex."""
        return 0 if self.graph.coords is None else int(self.graph.coords.shape[1])

    @property
    def edges_weigh(self) -> bool:
        """Whether edges have weights."""
        return self.graph.adjwgt is not None

    def rows(self, i: int) -> SliceRows:
        """Return the rows of slice i: views of the graph's arrays if types are equal."""
        first, last = self.ends[i : i + 2].tolist()
        graph = self.graph
        arcs = slice(int(graph.xadj[first]), int(graph.xadj[last]))
        return SliceRows(
            first,
            graph.xadj[first : last + 1] - graph.xadj[first],
            graph.adjncy[arcs].astype(np.int32, copy=False),
            NO_WEIGHTS if graph.adjwgt is None else graph.adjwgt[arcs].astype(np.float64),
            self.weights(i),
        )

    def weights(self, i: int) -> FloatArray:
        """Return the weights (r,) of the vertices of slice i, or (0,) if all are 1."""
        first, last = self.ends[i : i + 2].tolist()
        if self.graph.is_unit:
            return NO_WEIGHTS
        return self.graph.weights()[first:last].astype(np.float64)

    def points(self, i: int) -> FloatArray:
        """Return the coordinates (r, dimension) of the vertices of slice i."""
        first, last = self.ends[i : i + 2].tolist()
        coords = self.graph.coords
        return np.empty((last - first, 0)) if coords is None else coords[first:last]
