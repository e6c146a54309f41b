"""Devices of this computer on which a plan is run: sets of cores, by words such as cpu:0-1."""

from __future__ import annotations

import os
import re

from evener.errors import UsageError

_WORD = re.compile(r"cpu:(\d+(?:-\d+)?(?:\+\d+(?:-\d+)?)*)")


def cores_of(words: str) -> list[list[int]]:
    """Return the cores of each device in words such as "cpu:0-1,cpu:2+4": one thread a core.

    Raises UsageError for other words, for cores that this process may not use, and for a core of
    two devices.
    """
    devices = [_cores(word.strip()) for word in words.split(",")]
    allowed = os.sched_getaffinity(0)
    seen: set[int] = set()
    for core in (core for device in devices for core in device):
        if core not in allowed:
            raise UsageError(
                f"there is no core {core} for this process",
                hint=f"It may use: {', '.join(map(str, sorted(allowed)))}.",
            )
        if core in seen:
            raise UsageError(f"core {core} belongs to two devices: each thread needs its own")
        seen.add(core)
    return devices


def _cores(word: str) -> list[int]:
    found = _WORD.fullmatch(word)
    if found is None:
        raise UsageError(
            f"there is no device {word!r}",
            hint="Devices are cpu:0 (a core), cpu:0-1 or cpu:0+2 (cores of one device).",
        )
    cores: list[int] = []
    for run in found[1].split("+"):
        first, _, last = run.partition("-")
        cores.extend(range(int(first), int(last or first) + 1))
    if not cores or len(set(cores)) < len(cores):
        raise UsageError(f"device {word!r} has no core, or one twice")
    return cores
