"""Figures with their intervals of 95 % confidence, and what noise leaves undecided of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from evener.measuring.outcomes import half_width

CONFIDENCE, NORMAL = 0.95, 1.96  # and the normal distribution's quantile for it
TINY = 1e-300  # a low end is above zero
LARGEST = 700.0  # logarithm of a number


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

    def over(self, other: Estimate) -> Estimate:
        """Return the ratio to an independent estimate, both above zero, by their logarithms."""
        (value, low, high), (below, least, most) = map(_log, self), map(_log, other)
        up, down = math.hypot(high - value, below - least), math.hypot(value - low, most - below)
        return Estimate(*(_exp(value - below + change) for change in (0, -down, up)))

    def __format__(self, spec: str) -> str:
        if not math.isfinite(self.high):
            return f"{self.value:{spec}} (no interval)"
        return f"{self.value:{spec}} ({self.low:{spec}} to {self.high:{spec}})"


def _log(value: float) -> float:
    return -math.inf if value <= 0 else math.log(value)


def _exp(value: float) -> float:
    return math.inf if value > LARGEST else math.exp(value)


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


def ratio_of_means(above: Sequence[float], below: Sequence[float]) -> Estimate:
    """Return the ratio of the means of pairs > 0; the interval is of its logarithm, to first order.

    Raises ZeroDivisionError for no pairs.
    """
    means = sum(above) / len(above), sum(below) / len(below)
    shares = [a / means[0] - b / means[1] for a, b in zip(above, below, strict=True)]
    middle, half = math.log(means[0] / means[1]), half_width(np.asarray(shares), CONFIDENCE)
    return Estimate(*(_exp(middle + side * half) for side in (0, -1, 1)))


def mean_of(found: Sequence[Estimate]) -> Estimate:
    """Return the mean of independent estimates above zero."""
    if not found:
        return Estimate(math.nan, -math.inf, math.inf)
    value = sum(one.value for one in found) / len(found)
    down, up = (
        math.hypot(*halves) / len(found)
        for halves in (
            [one.value - one.low for one in found],
            [one.high - one.value for one in found],
        )
    )
    return Estimate(value, max(value - down, TINY), value + up)


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
