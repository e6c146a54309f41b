"""Platforms whose devices have speed curves: attaches curves, and computes times with them.

If the load is known, a device's curve replaces its single speed. The device's `speed` is that at
its expected load, for computations that need one number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.platforms.models.fitting import SpeedModel, fit_device
from evener.platforms.models.samples import DeviceSpeeds
from evener.platforms.platform import Device, Platform
from evener.wording import meant

MAX_STEPS = 200
PRECISION = 1e-9


def with_curves(platform: Platform, speeds: Sequence[DeviceSpeeds]) -> tuple[Platform, list[str]]:
    """Return the platform with the curve of each device, and the curve names that no device has.

    A curve belongs to the device of its name, or to all devices of its name with a number: "gpu" to
    gpu0, gpu1, ... that have no curve of their own. If it has fixed seconds, they become the
    device's. Raises InputError for a device without a curve.
    """
    by_name = {one.name: one for one in speeds}
    used, devices = set(), []
    for device in platform.devices:
        name = device.name if device.name in by_name else device.name.rstrip("0123456789")
        if name not in by_name:
            raise InputError(
                f"no speeds for device {device.name!r}{meant(device.name, by_name)}",
                hint=f"There are speeds for {', '.join(list(by_name)[:8])}. A name without a "
                "number applies to all devices: gpu to gpu0, gpu1, ...",
            )
        used.add(name)
        devices.append(_curved(device, by_name[name]))
    return replace(platform, devices=tuple(devices)), [name for name in by_name if name not in used]


def platform_of(speeds: Sequence[DeviceSpeeds]) -> Platform:
    """Return the devices of a speeds file as a platform with free communication."""
    return Platform(tuple(_curved(Device(one.name, 1.0), one) for one in speeds))


def models_of(platform: Platform) -> tuple[SpeedModel, ...]:
    """Return the models of the devices, (k,); equal models are one object."""
    groups = model_groups(platform)
    models: list[SpeedModel] = [groups[0].model] * platform.k
    for group in groups:
        for b in group.devices.tolist():
            models[b] = group.model
    return tuple(models)


def seconds_at(platform: Platform, loads: FloatArray) -> FloatArray:
    """Return the time each device takes for its load, (k,) [s], ignoring capacities."""
    seconds = np.zeros(platform.k)
    for group in model_groups(platform):
        own = loads[group.devices]
        seconds[group.devices] = own / group.model.speed(own)
    return seconds


def with_speeds(platform: Platform, speeds: FloatArray) -> Platform:
    """Return the platform with other speeds (k,) [units/s]; curves and all else are unchanged."""
    pairs = zip(platform.devices, speeds.tolist(), strict=True)
    return replace(platform, devices=tuple(replace(d, speed=speed) for d, speed in pairs))


def least_seconds(platform: Platform, load: float) -> float:
    """Return the least time [s] in which the devices together can do `load` [units].

    A lower bound of every partition's makespan, for curves of any shape. Infinity if `load` exceeds
    the total capacity.
    """
    groups = model_groups(platform)

    def done_by(seconds: float) -> float:
        return float(sum(g.devices.size * g.model.max_load(seconds) for g in groups))

    if sum(g.devices.size * g.model.capacity for g in groups) < load:
        return np.inf
    even = load / platform.k
    late = load / sum(g.devices.size * g.model.speed(even) for g in groups)
    while done_by(late) < load:
        late *= 2
    early, before, after = 0.0, 0.0, done_by(late)
    for step in range(MAX_STEPS):
        if late - early <= PRECISION * late:
            break
        # The load done by a time is nearly linear in it, but may jump: every second step bisects.
        share = 0.5 if step % 2 else min(max((load - before) / (after - before), 0.01), 0.99)
        middle = early + share * (late - early)
        done = done_by(middle)
        if done >= load:
            late, after = middle, done
        else:
            early, before = middle, done
    return early


class ModelGroup(NamedTuple):
    """Devices (g,) that share a model."""

    model: SpeedModel
    devices: npt.NDArray[np.int64]


def model_groups(platform: Platform) -> list[ModelGroup]:
    """Return devices grouped by their curve, or by their speed if they have no curve."""
    members: dict[object, list[int]] = {}
    for b, device in enumerate(platform.devices):
        key = device.speed if device.curve is None else id(device.curve)
        members.setdefault((device.curve is None, key), []).append(b)
    return [
        ModelGroup(platform.devices[own[0]].model, np.array(own, np.int64))
        for own in members.values()
    ]


def _curved(device: Device, curve: DeviceSpeeds) -> Device:
    model = fit_device(curve)
    speed = float(model.speed(curve.samples[-1].load))
    fixed = curve.fixed_seconds or device.fixed_seconds
    return replace(device, curve=curve, speed=speed, fixed_seconds=fixed)
