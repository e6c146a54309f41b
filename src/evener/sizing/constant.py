"""Sizes by constant speeds: the constant performance model (CPM) of [Cla14]_, 2.3.

A model that is not constant counts with its speed at an even share, as a benchmark of equal
blocks would measure it. Sizes are whole and optimal for these speeds, limits included.
"""

from __future__ import annotations

import numpy as np

from evener.sizing.bisecting import handed_back, least_time
from evener.sizing.problems import Answer, Problem
from evener.sizing.rates import Rates


def solve_constant(problem: Problem) -> Answer:
    """Return whole sizes of least makespan if every speed were what it is at an even share."""
    if problem.is_constant:
        loads = Rates(problem, problem.rates)
        least = least_time(loads)
        return Answer(handed_back(loads, least), bound=max(least.seconds, loads.needed()))
    even = zip(problem.models, problem.even.tolist(), strict=True)
    loads = Rates(problem, np.array([model.speed(load) for model, load in even]))
    least = least_time(loads)
    sizes = handed_back(loads, least)
    if problem.is_flat:
        return Answer(sizes, bound=max(least.seconds, loads.needed()))
    return Answer(sizes, True, ("constant: each speed is taken at an even share",))
