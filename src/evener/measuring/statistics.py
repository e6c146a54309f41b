"""Computes the mean of repeated times, its Student's interval, outliers and drift."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evener.arrays import BoolArray, FloatArray

NORMAL = 1.4826  # median absolute deviation -> standard deviation of a normal distribution
FAR = 5.0  # deviations; the usual 3.5 takes one of few normal times for an outlier too often
LEAST_FOR_OUTLIERS = 7
LARGEST_SHARE = 0.2  # of outliers; beyond that they are how the device is
LEAST_FOR_DRIFT = 8
SURE_OF_DRIFT = 0.99
WORTH_SAYING = 0.02  # of the mean


@dataclass(frozen=True)
class Summary:
    """Repeated times in short.

    mean, half_width [s]: of those that are no outliers, of which there are `kept`. half_width is
    infinite for one time alone. outliers: how many were set aside, each slower than the rest.
    drift: change from the first to the last over the mean, 0 where it may be chance.
    """

    mean: float
    half_width: float
    kept: int
    outliers: int
    drift: float


def summarised(
    times: Sequence[float] | FloatArray, confidence: float, share: float = LARGEST_SHARE
) -> Summary:
    """Return the summary of times [s] > 0, in the order they were taken.

    share: of the times, that may be outliers.
    """
    values = np.asarray(times, np.float64)
    slow = slow_outliers(values, share)
    kept = values[~slow]
    return Summary(
        float(kept.mean()),
        half_width(kept, confidence),
        int(kept.size),
        int(slow.sum()),
        drift(kept),
    )


def half_width(values: FloatArray, confidence: float) -> float:
    """Return half the width of Student's interval of the mean; infinity for fewer than two."""
    if values.size < 2:
        return math.inf
    deviation = float(values.std(ddof=1))
    return student(confidence, values.size - 1) * deviation / math.sqrt(values.size)


def student(confidence: float, freedom: int) -> float:
    """Return the two-sided quantile of Student's distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + confidence / 2))


def slow_outliers(values: FloatArray, share: float = LARGEST_SHARE) -> BoolArray:
    """Mark times slower than the median by FAR deviations, as when other processes use the core.

    Deviations are measured by their median, so that outliers do not hide themselves. Where
    more than `share` are so slow, none is marked: they are then typical of the device.
    """
    none = np.zeros(values.size, np.bool_)
    if values.size < LEAST_FOR_OUTLIERS:
        return none
    middle = float(np.median(values))
    deviation = NORMAL * float(np.median(np.abs(values - middle)))
    # Times that are equal to the clock's last digit have no deviation; 0.1 % is no outlier.
    marked = values - middle > max(FAR * deviation, 1e-3 * middle)
    return none if marked.sum() > share * values.size else marked


def drift(values: FloatArray) -> float:
    """Return the change along a fitted line, over the mean; 0 unless it is significant."""
    n = values.size
    if n < LEAST_FOR_DRIFT:
        return 0.0
    place = np.arange(n) - (n - 1) / 2
    slope = float(place @ values) / float(place @ place)
    rest = values - values.mean() - slope * place
    error = math.sqrt(float(rest @ rest) / (n - 2) / float(place @ place))
    change = slope * (n - 1) / float(values.mean())
    sure = abs(slope) > student(SURE_OF_DRIFT, n - 2) * error
    return change if sure and abs(change) > WORTH_SAYING else 0.0
