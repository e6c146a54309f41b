"""NPA, the numerical partitioning algorithm: equal times on smooth curves, by root finding.

The unknowns are real shares x and the time T they all take: t_i(x_i) = T and sum x = n ([Cla14]_,
4.2). Few devices: MINPACK's hybrid method (hybrj), as in [Cla14]_, with its Jacobian. Many: Newton.
The Jacobian is an arrow (a diagonal, and a border for T and the sum), so that a step is solved in
O(k), limits included. Both start from even shares. Where neither finds a balance, time is bisected,
the line of GPA on the smooth curves, and a balance is looked for behind the hump where that ends
(sliding.py); if there is none, the answer says so.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.errors import UsageError
from evener.platforms.models.akima import Akima
from evener.platforms.models.fitting import Constant, SpeedModel
from evener.platforms.models.piecewise import Piecewise
from evener.sizing.bisecting import handed_back, least_time, slid
from evener.sizing.handing_out import whole_from_balanced
from evener.sizing.problems import Answer, Problem
from evener.sizing.segments import Segments
from evener.sizing.stacking import Pieces, stacked

FEW = 24  # devices up to which the dense Jacobian is fine
BALANCED = 1e-9  # of the time: how far apart times may end
MAX_STEPS = 80
PARTS = (1.0, 0.5, 0.25, 0.1)  # of a Newton step, tried in turn; the last is taken as it is


def solve_npa(problem: Problem) -> Answer:
    """Return whole sizes near the real ones that take equal times on smooth curves.

    Piecewise models count with Akima's spline through their points. Where curves have several
    balances, any one may be found. Raises UsageError for models without points.
    """
    models = tuple(_smooth(model, problem.name(i)) for i, model in enumerate(problem.models))
    smooth = replace(problem, models=models)
    if int(problem.low.sum()) == problem.n:
        return Answer(problem.low)
    curves = Curves(smooth, stacked(models))
    for solve in (_hybrid, _newton) if problem.k <= FEW else (_newton,):
        with np.errstate(all="ignore"):  # beyond what numbers hold there is no balance either
            shares = solve(smooth, curves)
        if shares is not None:
            return Answer(whole_from_balanced(smooth, shares, curves.times))
    loads = Segments(smooth)
    bisected = handed_back(loads, least_time(loads))
    shares = _slide(smooth, curves)
    if shares is None:
        note = "npa: no balance found; bisection over the time, each device taking the most it can"
        return Answer(bisected, False, (note,))
    sizes = whole_from_balanced(smooth, shares, curves.times)
    later = loads.times(sizes).max() > loads.times(bisected).max()
    note = "npa: a balance behind a hump of time; bisection over the time does better"
    return Answer(bisected, True, (note,)) if later else Answer(sizes)


class Curves:
    """Times of real shares and their derivatives; curves go on in a line beyond zero."""

    def __init__(self, problem: Problem, pieces: Pieces) -> None:
        self._pieces, self._fixed = pieces, problem.fixed
        self._all = np.arange(problem.k)

    def at(self, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Times (k,) [s] and their derivatives [s/unit]."""
        piece = self._pieces.of(self._all, np.maximum(shares, 0.0))
        load = np.maximum(shares, 0.0)
        speed, slope = self._pieces.speed(piece, load), self._pieces.slope(piece, load)
        slope = np.where(shares < 0, 0.0, slope)
        return shares / speed + self._fixed, (1.0 - shares / speed * slope) / speed

    def times(self, device: IntArray, load: IntArray) -> FloatArray:
        """Seconds of loads (r,) on devices (r,) [s]."""
        speed = self._pieces.speed(self._pieces.of(device, load.astype(np.float64)), load)
        return np.asarray(load / speed + self._fixed[device])


def gap(problem: Problem, shares: FloatArray, seconds: FloatArray) -> float:
    """How much longer the last device that could give takes than the first that could take [s].

    Zero or below at a balance: all equal, but for those at a limit.
    """
    last = np.max(seconds, where=shares > problem.low, initial=-np.inf)
    first = np.min(seconds, where=shares < problem.high, initial=np.inf)
    return float(last - first)


def _balanced(problem: Problem, shares: FloatArray, seconds: FloatArray) -> bool:
    is_whole = abs(float(shares.sum()) - problem.n) <= BALANCED * max(problem.n, 1)
    return is_whole and gap(problem, shares, seconds) <= BALANCED * float(seconds.max())


def _hybrid(problem: Problem, curves: Curves) -> FloatArray | None:
    """Shares by MINPACK's hybrj; what comes out beyond a limit is held there, and again."""
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


def _slide(problem: Problem, curves: Curves) -> FloatArray | None:
    """Shares found along the falling side of a hump of time."""
    with np.errstate(all="ignore"):
        shares = slid(problem)
    if shares is None or not _balanced(problem, shares, curves.at(shares)[0]):
        return None
    return shares


class _System:
    """F(x) = 0 and its Jacobian ([Cla14]_, 4.5 and 4.8), in parts of an even share."""

    def __init__(self, curves: Curves, shares: FloatArray, free: IntArray, rest: float) -> None:
        self._curves, self._shares, self._free, self._rest = curves, shares, free, rest
        self._unit = max(rest, 1e-6) / free.size
        self.start = np.full(free.size, rest / free.size / self._unit)
        self._scale = float(curves.at(self.filled(self.start))[0][free].mean())

    def filled(self, x: FloatArray) -> FloatArray:
        """All shares, with those that are free at x."""
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


def _newton(problem: Problem, curves: Curves) -> FloatArray | None:
    """Shares by Newton's method within the limits; a step that does not help is halved."""
    shares = step_within(problem, problem.even, np.zeros(problem.k), np.ones(problem.k))
    seconds, slopes = curves.at(shares)
    for _ in range(MAX_STEPS):
        if _balanced(problem, shares, seconds):
            return shares
        if not np.isfinite(seconds).all():
            return None
        # Where time does not rise, a device is taken to be as fast at other loads as it is here.
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
    """Shares within the limits that sum to n and take equal times, if times were lines.

    seconds, slopes (k,): of the lines at `shares`; slopes above zero. O(k) where no limit binds,
    else O(k log k).
    """
    pull = 1.0 / slopes
    level = (problem.n - float((shares - seconds * pull).sum())) / float(pull.sum())
    ahead = shares + (level - seconds) * pull
    if (ahead >= problem.low).all() and (ahead <= problem.high).all():
        return ahead
    # The sum as a function of the time is a line between the times at which a limit is met.
    starts = seconds + (problem.low - shares) * slopes
    ends = seconds + (problem.high - shares) * slopes
    order = np.argsort(np.r_[starts, ends], kind="stable")
    times = np.r_[starts, ends][order]
    steep = np.cumsum(np.r_[pull, -pull][order])
    total = float(problem.low.sum()) + np.r_[0.0, np.cumsum(np.diff(times) * steep[:-1])]
    at = min(max(int(np.searchsorted(total, problem.n)), 1), times.size - 1)
    rise = max(float(steep[at - 1]), 1e-300)
    level = min(float(times[at - 1]) + (problem.n - float(total[at - 1])) / rise, float(times[at]))
    return np.clip(shares + (level - seconds) * pull, problem.low, problem.high)


def _smooth(model: SpeedModel, name: str) -> SpeedModel:
    """Akima's spline through a model's points; a constant speed is smooth."""
    if isinstance(model, Constant | Akima):
        return model
    if isinstance(model, Piecewise):
        return Akima(model)
    raise UsageError(
        f"npa needs the points of a curve; the model of {name} has none",
        hint="exact takes models of any kind.",
    )
