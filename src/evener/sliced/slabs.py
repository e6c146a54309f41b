"""SliceSlabs: divides a SlicedGraph into slabs across a direction, with given loads.

It reads the coordinates twice, and no edges. Vertices are ordered by equally wide bins along the
direction; vertices in one bin, which may be a layer of a grid, by their numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray, IntArray, IntVector, Part
from evener.sliced.rows import SlicedGraph

BINS = 1 << 12  # a bin of even meshes of 16 million vertices is as thin as the mean edge is long


@dataclass(frozen=True, eq=False)
class SliceSlabs:
    """The position of each slice's vertices in the order along the direction.

    direction (d,). low: start of the first bin along it; width: of a bin. before (own slices, BINS)
    [units]: weight that precedes the vertices of a slice in a bin.
    """

    graph: SlicedGraph
    direction: FloatArray
    low: float
    width: float
    before: FloatArray

    @classmethod
    def along(cls, graph: SlicedGraph, direction: FloatArray) -> SliceSlabs:
        """Sum the weights of bins along a direction (d,); weights must be integers. Collective."""
        low, high = np.inf, -np.inf
        for i in graph.own_slices:
            points = graph.points(i)
            if len(points):
                along = points @ direction
                low, high = min(low, float(along.min())), max(high, float(along.max()))
        spans = graph.comm.allgather((low, high))
        low, high = min(one for one, _ in spans), max(one for _, one in spans)
        width = max((high - low) / BINS, np.finfo(float).tiny)
        empty = cls(graph, direction, low, width, np.empty((0, BINS)))
        own = np.array([empty._weights_of_bins(i) for i in graph.own_slices])
        weights = np.concatenate(graph.comm.allgather(own.reshape(-1, BINS)))
        ends = np.cumsum(weights.sum(axis=0))
        first = np.concatenate([[0.0], ends[:-1]])
        before = first + np.cumsum(weights, axis=0) - weights
        start = graph.own_slices.start
        return cls(
            graph, direction, low, width, before[start : start + len(graph.own_slices)].copy()
        )

    def blocks(self, line: IntArray, loads: FloatArray) -> Part:
        """Return the block (n_local,) int32 of each vertex and ghost. Collective.

        line: the blocks in their order along the direction; loads (k,) [units]: weight of each
        block.
        """
        ends, graph = np.cumsum(loads[line])[:-1], self.graph
        made, begin = np.empty(graph.n_local, np.int32), 0
        for i, before in zip(graph.own_slices, self.before, strict=True):
            bins, weights = self._weighted(i)
            order = np.argsort(bins, kind="stable")
            sums = np.concatenate([[0.0], np.cumsum(weights[order])])
            starts = np.searchsorted(bins[order], np.arange(BINS))
            middles = sums[:-1] + weights[order] / 2 + (before - sums[starts])[bins[order]]
            own = made[begin : begin + bins.size]
            own[order] = line[np.searchsorted(ends, middles, side="left")]
            begin += bins.size
        graph.fill(made)
        return made

    def _weights_of_bins(self, i: int) -> FloatArray:
        """Return the weight (BINS,) of the vertices of slice i in each bin."""
        bins, weights = self._weighted(i)
        return np.asarray(np.bincount(bins, weights, BINS), np.float64)

    def _weighted(self, i: int) -> tuple[IntVector, FloatArray]:
        """Return the bin (r,) and the weight (r,) of each vertex of slice i."""
        along = (self.graph.points(i) @ self.direction - self.low) / self.width
        weights = self.graph.weights(i)
        bins = np.clip(along, 0, BINS - 1).astype(np.int64)
        return bins, weights if weights.size else np.ones(bins.size)


def directions_of(extents: FloatArray) -> list[FloatArray]:
    """Return directions (d,) to cut slabs across, for a box of these extents (d,).

    They are the longest axis, whose cross-sections are smallest, and the diagonal: in a cube, a
    layer across the diagonal has up to a quarter fewer vertices than a layer across an axis.
    """
    axis = (np.arange(extents.size) == int(np.argmax(extents))).astype(np.float64)
    return [axis, np.ones(extents.size)] if extents.size > 1 else [axis]
