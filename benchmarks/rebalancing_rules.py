"""Rules that say when to move data, simulated on drifting devices beside the offline optimum.

    found = simulate(drift("steps", seed=1), MoveCost(50, 100), "regret")
    best = offline_optimum(drift("steps", seed=1), MoveCost(50, 100))

The first rule is the code that Rebalancer runs; the others are what it is compared with. A rule is
asked after every iteration and returns the shares of the work to move to, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.rebalancing.gains import RealizedGains
from evener.rebalancing.regret import SHORT, Price, Regret, Watch

if TYPE_CHECKING:
    from rebalancing_drifts import DriftingSpeeds


class MoveCost(NamedTuple):
    """Seconds of a move: fixed + per_share x (largest change of a share / largest share).

    Moving the largest block as a whole takes fixed + per_share.
    """

    fixed: float
    per_share: float

    def of(self, old: FloatArray, new: FloatArray) -> FloatArray:
        """Return seconds (...) from shares old (..., k) to new (..., k)."""
        change = np.abs(new - old).max(axis=-1) / old.max(axis=-1)
        return np.asarray(self.fixed + self.per_share * change)


class MovingRule(Protocol):
    """Decides after each iteration whether to move, and to which shares (k,) of the work."""

    def observe(self, shares: FloatArray, seen: FloatArray) -> FloatArray | None:
        """Return new shares or None; seen (k,): unit seconds as measured in this iteration."""


def balanced(unit_seconds: FloatArray) -> FloatArray:
    """Return shares (..., k) with which all devices end together."""
    speed = 1 / unit_seconds
    return np.asarray(speed / speed.sum(axis=-1, keepdims=True))


@dataclass
class RegretRule:
    """The rule of evener.rebalancing.regret, which Rebalancer runs."""

    k: int
    cost: MoveCost
    regret: Regret = field(init=False)

    def __post_init__(self) -> None:
        self.regret = Regret(self.k, gains=RealizedGains())

    def observe(self, shares: FloatArray, seen: FloatArray) -> FloatArray | None:
        """Return new shares once regret has reached the price of the move."""

        def pricing(slowness: FloatArray) -> Price:
            new = balanced(slowness)
            cost, loads = float(self.cost.of(shares, new)), (shares, new)
            now, then = (float((own * slowness).max()) for own in loads)
            return Price(now, then, cost, loads)

        verdict = self.regret.judge(seen, pricing, seconds=float((shares * seen).max()))
        if not verdict.moves:
            return None
        self.regret.moved(verdict.price.saving, verdict.price.loads)
        return balanced(verdict.slowness)


class Never:
    """Never moves: keeps the shares that are balanced at the start."""

    def observe(self, shares: FloatArray, seen: FloatArray) -> FloatArray | None:
        """Return None."""
        del shares, seen
        return None


@dataclass
class _Watching:
    """A rule that keeps running means of the times of k devices."""

    k: int
    watch: Watch = field(init=False)

    def __post_init__(self) -> None:
        self.watch = Watch(self.k)


@dataclass
class Every(_Watching):
    """Moves every n iterations, 1 being always."""

    n: int

    def observe(self, shares: FloatArray, seen: FloatArray) -> FloatArray | None:
        """Return shares balanced for the last SHORT iterations, every n iterations."""
        del shares
        self.watch.see(seen)
        return None if self.watch.count % self.n else balanced(self.watch.recent(SHORT))


@dataclass
class Threshold(_Watching):
    """Moves when the slowest device takes 1 + excess times as long as balanced shares would.

    cool_down: iterations after a move without another.
    """

    excess: float
    cool_down: int = 0
    last: int = -1_000_000

    def observe(self, shares: FloatArray, seen: FloatArray) -> FloatArray | None:
        """Return balanced shares above the threshold."""
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
    """Moves when saving x remaining iterations exceeds the cost; knows when the run ends."""

    cost: MoveCost
    iterations: int

    def observe(self, shares: FloatArray, seen: FloatArray) -> FloatArray | None:
        """Return balanced shares if the rest of the run, as it is now, would pay for them."""
        self.watch.see(seen)
        now = self.watch.recent(SHORT)
        new = balanced(now)
        saving = (shares * now).max() - (new * now).max()
        remain = self.iterations - self.watch.count
        return new if saving * remain > self.cost.of(shares, new) else None


WINDOWS = (10, 30, 100, 300, 1000, 3000)  # iterations that a move of the optimum may look ahead
STEP = 10  # iterations between two moves of the optimum
FIRST_STATES = 60  # kept in the first pass, which finds any good sequence as an upper bound


def offline_optimum(
    drift: DriftingSpeeds, cost: MoveCost, *, windows: Sequence[int] = WINDOWS, step: int = STEP
) -> float:
    """Return the least seconds of a run with full knowledge of the future, by dynamic programming.

    Every `step` iterations it may move to shares that are balanced for the mean of the coming 10,
    30, 100, ... iterations. States are pruned by a bound: from there on, all work at the speed of
    all devices together, and moves for free. Raises UsageError where the drift's iterations are no
    multiple of `step`.
    """
    seconds = drift.unit_seconds
    if step < 1 or len(seconds) % step:
        raise UsageError(f"{len(seconds)} iterations are no multiple of {step}")
    free = 1 / (1 / seconds).sum(axis=1)
    rest = np.cumsum(free[::-1])[::-1][::step]
    coming = _coming(seconds, windows, step)
    some = _least(seconds, coming, cost, rest, np.inf, FIRST_STATES)
    return _least(seconds, coming, cost, rest, some * (1 + 1e-9), seconds.size)


def _coming(seconds: FloatArray, windows: Sequence[int], step: int) -> FloatArray:
    """Return (n / step, windows, k) shares balanced for the mean of the coming iterations."""
    chunks = seconds.reshape(-1, step, seconds.shape[1]).sum(axis=1)
    sums = np.concatenate([np.zeros((1, chunks.shape[1])), np.cumsum(chunks, axis=0)])
    start = np.arange(len(chunks))
    ends = [np.minimum(start + max(w // step, 1), len(chunks)) for w in windows]
    return np.stack([balanced(sums[end] - sums[start]) for end in ends], axis=1)


def _least(
    seconds: FloatArray,
    coming: FloatArray,
    cost: MoveCost,
    rest: FloatArray,
    known: float,
    most: int,
) -> float:
    """Return the least seconds of sequences up to `known` [s], keeping `most` states at most."""
    step = len(seconds) // len(coming)
    states = balanced(seconds[0])[None]
    spent = np.zeros(1)
    for e, options in enumerate(coming):
        if e:
            to = [(spent + cost.of(states, new)).min() for new in options]
            states, spent = np.vstack([states, options]), np.concatenate([spent, to])
            kept = np.flatnonzero(spent + rest[e] <= known)
            if kept.size > most:
                kept = kept[np.argsort(spent[kept], kind="stable")[:most]]
            states, spent = states[kept], spent[kept]
        for t in range(e * step, (e + 1) * step):
            spent = spent + (states * seconds[t]).max(axis=1)
    return float(spent.min())


@dataclass(frozen=True, eq=False)
class Simulated:
    """Seconds of a run's iterations and moves, and after which iterations data moved."""

    iterating: float
    moving: float
    moves: tuple[int, ...]

    @property
    def seconds(self) -> float:
        """Seconds of iterations and moves together."""
        return self.iterating + self.moving


# Makes each rule from the number of devices, the cost of a move, and the number of iterations.
RULES: dict[str, Callable[[int, MoveCost, int], MovingRule]] = {
    "regret": lambda k, cost, n: RegretRule(k, cost),  # noqa: ARG005
    "never": lambda k, cost, n: Never(),  # noqa: ARG005
    "always": lambda k, cost, n: Every(k, 1),  # noqa: ARG005
    "every 100": lambda k, cost, n: Every(k, 100),  # noqa: ARG005
    "every 1000": lambda k, cost, n: Every(k, 1000),  # noqa: ARG005
    "threshold 10 %": lambda k, cost, n: Threshold(k, 0.10),  # noqa: ARG005
    "threshold 50 %": lambda k, cost, n: Threshold(k, 0.50),  # noqa: ARG005
    "threshold 10 %, cool-down 200": lambda k, cost, n: Threshold(k, 0.10, 200),  # noqa: ARG005
    "threshold 50 %, cool-down 200": lambda k, cost, n: Threshold(k, 0.50, 200),  # noqa: ARG005
    "saving x horizon": Horizon,
}


def simulate(drift: DriftingSpeeds, cost: MoveCost, rule: str) -> Simulated:
    """Run a rule, one of RULES, on a drift. Raises UsageError for an unknown one.

    The rule sees times with noise; what counts is the true ones. An iteration takes as long as its
    slowest device. All begin with what is balanced at the start.
    """
    if rule not in RULES:
        raise UsageError(f"there is no rule {rule!r}", hint=f"There are: {', '.join(RULES)}.")
    n, k = drift.unit_seconds.shape
    decides = RULES[rule](k, cost, n)
    shares: FloatArray = balanced(drift.unit_seconds[0])
    iterating, moving, moves = 0.0, 0.0, []
    for t in range(n):
        iterating += float((shares * drift.unit_seconds[t]).max())
        new = decides.observe(shares, drift.seen[t])
        if new is not None and not np.array_equal(new, shares):
            moving += float(cost.of(shares, new))
            moves.append(t + 1)
            shares = new
    return Simulated(iterating, moving, tuple(moves))
