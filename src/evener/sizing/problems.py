"""Problem and Solution: the checked input of every sizing method, and what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, as_array, as_integers, as_numbers
from evener.errors import InfeasibleError, InputError
from evener.platforms.models.fitting import Constant, SpeedModel, is_flat
from evener.sizing.memory_capped import MAX_WHOLE, shortfall


@dataclass(frozen=True, eq=False)
class Problem:
    """A sizing problem: find whole sizes that sum to n and minimise the makespan.

    The sizes must satisfy low <= sizes <= high. models: one speed model per device (k).
    low, high (k,) int64 [units]; high is at most floor(capacity) and n.
    fixed (k,) float64 [s]: time added for every device that gets a load above zero.
    names: device names for messages.
    """

    models: tuple[SpeedModel, ...]
    n: int
    low: IntArray
    high: IntArray
    fixed: FloatArray
    names: tuple[str, ...] | None = None

    def name(self, device: int) -> str:
        """Return the name of a device for messages."""
        return f"device {device}" if self.names is None else self.names[device]

    @property
    def k(self) -> int:
        """Number of devices."""
        return len(self.models)

    @cached_property
    def is_constant(self) -> bool:
        """Whether every model is a Constant."""
        return set(map(type, self.models)) == {Constant}

    @cached_property
    def is_flat(self) -> bool:
        """Whether every model gives the same speed for all loads, even if it is not a Constant."""
        return self.is_constant or all(map(is_flat, self.models))

    @cached_property
    def rates(self) -> FloatArray:
        """Speeds (k,) of the Constant models [units/s]; use them only if `is_constant` is true."""
        return np.array([model.rate for model in self.models if isinstance(model, Constant)])

    @property
    def even(self) -> FloatArray:
        """Equal shares (k,) [units], clipped to the limits and to at least 1e-6 unit."""
        least = np.minimum(self.high, 1e-6)
        return np.asarray(np.clip(self.n / self.k, np.maximum(self.low, least), self.high))

    def most_by(self, seconds: float) -> FloatArray:
        """Return the largest real loads (k,) [units] that devices finish in `seconds`.

        Each load is clipped to the limits of its device.
        """
        left = np.maximum(seconds - self.fixed, 0.0).tolist()
        most = [float(m.max_load(own)) for m, own in zip(self.models, left, strict=True)]
        return np.asarray(np.clip(most, self.low, self.high))

    def times(self, sizes: IntArray) -> FloatArray:
        """Return the seconds (k,) that the devices take for whole sizes (k,), by their models."""
        if self.is_constant:
            with np.errstate(over="ignore"):
                seconds = sizes / self.rates
        else:
            models = zip(self.models, sizes.tolist(), strict=True)
            seconds = np.array([model.time(float(size)) for model, size in models])
        return np.where(sizes > 0, seconds + self.fixed, 0.0)


class Solution(NamedTuple):
    """The result of a sizing method.

    sizes (k,): whole numbers [units]. converged: whether the method reached its goal.
    notes: sentences for the user. bound [s]: a lower bound on the makespan of any whole sizes,
    0 if the method proves none.
    """

    sizes: IntArray
    converged: bool = True
    notes: tuple[str, ...] = ()
    bound: float = 0.0


def make_problem(
    models: Sequence[SpeedModel],
    n: int,
    low: npt.ArrayLike | None = None,
    high: npt.ArrayLike | None = None,
    fixed_seconds: npt.ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> Problem:
    """Return the checked Problem of dividing n units over devices with these models.

    low, high: one number for all devices or one per device [units]; None: 0 and the capacity.
    Raises InputError for an invalid load, limit or time, and InfeasibleError if the upper limits
    sum to less than n or the lower limits to more than n.
    """
    if not models:
        raise InputError("there are no devices")
    if isinstance(n, bool) or n != int(n) or not 0 <= n <= MAX_WHOLE:
        raise InputError(f"the load must be a whole number from 0 to 2^53, not {n}")
    n, k = int(n), len(models)
    capacity = np.array([model.capacity for model in models], np.float64)
    least = _whole(low, k, "low", 0)
    most = np.minimum(_whole(high, k, "high", n), n)
    most = np.minimum(most, np.floor(np.minimum(capacity, n)).astype(np.int64))
    fixed = checked_seconds(fixed_seconds, k, "fixed_seconds")
    called = None if names is None else tuple(names)
    problem = Problem(tuple(models), n, least, most, fixed, called)
    for values, name in ((least, "low"), (most, "high")):
        if (values < 0).any():
            i = int(np.argmax(values < 0))
            raise InputError(
                f"{name} of {problem.name(i)} must not be negative, but is {values[i]}"
            )
    _check_room(problem)
    return problem


def _check_room(problem: Problem) -> None:
    n, low, high = problem.n, problem.low, problem.high
    if (low > high).any():
        i = int(np.argmax(low > high))
        raise InfeasibleError(
            f"{problem.name(i)} must get at least {low[i]:,} units but can take at most {high[i]:,}"
        )
    if high.sum(dtype=np.float64) < n and high.sum() < n:
        raise InfeasibleError(
            shortfall(n, float(high.sum()), 0.0),
            hint="Raise capacities or limits, add a device, or divide a smaller load.",
        )
    if low.sum(dtype=np.float64) > n:
        over = low.sum() - n
        raise InfeasibleError(
            f"the least sizes add up to {low.sum():,} units, {over:,} more than the load of {n:,}"
        )


def checked_seconds(values: npt.ArrayLike | None, k: int, name: str) -> FloatArray:
    """Return `values` as times (k,) [s], zeros for None.

    values: one time for all devices, or one per device. Raises InputError for negative times.
    """
    seconds = np.zeros(k) if values is None else as_numbers(_all(values, k, name), name)
    if (seconds < 0).any():
        i = int(np.argmax(seconds < 0))
        raise InputError(f"{name} must not be negative, but entry {i} is {seconds[i]:g}")
    return seconds


def _whole(values: npt.ArrayLike | None, k: int, name: str, default: int) -> IntArray:
    if values is None:
        return np.full(k, default, np.int64)
    array = _all(values, k, name)
    if array.dtype.kind == "f":  # infinity: no limit
        array = np.where(np.isposinf(array), MAX_WHOLE, array)
    return as_integers(array, name)


def _all(values: npt.ArrayLike, k: int, name: str) -> npt.NDArray[Any]:
    array = as_array(values, name)
    array = np.full(k, array[()]) if array.ndim == 0 else array
    if array.shape != (k,):
        raise InputError(f"{name} has shape {array.shape}, but there are {k} devices")
    return array
