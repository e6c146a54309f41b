"""What measuring asks for and what comes of it: how precise, a point or a gap."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evener.errors import UsageError
from evener.measuring.statistics import LARGEST_SHARE
from evener.platforms.models.samples import Sample

SHORT = 0.1  # seconds: no execution is stopped before
FEWEST = 3  # repetitions
BUSY = 0.9  # of the time; with less, others had the core


@dataclass(frozen=True)
class Precision:
    """When a point is measured well enough, and when to give up.

    precision: half the interval's width over the mean, at the given confidence. repetitions: the
    most there may be. seconds: for all repetitions of a point, and for its preparation [s].
    shortest: time between two looks at the clock, at least [s]. least: for all repetitions,
    so that they are not all within one slice of a shared core [s]. slowest: speed [units/s] below
    which a repetition is not waited for (section 4.3.1 of [Cla14]_). outliers: share of the
    repetitions that may be set aside for being far slower than the rest.

    Raises UsageError for what cannot be.
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
        if self.repetitions < FEWEST:
            raise UsageError(f"there must be {FEWEST} repetitions at least: {self.repetitions}")
        if not 0 < self.seconds < math.inf:
            raise UsageError(f"the time limit must be finite and above zero, not {self.seconds}")
        for key in ("shortest", "least", "slowest"):
            if not 0 <= getattr(self, key) < math.inf:
                raise UsageError(f"{key} must be finite, not negative: {getattr(self, key)}")

    def patience(self, load: float) -> float:
        """Return how long one execution of `load` units may take [s]."""
        wanted = max(load / self.slowest, SHORT) if self.slowest else self.seconds
        return min(self.seconds, wanted)


@dataclass(frozen=True)
class Point:
    """A measured sample, and what was odd about it.

    outliers: slow repetitions set aside. drift: change from first to last repetition over the
    mean; 0 where it may be chance. reached: whether the interval is as narrow as asked.
    flops: operations of one execution. share: of the time, in which nobody else had the core while
    this process wanted it; 1 where the system does not tell. slow: one execution took longer than
    it may.
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

    kind: "memory" (there was not enough), "raised", "at once", "clock", "lost" (the process
    that measured is gone), "killed" (so it is, as the system or a person ends what takes too much
    memory) or "stuck" (it could not even be prepared in time).
    """

    load: float
    kind: str
    message: str


Outcome = Point | Gap
