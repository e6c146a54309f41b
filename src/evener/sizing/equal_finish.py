"""Real loads with which devices end at the same time, each within its limits.

By time T every device has done the largest load that its speed and its limits allow. That grows
with T, so the loads wanted are those at the least T by which all work is done. Three functions
find it:

together      constant speeds: closed form, the limits found by binary search
finish_times  any speeds, many sets of devices or amounts of work at once
halved        one set, where only "is this time enough?" can be asked

Whole loads are another problem, as time is a staircase there: see least_time.py.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evener.arrays import FloatArray, IntArray

MAX_STEPS = 60  # of finish_times: a third of them halve the interval, the others are mostly exact
# Relative precision of finish_times: a hundredth of what the estimates that use it are off by.
PRECISION = 1e-5


def together(
    total: float, rates: FloatArray, start: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, float]:
    """Return loads (k,) that sum to `total` [units], and the time at which devices end [s].

    Device i has done rates[i] x (T - start[i]) units by time T, between low[i] and high[i]. Those
    at neither limit end at the returned time; it is the least by which the work is done.
    rates [units/s], above zero; start [s]; 0 <= low <= high [units], high may be infinite. Where
    `high` leaves no room, loads sum to less; where `low` is more than `total`, loads are `low`.
    O(k log k).
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return _together(total, rates, start, low, high)


def _together(
    total: float, rates: FloatArray, start: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, float]:
    opens, ends = start + low / rates, start + high / rates  # when each leaves and meets a limit
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
    """Return the loads of all at the time by which `devices` alone have done `total`, and it."""
    work = total + float(np.cumsum((rates * start)[devices])[-1])
    seconds = work / float(np.cumsum(rates[devices])[-1])
    return rates * (seconds - start), seconds


def finish_times(
    done: Callable[[FloatArray], FloatArray],
    work: float | FloatArray,
    late: FloatArray,
    little: FloatArray,
) -> FloatArray:
    """Return the least times (s,) by which s sets of devices do their work, to PRECISION [s].

    done(times (s,)) gives the loads (s, k) of all sets by then, which never fall with time. work
    [units]: of each set, or the same for all. late (s,) [s]: times that are enough. little (s,)
    [units]: what is done at time zero. Regula falsi with bisection every third step; all sets step
    at once, as thousands of them are asked.
    """
    early = np.zeros(late.size)
    much = done(late).sum(axis=1)
    for step in range(MAX_STEPS):
        if (late - early <= PRECISION * late).all():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (work - little) / (much - little)
        # Loads are nearly linear in time: try where a line leads, slightly beyond it, so that
        # both ends move in two steps. They may jump: every third step halves.
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
    """Bisect to the least time that is enough: return a time that is not, and one that is.

    early, late: such times to begin with; any later time than one that is enough must be enough
    too. They end up as near to each other as `precision`, relative, or as numbers allow.
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
