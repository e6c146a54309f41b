"""explain_sizes: why each device gets nothing, or no more than it does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evener.platforms.models.fitting import SpeedModel
from evener.sizing.curve_pieces import can_stack
from evener.sizing.problems import Problem, make_problem
from evener.sizing.segments import Segments
from evener.sizing.solving import SpeedSizes
from evener.wording import duration

SAME = 1e-9  # relative difference below which times are equal


def explain_sizes(
    models: Sequence[SpeedModel],
    found: SpeedSizes,
    *,
    low: npt.ArrayLike | None = None,
    high: npt.ArrayLike | None = None,
    fixed_seconds: npt.ArrayLike | None = None,
) -> list[str]:
    """Return for every device a phrase that says why it got its size.

    "" for devices that end as late as the last, as far as whole units allow; a phrase for those
    that get nothing, are full, are held by their lower limit, or end last. Limits are those given
    to `solve_sizes`.
    """
    n = int(found.sizes.sum())
    problem = make_problem(models, n, low, high, fixed_seconds)
    capacities = np.array([float(model.capacity) for model in models])
    return [_reason(problem, found, i, float(capacities[i])) for i in range(problem.k)]


def _reason(problem: Problem, found: SpeedSizes, i: int, capacity: float) -> str:
    size, limit = int(found.sizes[i]), int(problem.high[i])
    if size == 0:
        return _why_nothing(problem, found, i, capacity)
    if size == limit < problem.n:
        return (
            "full: its capacity" if limit == int(min(capacity, problem.n)) else "at its upper limit"
        )
    if found.seconds[i] >= found.makespan * (1 - SAME):
        return "ends last"
    if size == problem.low[i]:
        return "at its lower limit"
    return ""


def _why_nothing(problem: Problem, found: SpeedSizes, i: int, capacity: float) -> str:
    if problem.high[i] == 0:
        return "no room for a unit" if capacity < 1 else "its upper limit is zero"
    all_done = f"all is done after {duration(found.makespan)}"
    fixed = float(problem.fixed[i])
    if fixed >= found.makespan:
        return f"taking part costs it {duration(fixed)}; {all_done}"
    load, seconds = least_load(problem, i)
    if seconds > found.makespan * (1 + SAME):
        what = "one unit" if load == 1 else f"its quickest load, {load:,} units,"
        return f"{what} takes it {duration(seconds)}; {all_done}"
    return f"not needed: {all_done} without it"


def least_load(problem: Problem, i: int) -> tuple[int, float]:
    """Return the load above zero that takes device i least time, and its seconds."""
    one = Problem(
        problem.models[i : i + 1], problem.n, np.ones(1, np.int64), problem.high[i : i + 1],
        problem.fixed[i : i + 1],
    )  # fmt: skip
    if can_stack(one.models):
        segments = Segments(one)
        seconds = segments.needed()
        runs = segments.runs(seconds)
        return int(runs.first[0]), seconds
    loads = np.unique(np.geomspace(1, int(one.high[0]), 1000).astype(np.int64))
    times = np.asarray(one.models[0].time(loads.astype(np.float64))) + one.fixed[0]
    best = int(np.argmin(times))
    return int(loads[best]), float(times[best])
