"""The least time by which the devices, each taking the most it can do, take the whole load.

Where time rises with load this is the optimum, in whole units; elsewhere it bounds the optimum
from below, for no device does more by any time.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.sizing.problems import Problem
from evener.sizing.segments import Runs

FEW_UNITS = 64  # between two times, of all devices: probably there is one moment left
MAX_STEPS = 3000  # halving reaches neighbouring floats in 1,100 from any two


class Loads(Protocol):
    """What whole loads k devices do by a given time; see `Segments`."""

    problem: Problem

    def times(self, sizes: IntArray) -> FloatArray:
        """(k,) seconds of whole sizes."""

    def bounds(self) -> tuple[float, float]:
        """Seconds before which hardly any sizes are done, and by which all are."""

    def needed(self) -> float:
        """Seconds that a device takes in any case for the least it must do."""

    def largest(self, seconds: float) -> IntArray:
        """(k,) the largest whole load each does by then, or else its lower limit."""

    def runs(self, seconds: float) -> Runs:
        """All whole loads done by then."""

    def next_time(self, seconds: float) -> float:
        """The least time above `seconds` that any whole load takes."""


class Least(NamedTuple):
    """The least time [s], the largest loads by then (k,), those just before, and steps taken."""

    seconds: float
    largest: IntArray
    before: IntArray
    steps: int


def least_time(loads: Loads) -> Least:
    """Find the least time by which the largest loads add up to n, exact to the last digit.

    Bisection, and regula falsi every second step; ends when no load takes a time in between.
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
        # Many equal devices gain a unit at the same moment: now and then it is looked whether so.
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
    """Sizes that sum to n: of the largest loads, the surplus goes back whence it came last.

    Only devices that gained with the last moment give back, and not below what they did before
    it: where time rises with load, nobody ends later than the least time.
    """
    surplus = int(least.largest.sum()) - loads.problem.n
    spare = (least.largest - least.before)[::-1]  # of equal devices the first keep theirs
    taken = np.diff(np.minimum(np.cumsum(spare), surplus), prepend=0)
    return np.asarray(least.largest - taken[::-1])


def _between(early: float, late: float, near: float, share: float, step: int) -> float:
    """A time to try: in the middle, or every second step where the units would lie on a line."""
    if early > 0 and late > 4 * early:
        # Where nothing but speed limits, one unit more each is enough.
        return near if step == 0 else float(np.sqrt(early) * np.sqrt(late))
    share = min(max(share, 0.02), 0.98) if step % 2 else 0.5
    return float(np.clip(early + (late - early) * share, np.nextafter(early, late), late))
