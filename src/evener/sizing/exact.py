"""exact: whole sizes of least makespan for speed models of any shape, neither concave nor monotone.

A makespan can be reached if one load of each device, done by then, can be chosen so that they sum
to n. The least such time is found by bisection, from a lower bound (each device takes the most it
can) up to the best sizes known. The problem is that of HPOPTA [KML18]_, which searches a tree of
sampled points; here sums of runs of whole loads are formed, so that every load counts.

Where loads are too many for that (models of which only times are known, or lower limits that
scatter the loads), multiples of a step are solved and polished, with a bound on what that loses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.sizing.equal_finish import halved
from evener.sizing.least_time import Loads, handed_back, least_time
from evener.sizing.problems import Problem, Solution
from evener.sizing.segments import Runs, Segments, can_stack, joined
from evener.sizing.sums_of_runs import TooManyRunsError, find_sizes

MAX_ENTRIES = 4_000_000  # of a table of times: 32 MB
MULTIPLES = 1000  # of the step into which a load is divided that is too large for a table
ROUNDING = 1e-12  # relative: sizes this near to the bound are optimal
MAX_MOVES = 50  # per device, of polishing


class Table:
    """Times (k, n + 1) [s] of the loads 0 to n, for any models; a `Loads`.

    Infinity outside the limits. With a step above 1, column j is the time of j x step units,
    brought within `limits` [units], low and high (k,).
    """

    def __init__(
        self, problem: Problem, step: int = 1, limits: tuple[IntArray, IntArray] | None = None
    ) -> None:
        self.problem = problem
        count = np.arange(problem.n + 1)
        self.seconds = np.empty((problem.k, problem.n + 1))
        for i, model in enumerate(problem.models):
            load = count * step
            if limits is not None:
                load = np.clip(load, limits[0][i], limits[1][i])
            inside = (count >= problem.low[i]) & (count <= problem.high[i])
            row = model.time(np.where(inside, load, 0).astype(np.float64))
            row = np.where(load > 0, row + problem.fixed[i], 0.0)
            self.seconds[i] = np.where(inside, row, np.inf)

    def times(self, sizes: IntArray) -> FloatArray:
        """Return the seconds (k,) that whole sizes take."""
        return np.asarray(self.seconds[np.arange(self.problem.k), sizes])

    def bounds(self) -> tuple[float, float]:
        """Return a time [s] too short for n units, and one by which any sizes are done."""
        return 0.0, float(np.max(self.seconds, where=np.isfinite(self.seconds), initial=0.0))

    def needed(self) -> float:
        """Return the seconds that some device needs for its lower limit."""
        return float(self.seconds.min(axis=1).max())

    def largest(self, seconds: float) -> IntArray:
        """Return (k,) the largest load each device does by then, at least its lower limit."""
        done = self.seconds[:, ::-1] <= seconds
        last = self.problem.n - np.argmax(done, axis=1)
        return np.where(done.any(axis=1), last, self.problem.low)

    def runs(self, seconds: float) -> Runs:
        """Return all loads that are done by then."""
        device, load = np.nonzero(self.seconds <= seconds)
        return joined(device, load, load)

    def next_time(self, seconds: float) -> float:
        """Return the least time above `seconds` that any load takes; infinity if none."""
        return float(np.min(self.seconds, where=self.seconds > seconds, initial=np.inf))


class ExactSizes(NamedTuple):
    """Whole sizes (k,), their makespan [s], a lower bound on any [s], and whether they meet it."""

    sizes: IntArray
    makespan: float
    bound: float
    is_optimal: bool


def whole_loads(problem: Problem) -> Loads | None:
    """Return every whole load of every device as Segments or a Table; None if that is too large."""
    if can_stack(problem.models):
        return Segments(problem)
    return Table(problem) if problem.k * (problem.n + 1) <= MAX_ENTRIES else None


def least_makespan(loads: Loads) -> ExactSizes:
    """Return the whole sizes of least makespan; O(log(k n)) times, sums of k sets of runs.

    Where lower limits scatter the loads so much that their sums are too many, it returns the best
    sizes so far, with is_optimal False.
    """
    least = least_time(loads)
    bound = max(least.seconds, loads.needed())
    best = handed_back(loads, least)
    late = _makespan(loads, best)
    if late <= bound:
        return ExactSizes(best, late, bound, True)
    wanted = np.floor(least.largest * (loads.problem.n / int(least.largest.sum()))).astype(np.int64)
    early, trial = -np.inf, bound
    while trial < late or early < bound:
        try:
            sizes = find_sizes(loads.problem, loads.runs(trial), wanted)
        except TooManyRunsError:
            return ExactSizes(best, late, max(early, bound), False)
        if sizes is not None:
            # Rounding may put the makespan a last digit above the time that was asked for.
            best, late = sizes, min(_makespan(loads, sizes), trial)
            if late <= bound:
                break
        else:
            early = trial
        following = loads.next_time(early)  # no makespan lies between
        trial = following
        if following < (middle := early + (late - early) / 2) < late:
            trial = middle
    return ExactSizes(best, late, late, True)


def _makespan(loads: Loads, sizes: IntArray) -> float:
    return float(loads.times(sizes).max(initial=0.0))


def solve_exact(problem: Problem) -> Solution:
    """Return whole sizes of least makespan, or near ones with a note on how near they are."""
    loads = whole_loads(problem)
    found = None if loads is None else least_makespan(loads)
    if found is not None and found.is_optimal:
        return Solution(found.sizes, bound=found.bound)
    coarse = by_multiples(problem)
    best = coarse if found is None or coarse.makespan < found.makespan else found
    bound = coarse.bound if found is None else max(found.bound, coarse.bound)
    above = best.makespan / bound - 1 if bound > 0 else np.inf
    if above <= ROUNDING:
        return Solution(best.sizes, bound=bound)
    step = -(-problem.n // MULTIPLES)
    note = (
        f"exact: solved in steps of {step:,} units, then improved; at most {above:.2%} above the "
        "optimum"
    )
    return Solution(best.sizes, False, (note,), bound)


def by_multiples(problem: Problem) -> ExactSizes:
    """Return the best multiples of ceil(n / MULTIPLES), polished to units, and a bound on any."""
    step = -(-problem.n // MULTIPLES)
    limits = (problem.low, problem.high)
    coarse = replace(
        problem, n=problem.n // step, low=problem.low // step, high=-(-problem.high // step)
    )
    found = least_makespan(Table(coarse, step, limits))
    sizes = np.clip(found.sizes * step, *limits)
    sizes = polished(problem, _summed(problem, sizes, step), step)
    makespan = float(times_of(problem, sizes).max())
    bound = min(least_bound(problem), makespan)
    return ExactSizes(sizes, makespan, bound, makespan <= bound * (1 + ROUNDING))


def times_of(problem: Problem, sizes: IntArray) -> FloatArray:
    """Return the seconds (k,) that whole sizes take by any models."""
    models = zip(problem.models, sizes.tolist(), strict=True)
    seconds = np.array([model.time(float(size)) for model, size in models])
    return np.where(sizes > 0, seconds + problem.fixed, 0.0)


def least_bound(problem: Problem) -> float:
    """Return a lower bound on makespans [s]: before it, all devices together do less than n."""

    def is_enough(seconds: float) -> bool:
        room = np.floor(problem.most_by(seconds) * (1 + 1e-12) + 1e-12)
        return float(np.clip(room, problem.low, problem.high).sum()) >= problem.n

    late = float(times_of(problem, problem.high).max())
    while not is_enough(late):
        late *= 2
    return halved(is_enough, 0.0, late, ROUNDING)[0]


def polished(problem: Problem, sizes: IntArray, step: int) -> IntArray:
    """Return sizes improved by moving units from the last device to the one that ends first then.

    In steps as long as that helps, then in halves of steps, down to single units.
    """
    sizes, seconds = sizes.copy(), times_of(problem, sizes)
    moves = MAX_MOVES * problem.k
    while step >= 1 and moves > 0:
        last = int(np.argmax(seconds))
        room = np.minimum(problem.high - sizes, sizes[last] - problem.low[last])
        amount = np.clip(room, 0, step)
        amount[last] = 0
        after = np.where(amount > 0, times_of(problem, sizes + amount), np.inf)
        best = int(np.argmin(after))
        trial = sizes.copy()
        trial[best] += amount[best]
        trial[last] -= amount[best]
        then = times_of(problem, trial)
        if max(then[best], then[last]) < seconds[last]:
            sizes, seconds, moves = trial, then, moves - 1
        else:
            step //= 2
    return sizes


def _summed(problem: Problem, sizes: IntArray, step: int) -> IntArray:
    """Return sizes that sum to n: steps are added where they end first, or taken where last."""
    sizes = sizes.copy()
    while (lack := problem.n - int(sizes.sum())) != 0:
        room = problem.high - sizes if lack > 0 else sizes - problem.low
        chunk = np.minimum(room, min(abs(lack), step)) * (1 if lack > 0 else -1)
        seconds = times_of(problem, sizes + chunk) if lack > 0 else -times_of(problem, sizes)
        at = int(np.argmin(np.where(room > 0, seconds, np.inf)))
        sizes[at] += chunk[at]
    return sizes
