"""Estimator: seconds per iteration of many sets of devices at once, without any partition.

The devices of a set get loads at which computing, exchange and fixed seconds end together. The halo
law estimates from a block's size how much it exchanges; the distances between devices determine
with which devices it exchanges. Estimates only rank sets; the real seconds of a set need a plan.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray
from evener.planning.device_sets.exchange_laws import HaloLaw, line_of, slab_law
from evener.planning.device_sets.set_loads import EqualFinish, Estimates, ExchangeLaw
from evener.plans.costs import Costs
from evener.sizing.equal_finish import PRECISION

MAX_LEVELS = 3  # of groups of devices by their links; bounds the time of an estimate
MAX_DOUBLE = 256  # devices up to which pairs are summed in double precision: above, memory counts
HALF_STEP = 0.05  # decades: link costs are rounded to 0.1, and a level has all up to its cost
# How far partitions are from following the groups: 0, each group's blocks lie together; 1, blocks
# lie anywhere. Plans with other values, 2026-11: docs/results/README.md, Seconds.
ASTRAY = 0.4


def message_seconds(law: HaloLaw, costs: Costs) -> FloatArray:
    """Return the time [s] of a typical message between equal blocks, for each pair (k, k)."""
    k = max(costs.k, 2)
    halo = float(law.halos(np.full(k, law.n / k)).max())
    return np.asarray(costs.alpha + costs.per_value * halo / max(law.neighbours, 1.0))


def groups_of(links: FloatArray) -> npt.NDArray[np.int64]:
    """Return groups (levels, k) of devices connected by links up to a cost, the cheapest first.

    links (k, k) [s]. At each level, devices of one group have the same number. At most three
    levels, evenly chosen from all that exist.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    k = len(links)
    levels: list[npt.NDArray[np.int64]] = []
    between = np.log10(np.maximum(links[~np.eye(k, dtype=bool)], 1e-30))
    for least in np.unique(np.round(between, 1)) if k > 1 else []:
        near = csr_array(links <= 10.0 ** (least + HALF_STEP))
        count, label = connected_components(near, directed=False)
        if count == 1:
            break
        if count < (k if not levels else levels[-1].max() + 1):
            levels.append(label.astype(np.int64))
    last = len(levels) - 1
    picked = sorted(
        {round(i * last / (MAX_LEVELS - 1)) for i in range(MAX_LEVELS)} if levels else ()
    )
    return np.array([levels[i] for i in picked], np.int64).reshape(len(picked), k)


def pair_costs(groups: npt.NDArray[np.int64], costs: Costs) -> list[FloatArray]:
    """Return for each level an array (k, 3k): the costs of the pairs of devices that it joins.

    An array consists of three (k, k) arrays side by side: 1, alpha and per_value for these pairs, 0
    for others. A last array is for pairs that no level joins. Single precision if there are many
    devices.
    """
    kind: type[Any] = np.float64 if costs.k <= MAX_DOUBLE else np.float32
    apart = ~np.eye(costs.k, dtype=bool)
    found = []
    for row in [*groups, np.zeros(costs.k, np.int64)]:
        joined = apart & (row[:, None] == row)
        found.append(
            np.hstack([joined, joined * costs.alpha, joined * costs.per_value]).astype(kind)
        )
        apart &= ~joined
    return found


class Estimator:
    """Estimates sets of the devices of `costs`, for `work` [units] and the halo law `law`.

    high (k,) [units]: maximum load of each device. speeds (k,) [units/s]: at equal shares.
    """

    def __init__(
        self, law: HaloLaw, costs: Costs, work: float, high: FloatArray | None = None
    ) -> None:
        self.k, self.work, self.law = costs.k, float(work), law
        self._costs = costs
        self._per_unit = law.n / self.work if work > 0 else 0.0
        self.equal_finish = EqualFinish(costs, work, law.n, high)
        share = np.full(self.k, self.work / self.k)
        seconds = costs.compute_seconds(share)
        self.speeds = share / np.where(seconds > 0, seconds, 1.0)

    @cached_property
    def links(self) -> FloatArray:
        """Times of a message of typical size between equal blocks [s], for each pair (k, k)."""
        return message_seconds(self.law, self._costs)

    @cached_property
    def groups(self) -> npt.NDArray[np.int64]:
        """Groups (levels, k) of devices that are connected by links up to a cost; see groups_of."""
        return groups_of(self.links)

    @cached_property
    def kinds(self) -> npt.NDArray[np.int64]:
        """Numbers (k,), equal for devices with equal speed, fixed seconds, capacity and links."""
        links = np.sort(np.round(np.log(np.maximum(self.links, 1e-30)), 6), axis=1)
        own = self._costs
        what = np.column_stack([own.first, own.fixed, self.equal_finish.high, links])
        return np.asarray(np.unique(what, axis=0, return_inverse=True)[1].ravel())

    @cached_property
    def _pairs(self) -> list[FloatArray]:
        return pair_costs(self.groups, self._costs)

    @cached_property
    def slabs(self) -> ExchangeLaw:
        """Like `blocks`, but for slabs: blocks in a row along a line."""
        section = self.law.section
        line = line_of(self._costs, self.speeds, 2.0 * section)
        return slab_law(line, self._costs, self.equal_finish.each, section)

    def of(self, masks: BoolArray) -> Estimates:
        """Return estimates of the sets that masks (s, k) mark; every device of a set gets a load.

        Each is the lower of the estimates for blocks and for slabs.
        """
        blocks, slabs = (
            self.equal_finish.loads_of(masks, exchanged) for exchanged in (self.blocks, self.slabs)
        )
        thin = slabs.seconds < blocks.seconds
        loads = np.where(thin[:, None], slabs.loads, blocks.loads)
        return Estimates(np.where(thin, slabs.seconds, blocks.seconds), loads)

    def bounds(self, masks: BoolArray, *, connected: bool) -> FloatArray:
        """Return lower bounds (s,) on seconds of plans in which all devices of a set have blocks.

        The only communication counted is, on a connected graph, one empty message per device.
        """
        alpha = np.where(np.eye(self.k, dtype=bool), np.inf, self._costs.alpha)

        def exchange(loads: FloatArray, masks: BoolArray) -> tuple[FloatArray, FloatArray]:
            least = np.min(np.where(masks[:, None, :], alpha, np.inf), axis=2)
            exchanging = masks & np.isfinite(least) & connected
            return np.where(exchanging, least, 0.0), np.zeros_like(loads)

        return self.equal_finish.loads_of(masks, exchange).seconds * (1 - 2 * PRECISION)

    def blocks(self, loads: FloatArray, masks: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Return blocks' seconds of exchange (s, k), and shares of work at borders (s, k)."""
        vertices = loads * self._per_unit
        surface = self.law.surfaces(vertices)
        touching, halos = self.law.touching(vertices), self.law.halos(vertices)
        seconds = np.zeros(masks.shape)
        for share, pairs in zip(self._shares(vertices, surface), self._pairs, strict=True):
            met, alpha, per_value = np.split(surface.astype(pairs.dtype) @ pairs, 3, axis=1)
            cost = touching * alpha + per_value * 2.0 * halos
            seconds += np.where(met > 0, share * cost / np.where(met > 0, met, 1.0), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            border = np.where(vertices > 0, np.minimum(halos / vertices, 1.0), 0.0)
        return np.where(masks, seconds, 0.0), border

    def corrected(self, loads: FloatArray, spent: FloatArray) -> ExchangeLaw:
        """Return `blocks`, scaled so that its sum at `loads` (k,) is that of `spent` (k,) [s].

        spent: exchange of real blocks with these loads. The law is never scaled down: that some
        blocks are better than estimated does not show that others are.
        """
        said = self.blocks(loads[None], loads[None] > 0)[0].sum()
        times = max(float(spent.sum() / said), 1.0) if said > 0 else 1.0

        def exchange(loads: FloatArray, masks: BoolArray) -> tuple[FloatArray, FloatArray]:
            seconds, border = self.blocks(loads, masks)
            return times * seconds, border

        return exchange

    def _shares(self, vertices: FloatArray, surface: FloatArray) -> list[FloatArray]:
        """Return for each level the share (s, k) of a block's surface next to devices it joins.

        If partitions followed the groups, all blocks of a group would form one region, and only the
        surface of that region would touch other groups. The weight ASTRAY mixes this with blocks at
        random positions.
        """
        total = np.maximum(surface.sum(axis=1, keepdims=True), 1e-300)
        rim = np.minimum(self.law.surfaces(vertices.sum(axis=1, keepdims=True)) / total, 0.999)
        inside, shares = np.zeros(vertices.shape), []
        for row in self.groups:
            member = row[:, None] == np.arange(row.max() + 1)
            own = np.maximum((surface @ member)[:, row], 1e-300)
            whole = self.law.surfaces((vertices @ member)[:, row]) / own
            best = np.clip((whole - rim) / (1.0 - rim), 0.0, 1.0)
            outside = (1.0 - ASTRAY) * best + ASTRAY * (1.0 - own / total)
            shares.append(np.maximum(1.0 - outside - inside, 0.0))
            inside = inside + shares[-1]
        return [*shares, 1.0 - inside]
