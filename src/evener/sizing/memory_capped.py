"""Sizes with which devices of constant speed finish together, as far as their memories allow.

The targets are those of Algorithm 1 of [LDHT]_: devices with the highest ratio of speed to memory
are filled first, up to their memory ("saturated"); the remaining load is divided among the other
devices in proportion to speed. The paper treats the devices one by one; `together` computes the
same targets in one step and also respects lower limits. Tests compare both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray, NumberArray, as_numbers
from evener.errors import InfeasibleError, InputError
from evener.graphs.lists import BYTES_PER_VERTEX
from evener.platforms.platform import Platform
from evener.sizing.equal_finish import together
from evener.sizing.rounding import limits, whole_sizes
from evener.wording import memory, number, plural, spread, two_lines

MAX_WHOLE = 2.0**53  # [units]; doubles represent all whole numbers up to this one exactly


@dataclass(frozen=True, eq=False)
class Sizes:
    """How much work each of k devices gets.

    targets (k,) [units]: real numbers. sizes (k,) [units]: whole numbers with the same sum if
    vertices have weight 1, else equal to the targets. low, high (k,) [units]: limits. saturated
    (k,): whether the device is filled to its capacity. speeds (k,) [units/s]: speeds at these
    sizes. notes: sentences for the user on how the sizes were found.
    """

    targets: FloatArray
    sizes: NumberArray
    low: FloatArray
    high: FloatArray
    saturated: BoolArray
    speeds: FloatArray
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        first = plural(self.sizes.size, "device"), f"{number(self.sizes.sum())} units"
        full = f"{int(self.saturated.sum()):,} filled to memory"
        return two_lines("Sizes", first, [f"{spread(self.sizes)} each", full])

    @cached_property
    def seconds(self) -> FloatArray:
        """Computing time (k,) of each device [s]."""
        return np.asarray(self.sizes / self.speeds, np.float64)

    @property
    def makespan(self) -> float:
        """Time until the last device is done [s]."""
        return float(self.seconds.max())


def target_weights(
    load: float, speeds: npt.ArrayLike, capacities: npt.ArrayLike | None = None
) -> tuple[FloatArray, BoolArray]:
    """Return the targets that minimise max(target / speed) under capacities: [LDHT]_, Algorithm 1.

    speeds (k,) [units/s], capacities (k,) [units] or None. Returns targets (k,) [units], which sum
    to `load`, and saturated (k,). O(k log k). Raises InfeasibleError if the capacities sum to less
    than the load, InputError if a speed or capacity is not above zero.
    """
    speed = _positive(speeds)
    cap = np.full(speed.size, np.inf) if capacities is None else _capacities(capacities, speed.size)
    room = _total(cap)
    if load > room * (1 + 1e-12):
        raise InfeasibleError(
            f"{load - room:,.6g} units short: all devices together hold {room:,.12g} units, but "
            f"the load is {load:,.12g}"
        )
    return _capped(load, speed, np.zeros(speed.size), cap)


def _capped(
    load: float, speeds: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return targets (k,) between low and high, and saturated (k,).

    All devices finish together, except those at a limit. saturated: devices that would get more if
    `high` allowed it.
    """
    rates = np.maximum(speeds / speeds.max(), 1e-300)  # only ratios matter: their sum is finite
    targets, seconds = together(load, rates, np.zeros(speeds.size), low, high)
    with np.errstate(over="ignore"):
        return targets, (targets >= high) & (seconds > high / rates)


def target_sizes(
    machine: Platform | npt.ArrayLike,
    n: float,
    *,
    memory_units: npt.ArrayLike | None = None,
    epsilon: float = 0.03,
    unit: bool = True,
    bytes_per_unit: float = BYTES_PER_VERTEX,
) -> Sizes:
    """Return the Sizes of `n` units of load for a Platform, or for speeds (k,) [units/s].

    memory_units (k,) [units]: capacities, if `machine` is an array of speeds. A Platform states its
    own capacities, in units or in bytes, which are converted with `bytes_per_unit` [B/unit]. With
    `unit`, the load is n vertices of weight 1: sizes are whole, and low and high follow the
    whole-number rule of `limits`. Otherwise n may be real, and low and high are (1 -+ epsilon) x
    targets. Raises InfeasibleError if the load does not fit, with the missing amount.
    """
    if not 0 <= epsilon < 1:
        raise InputError(f"epsilon must lie in [0, 1), not {epsilon}")
    if not 0 < n < np.inf:  # also of whole numbers that no array holds
        raise InputError(f"the load must be finite and above zero, not {n}")
    if unit and (n != int(n) or n > MAX_WHOLE):
        raise InputError(f"a load of unit weights must be a whole number up to 2^53, not {n}")
    if isinstance(machine, Platform):
        speeds, capacities = machine.speeds, unit_capacities(machine, bytes_per_unit)
        least = machine.low_units
        if np.isinf(machine.memories).all():
            bytes_per_unit = 0.0  # memories stated in units fall short by units
    else:
        speeds = _positive(machine)
        capacities = _capacities(memory_units, speeds.size)
        bytes_per_unit, least = 0.0, np.zeros(speeds.size)
    if unit:  # a vertex is not divided
        capacities, least = np.floor(capacities), np.ceil(least)
    room = _total(capacities)
    if n > room:
        raise InfeasibleError(shortfall(n, room, bytes_per_unit), hint=remedy(n, room))
    refuse_too_much_asked(least, capacities, n)
    targets, saturated = _capped(n, speeds, least, capacities)
    low, high = limits(targets, epsilon, capacities, whole=unit)
    low, high = np.maximum(low, least), np.maximum(high, least)
    sizes = whole_sizes(int(n), targets, speeds, high) if unit else targets.copy()
    return Sizes(targets, sizes, low, high, saturated, speeds)


def refuse_too_much_asked(least: FloatArray, capacities: FloatArray, n: float) -> None:
    """Raise InfeasibleError if a low_units exceeds its capacity, or their sum exceeds the load.

    least (k,): low_units of the devices; capacities (k,); n: the load; all [units].
    """
    if (least > capacities).any():
        b = int(np.argmax(least > capacities))
        raise InfeasibleError(
            f"device {b} must have at least {least[b]:,.12g} units (low_units), but can hold at "
            f"most {capacities[b]:,.12g}"
        )
    if least.sum() > n * (1 + 1e-12):
        raise InfeasibleError(
            f"low_units of all devices together are {least.sum():,.12g} units, "
            f"{least.sum() - n:,.6g} more than the load"
        )


def unit_capacities(platform: Platform, bytes_per_unit: float) -> FloatArray:
    """Return the capacity (k,) of each device [units].

    It is the least of its memory, its high_units and the capacity of its speed curve, or infinity
    if the device has none of these.
    """
    with np.errstate(divide="ignore"):
        by_bytes = platform.memories / bytes_per_unit if bytes_per_unit > 0 else np.inf
    capacities = np.asarray(np.minimum(by_bytes, platform.high_units), np.float64)
    if platform.has_curves:
        curves = [device.curve for device in platform.devices]
        own = [np.inf if curve is None else curve.capacity for curve in curves]
        capacities = np.minimum(capacities, own)
    return capacities


def shortfall(n: float, room: float, bytes_per_unit: float) -> str:
    """Return an error message that states how much of the load does not fit into the memories."""
    short = n - room
    amount = f"{short:,.0f} units" if short >= 1 else f"{short:,.3g} units"
    if bytes_per_unit > 0:
        amount = memory(short * bytes_per_unit)
    return f"{amount} short: all devices together hold {room:,.0f} units, but the load is {n:,.0f}"


def remedy(n: float, room: float) -> str:
    """Return a hint that states which change of memory or load would make the load fit."""
    if room <= 0:
        return "No device can hold a single unit: check the memory sizes and the bytes per unit."
    more, less = np.ceil(n / room * 1000) / 1000, np.ceil((1 - room / n) * 1000) / 10
    per_unit = f"with {less:.3g} % less memory per unit, " if less < 100 else ""
    return (
        f"It would fit with {more:.12g} times the memory, {per_unit}or with a load of {room:,.0f} "
        "units."
    )


def _total(capacities: FloatArray) -> float:
    with np.errstate(over="ignore"):
        return float(capacities.sum())


def _positive(speeds: npt.ArrayLike) -> FloatArray:
    array = as_numbers(speeds, "speeds")
    if array.size == 0:
        raise InputError("speeds is empty; at least one device is needed")
    if (array <= 0).any():
        bad = int(np.argmax(array <= 0))
        raise InputError(f"speeds must be above zero; device {bad} has {array[bad]}")
    return array


def _capacities(values: npt.ArrayLike | None, k: int) -> FloatArray:
    if values is None:
        return np.full(k, np.inf)
    array = np.asarray(values, np.float64)
    if array.shape != (k,):
        raise InputError(
            f"memory must have a value for each of the {k} devices, not the shape {array.shape}"
        )
    if not (array > 0).all():
        bad = int(np.argmax(~(array > 0)))
        raise InputError(f"memory must be above zero; device {bad} has {array[bad]}")
    return array
