"""Degrees of a graph in slices: they decide how to divide it, and where filled blocks end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray, IntVector
from evener.partitioning.label_propagation.propagation import (
    LEAST_UNEVEN_SKEWNESS,
    has_hubs_first,
    skewness_of,
)
from evener.sliced import uneven_kernels as kernels
from evener.sliced.rows import N_SLICES, SlicedGraph

CLASSES = kernels.FINE + kernels.OCTAVE * 40  # of degrees, up to 2^46


@dataclass(frozen=True, eq=False)
class SliceDegrees:
    """The degrees of a graph in slices, in classes; the same on all processes.

    A class is a degree, or a range of similar degrees; the first class is degree 0. weight
    (N_SLICES, classes) [units]: weight of each slice's vertices. vertices, entries (classes,):
    number of vertices and adjacency entries, over all slices. squares: sum of squared degrees.
    heaviest [units]: weight of the heaviest vertex; whole: whether all weights are integers.
    has_points: whether vertices have coordinates.
    """

    weight: FloatArray
    vertices: IntVector
    entries: IntVector
    squares: int
    heaviest: float
    whole: bool
    has_points: bool

    @classmethod
    def read(cls, graph: SlicedGraph) -> SliceDegrees:
        """Read all slices, and return their degrees. Collective."""
        weight = np.zeros((N_SLICES, CLASSES))
        vertices, entries = np.zeros(CLASSES, np.int64), np.zeros(CLASSES, np.int64)
        squares, heaviest, whole = 0, 0.0, True
        for i in graph.own_slices:
            more, weighs, are_whole = kernels.count_degrees(
                graph.rows(i), weight[i], entries, vertices
            )
            squares, heaviest = squares + int(more), max(heaviest, float(weighs))
            whole = whole and bool(are_whole)
        used = 1 + max(graph.comm.allgather(int(np.flatnonzero(vertices)[-1:].sum())))
        own = weight[graph.own_slices.start : graph.own_slices.stop, :used]
        of_ranks = graph.comm.allgather(
            (own, vertices[:used], entries[:used], squares, heaviest, whole)
        )
        slices, counts, ends, sums, weights, wholes = zip(*of_ranks, strict=True)
        return cls(
            np.concatenate(slices), np.sum(counts, axis=0), np.sum(ends, axis=0), sum(sums),
            max(weights), all(wholes), graph.dimension > 0,
        )  # fmt: skip

    @property
    def isolated(self) -> int:
        """Number of vertices without edges."""
        return int(self.vertices[0])

    @property
    def alone(self) -> float:
        """Weight of the vertices without edges [units]."""
        return float(self.weight[:, 0].sum())

    @property
    def linked(self) -> float:
        """Weight of the vertices with edges [units]."""
        return float(self.weight[:, 1:].sum())

    @property
    def skewness(self) -> float:
        """Standard deviation of degrees divided by their mean; see `propagation.skewness`."""
        return skewness_of(int(self.vertices.sum()), int(self.entries.sum()), self.squares)

    @property
    def are_uneven(self) -> bool:
        """Whether this graph, in memory, would be divided by label propagation; see `is_uneven`."""
        return not self.has_points and self.skewness > LEAST_UNEVEN_SKEWNESS

    @property
    def fill_blocks(self) -> bool:
        """Whether blocks are filled in order of falling degree, both in memory and in slices."""
        n = int(self.vertices.sum())
        return self.are_uneven and has_hubs_first(self.skewness, n, self.isolated)

    def before(self) -> FloatArray:
        """Return the weight that precedes a class's vertices in each slice (N_SLICES, classes).

        It is the weight of all vertices of higher classes, plus that of this class in earlier
        slices.
        """
        total = self.weight.sum(axis=0)
        above = np.cumsum(total[::-1])[::-1] - total
        return np.asarray(above + np.cumsum(self.weight, axis=0) - self.weight)

    def alone_before(self) -> FloatArray:
        """Return the weight of vertices without edges in earlier slices (N_SLICES,)."""
        alone = self.weight[:, 0]
        return np.asarray(np.cumsum(alone) - alone)

    def ends(
        self, most: FloatArray, caps: FloatArray, vertex_bytes: float, entry_bytes: float
    ) -> FloatArray:
        """Return the cumulative weight (k,) at which each block ends, if filled one by one.

        Each block gets up to its `most` (k,) [units] and caps (k,) [B]; all vertices of a class are
        assumed to need the same bytes per unit of weight.
        """
        total = self.weight.sum(axis=0)
        needs = vertex_bytes * self.vertices + entry_bytes * self.entries
        ends, at = np.zeros(most.size), total.size - 1
        left, filled = float(total[at]), 0.0
        for b in range(most.size):
            room, space = float(most[b]), float(caps[b])
            while at > 0:
                each = float(needs[at]) / max(float(total[at]), 1e-300)
                taken = min(left, room, space / each if each > 0 else np.inf)
                filled, left = filled + taken, left - taken
                room, space = room - taken, space - taken * each
                if left > 0:
                    break
                at -= 1
                left = float(total[at])
            ends[b] = filled
        return ends
