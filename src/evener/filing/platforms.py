"""Machine files: a Platform as TOML that a person writes by hand, read and written without loss.

Times and bandwidths stand in the file as alpha_us and GB_per_s, inside as alpha [s] and
beta [s/B]. Both are converted in decimal arithmetic, so every float comes back to the bit.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tomli_w

from evener.errors import InputError
from evener.filing import platform_tables as kinds
from evener.filing import toml_tables as tables
from evener.filing.platform_writing import platform_to_toml
from evener.filing.toml_reading import TomlFile, read_toml
from evener.filing.toml_values import exact, text_or_empty
from evener.platform_faults import find_fault
from evener.platforms import MAX_DEVICES, Connection, Device, Level, Link, Platform
from evener.writing import write_text

# Two million devices, each with a table of its own, take less.
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
        # Through text, so that numbers become what the same file's would.
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
    device_tables = tables.listed(data, "device", kinds.DEVICE)
    if not device_tables:
        raise tables.TableError("no [[device]] table: a machine needs at least one", "", 0)
    devices, table_of = _expanded(device_tables)
    levels = [
        Level(t["name"], _link_of(t), t.get("shared", False))
        for t in tables.listed(data, "level", kinds.LEVEL)
    ]
    links = [
        Connection(t["between"], _link_of(t), t.get("shared", False))
        for t in tables.listed(data, "link", kinds.LINK)
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
    kept = ("speed", "kind", "memory_units", "at", *kinds.LIMITS, *kinds.OWN)
    traits = {key: table[key] for key in kept if key in table}
    if "memory_GiB" in table:
        traits["memory"] = table["memory_GiB"] * kinds.GIB
    # One dictionary for all devices of the table: nobody writes to it.
    return traits | {"capabilities": table.get("capabilities", {})}


def _link_of(table: Mapping[str, Any]) -> Link:
    return Link(table.get("alpha_us", 0.0), table.get("GB_per_s", 0.0))
