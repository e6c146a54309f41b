"""95 % intervals, Student's, of means and ratios of what was measured; and whether they decide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

LEVEL = 0.95


class Interval(NamedTuple):
    """An estimate and the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"

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
    """Return the mean of values and its interval, infinite of fewer than two."""
    own = np.array(values)
    half = half_width(own)
    middle = float(own.mean())
    return Interval(middle, middle - half, middle + half)


def exponential(middle: float, spread: npt.NDArray[np.float64]) -> Interval:
    """Return the exponential of a mean, and of its ends by how its terms spread."""
    half = half_width(spread)
    low, high = (float(np.exp(np.clip(middle + side * half, -700, 700))) for side in (-1, 1))
    return Interval(float(np.exp(middle)), low, high)


def geometric_mean(values: Sequence[float]) -> Interval:
    """Return the geometric mean of values above zero."""
    logs = np.log(np.array(values))
    return exponential(float(logs.mean()), logs)


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
