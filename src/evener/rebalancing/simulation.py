"""A run of a rule on a drift: the seconds of all iterations and of all moves.

    found = simulate(drift("steps", seed=1), MoveCost(50, 100), "regret")
    best = best_in_hindsight(...)      # hindsight.py

The rules are evener.rebalancing.rules; the first one is the very code that Rebalancer runs.
"""

from __future__ import annotations

from collections.abc import Callable
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
