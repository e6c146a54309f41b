"""SpeedModel: how fast a device is at each load; models of five kinds are fitted to samples.

constant    one speed at every load (CPM)
piecewise   speed linear between samples, constant outside (FPM)
shaped      the same without the samples that violate the thesis's shape rule (for GPA)
akima       a smooth curve through every sample (for NPA)
time        time, instead of speed, linear between samples

The shape rule ([LR07]_; [Cla14]_, 3.2.1): GPA needs a speed that rises, concave, up to some load
and falls beyond it. Then a line through the origin meets the curve once, and time rises with
load. Noise violates this on a small scale; kept_by_shape drops the samples that violate it.

Between two samples of the model `time`, speed is x / (a + g x), a hyperbola ([Cla14]_, A.3). A
Piecewise approximates it: knots are added between samples until its time is within PRECISION of
the line, so that all exact methods for piecewise models apply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter
from typing import Protocol

import numpy as np

from evener.arrays import BoolArray, FloatArray
from evener.errors import InputError
from evener.platforms.models.akima import Akima
from evener.platforms.models.piecewise import (
    Number,
    Piecewise,
    SpeedSurface,
    checked,
    fit_surface,
    like,
    time_at,
)
from evener.platforms.models.samples import DeviceSpeeds, Sample, checked_capacity

__all__ = [
    "Akima",
    "Constant",
    "Piecewise",
    "SpeedModel",
    "SpeedSurface",
    "capped",
    "fit_device",
    "fit_model",
    "fit_surface",
    "is_flat",
    "pooled",
]

# A stopped measurement gives only an upper bound on the speed; a fifth of it is taken as the speed.
# The thesis stops below 0.5 GFLOPS and enters 0.1 ([Cla14]_, 4.3.1).
SLOWER = 5.0


def kept_by_shape(loads: FloatArray, speeds: FloatArray) -> BoolArray:
    """Return which points the shape rule keeps, (m,) bool; it always keeps the fastest.

    loads [units] > 0, strictly ascending; speeds [units/s] > 0. The curve up to the fastest point
    is concave together with the origin; otherwise time could fall.
    """
    top = int(np.argmax(speeds))
    points = list(zip(loads.tolist(), speeds.tolist(), strict=True))
    kept = np.zeros(loads.size, dtype=np.bool_)
    kept[_rising(points, top)] = True
    kept[top:] = speeds[top:] <= np.minimum.accumulate(speeds[top:])
    return kept


def _rising(points: list[tuple[float, float]], top: int) -> list[int]:
    """Return the indices of points up to the fastest on the upper convex hull from the origin.

    A point is dropped if the curve is steeper after the point than before; then the previous point
    is checked again.
    """
    kept: list[int] = []
    for i in range(top + 1):
        if kept and points[i][1] < points[kept[-1]][1]:
            continue
        while kept:
            before = points[kept[-2]] if len(kept) > 1 else (0.0, 0.0)
            if _slope(points[kept[-1]], points[i]) <= _slope(before, points[kept[-1]]):
                break
            kept.pop()
        kept.append(i)
    return kept


def _slope(a: tuple[float, float], b: tuple[float, float]) -> float:
    return (b[1] - a[1]) / (b[0] - a[0])


class SpeedModel(Protocol):
    """Time and speed as functions of load [units], up to a capacity [units].

    The functions take a scalar or an array and return float64 of the same shape; they raise
    InputError for negative numbers and NaN. time(0) is 0; speed is above zero everywhere.
    """

    @property
    def capacity(self) -> float:
        """Largest load the device can take [units]; infinity if there is no limit."""

    def time(self, load: Number) -> Number:
        """Time to process `load` units [s]; infinity beyond the capacity."""

    def speed(self, load: Number) -> Number:
        """Speed at `load` units [units/s], ignoring the capacity."""

    def max_load(self, seconds: Number) -> Number:
        """Largest load, up to the capacity, whose time is at most `seconds` [units]."""


@dataclass(frozen=True)
class Constant:
    """The constant performance model (CPM): one speed at every load [units/s].

    spread: half width of its confidence interval, relative to the speed.
    """

    rate: float
    capacity: float = np.inf
    spread: float = 0.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.rate) and self.rate > 0):
            raise InputError(f"a speed must be finite and above zero, not {self.rate}")
        object.__setattr__(self, "capacity", checked_capacity(self.capacity))

    def time(self, load: Number) -> Number:
        """Time to process `load` units [s]; infinity beyond the capacity."""
        given = checked(load, "a load")
        return like(time_at(given, np.asarray(float(self.rate)), self.capacity), load)

    def speed(self, load: Number) -> Number:
        """Speed [units/s], the same at every load."""
        return like(np.full_like(checked(load, "a load"), self.rate), load)

    def max_load(self, seconds: Number) -> Number:
        """Largest load that is done within `seconds` [units]."""
        with np.errstate(over="ignore"):
            most = np.minimum(checked(seconds, "a time") * self.rate, self.capacity)
        return like(most, seconds)

    def scaled(self, factor: float) -> Constant:
        """Return the same device with loads in a new unit; one old unit is `factor` new units."""
        return replace(self, rate=self.rate * factor, capacity=self.capacity * factor)

    def uncertainty(self, load: Number) -> Number:
        """Half width of the confidence interval, relative to time or speed."""
        return like(np.full_like(checked(load, "a load"), self.spread), load)


def fit_model(
    samples: Iterable[Sample], kind: str = "piecewise", capacity: float = np.inf
) -> SpeedModel:
    """Fit a model of a kind ("constant", "piecewise", "shaped", "akima" or "time") to samples.

    Samples may be in any order; samples of the same load are pooled (see `pooled`). One to four
    samples give a partial model, a single one a constant speed for any kind ([Cla14]_, 3.3).
    "shaped" gives a Piecewise that stores in `dropped` the samples that the shape rule removed.
    capacity: in units. Raises InputError for an unknown kind and for no samples.
    """
    if kind not in FITS:
        raise InputError(f"a model must be one of {', '.join(FITS)}, not {kind!r}")
    points = pooled(samples)
    if not points:
        raise InputError("no samples: a speed model needs at least one")
    return FITS[kind](points, capacity)


def fit_device(device: DeviceSpeeds, kind: str | None = None) -> SpeedModel:
    """Fit a model of `kind`, or of the kind that the device states. Errors name the device."""
    try:
        return fit_model(device.samples, kind or device.model, device.capacity)
    except InputError as error:
        raise InputError(
            f"device {device.name!r}: {error.message}",
            hint="Measure it, or give it samples = [[load, seconds], ...].",
        ) from error


def is_flat(model: SpeedModel) -> bool:
    """Return whether a model is known to have the same speed at every load."""
    if isinstance(model, Piecewise | Akima):
        return bool((model.speeds == model.speeds[0]).all())
    return isinstance(model, Constant)


def capped(model: SpeedModel, most: float) -> SpeedModel:
    """Return the model with a capacity of at most `most` [units]; unchanged if it has less.

    Raises InputError for a model of a kind that is not Evener's.
    """
    if model.capacity <= most:
        return model
    if isinstance(model, Akima):
        return Akima(replace(model.points, capacity=most))
    if isinstance(model, Constant | Piecewise):
        return replace(model, capacity=most)
    raise InputError(f"the capacity of a {type(model).__name__} cannot be changed")


def pooled(samples: Iterable[Sample]) -> list[Sample]:
    """Return the samples by ascending load, one for each load.

    Samples of the same load are replaced by their mean time, weighted by repetitions; stopped
    samples ("slower") are used only if there are no others.
    """
    ordered = sorted(samples, key=_load)
    if all(one.load < other.load for one, other in pairwise(ordered)):
        return ordered
    by_load: dict[float, list[Sample]] = {}
    for sample in ordered:
        by_load.setdefault(sample.load, []).append(sample)
    return [_mean(alike) for alike in by_load.values()]


_load = attrgetter("load")


def _mean(alike: list[Sample]) -> Sample:
    done = [s for s in alike if s.status == "ok"]
    if not done:
        return max(alike, key=lambda s: s.seconds)
    if len(done) == 1:
        return done[0]
    counts = np.array([s.repetitions for s in done], dtype=np.float64)
    share = counts / counts.sum()
    seconds = float(share @ [s.seconds for s in done])
    half_width = float(np.linalg.norm(share * [s.half_width for s in done]))
    return Sample(done[0].load, seconds, half_width, int(counts.sum()))


def _speeds(samples: list[Sample]) -> FloatArray:
    """Return the speeds of samples, (m,) [units/s]; for stopped ones, divided by SLOWER."""
    return np.array([s.speed / (1.0 if s.status == "ok" else SLOWER) for s in samples])


def _constant(samples: list[Sample], capacity: float) -> Constant:
    """Return the speed at the largest load that was measured completely, as a model."""
    last = next((s for s in reversed(samples) if s.status == "ok"), samples[-1])
    return Constant(float(_speeds([last])[0]), capacity, last.half_width / last.seconds)


def _piecewise(samples: list[Sample], capacity: float) -> Piecewise:
    loads = np.array([s.load for s in samples])
    spread = np.array([s.half_width / s.seconds for s in samples])
    return Piecewise(loads, _speeds(samples), capacity, spread)


def _shaped(samples: list[Sample], capacity: float) -> Piecewise:
    kept = kept_by_shape(np.array([s.load for s in samples]), _speeds(samples))
    model = _piecewise([s for s, keep in zip(samples, kept, strict=True) if keep], capacity)
    dropped = tuple(s for s, keep in zip(samples, kept, strict=True) if not keep)
    return replace(model, dropped=dropped)


def _akima(samples: list[Sample], capacity: float) -> Akima:
    return Akima(_piecewise(samples, capacity))


def _by_time(samples: list[Sample], capacity: float) -> Piecewise:
    return by_time(_piecewise(samples, capacity))


FITS: Mapping[str, Callable[[list[Sample], float], SpeedModel]] = {
    "constant": _constant,
    "piecewise": _piecewise,
    "shaped": _shaped,
    "akima": _akima,
    "time": _by_time,
}


PRECISION = 1e-4  # relative, of a time: far below the accuracy of samples
MOST_HALVINGS = 48  # of an interval between two samples
LOOKED_AT = (0.25, 0.5, 0.75)  # fractions of the way between two knots at which times are compared


def by_time(points: Piecewise) -> Piecewise:
    """Return a model through the same points, with time linear between them instead of speed."""
    times = points.loads / points.speeds
    loads = points.loads
    for _ in range(MOST_HALVINGS):
        speeds, width = _point_speeds(loads, points, times), np.diff(loads)
        off = np.zeros(width.size, np.bool_)
        for part in LOOKED_AT:
            at = loads[:-1] + part * width
            speed = speeds[:-1] + part * np.diff(speeds)
            off |= np.abs(speed * np.interp(at, points.loads, times) / at - 1) > PRECISION
        more = np.union1d(loads, (loads[:-1] + width / 2)[off])
        if more.size == loads.size:
            break
        loads = more
    speeds = _point_speeds(loads, points, times)
    return Piecewise(loads, speeds, points.capacity, points.uncertainty(loads), points.dropped)


def _point_speeds(loads: FloatArray, points: Piecewise, times: FloatArray) -> FloatArray:
    """Return the speeds at loads [units/s]; at the points, exactly the given speeds."""
    speeds = loads / np.interp(loads, points.loads, times)
    own = np.searchsorted(loads, points.loads)
    speeds[own] = points.speeds
    return np.asarray(speeds)
