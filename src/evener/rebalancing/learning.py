"""PartialModel: the speed of one device at the loads it has had, refined by each observation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from evener.platforms.models.fitting import Constant, Piecewise, SpeedModel
from evener.platforms.models.samples import Sample

SAME = 0.001  # relative difference below which loads are equal
NEAR = 0.01  # relative difference below which loads are one if their speeds agree
MAX_COUNT = 9  # observations that an estimate weighs at most, so that newer ones matter
KNOTS = 64  # at which a given model is sampled that is neither constant nor piecewise


@dataclass(frozen=True, order=True)
class Seen:
    """A speed [units/s] at a load [units], from `count` observations."""

    load: float
    speed: float
    count: int


class PartialModel:
    """Speeds of one device at the loads it has had, and a model from the start, if any.

    Between loads speed is linear, outside it is that of the nearest load ([Cla14]_, 3.3.1). Where
    nothing was observed, the given model fills in, scaled by what was observed elsewhere.
    """

    def __init__(self, model: SpeedModel | None, most: float) -> None:
        self.capacity = math.inf if model is None else float(model.capacity)
        self._given = None if model is None else knots(model, min(most, self.capacity))
        self._factor = 1.0  # of the given speeds
        self._past: list[Seen] = []
        self._here: Seen | None = None
        self._before: Seen | None = None  # estimate near this load from before the device had it
        self._anchor = 0.0  # speed at this load to which the past speeds belong; 0: not known yet

    @property
    def known(self) -> bool:
        """Whether there is any observation or given model."""
        return bool(self._here or self._past or self._given)

    def model(self) -> SpeedModel:
        """Return the model through all observations and the given model."""
        points = {seen.load: seen.speed for seen in self._all()}
        if self._given is not None:
            for load, speed in zip(*self._given, strict=True):
                if all(abs(load - at) > 2 * NEAR * at for at in points):
                    points[load] = speed * self._factor
        loads = np.array(sorted(points))
        speeds = np.array([points[load] for load in loads.tolist()])
        if loads.size == 1:
            return Constant(float(speeds[0]), self.capacity)
        return Piecewise(loads, speeds, self.capacity)

    def learn(self, load: float, seconds: float, count: int, noise: float, limit: float) -> bool:
        """Take in the median of `count` times at a load; return whether the device has changed.

        noise: relative standard deviation of one time. Speeds whose ratio is within `limit` of 1
        agree. If the speed at the same load no longer agrees, the device has become faster or
        slower as a whole, and past speeds at all loads are scaled.
        """
        speed = load / seconds
        if self._here is None or self._here.load != load:
            self._arrive(load, speed, max(NEAR, 2 * noise), limit)
        changed = False
        if self._anchor and count >= 3 and not agree(speed, self._anchor, limit):
            ratio = speed / self._anchor
            self._past = [replace(seen, speed=seen.speed * ratio) for seen in self._past]
            self._before, self._anchor, changed = None, speed, True
        elif not self._anchor and count >= 3:
            self._anchor = speed
        self._correct_given(load, speed, limit if count >= 3 else 2 * limit)
        if self._before is not None and agree(speed, self._before.speed, NEAR + 5 * noise):
            before = self._before
            speed = (before.speed * before.count + speed * count) / (before.count + count)
            count += before.count
        self._here = Seen(load, speed, min(count, MAX_COUNT))
        return changed

    def samples(self) -> tuple[Sample, ...]:
        """Return all observations, by rising load."""
        seen = sorted(self._all())
        return tuple(Sample(s.load, s.load / s.speed, repetitions=s.count) for s in seen)

    def _all(self) -> list[Seen]:
        return [*self._past, self._here] if self._here else self._past

    def _arrive(self, load: float, speed: float, reach: float, limit: float) -> None:
        """Begin at a load the device did not have: merge past observations near it that agree."""
        here = self._all()
        near = [seen for seen in here if abs(seen.load - load) <= reach * load]
        near = [
            seen
            for seen in near
            if abs(seen.load - load) <= SAME * load or agree(seen.speed, speed, limit)
        ]
        self._past = [seen for seen in here if seen not in near]
        self._before, self._anchor = None, 0.0
        if near:
            count = sum(seen.count for seen in near)
            mean = sum(seen.speed * seen.count for seen in near) / count
            self._before, self._anchor = Seen(load, mean, min(count, MAX_COUNT)), mean

    def _correct_given(self, load: float, speed: float, limit: float) -> None:
        if self._given is not None:
            ratio = speed / float(np.interp(load, *self._given))
            self._factor = 1.0 if agree(ratio, 1.0, limit) else ratio


def agree(a: float, b: float, limit: float) -> bool:
    """Return whether two numbers above zero differ by at most a factor of 1 + limit."""
    return bool(max(a, b) <= (1 + limit) * min(a, b))


def knots(model: SpeedModel, most: float) -> tuple[list[float], list[float]]:
    """Return loads and speeds of a model, up to `most` [units]."""
    if isinstance(model, Piecewise):
        return model.loads.tolist(), model.speeds.tolist()
    if isinstance(model, Constant):
        return [most], [model.rate]
    loads = np.geomspace(min(1.0, most), most, KNOTS)
    return loads.tolist(), [float(model.speed(load)) for load in loads.tolist()]
