"""Whole sizes from real targets, and the low and high limits of a block around its target."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, NumberArray

# Function that returns the seconds (r,) that devices (r,) take for loads (r,).
Times: TypeAlias = Callable[[IntArray, IntArray], FloatArray]

SNAP = 1e-9  # relative: loads this close to a whole number are rounded to it


def limits(
    targets: FloatArray, epsilon: float, capacities: FloatArray, *, whole: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the limits low and high (k,) [units] around targets t; high is at most the capacity.

    whole: low = min(floor(t), ceil((1 - epsilon) t)), high = max(ceil(t), floor((1 + epsilon) t)),
    so that whole sizes between them always exist. Otherwise the limits are (1 -+ epsilon) t.
    """
    if not whole:
        return (1 - epsilon) * targets, np.minimum((1 + epsilon) * targets, capacities)
    t = snapped(targets)
    low = np.minimum(np.floor(t), np.ceil(snapped((1 - epsilon) * t)))
    high = np.maximum(np.ceil(t), np.floor(snapped((1 + epsilon) * t)))
    return low, np.minimum(high, np.floor(capacities))


def whole_sizes(n: int, targets: FloatArray, speeds: FloatArray, high: FloatArray) -> NumberArray:
    """Return the whole sizes (k,) that sum to n and minimise max(size / speed).

    targets (k,): the real loads that do so. No optimal size is below floor(target), as no whole
    sizes have a smaller makespan than the targets. So targets are rounded down, and each missing
    unit goes to the device below `high` that finishes it first; ties go to the lower index. O(k log
    k), as speeds are constant; `given_out` does the same for any times, unit by unit.
    """
    sizes = np.minimum(np.floor(snapped(targets)), high)
    left = int(n - sizes.sum())
    if left < 0:  # snapping brought the sum above n: take back from the devices that end last
        holders = np.flatnonzero(sizes > 0)
        sizes[holders[np.argsort(-sizes[holders] / speeds[holders], kind="stable")[:-left]]] -= 1
        left = int(n - sizes.sum())
    if left > 0:
        counts = _increments(left, sizes, speeds, high)
        device = np.repeat(np.arange(sizes.size), counts)
        nth = np.arange(device.size) - np.repeat(np.cumsum(counts) - counts, counts)
        finish = (sizes[device] + nth + 1) / speeds[device]
        chosen = device[np.argsort(finish, kind="stable")[:left]]
        sizes += np.bincount(chosen, minlength=sizes.size)
    return sizes.astype(np.int64)


def _increments(
    left: int, sizes: FloatArray, speeds: FloatArray, high: FloatArray
) -> npt.NDArray[np.int64]:
    """Return how many more units each device finishes by a time at which at least `left` are done.

    The time is found by bisection. Unlike `halved`, it stops as soon as at most left + k units are
    done.
    """
    room = np.clip(high - sizes, 0, left)

    def done_by(time: float) -> FloatArray:
        return np.clip(np.floor(time * speeds * (1 + 1e-12)) - sizes, 0, room)

    late = float(((sizes + room) / speeds)[room > 0].max())
    early = float((sizes / speeds).min())
    for _ in range(200):
        middle = (early + late) / 2
        if done_by(middle).sum() >= left:
            late = middle
        else:
            early = middle
        if done_by(late).sum() <= left + sizes.size or late <= np.nextafter(early, np.inf):
            break
    return done_by(late).astype(np.int64)


def snapped(values: FloatArray) -> FloatArray:
    """Return the values; values within rounding errors of a whole number are rounded to it.

    For example, 6.9999999999 becomes 7. The sum changes by at most 0.4, so that whole sizes between
    floors and ceilings still exist.
    """
    near = np.rint(values)
    digits = (8 + np.sqrt(values.size)) * np.finfo(np.float64).eps  # error of k roundings
    tolerance = np.minimum(digits * np.maximum(near, 1), 0.4 / values.size)
    return np.asarray(np.where(np.abs(values - near) <= tolerance, near, values), np.float64)


def whole_from_balanced(
    shares: FloatArray, n: int, low: IntArray, high: IntArray, times: Times
) -> IntArray:
    """Return whole sizes (k,) between low and high that sum to n, from real shares (k,).

    The shares must lie within the limits and sum to n. All shares are rounded down, and each
    missing unit goes to the device that finishes it first. This is optimal if shares are balanced
    (all devices take the same time, except those at a limit) and time rises with load: then no
    optimal size is below its share rounded down.
    """
    near = np.rint(shares)
    whole = np.where(np.abs(shares - near) <= SNAP * (1 + shares), near, np.floor(shares))
    sizes = np.clip(whole.astype(np.int64), low, high)
    surplus = int(sizes.sum()) - n
    for _ in range(surplus):  # rounding up may bring the sum above n by a few units
        used = np.flatnonzero(sizes > low)
        sizes[used[np.argmax(times(used, sizes[used]))]] -= 1
    return given_out(sizes, n, high, times)


def given_out(sizes: IntArray, n: int, high: IntArray, times: Times) -> IntArray:
    """Return sizes (k,) increased until they sum to n.

    Each unit goes to the device below `high` that finishes it first.
    """
    left, room = n - int(sizes.sum()), high - sizes
    device, nth = np.flatnonzero(room > 0), 1
    owner, order, finish = (np.zeros(0, np.int64),) * 2 + (np.zeros(0),)
    latest = np.zeros(sizes.size)
    while left > 0 and device.size:
        # Add the nth unit of each device whose unit n - 1 is among the `left` earliest so far.
        done = np.maximum(times(device, sizes[device] + nth), latest[device])
        latest[device] = done
        owner, finish = np.concatenate([owner, device]), np.concatenate([finish, done])
        order = np.concatenate([order, np.full(device.size, nth)])
        first = np.lexsort((order, owner, finish))[:left]
        owner, order, finish = owner[first], order[first], finish[first]
        device = owner[(order == nth) & (room[owner] > nth)]
        if first.size == left:
            device = device[latest[device] < finish[-1]]
        nth += 1
    return np.asarray(sizes + np.bincount(owner, minlength=sizes.size))


def between(start: IntArray, end: IntArray, part: float, low: IntArray, high: IntArray) -> IntArray:
    """Return whole sizes near start + part x (end - start), within the limits and with equal sum.

    A part above 1 goes beyond `end`. If the limits permit no such sizes, `end` is returned.
    """
    exact = np.clip(start + part * (end - start), low, high)
    sizes = np.floor(exact).astype(np.int64)
    room = np.ceil(exact).astype(np.int64) - sizes
    left = int(end.sum() - sizes.sum())
    if not 0 <= left <= int(room.sum()):
        return end
    order = np.argsort(sizes - exact, kind="stable")
    sizes[order] += np.diff(np.minimum(np.cumsum(room[order]), left), prepend=0)
    return np.asarray(sizes)


def raised(sizes: npt.NDArray[np.int64], low: IntArray) -> npt.NDArray[np.int64]:
    """Return sizes (k,) with the same sum, of which none is below `low`.

    The units needed are taken from the devices with the largest surplus over `low`. `low` must sum
    to at most the sum of `sizes`.
    """
    found = np.maximum(sizes, low).astype(np.int64)
    missing = int(found.sum() - sizes.sum())
    for i in np.argsort(low - found, kind="stable").tolist():
        given = min(missing, int(found[i] - low[i]))
        found[i] -= given
        missing -= given
    return found
