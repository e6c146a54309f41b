"""SpeedSurface: speed as a function of a rectangle's height and width ([Cla14]_, 3.4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, as_numbers
from evener.errors import InputError
from evener.platforms.models.piecewise import Number, Piecewise, checked, like, time_at
from evener.platforms.models.samples import checked_capacity
from evener.wording import brief


@dataclass(frozen=True, eq=False)
class SpeedSurface:
    """A two-dimensional performance model (2D-FPM): a rectangle of m by n takes time(m, n).

    heights (a,) and widths (b,) rise strictly from above zero; speeds (a, b) [units/s], a unit
    being one of area, are above zero; all float64. Between the points of the grid speed is
    bilinear, outside it that of the nearest edge. capacity [units]: of area.

    Raises InputError for arrays out of order, out of range or of other shapes.
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
            if not (values[0] > 0 and (np.diff(values) > 0).all()):
                raise InputError(f"{name} must rise strictly, from above zero")
        if not (speeds > 0).all():
            raise InputError("the speeds of a surface must be above zero")
        for key, value in (("heights", heights), ("widths", widths), ("speeds", speeds)):
            own = value.copy()
            own.flags.writeable = False
            object.__setattr__(self, key, own)
        object.__setattr__(self, "capacity", checked_capacity(self.capacity))

    def __repr__(self) -> str:
        return brief(self)

    def speed(self, height: Number, width: Number) -> Number:
        """Speed [units/s] on rectangles; scalars or arrays that broadcast."""
        return like(self._speed(checked(height, "a height"), checked(width, "a width")), height)

    def time(self, height: Number, width: Number) -> Number:
        """Time [s] for rectangles; infinity where the area is beyond the capacity."""
        m, n = checked(height, "a height"), checked(width, "a width")
        return like(time_at(m * n, self._speed(m, n), self.capacity), height)

    def at_width(self, width: float) -> Piecewise:
        """Return the model of a column `width` wide, load and capacity counted in rows: exact."""
        if not 0 < width < np.inf:
            raise InputError(f"a width must be finite and above zero, not {width}")
        speeds = self._speed(self.heights, np.asarray(float(width)))
        return Piecewise(self.heights, speeds / width, self.capacity / width)

    def of_squares(self) -> Piecewise:
        """Return the model of squares, load counted in units of area, as 1.5D wants it.

        Knots lie at every height and width of the grid; between them speed is linear in the area
        rather than along the diagonal.
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

    Raises InputError for samples that are not above zero, twice, or missing from the grid.
    """
    points: dict[tuple[float, float], float] = {}
    for height, width, seconds in samples:
        if not (0 < height < np.inf and 0 < width < np.inf and 0 < seconds < np.inf):
            raise InputError(f"no sample of a surface: {height:g} x {width:g} in {seconds:g} s")
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
    """The knot before each place, and how far on the way to the next one it is, 0 to 1."""
    at = np.clip(at, knots[0], knots[-1])
    before = np.asarray(np.searchsorted(knots, at, side="right") - 1)
    after = np.minimum(before + 1, knots.size - 1)
    width = np.where(after > before, knots[after] - knots[before], 1.0)
    return before, (at - knots[before]) / width
