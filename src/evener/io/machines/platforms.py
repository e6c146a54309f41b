"""Reads and writes a Platform as a machine file in TOML, without loss.

TOML files state alpha_us and GB_per_s; Evener uses alpha [s] and beta [s/B] internally. Both are
converted in decimal arithmetic, so every float is restored exactly.

The [[network]] tables of meshes, tori, stars and fat trees are expanded to links.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from evener.errors import InputError
from evener.files.writing import write_text
from evener.io.machines import toml_tables as tables
from evener.io.machines.homes import home_lines, homes_of, says_where
from evener.io.machines.platform_keys import (
    ABILITIES,
    DEVICE,
    GIB,
    INSTRUCTIONS_PER_MIPS,
    LEVEL,
    LIMITS,
    LINK,
    NETWORK,
    OWN,
    stated,
)
from evener.io.machines.toml_syntax import TomlFile, read_toml, toml_key, toml_text
from evener.io.machines.toml_tables import CONTEXT, beta_of, exact, text_or_empty
from evener.platforms.faults import find_fault
from evener.platforms.hosts import behind_hosts
from evener.platforms.network import KINDS, fat_tree_links, mesh_links, star_links
from evener.platforms.platform import MAX_DEVICES, Connection, Device, Level, Link, Platform
from evener.wording import nearest

DEFAULT_KIND = "cpu"
_KINDS = ("level", "device", "link", "network")
_BEHIND = "gpu_behind_host"


def platform_to_toml(platform: Platform) -> str:
    """Return the text of a machine file. Raises InputError if devices have speed curves."""
    if platform.has_curves:
        raise InputError("a machine file has one speed per device; store curves in a speeds file")
    parts = [f"name = {toml_text(platform.name)}\n"] if platform.name else []
    parts.extend(
        "\n".join(
            ["[[level]]", f"name = {toml_text(level.name)}", *_link(level.link), *_shared(level)]
        )
        for level in platform.levels
    )
    parts.extend(_device_table(run, name, count) for run, name, count in runs_of(platform.devices))
    for connection in platform.connections:
        a, b = (toml_text(end) for end in connection.between)
        lines = [f"between = [{a}, {b}]", *_link(connection.link), *_shared(connection)]
        parts.append("\n".join(["[[link]]", *lines]))
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def runs_of(devices: Sequence[Device]) -> list[tuple[Sequence[Device], str, int]]:
    """Group consecutive devices that differ only in location and in their names name0, name1, ...

    Returns (devices, name, count) for each group; a single device keeps its full name and has count
    0.
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
        runs.append(
            (devices[start:end], first.name if alone else base, 0 if alone else end - start)
        )
        start = end
    return runs


def _traits(device: Device) -> tuple[Any, ...]:
    own = ("name", "node", "cores", "gpu")
    traits = (getattr(device, f.name) for f in fields(Device) if f.name not in own)
    return (*traits, *says_where(device))


def _device_table(devices: Sequence[Device], name: str, count: int) -> str:
    device = devices[0]
    lines = ["[[device]]", f"name = {toml_text(name)}"]
    if count:
        lines.append(f"count = {count}")
    if device.at:
        lines.append(f"at = {toml_text(device.at)}")
    if device.kind != DEFAULT_KIND:
        lines.append(f"kind = {toml_text(device.kind)}")
    if device.host_link is not None:
        lines.append(f"host = {toml_text(device.host)}")
        lines += [f"host_{line}" for line in _link(device.host_link)]
        if device.host_link.beta == 0:
            lines.append("host_GB_per_s = inf")
    lines += home_lines(devices, is_counted=count > 0)
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
    """Return the lines of a link; an unlimited bandwidth (beta 0) is left out."""
    lines = [f"alpha_us = {_decimal(Decimal(repr(float(link.alpha))).scaleb(6))}"]
    if link.beta > 0:
        lines.append(f"GB_per_s = {_gb_per_s(float(link.beta))}")
    return lines


@lru_cache(maxsize=4096)
def _gb_per_s(beta: float) -> str:
    """Return the shortest bandwidth [GB/s] that is read back as exactly this beta [s/B]."""
    s_per_gb = CONTEXT.multiply(Decimal(beta), 10**9)
    for digits in range(1, 26):
        text = _decimal(CONTEXT.divide(1, s_per_gb), digits)
        if beta_of(Decimal(text)) == beta:
            return text
    raise AssertionError(f"beta {beta!r} has no decimal form")


def _real(value: float) -> str:
    return _decimal(Decimal(repr(float(value))))


def _decimal(value: Decimal, digits: int = 40) -> str:
    """Return a number in TOML's float notation: 0.5, 16.0, 2.0e8."""
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
    """Read a machine file. Raises InputError with file, line and key."""
    text, data = read_toml(path, _FILE, parse_float=exact)
    with tables.placed(path, text):
        return _platform(data)


def platform_of_tables(data: Mapping[str, Any]) -> Platform:
    """Return the Platform of a machine file's tables, as tomllib parses them.

    Raises InputError with the key concerned.
    """
    import tomli_w  # needed only for tables, not for files

    try:
        # Via text, so that numbers are converted like those of a file.
        read = tomllib.loads(tomli_w.dumps(data), parse_float=exact)
    except (TypeError, ValueError) as error:
        raise InputError(f"these are not the tables of a machine file: {error}") from error
    try:
        return _platform(read)
    except tables.TableError as error:
        raise InputError(error.message, hint=error.hint) from error


def write_platform(path: str | Path, platform: Platform) -> None:
    """Write a machine file that read_platform reads back as an equal Platform."""
    write_text(path, platform_to_toml(platform))


def _platform(data: Mapping[str, Any]) -> Platform:
    """Build the Platform of a parsed file. Raises TableError with the place of the mistake."""
    tables.refuse_unknown(data, ("name", *_KINDS, _BEHIND), "", 0)
    name = text_or_empty(data.get("name", ""))
    if name is None:
        raise tables.TableError("name must be a text", "", 0, "name")
    if tables.flag(data.get(_BEHIND, False)) is None:
        raise tables.TableError(f"{_BEHIND} must be true or false", "", 0, _BEHIND)
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
    n_links = len(links)
    networks = tables.listed(data, "network", NETWORK)
    if networks:
        links += links_of_networks(networks, device_tables, [d.name for d in devices])
    try:
        platform = Platform(tuple(devices), tuple(levels), tuple(links), name)
    except InputError as error:
        fault = find_fault(devices, levels, links)
        if fault is None:
            raise
        if fault.kind == "link" and fault.number >= n_links:
            raise tables.TableError(fault.message, "network", 0, hint=fault.hint) from error
        index = table_of(fault.number) if fault.kind == "device" else fault.number
        raise tables.TableError(fault.message, fault.kind, index, hint=fault.hint) from error
    return _behind(platform) if data.get(_BEHIND) else platform


def _behind(platform: Platform) -> Platform:
    try:
        return behind_hosts(platform)
    except InputError as error:
        raise tables.TableError(error.message, "", 0, _BEHIND, hint=error.hint) from error


def _expanded(
    device_tables: Sequence[Mapping[str, Any]],
) -> tuple[list[Device], Callable[[int], int]]:
    """Return all devices, with counts expanded, and a function: device number -> table number."""
    total, starts = 0, []
    for index, table in enumerate(device_tables):
        starts.append(total)
        total += table.get("count", 1)
        if total > MAX_DEVICES:
            message = f"{total:,} devices; at most {MAX_DEVICES:,} are possible"
            raise tables.TableError(message, "device", index, "count")
    devices: list[Device] = []
    several = {table["name"]: table["count"] for table in device_tables if "count" in table}
    counts = several | {table["name"]: 0 for table in device_tables if "count" not in table}
    for index, table in enumerate(device_tables):
        names = names_of(table)
        homes = homes_of(table, index, names, counts)
        try:
            traits = _device_traits(table)
            devices.extend(
                Device(name, **home, **traits) for name, home in zip(names, homes, strict=True)
            )
        except InputError as error:
            raise tables.TableError(error.message, "device", index) from error
    return devices, lambda i: max(j for j, start in enumerate(starts) if start <= i)


def _device_traits(table: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("speed", "kind", "memory_units", "at", *LIMITS, *OWN)
    traits = {key: table[key] for key in kept if key in table}
    if "memory_GiB" in table:
        traits["memory"] = table["memory_GiB"] * GIB
    # One dictionary for all devices of the table, because it is never modified.
    able = {key: table[key] for key in ABILITIES if key in table}
    traits["capabilities"] = {**table.get("capabilities", {}), **able}
    if "host_alpha_us" in table or "host_GB_per_s" in table:
        traits["host_link"] = Link(table.get("host_alpha_us", 0.0), table.get("host_GB_per_s", 0.0))
    if "speed" not in traits:
        traits["speed"] = INSTRUCTIONS_PER_MIPS * able["mips"]
    return traits


def _link_of(table: Mapping[str, Any]) -> Link:
    return Link(table.get("alpha_us", 0.0), table.get("GB_per_s", 0.0))


_NEEDED = {"mesh": "shape", "torus": "shape", "fat-tree": "arity"}
SWITCH = "switch"  # name of switches, followed by numbers in a fat tree


def names_of(table: Mapping[str, Any]) -> list[str]:
    """Return the names of the devices of a [[device]] table."""
    if "count" not in table:
        return [table["name"]]
    return [f"{table['name']}{i}" for i in range(table["count"])]


def links_of_networks(
    networks: Sequence[Mapping[str, Any]],
    device_tables: Sequence[Mapping[str, Any]],
    names: Sequence[str],
) -> list[Connection]:
    """Return the links of all networks; a network without `devices` joins all `names`.

    Raises TableError with the place of the mistake.
    """
    of_table = {table["name"]: names_of(table) for table in device_tables if "count" in table}
    links: list[Connection] = []
    switches: set[str] = set()
    for index, table in enumerate(networks):
        joined = _joined(table, index, of_table, names)
        try:
            made = _links(table, index, joined)
        except InputError as error:
            raise tables.TableError(error.message, "network", index, hint=error.hint) from error
        own = {end for one in made for end in one.between}.difference(joined)
        clash = own & (switches | set(names))
        if clash:
            message = (
                f"{min(clash)!r} is the name of a switch of this network, but also of "
                "something else"
            )
            hint = "Give the network another name: its switches are named after it."
            raise tables.TableError(message, "network", index, "name", hint=hint)
        switches |= own
        links += [replace(one, shared=table.get("shared", False)) for one in made]
    return links


def _joined(
    table: Mapping[str, Any],
    index: int,
    of_table: Mapping[str, list[str]],
    names: Sequence[str],
) -> Sequence[str]:
    """Return the names of the devices that a network joins, in order."""
    found: list[str] = []
    for one in table.get("devices", ()):
        if one not in of_table and one not in names:
            message = f"a network lists {tables.shown(one)}, which is not a [[device]]"
            raise tables.TableError(message, "network", index, "devices")
        found += of_table.get(one, [one])
    return found or names


def _links(table: Mapping[str, Any], index: int, names: Sequence[str]) -> list[Connection]:
    kind = table["kind"]
    if kind not in KINDS:
        guess = nearest(kind, KINDS)
        question = f"; did you mean {guess}?" if guess else ""
        message = f"there is no kind of network {tables.shown(kind)}{question}"
        hint = f"Kinds of networks: {', '.join(KINDS)}."
        raise tables.TableError(message, "network", index, "kind", hint=hint)
    for key in ("shape", "arity"):
        if (key in table) != (_NEEDED.get(kind) == key):
            said = "needs the key" if _NEEDED.get(kind) == key else "must not have the key"
            raise tables.TableError(f"a {kind} {said} {key}", "network", index, key)
    link = Link(table.get("alpha_us", 0.0), table.get("GB_per_s", 0.0))
    switch = table.get("name", SWITCH)
    if kind == "star":
        return star_links(names, link, switch)
    if kind == "fat-tree":
        return fat_tree_links(names, table["arity"], link, switch)
    return mesh_links(names, table["shape"], link, wrap=kind == "torus")
