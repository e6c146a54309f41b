"""95 % intervals of means, ratios and shares of what was measured; and whether they decide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

LEVEL, NORMAL = 0.95, 1.96  # and the normal distribution's quantile for it
LARGEST = 700.0  # of a logarithm: of one value alone there is no interval


class Interval(NamedTuple):
    """An estimate and the ends of its 95 % interval.

    format() writes all three numbers in the same way, with two digits if none is asked for: "1.02
    (0.98 to 1.07)".
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self:.2f}"

    def __format__(self, spec: str) -> str:
        spec = spec or ".2f"
        if not self.high < np.exp(LARGEST):
            return f"{self.value:{spec}} (no interval)"
        return f"{self.value:{spec}} ({self.low:{spec}} to {self.high:{spec}})"

    def above(self, figure: float) -> bool | None:
        """Whether it is above a figure; None where the interval has the figure inside."""
        if self.low > figure:
            return True
        return False if self.high <= figure else None

    def below(self, figure: float) -> bool | None:
        """Whether it is below a figure; None where the interval has the figure inside."""
        if self.high < figure:
            return True
        return False if self.low >= figure else None

    def less(self, other: Interval) -> bool | None:
        """Whether it is less than another; None where both intervals meet."""
        if self.high < other.low:
            return True
        return False if self.low >= other.high else None

    def within(self, low: float, high: float) -> bool | None:
        """Whether it lies between two figures, both included; None as for `above`."""
        outside = (self.below(low), self.above(high))
        return all_of(None if one is None else not one for one in outside)

    def over(self, other: Interval) -> Interval:
        """Return the ratio to an independent interval, both of logarithms."""
        value = self.value / other.value
        up = np.hypot(np.log(self.high / self.value), np.log(other.value / other.low))
        down = np.hypot(np.log(self.value / self.low), np.log(other.high / other.value))
        return Interval(value, float(value * np.exp(-down)), float(value * np.exp(up)))


NOTHING = Interval(*[float("nan")] * 3)


def half_width(values: npt.NDArray[np.float64]) -> float:
    """Return half the width of the interval of the mean; infinite of fewer than two values."""
    if values.size < 2:
        return float("inf")
    quantile = float(stdtrit(values.size - 1, 0.5 + LEVEL / 2))
    return quantile * float(values.std(ddof=1)) / float(np.sqrt(values.size))


def interval_of(values: Sequence[float]) -> Interval:
    """Return the mean of values and its interval, infinite of fewer than two; nan of none."""
    if not len(values):
        return NOTHING
    own = np.array(values)
    half = half_width(own)
    middle = float(own.mean())
    return Interval(middle, middle - half, middle + half)


def exponential(middle: float, spread: npt.NDArray[np.float64]) -> Interval:
    """Return the exponential of a mean, and of its ends by how its terms spread."""
    half = half_width(spread)
    ends = np.exp(np.clip([middle - half, middle + half], -LARGEST, LARGEST))
    return Interval(float(np.exp(middle)), float(ends[0]), float(ends[1]))


def geometric_mean(values: Sequence[float]) -> Interval:
    """Return the geometric mean of values above zero; nan of none."""
    if not len(values):
        return NOTHING
    logs = np.log(np.array(values))
    return exponential(float(logs.mean()), logs)


def share_of(met: int, of: int) -> Interval:
    """Return a share of so many cases, with Wilson's interval; nan of none."""
    if not of:
        return NOTHING
    part, extra = met / of, NORMAL**2 / of
    middle = (part + extra / 2) / (1 + extra)
    half = NORMAL / (1 + extra) * float(np.sqrt(part * (1 - part) / of + extra / of / 4))
    return Interval(part, max(middle - half, 0.0), min(middle + half, 1.0))


def mean_of(found: Sequence[Interval]) -> Interval:
    """Return the mean of independent intervals of what is above zero; nan of none."""
    if not found:
        return NOTHING
    value = float(np.mean([one.value for one in found]))
    low, high = (
        float(np.sqrt(np.sum(np.square(halves))) / len(found))
        for halves in ([one.value - one.low for one in found],
                       [one.high - one.value for one in found])
    )  # fmt: skip
    return Interval(value, max(value - low, float(np.finfo(float).tiny)), value + high)


def all_of(answers: Iterable[bool | None]) -> bool | None:
    """Whether all are true, of one at least; None where none is false, and one is open."""
    found = list(answers)
    if False in found or not found:
        return False
    return None if None in found else True
