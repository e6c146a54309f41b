"""Whole sizes from real ones: balanced shares rounded, optimal where time rises; and in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.sizing.problems import Problem

Times: TypeAlias = Callable[[IntArray, IntArray], FloatArray]  # of devices (r,) at loads (r,) [s]

SNAP = 1e-9  # of a load: what is that close to a whole number is meant to be one


def whole_from_balanced(problem: Problem, shares: FloatArray, times: Times) -> IntArray:
    """Round real shares (k,) that sum to n to whole sizes that do.

    All shares are rounded down; each unit lost goes to whoever then ends first. Where the shares
    are balanced (all take the same time but for those at their limits) and time rises with load,
    no whole sizes end earlier: none of them need be below the shares rounded down, which take no
    longer than the shares do, and beyond these every unit is given where it is done first.
    """
    near = np.rint(shares)
    snapped = np.where(np.abs(shares - near) <= SNAP * (1 + shares), near, shares)
    sizes = np.clip(np.floor(snapped).astype(np.int64), problem.low, problem.high)
    surplus = int(sizes.sum()) - problem.n
    for _ in range(surplus):  # shares that snapping brought above n: a few units at most
        used = np.flatnonzero(sizes > problem.low)
        sizes[used[np.argmax(times(used, sizes[used]))]] -= 1
    return given_out(sizes, problem.n, problem.high, times)


def given_out(sizes: IntArray, n: int, high: IntArray, times: Times) -> IntArray:
    """Raise sizes (k,) to the sum n, unit by unit where each is done first; at most `high`."""
    left, room = n - int(sizes.sum()), high - sizes
    device, nth = np.flatnonzero(room > 0), 1
    owner, order, finish = (np.zeros(0, np.int64),) * 2 + (np.zeros(0),)
    latest = np.zeros(sizes.size)
    while left > 0 and device.size:
        # The next units of those whose last one is among the first `left` done so far.
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
    """Whole sizes a part of the way from one distribution to another of the same sum, or beyond.

    `end` itself where the limits leave no such sizes.
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
