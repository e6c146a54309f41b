"""The sizing methods constant and gpa: they find the least time T in which whole loads reach n.

`least_time` finds the least T such that the largest whole loads that the devices finish by T sum to
at least n. If time rises with load, this T is the least makespan of whole sizes; otherwise it is a
lower bound, from which exact.py begins. Whole loads jump with time, and T is found exactly, to the
last digit. Therefore the bisections of equal_finish.py are not used here: their loads are real and
their times approximate.

constant: the CPM of [Cla14]_, 2.3. A speed that changes with load is taken at an even share of the
load, as a benchmark with equal blocks would measure it.

gpa: the geometric partitioning algorithm, which cuts all speed curves with a line through the
origin. In the plane of load and speed, all points on such a line take the same time, the inverse of
its slope. Each line cuts a curve once if the curve satisfies the shape rule (concave while it
rises, then falling), and the loads at the cuts grow as the line becomes less steep. The algorithm
looks for the slope at which the loads sum to n ([LR07]_; [Cla14]_, 4.1). This implementation finds
the steepest line whose loads, rounded down, still suffice, so the whole sizes are optimal; [Cla14]_
instead adds the units lost by rounding down to the largest loads.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.errors import InputError, UsageError
from evener.platforms.models.akima import Akima
from evener.platforms.models.fitting import Constant, SpeedModel, kept_by_shape
from evener.platforms.models.piecewise import Piecewise
from evener.sizing.problems import Problem, Solution
from evener.sizing.segments import Runs, Segments, joined

FEW_UNITS = 64  # next_time is called if the loads at both ends differ by at most this many units
MAX_STEPS = 3000  # half of them halve; 1,100 halvings bring any two doubles together


class Loads(Protocol):
    """Protocol of Rates, Segments and Table: which whole loads k devices finish in a given time."""

    problem: Problem

    def times(self, sizes: IntArray) -> FloatArray:
        """Return the seconds (k,) that the devices take for whole sizes (k,)."""

    def bounds(self) -> tuple[float, float]:
        """Return a time [s] too short for n units, and a time enough for all allowed sizes."""

    def needed(self) -> float:
        """Return the least time [s] by which every device can finish some load in its limits."""

    def largest(self, seconds: float) -> IntArray:
        """Return the largest whole loads (k,) that devices finish in `seconds`; at least `low`."""

    def runs(self, seconds: float) -> Runs:
        """Return all whole loads that the devices finish in `seconds`."""

    def next_time(self, seconds: float) -> float:
        """Return the least time above `seconds` that any whole load takes; infinity if none."""


class Least(NamedTuple):
    """The result of least_time.

    seconds: the least time [s]. largest, before (k,): the largest loads that devices finish by this
    time, and by any time just before it. steps: the number of bisection steps.
    """

    seconds: float
    largest: IntArray
    before: IntArray
    steps: int


def least_time(loads: Loads) -> Least:
    """Return the least time by which the largest loads sum to n or more, exact to the last digit.

    Steps of bisection and regula falsi alternate until no load takes a time between both ends.
    """
    low, n = loads.problem.low, loads.problem.n
    if int(low.sum()) == n:
        return Least(0.0, low, low, 0)
    early, late = loads.bounds()
    before, largest = loads.largest(early), loads.largest(late)
    if int(before.sum()) >= n:  # possible because `largest` returns at least the lower limits
        early, late, before, largest = 0.0, early, low, before
    for step in range(MAX_STEPS):
        # No device ends between the new and the old `late`.
        late = min(late, float(loads.times(largest)[largest > low].max()))
        surplus, lack = int(largest.sum()) - n, n - int(before.sum())
        # Many equal devices gain a unit at the same moment: every fourth step allows for that.
        few = FEW_UNITS if step % 4 else 4 * largest.size
        is_near = surplus + lack <= few or np.nextafter(early, np.inf) >= late
        if is_near and loads.next_time(early) >= late:
            return Least(late, largest, before, step)
        near = early * (1 + (1 + low.size) / n)
        middle = _between(early, late, near, lack / (surplus + lack), step)
        at_middle = loads.largest(middle)
        if int(at_middle.sum()) >= n:
            late, largest = middle, at_middle
        else:
            early, before = middle, at_middle
    raise AssertionError("halving ends at two neighbouring floats")


def handed_back(loads: Loads, least: Least) -> IntArray:
    """Return sizes (k,) that sum to n: the largest loads, reduced by their excess over n.

    Only loads that grew at the least time are reduced, and not below their value just before it.
    Therefore, if time rises with load, no device ends later than the least time.
    """
    surplus = int(least.largest.sum()) - loads.problem.n
    spare = (least.largest - least.before)[::-1]  # the last of equal devices are reduced first
    taken = np.diff(np.minimum(np.cumsum(spare), surplus), prepend=0)
    return np.asarray(least.largest - taken[::-1])


def _between(early: float, late: float, near: float, share: float, step: int) -> float:
    """Return a time to try: the middle, or in every second step a linear interpolation.

    share: where to interpolate, as a fraction of the way from `early` to `late`.
    """
    if early > 0 and late > 4 * early:
        # Without fixed costs and other limits, a unit more for each device is enough.
        return near if step == 0 else float(np.sqrt(early) * np.sqrt(late))
    share = min(max(share, 0.02), 0.98) if step % 2 else 0.5
    return float(np.clip(early + (late - early) * share, np.nextafter(early, late), late))


class Rates:
    """The whole loads of k devices with constant speeds (k,) [units/s]; it implements `Loads`."""

    def __init__(self, problem: Problem, rates: FloatArray) -> None:
        self.problem, self._rates = problem, rates
        with np.errstate(over="ignore"):
            self._latest = self.times(problem.high)
        if not np.isfinite(self._latest).all():
            name = problem.name(int(np.argmin(np.isfinite(self._latest))))
            raise InputError(
                f"device {name} takes too long: its time exceeds the largest floating-point number"
            )

    def times(self, sizes: IntArray) -> FloatArray:
        """Return the seconds (k,) that the devices take for whole sizes (k,)."""
        return np.asarray(sizes / self._rates + self.problem.fixed * (sizes > 0))

    def bounds(self) -> tuple[float, float]:
        """Return a time [s] too short for n units, and a time enough for all allowed sizes."""
        usable = self.problem.high > 0
        early = self.problem.n / self._rates[usable].sum() * (1 - 1e-9) if usable.any() else 0.0
        return float(early), float(self._latest.max())

    def needed(self) -> float:
        """Return the least time [s] by which every device can finish some load in its limits."""
        return float(self.times(self.problem.low).max())

    def largest(self, seconds: float) -> IntArray:
        """Return the largest whole loads (k,) that devices finish in `seconds`; at least `low`."""
        low, high, fixed = self.problem.low, self.problem.high, self.problem.fixed
        with np.errstate(over="ignore"):
            most = np.minimum(np.maximum(seconds - fixed, 0.0) * self._rates, high)
        load = np.minimum(most.astype(np.int64) + 1, high)
        for _ in range(2):  # rounding leaves it at most two units too large
            load = load - ((load / self._rates + fixed > seconds) & (load > 0))
        return np.maximum(load, low)

    def runs(self, seconds: float) -> Runs:
        """Return all whole loads that the devices finish in `seconds`."""
        largest = self.largest(seconds)
        device = np.flatnonzero(self.times(largest) <= seconds)
        return joined(device, self.problem.low[device], largest[device])

    def next_time(self, seconds: float) -> float:
        """Return the least time above `seconds` that any whole load takes; infinity if none."""
        load = self.largest(seconds)
        load = np.where(self.times(load) <= seconds, load + 1, load)
        times = self.times(load)[load <= self.problem.high]
        # If the fixed time is large, the times of many loads are equal to the last digit.
        return float(times.min(where=times > seconds, initial=np.inf))


def solve_constant(problem: Problem) -> Solution:
    """Return the whole sizes of least makespan for constant speeds.

    A speed that changes with load is replaced by the speed at an even share of the load.
    """
    rates = problem.rates
    if not problem.is_constant:
        even = zip(problem.models, problem.even.tolist(), strict=True)
        rates = np.array([model.speed(load) for model, load in even])
    loads = Rates(problem, rates)
    least = least_time(loads)
    sizes = handed_back(loads, least)
    if problem.is_flat:
        return Solution(sizes, bound=max(least.seconds, loads.needed()))
    return Solution(
        sizes, True, ("constant: every speed is taken from its curve at an even share of the load",)
    )


def solve_gpa(problem: Problem) -> Solution:
    """Return the whole sizes of least makespan for curves that satisfy the shape rule.

    Points that violate the shape rule are dropped. Akima models are replaced by the piecewise
    linear curves through their points. Raises UsageError for models without points.
    """
    models = tuple(in_shape(model, problem.name(i)) for i, model in enumerate(problem.models))
    loads = Segments(replace(problem, models=models))
    least = least_time(loads)
    sizes = handed_back(loads, least)
    pairs = list(zip(models, problem.models, strict=True))
    if all(model is given for model, given in pairs):
        return Solution(sizes, bound=max(least.seconds, loads.needed()))
    dropped = [n for n in (_dropped(model, given) for model, given in pairs) if n]
    samples = f"{sum(dropped):,} sample{'s' * (sum(dropped) > 1)}"
    devices = f"{len(dropped):,} device{'s' * (len(dropped) > 1)}"
    note = f"gpa: the shape rule drops {samples} of {devices}"
    return Solution(sizes, True, (note,) if dropped else ())


def in_shape(model: SpeedModel, name: str) -> SpeedModel:
    """Return a model that satisfies the shape rule.

    A Constant is returned unchanged, other models as Piecewise through the points that satisfy the
    rule. name: of the device, for messages. Raises UsageError for models without points.
    """
    if isinstance(model, Constant):
        return model
    points = model.points if isinstance(model, Akima) else model
    if not isinstance(points, Piecewise):
        raise UsageError(
            f"gpa needs the points of a curve, but the model of {name} has none",
            hint="The method exact takes any model.",
        )
    if _keeps_shape(points):
        return points
    kept = kept_by_shape(points.loads, points.speeds)
    return Piecewise(points.loads[kept], points.speeds[kept], points.capacity)


def _keeps_shape(model: Piecewise) -> bool:
    """Return whether all points of the model satisfy the shape rule."""
    top = int(np.argmax(model.speeds))
    rise = np.diff(model.speeds, prepend=0.0)
    slope = rise[: top + 1] / np.diff(model.loads[: top + 1], prepend=0.0)
    concave = (slope[1:] <= slope[:-1]).all() and (rise[: top + 1] >= 0).all()
    return bool(concave and (rise[top + 1 :] <= 0).all())


def _dropped(model: SpeedModel, given: SpeedModel) -> int:
    points = given.points if isinstance(given, Akima) else given
    if not (isinstance(model, Piecewise) and isinstance(points, Piecewise)):
        return 0
    return int(points.loads.size - model.loads.size)
