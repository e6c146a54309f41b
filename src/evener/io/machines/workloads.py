"""Kernel files: what one iteration of a user's kernel computes, stores and sends, as TOML.

name = "my stencil"          # the file's name if left out
bytes_per_vertex = 40
bytes_per_edge = 12          # at each end of an edge
flops_per_vertex = 2
flops_per_edge = 2
bytes_per_value = 8          # of each value sent
exchange = "faces"           # one value for each face between blocks, see Workload
fixed_seconds = 5e-6         # of an iteration, at any load
overlap = true               # interior vertices are computed during the exchange
"""

from __future__ import annotations

from pathlib import Path

from evener.errors import InputError, UsageError
from evener.files.opening import is_there, named
from evener.io.machines import toml_tables as tables
from evener.io.machines.toml_syntax import TomlFile, TomlLines, read_toml
from evener.plans.workload import NUMBERS, WORKLOADS, Workload
from evener.wording import meant

_FILE = TomlFile("kernel file", "no key", "See docs/prediction.md.", 1 << 20)
_KEYS = {
    "name": (tables.text_or_empty, "a text", False),
    **dict.fromkeys(NUMBERS, (tables.not_negative, "a number not below zero", False)),
    "overlap": (tables.flag, "true or false", False),
    "exchange": (tables.text_or_empty, "vertices or faces", False),
}


def find_workload(name: str) -> Workload:
    """Return a built-in workload, or the workload in a file.

    Raises UsageError if `name` is neither, and InputError if the file contains no workload.
    """
    if name in WORKLOADS:
        return WORKLOADS[name]
    if is_there(name):
        return read_workload_file(name)
    raise UsageError(
        f"there is neither a kernel named {name!r} nor such a file{meant(name, WORKLOADS)}",
        hint=f"Kernels: {', '.join(WORKLOADS)}, or a file; see docs/prediction.md.",
    )


def read_workload_file(path: str | Path) -> Workload:
    """Read a kernel file. Raises InputError with file, line and key."""
    text, data = read_toml(path, _FILE)
    try:
        table = tables.checked(data, _KEYS, "kernel", 0)
    except tables.TableError as error:
        line = TomlLines(text).top(error.key) if error.key else None
        raise InputError(error.message, file=named(path), line=line, hint=error.hint) from error
    name = table.pop("name", "") or named(path).stem
    try:
        return Workload(name, **table)
    except InputError as error:
        error.file = str(named(path))
        raise
