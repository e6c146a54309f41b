"""Slabs: blocks side by side along one line, so that each has two neighbours and no more.

Where messages cost more than values do, few neighbours beat short borders. Vertices are lined up
by their distance from one end of the graph, as in [CM69]_, and cut to size: an edge joins layers
next to each other, so that slabs thicker than a layer touch two others. Devices stand in line so
that those next to each other are near. All that is cheap beside a partition.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.graphs import Graph
from evener.solving.halos import HaloLaw, surface_power
from evener.solving.judging import Part, Task

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SECTION = 0.0  # the power with which a slab's border grows with its load
BEYOND, MOST_BEYOND = 2.0, 3.0  # further slabs touched, over border / thickness, and at most


@dataclass(frozen=True, eq=False)
class Slabs:
    """Makes slabs of a task's graph for devices in line."""

    task: Task

    @property
    def power(self) -> float:
        """How a section of the graph grows with it."""
        return surface_power(self.task.graph)

    @cached_property
    def order(self) -> IntArray:
        """(n,) vertices in line."""
        return in_line(self.task.weighted, self.power)

    @cached_property
    def _passed(self) -> FloatArray:
        """(n,) work of the vertices before each in line and half its own [units]."""
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
        ends = np.cumsum(loads[line])
        at = np.searchsorted(ends[:-1], self._passed, side="right")
        part = np.empty(self.task.graph.n, np.int32)
        part[self.order] = line[at]
        return part

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
    line = np.array(order[:1])
    for device in order[1:]:
        before = np.r_[0.0, price[line, device]]
        after = np.r_[price[device, line], 0.0]
        between = np.r_[0.0, price[line[:-1], line[1:]], 0.0]
        line = np.insert(line, int(np.argmin(before + after - between)), device)
    return line


def in_line(graph: Graph, power: float) -> IntArray:
    """Return the vertices (n,) from one end of the graph to the other; O(n log n + m).

    The end: those first along the longest axis, n^power of them; without coordinates, the vertex
    reached last from any. Components follow one another, the largest comes first.
    """
    from scipy.sparse.csgraph import breadth_first_order

    if graph.coords is not None:
        points = np.asarray(graph.coords, np.float64)
        centred = points - points.mean(axis=0)
        _, axes = np.linalg.eigh(centred.T @ centred)
        along = np.argsort(centred @ axes[:, -1], kind="stable")
        end = along[: int(np.ceil(graph.n**power))]
        order = breadth_first_order(_with_source(graph, end), graph.n, return_predecessors=False)
        order = order[1:]
    else:
        along, matrix = np.arange(graph.n), _matrix(graph.xadj, graph.adjncy)
        order = breadth_first_order(matrix, 0, return_predecessors=False)
        order = breadth_first_order(matrix, int(order[-1]), return_predecessors=False)
    missed = np.ones(graph.n, np.bool_)
    missed[order] = False
    return np.concatenate([order, along[missed[along]]])


def _with_source(graph: Graph, end: IntArray) -> csr_array:
    """Return the graph with one more vertex, from which an arc leads to each of `end`."""
    xadj = np.append(graph.xadj, graph.xadj[-1] + end.size)
    return _matrix(xadj, np.concatenate([graph.adjncy, end.astype(graph.adjncy.dtype)]))


def _matrix(xadj: IntArray, adjncy: IntArray) -> csr_array:
    from scipy.sparse import csr_array

    n = xadj.size - 1
    return csr_array((np.ones(adjncy.size), adjncy, xadj), shape=(n, n))
