"""Surface files: the time of rectangles of every height and width, as editable TOML.

    [[surface]]
    name = "gpu"
    heights = [16, 64, 256]
    widths = [32, 128]
    seconds = [[0.0021, 0.0054], [0.0060, 0.019], [0.022, 0.071]]    # one row for each height
    capacity = 40000                                   # units of area; may be left out

A file may state speeds, in units of area per second, instead of seconds. Evener writes speeds, with
all digits, so the same surface is read back exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.files.writing import write_text
from evener.io.machines import toml_tables as tables
from evener.io.machines.speeds import capacity_of, numbers
from evener.io.machines.toml_syntax import TomlFile, read_toml, toml_number, toml_text
from evener.platforms.models.fitting import SpeedSurface

LEAST, MOST = 1e-75, 1e75  # of every number: products of four numbers do not overflow
_FILE = TomlFile(
    "speeds file", "no [[device]] or [[surface]] table", "See docs/sizing.md.", 1 << 28
)


def read_surfaces(path: str | Path) -> dict[str, SpeedSurface]:
    """Return the surfaces of a file by device name, in file order.

    Raises InputError with file, line and key.
    """
    text, data = read_toml(path, _FILE)
    with tables.placed(path, text):
        return _surfaces(data)


def write_surfaces(
    path: str | Path,
    surfaces: Mapping[str, SpeedSurface],
    comments: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write a surface file, whole or not at all. Raises InputError if there are no surfaces.

    comments: by device, the comment lines to write above its surface.
    """
    if not surfaces:
        raise InputError("no surfaces: a surface file needs at least one")
    parts = [
        "\n".join([*_said((comments or {}).get(name, ())), *_lines(name, surface)])
        for name, surface in surfaces.items()
    ]
    write_text(path, "\n\n".join(parts) + "\n")


def holds_surfaces(path: str | Path) -> bool:
    """Return whether a TOML file has [[surface]] tables and thus belongs to `read_surfaces`."""
    return "surface" in read_toml(path, _FILE)[1]


def _surfaces(data: Mapping[str, Any]) -> dict[str, SpeedSurface]:
    tables.refuse_unknown(data, ("surface",), "", 0)
    found: dict[str, SpeedSurface] = {}
    listed = tables.listed(data, "surface", _SURFACE)
    if not listed:
        raise tables.TableError("no [[surface]] table", "", 0)
    for index, table in enumerate(listed):
        if table["name"] in found:
            message = f"two surfaces belong to {table['name']!r}"
            raise tables.TableError(message, "surface", index)
        found[table["name"]] = _surface(table, index)
    return found


def _surface(table: Mapping[str, Any], index: int) -> SpeedSurface:
    heights, widths = (np.array(table[key], np.float64) for key in ("heights", "widths"))
    given = [key for key in ("seconds", "speeds") if key in table]
    if len(given) != 1:
        message = f"surface of {table['name']!r} needs seconds or speeds"
        raise tables.TableError(message, "surface", index)
    rows = table[given[0]]
    if len(rows) != heights.size or any(len(row) != widths.size for row in rows):
        message = (
            f"{given[0]} of {table['name']!r} must be {heights.size} rows, one for each height, "
            f"of {widths.size} numbers, one for each width"
        )
        raise tables.TableError(message, "surface", index, given[0])
    values = np.array(rows, np.float64)
    capacity = table.get("capacity", math.inf)
    room = np.array([1.0 if capacity == math.inf else capacity], np.float64)
    checked = {given[0]: values, "heights": heights, "widths": widths, "capacity": room}
    for key, of in checked.items():
        if not ((of >= LEAST) & (of <= MOST)).all():
            message = (
                f"{key} of {table['name']!r} must be finite and above zero, from {LEAST:g} to "
                f"{MOST:g}"
            )
            raise tables.TableError(message, "surface", index, key)
    speeds = values if given[0] == "speeds" else np.outer(heights, widths) / values
    try:
        return SpeedSurface(heights, widths, speeds, capacity)
    except InputError as error:
        message = f"surface of {table['name']!r}: {error.message}"
        raise tables.TableError(message, "surface", index) from error


def _said(comments: Sequence[str]) -> list[str]:
    """Return comment lines for TOML, without control characters, which it forbids."""
    return ["# " + "".join(c if c.isprintable() else " " for c in text) for text in comments]


def _lines(name: str, surface: SpeedSurface) -> list[str]:
    lines = ["[[surface]]", f"name = {toml_text(name)}"]
    lines += [f"{key} = {_row(getattr(surface, key))}" for key in ("heights", "widths")]
    if surface.capacity < math.inf:
        lines.append(f"capacity = {toml_number(surface.capacity)}")
    return [*lines, "speeds = [", *(f"    {_row(row)}," for row in surface.speeds), "]"]


def _row(values: FloatArray) -> str:
    return f"[{', '.join(map(toml_number, values.tolist()))}]"


def _rows(value: Any) -> list[list[float]] | None:
    fine = isinstance(value, list) and all(numbers(row) is not None for row in value)
    return value if fine else None


_MATRIX = (_rows, "a list of rows of numbers", False)
_SURFACE: tables.Spec = {
    "name": (tables.text, "a text that is not empty", True),
    "heights": (numbers, "a list of numbers", True),
    "widths": (numbers, "a list of numbers", True),
    "seconds": _MATRIX,
    "speeds": _MATRIX,
    "capacity": (capacity_of, "a number above zero", False),
}
