"""LoadState: loads, times and limits of the devices, as the decider and the log hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InputError

Line = dict[str, Any]


@dataclass(frozen=True, eq=False)
class LoadState:
    """Loads and times of k devices; arrays (k,) in the devices' order.

    loads [units]; compute [s]: of these loads, by the models; other [s]: communication and fixed
    costs; idle_rates [units/s]: speeds of devices without load; high [units]: most that memory
    allows; per_unit [s/unit]: time to move one unit to or from the device.
    """

    loads: FloatArray
    compute: FloatArray
    other: FloatArray
    idle_rates: FloatArray
    high: FloatArray
    per_unit: FloatArray

    def __post_init__(self) -> None:
        for field in fields(self):
            values = [np.inf if x is None else x for x in getattr(self, field.name)]
            object.__setattr__(self, field.name, np.asarray(values, np.float64))

    @property
    def k(self) -> int:
        """Number of devices."""
        return int(self.loads.size)

    def slowness(self, times: FloatArray) -> FloatArray:
        """Return (k,) times [s] / compute; NaN where a device has no load."""
        busy = (self.loads > 0) & (self.compute > 0)
        return np.asarray(np.where(busy, times / np.where(busy, self.compute, 1.0), np.nan))

    def rates(self, slowness: FloatArray) -> FloatArray:
        """Return (k,) speeds at a slowness (k,) [units/s]."""
        busy = (self.loads > 0) & (self.compute > 0)
        rates = np.where(busy, self.loads / np.where(busy, self.compute, 1.0), self.idle_rates)
        return np.asarray(rates / slowness)

    def as_line(self) -> Line:
        """Return the state for JSON: lists of numbers, None for infinity."""
        return {name: plain(values) for name, values in vars(self).items()}


def plain(values: npt.ArrayLike) -> list[float | None]:
    """Return numbers for JSON, None for those that are not finite."""
    return [x if np.isfinite(x) else None for x in np.asarray(values, np.float64).tolist()]


def state_of(line: Mapping[str, Any]) -> LoadState:
    """Return the LoadState that `as_line` wrote. Raises InputError for anything else."""
    try:
        state = LoadState(**line)
    except (OverflowError, TypeError, ValueError) as error:
        raise InputError(
            f"a state is a table of {len(fields(LoadState))} lists: {error}"
        ) from error
    if (
        state.loads.ndim != 1
        or len({getattr(state, field.name).shape for field in fields(LoadState)}) != 1
        or state.k == 0
    ):
        raise InputError("the lists of a state differ in length, or are empty")
    return state
