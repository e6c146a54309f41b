"""Loads to be measured: grids, and the plan that follows a grid and then searches the capacity.

The plan that chooses loads from the samples so far is in adaptive.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from evener.errors import UsageError
from evener.measuring.outcomes import Gap, Outcome, Point

MAX_LOAD = 1 << 53  # units: integers up to here are exact as floats
NEAR = 1.1  # ratio of the least load that fails to the largest that fits at which the search ends
MAX_LOST = 3  # a device is given up if its process is lost this many times in a row


def fixed_grid(low: int, high: int, points: int) -> list[int]:
    """Return integer loads from low to high, evenly spaced, without repeats."""
    return _whole(np.linspace(low, high, points))


def geometric_grid(low: int, high: int, points: int) -> list[int]:
    """Return integer loads from low to high with constant ratios, without repeats."""
    return _whole(np.geomspace(low, high, points))


def range_of(text: str, option: str = "--range") -> tuple[int, int]:
    """Return the lowest and highest load of a text such as "1e3:1e6". Raises UsageError."""
    match = re.fullmatch(r"([^:]+):([^:]+)", text.strip())
    try:
        low, high = (float(word) for word in match.groups()) if match else (1.0, 0.0)
    except ValueError:
        low, high = 1.0, 0.0
    if not 1 <= low <= high <= MAX_LOAD:  # false for NaN
        raise UsageError(
            f"{option} must be LOW:HIGH in units, such as 1e3:1e6, not {text!r}",
            hint="Both must be whole numbers from 1 to 2^53, the lower one first.",
        )
    return round(low), round(high)


def _whole(values: np.typing.NDArray[np.float64]) -> list[int]:
    return [int(value) for value in np.unique(np.rint(values))]


class LoadPlan(Protocol):
    """Chooses the loads of one device, one after another, from the outcomes so far."""

    @property
    def done(self) -> int:
        """Number of loads tried."""

    @property
    def expected(self) -> int:
        """Approximate number of loads in total."""

    def next(self) -> int | None:
        """Return the next load [units], or None if the plan is complete. Changes nothing."""

    def add(self, outcome: Outcome) -> None:
        """Record the outcome of a load."""

    @property
    def left_out(self) -> Sequence[int]:
        """Loads of the plan that were never tried [units]."""

    @property
    def ceiling(self) -> LoadCeiling:
        """The load from which on nothing is tried, and the reason."""


class LoadCeiling:
    """The load from which on no load is tried on a device, because it failed or was too slow.

    If memory ran out, bisection on a logarithmic scale finds the capacity, the largest load that
    could be measured, and ends when a load at most a tenth above it has failed.
    """

    def __init__(self) -> None:
        self.load = math.inf  # [units], exclusive
        self.short_of_memory = False
        self.too_slow = False
        self.why = ""  # why nothing larger is tried
        self.given_up = False
        self.largest = 0.0
        self._lost = 0

    @property
    def capacity(self) -> float:
        """The largest load that fits [units]; infinity if memory never ran out."""
        return self.largest if self.short_of_memory and self.largest else math.inf

    def add(self, outcome: Outcome) -> None:
        """Record an outcome."""
        if isinstance(outcome, Point):
            self._lost = 0
            if outcome.slow or outcome.sample.status == "slower":
                self._lower(outcome.load, "above a load that took too long")
                self.too_slow = True
            if outcome.sample.status == "ok":
                self.largest = max(self.largest, outcome.load)
            return
        self._add_gap(outcome)

    def _add_gap(self, gap: Gap) -> None:
        if gap.kind == "memory":
            self._lower(gap.load, "above a load that did not fit in memory")
            self.short_of_memory = True
        elif gap.kind == "stuck":
            self._lower(gap.load, "above a load that could not be prepared in time")
        self._lost = self._lost + 1 if gap.kind in ("lost", "stuck") else 0
        if self._lost >= MAX_LOST:
            self.given_up, self.why = True, f"its process ended {MAX_LOST} times in a row"

    def _lower(self, load: float, why: str) -> None:
        if load < self.load:
            self.load, self.why = load, why

    def between(self, slow: float = math.inf) -> int | None:
        """Return a load between the largest that fits and the least that does not, or None.

        Returns None if these two are close. slow: ratio up to which the two count as close if loads
        took too long, but none lacked memory.
        """
        if not ((self.short_of_memory or self.too_slow) and self.largest) or self.given_up:
            return None
        middle = round(math.sqrt(self.largest * self.load))
        near = self.load <= (NEAR if self.short_of_memory else slow) * self.largest
        return None if near or not self.largest < middle < self.load else middle


class GridPlan:
    """Plan that tries every load of a list in rising order, then searches the capacity.

    search: whether to try loads between two loads of the list to find the capacity if memory ran
    out.
    """

    def __init__(self, loads: Iterable[int], *, search: bool = True) -> None:
        self._loads = sorted(set(loads))
        self._search = search
        self._done: set[int] = set()
        self.ceiling = LoadCeiling()

    @property
    def done(self) -> int:
        """Number of loads tried."""
        return len(self._done)

    @property
    def expected(self) -> int:
        """Number of loads in the list."""
        return len(self._loads)

    def next(self) -> int | None:
        """Return the lowest untried load below the ceiling."""
        if self.ceiling.given_up:
            return None
        for load in self._loads:
            if load not in self._done and load < self.ceiling.load:
                return load
        return self.ceiling.between() if self._search else None

    def add(self, outcome: Outcome) -> None:
        """Record an outcome."""
        self._done.add(round(outcome.load))
        self.ceiling.add(outcome)

    @property
    def left_out(self) -> list[int]:
        """Loads that were never tried."""
        return [load for load in self._loads if load not in self._done]
