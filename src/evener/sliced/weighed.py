"""WeighedRows: a graph in slices with given vertex weights."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector, Part
from evener.sliced.facts import VertexBytes
from evener.sliced.rows import SlicedGraph, SliceRows, Which

NO_WEIGHTS = np.empty(0)


class WeighedRows:
    """A SlicedGraph like `graph`, but with the given vertex weights (n_own,).

    Constructing it is collective. total, heaviest [units]: sum and maximum of all weights; sums are
    made slice by slice, so that they do not depend on the number of processes. size: bytes of a
    vertex.
    """

    def __init__(self, graph: SlicedGraph, weights: FloatArray, size: VertexBytes) -> None:
        self._graph, self.size = graph, size
        self.n, self.arcs = graph.n, graph.arcs
        self.n_own, self.n_local = graph.n_own, graph.n_local
        self.dimension, self.edges_weigh = graph.dimension, graph.edges_weigh
        self.comm, self.ends, self.own_slices = graph.comm, graph.ends, graph.own_slices
        self.all_weights = weights
        of_ranks = self.comm.allgather((float(weights.max(initial=0)), bool((weights == 1).all())))
        self.heaviest = max(heaviest for heaviest, _ in of_ranks)
        self._unit = all(unit for _, unit in of_ranks)
        self.total = self.summed(weights)

    def rows(self, i: int) -> SliceRows:
        """Return the rows of slice i, with the given weights."""
        return self._graph.rows(i)._replace(vwgt=self.weights(i))

    def weights(self, i: int) -> FloatArray:
        """Return the weights (r,) of the vertices of slice i, or (0,) if all are 1."""
        return NO_WEIGHTS if self._unit else self.all_weights[self.span(i)]

    def points(self, i: int) -> FloatArray:
        """Return the coordinates (r, dimension) of the vertices of slice i."""
        return self._graph.points(i)

    def fill(self, values: npt.NDArray[np.generic], which: Which = None) -> None:
        """Set the values of ghosts to their owners' values."""
        self._graph.fill(values, which)

    def span(self, i: int) -> slice:
        """Return the range of slice i's vertices among the own vertices."""
        first, last = (self.ends[i : i + 2] - self.ends[self.own_slices.start]).tolist()
        return slice(first, last)

    def summed(self, values: FloatArray) -> float:
        """Return the sum of the values (n_own,) of all processes. Collective."""
        own = [float(values[self.span(i)].sum()) for i in self.own_slices]
        return sum(one for some in self.comm.allgather(own) for one in some)


def degrees_of(graph: SlicedGraph) -> Part:
    """Return the degree (n_own,) int32 of each own vertex; reads every slice once."""
    own = [np.diff(graph.rows(i).xadj).astype(np.int32) for i in graph.own_slices]
    return np.concatenate([np.empty(0, np.int32), *own])


def weights_of(graph: SlicedGraph) -> FloatArray:
    """Return the weights (n_own,) of own vertices, 1 if the graph has no weights."""
    ends: IntVector = np.diff(graph.ends)
    own = [(graph.weights(i), int(ends[i])) for i in graph.own_slices]
    return np.concatenate([NO_WEIGHTS, *(w if w.size else np.ones(n) for w, n in own)])
