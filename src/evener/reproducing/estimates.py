"""Figures with their intervals of 95 % confidence, and what noise leaves undecided of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from evener.measuring.outcomes import half_width

CONFIDENCE, NORMAL = 0.95, 1.96  # and the normal distribution's quantile for it


class Estimate(NamedTuple):
    """A figure and its interval, which is infinitely wide where there are too few values for one.

    format() writes all three numbers in the same way: "1.02 (0.98 to 1.07)".
    """

    value: float
    low: float
    high: float

    def above(self, bound: float) -> bool | None:
        """Return whether the figure is above a bound; None where the interval has it inside."""
        if math.isnan(self.value) or self.low <= bound < self.high:
            return None
        return self.low > bound

    def below(self, bound: float) -> bool | None:
        """Return whether it is below, as `above` does."""
        return Estimate(-self.value, -self.high, -self.low).above(-bound)

    def less(self, other: Estimate) -> bool | None:
        """Return whether it is less than another; None where the intervals meet."""
        if self.high < other.low:
            return True
        return False if self.low >= other.high else None

    def within(self, low: float, high: float) -> bool | None:
        """Return whether it lies between two bounds, both included, as `above` does."""
        lower, higher = self.below(low), self.above(high)
        return every(None if one is None else not one for one in (lower, higher))

    def __format__(self, spec: str) -> str:
        if not math.isfinite(self.high):
            return f"{self.value:{spec}} (no interval)"
        return f"{self.value:{spec}} ({self.low:{spec}} to {self.high:{spec}})"


def mean(values: Sequence[float]) -> Estimate:
    """Return the mean with Student's interval."""
    if not len(values):
        return Estimate(math.nan, -math.inf, math.inf)
    own = np.asarray(values, np.float64)
    middle, half = float(own.mean()), half_width(own, CONFIDENCE)
    return Estimate(middle, middle - half, middle + half)


def geometric(ratios: Sequence[float]) -> Estimate:
    """Return the geometric mean of ratios > 0, with Student's interval of their logarithms."""
    return Estimate(*(math.exp(value) for value in mean([math.log(one) for one in ratios])))


def share(met: int, of: int) -> Estimate:
    """Return a share of so many cases, with Wilson's interval."""
    if not of:
        return Estimate(math.nan, -math.inf, math.inf)
    part, extra = met / of, NORMAL**2 / of
    middle = (part + extra / 2) / (1 + extra)
    half = NORMAL / (1 + extra) * math.sqrt(part * (1 - part) / of + extra / of / 4)
    return Estimate(part, max(middle - half, 0.0), min(middle + half, 1.0))


def every(judged: Iterable[bool | None]) -> bool | None:
    """Return whether all hold: False where one does not, else None where one is undecided."""
    found = list(judged)
    if False in found:
        return False
    return None if None in found else True
