"""Chooses the loads to measure from the samples so far: where a model is least certain.

Between two measured loads the model may have some error (`doubts_between`); the error matters more
if the interval contains more of the likely loads of blocks. The interval with the largest product
of error and number of likely loads is halved on a logarithmic scale. If one total load is given,
the sizes into which the current models divide it (`ProvisionalSizes`) are measured first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from evener.arrays import FloatArray
from evener.errors import EvenerError, UsageError
from evener.measuring.loads import LoadCeiling
from evener.measuring.outcomes import Outcome, Point
from evener.platforms.models.fitting import SpeedModel, fit_model
from evener.platforms.models.samples import Sample
from evener.sizing.equal_finish import finish_times
from evener.sizing.solving import solve_sizes

# All chosen on emulated devices of known speed, 2026-11: docs/results/README.md, "Which loads are
# measured". `doubts_between`: errors of the logarithm of time.
LEAST_DOUBT = 1 / 8  # share of the difference of an interval's ends, even if the curve is straight
JUMP = 0.7  # a larger difference of logarithms between the ends may hide a jump
SAG_FACTOR = 2.0  # ratio of doubt to the sag of a parabola that has the bends at the ends
# `AdaptivePlan`: the choice of the next load.
MOST_POINTS = 20  # largest number of measured loads per device by default
FEWEST_POINTS = 6  # least number before sizes count as settled
TOLERANCE = 0.02  # relative error of sizes and speeds that is good enough
LEAST_ERROR = 0.005  # least error assumed in an interval, relative to its width in logarithms
OFF_SIZES_WEIGHT = 0.1  # weight of an interval that contains none of the wanted sizes
NEARBY = 2.0  # ratio of loads: samples closer than this with equal speeds leave no doubt
CLIFF_DOUBT = 0.1  # error of the logarithm of time above which an interval may contain a cliff
MARGIN = 0.25  # share of an interval's logarithmic width that new loads keep from its ends
FINE_WIDTH = 0.02  # relative width of an interval below which its error counts less


def doubts_between(samples: Sequence[Sample]) -> FloatArray:
    """Return the possible error of the model between consecutive samples, as logarithms of time.

    samples: by rising load, one per load. The error of a monotone curve is at most the difference
    of its ends in speed or in time, whichever is smaller. If that is large, there may be a jump;
    otherwise the likely error is the sag of a parabola with the larger of the curve's curvatures at
    the ends. Differences within the noise of the samples do not count.
    """
    loads = np.array([sample.load for sample in samples])
    seconds = np.array([sample.seconds for sample in samples])
    width = np.diff(np.log(loads))
    rise = np.diff(np.log(loads / seconds))  # difference of the logarithm of speed
    noise = np.array([noise_of(sample) for sample in samples])
    both = noise[1:] + noise[:-1]
    apart = np.maximum(np.minimum(np.abs(rise), np.abs(width - rise)) - both, 0.0)
    bends = np.zeros(loads.size)
    bends[1:-1] = np.abs(np.diff(rise / width)) / (width[1:] + width[:-1])
    sag = np.maximum(bends[1:], bends[:-1]) * width**2 / 4 * SAG_FACTOR - both / 2
    likely = np.maximum.reduce([sag, LEAST_DOUBT * apart, apart - JUMP])
    doubts: FloatArray = np.minimum(apart, likely)
    return doubts


def noise_of(sample: Sample) -> float:
    """Return half the width of the sample's confidence interval, relative to its time."""
    return sample.half_width / sample.seconds


class AdaptivePlan:
    """Chooses at most `most` loads for one device, between low and high [units].

    tolerance: acceptable relative error of speed, as a mean over loads. ProvisionalSizes sets the
    other attributes: `wanted` loads are measured first; `likely` loads, in rising order, give
    weight to the intervals that contain them; `settled` ends the plan.
    """

    def __init__(
        self, low: int, high: int, most: int = MOST_POINTS, tolerance: float = TOLERANCE
    ) -> None:
        if most < 3:
            raise UsageError(f"adaptive measuring needs at least 3 points, not {most}")
        self._start = sorted({low, high, round(math.sqrt(low * high))})
        self._most, self._tolerance = most, tolerance
        self._range = max(math.log(high / low), 1e-9)
        self._tried: set[int] = set()
        self._samples: list[Sample] = []
        self._doubts: FloatArray = np.empty(0)
        self.ceiling = LoadCeiling()
        self.wanted: list[int] = []
        self.likely: FloatArray = np.empty(0)
        self.settled = False

    @property
    def done(self) -> int:
        """Number of loads tried."""
        return len(self._tried)

    @property
    def expected(self) -> int:
        """Largest number of loads that will be tried."""
        return self.done if self.settled else self._most

    @property
    def left_out(self) -> list[int]:
        """Initial loads that were never tried."""
        return [load for load in self._start if load not in self._tried]

    def next(self) -> int | None:
        """Return the load whose measurement reduces the error most, or None if none is needed."""
        if len(self._tried) >= self._most or self.ceiling.given_up:
            return None
        for load in self._start:
            if load not in self._tried and load < self.ceiling.load:
                return load
        if (load_between := self.ceiling.between(slow=NEARBY)) is not None:
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
        """Whether the speed near a load is known: samples around it are close or leave no doubt."""
        return all(
            min(math.log(b.load / a.load), doubt) <= self._tolerance
            for (a, b), doubt in zip(pairwise(self._samples), self._doubts, strict=True)
            if a.load <= load * (1 + self._tolerance) and load <= b.load * (1 + self._tolerance)
        )

    def add(self, outcome: Outcome) -> None:
        """Record an outcome; if a load is measured twice, the later outcome counts."""
        load = round(outcome.load)
        self._tried.add(load)
        self.ceiling.add(outcome)
        if isinstance(outcome, Point) and outcome.sample.status == "ok":
            others = [s for s in self._samples if s.load != outcome.load]
            self._samples = sorted([*others, outcome.sample], key=lambda sample: sample.load)
            self._doubts = doubts_between(self._samples)

    @property
    def samples(self) -> list[Sample]:
        """The samples so far, by load."""
        return self._samples

    def _inside(self, load: int) -> int:
        """Return the load, moved away from the ends of an interval that may contain a cliff.

        Sizes computed from such an interval are near its slow end; measuring at exactly these sizes
        would approach the cliff in small steps.
        """
        for (a, b), doubt in zip(pairwise(self._samples), self._doubts, strict=True):
            if a.load <= load <= b.load and doubt > CLIFF_DOUBT:
                width = math.log(b.load / a.load)
                place = math.log(load / a.load) / width
                return round(a.load * math.exp(width * min(max(place, MARGIN), 1 - MARGIN)))
        return load

    def _is_near(self, load: int) -> bool:
        """Whether the load lies between two samples at most a factor NEARBY apart."""
        return any(a.load <= load <= b.load <= NEARBY * a.load for a, b in pairwise(self._samples))

    def _is_new(self, load: int) -> bool:
        """Whether a load can be measured and is further than the tolerance from all loads tried."""
        if not self._start[0] <= load < self.ceiling.load or load in self._tried:
            return False
        apart = self._tolerance * load
        if not self.is_sure_of(load):
            apart /= 4
        elif self._samples:  # sizes vary within the noise of their samples
            nearest = min(self._samples, key=lambda sample: abs(sample.load - load))
            apart = max(apart, noise_of(nearest) * load)
        return all(abs(load - tried) > apart for tried in self._tried)

    def _worst(self) -> int | None:
        """Return the middle of the interval of largest possible error, or None if all are small."""
        pairs = list(pairwise(self._samples))
        scores = np.array(
            [self._score(a, b, doubt) for (a, b), doubt in zip(pairs, self._doubts, strict=True)]
        )
        if not scores.size or scores.sum() < self._tolerance / 4:
            return None
        a, b = pairs[int(scores.argmax())]
        return _middle(a.load, b.load)

    def _score(self, a: Sample, b: Sample, doubt: float) -> float:
        """Return the possible error between two samples, weighted by the share of loads there."""
        if _middle(a.load, b.load) is None:
            return 0.0
        width = math.log(b.load / a.load)
        weight = width / self._range
        if self.likely.size:
            first, last = np.searchsorted(self.likely, (a.load, b.load))
            weight += (last - first) / self.likely.size
        if self.wanted and not any(a.load <= load <= b.load for load in self.wanted):
            weight *= OFF_SIZES_WEIGHT
        return weight * max(doubt * min(1.0, width / FINE_WIDTH), LEAST_ERROR * width)


def _middle(a: float, b: float) -> int | None:
    """Return the integer load with the same ratio to both loads, or None if none is between."""
    middle = round(math.sqrt(a * b))
    return middle if a < middle < b else None


N_TOTALS = 32  # number of total loads considered if no total is given


class ProvisionalSizes:
    """The sizes of all devices according to the current models, for one total load or many totals.

    It passes these sizes to every plan, and marks the plans as settled when no size has changed by
    more than `tolerance` of the largest size, twice in a row.
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
        self._low, self._high, self._total = low, high, total
        self._sizes: FloatArray | None = None
        self._stable = 0

    def update(self, samples: Sequence[Sequence[Sample]], capacities: Sequence[float]) -> None:
        """Compute the sizes again. samples, capacities: of each device."""
        if any(len(own) < 3 for own in samples) or (self._total is None and len(samples) == 1):
            return  # a single device gets the whole load, so there are no sizes to settle
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
        for plan, own, known in zip(self._plans, sizes.T, samples, strict=True):
            if self._total is None:
                plan.likely = np.sort(own)
            else:
                plan.wanted = [int(size) for size in own if size > 0]
            plan.settled = sure and self._stable >= 2 and len(known) >= FEWEST_POINTS

    def _solved(self, models: Sequence[SpeedModel]) -> FloatArray | None:
        """Return the sizes for every total (totals, k), or None if a total is too large."""
        if self._total is None:
            return equal_finish_loads(models, self._low, self._high)
        try:
            return np.array([solve_sizes(models, self._total).sizes], dtype=np.float64)
        except EvenerError:  # more than the devices can take according to the current models
            return None


def equal_finish_loads(models: Sequence[SpeedModel], low: int, high: int) -> FloatArray:
    """Return (N_TOTALS, k) loads [units] with which k devices finish together, for each total.

    The totals grow by equal factors from k times `low` to k times `high`, or to the devices' total
    capacity; no device gets more than `high`. The loads agree with those of `solve_sizes` to 1e-5,
    but they are real numbers, computed for all totals at once.
    """

    def done(times: FloatArray) -> FloatArray:
        return np.stack([np.minimum(m.max_load(times), high) for m in models], axis=1)

    last = max(float(m.time(min(high, m.capacity))) for m in models)
    most = float(done(np.array([last])).sum())
    totals = np.geomspace(min(len(models) * low, most), most, N_TOTALS)
    return done(finish_times(done, totals, np.full(N_TOTALS, last), little=np.zeros(N_TOTALS)))
