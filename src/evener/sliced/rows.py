"""SlicedGraph: an undirected graph that is stored, or read, in slices of consecutive rows.

InMemoryGraph is a graph in memory, for code that divides graphs in slices.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray, IntVector
from evener.graphs.graph import Graph
from evener.running.comm import Comm, run_threads

# Of every graph, whoever holds it: more ranks than these are not used side by side. Smaller slices
# keep fewer edges inside, larger ones need more memory where a file is read.
N_SLICES = 64


class SliceRows(NamedTuple):
    """The rows of one slice, in the local numbers of the process that holds them.

    first: number of the first row. xadj (r + 1,) int64, from 0; adjncy (a,) int32: the neighbours
    of row i are adjncy[xadj[i]:xadj[i + 1]]. adjwgt (a,) float64, or (0,) if every edge has weight
    1. vwgt (r,) float64, or (0,) if every vertex has weight 1.
    """

    first: int
    xadj: npt.NDArray[np.int64]
    adjncy: npt.NDArray[np.int32]
    adjwgt: FloatArray
    vwgt: FloatArray


@dataclass(frozen=True, eq=False)
class Known:
    """Selected vertices; both the owner and the ranks with ghosts of a vertex know it is selected.

    chosen (n_local,) bool: the same value for a vertex on all ranks.
    """

    chosen: BoolArray


@dataclass(frozen=True, eq=False)
class Changed:
    """Vertices whose values have changed; own (n_own,) bool is known only to their owners.

    slices: all slices that may have such vertices, if known.
    """

    own: BoolArray
    slices: Sequence[int] | None = None


Which = Sequence[int] | Known | Changed | None  # slices, some vertices, or all


class SlicedGraph(Protocol):
    """An undirected graph in N_SLICES slices of rows; each process holds consecutive slices.

    Slice i has the vertices ends[i] to ends[i + 1] - 1 of the graph. A process numbers its own
    vertices from 0, in their order; its ghosts, which are neighbours owned by other processes, have
    the numbers from n_own on. If one process reads a file, there are no ghosts, and local numbers
    are global ones. Every method except `rows` and `points` is collective.
    """

    @property
    def n(self) -> int:
        """Number of vertices of the graph."""

    @property
    def arcs(self) -> int:
        """Number of adjacency entries of the graph: two for each edge."""

    @property
    def n_own(self) -> int:
        """Number of vertices of this process."""

    @property
    def n_local(self) -> int:
        """Number of the process's vertices and ghosts."""

    @property
    def dimension(self) -> int:
        """Number of coordinates of a vertex, 0 if it has none."""

    @property
    def edges_weigh(self) -> bool:
        """Whether edges have weights."""

    @property
    def comm(self) -> Comm:
        """The communicator of the processes."""

    @property
    def ends(self) -> IntVector:
        """The first vertex of every slice, then n (N_SLICES + 1,)."""

    @property
    def own_slices(self) -> range:
        """The slices of this process."""

    def rows(self, i: int) -> SliceRows:
        """Return the rows of slice i; the next call may overwrite them."""

    def pieces(self, i: int) -> Iterator[SliceRows]:
        """Yield the rows of slice i, some at a time if they are read; the next may overwrite them.

        They need less memory than those of a whole slice.
        """

    def weights(self, i: int) -> FloatArray:
        """Return the weights (r,) of the vertices of slice i, or (0,) if all are 1."""

    def points(self, i: int) -> FloatArray:
        """Return the coordinates (r, dimension) of the vertices of slice i."""

    def fill(self, values: npt.NDArray[np.generic], which: Which = None) -> None:
        """Set the values of ghosts in `values` (n_local,) to their owners' values.

        which: only values of these slices, or these vertices, are sent; other ghosts are unchanged.
        """


def slice_ends(n: int) -> IntVector:
    """Return the first vertex of each slice of a graph of n vertices, then n (N_SLICES + 1,)."""
    return np.arange(N_SLICES + 1, dtype=np.int64) * n // N_SLICES


def share_of(rank: int, ranks: int) -> range:
    """Return the slices that a rank holds; those of ranks above N_SLICES are empty."""
    return range(N_SLICES * rank // ranks, N_SLICES * (rank + 1) // ranks)


class OneProcess(ABC):
    """Base class of SlicedGraphs whose slices are all on one process: there are no ghosts."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of vertices."""

    @property
    def n_own(self) -> int:
        """Number of vertices."""
        return self.n

    @property
    def n_local(self) -> int:
        """Number of vertices."""
        return self.n

    @property
    def ends(self) -> IntVector:
        """The first vertex of every slice, then n (N_SLICES + 1,)."""
        return slice_ends(self.n)

    @property
    def own_slices(self) -> range:
        """All slices."""
        return range(N_SLICES)

    @abstractmethod
    def rows(self, i: int) -> SliceRows:
        """Return the rows of slice i; the next call may overwrite them."""

    def pieces(self, i: int) -> Iterator[SliceRows]:
        """Yield all rows of slice i at once."""
        yield self.rows(i)

    def fill(self, values: npt.NDArray[np.generic], which: Which = None) -> None:  # noqa: B027 - it is whole
        """Do nothing: there are no ghosts."""


class SameStructure:
    """Base class of SlicedGraphs with the edges, coordinates and ghosts of another SlicedGraph."""

    def __init__(self, graph: SlicedGraph) -> None:
        self._graph = graph
        self.n, self.arcs = graph.n, graph.arcs
        self.n_own, self.n_local = graph.n_own, graph.n_local
        self.dimension, self.edges_weigh = graph.dimension, graph.edges_weigh
        self.comm, self.ends, self.own_slices = graph.comm, graph.ends, graph.own_slices

    def rows(self, i: int) -> SliceRows:
        """Return the rows of slice i; the next call may overwrite them."""
        return self._graph.rows(i)

    def pieces(self, i: int) -> Iterator[SliceRows]:
        """Yield all rows of slice i at once."""
        yield self.rows(i)

    def weights(self, i: int) -> FloatArray:
        """Return the weights (r,) of the vertices of slice i, or (0,) if all are 1."""
        return self._graph.weights(i)

    def points(self, i: int) -> FloatArray:
        """Return the coordinates (r, dimension) of the vertices of slice i."""
        return self._graph.points(i)

    def fill(self, values: npt.NDArray[np.generic], which: Which = None) -> None:
        """Set the values of ghosts to their owners' values."""
        self._graph.fill(values, which)


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
