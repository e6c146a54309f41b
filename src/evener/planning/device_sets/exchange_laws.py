"""Estimates what blocks exchange from their sizes: compact blocks by HaloLaw, slabs by their order.

A block of v vertices in d dimensions has a surface of about v^((d - 1) / d). The outside of the
whole graph touches no block, so it is subtracted from the surfaces of all blocks; and no block
touches more surface than the others have. The factor, and without coordinates the exponent, are
fitted to one partition.

Slabs, which lie in a row along one line, have two neighbours each; if a slab is hardly thicker than
its border, its neighbours touch each other as well. `line_of` orders devices so that neighbours
have cheap links.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray, IntArray
from evener.graphs.graph import Graph
from evener.graphs.hilbert import extents
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.planning.device_sets.set_loads import ExchangeLaw
from evener.plans import metrics
from evener.plans.costs import Costs
from evener.plans.partition import Partition

# Set by hand with commit b50ed5e, 2026-11; no sweep is kept. Estimates only rank sets of devices,
# plans decide; benchmarks/advise.py has the results under them.
SAMPLE_BLOCKS, SAMPLE_SPREAD = 16, 32.0  # blocks of the partition fitted to; largest over smallest
MAX_EXPONENT = 0.97  # at 1, all vertices of a block would be at its border
OUTSIDE_SLOPE = 0.1  # added to fitted slopes: larger blocks have more of the graph's outside
MIN_INSIDE = 0.02  # least share of all surfaces that lies between blocks
BLOCKS_PER_NEIGHBOUR = 3.0  # least ratio of blocks to usual neighbours to trust the mean counted
MIN_FITTED, MIN_SPREAD = 4, 4.0  # least blocks, and largest over smallest, to fit an exponent
EXPONENT_IN_SPACE = 2 / 3  # (d - 1) / d for d = 3: of graphs without coordinates, if not fitted
NEIGHBOUR_POWER = 0.3  # of a block's surface over the mean, with which its neighbours grow
LONE = 1e-9  # a block with all but this share of the surface is the only one and sends nothing


@dataclass(frozen=True)
class HaloLaw:
    """Estimated halos and neighbours of blocks of a graph of n vertices.

    A block of v vertices sends about coefficient * v**exponent values and receives as many.
    neighbours: number of neighbours of a block if there are very many blocks of equal size.
    """

    n: int
    coefficient: float
    exponent: float
    neighbours: float

    @property
    def section(self) -> float:
        """Values that one side of a slab sends, if it cuts through the whole graph."""
        return float(0.5 * (1.0 - self.exponent) * self.coefficient * self.n**self.exponent)

    def halos(self, vertices: FloatArray) -> FloatArray:
        """Return the values (..., k) that each block of sizes (..., k) [vertices] sends.

        Empty blocks, and blocks that contain all vertices, send nothing.
        """
        p, total, inside = self._shares(vertices)
        p = p / total
        among = 1.0 - (p * p).sum(axis=-1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            halos = self.coefficient * inside * total * p * (1.0 - p) / among
        return np.where(among > LONE, halos, 0.0)

    def touching(self, vertices: FloatArray) -> FloatArray:
        """Return the mean number of other blocks that each block touches (..., k), as a float."""
        p, total, inside = self._shares(vertices)
        count = (vertices > 0).sum(axis=-1, keepdims=True)
        mean = total / np.maximum(count, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            more = np.maximum(p / mean, 1.0) ** NEIGHBOUR_POWER
        usual = np.maximum(self.neighbours * inside * more, 1.0)
        return np.where(vertices > 0, np.minimum(usual, np.maximum(count - 1, 0)), 0.0)

    def surfaces(self, vertices: FloatArray) -> FloatArray:
        """Return the surface of each block, in units of the surface of one vertex.

        0 without vertices.
        """
        some = vertices > 0
        return np.where(some, np.where(some, vertices, 1.0) ** self.exponent, 0.0)

    def _shares(self, vertices: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return each block's surface, the sum, and the fraction of this that is between blocks."""
        p = self.surfaces(np.asarray(vertices, np.float64))
        total = np.maximum(p.sum(axis=-1, keepdims=True), 1e-300)
        return p, total, np.clip(1.0 - float(self.n) ** self.exponent / total, MIN_INSIDE, 1.0)


def sampled_halo_law(
    graph: Graph, of_faces: bool = False, *, seed: int = 7, threads: int = 1
) -> HaloLaw:
    """Return the law of `graph`, fitted to blocks of different sizes made for this purpose.

    O(n + m). of_faces: whether values are sent for faces.
    """
    blocks = min(SAMPLE_BLOCKS, graph.n // 8)
    if blocks < 2:
        return HaloLaw(graph.n, 1.0, 0.0, float(max(graph.n - 1, 1)))
    targets = SAMPLE_SPREAD ** -np.linspace(0.0, 1.0, blocks)
    request = Request(targets, seed=seed, threads=threads, preset="fast")
    light = graph if graph.vwgt is None else graph.with_(vwgt=None)
    partition = Partition(partition_with("metis", light, request).part, blocks)
    quotient = metrics.quotient(graph, partition, of_faces=of_faces)
    return halo_law_of(graph, quotient, metrics.block_sizes(partition))


def halo_law_of(graph: Graph, quotient: metrics.Quotient, sizes: npt.NDArray[np.int64]) -> HaloLaw:
    """Return the law fitted to blocks of `graph`, sizes (k,) [vertices]."""
    vertices = sizes.astype(np.float64)
    both = np.bincount(quotient.block, quotient.sent + quotient.received, quotient.k)
    met = metrics.neighbours(quotient).astype(np.float64)
    own = (vertices > 0) & (both > 0)
    if own.sum() < 2:
        return HaloLaw(graph.n, 0.0, 0.0, 1.0)  # no block sends to another
    unit = HaloLaw(graph.n, 1.0, _exponent(graph, vertices[own], both[own]), 1.0)
    per_unit = unit.halos(np.where(own, vertices, 0.0))
    coefficient = float(np.median(0.5 * both[own] / np.maximum(per_unit[own], 1e-12)))
    neighbours = _neighbours(unit, vertices, met, own.sum())
    return HaloLaw(graph.n, coefficient, unit.exponent, neighbours)


def _exponent(graph: Graph, vertices: FloatArray, both: npt.NDArray[np.int64]) -> float:
    """Return the exponent fitted to blocks of different sizes.

    With coordinates, the nearest (d - 1) / d for an integer d.
    """
    if vertices.size < MIN_FITTED or vertices.max() < MIN_SPREAD * vertices.min():
        return surface_power(graph)
    slope = float(np.polyfit(np.log(vertices), np.log(both), 1)[0]) + OUTSIDE_SLOPE
    if graph.coords is None:
        return float(np.clip(slope, 0.0, MAX_EXPONENT))
    whole = [(d - 1) / d for d in range(1, int(graph.coords.shape[1]) + 1)]
    return whole[int(np.argmin([abs(exponent - slope) for exponent in whole]))]


def surface_power(graph: Graph) -> float:
    """Return the power of n with which borders grow: 1 - 1/d if coordinates span d axes."""
    if graph.coords is None:
        return EXPONENT_IN_SPACE
    low, high = extents(graph.coords)
    spread = high - low
    wide = spread > 1e-9 * max(float(spread.max()), 1e-300)
    return 1.0 - 1.0 / max(int(wide.sum()), 2)


def _neighbours(unit: HaloLaw, vertices: FloatArray, met: FloatArray, count: int) -> float:
    """Return how many neighbours a block has if there are very many blocks of equal size.

    If there are few blocks, each has fewer neighbours than that: their mean is a lower bound, and 6
    in the plane or 9 in space is used if it is larger.
    """
    usual = 3.0 / max(1.0 - unit.exponent, 1.0 - MAX_EXPONENT)  # 6 in the plane, 9 in space
    inside = 1.0 - float(unit.n) ** unit.exponent / float(unit.surfaces(vertices).sum())
    seen = float(met[vertices > 0].mean()) / max(inside, 0.05)
    return float(seen if count >= BLOCKS_PER_NEIGHBOUR * usual else max(seen, usual))


MIN_THICKNESS = 1e-12  # of a vertex: thinner slabs are taken to be as thick, lest zero divides
# Further slabs that a side touches: twice (border / thickness of the next slab), at most 3.
# Plans with other values, 2026-11: docs/results/README.md, Seconds.
FURTHER_PER_THINNESS, MAX_FURTHER = 2.0, 3.0


def line_of(costs: Costs, speeds: FloatArray, values: float) -> IntArray:
    """Return devices (k,) in an order in which messages of `values` between neighbours are cheap.

    The price of a message is its time times the speeds of both ends [units]: a fast device loses
    more work in that time. So if links are equal, fast devices are placed at the ends, where they
    have one neighbour. A greedy order by this price and another by time are computed; the cheaper
    one is returned.
    """
    message = costs.alpha + costs.per_value * values
    lost = message * np.add.outer(speeds, speeds)
    order = np.argsort(message.sum(axis=1), kind="stable").tolist()
    lines = [_inserted(order, price) for price in (lost, message)]
    return min(lines, key=lambda line: float(lost[line[:-1], line[1:]].sum()))


def _inserted(order: list[int], price: FloatArray) -> IntArray:
    """Insert devices one by one where each adds least to the sum of neighbours' prices (k, k)."""
    line, to = np.array(order), np.ascontiguousarray(price.T)
    between = np.zeros(line.size + 1)  # price of the two devices at each place now
    for size, device in enumerate(order[1:], 1):
        before, after = np.zeros(size + 1), np.zeros(size + 1)
        before[1:], after[:-1] = to[device, line[:size]], price[device, line[:size]]
        at = int(np.argmin(before + after - between[: size + 1]))
        line[at + 1 : size + 1] = line[at:size]
        between[at + 2 : size + 2] = between[at + 1 : size + 1]
        line[at], between[at], between[at + 1] = device, before[at], after[at]
    return line


def slab_law(line: IntArray, costs: Costs, each: float, section: float) -> ExchangeLaw:
    """Return the exchange law of slabs of devices in line (k,), whose sides send `section` values.

    each [units]: mean work of a vertex.
    """
    square = np.ix_(line, line)
    alpha, per_value = costs.alpha[square], costs.per_value[square]
    border, values, thin = section * each, 2.0 * section, MIN_THICKNESS * each

    def exchange(loads: FloatArray, masks: BoolArray) -> tuple[FloatArray, FloatArray]:
        own = loads[:, line]
        used = masks[:, line] & (own > 0)
        seconds, sides = np.zeros_like(own), np.zeros_like(own)
        for other in (_before(used), _after(used)):
            some, at = used & (other >= 0), np.maximum(other, 0)
            thick = np.maximum(np.take_along_axis(own, at, axis=1), thin)
            touched = 1.0 + np.minimum(FURTHER_PER_THINNESS * border / thick, MAX_FURTHER)
            row = np.arange(own.shape[1])
            cost = touched * alpha[row, at] + values * per_value[row, at]
            seconds += np.where(some, cost, 0.0)
            sides += some
        part = np.where(used, np.minimum(sides * border / np.maximum(own, thin), 1.0), 0.0)
        result = np.zeros_like(own), np.zeros_like(own)
        result[0][:, line], result[1][:, line] = seconds, part
        return result

    return exchange


def _before(used: BoolArray) -> IntArray:
    """Return the last used position before each position (s, k), -1 if there is none."""
    place = np.where(used, np.arange(used.shape[1]), -1)
    last = np.maximum.accumulate(place, axis=1)
    return np.concatenate([np.full((len(used), 1), -1), last[:, :-1]], axis=1)


def _after(used: BoolArray) -> IntArray:
    """Return the first used position after each position (s, k), -1 if there is none."""
    k = used.shape[1]
    place = np.where(used, np.arange(k), k)
    first = np.minimum.accumulate(place[:, ::-1], axis=1)[:, ::-1]
    after = np.concatenate([first[:, 1:], np.full((len(used), 1), k)], axis=1)
    return np.where(after < k, after, -1)
