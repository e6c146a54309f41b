"""Slabs: blocks side by side along one line, so that each has two neighbours and no more.

Where messages cost more than values do, few neighbours beat short borders. Vertices are lined up
by their distance from one end of the graph, as in [CM69]_, and cut to size: an edge joins layers
next to each other, so that slabs thicker than a layer touch two others. All that is cheap beside a
partition.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evener.arrays import FloatArray, IntArray, Part
from evener.graphs.graph import Graph
from evener.partitioning.initial.bisection_kernels import breadth_first_order
from evener.partitioning.levels.levels import scattered
from evener.planning.device_sets.equal_finish import Exchanged
from evener.planning.device_sets.halo_law import surface_power
from evener.planning.device_sets.line_arrangement import Lined, line_of
from evener.planning.makespan.task import Candidate, Task

SAMPLE = 1 << 14  # points that tell the longest axis


@dataclass(frozen=True, eq=False)
class Slabs:
    """Makes slabs of a task's graph for devices in line."""

    task: Task

    @cached_property
    def power(self) -> float:
        """How a section of the graph grows with it."""
        return surface_power(self.task.graph)

    @cached_property
    def order(self) -> IntArray:
        """(n,) vertices in line."""
        return in_line(self.task.weighted, self.power)

    @cached_property
    def _passed(self) -> FloatArray:
        """(n,) work of the vertices before each in line and half its own [units], ascending."""
        work = self.task.work[self.order]
        return np.cumsum(work) - 0.5 * work

    @cached_property
    def line(self) -> IntArray:
        """(k,) devices in line."""
        values = float(self.task.graph.n) ** self.power
        return line_of(self.task.costs, self.task.platform.speeds, values)

    def blocks(self, loads: FloatArray) -> Part:
        """Return the block (n,) of every vertex, of about these loads (k,) [units]."""
        line = self.line[loads[self.line] > 0]
        inner = np.searchsorted(self._passed, np.cumsum(loads[line])[:-1], side="left")
        sizes = np.diff(inner, prepend=0, append=self.task.graph.n)
        return scattered(np.repeat(line.astype(np.int32), sizes), self.order, 1)

    def exchanged(self, known: Candidate) -> Exchanged:
        """Return what other slabs would spend, by the values that those `known` send."""
        sent = known.between.sent + known.between.received
        section = 0.5 * float(np.median(sent)) if sent.size else 0.0
        each = self.task.load / self.task.graph.n
        return Lined.of(self.line, self.task.costs, each).exchanged(section)


def in_line(graph: Graph, power: float) -> IntArray:
    """Return the vertices (n,) from one end of the graph to the other; O(n + m).

    The end: those first along the longest axis, n^power of them; without coordinates, the vertex
    reached last from any. What is reached from none of them comes last.
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
    """Return about so many of the points (n, d), the first ones along their longest axis."""
    sample = points[:: max(1, len(points) // SAMPLE)] - points[0]
    _, axes = np.linalg.eigh(np.atleast_2d(np.cov(sample.T, bias=True)))
    along = points @ axes[:, -1]
    first = np.flatnonzero(along <= np.partition(along, count - 1)[count - 1])
    return np.asarray(first[np.argsort(along[first], kind="stable")])
