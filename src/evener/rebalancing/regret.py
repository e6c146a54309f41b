"""When moving data pays: as soon as not having moved has cost as much as moving would.

Nobody knows how long an imbalance lasts. Whoever moves at once pays for every spike; whoever waits
for certainty loses the difference meanwhile. Adding up what is lost each iteration, and moving when
that sum reaches the price of a move, costs at most about twice what a prophet would pay, as buying
skis when the rent paid has reached their price does. Savings within the noise are none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from evener.arrays import FloatArray
from evener.rebalancing.watching import LONG, Watch

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


class Verdict(NamedTuple):
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

    def judge(self, slowness: FloatArray, pricing: Pricing) -> Verdict:
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
            return Verdict(False, saving, self.regret, prices[0], typical)
        if self.regret < saving:
            self.began = watch.count - 1
        self.regret += saving
        aim = watch.ahead(float(watch.count - self.since))
        price = pricing(aim)
        due = watch.count >= FEWEST and self.regret >= ENOUGH * price.cost
        return Verdict(due, saving, self.regret, price, aim)

    @property
    def lasted(self) -> int:
        """Iterations since the imbalance began."""
        return self.watch.count - self.began

    def moved(self) -> None:
        """Begin anew: data has moved."""
        self.regret, self.since = 0.0, self.watch.count
