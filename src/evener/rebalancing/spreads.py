"""The best loads if they could be cut anywhere: all devices done together, in closed form."""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray


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
