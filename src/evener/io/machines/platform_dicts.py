"""A Platform in the form that plan files store: a dictionary for json.dumps, in SI units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evener.errors import InputError
from evener.io.machines import toml_tables as tables
from evener.io.machines.platform_keys import (
    ABOVE_ZERO,
    AT,
    BETWEEN,
    CAPABILITIES,
    COST,
    KIND,
    NAME,
    OF_LIMITS,
    OF_OWN,
    SHARED,
    UNITS,
    stated,
)
from evener.io.machines.speeds import speeds_from_dict, speeds_to_dict
from evener.platforms.models.samples import DeviceSpeeds
from evener.platforms.platform import Connection, Device, Level, Link, Platform

_COSTS = {"alpha_s": COST, "beta_s_per_byte": COST}
PLATFORM_DICT = {
    "name": (tables.text_or_empty, "a text", False),
    "devices": (tables.a_list, "a list", True),
    "levels": (tables.a_list, "a list", False),
    "links": (tables.a_list, "a list", False),
    "curves": (tables.a_list, "a list", False),
}
DEVICE_DICT = {
    "name": NAME,
    "kind": KIND,
    "speed": (tables.positive, ABOVE_ZERO, True),
    "memory_bytes": UNITS,
    "memory_units": UNITS,
    **OF_LIMITS,
    "at": AT,
    **OF_OWN,
    "capabilities": CAPABILITIES,
    "curve": (tables.index, "a whole number, the index of a curve", False),
    "host": (tables.text, "a text", False),
    **{f"host_{key}": check for key, check in _COSTS.items()},
    "node": (tables.text, "a text", False),
    "cores": (tables.a_list, "a list", False),
    "gpu": (tables.as_given, "a whole number or a text", False),
}
LEVEL_DICT = {"name": NAME, **_COSTS, **SHARED}
LINK_DICT = {"between": BETWEEN, **_COSTS, **SHARED}

_FIELD_OF = {"memory_bytes": "memory"}


def platform_to_dict(platform: Platform) -> dict[str, Any]:
    """Return a dictionary for json.dumps: devices, levels, links; in SI units, without defaults.

    Speed curves are in a separate list, once each; devices refer to them by number.
    """
    curves: dict[int, tuple[int, DeviceSpeeds]] = {}
    for device in platform.devices:
        if device.curve is not None:
            curves.setdefault(id(device.curve), (len(curves), device.curve))
    listed = {"curves": [speeds_to_dict(curve) for _, curve in curves.values()]}
    return {
        "name": platform.name,
        "devices": [_device_dict(device, curves) for device in platform.devices],
        **(listed if curves else {}),
        "levels": [{"name": level.name, **_link_dict(level)} for level in platform.levels],
        "links": [{"between": list(c.between), **_link_dict(c)} for c in platform.connections],
    }


def platform_from_dict(data: Mapping[str, Any]) -> Platform:
    """Convert the result of platform_to_dict back. Raises InputError for anything else."""
    try:
        checked = tables.checked(data, PLATFORM_DICT, "platform", 0)
        curves = [speeds_from_dict(table, i) for i, table in enumerate(checked.get("curves", []))]
        devices = [
            _device_of_dict(table, curves)
            for table in tables.listed(checked, "devices", DEVICE_DICT)
        ]
        levels = [
            Level(table["name"], _link_of_dict(table), table.get("shared", False))
            for table in tables.listed(checked, "levels", LEVEL_DICT)
        ]
        links = [
            Connection(table["between"], _link_of_dict(table), table.get("shared", False))
            for table in tables.listed(checked, "links", LINK_DICT)
        ]
    except tables.TableError as error:
        raise InputError(f"platform: {error.message}", hint=error.hint) from error
    return Platform(tuple(devices), tuple(levels), tuple(links), checked.get("name", ""))


def _device_dict(device: Device, curves: Mapping[int, tuple[int, DeviceSpeeds]]) -> dict[str, Any]:
    table: dict[str, Any] = {"name": device.name, "kind": device.kind, "speed": device.speed}
    if device.memory is not None:
        table["memory_bytes"] = device.memory
    if device.memory_units is not None:
        table["memory_units"] = device.memory_units
    if device.at:
        table["at"] = device.at
    if device.host_link is not None:
        table["host"] = device.host
        table |= {f"host_{key}": value for key, value in _costs(device.host_link).items()}
    if device.node:
        table["node"] = device.node
    if device.cores:
        table["cores"] = list(device.cores)
    if device.gpu is not None:
        table["gpu"] = device.gpu
    table |= stated(device)
    if device.capabilities:
        table["capabilities"] = dict(device.capabilities)
    if device.curve is not None:
        table["curve"] = curves[id(device.curve)][0]
    return table


def _device_of_dict(table: Mapping[str, Any], curves: Sequence[DeviceSpeeds]) -> Device:
    chosen = {_FIELD_OF.get(key, key): value for key, value in table.items()}
    if "curve" in chosen:
        if chosen["curve"] >= len(curves):
            raise InputError(f"platform: no curve has the number {chosen['curve']}")
        chosen["curve"] = curves[chosen["curve"]]
    if "cores" in chosen:
        chosen["cores"] = tuple(chosen["cores"])
    if "host" in chosen:
        own = {key: chosen.pop(f"host_{key}", 0.0) for key in _COSTS}
        chosen["host_link"] = _link_of_dict(own)
    elif any(f"host_{key}" in chosen for key in _COSTS):
        raise InputError("platform: a device has a link to a host, but no host")
    return Device(**chosen)


def _costs(link: Link) -> dict[str, float]:
    return {"alpha_s": link.alpha, "beta_s_per_byte": link.beta}


def _link_dict(one: Level | Connection) -> dict[str, Any]:
    return _costs(one.link) | ({"shared": True} if one.shared else {})


def _link_of_dict(table: Mapping[str, Any]) -> Link:
    return Link(table.get("alpha_s", 0.0), table.get("beta_s_per_byte", 0.0))
