"""The traditional balancer ([Cla14]_, 2.3.1): each device has the speed it last showed.

It diverges where speed depends on the load: kept to compare with, and to show that.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import as_integers, as_numbers
from evener.errors import InputError
from evener.platforms.models.fitting import Constant
from evener.sizing import solve_sizes


class ConstantBalancer:
    """New sizes in proportion to size / time, whenever times differ by more than a tolerance."""

    def __init__(self, sizes: npt.ArrayLike, tolerance: float = 0.05) -> None:
        self.sizes, self.tolerance = as_integers(sizes, "sizes"), tolerance

    def observe(self, times: npt.ArrayLike) -> npt.NDArray[np.int64] | None:
        """Return new sizes, or None where times (k,) [s] are even. InputError for bad times."""
        seconds = as_numbers(times, "times")
        if seconds.size != self.sizes.size or not (seconds[self.sizes > 0] > 0).all():
            raise InputError("times must be above zero, one for each device")
        if seconds.max() <= (1 + self.tolerance) * seconds.min():
            return None
        speeds = np.maximum(self.sizes, 1) / np.maximum(seconds, 1e-300)
        models = [Constant(float(speed)) for speed in speeds]
        found = solve_sizes(models, int(self.sizes.sum()), low=1)
        self.sizes = np.asarray(found.sizes, np.int64)
        return self.sizes.copy()
