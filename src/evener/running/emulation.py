"""Emulated machines: devices with given speed models, noise and drift, on a virtual clock.

Nothing is computed or waited for: a run returns how long it would have taken, and the virtual clock
advances by that. So what a balancer does on ninety nodes with a memory cliff is tried in a second.
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
    """From `start` [s] on a device takes `factor` times as long; reached over `ramp` seconds.

    Until `end` [s], when it is back to what it was. Raises InputError for other than that.
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
        """The factor at a time [s]."""
        if not self.start <= clock < self.end:
            return 1.0
        done = 1.0 if self.ramp == 0 else min((clock - self.start) / self.ramp, 1.0)
        return float(self.factor**done)


class EmulatedMachine:
    """k devices, and a clock [s] that starts at 0.

    models: of the devices. noise: the standard deviation of a time's logarithm. drifts: what
    changes while the clock runs. Times depend on the seed and on what has been called before.
    Raises InputError for no devices, a negative noise, and drifts of devices that do not exist.
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
        """Return the seconds (k,) that devices take for their sizes (k,) [units], all at once.

        The clock goes on until the last is done. A device with nothing to do takes no time.
        Raises InfeasibleError where a size is beyond a device's capacity.
        """
        loads = as_numbers(sizes, "sizes")
        if loads.size != self.k:
            raise InputError(f"{self.k} devices need {self.k} sizes, not {loads.size}")
        seconds = np.array([self._seconds(i, load) for i, load in enumerate(loads.tolist())])
        self.clock += float(seconds.max())
        return seconds

    def measure(self, device: int, load: float) -> float:
        """Return the seconds that one device takes for a load [units]; the clock goes on."""
        seconds = self._seconds(device, load)
        self.clock += seconds
        return seconds

    def wait(self, seconds: float) -> None:
        """Advance the clock [s], as by communication or by a decision."""
        if not seconds >= 0:
            raise InputError(f"a wait must last zero seconds or more, not {seconds}")
        self.clock += seconds

    def _seconds(self, device: int, load: float) -> float:
        factor = float(self._rng.lognormal(0.0, self.noise))  # drawn whatever the load
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
