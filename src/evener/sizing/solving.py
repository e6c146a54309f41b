"""solve_sizes: sizes from speed models by any of METHODS; `auto` chooses constant or exact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray
from evener.errors import one_of
from evener.platforms.models.fitting import SpeedModel
from evener.sizing.constant import solve_constant
from evener.sizing.exact import solve_exact
from evener.sizing.geometric import solve_gpa
from evener.sizing.numerical import solve_npa
from evener.sizing.problems import Problem, Solution, make_problem
from evener.wording import brief


@dataclass(frozen=True, eq=False)
class SpeedSizes:
    """How much each of k devices gets, by their speed models.

    sizes (k,) int64 [units], which sum to n; seconds (k,) float64 [s] by the models given;
    makespan [s]: the largest; method: a key of METHODS; converged: whether the method reached its
    goal; notes: sentences for people; bound [s]: no whole sizes have a smaller makespan, 0 where
    nothing is proved.
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
    """Return whole sizes of n units with which the last device is done as early as possible.

    models: k of them. method: a key of METHODS, or "auto". low, high: limits on whole sizes
    [units], one for all or (k,); never above a model's capacity. fixed_seconds: (k,) or one [s],
    added to the time of each device that gets anything. names: of devices, for messages.

    Raises UsageError for an unknown method, InputError for an invalid load, limit or time,
    InfeasibleError where capacities and limits leave no room: the message names the shortage.
    """
    one_of("method", method, ("auto", *METHODS))
    problem = make_problem(models, n, low, high, fixed_seconds, names)
    chosen, why = choose_method(problem) if method == "auto" else (method, "")
    answer = METHODS[chosen](problem)
    seconds = seconds_of(problem, answer.sizes)
    notes = (why, *answer.notes) if why else answer.notes
    makespan = float(seconds.max(initial=0.0))
    return SpeedSizes(
        answer.sizes, seconds, makespan, chosen, answer.converged, notes, answer.bound
    )


def choose_method(problem: Problem) -> tuple[str, str]:
    """Return the method that `auto` chooses for these models, and the note that says why."""
    if problem.is_flat:
        return "constant", "auto: every speed is constant"
    return "exact", "auto: speeds change with load"


def seconds_of(problem: Problem, sizes: IntArray) -> FloatArray:
    """Return the seconds (k,) that the devices take for their sizes, by their own models."""
    if problem.is_constant:
        seconds = sizes / problem.rates
    else:
        seconds = np.array([m.time(float(d)) for m, d in zip(problem.models, sizes, strict=True)])
    return np.where(sizes > 0, seconds + problem.fixed, 0.0)


METHODS: Mapping[str, Callable[[Problem], Solution]] = {
    "constant": solve_constant,
    "gpa": solve_gpa,
    "npa": solve_npa,
    "exact": solve_exact,
}
