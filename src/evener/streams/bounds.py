"""Lower bounds of the period of any mapping."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.streams import bounds_kernels as kernels
from evener.streams.period import StreamProblem
from evener.streams.placing import least_work

# Filters x processors looked at by the search for weights of processors, in all.
LOOKS = 1.5e8
MOST_ROUNDS = 200


class PeriodBounds(NamedTuple):
    """Each at most the shortest period [s]: of the heaviest filter alone; of all work, shared.

    heaviest: filter on its best processor. shared: computing alone, filters divided at will:
    the value of the linear program's dual, found by weights of the processors.
    """

    heaviest: float
    shared: float

    @property
    def best(self) -> float:
        """The larger one."""
        return max(self.heaviest, self.shared)


def bounds_of(problem: StreamProblem) -> PeriodBounds:
    """Return lower bounds of the period, of all readings; communication is not counted."""
    if problem.n == 0:
        return PeriodBounds(0.0, 0.0)
    rounds = int(np.clip(LOOKS / (problem.n * problem.k), 5, MOST_ROUNDS))
    weights = problem.processors.rate * np.minimum(problem.processors.width, 1e3)
    weights = weights / weights.sum()
    shared = kernels.shared_work(problem.filters, problem.machine, weights, rounds)
    return PeriodBounds(float(least_work(problem)[0].max()), float(shared))
