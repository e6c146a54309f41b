"""Loads to be measured: grids, and the plan that follows one and then looks for the capacity.

adaptive.py has the plan that chooses loads by what was measured.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from evener.errors import UsageError
from evener.measuring.outcomes import Gap, Outcome, Point

MAX_LOAD = 1 << 53  # units: whole numbers up to here are exact as floats
NEAR = 1.1  # least load that fails over the largest that fits, at which the capacity is known
MAX_LOST = 3  # times in a row that a device's process may be lost before the device is given up


def fixed_grid(low: int, high: int, points: int) -> list[int]:
    """Return whole loads from low to high, evenly spaced, without repeats."""
    return _whole(np.linspace(low, high, points))


def geometric_grid(low: int, high: int, points: int) -> list[int]:
    """Return whole loads from low to high, each the same factor above the one before."""
    return _whole(np.geomspace(low, high, points))


def range_of(text: str, option: str = "--range") -> tuple[int, int]:
    """Return the least and the largest load of a text such as "1e3:1e6". Raises UsageError."""
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
    """Chooses the loads of one device, one after the other, by what was measured so far."""

    @property
    def done(self) -> int:
        """How many loads were tried."""

    @property
    def expected(self) -> int:
        """About how many there will be."""

    def next(self) -> int | None:
        """Return the next load [units]; None when all is done. Changes nothing."""

    def add(self, outcome: Outcome) -> None:
        """Take the outcome of a load in."""

    @property
    def left_out(self) -> Sequence[int]:
        """Loads of the plan that were never tried [units]."""

    @property
    def ceiling(self) -> LoadCeiling:
        """The load from which on nothing is tried, and why."""


class LoadCeiling:
    """The load from which on a device is asked for no more, because it failed or was too slow.

    Where memory ended, bisection on a logarithmic scale finds the capacity: the largest load that
    was measured, where one at most a tenth above it failed.
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
        """The largest load that fits [units]; infinity where memory never ended."""
        return self.largest if self.short_of_memory and self.largest else math.inf

    def add(self, outcome: Outcome) -> None:
        """Take note of an outcome."""
        if isinstance(outcome, Point):
            self._lost = 0
            if outcome.slow or outcome.sample.status == "slower":
                self._lower(outcome.load, "beyond a load that took too long")
                self.too_slow = True
            if outcome.sample.status == "ok":
                self.largest = max(self.largest, outcome.load)
            return
        self._add_gap(outcome)

    def _add_gap(self, gap: Gap) -> None:
        if gap.kind == "memory":
            self._lower(gap.load, "beyond a load that did not fit")
            self.short_of_memory = True
        elif gap.kind == "stuck":
            self._lower(gap.load, "beyond a load that could not be prepared in time")
        self._lost = self._lost + 1 if gap.kind in ("lost", "stuck") else 0
        if self._lost >= MAX_LOST:
            self.given_up, self.why = True, f"its process was lost {MAX_LOST} times in a row"

    def _lower(self, load: float, why: str) -> None:
        if load < self.load:
            self.load, self.why = load, why

    def between(self, slow: float = math.inf) -> int | None:
        """Return a load to try between what fits and what does not; None where they are near.

        slow: ratio of the least load that takes too long to the largest measured, at which they
        count as near.
        """
        if not ((self.short_of_memory or self.too_slow) and self.largest) or self.given_up:
            return None
        middle = round(math.sqrt(self.largest * self.load))
        near = self.load <= (NEAR if self.short_of_memory else slow) * self.largest
        return None if near or not self.largest < middle < self.load else middle


class GridPlan:
    """Every load of a list, from the least up; then the capacity, where memory ended.

    search: whether loads between those of the list are tried for it.
    """

    def __init__(self, loads: Iterable[int], *, search: bool = True) -> None:
        self._loads = sorted(set(loads))
        self._search = search
        self._done: set[int] = set()
        self.ceiling = LoadCeiling()

    @property
    def done(self) -> int:
        """How many loads were tried."""
        return len(self._done)

    @property
    def expected(self) -> int:
        """How many there are."""
        return len(self._loads)

    def next(self) -> int | None:
        """Return the least load left that is below the ceiling."""
        if self.ceiling.given_up:
            return None
        for load in self._loads:
            if load not in self._done and load < self.ceiling.load:
                return load
        return self.ceiling.between() if self._search else None

    def add(self, outcome: Outcome) -> None:
        """Take note of an outcome."""
        self._done.add(round(outcome.load))
        self.ceiling.add(outcome)

    @property
    def left_out(self) -> list[int]:
        """Loads that were never tried."""
        return [load for load in self._loads if load not in self._done]
