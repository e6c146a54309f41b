"""The precision asked of a measurement, and its outcome: a Point or a Gap."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evener.errors import UsageError
from evener.measuring.statistics import LARGEST_SHARE
from evener.platforms.models.samples import Sample

LEAST_PATIENCE = 0.1  # seconds that an execution is waited for in any case
MIN_REPETITIONS = 3  # an interval needs that many
BUSY = 0.9  # fraction of exclusive core time below which it is reported


@dataclass(frozen=True)
class Precision:
    """When a point is measured well enough, and when to give up.

    precision: half the confidence interval's width over the mean. confidence: of that interval.
    repetitions: at most. seconds [s]: limit for all repetitions of a point, and for preparing it.
    shortest [s]: least time between two readings of the clock. least [s]: of all repetitions
    together, so that they are not all within one time slice of a shared core. slowest [units/s]:
    below this speed a repetition is not waited for (section 4.3.1 of [Cla14]_). outliers: fraction
    of the repetitions that may be left out for being far slower than the rest.

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
            raise UsageError(f"at most half may be outliers, not {self.outliers}")
        if self.repetitions < MIN_REPETITIONS:
            raise UsageError(
                f"there must be at least {MIN_REPETITIONS} repetitions: {self.repetitions}"
            )
        if not 0 < self.seconds < math.inf:
            raise UsageError(f"the time limit must be finite and above zero, not {self.seconds}")
        for key in ("shortest", "least", "slowest"):
            if not 0 <= getattr(self, key) < math.inf:
                raise UsageError(f"{key} must be finite, not negative: {getattr(self, key)}")

    def patience(self, load: float) -> float:
        """Return how long one execution of `load` units may take [s]."""
        wanted = max(load / self.slowest, LEAST_PATIENCE) if self.slowest else self.seconds
        return min(self.seconds, wanted)


@dataclass(frozen=True)
class Point:
    """A measured sample, and what was unusual about it.

    outliers: slow repetitions left out. drift: change from the first to the last repetition over
    the mean; 0 if it may be chance. reached: whether the interval is as narrow as asked. flops:
    operations of one execution. share: fraction of exclusive core time, of the time in which the
    process was ready to run; 1 where the system does not tell. slow: an execution took too long.
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
    """A load that could not be measured, and why.

    kind: "memory" (not enough of it), "raised" (the kernel raised an error), "at once" (it returned
    immediately), "clock" (the clock gave no time), "lost" (its process ended), "killed" (its
    process was killed, as the system does for lack of memory) or "stuck" (not prepared in time).
    """

    load: float
    kind: str
    message: str


Outcome = Point | Gap
