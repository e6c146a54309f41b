"""Reads a hostfile of Open MPI, MPICH or Slurm: the hosts, and their slots if stated."""

from __future__ import annotations

import re
from pathlib import Path

from evener.errors import InputError
from evener.files.opening import named, read_bytes

MOST = 1 << 24  # bytes: enough for more hosts than any cluster has
_LINE = re.compile(
    r"(?P<host>[A-Za-z0-9][A-Za-z0-9._-]*)(:(?P<count>\d{1,9}))?(?P<words>(\s+\w+\s*=\s*[^\s=]+)*)",
    re.ASCII,
)
_SLOTS = re.compile(r"\bslots\s*=\s*(\d{1,9})(?!\S)", re.ASCII)


def read_hostfile(path: str | Path) -> dict[str, int | None]:
    """Return the slots of each host in a hostfile, in file order; None if not stated.

    A line is `node1`, `node1:4` or `node1 slots=4`, followed by words of the form key=value; `#`
    begins a comment. If a host has several lines, their slots are added; a line without a number
    counts as one slot. Raises InputError with file and line.
    """
    try:
        text = read_bytes(path, MOST).decode()
    except UnicodeDecodeError as error:
        raise InputError("not a text in UTF-8", file=named(path)) from error
    stated: dict[str, list[int | None]] = {}
    for number, whole in enumerate(text.splitlines(), start=1):
        line = whole.split("#")[0].strip()
        if not line:
            continue
        host, slots = _host(line, path, number)
        stated.setdefault(host, []).append(slots)
    if not stated:
        raise InputError(
            "contains no host", file=named(path), hint="Write one host per line, such as node1:4."
        )
    return {host: _total(slots) for host, slots in stated.items()}


def _host(line: str, path: str | Path, number: int) -> tuple[str, int | None]:
    found = _LINE.fullmatch(line)
    if found is None:
        raise InputError(
            f"not a host: {line[:60]!r}",
            file=named(path),
            line=number,
            hint="Write each line as node1, node1:4 or node1 slots=4.",
        )
    slots = found["count"] or next(iter(_SLOTS.findall(found["words"])), None)
    return found["host"], None if slots is None else int(slots)


def _total(slots: list[int | None]) -> int | None:
    return None if slots == [None] else sum(1 if one is None else one for one in slots)
