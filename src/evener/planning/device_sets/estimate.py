"""Seconds per iteration of many sets of devices at once, estimated: no partition is made.

A set's sizes are evened so that compute + exchange + fixed end at one time, where what a block
exchanges follows from its size by the surface law, and whom it touches from how near the others
are. An estimate ranks sets; what a set really takes, only a plan tells.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray
from evener.planning.device_sets.equal_finish import Estimates, Evening, Exchanged
from evener.planning.device_sets.halo_law import Surface
from evener.planning.device_sets.line_arrangement import Lined, line_of
from evener.plans.costs import Costs
from evener.sizing.equal_finish import PRECISION

# Devices by their links: groups of near ones, and what a message between them costs.

MOST_LEVELS = 3  # of groups of devices by their links
DOUBLE = 256  # devices up to which pairs are summed up in double precision


def message_seconds(surface: Surface, costs: Costs) -> FloatArray:
    """(k, k) time of a message of the size that is usual between equal blocks [s]."""
    k = max(costs.k, 2)
    halo = float(surface.halos(np.full(k, surface.n / k)).max())
    return np.asarray(costs.alpha + costs.per_value * halo / max(surface.neighbours, 1.0))


def groups_of(links: FloatArray) -> npt.NDArray[np.int64]:
    """(levels, k) equal numbers for devices joined by links up to a cost, the cheapest first."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    k = len(links)
    levels: list[npt.NDArray[np.int64]] = []
    between = np.log10(np.maximum(links[~np.eye(k, dtype=bool)], 1e-30))
    for least in np.unique(np.round(between, 1)) if k > 1 else []:
        near = csr_array(links <= 10.0 ** (least + 0.05))
        count, label = connected_components(near, directed=False)
        if count == 1:
            break
        if count < (k if not levels else levels[-1].max() + 1):
            levels.append(label.astype(np.int64))
    last = len(levels) - 1
    picked = sorted(
        {round(i * last / (MOST_LEVELS - 1)) for i in range(MOST_LEVELS)} if levels else ()
    )
    return np.array([levels[i] for i in picked], np.int64).reshape(len(picked), k)


def pair_costs(groups: npt.NDArray[np.int64], costs: Costs) -> list[FloatArray]:
    """(k, 3k) for each level: 1 where a pair is joined there first, alpha, and per_value.

    The last is of pairs that no level joins. Of many devices in single precision.
    """
    kind: type[Any] = np.float64 if costs.k <= DOUBLE else np.float32
    apart = ~np.eye(costs.k, dtype=bool)
    found = []
    for row in [*groups, np.zeros(costs.k, np.int64)]:
        joined = apart & (row[:, None] == row)
        found.append(
            np.hstack([joined, joined * costs.alpha, joined * costs.per_value]).astype(kind)
        )
        apart &= ~joined
    return found


ASTRAY = 0.4  # how far partitions are from following the groups


class Estimator:
    """Estimates sets of the devices of `costs` for `work` [units] on a graph with this surface.

    high (k,) [units]: what each device can hold at most. Read: `speeds` (k,), at equal shares
    [units/s].
    """

    def __init__(
        self, surface: Surface, costs: Costs, work: float, high: FloatArray | None = None
    ) -> None:
        self.k, self.work, self.surface = costs.k, float(work), surface
        self._costs = costs
        self._per_unit = surface.n / self.work if work > 0 else 0.0
        self.evening = Evening(costs, work, surface.n, high)
        share = np.full(self.k, self.work / self.k)
        seconds = costs.compute_seconds(share)
        self.speeds = share / np.where(seconds > 0, seconds, 1.0)

    @cached_property
    def links(self) -> FloatArray:
        """(k, k) time of a message of the size that is usual between equal blocks [s]."""
        return message_seconds(self.surface, self._costs)

    @cached_property
    def groups(self) -> npt.NDArray[np.int64]:
        """(levels, k) equal numbers for devices joined by links up to a cost."""
        return groups_of(self.links)

    @cached_property
    def kinds(self) -> npt.NDArray[np.int64]:
        """(k,) equal numbers for devices that are alike: in speed, limits, and all their links."""
        links = np.sort(np.round(np.log(np.maximum(self.links, 1e-30)), 6), axis=1)
        own = self._costs
        what = np.column_stack([own.first, own.fixed, self.evening.high, links])
        return np.asarray(np.unique(what, axis=0, return_inverse=True)[1].ravel())

    @cached_property
    def _pairs(self) -> list[FloatArray]:
        return pair_costs(self.groups, self._costs)

    @cached_property
    def _lined(self) -> Lined:
        line = line_of(self._costs, self.speeds, 2.0 * self.surface.section)
        return Lined.of(line, self._costs, self.evening.each)

    def of(self, masks: BoolArray) -> Estimates:
        """Estimate the sets that masks (s, k) mark; each device in a set gets at least a vertex.

        The better of blocks and slabs, for each set.
        """
        blocks, slabs = (
            self.evening.evened(masks, exchanged) for exchanged in (self.blocks, self.slabs)
        )
        thin = slabs.seconds < blocks.seconds
        loads = np.where(thin[:, None], slabs.loads, blocks.loads)
        return Estimates(np.where(thin, slabs.seconds, blocks.seconds), loads)

    def bounds(self, masks: BoolArray, *, connected: bool) -> FloatArray:
        """(s,) seconds that no plan of a set falls below in which each device has a block.

        All compute what they have, and on a connected graph each has a message at least.
        """
        alpha = np.where(np.eye(self.k, dtype=bool), np.inf, self._costs.alpha)

        def exchange(loads: FloatArray, masks: BoolArray) -> tuple[FloatArray, FloatArray]:
            least = np.min(np.where(masks[:, None, :], alpha, np.inf), axis=2)
            talks = masks & np.isfinite(least) & connected
            return np.where(talks, least, 0.0), np.zeros_like(loads)

        return self.evening.evened(masks, exchange).seconds * (1 - 2 * PRECISION)

    def slabs(self, loads: FloatArray, masks: BoolArray) -> tuple[FloatArray, FloatArray]:
        """What `blocks` says, where blocks lie side by side along a line."""
        return self._lined.exchanged(self.surface.section)(loads, masks)

    def blocks(self, loads: FloatArray, masks: BoolArray) -> tuple[FloatArray, FloatArray]:
        """(s, k) seconds of each block's exchange; (s, k) the part of its work at its border."""
        vertices = loads * self._per_unit
        surface = self.surface.alone(vertices)
        touching, halos = self.surface.touching(vertices), self.surface.halos(vertices)
        seconds = np.zeros(masks.shape)
        for share, pairs in zip(self._shares(vertices, surface), self._pairs, strict=True):
            met, alpha, per_value = np.split(surface.astype(pairs.dtype) @ pairs, 3, axis=1)
            cost = touching * alpha + per_value * 2.0 * halos
            seconds += np.where(met > 0, share * cost / np.where(met > 0, met, 1.0), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            border = np.where(vertices > 0, np.minimum(halos / vertices, 1.0), 0.0)
        return np.where(masks, seconds, 0.0), border

    def corrected(self, loads: FloatArray, spent: FloatArray) -> Exchanged:
        """Return `blocks`, times what blocks of loads (k,) really spent (k,) [s] over its word.

        Only upward: blocks that happen to be better than usual promise nothing for others.
        """
        said = self.blocks(loads[None], loads[None] > 0)[0].sum()
        times = max(float(spent.sum() / said), 1.0) if said > 0 else 1.0

        def exchange(loads: FloatArray, masks: BoolArray) -> tuple[FloatArray, FloatArray]:
            seconds, border = self.blocks(loads, masks)
            return times * seconds, border

        return exchange

    def _shares(self, vertices: FloatArray, surface: FloatArray) -> list[FloatArray]:
        """(s, k) what part of each block's surface lies to devices joined at each level.

        The blocks of a group make a block of their own, whose surface is all that lies outside;
        the less a partition follows the groups, the more does.
        """
        total = np.maximum(surface.sum(axis=1, keepdims=True), 1e-300)
        rim = np.minimum(self.surface.alone(vertices.sum(axis=1, keepdims=True)) / total, 0.999)
        inside, shares = np.zeros(vertices.shape), []
        for row in self.groups:
            member = row[:, None] == np.arange(row.max() + 1)
            own = np.maximum((surface @ member)[:, row], 1e-300)
            whole = self.surface.alone((vertices @ member)[:, row]) / own
            best = np.clip((whole - rim) / (1.0 - rim), 0.0, 1.0)
            outside = (1.0 - ASTRAY) * best + ASTRAY * (1.0 - own / total)
            shares.append(np.maximum(1.0 - outside - inside, 0.0))
            inside = inside + shares[-1]
        return [*shares, 1.0 - inside]
