"""npa: the numerical partitioning algorithm, equal times on smooth curves by root finding.

The unknowns are real shares x and the time T they all take: t_i(x_i) = T and sum x = n ([Cla14]_,
4.2). Few devices: MINPACK's hybrid method (hybrj) with its Jacobian, as in [Cla14]_. Many: Newton,
whose Jacobian is an arrow (a diagonal, and a border for T and the sum), so that a step with limits
is a problem of `together`. Both start from even shares. Where neither finds a balance, the time is
bisected as in GPA, and a balance is searched behind the hump of time where that ends (`slid`); if
there is none, the solution says so.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.errors import UsageError
from evener.platforms.models.akima import Akima
from evener.platforms.models.fitting import Constant, SpeedModel
from evener.platforms.models.piecewise import Piecewise
from evener.sizing.equal_finish import halved, together
from evener.sizing.least_time import handed_back, least_time
from evener.sizing.problems import Problem, Solution
from evener.sizing.rounding import whole_from_balanced
from evener.sizing.segments import CurvePieces, Segments, stacked

FEW = 24  # devices up to which MINPACK is tried, whose Jacobian is dense
BALANCED = 1e-9  # relative difference of times below which devices are balanced
MAX_STEPS = 80  # of Newton's method
PARTS = (1.0, 0.5, 0.25, 0.1)  # of a Newton step, tried in turn; the last is taken in any case


def solve_npa(problem: Problem) -> Solution:
    """Return whole sizes near real ones that take equal times on smooth curves.

    Piecewise models are replaced by Akima's spline through their points. Of several balances any
    may be found. Raises UsageError for models without points.
    """
    models = tuple(_smooth(model, problem.name(i)) for i, model in enumerate(problem.models))
    smooth = replace(problem, models=models)
    if int(problem.low.sum()) == problem.n:
        return Solution(problem.low)
    curves = SmoothTimes(smooth, stacked(models))
    for solve in (_hybrid, _newton) if problem.k <= FEW else (_newton,):
        with np.errstate(all="ignore"):  # where numbers overflow no balance is found
            shares = solve(smooth, curves)
        if shares is not None:
            return Solution(
                whole_from_balanced(shares, problem.n, problem.low, problem.high, curves.times)
            )
    loads = Segments(smooth)
    bisected = handed_back(loads, least_time(loads))
    shares = _slide(smooth, curves)
    if shares is None:
        note = (
            "npa: found no balance; used bisection over time, where each device takes all that "
            "it can"
        )
        return Solution(bisected, False, (note,))
    sizes = _whole(smooth, shares, curves)
    later = loads.times(sizes).max() > loads.times(bisected).max()
    note = "npa: found a balance, but bisection over time is better"
    return Solution(bisected, True, (note,)) if later else Solution(sizes)


def _whole(problem: Problem, shares: FloatArray, curves: SmoothTimes) -> IntArray:
    return whole_from_balanced(shares, problem.n, problem.low, problem.high, curves.times)


class SmoothTimes:
    """Times of real shares and their derivatives; below zero, speed is that at zero."""

    def __init__(self, problem: Problem, pieces: CurvePieces) -> None:
        self._pieces, self._fixed = pieces, problem.fixed
        self._all = np.arange(problem.k)

    def at(self, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the times (k,) of shares (k,) [s] and their derivatives [s/unit]."""
        piece = self._pieces.of(self._all, np.maximum(shares, 0.0))
        load = np.maximum(shares, 0.0)
        speed, slope = self._pieces.speed(piece, load), self._pieces.slope(piece, load)
        slope = np.where(shares < 0, 0.0, slope)
        return shares / speed + self._fixed, (1.0 - shares / speed * slope) / speed

    def times(self, device: IntArray, load: IntArray) -> FloatArray:
        """Return the seconds of loads (r,) on devices (r,)."""
        speed = self._pieces.speed(self._pieces.of(device, load.astype(np.float64)), load)
        return np.asarray(load / speed + self._fixed[device])


def gap(problem: Problem, shares: FloatArray, seconds: FloatArray) -> float:
    """Return by how much the last device that can give work ends after the first that can take it.

    In seconds; zero or below at a balance, where all times are equal but for devices at a limit.
    """
    last = np.max(seconds, where=shares > problem.low, initial=-np.inf)
    first = np.min(seconds, where=shares < problem.high, initial=np.inf)
    return float(last - first)


def _balanced(problem: Problem, shares: FloatArray, seconds: FloatArray) -> bool:
    is_whole = abs(float(shares.sum()) - problem.n) <= BALANCED * max(problem.n, 1)
    return is_whole and gap(problem, shares, seconds) <= BALANCED * float(seconds.max())


def _hybrid(problem: Problem, curves: SmoothTimes) -> FloatArray | None:
    """Return shares by MINPACK's hybrj; shares beyond a limit are held there, the rest redone."""
    from scipy.optimize import root

    low, high = problem.low.astype(np.float64), problem.high.astype(np.float64)
    shares, free = low.copy(), high > low
    while free.any():
        rest = problem.n - float(shares[~free].sum())
        if rest <= 0:
            return None
        system = _System(curves, shares, np.flatnonzero(free), rest)
        found = root(system, system.start, jac=True, method="hybr", options={"xtol": 1e-13})
        if not np.isfinite(found.x).all():
            return None
        shares = system.filled(found.x)
        held = np.clip(shares, low, high)
        outside = free & (held != shares)
        shares = held
        if not outside.any():
            break
        free &= ~outside
    return shares if _balanced(problem, shares, curves.at(shares)[0]) else None


def _slide(problem: Problem, curves: SmoothTimes) -> FloatArray | None:
    """Return a balance on the falling side of a hump of time, or None."""
    with np.errstate(all="ignore"):
        shares = slid(problem)
    if shares is None or not _balanced(problem, shares, curves.at(shares)[0]):
        return None
    return shares


class _System:
    """F(x) = 0 and its Jacobian ([Cla14]_, 4.5 and 4.8), in parts of an even share."""

    def __init__(
        self, curves: SmoothTimes, shares: FloatArray, free: IntArray, rest: float
    ) -> None:
        self._curves, self._shares, self._free, self._rest = curves, shares, free, rest
        self._unit = max(rest, 1e-6) / free.size
        self.start = np.full(free.size, rest / free.size / self._unit)
        self._scale = float(curves.at(self.filled(self.start))[0][free].mean())

    def filled(self, x: FloatArray) -> FloatArray:
        """Return all shares, with x for those that are free."""
        shares = self._shares.copy()
        shares[self._free] = x * self._unit
        return shares

    def __call__(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        seconds, slopes = (v[self._free] for v in self._curves.at(self.filled(x)))
        value = (seconds - seconds[0]) / self._scale
        value[0] = self._rest / self._unit - x.sum()
        jacobian = np.diag(slopes * (self._unit / self._scale))
        jacobian[1:, 0] = -slopes[0] * (self._unit / self._scale)
        jacobian[0] = -1.0
        return value, jacobian


def _newton(problem: Problem, curves: SmoothTimes) -> FloatArray | None:
    """Return balanced shares by Newton's method within the limits, or None.

    A step that does not help is shortened.
    """
    shares = step_within(problem, problem.even, np.zeros(problem.k), np.ones(problem.k))
    seconds, slopes = curves.at(shares)
    for _ in range(MAX_STEPS):
        if _balanced(problem, shares, seconds):
            return shares
        if not np.isfinite(seconds).all():
            return None
        # Where time does not rise with load, the slope at constant speed is taken.
        own = (seconds - problem.fixed) / np.maximum(shares, 1e-9)
        rising = np.where(slopes > 0.02 * own, slopes, np.maximum(own, 1e-300))
        target = step_within(problem, shares, seconds, rising)
        before = gap(problem, shares, seconds)
        for part in PARTS:
            ahead = shares + part * (target - shares)
            seconds, slopes = curves.at(ahead)
            if gap(problem, ahead, seconds) < (1 - part / 4) * before:
                break
        shares = ahead
    return None


def step_within(
    problem: Problem, shares: FloatArray, seconds: FloatArray, slopes: FloatArray
) -> FloatArray:
    """Return shares within the limits that sum to n and take equal times, if times were lines.

    seconds, slopes (k,): of the lines at `shares`; slopes above zero.
    """
    low, high = problem.low.astype(np.float64), problem.high.astype(np.float64)
    return together(problem.n, 1.0 / slopes, seconds - shares * slopes, low, high)[0]


def _smooth(model: SpeedModel, name: str) -> SpeedModel:
    """Return Akima's spline through a model's points; constants are returned as they are."""
    if isinstance(model, Constant | Akima):
        return model
    if isinstance(model, Piecewise):
        return Akima(model)
    raise UsageError(
        f"npa needs the points of a curve, but the model of {name} has none",
        hint="The method exact takes any model.",
    )


# A balance where bisection over the time ends at a jump: the largest loads done by a time jump
# where time falls with load, past the top of a hump. If the load n lies within such a jump, a
# balance lies on the far side of the hump: the load of that device slides down it, and the others
# take what they do by the time that it then takes. Their sum is continuous, below n at first and
# above it in the end.
MAX_SLID = 64  # devices: each model is asked alone, a hundred times


def slid(problem: Problem) -> FloatArray | None:
    """Return real shares (k,) that sum to n and are in balance unless several devices jump.

    None for more than MAX_SLID devices, and where no time is enough.
    """
    if problem.k > MAX_SLID:
        return None

    def is_enough(seconds: float) -> bool:
        return float(problem.most_by(seconds).sum()) >= problem.n

    late = 1.0
    while not is_enough(late):
        late *= 4
        if not np.isfinite(late):
            return None
    early, late = halved(is_enough, 0.0, late)
    before, after = problem.most_by(early), problem.most_by(late)
    device = int(np.argmax(after - before))
    _, load = halved(
        lambda load: float(_slid_to(problem, device, load).sum()) >= problem.n,
        float(before[device]), float(after[device]),
    )  # fmt: skip
    return _slid_to(problem, device, load)


def _slid_to(problem: Problem, device: int, load: float) -> FloatArray:
    """Return the shares of all devices by the time that one device takes for this load."""
    seconds = float(problem.models[device].time(load)) + float(problem.fixed[device])
    shares = problem.most_by(seconds)
    shares[device] = load
    return shares
