"""Piecewise, SpeedSurface: speed linear between given points, of load or of height and width.

Beyond the points speed is constant. Between two knots of a Piecewise, time is load / (a + b load),
which is monotone: the load for a given finish time is therefore bracketed using only the times at
the knots, and then solved for exactly. SpeedSurface follows [Cla14]_, 3.4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, as_numbers
from evener.errors import InputError
from evener.platforms.models.samples import Sample, checked_capacity
from evener.wording import brief

Number = TypeVar("Number", float, npt.NDArray[Any])


class Knots(NamedTuple):
    """Data for max_load: the knots up to the capacity, and the least time at or after each."""

    loads: FloatArray
    speeds: FloatArray
    least: FloatArray


@dataclass(frozen=True, eq=False)
class Piecewise:
    """A functional performance model (FPM), piecewise linear in speed ([Cla14]_, 3.2.1).

    loads [units] (m,) are strictly ascending and positive; speeds [units/s] (m,) are positive; both
    float64. capacity [units]: the largest possible load. spread (m,): half width of each knot's
    confidence interval, relative to its time; zeros by default. dropped: samples that the shape
    rule removed (see evener.platforms.models.fitting). Speed need not be monotone or concave, and
    time need not rise with load. Raises InputError for arrays that are empty, of different length,
    out of order or out of range.
    """

    loads: FloatArray
    speeds: FloatArray
    capacity: float = np.inf
    spread: FloatArray = field(default_factory=lambda: np.zeros(0))
    dropped: tuple[Sample, ...] = field(default=())

    def __post_init__(self) -> None:
        loads, speeds = as_numbers(self.loads, "loads"), as_numbers(self.speeds, "speeds")
        if loads.size != speeds.size or not loads.size:
            raise InputError(
                f"{loads.size} loads and {speeds.size} speeds do not make a speed model"
            )
        if not _rise(loads):
            raise InputError("the loads of a speed model must be above zero and strictly increase")
        if not (speeds > 0).all():
            raise InputError("the speeds of a speed model must be above zero")
        spread = as_numbers(self.spread, "spread") if np.size(self.spread) else np.zeros(loads.size)
        if spread.size != loads.size or not (spread >= 0).all():
            raise InputError("the spread of a speed model must be one number >= 0 for each load")
        _keep(self, loads=loads, speeds=speeds, spread=spread)

    def __repr__(self) -> str:
        return brief(self)

    def speed(self, load: Number) -> Number:
        """Speed [units/s] at `load` [units], scalar or array, ignoring the capacity."""
        given = checked(load, "a load")
        return like(np.asarray(np.interp(given, self.loads, self.speeds)), load)

    def time(self, load: Number) -> Number:
        """Time [s] for `load` [units], scalar or array; infinity beyond the capacity."""
        given = checked(load, "a load")
        speeds = np.asarray(np.interp(given, self.loads, self.speeds))
        return like(time_at(given, speeds, self.capacity), load)

    def max_load(self, seconds: Number) -> Number:
        """Largest load [units] whose time is at most `seconds`, up to rounding; scalar or array."""
        given = checked(seconds, "a time")
        loads, speeds, least = self._knots
        # The last knot finished in time: after it, time crosses `seconds` exactly once.
        last = np.searchsorted(least, given, side="right") - 1
        here, after = np.maximum(last, 0), np.minimum(last + 1, loads.size - 1)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            room = given * speeds[here] - loads[here]
            lack = loads[after] - given * speeds[after]
            between = loads[here] + (loads[after] - loads[here]) * (room / (room + lack))
            flat = np.minimum(given * speeds[here], self.capacity)
        inside = (last >= 0) & (last < loads.size - 1)
        return like(np.where(inside, between, flat), seconds)

    def scaled(self, factor: float) -> Piecewise:
        """Return the same device with loads in a new unit; one old unit is `factor` new units."""
        return Piecewise(
            self.loads * factor, self.speeds * factor, self.capacity * factor, self.spread
        )

    def uncertainty(self, load: Number) -> Number:
        """Half width of the confidence interval, relative to time or speed, by `spread`."""
        given = checked(load, "a load")
        return like(np.asarray(np.interp(given, self.loads, self.spread)), load)

    @cached_property
    def _knots(self) -> Knots:
        """Knots up to the capacity; `least[i]` is the least time [s] at knot i or a later one."""
        below = self.loads < self.capacity
        loads, speeds = self.loads[below], self.speeds[below]
        if not below.all():
            loads = np.append(loads, self.capacity)
            speeds = np.append(speeds, np.interp(self.capacity, self.loads, self.speeds))
        with np.errstate(over="ignore"):
            times = loads / speeds
        return Knots(loads, speeds, np.minimum.accumulate(times[::-1])[::-1])


def _rise(values: FloatArray) -> bool:
    """Return whether values (m,) are positive and strictly ascending."""
    return bool(values[0] > 0 and (np.diff(values) > 0).all())


def _keep(model: Piecewise | SpeedSurface, **arrays: FloatArray) -> None:
    """Set fields of a model to read-only copies, and check its capacity."""
    for key, value in arrays.items():
        own = value.copy()
        own.flags.writeable = False
        object.__setattr__(model, key, own)
    object.__setattr__(model, "capacity", checked_capacity(model.capacity))


def checked(values: float | npt.NDArray[Any], what: str) -> FloatArray:
    """Return loads or times as float64, any shape; raise InputError for negative ones and NaN."""
    array = np.asarray(values, dtype=np.float64)
    if not (array >= 0).all():
        wrong = array[~(array >= 0)].flat[0]
        raise InputError(f"{what} must be >= 0, not {wrong:g}")
    return array


def time_at(load: FloatArray, speed: FloatArray, capacity: float) -> FloatArray:
    """Return the time [s] of loads at their speeds, infinity beyond the capacity."""
    with np.errstate(over="ignore"):
        return np.where(load > capacity, np.inf, load / speed)


def like(values: FloatArray, given: Number) -> Number:  # noqa: ARG001 - says what comes back
    """Return an array unchanged, but a single number as a float."""
    return cast("Number", values if values.ndim else float(values))


@dataclass(frozen=True, eq=False)
class SpeedSurface:
    """A two-dimensional performance model (2D-FPM): a rectangle of m by n takes time(m, n).

    heights (a,) and widths (b,) are positive and strictly ascending; speeds (a, b) [units/s] are
    positive, with a unit of area as unit; all float64. Between the grid points speed is bilinear,
    outside the grid it is that of the nearest edge. capacity [units]: of area. Raises InputError
    for arrays out of order, out of range or of other shapes.
    """

    heights: FloatArray
    widths: FloatArray
    speeds: FloatArray
    capacity: float = np.inf

    def __post_init__(self) -> None:
        heights, widths = as_numbers(self.heights, "heights"), as_numbers(self.widths, "widths")
        speeds = as_numbers(self.speeds, "speeds", ndim=2)
        if speeds.shape != (heights.size, widths.size) or not speeds.size:
            raise InputError(
                f"speeds of shape {speeds.shape} do not fit {heights.size} heights and "
                f"{widths.size} widths"
            )
        for name, values in (("heights", heights), ("widths", widths)):
            if not _rise(values):
                raise InputError(f"{name} must be above zero and strictly increase")
        if not (speeds > 0).all():
            raise InputError("the speeds of a surface must be above zero")
        _keep(self, heights=heights, widths=widths, speeds=speeds)

    def __repr__(self) -> str:
        return brief(self)

    def speed(self, height: Number, width: Number) -> Number:
        """Speed [units/s] for rectangles; scalars or arrays that broadcast."""
        return like(self._speed(checked(height, "a height"), checked(width, "a width")), height)

    def time(self, height: Number, width: Number) -> Number:
        """Time [s] for rectangles; infinity if the area exceeds the capacity."""
        m, n = checked(height, "a height"), checked(width, "a width")
        return like(time_at(m * n, self._speed(m, n), self.capacity), height)

    def at_width(self, width: float) -> Piecewise:
        """Return the exact model of a column of this width, with load and capacity in rows."""
        if not 0 < width < np.inf:
            raise InputError(f"a width must be finite and above zero, not {width}")
        speeds = self._speed(self.heights, np.asarray(float(width)))
        return Piecewise(self.heights, speeds / width, self.capacity / width)

    def of_squares(self) -> Piecewise:
        """Return the model of squares, with load in units of area, as 1.5D tiling needs it.

        Knots are at every height and width of the grid; between them speed is linear in the area
        instead of along the diagonal.
        """
        sides = np.union1d(self.heights, self.widths)
        return Piecewise(sides**2, self._speed(sides, sides), self.capacity)

    def _speed(self, m: FloatArray, n: FloatArray) -> FloatArray:
        i, u = _place(self.heights, m)
        j, v = _place(self.widths, n)
        i2, j2 = np.minimum(i + 1, self.heights.size - 1), np.minimum(j + 1, self.widths.size - 1)
        s = self.speeds
        near = s[i, j] * (1 - u) + s[i2, j] * u
        far = s[i, j2] * (1 - u) + s[i2, j2] * u
        return np.asarray(near * (1 - v) + far * v)


def fit_surface(
    samples: Iterable[tuple[float, float, float]], capacity: float = np.inf
) -> SpeedSurface:
    """Return the surface through samples (height, width, seconds), one at every grid point.

    Raises InputError for samples that are not positive, repeated, or missing from the grid.
    """
    points: dict[tuple[float, float], float] = {}
    for height, width, seconds in samples:
        if not (0 < height < np.inf and 0 < width < np.inf and 0 < seconds < np.inf):
            raise InputError(
                f"not a valid sample of a surface: {height:g} x {width:g} in {seconds:g} s"
            )
        if (height, width) in points:
            raise InputError(f"two samples of {height:g} x {width:g}")
        points[height, width] = height * width / seconds
    if not points:
        raise InputError("no samples: a surface needs at least one")
    heights, widths = (sorted({point[axis] for point in points}) for axis in (0, 1))
    for height in heights:
        for width in widths:
            if (height, width) not in points:
                raise InputError(f"a surface needs a full grid: {height:g} x {width:g} is missing")
    speeds = [[points[height, width] for width in widths] for height in heights]
    return SpeedSurface(np.array(heights), np.array(widths), np.array(speeds), capacity)


def _place(knots: FloatArray, at: FloatArray) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """Return the knot before each place, and the fraction of the way to the next knot, 0 to 1."""
    at = np.clip(at, knots[0], knots[-1])
    before = np.asarray(np.searchsorted(knots, at, side="right") - 1)
    after = np.minimum(before + 1, knots.size - 1)
    width = np.where(after > before, knots[after] - knots[before], 1.0)
    return before, (at - knots[before]) / width
