"""Sizes by constant speeds: the constant performance model (CPM) of [Cla14]_, 2.3.

A model that is not constant counts with its speed at an even share, as a benchmark of equal
blocks would measure it. Sizes are whole and optimal for these speeds, limits included.
"""

from __future__ import annotations

from dataclasses import replace

from evener.models import Constant
from evener.sizing.bisecting import handed_back, least_time
from evener.sizing.problems import Answer, Problem
from evener.sizing.segments import Segments


def solve_constant(problem: Problem) -> Answer:
    """Return whole sizes of least makespan if every speed were what it is at an even share."""
    notes: tuple[str, ...] = ()
    models = problem.models
    is_constant = all(isinstance(model, Constant) for model in models)
    if not is_constant:
        even = problem.even.tolist()
        models = tuple(
            model if isinstance(model, Constant) else Constant(model.speed(load), model.capacity)
            for model, load in zip(models, even, strict=True)
        )
        notes = ("constant: each speed is taken at an even share",)
    loads = Segments(replace(problem, models=models))
    least = least_time(loads)
    bound = max(least.seconds, loads.needed()) if is_constant else 0.0
    return Answer(handed_back(loads, least), True, notes, bound)
