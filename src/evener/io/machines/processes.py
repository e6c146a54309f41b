"""Process files: where each process of a parallel program runs, as editable TOML.

    [[process]]
    host = "node7"
    rank = 0                    # on this host; by file order if left out
    kind = "cuda"               # of its device: cpu (default) or cuda
    index = 1                   # of a CUDA device
    bind = "cpu3"               # cores, as cpu0-3 or cpu0,cpu4, or a socket, as socket1
    memory_GiB = 4.0            # limit for its computation
    [process.options]           # of its computation
    block = 128

[Cla14]_, A.1, has such a file; `evener machine processes` makes one to be edited.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

from evener.errors import InputError
from evener.files.writing import write_text
from evener.io.machines import toml_tables as tables
from evener.io.machines.platform_keys import GIB
from evener.io.machines.toml_syntax import TomlFile, read_toml, toml_key, toml_number, toml_text
from evener.platforms.processes import KINDS, Option, Process, refuse_twins

_FILE = TomlFile(
    "process file", "no [[process]] table", "`evener machine processes` makes one.", 1 << 26
)
_WHOLE = "a whole number not below zero"


def read_processes(path: str | Path) -> tuple[Process, ...]:
    """Read a process file, in file order. Raises InputError with file, line and key."""
    text, data = read_toml(path, _FILE)
    with tables.placed(path, text):
        tables.refuse_unknown(data, ("process",), "", 0)
        return _processes(data)


def write_processes(path: str | Path, processes: Iterable[Process]) -> None:
    """Write a process file, whole or not at all; read_processes reads back equal processes."""
    write_text(path, processes_to_toml(processes))


def processes_to_toml(processes: Iterable[Process]) -> str:
    """Return the text of a process file. Raises InputError if there are none, or duplicates."""
    given = tuple(processes)
    if not given:
        raise InputError("no processes: a process file needs at least one")
    refuse_twins(given)
    return "\n\n".join("\n".join(_lines(process)) for process in given) + "\n"


def process_to_dict(process: Process) -> dict[str, Any]:
    """Return a dictionary for json.dumps, with the keys of the file's table."""
    table: dict[str, Any] = {"host": process.host, "rank": process.rank, "kind": process.kind}
    if process.kind == "cuda":
        table["index"] = process.index
    if process.bind:
        table["bind"] = process.bind
    if process.memory is not None:
        table["memory_GiB"] = process.memory / GIB
    return table | ({"options": dict(process.options)} if process.options else {})


def _processes(data: dict[str, Any]) -> tuple[Process, ...]:
    found: list[Process] = []
    for i, table in enumerate(tables.listed(data, "process", _KEYS)):
        rank = sum(process.host == table["host"] for process in found)
        gib = table.pop("memory_GiB", None)
        try:
            found.append(
                Process(**{"rank": rank, **table}, memory=None if gib is None else gib * GIB)
            )
            refuse_twins(found)
        except InputError as error:
            raise tables.TableError(error.message, "process", i) from error
    if not found:
        raise tables.TableError("no [[process]] table", "", 0)
    return tuple(found)


def _lines(process: Process) -> list[str]:
    table = process_to_dict(process)
    options = table.pop("options", {})
    lines = ["[[process]]", *(f"{key} = {_value(value)}" for key, value in table.items())]
    if options:
        lines.append("[process.options]")
        lines += [f"{toml_key(key)} = {_value(value)}" for key, value in options.items()]
    return lines


def _value(value: Option) -> str:
    if isinstance(value, int):
        return str(value).lower()
    return toml_text(value) if isinstance(value, str) else toml_number(value)


def _options(value: Any) -> dict[str, Option] | None:
    """Accept a table of texts, finite numbers, true and false."""
    if not isinstance(value, dict):
        return None
    found: dict[str, Option] = {}
    for key, entry in value.items():
        number = float(entry) if isinstance(entry, Decimal) else entry
        if not isinstance(number, str | int | float) or not _is_finite(number):
            return None
        found[key] = number
    return found


def _is_finite(value: Option) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


_KEYS: tables.Spec = {
    "host": (tables.text, "the name of a computer", True),
    "rank": (tables.index, _WHOLE, False),
    "kind": (tables.text, " or ".join(KINDS), False),
    "index": (tables.index, _WHOLE, False),
    "bind": (tables.text, "cores, as cpu0-3, or a socket, as socket1", False),
    "memory_GiB": (tables.memory_gib, "a number above zero", False),
    "options": (_options, "a table of texts, finite numbers, true and false", False),
}
