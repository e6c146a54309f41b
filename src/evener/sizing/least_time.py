"""The least time by which whole loads suffice, if each device does as much as it can by then.

Where time rises with load it is the least makespan of whole sizes; elsewhere a lower bound on it.
Whole loads jump with time, and the time is found exactly, to the last digit: that is why this
bisection is not one of equal_finish.py, whose loads are real and whose times are approximate.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.sizing.problems import Problem
from evener.sizing.segments import Runs

FEW_UNITS = 64  # units between two times below which asking for the next time is worth it
MAX_STEPS = 3000  # half of them halve; 1,100 halvings bring any two doubles together


class Loads(Protocol):
    """Which whole loads k devices do by a given time: Rates, Segments or Table."""

    problem: Problem

    def times(self, sizes: IntArray) -> FloatArray:
        """Return the seconds (k,) that whole sizes take."""

    def bounds(self) -> tuple[float, float]:
        """Return a time [s] too short for n units, and one by which any sizes are done."""

    def needed(self) -> float:
        """Return the seconds that some device needs for its lower limit."""

    def largest(self, seconds: float) -> IntArray:
        """Return (k,) the largest whole load each device does by then, at least its lower limit."""

    def runs(self, seconds: float) -> Runs:
        """Return all whole loads that are done by then."""

    def next_time(self, seconds: float) -> float:
        """Return the least time above `seconds` that any whole load takes; infinity if none."""


class Least(NamedTuple):
    """The least time [s], the largest loads (k,) by then and just before, and steps taken."""

    seconds: float
    largest: IntArray
    before: IntArray
    steps: int


def least_time(loads: Loads) -> Least:
    """Return the least time by which the largest loads add up to n, exact to the last digit.

    Bisection and regula falsi in turn, until no load takes a time in between.
    """
    low, n = loads.problem.low, loads.problem.n
    if int(low.sum()) == n:
        return Least(0.0, low, low, 0)
    early, late = loads.bounds()
    before, largest = loads.largest(early), loads.largest(late)
    if int(before.sum()) >= n:  # lower limits add to what is done that early
        early, late, before, largest = 0.0, early, low, before
    for step in range(MAX_STEPS):
        late = min(late, float(loads.times(largest)[largest > low].max()))  # none ends between
        surplus, lack = int(largest.sum()) - n, n - int(before.sum())
        # Many equal devices gain a unit at the same moment: every fourth step allows for that.
        few = FEW_UNITS if step % 4 else 4 * largest.size
        is_near = surplus + lack <= few or np.nextafter(early, np.inf) >= late
        if is_near and loads.next_time(early) >= late:
            return Least(late, largest, before, step)
        near = early * (1 + (1 + low.size) / n)
        middle = _between(early, late, near, lack / (surplus + lack), step)
        at_middle = loads.largest(middle)
        if int(at_middle.sum()) >= n:
            late, largest = middle, at_middle
        else:
            early, before = middle, at_middle
    raise AssertionError("halving ends at two neighbouring floats")


def handed_back(loads: Loads, least: Least) -> IntArray:
    """Return sizes (k,) that sum to n: the largest loads, less what they exceed n by.

    Only loads that grew at the least time are lowered, and not below what they were before it: so
    where time rises with load, no device ends later.
    """
    surplus = int(least.largest.sum()) - loads.problem.n
    spare = (least.largest - least.before)[::-1]  # of equal devices the first keep theirs
    taken = np.diff(np.minimum(np.cumsum(spare), surplus), prepend=0)
    return np.asarray(least.largest - taken[::-1])


def _between(early: float, late: float, near: float, share: float, step: int) -> float:
    """Return a time to try: the middle, or every second step where a line through both leads."""
    if early > 0 and late > 4 * early:
        # Without fixed costs and other limits, a unit more for each device is enough.
        return near if step == 0 else float(np.sqrt(early) * np.sqrt(late))
    share = min(max(share, 0.02), 0.98) if step % 2 else 0.5
    return float(np.clip(early + (late - early) * share, np.nextafter(early, late), late))
