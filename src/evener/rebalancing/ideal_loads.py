"""The best loads if they could be cut anywhere: all devices done together, in closed form."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray


def spread(
    total: float, rates: FloatArray, other: FloatArray, high: FloatArray
) -> tuple[FloatArray, float]:
    """Return loads (k,) that sum to total [units], and the seconds until the last is done [s].

    rates (k,) [units/s]; other (k,) [s]: what each needs beside its load; a device for which that
    alone is too long gets nothing. high (k,) [units]: no load is above; where that leaves no room
    for all, loads sum to less.
    """
    loads, open_, left = np.zeros(rates.size), np.ones(rates.size, np.bool_), total
    last = 0.0
    while open_.any() and left > 0:
        own = np.flatnonzero(open_)
        wanted, seconds = _together(left, rates[own], other[own])
        over = wanted > high[own]
        if not over.any():
            loads[own] = wanted
            return loads, max(last, seconds)
        full = own[over]
        loads[full], open_[full] = high[full], False
        left -= float(high[full].sum())
        last = max(last, float((high[full] / rates[full] + other[full]).max()))
    return loads, last


def _together(total: float, rates: FloatArray, other: FloatArray) -> tuple[FloatArray, float]:
    """Loads and seconds without limits: devices take part in the order of what else they do."""
    order = np.argsort(other, kind="stable")
    speed = np.cumsum(rates[order])
    seconds = (total + np.cumsum((rates * other)[order])) / speed
    # The first so many take part where the next one is busy otherwise until they are done.
    following = np.append(other[order][1:], np.inf)
    count = int(np.argmax(seconds <= following))
    done = float(seconds[count])
    return np.maximum(done - other, 0.0) * rates, done


# Whole sizes near other ones, of the same sum, that are no less than limits.

Whole = npt.NDArray[np.int64]


def raised(sizes: Whole, low: IntArray) -> Whole:
    """Return sizes (k,) that are `low` at least; those with most to spare give what that takes.

    The sum of `low` is at most that of the sizes.
    """
    found = np.maximum(sizes, low).astype(np.int64)
    missing = int(found.sum() - sizes.sum())
    for i in np.argsort(low - found, kind="stable").tolist():
        given = min(missing, int(found[i] - low[i]))
        found[i] -= given
        missing -= given
    return found
