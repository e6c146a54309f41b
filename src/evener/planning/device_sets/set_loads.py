"""Computes loads of many sets of devices at once, at which all devices of a set finish together.

What a device exchanges depends on the loads of all devices, and loads depend on exchanges: they are
computed alternately until they converge. A set is a row of a mask (s, k). Tables of times at loads
make thousands of sets cheap; `evener.sizing.solve_sizes` is the exact solver for one set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evener.arrays import BoolArray, FloatArray
from evener.plans.costs import Costs
from evener.sizing.equal_finish import finish_times

TABLE_LOADS = 256  # loads at which a speed curve is tabulated, besides its own knots
MIN_TABLE_LOAD = 1e-6  # of the whole work: the smallest load of a table
MAX_TURNS = 8  # of exchanges from loads, and loads from exchanges
SETTLED = 1e-3  # of a set's time: the turns end when no exchange changes by more
MIN_ROOM = 1e-30  # of the work: a smaller total capacity counts as none
CHUNK = 1 << 22  # entries (sets x devices) of one batch: some 32 MB for each array
ROOM_ROUNDING = 1e-12  # relative: rooms that add up to all of the work but this hold it

# (s, k) loads [units] and masks -> (s, k) seconds of exchange [s], share of the work at the border.
ExchangeLaw = Callable[[FloatArray, BoolArray], tuple[FloatArray, FloatArray]]


class ComputeTimes:
    """Seconds from loads, and loads from seconds: linear at constant speed, else by tables.

    Devices with equal speeds share a table. longest [s]: maximum time of any device for all the
    work.
    """

    def __init__(self, costs: Costs, work: float) -> None:
        self._rate = np.where(costs.last - costs.first == 1, costs.knot_speed[costs.first], np.nan)
        grid = np.r_[0.0, np.geomspace(MIN_TABLE_LOAD, 1.0, TABLE_LOADS)] * max(work, 1e-300)
        self._tables = []
        curved = np.flatnonzero(np.isnan(self._rate))
        for first in np.unique(costs.first[curved]).tolist():
            devices = curved[costs.first[curved] == first]
            own = slice(first, costs.last[devices[0]])
            knots, speeds = costs.knot_load[own], costs.knot_speed[own]
            loads = np.union1d(grid, knots[knots < grid[-1]])
            seconds = loads / np.interp(loads, knots, speeds)
            # Speeds may rise with load: by a time, the largest load that takes no longer is done.
            last = np.minimum.accumulate(seconds[::-1])[::-1]
            self._tables.append((devices, knots, speeds, loads, last))
        self.longest = float(costs.compute_seconds(np.full(costs.k, work)).max())
        self.longest = max([self.longest, *(float(table[4].max()) for table in self._tables)])

    def seconds(self, loads: FloatArray) -> FloatArray:
        """Return the seconds (s, k) [s] for loads (s, k) [units]."""
        seconds = loads / self._rate
        for devices, knots, speeds, _, _ in self._tables:
            own = loads[:, devices]
            seconds[:, devices] = own / np.interp(own, knots, speeds)
        return np.asarray(seconds)

    def most(self, seconds: FloatArray) -> FloatArray:
        """Return the largest loads (s, k) [units] that devices finish in the times (s, k) [s]."""
        done = seconds * self._rate
        for devices, _, _, loads, last in self._tables:
            done[:, devices] = np.interp(seconds[:, devices], last, loads)
        return np.asarray(done)


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates of s sets: seconds (s,) [s], loads (s, k) [units].

    Seconds are infinite if memory does not suffice.
    """

    seconds: FloatArray
    loads: FloatArray


class EqualFinish:
    """Divides `work` [units] of `n` vertices over sets of the devices of `costs`.

    high (k,) [units]: maximum load of each device.
    """

    def __init__(self, costs: Costs, work: float, n: int, high: FloatArray | None = None) -> None:
        self.k, self.n, self.work = costs.k, n, float(work)
        self.each = self.work / n if n > 0 else 0.0
        most = np.full(self.k, np.inf) if high is None else np.asarray(high, np.float64)
        self.high = np.minimum(most, self.work)
        self._costs = costs
        self._compute = ComputeTimes(costs, self.work)

    def loads_of(
        self, masks: BoolArray, exchanged: ExchangeLaw, *, drop: bool = False
    ) -> Estimates:
        """Return the loads at which all devices of each set of `masks` (s, k) finish together.

        Each device in a set gets at least the work of a mean vertex. With `drop`, a device gets no
        load if its exchange and fixed seconds take longer than the others' whole iteration, nor if
        its load would be less than half a mean vertex.
        """
        step = max(CHUNK // self.k, 1)
        chunks = [masks[i : i + step] for i in range(0, len(masks), step)]
        parts = [self._of_chunk(chunk, exchanged, drop) for chunk in chunks]
        if not parts:
            return Estimates(np.empty(0), np.empty((0, self.k)))
        return Estimates(
            np.concatenate([p.seconds for p in parts]), np.concatenate([p.loads for p in parts])
        )

    def _of_chunk(self, masks: BoolArray, exchanged: ExchangeLaw, drop: bool) -> Estimates:
        """Alternate between loads and exchanges; return the loads with the least time seen."""
        count = masks.sum(axis=1)
        room = np.where(masks, self.high, 0.0).sum(axis=1) >= self.work * (1 - ROOM_ROUNDING)
        room &= (count > 0) & (count <= self.n)
        exchange, border = np.zeros(masks.shape), np.zeros(masks.shape)
        seconds = np.full(len(masks), np.inf)
        loads = best = self._loads(exchange, border, masks, drop)
        for turn in range(MAX_TURNS):
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
        """Return the time when the last device of each set finishes (s,) [s]."""
        compute = self._compute.seconds(loads)
        if self._costs.overlap:
            own = np.maximum(compute * (1.0 - border), exchange) + compute * border
        else:
            own = compute + exchange
        own = np.where(loads > 0, own + self._costs.fixed, 0.0)
        return np.asarray(own.max(axis=1, initial=0.0))

    def _loads(
        self, exchange: FloatArray, border: FloatArray, masks: BoolArray, drop: bool
    ) -> FloatArray:
        """Return loads (s, k) [units] that finish together, for known exchanges (s, k) [s]."""
        high = np.where(masks, self.high, 0.0)
        low = np.minimum(np.where(masks & (not drop), min(self.each, self.work), 0.0), high)
        before = np.where(masks, exchange + self._costs.fixed, 0.0)

        def done(by: FloatArray) -> FloatArray:
            left = by[:, None] - (self._costs.fixed if self._costs.overlap else before)
            most = self._compute.most(np.maximum(left, 0.0))
            if self._costs.overlap:
                late = np.maximum(by[:, None] - before, 0.0)
                with np.errstate(divide="ignore", invalid="ignore"):
                    at_border = np.where(border > 0, late / border, np.inf)
                at_border = np.where(late > 0, at_border, 0.0)
                most = np.minimum(most, self._compute.most(at_border))
            return np.clip(most, low, high)

        late = before.max(axis=1, initial=0.0) + self._compute.longest
        loads = done(finish_times(done, self.work, late, little=low.sum(axis=1)))
        if drop:  # a load of less than half a vertex becomes none, unless all are so small
            some = (loads >= 0.5 * self.each) | (loads >= loads.max(axis=1, keepdims=True))
            loads = np.where(some, loads, 0.0)
        # Against huge fixed seconds, rounding hides computing: no load is done by any time.
        loads = np.where(loads.any(axis=1, keepdims=True), loads, high)
        total = loads.sum(axis=1, keepdims=True)
        some = total > MIN_ROOM * self.work  # else capacities do not suffice for the work
        return np.asarray(loads * np.where(some, self.work / np.where(some, total, 1.0), 1.0))
