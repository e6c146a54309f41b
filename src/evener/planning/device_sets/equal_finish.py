"""Loads of many sets of devices at once, so that all devices of a set end at one time.

What a device exchanges depends on the loads of all, and they on what it exchanges: both are found
in turns. A set is a row of a mask (s, k).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evener.arrays import BoolArray, FloatArray
from evener.plans.costs import Costs
from evener.sizing.equal_finish import finish_times

# Times at loads, and loads by times, of many sets of devices at once.

LOADS = 256  # at which a device's time is looked at
LEAST_LOAD = 1e-6  # of the whole: the smallest of them


class Computing:
    """Time at loads, and loads by times, of k devices: lines where speed is constant, else tables.

    Devices whose speeds are alike share a table. `longest`: the most any takes for all the work.
    """

    def __init__(self, costs: Costs, work: float) -> None:
        self._rate = np.where(costs.last - costs.first == 1, costs.knot_speed[costs.first], np.nan)
        grid = np.r_[0.0, np.geomspace(LEAST_LOAD, 1.0, LOADS)] * max(work, 1e-300)
        self._tables = []
        curved = np.flatnonzero(np.isnan(self._rate))
        for first in np.unique(costs.first[curved]).tolist():
            devices = curved[costs.first[curved] == first]
            own = slice(first, costs.last[devices[0]])
            knots, speeds = costs.knot_load[own], costs.knot_speed[own]
            loads = np.union1d(grid, knots[knots < grid[-1]])
            seconds = loads / np.interp(loads, knots, speeds)
            # A larger load that takes no longer is what a time allows.
            last = np.minimum.accumulate(seconds[::-1])[::-1]
            self._tables.append((devices, knots, speeds, loads, last))
        self.longest = float(costs.compute_seconds(np.full(costs.k, work)).max())
        self.longest = max([self.longest, *(float(table[4].max()) for table in self._tables)])

    def seconds(self, loads: FloatArray) -> FloatArray:
        """(s, k) [s] of loads (s, k) [units]."""
        seconds = loads / self._rate
        for devices, knots, speeds, _, _ in self._tables:
            own = loads[:, devices]
            seconds[:, devices] = own / np.interp(own, knots, speeds)
        return np.asarray(seconds)

    def most(self, seconds: FloatArray) -> FloatArray:
        """(s, k) the largest loads done by times (s, k) [units]."""
        done = seconds * self._rate
        for devices, _, _, loads, last in self._tables:
            done[:, devices] = np.interp(seconds[:, devices], last, loads)
        return np.asarray(done)


TURNS = 8  # of halos from sizes, and sizes from halos
SETTLED = 1e-3  # of a set's time: by how much exchanges may still change
NEXT_TO_NOTHING = 1e-30  # of the work
CHUNK = 1 << 22  # entries (sets x devices) of one batch

# (s, k) loads [units] and masks -> (s, k) seconds of exchange, part of the work at the border.
Exchanged = Callable[[FloatArray, BoolArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class Estimates:
    """What s sets of devices would take: seconds (s,), infinity without room; loads (s, k)."""

    seconds: FloatArray
    loads: FloatArray


class Evening:
    """Evens out `work` [units] of `n` vertices over sets of the devices of `costs`.

    high (k,) [units]: what each device can hold at most.
    """

    def __init__(self, costs: Costs, work: float, n: int, high: FloatArray | None = None) -> None:
        self.k, self.n, self.work = costs.k, n, float(work)
        self.each = self.work / n if n > 0 else 0.0
        most = np.full(self.k, np.inf) if high is None else np.asarray(high, np.float64)
        self.high = np.minimum(most, self.work)
        self._costs = costs
        self._computing = Computing(costs, self.work)

    def evened(self, masks: BoolArray, exchanged: Exchanged, *, drop: bool = False) -> Estimates:
        """Return loads of the sets that `masks` mark, and the seconds they would take.

        Each device in a set gets at least a vertex; with `drop` one gets nothing whose messages
        alone would last too long.
        """
        step = max(CHUNK // self.k, 1)
        parts = [
            self._evened(masks[i : i + step], exchanged, drop) for i in range(0, len(masks), step)
        ]
        if not parts:
            return Estimates(np.empty(0), np.empty((0, self.k)))
        return Estimates(
            np.concatenate([p.seconds for p in parts]), np.concatenate([p.loads for p in parts])
        )

    def _evened(self, masks: BoolArray, exchanged: Exchanged, drop: bool) -> Estimates:
        count = masks.sum(axis=1)
        room = np.where(masks, self.high, 0.0).sum(axis=1) >= self.work * (1 - 1e-12)
        room &= (count > 0) & (count <= self.n)
        exchange, border = np.zeros(masks.shape), np.zeros(masks.shape)
        seconds = np.full(len(masks), np.inf)
        loads = best = self._loads(exchange, border, masks, drop)
        for turn in range(TURNS):
            now, border = exchanged(loads, masks)
            ends = self._ends(loads, now, border)
            better = ends < seconds
            seconds = np.where(better, ends, seconds)
            best = np.where(better[:, None], loads, best)
            if turn and (np.abs(now - exchange).max(axis=1) <= SETTLED * ends).all():
                break
            exchange = now if turn == 0 else 0.5 * (exchange + now)
            loads = self._loads(exchange, border, masks, drop)
            if drop:
                masks = loads > 0
        return Estimates(np.where(room, seconds, np.inf), best)

    def _ends(self, loads: FloatArray, exchange: FloatArray, border: FloatArray) -> FloatArray:
        """(s,) when the last device of each set is done [s]."""
        compute = self._computing.seconds(loads)
        if self._costs.overlap:
            own = np.maximum(compute * (1.0 - border), exchange) + compute * border
        else:
            own = compute + exchange
        own = np.where(loads > 0, own + self._costs.fixed, 0.0)
        return np.asarray(own.max(axis=1, initial=0.0))

    def _loads(
        self, exchange: FloatArray, border: FloatArray, masks: BoolArray, drop: bool
    ) -> FloatArray:
        """(s, k) loads that end at one time, for exchanges (s, k) that are known."""
        high = np.where(masks, self.high, 0.0)
        low = np.minimum(np.where(masks & (not drop), min(self.each, self.work), 0.0), high)
        before = np.where(masks, exchange + self._costs.fixed, 0.0)

        def done(by: FloatArray) -> FloatArray:
            left = by[:, None] - (self._costs.fixed if self._costs.overlap else before)
            most = self._computing.most(np.maximum(left, 0.0))
            if self._costs.overlap:
                late = np.maximum(by[:, None] - before, 0.0)
                with np.errstate(divide="ignore", invalid="ignore"):
                    at_border = np.where(border > 0, late / border, np.inf)
                at_border = np.where(late > 0, at_border, 0.0)
                most = np.minimum(most, self._computing.most(at_border))
            return np.clip(most, low, high)

        late = before.max(axis=1, initial=0.0) + self._computing.longest
        loads = done(finish_times(done, self.work, late, little=low.sum(axis=1)))
        if drop:  # less than half a vertex is none, unless all devices have so little
            some = (loads >= 0.5 * self.each) | (loads >= loads.max(axis=1, keepdims=True))
            loads = np.where(some, loads, 0.0)
        # Where fixed costs dwarf computing, no time that a number holds has any work done by it.
        loads = np.where(loads.any(axis=1, keepdims=True), loads, high)
        total = loads.sum(axis=1, keepdims=True)
        some = total > NEXT_TO_NOTHING * self.work  # else there is no room for the work
        return np.asarray(loads * np.where(some, self.work / np.where(some, total, 1.0), 1.0))
