"""Real loads with which devices end at the same time, each within its limits.

By time T every device has done the largest load that its speed and its limits allow. This load
grows with T, so the problem is to find the least T by which all work is done. Three functions find
this T:

together      for constant speeds: closed form, with a binary search for the devices at a limit
finish_times  for any speeds, and many sets of devices or amounts of work at once
halved        for one set of devices, if a function can only tell whether a time is enough

Whole loads are a different problem, as the load done by T is then a step function: see
least_time.py.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evener.arrays import FloatArray, IntArray

MAX_STEPS = 60  # of finish_times: a third of them halve the interval, the others are mostly exact
# Relative precision of finish_times: a hundredth of the error of the estimates that use it.
PRECISION = 1e-5


def together(
    total: float, rates: FloatArray, start: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, float]:
    """Return loads (k,) that sum to `total` [units], and the time at which devices end [s].

    By time T, device i has done rates[i] x (T - start[i]) units, clipped to low[i] and high[i].
    Devices at neither limit end at the returned time, which is the least by which all work is done.
    rates [units/s], above zero; start [s]; 0 <= low <= high [units], high may be infinite. If
    `high` sums to less than `total`, so do the loads; if `low` sums to more, loads are `low`.
    O(k log k).
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return _together(total, rates, start, low, high)


def _together(
    total: float, rates: FloatArray, start: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, float]:
    # The times at which each device leaves its lower limit and reaches its upper limit.
    opens, ends = start + low / rates, start + high / rates
    order = np.argsort(opens, kind="stable")
    loads, seconds = _without_limits(total, rates, start, order)
    if (loads >= low).all() and (loads <= high).all():
        return loads, seconds
    if total <= float(low.sum()):
        return low.copy(), float(np.max(opens, where=low > 0, initial=0.0))
    moments = np.unique(np.concatenate([opens, ends[np.isfinite(ends)]]))
    first, last = 0, moments.size - 1  # the last moment by which no more than `total` is done
    while first < last:
        middle = (first + last + 1) // 2
        done = np.clip(rates * (moments[middle] - start), low, high)
        if float(done.sum()) <= total:
            first = middle
        else:
            last = middle - 1
    moment = float(moments[first])
    free = (opens <= moment) & (ends > moment)
    held = np.where(ends <= moment, high, low)
    if not free.any():
        return held, moment
    left = total - float(held[~free].sum())
    loads, seconds = _without_limits(left, rates, start, order[free[order]])
    return np.where(free, np.clip(loads, low, high), held), seconds


def _without_limits(
    total: float, rates: FloatArray, start: FloatArray, devices: IntArray
) -> tuple[FloatArray, float]:
    """Return loads (k,), and the time by which `devices` have done `total`, without limits.

    loads (k,) [units]: load that each of all devices has done by this time, without limits.
    """
    work = total + float(np.cumsum((rates * start)[devices])[-1])
    seconds = work / float(np.cumsum(rates[devices])[-1])
    return rates * (seconds - start), seconds


def finish_times(
    done: Callable[[FloatArray], FloatArray],
    work: float | FloatArray,
    late: FloatArray,
    little: FloatArray,
) -> FloatArray:
    """Return the least times (s,) [s] by which s sets of devices do their work.

    The relative precision is PRECISION. done(times (s,)) returns the loads (s, k) that each set has
    done by its time; they must never fall with time. work [units]: one number per set, or one for
    all. late (s,) [s]: times that are enough. little (s,) [units]: work done at time zero. The
    method is regula falsi, with bisection every third step, on all sets at once, as there may be
    thousands of them.
    """
    early = np.zeros(late.size)
    much = done(late).sum(axis=1)
    for step in range(MAX_STEPS):
        if (late - early <= PRECISION * late).all():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (work - little) / (much - little)
        # Loads are nearly linear in time: try slightly beyond the linear estimate, so that both
        # ends move within two steps. As loads may jump, every third step halves the interval.
        turn = step % 3
        share = np.clip(share, *((0.0, 1.0), (0.0, 1.0), (0.5, 0.5))[turn])
        share = np.where(np.isfinite(share), share, 0.5)
        middle = early + share * (late - early)
        aside = 0.04 * PRECISION * middle
        if turn < 2:
            middle += aside if turn == 0 else np.where(share < 0.5, aside, -aside)
        sums = done(middle).sum(axis=1)
        enough = sums >= work
        late, much = np.where(enough, middle, late), np.where(enough, sums, much)
        early, little = np.where(enough, early, middle), np.where(enough, little, sums)
    return late


def halved(
    is_enough: Callable[[float], bool], early: float, late: float, precision: float = 0.0
) -> tuple[float, float]:
    """Bisect for the least time that is enough; return a time that is not enough and one that is.

    early is not enough and late is enough at the beginning. Every time later than a time that is
    enough must be enough too. The relative difference of the returned times is at most `precision`,
    or as small as floating point allows.
    """
    while late - early > precision * late:
        middle = early + (late - early) / 2
        if not early < middle < late:
            break
        if is_enough(middle):
            late = middle
        else:
            early = middle
    return early, late
