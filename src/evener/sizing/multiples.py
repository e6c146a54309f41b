"""Sizes in multiples of a step, then polished: where loads are too many to be counted singly.

For models of which only times are known, and where lower limits scatter the loads beyond count.
The loss is stated: a lower bound comes from the most that each device can do by any time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.sizing.exact import Found, least_makespan, whole_loads
from evener.sizing.problems import Answer, Problem
from evener.sizing.tables import Table

COLUMNS = 1000  # of the table: the step is a thousandth of the load
ROUNDING = 1e-12  # of the makespan
BOUND_STEPS = 100  # halvings of the time


def solve_exact(problem: Problem) -> Answer:
    """Return whole sizes of least makespan; where that cannot be proved, say how near they are."""
    loads = whole_loads(problem)
    found = None if loads is None else least_makespan(loads)
    if found is not None and found.is_optimal:
        return Answer(found.sizes, bound=found.bound)
    coarse = by_multiples(problem)
    best = coarse if found is None or coarse.makespan < found.makespan else found
    bound = coarse.bound if found is None else max(found.bound, coarse.bound)
    above = best.makespan / bound - 1 if bound > 0 else np.inf
    if above <= ROUNDING:
        return Answer(best.sizes, bound=bound)
    step = -(-problem.n // COLUMNS)
    note = f"exact: by steps of {step:,} units, polished; at most {above:.2%} above the least"
    return Answer(best.sizes, False, (note,), bound)


def by_multiples(problem: Problem) -> Found:
    """Return whole sizes near the best multiples of ceil(n / 1000), and a bound on the best."""
    step = -(-problem.n // COLUMNS)
    limits = (problem.low, problem.high)
    coarse = replace(
        problem, n=problem.n // step, low=problem.low // step, high=-(-problem.high // step)
    )
    found = least_makespan(Table(coarse, step, limits))
    sizes = np.clip(found.sizes * step, *limits)
    sizes = polished(problem, _summed(problem, sizes, step), step)
    makespan = float(times_of(problem, sizes).max())
    bound = min(least_bound(problem), makespan)
    return Found(sizes, makespan, bound, makespan <= bound * (1 + ROUNDING))


def times_of(problem: Problem, sizes: IntArray) -> FloatArray:
    """(k,) seconds of whole sizes by any models [s]."""
    models = zip(problem.models, sizes.tolist(), strict=True)
    seconds = np.array([model.time(float(size)) for model, size in models])
    return np.where(sizes > 0, seconds + problem.fixed, 0.0)


def least_bound(problem: Problem) -> float:
    """Seconds that no whole sizes fall below: before, all devices together do less than n [s]."""

    def is_enough(seconds: float) -> bool:
        left = np.maximum(seconds - problem.fixed, 0.0).tolist()
        most = [model.max_load(t) for model, t in zip(problem.models, left, strict=True)]
        room = np.floor(np.array(most) * (1 + 1e-12) + 1e-12)
        return float(np.clip(room, problem.low, problem.high).sum()) >= problem.n

    early, late = 0.0, float(times_of(problem, problem.high).max())
    while not is_enough(late):
        late *= 2
    for _ in range(BOUND_STEPS):
        middle = early + (late - early) / 2
        early, late = (early, middle) if is_enough(middle) else (middle, late)
        if late - early <= 1e-12 * late:
            break
    return early


def polished(problem: Problem, sizes: IntArray, step: int) -> IntArray:
    """Move units from whoever ends last to whoever then ends first, as long as it helps.

    First in steps, then in halves of steps, down to single units.
    """
    sizes, seconds = sizes.copy(), times_of(problem, sizes)
    moves = 50 * problem.k
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
    """Bring the sum to n: chunks are added where they are done first, or taken where last."""
    sizes = sizes.copy()
    while (lack := problem.n - int(sizes.sum())) != 0:
        room = problem.high - sizes if lack > 0 else sizes - problem.low
        chunk = np.minimum(room, min(abs(lack), step)) * (1 if lack > 0 else -1)
        seconds = times_of(problem, sizes + chunk) if lack > 0 else -times_of(problem, sizes)
        at = int(np.argmin(np.where(room > 0, seconds, np.inf)))
        sizes[at] += chunk[at]
    return sizes
