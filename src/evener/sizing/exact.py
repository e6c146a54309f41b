"""Sizes of least makespan for speed models of any shape: neither concave nor monotone.

The makespan is the time of some load of some device. A time is reached if one load of each
device, done by then, can be chosen so that they sum to n; it is found by bisection over times,
from a lower bound (each device takes the most it can) up to the best sizes known. The problem is
that of HPOPTA [KML18]_; where [KML18]_ searches a tree of sampled points, sums of runs of loads
are formed here, so that every whole load counts, however many there are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays import IntArray
from evener.sizing.bisecting import Loads, handed_back, least_time
from evener.sizing.problems import Problem
from evener.sizing.reaching import TooManyRunsError, find_sizes
from evener.sizing.segments import Segments
from evener.sizing.stacking import can_stack
from evener.sizing.tables import Table

MOST_ENTRIES = 4_000_000  # of a table of times: 32 MB


class Found(NamedTuple):
    """Whole sizes (k,), their makespan, a bound that none falls below [s]; whether it is met."""

    sizes: IntArray
    makespan: float
    bound: float
    is_optimal: bool


def whole_loads(problem: Problem) -> Loads | None:
    """Every whole load of every device: as segments or a table; None where that is too large."""
    if can_stack(problem.models):
        return Segments(problem)
    return Table(problem) if problem.k * (problem.n + 1) <= MOST_ENTRIES else None


def least_makespan(loads: Loads) -> Found:
    """Return the whole sizes of least makespan. O(log(k n)) sums of k sets of runs.

    Only where lower limits leave loads so scattered that their sums cannot be counted are the
    best sizes so far returned, with is_optimal False.
    """
    least = least_time(loads)
    bound = max(least.seconds, loads.needed())
    best = handed_back(loads, least)
    late = _makespan(loads, best)
    if late <= bound:
        return Found(best, late, bound, True)
    wanted = np.floor(least.largest * (loads.problem.n / int(least.largest.sum()))).astype(np.int64)
    early, trial = -np.inf, bound
    while trial < late or early < bound:
        try:
            sizes = find_sizes(loads.problem, loads.runs(trial), wanted)
        except TooManyRunsError:
            return Found(best, late, max(early, bound), False)
        if sizes is not None:
            # Where all loads of a segment take the same time, rounding may add a last digit.
            best, late = sizes, min(_makespan(loads, sizes), trial)
            if late <= bound:
                break
        else:
            early = trial
        following = loads.next_time(early)  # sizes that are better end then at the earliest
        trial = following
        if following < (middle := early + (late - early) / 2) < late:
            trial = middle
    return Found(best, late, late, True)


def _makespan(loads: Loads, sizes: IntArray) -> float:
    return float(loads.times(sizes).max(initial=0.0))
