"""The required precision of a measurement, and its outcome: a Point or a Gap.

Also contains the statistics of a Point: mean of repeated times, Student's interval, outliers,
drift.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evener.arrays import BoolArray, FloatArray
from evener.errors import UsageError
from evener.platforms.models.samples import Sample

NORMAL = 1.4826  # median absolute deviation -> standard deviation of a normal distribution
FAR = 5.0  # deviations; with the usual 3.5, one of few normal times counts as outlier too often
LEAST_FOR_OUTLIERS = 7
LARGEST_SHARE = 0.2  # of outliers; if there are more, they are typical of the device
LEAST_FOR_DRIFT = 8
SURE_OF_DRIFT = 0.99
WORTH_SAYING = 0.02  # of the mean

LEAST_PATIENCE = 0.1  # least time [s] to wait for an execution
MIN_REPETITIONS = 3  # least number for an interval
BUSY = 0.9  # a smaller fraction of exclusive core time is reported


@dataclass(frozen=True)
class Precision:
    """When a point is measured precisely enough, and when to give up.

    precision: half the width of the confidence interval, divided by the mean. confidence: that of
    the interval. repetitions: their largest number. seconds [s]: limit for all repetitions of a
    point, and for preparing it. shortest [s]: least time between two readings of the clock. least
    [s]: shortest total time of all repetitions, so that they are not all in one time slice of a
    shared core. slowest [units/s]: a repetition with a lower speed is stopped (section 4.3.1 of
    [Cla14]_). outliers: largest fraction of the repetitions that may be excluded because they are
    far slower than the rest.

    Raises UsageError for values out of range.
    """

    precision: float = 0.025
    confidence: float = 0.95
    repetitions: int = 100
    seconds: float = 5.0
    shortest: float = 2e-3
    least: float = 0.05
    slowest: float = 0.0
    outliers: float = LARGEST_SHARE

    def __post_init__(self) -> None:
        if not 0 < self.precision < 1:
            raise UsageError(f"the precision must lie in (0, 1), not {self.precision}")
        if not 0 < self.confidence < 1:
            raise UsageError(f"the confidence must lie in (0, 1), not {self.confidence}")
        if not 0 <= self.outliers <= 0.5:
            raise UsageError(
                f"at most half of the repetitions may be outliers, not {self.outliers}"
            )
        if self.repetitions < MIN_REPETITIONS:
            raise UsageError(
                f"at least {MIN_REPETITIONS} repetitions are needed, not {self.repetitions}"
            )
        if not 0 < self.seconds < math.inf:
            raise UsageError(f"the time limit must be finite and above zero, not {self.seconds}")
        for key in ("shortest", "least", "slowest"):
            if not 0 <= getattr(self, key) < math.inf:
                raise UsageError(f"{key} must be finite and not negative, not {getattr(self, key)}")

    def patience(self, load: float) -> float:
        """Return how long one execution of `load` units may take [s]."""
        wanted = max(load / self.slowest, LEAST_PATIENCE) if self.slowest else self.seconds
        return min(self.seconds, wanted)


@dataclass(frozen=True)
class Point:
    """A measured sample, and facts about its measurement.

    outliers: number of slow repetitions excluded. drift: change of the time from the first to the
    last repetition, divided by the mean; 0 if it may be random. reached: whether the interval is as
    narrow as required. flops: operations of one execution. share: fraction of the measuring time in
    which the process did not wait for its core; 1 if the system does not report it. slow: whether
    an execution took too long.
    """

    sample: Sample
    outliers: int = 0
    drift: float = 0.0
    reached: bool = True
    flops: float = 0.0
    share: float = 1.0
    slow: bool = False

    @property
    def load(self) -> float:
        """The sample's load [units]."""
        return self.sample.load


@dataclass(frozen=True)
class Gap:
    """A load that could not be measured, and the reason.

    kind: "memory" (too little memory), "raised" (the kernel raised an error), "at once" (it
    returned immediately), "clock" (the clock gave no time), "lost" (its process ended), "killed"
    (its process was killed, as the system does for lack of memory) or "stuck" (not prepared in
    time).
    """

    load: float
    kind: str
    message: str


Outcome = Point | Gap


@dataclass(frozen=True)
class Summary:
    """Statistics of repeated times.

    mean, half_width [s]: of the `kept` times that are not outliers; half_width is infinite for a
    single time. outliers: number of excluded times, each slower than the rest. drift: change from
    the first to the last time, divided by the mean; 0 if it may be random.
    """

    mean: float
    half_width: float
    kept: int
    outliers: int
    drift: float


def summarised(
    times: Sequence[float] | FloatArray, confidence: float, share: float = LARGEST_SHARE
) -> Summary:
    """Return the summary of times [s] > 0, in the order in which they were taken.

    share: largest fraction of the times that may be outliers.
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
    """Mark times that are FAR deviations slower than the median, as when others use the core.

    The median absolute deviation is used, so that outliers do not hide themselves. If more than
    `share` of the times are that slow, none is marked, because they are typical of the device.
    """
    none = np.zeros(values.size, np.bool_)
    if values.size < LEAST_FOR_OUTLIERS:
        return none
    middle = float(np.median(values))
    deviation = NORMAL * float(np.median(np.abs(values - middle)))
    # Times may be equal to the clock's last digit, with no deviation; 0.1 % is not an outlier.
    marked = values - middle > max(FAR * deviation, 1e-3 * middle)
    return none if marked.sum() > share * values.size else marked


def drift(values: FloatArray) -> float:
    """Return the change along a fitted line, divided by the mean; 0 unless it is significant."""
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
