"""Chooses loads by what was measured: where a model is least certain, or where the answer lies.

Between two measured loads the speed may be anything from one speed to the other, and the wider
they are apart the more loads that concerns. An interval is halved (in logarithms); how far the
model was off in its middle says what to expect of the halves. Of the loads that the sizes of
blocks depend on, those not yet measured come first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from evener.errors import EvenerError, UsageError
from evener.measuring.benchmark import Outcome, Point
from evener.measuring.plans import Limits
from evener.models import SpeedModel, fit_model
from evener.samples import Sample
from evener.sizing import solve_sizes

MOST = 20  # points of a device, unless told otherwise
FEWEST = 6
TOLERANCE = 0.02  # of sizes and speeds
UNSEEN = 0.005  # what may hide in an interval, of the logarithm of its ends' ratio
DOUBT = 1 / 8  # of what the ends differ by, however good the model was in the middle
ELSEWHERE = 0.1  # how much an interval counts in which no size of the answer lies
NEARBY = 2.0  # times a load: equal speeds so far apart leave no doubt about those between
CLIFF = 0.1  # difference of two speeds' logarithms between which there may be one
MARGIN = 0.25  # of the logarithmic width of an interval, at each end
TOTALS = 5  # amounts of work that are looked at where none is given


class AdaptivePlan:
    """The loads of one device between low and high [units], `most` at most.

    tolerance: relative error of speed, in the mean over loads, that is good enough. `wanted`
    loads, which Answer sets, are measured before all others; `settled` ends the plan.
    """

    def __init__(self, low: int, high: int, most: int = MOST, tolerance: float = TOLERANCE) -> None:
        if most < 3:
            raise UsageError(f"adaptive measuring needs 3 points at least, not {most}")
        self._start = sorted({low, high, round(math.sqrt(low * high))})
        self._most, self._tolerance = most, tolerance
        self._range = max(math.log(high / low), 1e-9)
        self._tried: set[int] = set()
        self._samples: list[Sample] = []
        self._surprise: dict[tuple[float, float], float] = {}
        self.limits = Limits()
        self.wanted: list[int] = []
        self.settled = False

    @property
    def done(self) -> int:
        """How many loads were tried."""
        return len(self._tried)

    @property
    def expected(self) -> int:
        """How many there may be."""
        return self.done if self.settled else self._most

    def next(self) -> int | None:
        """Return the load that tells most."""
        if len(self._tried) >= self._most or self.limits.given_up:
            return None
        for load in self._start:
            if load not in self._tried and load < self.limits.ceiling:
                return load
        if (load_between := self.limits.between()) is not None:
            return load_between
        if self.settled:
            return None
        for load in self.wanted:
            if not (self.is_sure_of(load) and self._is_near(load)):
                inside = self._inside(load)
                if self._is_new(inside):
                    return inside
        return self._widest()

    def is_sure_of(self, load: float) -> bool:
        """Whether the speed about a load is known: no cliff between it and the samples beside.

        Either the samples next to it are near, or they are equally fast.
        """
        return all(
            min(math.log(b.load / a.load), self._unknown(a, b)) <= self._tolerance
            for a, b in pairwise(self._samples)
            if a.load <= load * (1 + self._tolerance) and load <= b.load * (1 + self._tolerance)
        )

    def add(self, outcome: Outcome) -> None:
        """Take note of an outcome, and of how far the model was off there."""
        load = round(outcome.load)
        self._tried.add(load)
        self.limits.add(outcome)
        if isinstance(outcome, Point) and outcome.sample.status == "ok":
            self._learn(outcome.sample)
        # A stopped load is the ceiling; what may hide below it is limited by that alone.

    @property
    def samples(self) -> list[Sample]:
        """What was measured, by load."""
        return self._samples

    def _learn(self, sample: Sample) -> None:
        known = [s.load for s in self._samples]
        i = int(np.searchsorted(known, sample.load))
        if 0 < i < len(known):
            a, b = self._samples[i - 1], self._samples[i]
            expected = float(np.interp(sample.load, (a.load, b.load), (a.speed, b.speed)))
            off = abs(math.log(expected / sample.speed)) - _noise(sample)
            for ends in ((a.load, sample.load), (sample.load, b.load)):
                self._surprise[ends] = max(off, 0.0)
        self._samples.insert(i, sample)

    def _inside(self, load: int) -> int:
        """Return the load, away from the ends of an interval that may hold a cliff.

        Sizes made from such an interval lie near its slow end and would creep along it.
        """
        for a, b in pairwise(self._samples):
            if a.load <= load <= b.load and self._unknown(a, b) > CLIFF:
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
            apart = max(apart, _noise(nearest) * load)
        return all(abs(load - tried) > apart for tried in self._tried)

    def _widest(self) -> int | None:
        """Return the middle of the interval that may hold most error; None where all is little."""
        pairs = list(pairwise(self._samples))
        scores = np.array([self._score(a, b) for a, b in pairs])
        if not scores.size or scores.sum() < self._tolerance * self._range / 4:
            return None
        a, b = pairs[int(scores.argmax())]
        return _middle(a.load, b.load)

    def _score(self, a: Sample, b: Sample) -> float:
        """Error that may hide between two samples, times the logarithm of their loads' ratio."""
        if _middle(a.load, b.load) is None:
            return 0.0
        width = math.log(b.load / a.load)
        score = width * max(self._unknown(a, b), UNSEEN * width)
        if self.wanted and not any(a.load <= load <= b.load for load in self.wanted):
            score *= ELSEWHERE
        return score

    def _unknown(self, a: Sample, b: Sample) -> float:
        """How far the logarithm of speed may be off between two samples."""
        apart = max(abs(math.log(a.speed / b.speed)) - _noise(a) - _noise(b), 0.0)
        surprise = self._surprise.get((a.load, b.load), math.inf)
        return min(apart, max(2 * surprise, DOUBT * apart))


class Answer:
    """The sizes of blocks by the models so far, for one total load or a few between the ends.

    Tells every plan which loads those sizes depend on, and when they have settled: twice in a
    row none has changed by more than `tolerance` of the largest.
    """

    def __init__(
        self,
        plans: Sequence[AdaptivePlan],
        low: int,
        high: int,
        total: int | None = None,
        tolerance: float = TOLERANCE,
        model: str = "piecewise",
    ) -> None:
        self._plans, self._tolerance, self._model = plans, tolerance, model
        k = len(plans)
        self._totals = [total] if total else _totals(k * low, k * high)
        self._is_given = total is not None
        self._sizes: np.typing.NDArray[np.int64] | None = None
        self._stable = 0

    def update(self, samples: Sequence[Sequence[Sample]], capacities: Sequence[float]) -> None:
        """Solve for the sizes again. samples, capacities: of each device."""
        if any(len(own) < 3 for own in samples) or not (self._is_given or len(samples) > 1):
            return  # one device alone gets everything: only its curve is of interest
        models = [
            fit_model(own, self._model, capacity)
            for own, capacity in zip(samples, capacities, strict=True)
        ]
        sizes = self._solved(models)
        if sizes is None:
            return
        before, self._sizes = self._sizes, sizes
        largest = sizes.max(axis=1, keepdims=True)
        same = before is not None and bool(
            (np.abs(sizes - before) <= self._tolerance * largest).all()
        )
        self._stable = self._stable + 1 if same else 0
        sure = all(
            plan.is_sure_of(size)
            for plan, own in zip(self._plans, sizes.T, strict=True)
            for size in own
            if size > 0
        )
        for i, plan in enumerate(self._plans):
            if self._is_given:
                plan.wanted = [int(size) for size in sizes[:, i] if size > 0]
            plan.settled = sure and self._stable >= 2 and len(samples[i]) >= FEWEST

    def _solved(self, models: Sequence[SpeedModel]) -> np.typing.NDArray[np.int64] | None:
        found = []
        for total in self._totals:
            try:
                found.append(solve_sizes(models, total).sizes)
            except EvenerError:  # more than fits: that total has no answer
                continue
        return np.array(found) if found else None


def _totals(low: int, high: int) -> list[int]:
    return [round(total) for total in np.geomspace(low, high, TOTALS)]


def _noise(sample: Sample) -> float:
    return sample.half_width / sample.seconds


def _middle(a: float, b: float) -> int | None:
    """Return a whole load between two, the same factor from both; None where there is none."""
    middle = round(math.sqrt(a * b))
    return middle if a < middle < b else None
