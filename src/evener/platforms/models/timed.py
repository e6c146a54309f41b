"""by_time: time, instead of speed, linear in the load between samples ([Cla14]_, A.3).

Between two samples speed is then x / (a + g x), a hyperbola. A Piecewise approximates it: knots are
added between samples until its time is within PRECISION of the line, so that all exact methods for
piecewise models apply. Before the first and after the last sample speed is constant, as in a
Piecewise: the line of time through the origin is that of a constant speed.
"""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray
from evener.platforms.models.piecewise import Piecewise

PRECISION = 1e-4  # relative, of a time: far below the accuracy of samples
MOST_HALVINGS = 48  # of an interval between two samples
LOOKED_AT = (0.25, 0.5, 0.75)  # fractions of the way between two knots at which times are compared


def by_time(points: Piecewise) -> Piecewise:
    """Return a model through the same points, with time linear between them instead of speed."""
    times = points.loads / points.speeds
    loads = points.loads
    for _ in range(MOST_HALVINGS):
        speeds, width = _speeds(loads, points, times), np.diff(loads)
        off = np.zeros(width.size, np.bool_)
        for part in LOOKED_AT:
            at = loads[:-1] + part * width
            speed = speeds[:-1] + part * np.diff(speeds)
            off |= np.abs(speed * np.interp(at, points.loads, times) / at - 1) > PRECISION
        more = np.union1d(loads, (loads[:-1] + width / 2)[off])
        if more.size == loads.size:
            break
        loads = more
    speeds = _speeds(loads, points, times)
    return Piecewise(loads, speeds, points.capacity, points.uncertainty(loads), points.dropped)


def _speeds(loads: FloatArray, points: Piecewise, times: FloatArray) -> FloatArray:
    """Return the speeds at loads [units/s]; at the points, exactly the given speeds."""
    speeds = loads / np.interp(loads, points.loads, times)
    own = np.searchsorted(loads, points.loads)
    speeds[own] = points.speeds
    return np.asarray(speeds)
