"""Whole sizes from real targets, and the range in which a block's weight is tolerated."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, NumberArray


def limits(
    targets: FloatArray, epsilon: float, capacities: FloatArray, *, whole: bool
) -> tuple[FloatArray, FloatArray]:
    """Return low and high (k,) [units] around the targets, high capped by memory.

    Whole: low = min(floor(t), ceil((1 - epsilon) t)), high = max(ceil(t), floor((1 + epsilon) t)),
    so that a whole solution always lies between them. Otherwise (1 -+ epsilon) t.
    """
    if not whole:
        return (1 - epsilon) * targets, np.minimum((1 + epsilon) * targets, capacities)
    t = snapped(targets)
    low = np.minimum(np.floor(t), np.ceil(snapped((1 - epsilon) * t)))
    high = np.maximum(np.ceil(t), np.floor(snapped((1 + epsilon) * t)))
    return low, np.minimum(high, np.floor(capacities))


def whole_sizes(n: int, targets: FloatArray, speeds: FloatArray, high: FloatArray) -> NumberArray:
    """Round targets (k,) to whole sizes that sum to n with the least largest size/speed.

    An optimal solution has at least floor(target) everywhere (its finish time is no earlier than
    the real one's), so only the units lost to rounding are handed out: each to the device that
    would finish it first. At most `high`. Ties go to the lower index. O(k log k).
    """
    sizes = np.minimum(np.floor(snapped(targets)), high)
    left = int(n - sizes.sum())
    if left < 0:  # targets a hair above a whole number in sum: take back where it hurts least
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
    """How many more units each device could finish by a time at which all of `left` are done."""
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
    """Make whole what is whole but for the last digits, as a target of 7 computed as 6.9999999999.

    At most 0.4 in all is moved, so that floors and ceilings still enclose a whole solution.
    """
    near = np.rint(values)
    digits = (8 + np.sqrt(values.size)) * np.finfo(np.float64).eps  # what k roundings may add
    tolerance = np.minimum(digits * np.maximum(near, 1), 0.4 / values.size)
    return np.asarray(np.where(np.abs(values - near) <= tolerance, near, values), np.float64)
