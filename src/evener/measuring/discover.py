"""What this computer is: its cores by socket, its memory, its CUDA devices.

Speeds and links are not measured here: every core has speed 1, every GPU GPU_SPEED, and
communication is free. What is found is what this process may use: its CPU affinity, the limits
of its control group, CUDA_VISIBLE_DEVICES.
"""

from __future__ import annotations

import math
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evener.platforms import Device, Level, Platform

CORE_SPEED = 1.0
GPU_SPEED = 16.0  # the fastest of Table III of [LDHT]_, itself from CPU-GPU comparisons
NVIDIA_SMI_SECONDS = 10.0
MIB = 2.0**20

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


def discover_platform() -> Platform:
    """Return this computer: levels machine and socket, cores cpu0, ..., then GPUs cuda0, ...

    Devices are named as those that `evener measure` measures: a core by its first CPU.

    The memory is shared out evenly over the cores. Never fails for what is not there.
    """
    cores = usable_cores(CPU_FOLDER, _allowed_cpus())
    cores = cores[: usable_quota(CGROUP_FOLDER, len(cores))]
    share = usable_memory(CGROUP_FOLDER) / len(cores)
    devices = [
        Device(f"cpu{core.cpu}", CORE_SPEED, memory=share, at=f"socket{core.socket}")
        for core in cores
    ]
    devices += [
        Device(f"cuda{i}", GPU_SPEED, kind="cuda", memory=gpu.memory)
        for i, gpu in enumerate(visible(cuda_devices(), os.environ.get("CUDA_VISIBLE_DEVICES")))
    ]
    return Platform(tuple(devices), (Level("machine"), Level("socket")), name="this computer")


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
    """Return how many cores the control group's CPU time suffices for, one at least."""
    words = _text(cgroup / "cpu.max").split()
    if len(words) == 2 and words[0].isdigit() and words[1].isdigit() and int(words[1]) > 0:
        return min(cores, max(1, math.ceil(int(words[0]) / int(words[1]))))
    return cores


def usable_memory(cgroup: Path) -> float:
    """Return the memory of the computer, or the control group's limit if that is less [B]."""
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
    """Return the GPUs of nvidia-smi's listing "index, uuid, MiB"; lines without memory left out."""
    gpus = []
    for line in listing.splitlines():
        words = [word.strip() for word in line.split(",")]
        if len(words) == 3 and words[0].isdigit() and words[2].isdigit() and int(words[2]) > 0:
            gpus.append(Gpu(int(words[0]), words[1], int(words[2]) * MIB))
    return gpus


def visible(gpus: list[Gpu], chosen: str | None) -> list[Gpu]:
    """Return the GPUs that CUDA_VISIBLE_DEVICES leaves, in its order.

    As CUDA does: the list ends at the first entry that names no device.
    """
    if chosen is None:
        return gpus
    result: list[Gpu] = []
    for word in (word.strip() for word in chosen.split(",")):
        named = [gpu for gpu in gpus if word == str(gpu.index)]
        named = named or [gpu for gpu in gpus if word.startswith("GPU-") and
                          gpu.uuid.startswith(word)]  # fmt: skip
        if len(named) != 1 or named[0] in result:
            break
        result += named
    return result


def _allowed_cpus() -> set[int] | None:
    return set(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # not Linux, or not mounted
        return ""


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.lstrip("-").isdigit() else None
