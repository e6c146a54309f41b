"""Chooses loads by what was measured: where a model is least certain, or where the answer lies.

Between two measured loads the model may be off (see doubts.py), and the more loads lie between them
that blocks may get, the more that matters: the interval where both come to most is halved, in
logarithms. Where one total is given, the loads it is divided into (see answers.py) come first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.measuring.loads import Limits
from evener.measuring.outcomes import Outcome, Point
from evener.platforms.models.samples import Sample

# How far a piecewise model of speed may be off between the samples it is made of.

DOUBT = 1 / 8  # of what the ends of an interval differ by, however straight the curve looks
JUMP = 0.7  # difference of the ends' logarithms from which on there may be a jump between them
BENT = 2.0  # times the sag of a parabola: curves bend where nobody has looked


def doubts_between(samples: Sequence[Sample]) -> FloatArray:
    """Return for each two samples in a row how far the logarithm of time may be off between them.

    samples: by rising load, one each. Where speed or time is the same at both ends, one of the
    two is known between them; beyond what they differ by, no curve that rises or falls is off.
    Ends that differ by much may have a jump between them; else what is likely is the sag of a
    parabola through the bends at the ends, in logarithms. What may be noise is left out.
    """
    loads = np.array([sample.load for sample in samples])
    seconds = np.array([sample.seconds for sample in samples])
    width = np.diff(np.log(loads))
    rise = np.diff(np.log(loads / seconds))  # of the logarithm of speed
    noise = np.array([noise_of(sample) for sample in samples])
    both = noise[1:] + noise[:-1]
    apart = np.maximum(np.minimum(np.abs(rise), np.abs(width - rise)) - both, 0.0)
    bends = np.zeros(loads.size)
    bends[1:-1] = np.abs(np.diff(rise / width)) / (width[1:] + width[:-1])
    sag = np.maximum(bends[1:], bends[:-1]) * width**2 / 4 * BENT - both / 2
    likely = np.maximum.reduce([sag, DOUBT * apart, apart - JUMP])
    doubts: FloatArray = np.minimum(apart, likely)
    return doubts


def noise_of(sample: Sample) -> float:
    """Return half the width of the sample's confidence interval, relative to its time."""
    return sample.half_width / sample.seconds


MOST = 20  # points of a device, unless told otherwise
FEWEST = 6
TOLERANCE = 0.02  # of sizes and speeds
UNSEEN = 0.005  # what may hide in an interval, of the logarithm of its ends' ratio
ELSEWHERE = 0.1  # how much an interval counts in which no size of the answer lies
NEARBY = 2.0  # times a load: equal speeds so far apart leave no doubt about those between
CLIFF = 0.1  # doubt about speed from which on there may be a cliff
MARGIN = 0.25  # of the logarithmic width of an interval, at each end
FINE = 0.02  # relative width of an interval below which it matters less what hides in it


class AdaptivePlan:
    """The loads of one device between low and high [units], `most` at most.

    tolerance: relative error of speed, in the mean over loads, that is good enough. Answer sets
    the rest: `wanted` loads are measured before all others; `likely` ones, by rising load, say how
    much an interval matters that holds them; `settled` ends the plan.
    """

    def __init__(self, low: int, high: int, most: int = MOST, tolerance: float = TOLERANCE) -> None:
        if most < 3:
            raise UsageError(f"adaptive measuring needs 3 points at least, not {most}")
        self._start = sorted({low, high, round(math.sqrt(low * high))})
        self._most, self._tolerance = most, tolerance
        self._range = max(math.log(high / low), 1e-9)
        self._tried: set[int] = set()
        self._samples: list[Sample] = []
        self._doubts: FloatArray = np.empty(0)
        self.limits = Limits()
        self.wanted: list[int] = []
        self.likely: FloatArray = np.empty(0)
        self.settled = False

    @property
    def done(self) -> int:
        """How many loads were tried."""
        return len(self._tried)

    @property
    def expected(self) -> int:
        """How many there may be."""
        return self.done if self.settled else self._most

    @property
    def left_out(self) -> list[int]:
        """Loads of the start that were never tried."""
        return [load for load in self._start if load not in self._tried]

    def next(self) -> int | None:
        """Return the load that tells most."""
        if len(self._tried) >= self._most or self.limits.given_up:
            return None
        for load in self._start:
            if load not in self._tried and load < self.limits.ceiling:
                return load
        if (load_between := self.limits.between(slow=NEARBY)) is not None:
            return load_between
        if self.settled:
            return None
        for load in self.wanted:
            if not (self.is_sure_of(load) and self._is_near(load)):
                inside = self._inside(load)
                if self._is_new(inside):
                    return inside
        return self._worst()

    def is_sure_of(self, load: float) -> bool:
        """Whether the speed about a load is known: no cliff between it and the samples beside.

        Either the samples next to it are near, or they leave no doubt.
        """
        return all(
            min(math.log(b.load / a.load), doubt) <= self._tolerance
            for (a, b), doubt in zip(pairwise(self._samples), self._doubts, strict=True)
            if a.load <= load * (1 + self._tolerance) and load <= b.load * (1 + self._tolerance)
        )

    def add(self, outcome: Outcome) -> None:
        """Take note of an outcome; of a load measured again, the later one counts."""
        load = round(outcome.load)
        self._tried.add(load)
        self.limits.add(outcome)
        if isinstance(outcome, Point) and outcome.sample.status == "ok":
            others = [s for s in self._samples if s.load != outcome.load]
            self._samples = sorted([*others, outcome.sample], key=lambda sample: sample.load)
            self._doubts = doubts_between(self._samples)
        # A stopped load is the ceiling; what may hide below it is limited by that alone.

    @property
    def samples(self) -> list[Sample]:
        """What was measured, by load."""
        return self._samples

    def _inside(self, load: int) -> int:
        """Return the load, away from the ends of an interval that may hold a cliff.

        Sizes made from such an interval lie near its slow end and would creep along it.
        """
        for (a, b), doubt in zip(pairwise(self._samples), self._doubts, strict=True):
            if a.load <= load <= b.load and doubt > CLIFF:
                width = math.log(b.load / a.load)
                place = math.log(load / a.load) / width
                return round(a.load * math.exp(width * min(max(place, MARGIN), 1 - MARGIN)))
        return load

    def _is_near(self, load: int) -> bool:
        """Whether two samples not too far from each other have the load between them."""
        return any(a.load <= load <= b.load <= NEARBY * a.load for a, b in pairwise(self._samples))

    def _is_new(self, load: int) -> bool:
        """Whether a load that can be measured is further than the tolerance from all that were."""
        if not self._start[0] <= load < self.limits.ceiling or load in self._tried:
            return False
        apart = self._tolerance * load
        if not self.is_sure_of(load):
            apart /= 4
        elif self._samples:  # sizes move about within the noise of what they are made from
            nearest = min(self._samples, key=lambda sample: abs(sample.load - load))
            apart = max(apart, noise_of(nearest) * load)
        return all(abs(load - tried) > apart for tried in self._tried)

    def _worst(self) -> int | None:
        """Return the middle of the interval that may hold most error; None where all is little."""
        pairs = list(pairwise(self._samples))
        scores = np.array(
            [self._score(a, b, doubt) for (a, b), doubt in zip(pairs, self._doubts, strict=True)]
        )
        if not scores.size or scores.sum() < self._tolerance / 4:
            return None
        a, b = pairs[int(scores.argmax())]
        return _middle(a.load, b.load)

    def _score(self, a: Sample, b: Sample, doubt: float) -> float:
        """Error that may hide between two samples, times how much of all loads lies there."""
        if _middle(a.load, b.load) is None:
            return 0.0
        width = math.log(b.load / a.load)
        weight = width / self._range
        if self.likely.size:
            first, last = np.searchsorted(self.likely, (a.load, b.load))
            weight += (last - first) / self.likely.size
        if self.wanted and not any(a.load <= load <= b.load for load in self.wanted):
            weight *= ELSEWHERE
        return weight * max(doubt * min(1.0, width / FINE), UNSEEN * width)


def _middle(a: float, b: float) -> int | None:
    """Return a whole load between two, the same factor from both; None where there is none."""
    middle = round(math.sqrt(a * b))
    return middle if a < middle < b else None
