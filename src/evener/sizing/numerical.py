"""npa: the numerical partitioning algorithm: equal times on smooth curves, by root finding.

The unknowns are real shares x and the time T that all devices take: t_i(x_i) = T and sum x = n
([Cla14]_, 4.2). For few devices, the solver is MINPACK's hybrid method (hybrj) with the Jacobian,
as in [Cla14]_; for many, Newton's method. Its Jacobian is an arrow matrix (a diagonal, and a border
for T and the sum), so `together` computes a Newton step within the limits. Both start from even
shares. If neither finds a balance, the time is bisected as in GPA, and if the time curve of a
device has a hump there, `slid` looks for a balance on the far side of the hump. If it finds none,
the notes of the solution say so.
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

FEW = 24  # MINPACK, whose Jacobian is dense, is tried for at most this many devices
BALANCED = 1e-9  # relative difference of times below which devices are balanced
MAX_STEPS = 80  # of Newton's method
PARTS = (1.0, 0.5, 0.25, 0.1)  # fractions of a Newton step to try; the last is always accepted


def solve_npa(problem: Problem) -> Solution:
    """Return whole sizes near real shares that take equal times on smooth curves.

    Piecewise models are replaced by Akima splines through their points. If there are several
    balances, any of them may be found. Raises UsageError for models without points.
    """
    models = tuple(_smooth(model, problem.name(i)) for i, model in enumerate(problem.models))
    smooth = replace(problem, models=models)
    if int(problem.low.sum()) == problem.n:
        return Solution(problem.low)
    curves = SmoothTimes(smooth, stacked(models))
    for solve in (_hybrid, _newton) if problem.k <= FEW else (_newton,):
        with np.errstate(all="ignore"):  # if numbers overflow, no balance is found
            shares = solve(smooth, curves)
        if shares is not None:
            return Solution(_whole(smooth, shares, curves))
    loads = Segments(smooth)
    bisected = handed_back(loads, least_time(loads))
    shares = _slide(smooth, curves)
    if shares is None:
        note = (
            "npa: found no balance; used bisection over time, with the largest load that each "
            "device can finish"
        )
        return Solution(bisected, False, (note,))
    sizes = _whole(smooth, shares, curves)
    later = loads.times(sizes).max() > loads.times(bisected).max()
    note = "npa: found a balance, but bisection over time is better"
    return Solution(bisected, True, (note,)) if later else Solution(sizes)


def _whole(problem: Problem, shares: FloatArray, curves: SmoothTimes) -> IntArray:
    return whole_from_balanced(shares, problem.n, problem.low, problem.high, curves.times)


class SmoothTimes:
    """Times of real shares, and their derivatives; a share below zero has the speed at zero."""

    def __init__(self, problem: Problem, pieces: CurvePieces) -> None:
        self._pieces, self._fixed = pieces, problem.fixed
        self._all = np.arange(problem.k)

    def at(self, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return times (k,) [s] for shares (k,) [units], and their derivatives (k,) [s/unit]."""
        piece = self._pieces.of(self._all, np.maximum(shares, 0.0))
        load = np.maximum(shares, 0.0)
        speed, slope = self._pieces.speed(piece, load), self._pieces.slope(piece, load)
        slope = np.where(shares < 0, 0.0, slope)
        return shares / speed + self._fixed, (1.0 - shares / speed * slope) / speed

    def times(self, device: IntArray, load: IntArray) -> FloatArray:
        """Return the seconds (r,) that devices (r,) take for loads (r,)."""
        speed = self._pieces.speed(self._pieces.of(device, load.astype(np.float64)), load)
        return np.asarray(load / speed + self._fixed[device])


def gap(problem: Problem, shares: FloatArray, seconds: FloatArray) -> float:
    """Return the time [s] between the ends of the last and the first device that could swap work.

    The last device is above its lower limit, the first one below its upper limit. The gap is zero
    or negative at a balance, where all times are equal except those of devices at a limit.
    """
    last = np.max(seconds, where=shares > problem.low, initial=-np.inf)
    first = np.min(seconds, where=shares < problem.high, initial=np.inf)
    return float(last - first)


def _balanced(problem: Problem, shares: FloatArray, seconds: FloatArray) -> bool:
    is_whole = abs(float(shares.sum()) - problem.n) <= BALANCED * max(problem.n, 1)
    return is_whole and gap(problem, shares, seconds) <= BALANCED * float(seconds.max())


def _hybrid(problem: Problem, curves: SmoothTimes) -> FloatArray | None:
    """Return balanced shares by MINPACK's hybrj, or None.

    Shares beyond a limit are set to this limit and kept there, and the others are solved again.
    """
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
    """Return balanced shares on the falling side of a hump of a time curve, or None; see `slid`."""
    with np.errstate(all="ignore"):
        shares = slid(problem)
    if shares is None or not _balanced(problem, shares, curves.at(shares)[0]):
        return None
    return shares


class _System:
    """The equations F(x) = 0 and their Jacobian ([Cla14]_, 4.5 and 4.8).

    x: the free shares, in units of an even share. rest: the load that they sum to [units].
    """

    def __init__(
        self, curves: SmoothTimes, shares: FloatArray, free: IntArray, rest: float
    ) -> None:
        self._curves, self._shares, self._free, self._rest = curves, shares, free, rest
        self._unit = max(rest, 1e-6) / free.size
        self.start = np.full(free.size, rest / free.size / self._unit)
        self._scale = float(curves.at(self.filled(self.start))[0][free].mean())

    def filled(self, x: FloatArray) -> FloatArray:
        """Return the shares (k,) of all devices, with the free ones taken from x."""
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

    A step that does not reduce the gap enough is shortened.
    """
    shares = step_within(problem, problem.even, np.zeros(problem.k), np.ones(problem.k))
    seconds, slopes = curves.at(shares)
    for _ in range(MAX_STEPS):
        if _balanced(problem, shares, seconds):
            return shares
        if not np.isfinite(seconds).all():
            return None
        # If time does not rise with load, use the slope that a constant speed would have.
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
    """Return shares within the limits that sum to n and take equal times, for linearised times.

    seconds, slopes (k,): values and derivatives of the times at `shares`; slopes are above zero.
    """
    low, high = problem.low.astype(np.float64), problem.high.astype(np.float64)
    return together(problem.n, 1.0 / slopes, seconds - shares * slopes, low, high)[0]


def _smooth(model: SpeedModel, name: str) -> SpeedModel:
    """Return the Akima spline through a model's points, or a Constant unchanged."""
    if isinstance(model, Constant | Akima):
        return model
    if isinstance(model, Piecewise):
        return Akima(model)
    raise UsageError(
        f"npa needs the points of a curve, but the model of {name} has none",
        hint="The method exact takes any model.",
    )


# Humps: the time curve of a device may rise to a top and then fall with load. At the time of the
# top, the largest load that the device finishes jumps from before the hump to behind it. If the
# bisection over the time ends at such a jump, because n lies between the sums of loads before and
# after it, a balance lies on the falling side of the hump. `slid` finds it by bisection on the load
# of this device within the jump; the others get the loads that they finish in the time this device
# takes. The sum of all loads is continuous, below n at one end and at least n at the other.
MAX_SLID = 64  # limit on the devices, as each model is evaluated alone, about a hundred times


def slid(problem: Problem) -> FloatArray | None:
    """Return real shares (k,) that sum to n, balanced unless several loads jump at once.

    A load jumps at a hump, see the comment "Humps". Returns None for more than MAX_SLID devices, or
    if no time is enough.
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
    """Return the shares (k,) that devices finish in the time that `device` takes for `load`."""
    seconds = float(problem.models[device].time(load)) + float(problem.fixed[device])
    shares = problem.most_by(seconds)
    shares[device] = load
    return shares
