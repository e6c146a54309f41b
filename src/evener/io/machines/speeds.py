"""Speed files: the samples of every device as TOML that a person can read and edit.

    [[device]]
    name = "gpu"
    samples = [[1000, 0.004], [2000, 0.0071]]    # [load in units, seconds]
    half_width = [0.0001, 0.0]                   # seconds, of each sample; these three
    repetitions = [5, 3]                         # and all below may be left out
    status = ["ok", "slower"]                    # slower: stopped, because it takes longer
    capacity = 4000
    fixed_seconds = 0.0002                       # cost of taking part, at any load
    model = "akima"                              # or piecewise, shaped, time, constant
    [device.notes]
    kernel = "spmv"

Numbers are written with all digits, so the same floats are read back.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evener.errors import InputError
from evener.files.writing import write_text
from evener.io.machines import toml_tables as tables
from evener.io.machines.toml_syntax import TomlFile, read_toml, toml_key, toml_number, toml_text
from evener.platforms.models.samples import KINDS, STATUSES, DeviceSpeeds, Sample

_FILE = TomlFile("speeds file", "no [[device]] table", "See docs/sizing.md.", 1 << 28)
_LARGEST_FLOAT = int(sys.float_info.max)
_OPTIONAL = ("capacity", "fixed_seconds", "model", "notes")
_PER_SAMPLE = ("half_width", "repetitions", "status")


def read_speeds(path: str | Path) -> tuple[DeviceSpeeds, ...]:
    """Read a speeds file. Raises InputError with file, line and key."""
    text, data = read_toml(path, _FILE)
    if "surface" in data and "device" not in data:
        raise InputError(
            "a file of surfaces, but curves of speed by load are needed",
            file=path,
            hint="`evener tile` and `evener models` read surfaces; `evener measure` without "
            "--second writes curves.",
        )
    with tables.placed(path, text):
        return _devices(data)


def write_speeds(path: str | Path, devices: Iterable[DeviceSpeeds]) -> None:
    """Write a speeds file, whole or not at all; read_speeds reads back equal devices."""
    write_text(path, speeds_to_toml(devices))


def speeds_to_toml(devices: Iterable[DeviceSpeeds]) -> str:
    """Return the text of a speeds file. Raises InputError for no devices, or equal names."""
    listed = tuple(devices)
    if not listed:
        raise InputError("no devices: a speeds file needs at least one")
    try:
        _refuse_twins(listed)
    except tables.TableError as error:
        raise InputError(error.message) from error
    return "\n\n".join("\n".join(_lines(device)) for device in listed) + "\n"


def speeds_to_dict(device: DeviceSpeeds) -> dict[str, Any]:
    """Return a dictionary for json.dumps, with the keys of the file's table."""
    samples = device.samples
    table: dict[str, Any] = {"name": device.name, "model": device.model}
    if device.capacity < math.inf:
        table["capacity"] = device.capacity
    if device.fixed_seconds:
        table["fixed_seconds"] = device.fixed_seconds
    table["samples"] = [[s.load, s.seconds] for s in samples]
    table |= {key: [getattr(s, key) for s in samples] for key in _PER_SAMPLE}
    return table | ({"notes": dict(device.notes)} if device.notes else {})


def speeds_from_dict(table: Mapping[str, Any], index: int = 0) -> DeviceSpeeds:
    """Convert the result of speeds_to_dict back. Raises InputError for anything else."""
    try:
        return _device(tables.checked(table, _DEVICE, "curve", index), index)
    except tables.TableError as error:
        raise InputError(f"speeds: {error.message}", hint=error.hint) from error


def _devices(data: Mapping[str, Any]) -> tuple[DeviceSpeeds, ...]:
    tables.refuse_unknown(data, ("device",), "", 0)
    listed = tables.listed(data, "device", _DEVICE)
    if not listed:
        raise tables.TableError("no [[device]] table", "", 0)
    devices = tuple(_device(table, index) for index, table in enumerate(listed))
    _refuse_twins(devices)
    return devices


def _device(table: Mapping[str, Any], index: int) -> DeviceSpeeds:
    pairs = table["samples"]
    columns: dict[str, Sequence[Any]] = {}
    for key in _PER_SAMPLE:
        values = table.get(key)
        if values is None:
            continue
        if len(values) != len(pairs):
            message = (
                f"{key} of device {table['name']!r} has {len(values)} entries for "
                f"{len(pairs)} samples"
            )
            raise tables.TableError(message, "device", index, key)
        columns[key] = values
    samples = []
    for i, (load, seconds) in enumerate(pairs):
        extra = {key: values[i] for key, values in columns.items()}
        try:
            samples.append(Sample(load, seconds, **extra))
        except InputError as error:
            message = f"sample {i} of device {table['name']!r}: {error.message}"
            raise tables.TableError(message, "device", index, "samples") from error
    chosen = {key: table[key] for key in _OPTIONAL if key in table}
    try:
        return DeviceSpeeds(table["name"], tuple(samples), **chosen)
    except InputError as error:
        raise tables.TableError(error.message, "device", index, "name") from error


def _refuse_twins(devices: Sequence[DeviceSpeeds]) -> None:
    seen: set[str] = set()
    for index, device in enumerate(devices):
        if device.name in seen:
            raise tables.TableError(f"two devices are named {device.name!r}", "device", index)
        seen.add(device.name)


def _lines(device: DeviceSpeeds) -> list[str]:
    """Return the lines of one table; default values are left out."""
    samples = device.samples
    lines = ["[[device]]", f"name = {toml_text(device.name)}", f'model = "{device.model}"']
    if device.capacity < math.inf:
        lines.append(f"capacity = {toml_number(device.capacity)}")
    if device.fixed_seconds:
        lines.append(f"fixed_seconds = {toml_number(device.fixed_seconds)}")
    pairs = [f"    [{toml_number(s.load)}, {toml_number(s.seconds)}]," for s in samples]
    lines += ["samples = [", *pairs, "]"] if pairs else ["samples = []"]
    if any(s.half_width for s in samples):
        lines.append(f"half_width = [{', '.join(toml_number(s.half_width) for s in samples)}]")
    if any(s.repetitions != 1 for s in samples):
        lines.append(f"repetitions = [{', '.join(str(s.repetitions) for s in samples)}]")
    if any(s.status != "ok" for s in samples):
        lines.append(f"status = [{', '.join(toml_text(s.status) for s in samples)}]")
    if device.notes:
        lines.append("[device.notes]")
        lines += [f"{toml_key(key)} = {_value(value)}" for key, value in device.notes.items()]
    return lines


def _value(value: Any) -> str:
    if isinstance(value, str):
        return toml_text(value)
    return repr(value).lower() if isinstance(value, bool) else repr(value)


def _samples(value: Any) -> list[list[Any]] | None:
    fine = isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(map(_is_number, pair)) for pair in value
    )
    return value if fine else None


def numbers(value: Any) -> list[Any] | None:
    """Accept a list of numbers."""
    return value if isinstance(value, list) and all(map(_is_number, value)) else None


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, float) or abs(value) <= _LARGEST_FLOAT


def _counts(value: Any) -> list[int] | None:
    fine = isinstance(value, list) and all(
        isinstance(n, int) and not isinstance(n, bool) and 1 <= n < 2**63 for n in value
    )
    return value if fine else None


def _statuses(value: Any) -> list[str] | None:
    return value if isinstance(value, list) and all(s in STATUSES for s in value) else None


def capacity_of(value: Any) -> float | None:
    """Accept a number above zero."""
    # An explicit infinite capacity is the same as no capacity.
    return value if _is_number(value) and value > 0 else None


def _seconds_of(value: Any) -> float | None:
    return value if _is_number(value) and 0 <= value < math.inf else None


def _kind(value: Any) -> str | None:
    return value if isinstance(value, str) and value in KINDS else None


def _notes(value: Any) -> dict[str, Any] | None:
    fine = isinstance(value, dict) and all(isinstance(v, str | int | float) for v in value.values())
    return value if fine else None


_DEVICE: tables.Spec = {
    "name": (tables.text, "a text that is not empty", True),
    "samples": (_samples, "a list of pairs [load, seconds]", True),
    "capacity": (capacity_of, "a number above zero", False),
    "fixed_seconds": (_seconds_of, "a number of seconds, zero or above", False),
    "half_width": (numbers, "a list of numbers", False),
    "repetitions": (_counts, "a list of whole numbers above zero", False),
    "status": (_statuses, f"a list of {' or '.join(STATUSES)}", False),
    "model": (_kind, f"one of {', '.join(KINDS)}", False),
    "notes": (_notes, "a table of texts and numbers", False),
}
