"""Slabs: blocks in a row along one line, so that each has at most two neighbours.

If latency of messages costs more than their bytes, few neighbours are better than short borders.
Vertices are ordered by their distance from one end of the graph, as in [CM69]_, and the order is
cut at the sizes: an edge joins vertices at most one layer apart, so slabs thicker than a layer
touch only the adjacent slabs. Slabs take O(n + m) time, much less than a partition.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evener.arrays import FloatArray, IntArray, Part
from evener.graphs.graph import Graph
from evener.partitioning.initial.bisection_kernels import breadth_first_order
from evener.partitioning.levels.levels import scattered
from evener.planning.device_sets.exchange_laws import line_of, slab_law, surface_power
from evener.planning.device_sets.set_loads import ExchangeLaw
from evener.planning.makespan.candidates import Candidate
from evener.planning.makespan.problem import MakespanProblem

AXIS_SAMPLE = 1 << 14  # points from which the longest axis is computed; bounds the time


@dataclass(frozen=True, eq=False)
class Slabs:
    """Makes slabs of a problem's graph, for its devices in a row."""

    problem: MakespanProblem

    @cached_property
    def power(self) -> float:
        """The power of n with which a cross-section of the graph grows."""
        return surface_power(self.problem.graph)

    @cached_property
    def order(self) -> IntArray:
        """Vertices (n,) in order along the line."""
        return in_line(self.problem.weighted, self.power)

    @cached_property
    def _midpoints(self) -> FloatArray:
        """Work that precedes the middle of each vertex in the order (n,) [units], ascending."""
        work = self.problem.work[self.order]
        return np.cumsum(work) - 0.5 * work

    @cached_property
    def line(self) -> IntArray:
        """Devices (k,) in order along the line."""
        values = float(self.problem.graph.n) ** self.power
        return line_of(self.problem.costs, self.problem.platform.speeds, values)

    def blocks(self, loads: FloatArray) -> Part:
        """Return the block (n,) of every vertex; blocks have about these loads (k,) [units]."""
        line = self.line[loads[self.line] > 0]
        inner = np.searchsorted(self._midpoints, np.cumsum(loads[line])[:-1], side="left")
        sizes = np.diff(inner, prepend=0, append=self.problem.graph.n)
        return scattered(np.repeat(line.astype(np.int32), sizes), self.order, 1)

    def exchanged(self, known: Candidate) -> ExchangeLaw:
        """Return the exchange law of slabs with the cross-section of the slabs `known`."""
        sent = known.quotient.sent + known.quotient.received
        section = 0.5 * float(np.median(sent)) if sent.size else 0.0
        each = self.problem.load / self.problem.graph.n
        return slab_law(self.line, self.problem.costs, each, section)


def in_line(graph: Graph, power: float) -> IntArray:
    """Return the vertices (n,) by their distance from one end of the graph; O(n + m).

    The end is the first n^power vertices along the longest axis; without coordinates, the vertex
    that a breadth-first search from vertex 0 reaches last. Other connected components follow at the
    end.
    """
    order, seen = np.empty(graph.n, np.int64), np.empty(graph.n, np.bool_)
    if graph.coords is not None:
        end = _first_along(np.asarray(graph.coords, np.float64), int(np.ceil(graph.n**power)))
    else:
        breadth_first_order(graph.xadj, graph.adjncy, 0, order, seen)
        end = order[-1:].copy()
    order[: end.size] = end
    breadth_first_order(graph.xadj, graph.adjncy, end.size, order, seen)
    return order


def _first_along(points: FloatArray, count: int) -> IntArray:
    """Return the first `count` of the points (n, d) along their longest axis, and all ties."""
    sample = points[:: max(1, len(points) // AXIS_SAMPLE)] - points[0]
    _, axes = np.linalg.eigh(np.atleast_2d(np.cov(sample.T, bias=True)))
    along = points @ axes[:, -1]
    first = np.flatnonzero(along <= np.partition(along, count - 1)[count - 1])
    return np.asarray(first[np.argsort(along[first], kind="stable")])
