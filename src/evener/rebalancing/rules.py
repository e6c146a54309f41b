"""Rules that say when to move data, for the simulation: ours, and those it is compared with.

Each is asked after every iteration and returns the shares to move to, or None.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from evener.arrays import FloatArray
from evener.rebalancing.regret import SHORT, Price, Regret, Watch


class MoveCost(NamedTuple):
    """Seconds that a move takes: fixed + per_share x the largest change of a share / the largest.

    A block as large as the largest one takes `per_share` to move as a whole.
    """

    fixed: float
    per_share: float

    def of(self, old: FloatArray, new: FloatArray) -> FloatArray:
        """Seconds (...) from shares old (..., k) to new (..., k)."""
        change = np.abs(new - old).max(axis=-1) / old.max(axis=-1)
        return np.asarray(self.fixed + self.per_share * change)


class Rule(Protocol):
    """Says when to move, and to which shares (k,) of the work."""

    def observe(self, shares: FloatArray, seen: FloatArray) -> FloatArray | None:
        """Return new shares or None; seen (k,): unit seconds as measured in this iteration."""


def balanced(unit_seconds: FloatArray) -> FloatArray:
    """Shares (..., k) with which all are done together."""
    speed = 1 / unit_seconds
    return np.asarray(speed / speed.sum(axis=-1, keepdims=True))


@dataclass
class RegretRule:
    """Ours: evener.rebalancing.regret, the code that Rebalancer runs."""

    k: int
    cost: MoveCost
    regret: Regret = field(init=False)

    def __post_init__(self) -> None:
        self.regret = Regret(self.k)

    def observe(self, shares: FloatArray, seen: FloatArray) -> FloatArray | None:
        """Return new shares where regret has reached the price."""

        def pricing(slowness: FloatArray) -> Price:
            new = balanced(slowness)
            cost = float(self.cost.of(shares, new))
            return Price(float((shares * slowness).max()), float((new * slowness).max()), cost)

        verdict = self.regret.judge(seen, pricing)
        if not verdict.moves:
            return None
        self.regret.moved()
        return balanced(verdict.slowness)


class Never:
    """Stays with what was best at the start."""

    def observe(self, shares: FloatArray, seen: FloatArray) -> FloatArray | None:
        """Return None."""
        del shares, seen
        return None


@dataclass
class _Watching:
    """A rule that keeps the means of what k devices do."""

    k: int
    watch: Watch = field(init=False)

    def __post_init__(self) -> None:
        self.watch = Watch(self.k)


@dataclass
class Every(_Watching):
    """Moves every n iterations, 1 being always."""

    n: int

    def observe(self, shares: FloatArray, seen: FloatArray) -> FloatArray | None:
        """Return what the last ten iterations ask for, at the end of every n."""
        del shares
        self.watch.see(seen)
        return None if self.watch.count % self.n else balanced(self.watch.recent(SHORT))


@dataclass
class Threshold(_Watching):
    """Moves where the slowest takes so much longer than all would if even.

    cool_down: iterations after a move in which none follows.
    """

    excess: float
    cool_down: int = 0
    last: int = -1_000_000

    def observe(self, shares: FloatArray, seen: FloatArray) -> FloatArray | None:
        """Return balanced shares beyond the threshold."""
        self.watch.see(seen)
        now = self.watch.recent(SHORT)
        new = balanced(now)
        uneven = (shares * now).max() > (1 + self.excess) * (new * now).max()
        if not uneven or self.watch.count - self.last < self.cool_down:
            return None
        self.last = self.watch.count
        return new


@dataclass
class Horizon(_Watching):
    """Moves where saving x remaining iterations exceeds the cost; it knows when the run ends."""

    cost: MoveCost
    iterations: int

    def observe(self, shares: FloatArray, seen: FloatArray) -> FloatArray | None:
        """Return balanced shares where the rest of the run would pay for them."""
        self.watch.see(seen)
        now = self.watch.recent(SHORT)
        new = balanced(now)
        saving = (shares * now).max() - (new * now).max()
        remain = self.iterations - self.watch.count
        return new if saving * remain > self.cost.of(shares, new) else None
