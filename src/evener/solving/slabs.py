"""Slabs: blocks side by side along one line, so that each has two neighbours and no more.

Where messages cost more than values do, few neighbours beat short borders. Vertices are lined up
by their distance from one end of the graph, as in [CM69]_, and cut to size: an edge joins layers
next to each other, so that slabs thicker than a layer touch two others. Devices stand in line so
that those next to each other are near. All that is cheap beside a partition.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.graphs import Graph
from evener.partitioning.bisection_kernels import breadth_first_order
from evener.partitioning.levels import scattered
from evener.solving.halos import HaloLaw, surface_power
from evener.solving.judging import Part, Task

SECTION = 0.0  # the power with which a slab's border grows with its load
BEYOND, MOST_BEYOND = 2.0, 3.0  # further slabs touched, over border / thickness, and at most


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
        """(k,) devices in line, so that messages between neighbours cost the least work.

        While a message is sent, a fast device would have done more: fast ones stand at the ends,
        with one neighbour, where links leave the choice. Of a line made by seconds and one made by
        lost work the better one.
        """
        costs, n = self.task.costs, self.task.graph.n
        message = costs.alpha + costs.beta * float(n) ** self.power
        speeds = self.task.platform.speeds
        lost = message * np.add.outer(speeds, speeds)
        order = np.argsort(message.sum(axis=1), kind="stable").tolist()
        lines = [_lined_up(order, price) for price in (lost, message)]
        return min(lines, key=lambda line: float(lost[line[:-1], line[1:]].sum()))

    def blocks(self, loads: FloatArray) -> Part:
        """Return the block (n,) of every vertex, of about these loads (k,) [units]."""
        line = self.line[loads[self.line] > 0]
        inner = np.searchsorted(self._passed, np.cumsum(loads[line])[:-1], side="left")
        sizes = np.diff(inner, prepend=0, append=self.task.graph.n)
        return scattered(np.repeat(line.astype(np.int32), sizes), self.order, 1)

    def law(self, values: float, border: float, loads: FloatArray) -> HaloLaw:
        """Estimate what slabs of these loads (k,) [units] spend if a border has so many values.

        border: the work at one border [units]. Slabs hardly thicker than that touch the next but
        one as well.
        """
        task, line = self.task, self.line[loads[self.line] > 0]
        messages, per_surface, at_border = (np.zeros(task.platform.k) for _ in range(3))
        for one, other in ((line[:-1], line[1:]), (line[1:], line[:-1])):
            touched = 1 + np.minimum(BEYOND * border / loads[other], MOST_BEYOND)
            messages[one] += touched * task.costs.alpha[one, other]
            per_surface[one] += values * task.costs.beta[one, other]
            at_border[one] += border
        return HaloLaw(messages, per_surface, at_border, SECTION)


def _lined_up(order: list[int], price: FloatArray) -> IntArray:
    """Put devices, in this order, where each adds least to the price (k, k) of neighbours."""
    line, to = np.array(order), np.ascontiguousarray(price.T)
    between = np.zeros(line.size + 1)  # what the two at each place pay each other now
    for size, device in enumerate(order[1:], 1):
        before, after = np.zeros(size + 1), np.zeros(size + 1)
        before[1:], after[:-1] = to[device, line[:size]], price[device, line[:size]]
        at = int(np.argmin(before + after - between[: size + 1]))
        line[at + 1 : size + 1] = line[at:size]
        between[at + 2 : size + 2] = between[at + 1 : size + 1]
        line[at], between[at], between[at + 1] = device, before[at], after[at]
    return line


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
    shifted = points - points[0]
    n = len(points)
    middle = np.ones(n) @ shifted / n
    _, axes = np.linalg.eigh(shifted.T @ shifted / n - np.outer(middle, middle))
    along = shifted @ axes[:, -1]
    first = np.flatnonzero(along <= np.partition(along, count - 1)[count - 1])
    return np.asarray(first[np.argsort(along[first], kind="stable")])
