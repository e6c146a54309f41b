"""exact: whole sizes of least makespan for speed models of any shape.

Speed need not be concave or monotone in load. A makespan T can be reached if, for each device, a
load can be chosen that the device finishes by T, such that the loads sum to n. The least T is found
by bisection, between a lower bound (each device does the most it can by T) and the makespan of the
best sizes known. HPOPTA [KML18]_ solves the same problem by searching a tree of sampled points;
here sums of runs (intervals) of whole loads are formed, so that every whole load is considered.

If there are too many loads for this (because a model can only be evaluated load by load, or because
lower limits scatter the loads), the problem is solved for multiples of a step and the result is
improved unit by unit; a bound says how far from the optimum it may be.
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
MULTIPLES = 1000  # a load too large for a table is divided into this many steps
ROUNDING = 1e-12  # sizes count as optimal if their relative distance from the bound is below this
MAX_MOVES = 50  # in `polished`, per device


class Table:
    """Times (k, n + 1) [s] of the loads 0 to n, for any models; it implements `Loads`.

    Times of loads outside the problem's limits are infinity. With a step above 1, column j is the
    time of j x step units, clipped to `limits` [units]: low and high (k,).
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
        """Return the seconds (k,) that the devices take for whole sizes (k,)."""
        return np.asarray(self.seconds[np.arange(self.problem.k), sizes])

    def bounds(self) -> tuple[float, float]:
        """Return a time [s] too short for n units, and a time enough for all allowed sizes."""
        return 0.0, float(np.max(self.seconds, where=np.isfinite(self.seconds), initial=0.0))

    def needed(self) -> float:
        """Return the least time [s] by which every device can finish some load in its limits."""
        return float(self.seconds.min(axis=1).max())

    def largest(self, seconds: float) -> IntArray:
        """Return the largest loads (k,) that devices finish in `seconds`; at least `low`."""
        done = self.seconds[:, ::-1] <= seconds
        last = self.problem.n - np.argmax(done, axis=1)
        return np.where(done.any(axis=1), last, self.problem.low)

    def runs(self, seconds: float) -> Runs:
        """Return all loads that the devices finish in `seconds`, as Runs."""
        device, load = np.nonzero(self.seconds <= seconds)
        return joined(device, load, load)

    def next_time(self, seconds: float) -> float:
        """Return the least time above `seconds` that any load takes; infinity if none."""
        return float(np.min(self.seconds, where=self.seconds > seconds, initial=np.inf))


class ExactSizes(NamedTuple):
    """Whole sizes (k,), their makespan [s], a lower bound on any makespan [s], and is_optimal.

    is_optimal: whether it is proved that no whole sizes have a smaller makespan.
    """

    sizes: IntArray
    makespan: float
    bound: float
    is_optimal: bool


def whole_loads(problem: Problem) -> Loads | None:
    """Return the loads of all devices as Segments or a Table, or None if a Table is too large."""
    if can_stack(problem.models):
        return Segments(problem)
    return Table(problem) if problem.k * (problem.n + 1) <= MAX_ENTRIES else None


def least_makespan(loads: Loads) -> ExactSizes:
    """Return the whole sizes of least makespan.

    For each of O(log(k n)) times it forms the sums of k sets of runs of loads. If these sums are
    too many, because lower limits scatter the loads, it returns the best sizes found so far, with
    is_optimal False.
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
            # By rounding, the makespan may be above `trial` in the last digit.
            best, late = sizes, min(_makespan(loads, sizes), trial)
            if late <= bound:
                break
        else:
            early = trial
        following = loads.next_time(early)  # no makespan lies between `early` and `following`
        trial = following
        if following < (middle := early + (late - early) / 2) < late:
            trial = middle
    return ExactSizes(best, late, late, True)


def _makespan(loads: Loads, sizes: IntArray) -> float:
    return float(loads.times(sizes).max(initial=0.0))


def solve_exact(problem: Problem) -> Solution:
    """Return whole sizes of least makespan, or of nearly least makespan with a note.

    The note says how far above the optimum the makespan may be.
    """
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
    """Return the best sizes that are multiples of ceil(n / MULTIPLES), improved by `polished`.

    The `bound` of the result is a lower bound on the makespan of any whole sizes.
    """
    step = -(-problem.n // MULTIPLES)
    limits = (problem.low, problem.high)
    coarse = replace(
        problem, n=problem.n // step, low=problem.low // step, high=-(-problem.high // step)
    )
    found = least_makespan(Table(coarse, step, limits))
    sizes = np.clip(found.sizes * step, *limits)
    sizes = polished(problem, _summed(problem, sizes, step), step)
    makespan = float(problem.times(sizes).max())
    bound = min(least_bound(problem), makespan)
    return ExactSizes(sizes, makespan, bound, makespan <= bound * (1 + ROUNDING))


def least_bound(problem: Problem) -> float:
    """Return a lower bound on the makespan [s]: in any less time the devices do less than n."""

    def is_enough(seconds: float) -> bool:
        room = np.floor(problem.most_by(seconds) * (1 + 1e-12) + 1e-12)
        return float(np.clip(room, problem.low, problem.high).sum()) >= problem.n

    late = float(problem.times(problem.high).max())
    while not is_enough(late):
        late *= 2
    return halved(is_enough, 0.0, late, ROUNDING)[0]


def polished(problem: Problem, sizes: IntArray, step: int) -> IntArray:
    """Return sizes improved by moving units away from the device that ends last.

    Each move gives up to `step` units to the device that ends first after receiving them. When no
    such move helps, the step is halved, down to single units.
    """
    sizes, seconds = sizes.copy(), problem.times(sizes)
    moves = MAX_MOVES * problem.k
    while step >= 1 and moves > 0:
        last = int(np.argmax(seconds))
        room = np.minimum(problem.high - sizes, sizes[last] - problem.low[last])
        amount = np.clip(room, 0, step)
        amount[last] = 0
        after = np.where(amount > 0, problem.times(sizes + amount), np.inf)
        best = int(np.argmin(after))
        trial = sizes.copy()
        trial[best] += amount[best]
        trial[last] -= amount[best]
        then = problem.times(trial)
        if max(then[best], then[last]) < seconds[last]:
            sizes, seconds, moves = trial, then, moves - 1
        else:
            step //= 2
    return sizes


def _summed(problem: Problem, sizes: IntArray, step: int) -> IntArray:
    """Return sizes changed so that they sum to n, by adding or removing up to `step` units at once.

    Units are added to the device that ends first with them, or removed from the one that ends last.
    """
    sizes = sizes.copy()
    while (lack := problem.n - int(sizes.sum())) != 0:
        room = problem.high - sizes if lack > 0 else sizes - problem.low
        chunk = np.minimum(room, min(abs(lack), step)) * (1 if lack > 0 else -1)
        seconds = problem.times(sizes + chunk) if lack > 0 else -problem.times(sizes)
        at = int(np.argmin(np.where(room > 0, seconds, np.inf)))
        sizes[at] += chunk[at]
    return sizes
