"""Emulated machines: devices with given speed models, noise and drift, on a virtual clock.

Nothing is computed: a run returns how long it would have taken, and advances the virtual clock by
that time. Thus a balancer can be tried within a second on, say, ninety nodes with a memory cliff.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, as_numbers
from evener.errors import InfeasibleError, InputError
from evener.platforms.models.fitting import SpeedModel


@dataclass(frozen=True)
class Drift:
    """A change of speed: from `start` [s] to `end` [s], a device takes `factor` times as long.

    The factor is reached gradually over `ramp` seconds. Raises InputError for invalid values.
    """

    device: int
    start: float
    factor: float
    ramp: float = 0.0
    end: float = np.inf

    def __post_init__(self) -> None:
        if not (self.device >= 0 and 0 <= self.start < self.end and self.ramp >= 0):
            raise InputError(
                f"a drift of device {self.device} cannot last from {self.start} to {self.end} s"
            )
        if not 0 < self.factor < np.inf:
            raise InputError(f"a drift's factor must be above zero, not {self.factor}")

    def at(self, clock: float) -> float:
        """Return the factor at a time [s]."""
        if not self.start <= clock < self.end:
            return 1.0
        done = 1.0 if self.ramp == 0 else min((clock - self.start) / self.ramp, 1.0)
        return float(self.factor**done)


class EmulatedMachine:
    """An emulated machine of k devices, with a clock [s] that starts at 0.

    models: speed models of the devices. noise: standard deviation of the logarithm of a time.
    drifts: changes of speed during the run. Times depend on the seed and on earlier calls. Raises
    InputError if there are no devices, if the noise is negative, or if a drift's device does not
    exist.
    """

    def __init__(
        self,
        models: Sequence[SpeedModel],
        *,
        noise: float = 0.0,
        drifts: Sequence[Drift] = (),
        seed: int = 7,
    ) -> None:
        if not models:
            raise InputError("a machine needs at least one device")
        if not 0 <= noise < np.inf:
            raise InputError(f"noise must be zero or above, not {noise}")
        if any(drift.device >= len(models) for drift in drifts):
            raise InputError(
                f"a drift names a device that does not exist: the machine has {len(models)}"
            )
        self.models, self.noise, self.drifts = tuple(models), noise, tuple(drifts)
        self.clock = 0.0
        self._rng = np.random.default_rng(seed)

    @property
    def k(self) -> int:
        """Number of devices."""
        return len(self.models)

    def run(self, sizes: npt.ArrayLike) -> FloatArray:
        """Return the times (k,) [s] of devices that process their sizes (k,) [units] concurrently.

        Advances the clock until the last device is done. A device with nothing to do takes no time.
        Raises InfeasibleError if a size exceeds a device's capacity.
        """
        loads = as_numbers(sizes, "sizes")
        if loads.size != self.k:
            raise InputError(f"there must be {self.k} sizes, one per device, not {loads.size}")
        seconds = np.array([self._seconds(i, load) for i, load in enumerate(loads.tolist())])
        self.clock += float(seconds.max())
        return seconds

    def measure(self, device: int, load: float) -> float:
        """Return the time [s] of one device for a load [units], and advance the clock by it."""
        seconds = self._seconds(device, load)
        self.clock += seconds
        return seconds

    def wait(self, seconds: float) -> None:
        """Advance the clock by `seconds`, for example for communication or a decision."""
        if not seconds >= 0:
            raise InputError(f"a wait must last zero seconds or more, not {seconds}")
        self.clock += seconds

    def _seconds(self, device: int, load: float) -> float:
        factor = float(self._rng.lognormal(0.0, self.noise))  # drawn even if the load is zero
        if load <= 0:
            return 0.0
        model = self.models[device]
        if load > model.capacity:
            raise InfeasibleError(
                f"device {device} takes at most {model.capacity:,.0f} units, not {load:,.0f}"
            )
        for drift in self.drifts:
            if drift.device == device:
                factor *= drift.at(self.clock)
        return float(model.time(load)) * factor
