"""LoadState: where things are, as a decision is told it and the file of decisions keeps it."""

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
    """Where things are, arrays (k,) in the devices' order.

    loads [units]; compute [s]: what the models say for these; other [s]: communication and fixed
    costs; idle_rates [units/s]: speeds where a load is zero; high [units]: memory; per_unit
    [s/unit]: what moving one unit to or from the device takes.
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
        """(k,) times [s] by what the models say; NaN where a device has nothing to do."""
        busy = (self.loads > 0) & (self.compute > 0)
        return np.asarray(np.where(busy, times / np.where(busy, self.compute, 1.0), np.nan))

    def rates(self, slowness: FloatArray) -> FloatArray:
        """(k,) speeds at a slowness [units/s]."""
        busy = (self.loads > 0) & (self.compute > 0)
        rates = np.where(busy, self.loads / np.where(busy, self.compute, 1.0), self.idle_rates)
        return np.asarray(rates / slowness)

    def as_line(self) -> Line:
        """Return lists of plain numbers, None for infinity."""
        return {name: plain(values) for name, values in vars(self).items()}


def plain(values: npt.ArrayLike) -> list[float | None]:
    """Return numbers for JSON; None for those that are not finite."""
    return [x if np.isfinite(x) else None for x in np.asarray(values, np.float64).tolist()]


def state_of(line: Mapping[str, Any]) -> LoadState:
    """Return the LoadState of LoadState.as_line. Raises InputError for anything else."""
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
