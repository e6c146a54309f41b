"""curved_sizes: sizes of blocks for devices with speed curves, by `solve_sizes`.

Like `target_sizes`, but `high` is also limited by time: no load up to `high` takes longer than
(1 + epsilon) x makespan. Near a load at which speed drops sharply because a memory level is full,
a slightly heavier block would take much longer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.errors import InfeasibleError, UsageError
from evener.platforms.models.fitting import Akima, Constant, Piecewise, SpeedModel
from evener.platforms.models.samples import DeviceSpeeds
from evener.platforms.platform import Platform
from evener.platforms.with_curves import models_of, with_speeds
from evener.sizing.memory_capped import (
    Sizes,
    refuse_too_much_asked,
    remedy,
    shortfall,
    unit_capacities,
)
from evener.sizing.rounding import limits
from evener.sizing.solving import solve_sizes

PARTS = 1e9  # whole units into which a real load is divided for solve_sizes
FAR = 1.25  # a note is given for a load outside the measured loads by more than this factor
NAMED = 3  # number of devices that such a note names
DOUBTS = ("slower", "at_work")  # keys of a curve's notes that put its speeds in doubt
STEPS = 65  # number of loads from target to high whose time is compared with the tolerance


def curved_sizes(
    platform: Platform,
    load: float,
    *,
    epsilon: float,
    unit: bool,
    bytes_per_unit: float,
    heaviest: float = 0.0,
    method: str = "auto",
) -> Sizes:
    """Return the Sizes of `load` units for a platform with speed curves.

    epsilon, unit and bytes_per_unit have the same meaning as in `target_sizes`. heaviest [units]:
    weight of the heaviest vertex; each high is at least target + heaviest, if capacities allow.
    method: a method of `solve_sizes`. Raises UsageError for an unknown method, and InfeasibleError
    if the load does not fit, with the missing amount.
    """
    models = models_of(platform)
    capacities = unit_capacities(platform, bytes_per_unit)
    least = platform.low_units
    if unit:  # a vertex is not divided
        capacities, least = np.floor(capacities), np.ceil(least)
    with np.errstate(over="ignore"):
        room = float(capacities.sum())
    if load > room:
        by_bytes = bytes_per_unit if np.isfinite(platform.memories).any() else 0.0
        raise InfeasibleError(shortfall(load, room, by_bytes), hint=remedy(load, room))
    refuse_too_much_asked(least, capacities, load)
    whole = load == int(load) and load >= platform.k * 1000
    factor = 1.0 if unit or whole else PARTS / load
    found = solve_sizes(
        models if factor == 1.0 else [_scaled(model, factor) for model in models],
        round(load * factor),
        method,
        low=_whole_lows(least, capacities, factor, unit=unit),
        high=np.floor(np.minimum(capacities * factor, 2.0**53)),
        fixed_seconds=platform.fixed_seconds,
        names=platform.names,
    )
    targets = np.asarray(found.sizes / factor, np.float64)
    low, high = limits(targets, epsilon, capacities, whole=unit)
    low, high = np.maximum(low, least), np.maximum(high, least)
    by = found.makespan * (1 + epsilon)
    most = _in_time(models, targets, high, by - platform.fixed_seconds)
    most = np.maximum(most, np.minimum(targets + heaviest, high))
    return Sizes(
        targets=targets,
        sizes=found.sizes.astype(np.int64) if unit else targets.copy(),
        low=low,
        high=np.floor(most) if unit else most,
        saturated=targets >= capacities * (1 - 1e-9),
        speeds=_speeds(models, targets, load),
        notes=(
            *_notes(found.method, found.converged, int((targets < 1e-6 * load).sum())),
            *curve_notes([device.curve for device in platform.devices], targets.tolist()),
        ),
    )


def _whole_lows(
    least: FloatArray, capacities: FloatArray, factor: float, *, unit: bool
) -> IntArray | None:
    """Return the smallest allowed whole sizes (k,), in 1/factor units.

    With `unit`: one vertex, or low_units if that is more.
    """
    if unit:
        return np.maximum(np.minimum(1, capacities), least).astype(np.int64)
    return np.floor(least * factor).astype(np.int64) if least.any() else None


def _in_time(
    models: Sequence[SpeedModel], targets: FloatArray, high: FloatArray, seconds: FloatArray
) -> FloatArray:
    """Return the largest loads (k,) from target to high that devices finish in `seconds` (k,).

    The time is compared at STEPS loads.
    """
    most = high.copy()
    for b, model in enumerate(models):
        if high[b] > targets[b]:
            loads = np.linspace(targets[b], high[b], STEPS)
            late = model.time(loads) > seconds[b] * (1 + 1e-12)
            late[0] = False
            most[b] = loads[int(np.argmax(late)) - 1] if late.any() else high[b]
    return most


def _speeds(models: Sequence[SpeedModel], targets: FloatArray, load: float) -> FloatArray:
    """Return the speeds (k,) [units/s] at the targets; for a target of zero, at a tiny load."""
    loads = np.maximum(targets, 1e-6 * load / len(models))
    pairs = zip(models, loads.tolist(), strict=True)
    return np.array([model.speed(own) for model, own in pairs])


def _scaled(model: SpeedModel, factor: float) -> SpeedModel:
    if isinstance(model, Constant | Piecewise | Akima):
        return model.scaled(factor)
    raise UsageError(f"a {type(model).__name__} cannot give sizes for weights that are not whole")


def _notes(method: str, converged: bool, idle: int) -> tuple[str, ...]:
    notes = [f"sized by speed curves, method {method}"]
    if not converged:
        notes.append(f"{method} did not converge: the sizes are the best it found")
    if idle:
        what = "device is" if idle == 1 else "devices are"
        notes.append(f"{idle} {what} not worth using and got almost no load")
    return tuple(notes)


def curve_notes(curves: Sequence[DeviceSpeeds | None], sizes: Sequence[float]) -> list[str]:
    """Return notes on devices whose speeds may be wrong, or an empty list.

    A note is given if a load lies outside the measured loads, or if the notes of a curve say that
    its measurement was disturbed. curves: those of k devices, None for a device without a curve.
    sizes (k,) [units]: the loads of the devices.
    """
    said, notes = (
        [],
        [
            f"{curve.name}: when its curve was measured, {curve.notes[key]}"
            for curve in filter(None, curves)
            for key in DOUBTS
            if key in curve.notes
        ],
    )
    if len(notes) > NAMED:
        notes = [*notes[:NAMED], f"and {len(notes) - NAMED} more notes on measurements"]
    for curve, size in zip(curves, sizes, strict=True):
        if curve is not None and curve.model != "constant" and size > 0:
            loads = [sample.load for sample in curve.samples]
            if not min(loads) / FAR <= size <= max(loads) * FAR:
                measured = f"measured from {min(loads):,.6g} to {max(loads):,.6g}"
                said.append(f"{curve.name} gets {size:,.6g}, {measured}")
    if not said:
        return notes
    more = f"; and {len(said) - NAMED} more" if len(said) > NAMED else ""
    shown = "; ".join(said[:NAMED])
    beyond = (
        f"loads outside the measured range, where the nearest sample's speed is used: {shown}{more}"
    )
    return [beyond, *notes]


def at_sizes(platform: Platform, sizes: Sizes) -> Platform:
    """Return the platform with constant speeds, each taken from the device's curve at its size.

    A platform without curves is returned unchanged.
    """
    return with_speeds(platform, sizes.speeds) if platform.has_curves else platform
