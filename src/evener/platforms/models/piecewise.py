"""Piecewise: speed as a function of load, linear between the knots, constant outside them.

Between two knots time is load / (a + b load), which only rises or only falls: what a finish time
allows is therefore found from the times at the knots alone, and then solved for exactly.
"""

from __future__ import annotations

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
    """What max_load needs: the knots up to the capacity, and the least time from each one on."""

    loads: FloatArray
    speeds: FloatArray
    least: FloatArray


@dataclass(frozen=True, eq=False)
class Piecewise:
    """A functional performance model (FPM), piecewise linear in speed ([Cla14]_, 3.2.1).

    loads [units] (m,) rise strictly from above zero; speeds [units/s] (m,) are above zero; both
    float64. capacity [units]: no larger load can be taken. spread (m,): half width of each knot's
    confidence interval, relative to its time; none given: zeros. dropped: samples that a rule of
    shape has taken out (see evener.platforms.models.fitting). Speed need be neither monotone nor
    concave, and time need not rise with load.

    Raises InputError for arrays that are empty, of unlike length, out of order or out of range.
    """

    loads: FloatArray
    speeds: FloatArray
    capacity: float = np.inf
    spread: FloatArray = field(default_factory=lambda: np.zeros(0))
    dropped: tuple[Sample, ...] = field(default=())

    def __post_init__(self) -> None:
        loads, speeds = as_numbers(self.loads, "loads"), as_numbers(self.speeds, "speeds")
        if loads.size != speeds.size or not loads.size:
            raise InputError(f"{loads.size} loads and {speeds.size} speeds make no speed model")
        if not (loads[0] > 0 and (np.diff(loads) > 0).all()):
            raise InputError("the loads of a speed model must rise strictly, from above zero")
        if not (speeds > 0).all():
            raise InputError("the speeds of a speed model must be above zero")
        spread = as_numbers(self.spread, "spread") if np.size(self.spread) else np.zeros(loads.size)
        if spread.size != loads.size or not (spread >= 0).all():
            raise InputError("the spread of a speed model is a number for each load, none negative")
        for key, value in (("loads", loads), ("speeds", speeds), ("spread", spread)):
            own = value.copy()
            own.flags.writeable = False
            object.__setattr__(self, key, own)
        object.__setattr__(self, "capacity", checked_capacity(self.capacity))

    def __repr__(self) -> str:
        return brief(self)

    def speed(self, load: Number) -> Number:
        """Speed [units/s] at `load` [units], scalar or array; beyond the capacity as if none."""
        given = checked(load, "a load")
        return like(np.asarray(np.interp(given, self.loads, self.speeds)), load)

    def time(self, load: Number) -> Number:
        """Time [s] for `load` [units], scalar or array; infinity beyond the capacity."""
        given = checked(load, "a load")
        speeds = np.asarray(np.interp(given, self.loads, self.speeds))
        return like(time_at(given, speeds, self.capacity), load)

    def max_load(self, seconds: Number) -> Number:
        """Largest load [units] whose time is at most `seconds`, to rounding; scalar or array."""
        given = checked(seconds, "a time")
        loads, speeds, least = self._knots
        # The last knot that is done in time: from there on time crosses `seconds` exactly once.
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
        """Return the same device, loads counted in units of which `factor` make one of before."""
        return Piecewise(
            self.loads * factor, self.speeds * factor, self.capacity * factor, self.spread
        )

    def uncertainty(self, load: Number) -> Number:
        """Half width of the confidence interval, relative to time or speed, as `spread` has it."""
        given = checked(load, "a load")
        return like(np.asarray(np.interp(given, self.loads, self.spread)), load)

    @cached_property
    def _knots(self) -> Knots:
        """Knots cut at the capacity; `least[i]` is the least time [s] at knot i or a later one."""
        below = self.loads < self.capacity
        loads, speeds = self.loads[below], self.speeds[below]
        if not below.all():
            loads = np.append(loads, self.capacity)
            speeds = np.append(speeds, np.interp(self.capacity, self.loads, self.speeds))
        with np.errstate(over="ignore"):
            times = loads / speeds
        return Knots(loads, speeds, np.minimum.accumulate(times[::-1])[::-1])


def checked(values: float | npt.NDArray[Any], what: str) -> FloatArray:
    """Return loads or times as float64 of any shape; raise InputError for negative ones and NaN."""
    array = np.asarray(values, dtype=np.float64)
    if not (array >= 0).all():
        wrong = array[~(array >= 0)].flat[0]
        raise InputError(f"{what} must be zero or above, not {wrong:g}")
    return array


def time_at(load: FloatArray, speed: FloatArray, capacity: float) -> FloatArray:
    """Time [s] of loads at their speeds, infinity beyond the capacity."""
    with np.errstate(over="ignore"):
        return np.where(load > capacity, np.inf, load / speed)


def like(values: FloatArray, given: Number) -> Number:  # noqa: ARG001 - says what comes back
    """Return an array as it is and a single number as a float, as was given."""
    return cast("Number", values if values.ndim else float(values))
