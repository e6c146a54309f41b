"""PartialModel: the speed of one device by load, refined by each observation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from evener.platforms.models.fitting import Constant, Piecewise, SpeedModel
from evener.platforms.models.samples import Sample

SAME = 0.001  # loads with a smaller relative difference are equal
NEAR = 0.01  # loads with a smaller relative difference are merged if their speeds agree
MAX_COUNT = 9  # largest weight of an estimate, in observations, so that newer ones matter
KNOTS = 64  # a model that is neither constant nor piecewise is sampled at this many loads


@dataclass(frozen=True, order=True)
class Seen:
    """The speed [units/s] observed at a load [units]; count: weight, in observations."""

    load: float
    speed: float
    count: int


class PartialModel:
    """A speed model of one device, from the speeds observed and an initial model, if there is one.

    Between observed loads speed is linear; outside it is the speed at the nearest load ([Cla14]_,
    3.3.1). Away from observed loads, the points of the initial model are used, scaled to the last
    observation if they disagree with it. most: the largest load that the model must cover [units].
    """

    def __init__(self, model: SpeedModel | None, most: float) -> None:
        self.capacity = math.inf if model is None else float(model.capacity)
        self._given = None if model is None else knots(model, min(most, self.capacity))
        self._factor = 1.0  # by which the speeds of the initial model are multiplied
        self._past: list[Seen] = []
        self._here: Seen | None = None
        self._before: Seen | None = None  # earlier estimate near the current load
        self._anchor = 0.0  # speed at the current load that is consistent with _past; 0: unknown

    @property
    def known(self) -> bool:
        """Whether there is an observation or an initial model."""
        return bool(self._here or self._past or self._given)

    def model(self) -> SpeedModel:
        """Return the speed model through all observations and points of the initial model."""
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
        """Record the median of `count` times at a load; return whether the device's speed changed.

        noise: relative standard deviation of one time. limit: two speeds agree if they differ by at
        most a factor of 1 + limit. If the speed at the same load no longer agrees, it is assumed
        that the device became faster or slower at all loads, and all past speeds are scaled.
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
        """Return all observations as Samples, in ascending order of load."""
        seen = sorted(self._all())
        return tuple(Sample(s.load, s.load / s.speed, repetitions=s.count) for s in seen)

    def _all(self) -> list[Seen]:
        return [*self._past, self._here] if self._here else self._past

    def _arrive(self, load: float, speed: float, reach: float, limit: float) -> None:
        """Begin at a new load: merge past observations near it whose speeds agree."""
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
    """Return lists of loads [units] and speeds [units/s] that represent a model, up to `most`."""
    if isinstance(model, Piecewise):
        return model.loads.tolist(), model.speeds.tolist()
    if isinstance(model, Constant):
        return [most], [model.rate]
    loads = np.geomspace(min(1.0, most), most, KNOTS)
    return loads.tolist(), [float(model.speed(load)) for load in loads.tolist()]
