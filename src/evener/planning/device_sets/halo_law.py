"""What a block of a graph exchanges, by its size alone: the surface law of the graph at hand.

A block of v vertices in d dimensions has a surface of about v^((d - 1) / d). What lies on the rim
of the whole touches nobody, so that all surfaces together are less than their sum by that of the
whole; and no block can touch more of the others than they have. One partition tells the factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.graphs.graph import Graph
from evener.graphs.hilbert import extents
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans import metrics
from evener.plans.partition import Partition

SAMPLE_BLOCKS, SPREAD = 16, 32.0  # of the partition that the law is fitted to: how many, how unlike
MOST = 0.97  # exponent: at 1 there would be no surface, only volume
RIM = 0.1  # by which slopes are less than the exponent: the larger a block, the more rim it has
LEAST_INSIDE = 0.02  # part of all surfaces that lies between blocks
MANY = 3.0  # times its neighbours a partition must have blocks to tell how many there can be
FEW, UNLIKE = 4, 4.0  # blocks, and how unlike in size: less does not tell the exponent
SPACE = 2 / 3  # the exponent where nothing tells it
LARGE_BLOCKS = 0.3  # power of its surface by which a large block has more neighbours


@dataclass(frozen=True)
class Surface:
    """Halos and neighbours of blocks of a graph of n vertices, estimated.

    A block of v vertices sends about coefficient x v^exponent values, and receives as many;
    with ever more blocks of one size each has `neighbours`.
    """

    n: int
    coefficient: float
    exponent: float
    neighbours: float

    @property
    def section(self) -> float:
        """Values that one side of a slab sends, which divides the whole."""
        return float(0.5 * (1.0 - self.exponent) * self.coefficient * self.n**self.exponent)

    def halos(self, vertices: FloatArray) -> FloatArray:
        """(..., k) values that each block sends, of partitions into such blocks (..., k).

        A block of no vertices is none, and a single block sends nothing.
        """
        p, total, inside = self._shares(vertices)
        p = p / total
        among = 1.0 - (p * p).sum(axis=-1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            halos = self.coefficient * inside * total * p * (1.0 - p) / among
        return np.where(among > 1e-9, halos, 0.0)

    def touching(self, vertices: FloatArray) -> FloatArray:
        """(..., k) how many others each block touches, a number with a fraction."""
        p, total, inside = self._shares(vertices)
        count = (vertices > 0).sum(axis=-1, keepdims=True)
        mean = total / np.maximum(count, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            more = np.maximum(p / mean, 1.0) ** LARGE_BLOCKS
        usual = np.maximum(self.neighbours * inside * more, 1.0)
        return np.where(vertices > 0, np.minimum(usual, np.maximum(count - 1, 0)), 0.0)

    def alone(self, vertices: FloatArray) -> FloatArray:
        """Surface of blocks, in units of that of one vertex; none of no vertices."""
        some = vertices > 0
        return np.where(some, np.where(some, vertices, 1.0) ** self.exponent, 0.0)

    def _shares(self, vertices: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Each block's surface alone, their sum, and what part of it lies between blocks."""
        p = self.alone(np.asarray(vertices, np.float64))
        total = np.maximum(p.sum(axis=-1, keepdims=True), 1e-300)
        return p, total, np.clip(1.0 - float(self.n) ** self.exponent / total, LEAST_INSIDE, 1.0)


def surface_law(graph: Graph, *, seed: int = 7, threads: int = 1) -> Surface:
    """Return the law of `graph`, by blocks unlike in size that are made for it; O(n + m)."""
    blocks = min(SAMPLE_BLOCKS, graph.n // 8)
    if blocks < 2:
        return Surface(graph.n, 1.0, 0.0, float(max(graph.n - 1, 1)))
    targets = SPREAD ** -np.linspace(0.0, 1.0, blocks)
    request = Request(targets, seed=seed, threads=threads, preset="fast")
    light = graph if graph.vwgt is None else graph.with_(vwgt=None)
    partition = Partition(partition_with("metis", light, request).part, blocks)
    return surface_of(graph, metrics.quotient(graph, partition), metrics.block_sizes(partition))


def surface_of(graph: Graph, between: metrics.Quotient, sizes: npt.NDArray[np.int64]) -> Surface:
    """Return the law that blocks of `graph` tell; sizes (k,) [vertices]."""
    vertices = sizes.astype(np.float64)
    both = np.bincount(between.block, between.sent + between.received, between.k)
    met = metrics.neighbours(between).astype(np.float64)
    own = (vertices > 0) & (both > 0)
    if own.sum() < 2:
        return Surface(graph.n, 0.0, 0.0, 1.0)  # nothing hangs together: nothing is sent
    unit = Surface(graph.n, 1.0, _exponent(graph, vertices[own], both[own]), 1.0)
    per_unit = unit.halos(np.where(own, vertices, 0.0))
    coefficient = float(np.median(0.5 * both[own] / np.maximum(per_unit[own], 1e-12)))
    met_by = _neighbours(unit, vertices, met, own.sum())
    return Surface(graph.n, coefficient, unit.exponent, met_by)


def _exponent(graph: Graph, vertices: FloatArray, both: npt.NDArray[np.int64]) -> float:
    """The exponent that unlike blocks tell: of points, that of a whole number of dimensions."""
    if vertices.size < FEW or vertices.max() < UNLIKE * vertices.min():
        return surface_power(graph)
    slope = float(np.polyfit(np.log(vertices), np.log(both), 1)[0]) + RIM
    if graph.coords is None:
        return float(np.clip(slope, 0.0, MOST))
    whole = [(d - 1) / d for d in range(1, int(graph.coords.shape[1]) + 1)]
    return whole[int(np.argmin([abs(exponent - slope) for exponent in whole]))]


def surface_power(graph: Graph) -> float:
    """Return the power with which borders grow: 1 - 1/d of a graph with coordinates (n, d)."""
    if graph.coords is None:
        return SPACE
    low, high = extents(graph.coords)
    spread = high - low
    flat = spread > 1e-9 * max(float(spread.max()), 1e-300)
    return 1.0 - 1.0 / max(int(flat.sum()), 2)


def _neighbours(unit: Surface, vertices: FloatArray, met: FloatArray, count: int) -> float:
    """Neighbours of a block among ever more of its size; few blocks tell a lower bound of it."""
    usual = 3.0 / max(1.0 - unit.exponent, 1.0 - MOST)  # 6 in the plane, 9 in space
    inside = 1.0 - float(unit.n) ** unit.exponent / float(unit.alone(vertices).sum())
    seen = float(met[vertices > 0].mean()) / max(inside, 0.05)
    return float(seen if count >= MANY * usual else max(seen, usual))
