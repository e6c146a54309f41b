"""Regret: move data when not having moved has cost as much as a move would.

How long an imbalance lasts is unknown. Moving at once pays for every short spike; waiting for
certainty loses time meanwhile. Adding up the seconds lost in each iteration, and moving when the
sum reaches the price of a move, costs at most about twice the offline optimum, as in the ski-rental
problem. Savings within the noise do not count.

Times are given as slowness: seconds measured / seconds by the device's model. A mean over many
iterations has little noise but reacts late; one over few is quick but noisy. So every device has a
window that grows while nothing changes, and restarts when its last few times differ from those
before by more than their scatter explains (`Watch`).

What a move would save is a prediction. How far it is to be believed is learnt from the moves before
(gains.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.rebalancing.gains import RealizedGains

# All chosen with benchmarks/rebalancing.py, seeds 11 to 17; its published figures are of others.
LONG, SHORT = 30, 10  # iterations of two means; a saving counts if it shows in both
NOISE_FLOOR = 0.06  # of the makespan after the move: smaller savings are noise
ENOUGH = 0.85  # of the price of a move: regret at which data moves
FEWEST = 5  # iterations before the first move, as a program's start is not typical
SEEN = 3  # observations before it, each of one iteration or the mean of many
FORGOTTEN = 20.0  # iterations without loss in which regret decays to 1/e
WARMING = 2  # first iterations, left out of means: caches are cold and pages new
LAST = 4  # times in a row that must all differ for a device to count as changed
LEAST, SURE = 0.02, 2.0  # they differ by this much, plus so many standard deviations of log(time)
BACK = 100  # iterations over which a trend must be steady, in both halves
TREND = 0.07  # least change of log(slowness) over BACK iterations that is a trend
STEADY = 0.25  # least share of the change that each half must have; else it is a step
AHEAD = 0.15  # largest change of log(slowness) for which a trend is extrapolated
KEPT = 160  # iterations kept: BACK + LONG, and some
MAX_SLOWNESS = 1e9  # slowness is clipped to this, and to its inverse


class Watch:
    """Means and trends of the slowness of k devices, observed once an iteration.

    Attributes: `count`, observations so far; `missing` (k,), iterations since each device last
    gave a time; `scatter` (k,), standard deviation of log(time).
    """

    def __init__(self, k: int) -> None:
        self.count = 0
        self.missing: npt.NDArray[np.int64] = np.zeros(k, np.int64)
        self.scatter: FloatArray = np.full(k, 0.05)
        self._age: npt.NDArray[np.int64] = np.zeros(k, np.int64)  # since the device changed
        self._last: FloatArray = np.ones(k)
        self._sums: FloatArray = np.zeros((KEPT, k))  # of all until then: row count % KEPT
        self._column = np.arange(k)

    def see(self, slowness: FloatArray) -> None:
        """Take in the slowness (k,) of an iteration; NaN, no time given, repeats the last one."""
        known = np.isfinite(slowness) & (slowness > 0)
        self.missing = np.where(known, 0, self.missing + 1)
        clipped = np.clip(slowness, 1 / MAX_SLOWNESS, MAX_SLOWNESS)
        seen: FloatArray = np.where(known, clipped, self._last)
        before = self._sums[self.count % KEPT]
        if self.count:
            # The mean |difference| of two normal numbers is 1.128 standard deviations.
            jump = np.abs(np.log(seen / self._last)) / 1.128
            jump = np.minimum(jump, 3 * self.scatter)  # a change of speed is not noise
            self.scatter = np.where(
                known, self.scatter + 0.03 * (jump - self.scatter), self.scatter
            )
        self.count += 1
        self._sums[self.count % KEPT] = before + seen
        self._age, self._last = self._age + 1, seen
        if self.count <= WARMING + 1:
            self._age[:] = 1
        self._notice()

    def recent(self, window: int) -> FloatArray:
        """Return (k,) mean slowness over the last `window` iterations, or since the last change."""
        return self._mean(0, np.minimum(self._age, window))

    def ahead(self, iterations: float) -> FloatArray:
        """Return (k,) slowness now; with a steady trend, that in iterations / 2 from now."""
        now = self.recent(LONG)
        if self.count <= BACK + LONG:
            return now
        width = np.full(self._last.size, LONG)
        last = self._mean(0, width)
        whole = np.log(last / self._mean(BACK, width))
        half = np.log(last / self._mean(BACK // 2, width))
        least, most = STEADY * np.abs(whole), (1 - STEADY) * np.abs(whole)
        steady = (np.abs(half) >= least) & (np.abs(half) <= most) & (half * whole > 0)
        trend = np.where(steady & (np.abs(whole) >= TREND), whole, 0.0) / BACK
        return np.asarray(now * np.exp(np.clip(0.5 * iterations * trend, -AHEAD, AHEAD)))

    def _notice(self) -> None:
        """Restart the windows of devices whose last times all differ from those before."""
        if self.count < WARMING + 2 * LAST:
            return
        earlier = np.clip(self._age - LAST, 1, LONG)
        before = self._mean(LAST, earlier)
        single = np.ones(self._age.size, np.int64)
        off = np.log([self._mean(back, single) / before for back in range(LAST)])
        limit = LEAST + SURE * self.scatter * np.sqrt(1 + 1 / earlier)
        changed = (off > limit).all(axis=0) | (off < -limit).all(axis=0)
        self._age[changed & (self._age >= 2 * LAST)] = LAST

    def _mean(self, back: int, width: npt.NDArray[np.int64]) -> FloatArray:
        """Return (k,) means over `width` (k,) iterations that ended `back` iterations ago."""
        end = self.count - back
        upper = self._sums[end % KEPT]
        lower = self._sums[(end - width) % KEPT, self._column]
        return np.asarray((upper - lower) / width)


def is_typical(observations: int, iterations: float) -> bool:
    """Return whether so many observations, of so many iterations in all, are more than a start."""
    return observations >= SEEN and iterations >= FEWEST


class Price(NamedTuple):
    """Seconds per iteration as things are and after a move, and the seconds that the move takes.

    loads: those of devices as things are, and after the move, (k,) each.
    """

    now: float
    new: float
    cost: float
    loads: tuple[FloatArray, FloatArray]

    @property
    def saving(self) -> float:
        """Seconds per iteration that a move is predicted to save."""
        return self.now - self.new


class RegretVerdict(NamedTuple):
    """Whether to move, and why: saving [s per iteration], regret [s] and the price.

    slowness (k,): for which the new plan is to be made. believed: share of the saving that is, by
    what earlier moves gained; more than one where better was measured than is predicted.
    """

    moves: bool
    saving: float
    regret: float
    price: Price
    slowness: FloatArray
    believed: float = 1.0


Pricing = Callable[[FloatArray], Price]


class Regret:
    """The rule of this module: adds up the seconds lost since an imbalance began.

    noise_floor: savings up to this share of the makespan are noise. gains: learns from moves; None:
    all is believed that is predicted. Attributes: `regret` [s]; `gains`.
    """

    def __init__(
        self, k: int, noise_floor: float = NOISE_FLOOR, gains: RealizedGains | None = None
    ) -> None:
        self.watch = Watch(k)
        self.noise_floor, self.gains = noise_floor, gains
        self.regret = 0.0
        self.since = 0  # observations at the last move
        self._done = 0.0  # iterations
        self._began = 0.0  # of these, those before the present imbalance
        self._unseen = 0  # observations before it

    def judge(
        self,
        slowness: FloatArray,
        pricing: Pricing,
        iterations: float = 1.0,
        seconds: float = np.nan,
    ) -> RegretVerdict:
        """Take in the slowness (k,) of an iteration, NaN where unknown; return whether to move.

        pricing: returns the Price at a slowness (k,). iterations: of how many it is the mean.
        seconds: that it took, waiting included; NaN where unknown.
        """
        watch = self.watch
        watch.see(slowness)
        self._done += iterations
        if self.gains is not None:
            self.gains.see(seconds, watch.recent(SHORT))
        typical = watch.recent(LONG)
        prices = [pricing(typical), pricing(watch.recent(SHORT))]
        price = min(prices, key=lambda p: p.saving)
        believed = self._believed(price)
        saving = believed * price.saving
        if price.saving <= self.noise_floor * price.new or believed <= 0:
            self.regret *= 1 - 1 / FORGOTTEN
            return RegretVerdict(False, price.saving, self.regret, prices[0], typical, believed)
        lost = iterations * saving
        if self.regret < lost:
            self._began, self._unseen = self._done - iterations, watch.count - 1
        self.regret += lost
        aim = watch.ahead(float(watch.count - self.since))
        ahead = pricing(aim)
        due = is_typical(watch.count, self._done) and self.regret >= ENOUGH * ahead.cost
        return RegretVerdict(due, price.saving, self.regret, ahead, aim, believed)

    def _believed(self, price: Price) -> float:
        """Return the share of the price's saving that is to be believed."""
        if self.gains is None or price.saving <= 0:
            return 1.0
        return self.gains.believed(price.saving, *price.loads) / price.saving

    @property
    def lasted(self) -> float:
        """Iterations since the imbalance began."""
        return self._done - self._began

    def moved(self, saving: float, loads: tuple[FloatArray, FloatArray]) -> None:
        """Reset the regret, as data has moved.

        saving: that was predicted [s per iteration]; loads: before and after, (k,) each.
        """
        if self.gains is not None:
            lasted = self.watch.count - self._unseen
            self.gains.moved(saving, loads, lasted, self.watch.recent(SHORT))
        self.regret, self.since = 0.0, self.watch.count
