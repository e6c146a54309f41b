"""Reads and writes a Platform without loss: machine files in TOML, and tables of plan files.

Times and bandwidths stand in TOML as alpha_us and GB_per_s, inside as alpha [s] and
beta [s/B]. Both are converted in decimal arithmetic, so every float comes back to the bit.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

import tomli_w

from evener.errors import InputError
from evener.files.writing import write_text
from evener.io.machines import toml_tables as tables
from evener.io.machines.speeds import speeds_from_dict, speeds_to_dict
from evener.io.machines.toml_syntax import TomlFile, read_toml, toml_key, toml_text
from evener.io.machines.toml_tables import CONTEXT, beta_of, exact, text_or_empty
from evener.platforms.device import find_fault
from evener.platforms.models.samples import DeviceSpeeds
from evener.platforms.platform import MAX_DEVICES, Connection, Device, Level, Link, Platform

# What the tables of a machine file may hold, and those of a platform in JSON.

GIB = 2.0**30
LIMITS = ("low_units", "high_units")
OWN = ("fixed_seconds", "cost_per_hour", "watts", "idle_watts")

_ABOVE_ZERO = "a number above zero"
_NAME = (tables.text, "a text that is not empty", True)
_AT = (tables.place, 'a place such as "site/node"', False)
_KIND = (tables.text, 'a text such as "cpu" or "cuda"', False)
_CAPABILITIES = (tables.numbers, "a table of numbers", False)
_COUNT = (tables.count_up_to(MAX_DEVICES), f"a whole number from 1 to {MAX_DEVICES:,}", False)
_UNITS = (tables.positive, _ABOVE_ZERO, False)
_BETWEEN = (tables.pair, 'two different places, as ["n0", "n1"]', True)
_COST = (tables.not_negative, "a number not below zero", False)

_LIMITS = dict.fromkeys(LIMITS, _UNITS)
_OWN = dict.fromkeys(OWN, _COST)
_SHARED = {"shared": (tables.flag, "true or false", False)}
# Capabilities that have keys of their own in a machine file; the speed follows from mips.
ABILITIES = ("mips", "vector_length")
INSTRUCTIONS_PER_MIPS = 1e6
_CURVE = (tables.index, "a whole number, which of the curves", False)

_LINK_KEYS = {
    "alpha_us": (tables.seconds, "a number not below zero", False),
    "GB_per_s": (tables.seconds_per_byte, f"{_ABOVE_ZERO}, or inf", False),
}
DEVICE = {
    "name": _NAME,
    "count": _COUNT,
    "at": _AT,
    "kind": _KIND,
    "speed": (tables.positive, _ABOVE_ZERO, False),
    **dict.fromkeys(ABILITIES, (tables.positive, _ABOVE_ZERO, False)),
    "memory_GiB": (tables.memory_gib, _ABOVE_ZERO, False),
    "memory_units": _UNITS,
    **_LIMITS,
    **_OWN,
    "capabilities": _CAPABILITIES,
}
LEVEL = {"name": _NAME, **_LINK_KEYS, **_SHARED}
LINK = {"between": _BETWEEN, **_LINK_KEYS, **_SHARED}

_COSTS = {"alpha_s": _COST, "beta_s_per_byte": _COST}
PLATFORM_DICT = {
    "name": (tables.text_or_empty, "a text", False),
    "devices": (tables.a_list, "a list", True),
    "levels": (tables.a_list, "a list", False),
    "links": (tables.a_list, "a list", False),
    "curves": (tables.a_list, "a list", False),
}
DEVICE_DICT = {
    "name": _NAME,
    "kind": _KIND,
    "speed": (tables.positive, _ABOVE_ZERO, True),
    "memory_bytes": _UNITS,
    "memory_units": _UNITS,
    **_LIMITS,
    "at": _AT,
    **_OWN,
    "capabilities": _CAPABILITIES,
    "curve": _CURVE,
}
LEVEL_DICT = {"name": _NAME, **_COSTS, **_SHARED}
LINK_DICT = {"between": _BETWEEN, **_COSTS, **_SHARED}


def stated(device: Device) -> dict[str, float]:
    """Return a device's optional numbers (limits, costs, power) by key, those that are stated."""
    own = {key: getattr(device, key) for key in (*LIMITS, *OWN)}
    default = {"fixed_seconds": 0.0}
    return {key: value for key, value in own.items() if value != default.get(key)}


DEFAULT_KIND = "cpu"


def platform_to_toml(platform: Platform) -> str:
    """Return the text of a machine file. Raises InputError for devices with speed curves."""
    if platform.has_curves:
        raise InputError("a machine file holds one speed a device: curves go to a speeds file")
    parts = [f"name = {toml_text(platform.name)}\n"] if platform.name else []
    parts.extend(
        "\n".join(
            ["[[level]]", f"name = {toml_text(level.name)}", *_link(level.link), *_shared(level)]
        )
        for level in platform.levels
    )
    parts.extend(_device_table(d, name, count) for d, name, count in runs_of(platform.devices))
    for connection in platform.connections:
        a, b = (toml_text(end) for end in connection.between)
        lines = [f"between = [{a}, {b}]", *_link(connection.link), *_shared(connection)]
        parts.append("\n".join(["[[link]]", *lines]))
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def runs_of(devices: Sequence[Device]) -> list[tuple[Device, str, int]]:
    """Group neighbours that are equal but for their names name0, name1, ...

    Returns (first device, name, how many) for each group; a device alone keeps its full name
    and has count 0.
    """
    runs, start = [], 0
    while start < len(devices):
        first = devices[start]
        base, end = first.name[:-1], start + 1
        if first.name.endswith("0") and base and base == base.strip():
            alike = _traits(first)
            while (
                end < len(devices)
                and devices[end].name == f"{base}{end - start}"
                and _traits(devices[end]) == alike
            ):
                end += 1
        alone = end == start + 1
        runs.append((first, first.name if alone else base, 0 if alone else end - start))
        start = end
    return runs


def _traits(device: Device) -> tuple[Any, ...]:
    return tuple(getattr(device, f.name) for f in fields(Device) if f.name != "name")


def _device_table(device: Device, name: str, count: int) -> str:
    lines = ["[[device]]", f"name = {toml_text(name)}"]
    if count:
        lines.append(f"count = {count}")
    if device.at:
        lines.append(f"at = {toml_text(device.at)}")
    if device.kind != DEFAULT_KIND:
        lines.append(f"kind = {toml_text(device.kind)}")
    lines.append(f"speed = {_real(device.speed)}")
    if device.memory is not None:
        lines.append(f"memory_GiB = {_real(device.memory / GIB)}")
    if device.memory_units is not None:
        lines.append(f"memory_units = {_real(device.memory_units)}")
    lines.extend(f"{key} = {_real(value)}" for key, value in stated(device).items())
    own = device.capabilities
    lines.extend(f"{key} = {_real(own[key])}" for key in ABILITIES if own.get(key, 0) > 0)
    further = {k: v for k, v in own.items() if k not in ABILITIES or not v > 0}
    if further:
        lines.append("[device.capabilities]")
        lines.extend(f"{toml_key(k)} = {_real(v)}" for k, v in further.items())
    return "\n".join(lines)


def _shared(one: Level | Connection) -> list[str]:
    return ["shared = true"] if one.shared else []


def _link(link: Link) -> list[str]:
    """Return the lines of a link; unlimited bandwidth (beta 0) is left out."""
    lines = [f"alpha_us = {_decimal(Decimal(repr(float(link.alpha))).scaleb(6))}"]
    if link.beta > 0:
        lines.append(f"GB_per_s = {_gb_per_s(float(link.beta))}")
    return lines


@lru_cache(maxsize=4096)
def _gb_per_s(beta: float) -> str:
    """Return the bandwidth [GB/s] with the fewest digits that is read as this beta [s/B]."""
    s_per_gb = CONTEXT.multiply(Decimal(beta), 10**9)
    for digits in range(1, 26):
        text = _decimal(CONTEXT.divide(1, s_per_gb), digits)
        if beta_of(Decimal(text)) == beta:
            return text
    raise AssertionError(f"beta {beta!r} has no decimal form")


def _real(value: float) -> str:
    return _decimal(Decimal(repr(float(value))))


def _decimal(value: Decimal, digits: int = 40) -> str:
    """Return a number as TOML's float: 0.5, 16.0, 2.0e8."""
    if value == 0:
        return "0.0"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    mantissa, power = mantissa.rstrip("0").rstrip("."), int(exponent)
    if -5 <= power < 6:
        plain = f"{Decimal(mantissa).scaleb(power):f}"
        return plain if "." in plain else f"{plain}.0"
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{power}"


# 2^28 bytes at most: two million devices, each with a table of its own, take less.
_FILE = TomlFile("machine file", "no [[device]] table", "Make one with `evener machine`.", 1 << 28)


def read_platform(path: str | Path) -> Platform:
    """Read a machine file. Raises InputError with file, line and the key meant."""
    text, data = read_toml(path, _FILE, parse_float=exact)
    with tables.placed(path, text):
        return _platform(data)


def platform_of_tables(data: Mapping[str, Any]) -> Platform:
    """Return the Platform of what tomllib makes of a machine file: a dict of its tables.

    Raises InputError with the key meant.
    """
    try:
        # Through text, so that numbers are converted as those of a file.
        read = tomllib.loads(tomli_w.dumps(data), parse_float=exact)
    except (TypeError, ValueError) as error:
        raise InputError(f"these are no tables of a machine file: {error}") from error
    try:
        return _platform(read)
    except tables.TableError as error:
        raise InputError(error.message, hint=error.hint) from error


def write_platform(path: str | Path, platform: Platform) -> None:
    """Write a machine file that read_platform reads back as an equal Platform."""
    write_text(path, platform_to_toml(platform))


def _platform(data: Mapping[str, Any]) -> Platform:
    """Build the Platform of a parsed file. Raises TableError with the place of the mistake."""
    tables.refuse_unknown(data, ("name", "level", "device", "link"), "", 0)
    name = text_or_empty(data.get("name", ""))
    if name is None:
        raise tables.TableError("name must be a text", "", 0, "name")
    device_tables = tables.listed(data, "device", DEVICE)
    for index, table in enumerate(device_tables):
        if "speed" not in table and "mips" not in table:
            raise tables.TableError(
                f"{tables.titled(table, 'device')} has no speed", "device", index
            )
    if not device_tables:
        raise tables.TableError("no [[device]] table: a machine needs at least one", "", 0)
    devices, table_of = _expanded(device_tables)
    levels = [
        Level(t["name"], _link_of(t), t.get("shared", False))
        for t in tables.listed(data, "level", LEVEL)
    ]
    links = [
        Connection(t["between"], _link_of(t), t.get("shared", False))
        for t in tables.listed(data, "link", LINK)
    ]
    try:
        return Platform(tuple(devices), tuple(levels), tuple(links), name)
    except InputError as error:
        fault = find_fault(devices, levels, links)
        if fault is None:
            raise
        index = table_of(fault.number) if fault.kind == "device" else fault.number
        raise tables.TableError(fault.message, fault.kind, index, hint=fault.hint) from error


def _expanded(
    device_tables: Sequence[Mapping[str, Any]],
) -> tuple[list[Device], Callable[[int], int]]:
    """Return the devices, counts expanded, and from which table the i-th of them came."""
    total, starts = 0, []
    for index, table in enumerate(device_tables):
        starts.append(total)
        total += table.get("count", 1)
        if total > MAX_DEVICES:
            message = f"{total:,} devices; at most {MAX_DEVICES:,} are possible"
            raise tables.TableError(message, "device", index, "count")
    devices: list[Device] = []
    for index, table in enumerate(device_tables):
        names = [table["name"]]
        if "count" in table:
            names = [f"{table['name']}{i}" for i in range(table["count"])]
        traits = _device_traits(table)
        try:
            devices.extend(Device(name, **traits) for name in names)
        except InputError as error:
            raise tables.TableError(error.message, "device", index) from error
    return devices, lambda i: max(j for j, start in enumerate(starts) if start <= i)


def _device_traits(table: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("speed", "kind", "memory_units", "at", *LIMITS, *OWN)
    traits = {key: table[key] for key in kept if key in table}
    if "memory_GiB" in table:
        traits["memory"] = table["memory_GiB"] * GIB
    # One dictionary for all devices of the table: it is never written to.
    able = {key: table[key] for key in ABILITIES if key in table}
    traits["capabilities"] = {**table.get("capabilities", {}), **able}
    if "speed" not in traits:
        traits["speed"] = INSTRUCTIONS_PER_MIPS * able["mips"]
    return traits


def _link_of(table: Mapping[str, Any]) -> Link:
    return Link(table.get("alpha_us", 0.0), table.get("GB_per_s", 0.0))


# A Platform as plan files hold it: a dictionary that json.dumps takes, in SI units.

_FIELD_OF = {"memory_bytes": "memory"}


def platform_to_dict(platform: Platform) -> dict[str, Any]:
    """Return what json.dumps takes: devices, levels, links; SI units; what is default left out.

    Speed curves stand in a list of their own, once each; devices say which is theirs.
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
    """Return the Platform of platform_to_dict. Raises InputError for anything else."""
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
            raise InputError(f"platform: there is no curve number {chosen['curve']}")
        chosen["curve"] = curves[chosen["curve"]]
    return Device(**chosen)


def _link_dict(one: Level | Connection) -> dict[str, Any]:
    table = {"alpha_s": one.link.alpha, "beta_s_per_byte": one.link.beta}
    return table | ({"shared": True} if one.shared else {})


def _link_of_dict(table: Mapping[str, Any]) -> Link:
    return Link(table.get("alpha_s", 0.0), table.get("beta_s_per_byte", 0.0))
