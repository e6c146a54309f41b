"""SpeedModel: how fast a device is at each load. Today constant; functions of load will follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from evener.errors import InputError


class SpeedModel(Protocol):
    """Time and speed as functions of load [units], up to a capacity [units]."""

    @property
    def capacity(self) -> float:
        """Largest load the device can take [units]; infinity where nothing limits it."""

    def time(self, load: float) -> float:
        """Time to process `load` units [s]."""

    def speed(self, load: float) -> float:
        """Speed at `load` units [units/s]."""

    def max_load(self, seconds: float) -> float:
        """Largest load that is done within `seconds` [units]."""


@dataclass(frozen=True)
class Constant:
    """The constant performance model (CPM): one speed at every load [units/s]."""

    rate: float
    capacity: float = np.inf

    def __post_init__(self) -> None:
        if not (np.isfinite(self.rate) and self.rate > 0):
            raise InputError(f"a speed must be finite and above zero, not {self.rate}")
        if not self.capacity > 0:
            raise InputError(f"a capacity must be above zero, not {self.capacity}")

    def time(self, load: float) -> float:
        """Time to process `load` units [s]."""
        return load / self.rate

    def speed(self, load: float) -> float:  # noqa: ARG002 - the same at every load
        """Speed [units/s]."""
        return self.rate

    def max_load(self, seconds: float) -> float:
        """Largest load that is done within `seconds` [units]."""
        return min(seconds * self.rate, self.capacity)
