"""A run of a rule on a drift: the seconds of all iterations and of all moves.

    found = simulate(drift("steps", seed=1), MoveCost(50, 100), "regret")
    best = best_in_hindsight(...)      # hindsight.py

The rules are evener.rebalancing.rules; the first one is the very code that Rebalancer runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.rebalancing.drifts import Drift
from evener.rebalancing.rules import (
    Every,
    Horizon,
    MoveCost,
    Never,
    RegretRule,
    Rule,
    Threshold,
    balanced,
)

# The least seconds that somebody who knew all would have taken: an offline dynamic programme.
#
# Every few iterations it may move to the shares that are balanced for the mean of the coming 10,
# 30, 100, ... iterations; over all sequences of such moves it finds the best. States that cannot
# lead to it are left out by a bound: all work at the speed of all devices, for free, from there
# on.

WINDOWS = (10, 30, 100, 300, 1000, 3000)
STEP = 10
FEW = 60  # states kept where any solution will do


def best_in_hindsight(
    drift: Drift, cost: MoveCost, *, windows: Sequence[int] = WINDOWS, step: int = STEP
) -> float:
    """Return the seconds of the best sequence of moves, made every `step` iterations or not.

    Raises UsageError where the drift's iterations are no multiple of `step`.
    """
    seconds = drift.unit_seconds
    if step < 1 or len(seconds) % step:
        raise UsageError(f"{len(seconds)} iterations are no multiple of {step}")
    free = 1 / (1 / seconds).sum(axis=1)
    rest = np.cumsum(free[::-1])[::-1][::step]
    coming = _coming(seconds, windows, step)
    some = _least(seconds, coming, cost, rest, np.inf, FEW)
    return _least(seconds, coming, cost, rest, some * (1 + 1e-9), seconds.size)


def _coming(seconds: FloatArray, windows: Sequence[int], step: int) -> FloatArray:
    """(n / step, windows, k) shares balanced for the mean of the coming iterations."""
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
    """Least seconds, of solutions up to `known`, with so many states kept at most."""
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
    """What a run took [s]: iterations and moves; and the iterations after which data moved."""

    iterating: float
    moving: float
    moves: tuple[int, ...]

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.iterating + self.moving


# name: the rule for k devices, a cost of moving and so many iterations.
RULES: dict[str, Callable[[int, MoveCost, int], Rule]] = {
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


def simulate(drift: Drift, cost: MoveCost, rule: str) -> Simulated:
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
