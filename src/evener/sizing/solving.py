"""solve_sizes: sizes from speed models by any of METHODS; explain_sizes: the reason for each size.

The method `auto` chooses constant or exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray
from evener.errors import one_of
from evener.platforms.models.fitting import SpeedModel
from evener.sizing.exact import solve_exact
from evener.sizing.least_time import solve_constant, solve_gpa
from evener.sizing.numerical import solve_npa
from evener.sizing.problems import Problem, Solution, make_problem
from evener.sizing.segments import Segments, can_stack
from evener.wording import brief, duration


@dataclass(frozen=True, eq=False)
class SpeedSizes:
    """How much work each of k devices gets, computed from their speed models.

    sizes (k,) int64 [units], which sum to n. seconds (k,) float64 [s]: times by the models passed
    to solve_sizes. makespan [s]: the largest of them. method: a key of METHODS. converged: whether
    the method reached its goal. notes: sentences for the user. bound [s]: a lower bound on the
    makespan of any whole sizes, 0 if the method proves none.
    """

    sizes: IntArray
    seconds: FloatArray
    makespan: float
    method: str
    converged: bool = True
    notes: tuple[str, ...] = ()
    bound: float = 0.0

    def __repr__(self) -> str:
        return brief(self)


def solve_sizes(
    models: Sequence[SpeedModel],
    n: int,
    method: str = "auto",
    low: npt.ArrayLike | None = None,
    high: npt.ArrayLike | None = None,
    *,
    fixed_seconds: npt.ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> SpeedSizes:
    """Divide n units such that the last device ends as early as possible; return the whole sizes.

    models: one speed model per device (k). method: a key of METHODS, or "auto". low, high: limits
    on sizes [units], one number for all devices or (k,); a model's capacity limits its size too.
    fixed_seconds: (k,) or one number [s], added to the time of each device with a load above zero.
    names: device names for messages.

    Raises UsageError for an unknown method, InputError for an invalid load, limit or time,
    InfeasibleError if capacities and limits do not permit n units; the message states the shortage.
    """
    one_of("method", method, ("auto", *METHODS))
    problem = make_problem(models, n, low, high, fixed_seconds, names)
    chosen, why = choose_method(problem) if method == "auto" else (method, "")
    answer = METHODS[chosen](problem)
    seconds = problem.times(answer.sizes)
    notes = (why, *answer.notes) if why else answer.notes
    makespan = float(seconds.max(initial=0.0))
    return SpeedSizes(
        answer.sizes, seconds, makespan, chosen, answer.converged, notes, answer.bound
    )


def choose_method(problem: Problem) -> tuple[str, str]:
    """Return the method that `auto` chooses for these models, and a note with the reason."""
    if problem.is_flat:
        return "constant", "auto: every speed is constant"
    return "exact", "auto: speeds change with load"


METHODS: Mapping[str, Callable[[Problem], Solution]] = {
    "constant": solve_constant,
    "gpa": solve_gpa,
    "npa": solve_npa,
    "exact": solve_exact,
}


SAME = 1e-9  # relative difference below which times are equal


def explain_sizes(
    models: Sequence[SpeedModel],
    found: SpeedSizes,
    *,
    low: npt.ArrayLike | None = None,
    high: npt.ArrayLike | None = None,
    fixed_seconds: npt.ArrayLike | None = None,
) -> list[str]:
    """Return one phrase per device that says why it got its size.

    There is a phrase for devices that get nothing, are at their capacity or a limit, or end last;
    "" for the others. low, high, fixed_seconds: the same as passed to `solve_sizes`.
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
            "full: at its capacity"
            if limit == int(min(capacity, problem.n))
            else "at its upper limit"
        )
    if found.seconds[i] >= found.makespan * (1 - SAME):
        return "ends last"
    if size == problem.low[i]:
        return "at its lower limit"
    return ""


def _why_nothing(problem: Problem, found: SpeedSizes, i: int, capacity: float) -> str:
    if problem.high[i] == 0:
        return "cannot hold a unit" if capacity < 1 else "its upper limit is zero"
    all_done = f"the others finish after {duration(found.makespan)}"
    fixed = float(problem.fixed[i])
    if fixed >= found.makespan:
        return f"its fixed time alone is {duration(fixed)}; {all_done}"
    load, seconds = least_load(problem, i)
    if seconds > found.makespan * (1 + SAME):
        what = "one unit" if load == 1 else f"its fastest load, {load:,} units,"
        return f"{what} takes {duration(seconds)} here; {all_done}"
    return f"not needed: {all_done} without it"


def least_load(problem: Problem, i: int) -> tuple[int, float]:
    """Return the load above zero for which device i needs the least time, and this time [s]."""
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
