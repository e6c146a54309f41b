"""Akima: speed as a smooth function of load, through every sample.

The curve is a spline whose slopes depend only on the nearest points, so that a cliff does not make
the whole curve oscillate. Slopes are limited so that speed stays above zero: a cubic is positive if
its inner Bernstein coefficients are not negative. Between samples, time may rise and fall; max_load
splits the pieces at the turning points.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from evener.arrays import BoolArray, FloatArray
from evener.errors import InputError
from evener.platforms.models.piecewise import Number, Piecewise, checked, like, time_at
from evener.wording import brief

STEPS = 100  # max. Newton or bisection steps; bisection alone needs 64
STRAIGHT = 1e-9  # bends below this share of the largest are treated as zero


class Turns(NamedTuple):
    """Loads between which time is monotone, and the least time at each or any larger load."""

    loads: FloatArray
    least: FloatArray


@dataclass(frozen=True, eq=False)
class Akima:
    """A functional performance model (FPM) by Akima's spline of speed ([Cla14]_, 3.2.2, 3.3.2).

    The spline is that of [Akima70]_. It is built from the points of a Piecewise: loads [units]
    (m,), speeds [units/s] (m,), m >= 1. As in the thesis, three points of the first speed are added
    before the first point, and three of the last speed after the last: with these, one point is a
    constant speed, two to four form an ordinary curve, and outside the points speed is constant.
    breaks (m,) are the loads; coefficients (4, m - 1) are those of the cubics in load - breaks[i],
    the highest power first (SciPy's PPoly). The derivative is continuous. Raises InputError if the
    points are too close together for their slopes.
    """

    points: Piecewise
    breaks: FloatArray = field(init=False)
    coefficients: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        loads, speeds = self.points.loads, self.points.speeds
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            coefficients = _cubics(loads, speeds, _held(loads, speeds, _slopes(loads, speeds)))
        if not np.isfinite(coefficients).all():
            bad = int(np.argmax(~np.isfinite(coefficients).all(axis=0)))
            raise InputError(
                f"loads {loads[bad]!r} and {loads[bad + 1]!r} are too close for a smooth curve; "
                "use piecewise"
            )
        coefficients.flags.writeable = False
        object.__setattr__(self, "breaks", loads)
        object.__setattr__(self, "coefficients", coefficients)

    def __repr__(self) -> str:
        return brief(self)

    @property
    def capacity(self) -> float:
        """Largest load the device can take [units]."""
        return self.points.capacity

    @property
    def speeds(self) -> FloatArray:
        """Speeds at the breaks [units/s], (m,)."""
        return self.points.speeds

    def speed(self, load: Number) -> Number:
        """Speed [units/s] at `load` [units], ignoring the capacity."""
        return like(self._speed(checked(load, "a load"))[0], load)

    def time(self, load: Number) -> Number:
        """Time [s] for `load` [units]; infinity beyond the capacity."""
        given = checked(load, "a load")
        return like(time_at(given, self._speed(given)[0], self.capacity), load)

    def max_load(self, seconds: Number) -> Number:
        """Largest load [units] whose time is at most `seconds`, up to rounding."""
        given = checked(seconds, "a time")
        loads, least = self._turns
        last = np.asarray(np.searchsorted(least, given, side="right") - 1)
        inside = (last >= 0) & (last < loads.size - 1)
        here = np.maximum(last, 0)
        with np.errstate(over="ignore"):
            most = np.minimum(given * self._speed(loads[here])[0], self.capacity)
        if inside.any():
            last = last[inside]
            most = np.array(most)
            most[inside] = self._crossing(given[inside], loads[last], loads[last + 1])
        return like(np.asarray(most), seconds)

    def scaled(self, factor: float) -> Akima:
        """Return the same device with loads in a new unit; one old unit is `factor` new units."""
        return Akima(self.points.scaled(factor))

    def uncertainty(self, load: Number) -> Number:
        """Half width of the confidence interval, relative to time or speed."""
        return self.points.uncertainty(load)

    def _speed(self, load: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Speed and its derivative."""
        breaks = self.breaks
        if breaks.size == 1:
            return np.full_like(load, self.speeds[0]), np.zeros_like(load)
        piece = np.clip(np.searchsorted(breaks, load, side="right") - 1, 0, breaks.size - 2)
        at = np.clip(load, breaks[0], breaks[-1])
        start, end = breaks[piece], breaks[piece + 1]
        u, v = (at - start) / (end - start), (end - at) / (end - start)
        # Bernstein's form: a sum of positive terms, accurate even at the foot of a cliff.
        p, q, r, s = self.bernstein[:, piece]
        speed = ((p * v + 3 * q * u) * v + 3 * r * u * u) * v + s * u * u * u
        slope = 3 * ((q - p) * v * v + 2 * (r - q) * u * v + (s - r) * u * u) / (end - start)
        inside = (load >= breaks[0]) & (load < breaks[-1])
        return speed, np.where(inside, slope, 0.0)

    @cached_property
    def bernstein(self) -> FloatArray:
        """Bernstein coefficients of the cubics, (4, m - 1) [units/s]; none is negative."""
        width = np.diff(self.breaks)
        left, slopes = self.speeds[:-1], self.coefficients[2]
        # The slope at the end of a piece is that at the start of the next piece.
        behind = np.append(slopes[1:], 0.0)
        inner = np.array([left + width * slopes / 3, self.speeds[1:] - width * behind / 3])
        return np.array([left, *np.maximum(inner, 0.0), self.speeds[1:]])

    @cached_property
    def _turns(self) -> Turns:
        from scipy.interpolate import PPoly

        loads = self.breaks
        if loads.size > 1:
            # Time turns where speed - load x slope is zero: a cubic on each piece.
            (a, b, c, d), start = self.coefficients, self.breaks[:-1]
            turning = np.array([-2 * a, -b - 3 * start * a, -2 * start * b, d - start * c])
            roots = PPoly(turning, self.breaks).roots(discontinuity=False, extrapolate=False)
            loads = np.union1d(loads, roots[np.isfinite(roots)])  # NaN: zero on the whole piece
        loads = np.union1d(loads[loads < self.capacity], np.minimum(loads[-1], self.capacity))
        with np.errstate(over="ignore"):
            times = loads / self._speed(loads)[0]
        return Turns(loads, np.minimum.accumulate(times[::-1])[::-1])

    def _crossing(self, seconds: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return the load between low and high at which time is `seconds`, by Newton's method.

        time(low) <= `seconds` < time(high). A step that leaves the bracket, or is more than half as
        long as the last one, is replaced by bisection.
        """
        at, last_step = (low + high) / 2, high - low
        for _ in range(STEPS):
            speed, slope = self._speed(at)
            over = at - seconds * speed  # positive: at takes too long
            late: BoolArray = over > 0
            high, low = np.where(late, at, high), np.where(late, low, at)
            step = over / _away_from_zero(1.0 - seconds * slope)
            ahead = at - step
            newton = (ahead >= low) & (ahead <= high) & (np.abs(step) <= np.abs(last_step) / 2)
            ahead = np.where(newton, ahead, low + (high - low) / 2)
            last_step = ahead - at
            at = ahead
            if (np.abs(last_step) <= 4e-16 * at).all():
                break
        return at


def _slopes(loads: FloatArray, speeds: FloatArray) -> FloatArray:
    """Akima's derivatives at the points, with three points of the same speed added on either side.

    As in SciPy's Akima1DInterpolator: the mean of the left and right secants, each weighted by how
    little the two secants on the other side differ.
    """
    secants = np.zeros(loads.size + 5)
    secants[3:-3] = np.diff(speeds) / np.diff(loads)
    bends = np.abs(np.diff(secants))
    both = bends[2:] + bends[:-2]
    slopes = 0.5 * (secants[3:] + secants[:-3])
    bent = both > STRAIGHT * both.max()
    share = bends[:-2][bent] / both[bent]
    left, right = secants[1:-2][bent], secants[2:-1][bent]
    slopes[bent] = left + share * (right - left)
    slopes = slopes[1:-1]
    slopes[[0, -1]] = 0.0  # removes rounding errors
    return slopes


def _held(loads: FloatArray, speeds: FloatArray, slopes: FloatArray) -> FloatArray:
    """Return slopes limited so that adjacent cubics stay above zero."""
    widths = np.diff(loads)
    slopes = slopes.copy()
    slopes[:-1] = np.maximum(slopes[:-1], -3 * speeds[:-1] / widths)
    slopes[1:] = np.minimum(slopes[1:], 3 * speeds[1:] / widths)
    return slopes


def _cubics(loads: FloatArray, speeds: FloatArray, slopes: FloatArray) -> FloatArray:
    """Return the coefficients (4, m - 1) of cubics with these values and slopes at their ends."""
    h, rise = np.diff(loads), np.diff(speeds)
    left, right = slopes[:-1], slopes[1:]
    steep = rise / h
    return np.array([(left + right - 2 * steep) / h**2, (3 * steep - 2 * left - right) / h,
                     left, speeds[:-1]])  # fmt: skip


def _away_from_zero(values: FloatArray) -> FloatArray:
    return np.where(np.abs(values) < 1e-300, 1e-300, values)
