"""Seconds per iteration of many sets of devices at once, estimated: no partition is made.

A set's sizes are evened so that compute + exchange + fixed end at one time, where what a block
exchanges follows from its size by the surface law, and whom it touches from how near the others
are. An estimate ranks sets; what a set really takes, only a plan tells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray
from evener.costs import Costs
from evener.solving.computing import Computing
from evener.solving.linked import groups_of, message_seconds, pair_costs
from evener.solving.surfaces import Surface

ROUNDS = 8  # of halos from sizes, and sizes from halos
SETTLED = 1e-3  # of a set's time: by how much exchanges may still change
STEPS, PRECISION = 60, 1e-5  # of finding the time by which all is done
ASTRAY = 0.4  # how far partitions are from following the groups
CHUNK = 1 << 22  # entries (sets x devices) of one batch


Exchanged = Callable[[FloatArray, BoolArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class Estimates:
    """What s sets of devices would take: seconds (s,), infinity without room; loads (s, k)."""

    seconds: FloatArray
    loads: FloatArray


class Estimator:
    """Estimates sets of the devices of `costs` for `work` [units] on a graph with this surface.

    high (k,) [units]: what each device can hold at most.
    """

    def __init__(
        self, surface: Surface, costs: Costs, work: float, high: FloatArray | None = None
    ) -> None:
        self.k, self.work = costs.k, float(work)
        self._surface, self._costs = surface, costs
        self._per_unit = surface.n / self.work if work > 0 else 0.0
        self._least = min(1.0 / self._per_unit, self.work) if self._per_unit > 0 else 0.0
        most = np.full(self.k, np.inf) if high is None else np.asarray(high, np.float64)
        self._high = np.minimum(most, self.work)
        self._computing = Computing(costs, self.work)
        self.links = message_seconds(surface, costs)
        self.groups = groups_of(self.links)
        self._pairs = pair_costs(self.groups, costs)

    def of(self, masks: BoolArray) -> Estimates:
        """Estimate the sets that masks (s, k) mark; each device in a set gets at least a vertex."""
        step = max(CHUNK // self.k, 1)
        parts = [self._of(masks[i : i + step]) for i in range(0, len(masks), step)]
        if not parts:
            return Estimates(np.empty(0), np.empty((0, self.k)))
        return Estimates(
            np.concatenate([p.seconds for p in parts]), np.concatenate([p.loads for p in parts])
        )

    def evened(self, devices: npt.NDArray[np.int64], exchange: FloatArray) -> FloatArray:
        """(k,) loads [units] of these devices that end at one time, exchanges (k,) [s] known."""
        mask = np.zeros((1, self.k), np.bool_)
        mask[0, devices] = True
        high = np.where(mask, self._high, 0.0)
        low = np.minimum(np.where(mask, self._least, 0.0), high)
        border = np.zeros(mask.shape)
        return np.asarray(self._evened(exchange[None], border, mask, low, high)[0])

    def shaped(self, devices: npt.NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        """Return the loads (k,) of this set if it has slabs, and if it has blocks [units]."""
        mask = np.zeros((1, self.k), np.bool_)
        mask[0, devices] = True
        return self._shaped(mask, self._slabs).loads[0], self._shaped(mask, self._blocks).loads[0]

    def kinds(self) -> npt.NDArray[np.int64]:
        """(k,) equal numbers for devices that are alike: in speed, limits, and all their links."""
        links = np.sort(np.round(np.log(np.maximum(self.links, 1e-30)), 6), axis=1)
        own = self._costs
        what = np.column_stack([own.first, own.fixed, self._high, links])
        return np.asarray(np.unique(what, axis=0, return_inverse=True)[1].ravel())

    def _of(self, masks: BoolArray) -> Estimates:
        """The better of blocks and slabs, for each set."""
        blocks, slabs = (self._shaped(masks, exchange) for exchange in (self._blocks, self._slabs))
        thin = slabs.seconds < blocks.seconds
        loads = np.where(thin[:, None], slabs.loads, blocks.loads)
        return Estimates(np.where(thin, slabs.seconds, blocks.seconds), loads)

    def _shaped(self, masks: BoolArray, exchanged: Exchanged) -> Estimates:
        high = np.where(masks, self._high, 0.0)
        low = np.minimum(np.where(masks, self._least, 0.0), high)
        count = masks.sum(axis=1)
        room = (high.sum(axis=1) >= self.work * (1 - 1e-12)) & (count > 0)
        room &= count <= self._surface.n
        exchange = np.zeros(masks.shape)
        loads = self._evened(exchange, exchange, masks, low, high)
        seconds = np.full(len(masks), np.inf)
        best = loads
        for turn in range(ROUNDS):
            now, border = exchanged(loads, masks)
            ends = self._ends(loads, now, border, masks)
            better = ends < seconds
            seconds = np.where(better, ends, seconds)
            best = np.where(better[:, None], loads, best)
            if turn and (np.abs(now - exchange).max(axis=1) <= SETTLED * ends).all():
                break
            exchange = now if turn == 0 else 0.5 * (exchange + now)
            loads = self._evened(exchange, border, masks, low, high)
        return Estimates(np.where(room, seconds, np.inf), best)

    def _blocks(self, loads: FloatArray, masks: BoolArray) -> tuple[FloatArray, FloatArray]:
        """(s, k) seconds of each block's exchange; (s, k) the part of its work at its border."""
        vertices = loads * self._per_unit
        surface = self._surface.alone(vertices)
        return self._exchange(
            vertices, masks, surface, self._shares(vertices, surface),
            self._surface.touching(vertices), self._surface.halos(vertices),
        )  # fmt: skip

    def _slabs(self, loads: FloatArray, masks: BoolArray) -> tuple[FloatArray, FloatArray]:
        """The same where blocks lie side by side along a line, those of a group together."""
        vertices = loads * self._per_unit
        count = masks.sum(axis=1, keepdims=True)
        sides = np.where(masks, np.minimum(2.0 - 2.0 / np.maximum(count, 1), count - 1.0), 0.0)
        section = self._surface.section
        with np.errstate(divide="ignore", invalid="ignore"):
            further = np.minimum(2.0 * section / np.where(vertices > 0, vertices, np.inf), 3.0)
        inside, shares = np.zeros(vertices.shape), []
        for row in self.groups:
            member = row[:, None] == np.arange(row.max() + 1)
            own = np.maximum((masks @ member.astype(np.float64))[:, row], 1.0)
            outside = np.where(own < count, 1.0 / own, 0.0)
            shares.append(np.maximum(1.0 - outside - inside, 0.0))
            inside = inside + shares[-1]
        touching = np.minimum(sides * (1.0 + further), np.maximum(count - 1.0, 0.0))
        weight = masks.astype(np.float64)
        return self._exchange(
            vertices, masks, weight, [*shares, 1.0 - inside], touching, sides * section
        )

    def _exchange(
        self,
        vertices: FloatArray,
        masks: BoolArray,
        weight: FloatArray,
        shares: list[FloatArray],
        touching: FloatArray,
        halos: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Price messages and halos; weight (s, k): how likely each block is a neighbour."""
        seconds = np.zeros(masks.shape)
        for share, pairs in zip(shares, self._pairs, strict=True):
            met, alpha, beta = np.split(weight.astype(pairs.dtype) @ pairs, 3, axis=1)
            cost = touching * alpha + beta * 2.0 * halos
            seconds += np.where(met > 0, share * cost / np.where(met > 0, met, 1.0), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            border = np.where(vertices > 0, np.minimum(halos / vertices, 1.0), 0.0)
        return np.where(masks, seconds, 0.0), border

    def _shares(self, vertices: FloatArray, surface: FloatArray) -> list[FloatArray]:
        """(s, k) what part of each block's surface lies to devices joined at each level.

        The blocks of a group make a block of their own, whose surface is all that lies outside;
        the less a partition follows the groups, the more does.
        """
        total = np.maximum(surface.sum(axis=1, keepdims=True), 1e-300)
        rim = np.minimum(self._surface.alone(vertices.sum(axis=1, keepdims=True)) / total, 0.999)
        inside, shares = np.zeros(vertices.shape), []
        for row in self.groups:
            member = row[:, None] == np.arange(row.max() + 1)
            own = np.maximum((surface @ member)[:, row], 1e-300)
            whole = self._surface.alone((vertices @ member)[:, row]) / own
            best = np.clip((whole - rim) / (1.0 - rim), 0.0, 1.0)
            outside = (1.0 - ASTRAY) * best + ASTRAY * (1.0 - own / total)
            shares.append(np.maximum(1.0 - outside - inside, 0.0))
            inside = inside + shares[-1]
        return [*shares, 1.0 - inside]

    def _ends(
        self, loads: FloatArray, exchange: FloatArray, border: FloatArray, masks: BoolArray
    ) -> FloatArray:
        """(s,) when the last device of each set is done [s]."""
        compute = self._computing.seconds(loads)
        if self._costs.overlap:
            own = np.maximum(compute * (1.0 - border), exchange) + compute * border
        else:
            own = compute + exchange
        own = np.where(masks, own + self._costs.fixed, 0.0)
        return np.asarray(own.max(axis=1, initial=0.0))

    def _evened(
        self,
        exchange: FloatArray,
        border: FloatArray,
        masks: BoolArray,
        low: FloatArray,
        high: FloatArray,
    ) -> FloatArray:
        """(s, k) loads that end at one time, for exchanges (s, k) that are known."""
        before = np.where(masks, exchange + self._costs.fixed, 0.0)

        def done(by: FloatArray) -> FloatArray:
            left = by[:, None] - (self._costs.fixed if self._costs.overlap else before)
            most = self._computing.most(np.maximum(left, 0.0))
            if self._costs.overlap:
                late = np.maximum(by[:, None] - before, 0.0)
                with np.errstate(divide="ignore", invalid="ignore"):
                    at_border = np.where(border > 0, late / border, np.inf)
                most = np.minimum(most, self._computing.most(at_border))
            return np.clip(most, low, high)

        early, late = (
            np.zeros(len(masks)),
            before.max(axis=1, initial=0.0) + self._computing.longest,
        )
        little, much = low.sum(axis=1), done(late).sum(axis=1)
        for step in range(STEPS):
            if (late - early <= PRECISION * late).all():
                break
            # Loads are nearly lines, but may jump: halve every second step.
            with np.errstate(divide="ignore", invalid="ignore"):
                share = np.clip((self.work - little) / (much - little), 0.01, 0.99)
            share = np.where(np.isfinite(share) & (step % 2 == 0), share, 0.5)
            middle = early + share * (late - early)
            sums = done(middle).sum(axis=1)
            enough = sums >= self.work
            late, much = np.where(enough, middle, late), np.where(enough, sums, much)
            early, little = np.where(enough, early, middle), np.where(enough, little, sums)
        loads = done(late)
        total = loads.sum(axis=1, keepdims=True)
        return loads * (self.work / np.where(total > 0, total, 1.0))
