"""Times at loads, and loads by times, of many sets of devices at once."""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray
from evener.costs import Costs

LOADS = 256  # at which a device's time is looked at
LEAST_LOAD = 1e-6  # of the whole: the smallest of them


class Computing:
    """Time at loads, and loads by times, of k devices: lines where speed is constant, else tables.

    Devices whose speeds are alike share a table. `longest`: the most any takes for all the work.
    """

    def __init__(self, costs: Costs, work: float) -> None:
        self._rate = np.where(costs.last - costs.first == 1, costs.knot_speed[costs.first], np.nan)
        grid = np.r_[0.0, np.geomspace(LEAST_LOAD, 1.0, LOADS)] * max(work, 1e-300)
        self._tables = []
        curved = np.flatnonzero(np.isnan(self._rate))
        for first in np.unique(costs.first[curved]).tolist():
            devices = curved[costs.first[curved] == first]
            own = slice(first, costs.last[devices[0]])
            knots, speeds = costs.knot_load[own], costs.knot_speed[own]
            loads = np.union1d(grid, knots[knots < grid[-1]])
            seconds = loads / np.interp(loads, knots, speeds)
            # A larger load that takes no longer is what a time allows.
            last = np.minimum.accumulate(seconds[::-1])[::-1]
            self._tables.append((devices, knots, speeds, loads, last))
        self.longest = float(costs.compute_seconds(np.full(costs.k, work)).max())
        self.longest = max([self.longest, *(float(table[4].max()) for table in self._tables)])

    def seconds(self, loads: FloatArray) -> FloatArray:
        """(s, k) [s] of loads (s, k) [units]."""
        seconds = loads / self._rate
        for devices, knots, speeds, _, _ in self._tables:
            own = loads[:, devices]
            seconds[:, devices] = own / np.interp(own, knots, speeds)
        return np.asarray(seconds)

    def most(self, seconds: FloatArray) -> FloatArray:
        """(s, k) the largest loads done by times (s, k) [units]."""
        done = seconds * self._rate
        for devices, _, _, loads, last in self._tables:
            done[:, devices] = np.interp(seconds[:, devices], last, loads)
        return np.asarray(done)
