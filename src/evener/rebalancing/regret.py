"""When moving data pays: as soon as not having moved has cost as much as moving would.

Nobody knows how long an imbalance lasts. Whoever moves at once pays for every spike; whoever waits
for certainty loses the difference meanwhile. Adding up what is lost each iteration, and moving when
that sum reaches the price of a move, costs at most about twice what a prophet would pay, as buying
skis when the rent paid has reached their price does. Savings within the noise are none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray

# What a device's recent times say of it: means over windows that end where it changed, and
# trends.
#
# Times come as slowness: seconds taken / seconds that the device's model says. A mean over many
# iterations is free of noise and late; one over few is quick and noisy. So every device has a
# window that grows while nothing happens, and starts anew where the last few times differ from
# those before by more than their scatter explains.

KEPT = 160  # iterations kept: what a trend looks back on, and its means
LAST = 4  # times in a row that must agree on a change
LEAST, SURE = 0.02, 2.0  # beside so much, the standard deviations that each must be off
LONG = 30  # iterations that a mean is taken over at most
BACK = 100  # iterations back, and half of it: where a trend must have been seen too
TREND = 0.07  # least rise or fall of a trend over so many, as a logarithm
STEADY = 0.25  # the least share of it that each half must have: else it is a step
AHEAD = 0.15  # the farthest a trend is believed to go on, as a logarithm
WARMING = (
    2  # first iterations that no mean counts once there are others: caches are cold, pages new
)
MOST = 1e9  # slowness beyond this, or below its inverse, is not told apart


class Watch:
    """Remembers the slowness of k devices, one observation an iteration.

    Read: `count`, observations so far; `missing` (k,), for how many in a row each has been silent;
    `scatter` (k,), the standard deviation of a time's logarithm.
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
        """Take in one iteration (k,); NaN where a device has told nothing: it is as it was."""
        told = np.isfinite(slowness) & (slowness > 0)
        self.missing = np.where(told, 0, self.missing + 1)
        seen: FloatArray = np.where(told, np.clip(slowness, 1 / MOST, MOST), self._last)
        before = self._sums[self.count % KEPT]
        if self.count:
            jump = np.abs(np.log(seen / self._last)) / 1.128  # the mean |difference| of two
            jump = np.minimum(jump, 3 * self.scatter)  # a change is no noise
            self.scatter = np.where(told, self.scatter + 0.03 * (jump - self.scatter), self.scatter)
        self.count += 1
        self._sums[self.count % KEPT] = before + seen
        self._age, self._last = self._age + 1, seen
        if self.count <= WARMING + 1:
            self._age[:] = 1
        self._notice()

    def recent(self, window: int) -> FloatArray:
        """(k,) mean slowness over the last `window` iterations, or since the device changed."""
        return self._mean(0, np.minimum(self._age, window))

    def ahead(self, iterations: float) -> FloatArray:
        """(k,) slowness now, or half of so many iterations ahead where a steady trend leads."""
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
        """Begin the windows anew of devices whose last times all differ from those before."""
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
        """(k,) means over `width` (k,) iterations that end `back` iterations ago."""
        end = self.count - back
        upper = self._sums[end % KEPT]
        lower = self._sums[(end - width) % KEPT, self._column]
        return np.asarray((upper - lower) / width)


SHORT = 10  # iterations: a saving must show in the mean of these and of LONG
NOISE_FLOOR = 0.06  # of the makespan after the move: smaller savings are noise
ENOUGH = 0.85  # of the price of moving: regret that is enough
FEWEST = 5  # iterations before the first move: what begins is often odd
FORGOTTEN = 20.0  # iterations without loss in which regret falls to 1/e


class Price(NamedTuple):
    """Seconds per iteration as things are and after a move, and the seconds that the move takes."""

    now: float
    new: float
    cost: float


class RegretVerdict(NamedTuple):
    """Whether to move, and why: saving [s per iteration], regret and price so far [s].

    slowness (k,): what the new plan is to be made for.
    """

    moves: bool
    saving: float
    regret: float
    price: Price
    slowness: FloatArray


Pricing = Callable[[FloatArray], Price]


class Regret:
    """Adds up the seconds lost since an imbalance began; see the head of this file.

    noise_floor: savings up to this share of the makespan are noise. Read: `regret` [s].
    """

    def __init__(self, k: int, noise_floor: float = NOISE_FLOOR) -> None:
        self.watch = Watch(k)
        self.noise_floor = noise_floor
        self.regret = 0.0
        self.since = 0  # observations when the last move was made
        self.began = 0  # and when the imbalance did

    def judge(self, slowness: FloatArray, pricing: Pricing) -> RegretVerdict:
        """Take in one iteration's slowness (k,), NaN where unknown, and say whether to move.

        pricing: what an iteration takes at a slowness (k,), and would after a move.
        """
        watch = self.watch
        watch.see(slowness)
        typical = watch.recent(LONG)
        prices = [pricing(typical), pricing(watch.recent(SHORT))]
        price = min(prices, key=lambda p: p.now - p.new)
        saving = price.now - price.new
        if saving <= self.noise_floor * price.new:
            self.regret *= 1 - 1 / FORGOTTEN
            return RegretVerdict(False, saving, self.regret, prices[0], typical)
        if self.regret < saving:
            self.began = watch.count - 1
        self.regret += saving
        aim = watch.ahead(float(watch.count - self.since))
        price = pricing(aim)
        due = watch.count >= FEWEST and self.regret >= ENOUGH * price.cost
        return RegretVerdict(due, saving, self.regret, price, aim)

    @property
    def lasted(self) -> int:
        """Iterations since the imbalance began."""
        return self.watch.count - self.began

    def moved(self) -> None:
        """Begin anew: data has moved."""
        self.regret, self.since = 0.0, self.watch.count
