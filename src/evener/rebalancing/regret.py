"""Regret: move data when the time lost by not moving has nearly reached the cost of a move.

It is unknown how long an imbalance will last. If data moves at once, every short spike costs a
move; if it moves only once the imbalance is certain, time is lost until then. This rule adds up the
seconds lost in each iteration, and data moves when the sum reaches the price of a move. This costs
at most about twice the offline optimum, as in the ski-rental problem. Savings within the noise do
not count. "Nearly" is the share ENOUGH.

Times are expressed as slowness: (measured seconds) / (seconds by the device's model). A mean over
many iterations has little noise but reacts late; a mean over few reacts quickly but is noisy.
Therefore every device has a window that grows while nothing changes, and that restarts when its
last few times differ from the times before by more than their scatter explains (`Watch`).

The saving of a move is a prediction. Gains of earlier moves determine how much to trust it
(gains.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.rebalancing.gains import RealizedGains

# All chosen with benchmarks/rebalancing.py, seeds 11 to 17; its published figures use other seeds.
LONG, SHORT = 30, 10  # numbers of iterations of two means; both must show a saving
NOISE_FLOOR = 0.06  # savings below this fraction of the makespan after the move are noise
ENOUGH = 0.85  # data moves when the regret reaches this fraction of the price of a move
FEWEST = 5  # iterations before the first move, as a program's start is not typical
SEEN = 3  # observations before the first move, each of one iteration or the mean of many
FORGOTTEN = 20.0  # regret decays to 1/e in this many iterations without loss
WARMING = 2  # this many first iterations are left out of means: caches are cold and pages new
LAST = 4  # a device counts as changed if this many times in a row differ from earlier ones
LEAST, SURE = 0.02, 2.0  # they must differ by LEAST + SURE standard deviations of log(time)
BACK = 100  # a trend must be steady over this many iterations, in both halves
TREND = 0.07  # least change of log(slowness) over BACK iterations that counts as a trend
STEADY = 0.25  # least fraction of the change that each half must have; else it is a step
AHEAD = 0.15  # a trend is extrapolated to at most this change of log(slowness)
KEPT = 160  # number of iterations stored: a little more than BACK + LONG
MAX_SLOWNESS = 1e9  # slowness is clipped to this, and to its inverse


class Watch:
    """Means and trends of the slowness of k devices.

    Attributes: `count`, number of observations so far; `missing` (k,), number of observations since
    the last time of each device; `scatter` (k,), standard deviation of log(time).
    """

    def __init__(self, k: int) -> None:
        self.count = 0
        self.missing: npt.NDArray[np.int64] = np.zeros(k, np.int64)
        self.scatter: FloatArray = np.full(k, 0.05)
        self._age: npt.NDArray[np.int64] = np.zeros(k, np.int64)  # observations since a change
        self._last: FloatArray = np.ones(k)
        self._sums: FloatArray = np.zeros((KEPT, k))  # row i % KEPT: sums of the first i values
        self._column = np.arange(k)

    def see(self, slowness: FloatArray) -> None:
        """Record the slowness (k,) of an iteration; NaN (no time) repeats the last value."""
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
        """Return the mean slowness (k,) over at most the last `window` observations.

        For a device that changed more recently, the mean begins at the change.
        """
        return self._mean(0, np.minimum(self._age, window))

    def ahead(self, iterations: float) -> FloatArray:
        """Return the slowness (k,) now or, for devices with a steady trend, extrapolated.

        For these devices, it is the slowness expected after a further iterations / 2 iterations.
        """
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
        """Restart the windows of devices whose last LAST times all differ from those before."""
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
        """Return the means (k,) over `width` (k,) observations, the last of them `back` ago."""
        end = self.count - back
        upper = self._sums[end % KEPT]
        lower = self._sums[(end - width) % KEPT, self._column]
        return np.asarray((upper - lower) / width)


def is_typical(observations: int, iterations: float) -> bool:
    """Return whether enough has been observed for a first move.

    iterations: the total number of iterations in all observations.
    """
    return observations >= SEEN and iterations >= FEWEST


class Price(NamedTuple):
    """The predicted effect of a move.

    now, new [s]: time of an iteration without and with the move. cost [s]: time that the move
    takes. loads: those of the devices before and after the move, (k,) each [units].
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
    """Whether to move, and the reasons: saving [s per iteration], regret [s] and the price.

    slowness (k,): the slowness for which a new plan must be made. believed: fraction of the saving
    that is expected, given the gains of earlier moves; above one if measurements were better than
    the prediction.
    """

    moves: bool
    saving: float
    regret: float
    price: Price
    slowness: FloatArray
    believed: float = 1.0


Pricing = Callable[[FloatArray], Price]


class Regret:
    """The rule of this module: it adds up the seconds lost since an imbalance began.

    noise_floor: savings up to this fraction of the makespan are noise. gains: learns from moves how
    far to believe predictions; None: predictions are believed. Attributes: `regret` [s]; `gains`.
    """

    def __init__(
        self, k: int, noise_floor: float = NOISE_FLOOR, gains: RealizedGains | None = None
    ) -> None:
        self.watch = Watch(k)
        self.noise_floor, self.gains = noise_floor, gains
        self.regret = 0.0
        self.since = 0  # number of observations before the last move
        self._done = 0.0  # number of iterations so far
        self._began = 0.0  # number of iterations before the current imbalance
        self._unseen = 0  # number of observations before the current imbalance

    def judge(
        self,
        slowness: FloatArray,
        pricing: Pricing,
        iterations: float = 1.0,
        seconds: float = np.nan,
    ) -> RegretVerdict:
        """Record the slowness (k,) of an iteration, NaN if unknown; return whether to move.

        pricing: returns the Price at a slowness (k,). iterations: number of iterations of which the
        slowness is the mean. seconds: wall time of an iteration including waiting, NaN if unknown.
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
        """Return the fraction of the predicted saving to expect."""
        if self.gains is None or price.saving <= 0:
            return 1.0
        return self.gains.believed(price.saving, *price.loads) / price.saving

    @property
    def lasted(self) -> float:
        """Iterations since the imbalance began."""
        return self._done - self._began

    def moved(self, saving: float, loads: tuple[FloatArray, FloatArray]) -> None:
        """Reset the regret after a move of data.

        saving: the predicted saving [s per iteration]. loads: those before and after the move, (k,)
        each [units].
        """
        if self.gains is not None:
            lasted = self.watch.count - self._unseen
            self.gains.moved(saving, loads, lasted, self.watch.recent(SHORT))
        self.regret, self.since = 0.0, self.watch.count
