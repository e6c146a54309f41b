"""The devices of this computer: cores by socket, memory, CUDA devices; and lists of them by name.

What this process may use is counted: its CPU affinity, the limits of its control group,
CUDA_VISIBLE_DEVICES. this_computer.py says more of them, machine.py measures them.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from evener.errors import UsageError

NVIDIA_SMI_SECONDS = 10.0  # it may take before it is given up
MIB = 2.0**20  # bytes
SPARE = 0.9  # of the free memory may be used for measuring; the rest is left to others


class NamedGpu(Protocol):
    """A GPU by its index in nvidia-smi's order, and its UUID."""

    @property
    def index(self) -> int:
        """In the order of the PCI bus."""

    @property
    def uuid(self) -> str:
        """With "GPU-" or "MIG-" before it."""


G = TypeVar("G", bound=NamedGpu)

CPU_FOLDER = Path("/sys/devices/system/cpu")
CGROUP_FOLDER = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Gpu:
    """A CUDA device: index and UUID as the driver has them, memory [B]."""

    index: int
    uuid: str
    memory: float


class Core(NamedTuple):
    """A physical core by one of its CPUs, and the socket it is on."""

    cpu: int
    socket: int


def usable_cores(folder: Path, allowed: set[int] | None) -> list[Core]:
    """Return each physical core that has an allowed CPU, by socket; its first such CPU.

    From Linux's sysfs at `folder`; elsewhere all cores that psutil counts are on socket 0.
    """
    cores: dict[tuple[int, int], int] = {}
    for topology in folder.glob("cpu[0-9]*/topology"):
        cpu = int(topology.parent.name.removeprefix("cpu"))
        package, core = (_number(topology / key) for key in ("physical_package_id", "core_id"))
        if package is not None and core is not None and (allowed is None or cpu in allowed):
            # Where the firmware does not say (-1), CPUs count as cores of one socket.
            place = (max(package, 0), core if core >= 0 else cpu)
            cores[place] = min(cpu, cores.get(place, cpu))
    if cores:
        return [Core(cpu, package) for (package, _), cpu in sorted(cores.items())]
    import psutil

    count = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    return [Core(cpu, 0) for cpu in (sorted(allowed) if allowed else range(count))[:count]]


def usable_quota(cgroup: Path, cores: int) -> int:
    """Return how many cores the control group's quota of CPU time is enough for, at least one."""
    words = _text(cgroup / "cpu.max").split()
    if len(words) == 2 and words[0].isdigit() and words[1].isdigit() and int(words[1]) > 0:
        return min(cores, max(1, math.ceil(int(words[0]) / int(words[1]))))
    return cores


def usable_memory(cgroup: Path) -> float:
    """Return the computer's memory, or the limit of the control group if that is less [B]."""
    import psutil

    total = float(psutil.virtual_memory().total)
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        limit = _number(cgroup / name)
        if limit is not None and limit > 0:
            total = min(total, float(limit))
    return total


def cuda_devices() -> list[Gpu]:
    """Return what nvidia-smi lists; nothing where there is no such program, or it fails."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    query = ["--query-gpu=index,uuid,memory.total", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(
            [program, *query],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=NVIDIA_SMI_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):  # a driver without devices ends with an error
        return []
    return parsed_gpus(done.stdout)


def parsed_gpus(listing: str) -> list[Gpu]:
    """Return the GPUs in nvidia-smi's listing "index, uuid, MiB", without lines of no memory."""
    gpus = []
    for line in listing.splitlines():
        words = [word.strip() for word in line.split(",")]
        if len(words) == 3 and words[0].isdigit() and words[2].isdigit() and int(words[2]) > 0:
            gpus.append(Gpu(int(words[0]), words[1], int(words[2]) * MIB))
    return gpus


def visible(gpus: Sequence[G], chosen: str | None) -> list[G]:
    """Return the GPUs that CUDA_VISIBLE_DEVICES leaves, in its order.

    As CUDA does: the list ends at the first entry that names no device. The index of a GPU that is
    cut into instances means its first one.
    """
    if chosen is None:
        return list(gpus)
    result: list[G] = []
    for word in (word.strip() for word in chosen.split(",")):
        named = [gpu for gpu in gpus if word == str(gpu.index)][:1]
        named = named or [gpu for gpu in gpus if word.startswith(("GPU-", "MIG-")) and
                          gpu.uuid.startswith(word)]  # fmt: skip
        if len(named) != 1 or named[0] in result:
            break
        result += named
    return result


def allowed_cpus() -> set[int] | None:
    """Return the processors that this process may use; None where the system does not say."""
    return set(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # not Linux, or not mounted
        return ""


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.lstrip("-").isdigit() else None


@dataclass(frozen=True)
class MeasuredDevice:
    """A device to be measured: its name, kind and cores; for "cuda" also its index.

    The cores of a CUDA device are those that drive it: it is measured with them. memory [B]: what
    its kernel may take; None: as the others. options: of its kernel, beside those of all.
    """

    name: str
    kind: str = "cpu"
    cpus: tuple[int, ...] = ()
    index: int = 0
    memory: float | None = None
    options: tuple[tuple[str, Any], ...] = ()


def cores() -> list[Core]:
    """Return the cores that this process may use, by socket."""
    found = usable_cores(CPU_FOLDER, allowed_cpus())
    return found[: usable_quota(CGROUP_FOLDER, len(found))]


def devices_of(text: str | None, cpus: Sequence[int] | None = None) -> list[MeasuredDevice]:
    """Return the devices in a list such as "cpu0,cpu2-3,cuda0"; None: every core, one each.

    cpu2-3 is one device of two cores. cuda0 is driven by the first core that no other device
    has, if there is one; cuda0@cpu5 chooses another. Raises UsageError naming the wrong entry.
    """
    usable = [core.cpu for core in cores()] if cpus is None else list(cpus)
    if text is None:
        return [MeasuredDevice(f"cpu{cpu}", cpus=(cpu,)) for cpu in usable]
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
        MeasuredDevice(d.name, d.kind, (free.pop(0),), d.index)
        if d.kind == "cuda" and not d.cpus and free
        else d
        for d in devices
    ]


def memory_share(n_devices: int) -> float:
    """Return the memory that each of n devices of this computer may take now [B]."""
    import psutil

    free = min(usable_memory(CGROUP_FOLDER), float(psutil.virtual_memory().available))
    return SPARE * free / n_devices


def _device(word: str) -> MeasuredDevice:
    if match := re.fullmatch(r"cpu(\d{1,6})(?:-(\d{1,6}))?", word):
        first, last = int(match[1]), int(match[2] or match[1])
        if last >= first:
            return MeasuredDevice(word, cpus=tuple(range(first, last + 1)))
    if match := re.fullmatch(r"(cuda(\d{1,3}))(?:@cpu(\d{1,6}))?", word):
        cpus = (int(match[3]),) if match[3] else ()
        return MeasuredDevice(match[1], "cuda", cpus, int(match[2]))
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
