"""WatchedGraph: a graph in slices that reports how often, and how much of it, has been read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.sliced.rows import SlicedGraph, SliceRows, Which
from evener.wording import memory

HALF_DONE = 4  # passes after which progress shows a half


class WatchedGraph:
    """A SlicedGraph with the rows of `graph` that reports passes and bytes read.

    progress: called with (step, fraction done). A pass begins when the process's first slice is
    read.
    """

    def __init__(self, graph: SlicedGraph, progress: Callable[[str, float], None]) -> None:
        self._graph, self._progress = graph, progress
        self._step, self._passes, self._bytes = "", 0, 0
        self.n, self.arcs = graph.n, graph.arcs
        self.n_own, self.n_local = graph.n_own, graph.n_local
        self.dimension, self.edges_weigh = graph.dimension, graph.edges_weigh
        self.comm, self.ends, self.own_slices = graph.comm, graph.ends, graph.own_slices

    def step(self, name: str) -> None:
        """Report that another step begins."""
        self._step = name
        self._progress(name, self._done(1.0))

    def tell(self, name: str, fraction: float) -> None:
        """Report a step, and the fraction of the whole work that is done."""
        self._progress(name, fraction)

    def rows(self, i: int) -> SliceRows:
        """Return the rows of slice i."""
        rows = self._graph.rows(i)
        own = self.own_slices
        self._passes += i == own.start
        self._bytes += sum(array.nbytes for array in rows[1:])
        share = (i - own.start + 1) / len(own)
        read = f"pass {self._passes}, {memory(self._bytes)} read"
        self._progress(f"{self._step}: {read}", self._done(share))
        return rows

    def weights(self, i: int) -> FloatArray:
        """Return the weights (r,) of the vertices of slice i, or (0,) if all are 1."""
        return self._graph.weights(i)

    def points(self, i: int) -> FloatArray:
        """Return the coordinates (r, dimension) of the vertices of slice i."""
        return self._graph.points(i)

    def fill(self, values: npt.NDArray[np.generic], which: Which = None) -> None:
        """Set the values of ghosts to their owners' values."""
        self._graph.fill(values, which)

    def _done(self, share: float) -> float:
        """Return the estimated fraction done; the number of passes is not known in advance."""
        passes = max(self._passes - 1 + share, 0)
        return passes / (passes + HALF_DONE)
