"""Which devices are measured: cores of this computer and CUDA devices, by name."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from evener.errors import UsageError
from evener.measuring.discover import CGROUP_FOLDER, CPU_FOLDER, Core, usable_memory, usable_quota

SPARE = 0.9  # of the memory; the rest is everybody else's


@dataclass(frozen=True)
class Measured:
    """A device to be measured: its name, kind and cores; for "cuda" also its index.

    The cores of a CUDA device are those that drive it: it is measured with them.
    """

    name: str
    kind: str = "cpu"
    cpus: tuple[int, ...] = ()
    index: int = 0


def cores() -> list[Core]:
    """Return the cores that this process may use, in the order of discover_platform's devices."""
    if not hasattr(os, "sched_getaffinity"):
        return [Core(cpu, 0) for cpu in range(os.cpu_count() or 1)]
    chosen: dict[tuple[int, int], int] = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        folder = CPU_FOLDER / f"cpu{cpu}" / "topology"
        try:
            package, core = (
                int((folder / key).read_text()) for key in ("physical_package_id", "core_id")
            )
        except (OSError, ValueError):  # not Linux's, or not a number
            package, core = 0, cpu
        chosen.setdefault((max(package, 0), core if core >= 0 else cpu), cpu)
    found = [Core(cpu, package) for (package, _), cpu in sorted(chosen.items())]
    return found[: usable_quota(CGROUP_FOLDER, len(found))]


def devices_of(text: str | None, cpus: Sequence[int] | None = None) -> list[Measured]:
    """Return the devices in a list such as "cpu0,cpu2-3,cuda0"; None: every core, one each.

    cpu2-3 is one device of two cores. cuda0 is driven by the first core that nobody else has, if
    there is one; cuda0@cpu5 says which. Raises UsageError naming the wrong entry.
    """
    usable = [core.cpu for core in cores()] if cpus is None else list(cpus)
    if text is None:
        return [Measured(f"cpu{cpu}", cpus=(cpu,)) for cpu in usable]
    devices = [_device(word.strip()) for word in text.split(",")]
    taken: set[int] = set()
    for device in devices:
        if shared := taken & set(device.cpus):
            raise UsageError(f"--device: core {min(shared)} is in two devices")
        taken |= set(device.cpus)
    if len({device.name for device in devices}) < len(devices):
        raise UsageError("--device: a device is named twice")
    _refuse_foreign(taken)
    free = [cpu for cpu in usable if cpu not in taken]
    return [
        Measured(d.name, d.kind, (free.pop(0),), d.index)
        if d.kind == "cuda" and not d.cpus and free
        else d
        for d in devices
    ]


def memory_share(n_devices: int) -> float:
    """Return what each of so many devices of this computer may take of its memory now [B]."""
    import psutil

    free = min(usable_memory(CGROUP_FOLDER), float(psutil.virtual_memory().available))
    return SPARE * free / n_devices


def _device(word: str) -> Measured:
    if match := re.fullmatch(r"cpu(\d{1,6})(?:-(\d{1,6}))?", word):
        first, last = int(match[1]), int(match[2] or match[1])
        if last >= first:
            return Measured(word, cpus=tuple(range(first, last + 1)))
    if match := re.fullmatch(r"(cuda(\d{1,3}))(?:@cpu(\d{1,6}))?", word):
        cpus = (int(match[3]),) if match[3] else ()
        return Measured(match[1], "cuda", cpus, int(match[2]))
    raise UsageError(
        f"--device: {word!r} is no device", hint="Devices are named as cpu0, cpu0-3, cuda0."
    )


def _refuse_foreign(cpus: set[int]) -> None:
    if hasattr(os, "sched_getaffinity"):
        foreign = cpus - os.sched_getaffinity(0)
        if foreign:
            may = ",".join(map(str, sorted(os.sched_getaffinity(0))))
            raise UsageError(
                f"--device: this process may not use core {min(foreign)}",
                hint=f"It may use {may}.",
            )
