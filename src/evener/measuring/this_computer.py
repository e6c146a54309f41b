"""This computer, as this process may use it: cores, caches, memory (/sys), GPUs (nvidia-smi).

CPU affinity, limits of the control group and CUDA_VISIBLE_DEVICES are respected. scontrol describes
Slurm's nodes. machine.py measures speeds and links of this computer.
"""

from __future__ import annotations

import math
import os
import platform
import re
import shutil
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evener.errors import EvenerError, ToolError, UsageError
from evener.platforms.computer import (
    HALF_WIDE,
    Computer,
    ComputerCore,
    ComputerGpu,
    LocalMemory,
    cpus_in,
    restricted,
    with_gpus,
)
from evener.wording import bytes_of

if TYPE_CHECKING:
    from evener.io.machines.nvidia_smi import ListedGpus

SYSTEM_FOLDER = Path("/sys/devices/system")
CGROUP_FOLDER = Path("/sys/fs/cgroup")
PCI_FOLDER = Path("/sys/bus/pci/devices")
CPUINFO = Path("/proc/cpuinfo")
KIB, KHZ = 2.0**10, 1e3
SECONDS = 20.0  # limit for nvidia-smi
SCONTROL_SECONDS = 60.0  # limit for the answer of Slurm's controller
JOB_NODES = ("SLURM_JOB_NODELIST", "SLURM_NODELIST")
# Lanes of 64 bits by feature in /proc/cpuinfo; the first feature that is listed counts.
_FEATURES = (("avx512f", 8), ("avx", 4), ("sve", 4), ("sse2", 2), ("asimd", 2))


class Core(NamedTuple):
    """A physical core, given by the number of one of its CPUs, and its socket."""

    cpu: int
    socket: int


def this_computer() -> Computer:
    """Return this computer, as this process may use it.

    If nvidia-smi fails, GPUs are omitted, and the computer's notes say so.
    """
    found = _usable_cores()
    gpus, notes, read_from = _gpus_here()
    found = replace(
        found,
        host=socket.gethostname(),
        model=model_here(),
        architecture=platform.machine(),
        cores=tuple(
            replace(core, clock=clock_of(core.cpu), lanes=core.lanes or lanes_here())
            for core in found.cores
        ),
        usable=usable_memory(),
        near={gpu.bus: cpus_near(gpu.bus) for gpu in gpus},
        read_from=(*found.read_from, *read_from),
        notes=notes,
    )
    return with_gpus(found, gpus)


def cores() -> list[Core]:
    """Return the cores that this process may use, sorted by socket."""
    return [Core(core.cpu, core.socket) for core in _usable_cores().cores]


def _usable_cores() -> Computer:
    """Return this computer's cores, memory and caches, by /sys; without it, cores by psutil."""
    allowed = allowed_cpus()
    found = computer_of_sysfs()
    if not found.cores:
        import psutil

        count = psutil.cpu_count(logical=False) or os.cpu_count() or 1
        cpus = (sorted(allowed) if allowed else range(count))[:count]
        cores = tuple(ComputerCore((cpu,)) for cpu in cpus)
        found = Computer(cores=cores, read_from=(("cores and memory", "psutil"),))
    everything = {cpu for core in found.cores for cpu in core.cpus}
    quota = usable_quota(len(found.cores))
    return restricted(found, everything if allowed is None else everything & allowed, quota)


def computer_of_sysfs(folder: Path = SYSTEM_FOLDER, architecture: str = "") -> Computer:
    """Return this computer as Linux's sysfs describes it; without cores if there is no sysfs.

    Threads of a core have the same list of siblings. Intel's E-cores are those in cpu_atom.
    """
    slow = cpus_in(text_in(folder.parent / "cpu_atom/cpus"))
    nodes = {_number_of(node): node for node in folder.glob("node/node[0-9]*")}
    local = {number: cpus_in(text_in(node / "cpulist")) for number, node in nodes.items()}
    cores: dict[tuple[int, ...], ComputerCore] = {}
    caches: list[frozenset[int]] = []
    for topology in sorted(folder.glob("cpu/cpu[0-9]*/topology")):
        cpu = _number_of(topology.parent)
        siblings = cpus_in(text_in(topology / "thread_siblings_list")) or {cpu}
        shared = cpus_in(text_in(topology.parent / "cache/index3/shared_cpu_list"))
        if frozenset(shared) not in caches:
            caches.append(frozenset(shared))
        cores[tuple(sorted(siblings))] = ComputerCore(
            tuple(sorted(siblings)),
            max(number_in(topology / "physical_package_id") or 0, 0),
            min((n for n, cpus in local.items() if cpu in cpus), default=0),
            caches.index(frozenset(shared)),
            lanes=HALF_WIDE["IntelAtom"] if cpu in slow else None,
            capacity=number_in(topology.parent / "cpu_capacity"),
        )
    memories = ((_memory_of(node), frozenset(local[n])) for n, node in sorted(nodes.items()))
    return Computer(
        socket.gethostname(),
        architecture=architecture,
        cores=tuple(sorted(cores.values(), key=lambda c: (c.socket, c.numa, c.cache, c.cpu))),
        memories=tuple(LocalMemory(size, cpus) for size, cpus in memories if size),
        caches=_caches(folder / "cpu/cpu0/cache"),
        read_from=(("cores, memory and caches", "/sys"),),
    )


def clock_of(cpu: int, folder: Path = SYSTEM_FOLDER, cpuinfo: Path = CPUINFO) -> float | None:
    """Return the highest clock of a processor [Hz], otherwise the present one, or None."""
    if kilohertz := number_in(folder / f"cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq"):
        return kilohertz * KHZ
    found = re.search(r"^cpu MHz\s*:\s*(\d{1,6}\.?\d*)", text_in(cpuinfo), re.MULTILINE)
    return (float(found[1]) * 1e6 or None) if found else None


def lanes_here(cpuinfo: Path = CPUINFO) -> int | None:
    """Return the number of 64-bit numbers per vector instruction, or None if it is unknown."""
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", text_in(cpuinfo), re.MULTILINE)
    words = set(found[1].split()) if found else set()
    return next((lanes for feature, lanes in _FEATURES if feature in words), None)


def model_here(cpuinfo: Path = CPUINFO) -> str:
    """Return the name of the CPU, or "" if it is unknown."""
    found = re.search(r"^model name\s*:\s*(.+)$", text_in(cpuinfo), re.MULTILINE)
    return found[1].strip()[:80] if found else ""


def cpus_near(bus: str, folder: Path = PCI_FOLDER) -> frozenset[int]:
    """Return the processors near a PCI address; empty if they are unknown."""
    return frozenset(cpus_in(text_in(folder / bus / "local_cpulist"))) if bus else frozenset()


def usable_quota(cores: int, cgroup: Path = CGROUP_FOLDER) -> int:
    """Return the number of cores that the control group's quota of CPU time allows, at least 1."""
    words = text_in(cgroup / "cpu.max").split()
    if len(words) == 2 and words[0].isdigit() and words[1].isdigit() and int(words[1]) > 0:
        return min(cores, max(1, math.ceil(int(words[0]) / int(words[1]))))
    return cores


def usable_memory(cgroup: Path = CGROUP_FOLDER) -> float:
    """Return the computer's memory, or the limit of the control group if that is lower [B]."""
    import psutil

    total = float(psutil.virtual_memory().total)
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        limit = number_in(cgroup / name)
        if limit is not None and limit > 0:
            total = min(total, float(limit))
    return total


def allowed_cpus() -> set[int] | None:
    """Return the processors that this process may use, or None if the system cannot tell."""
    return set(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def gpus_here() -> Sequence[ComputerGpu]:
    """Return the GPUs that this process may use, in CUDA's order; empty if nvidia-smi fails."""
    return _gpus_here()[0]


def _gpus_here() -> tuple[Sequence[ComputerGpu], tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the GPUs that may be used, in CUDA's order; notes on omitted GPUs; and the source."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return (), (), ()
    from evener.io.machines.nvidia_smi import gpus_of_nvidia_smi

    try:
        listed = gpus_of_nvidia_smi(output_of([program, "-q", "-x"], SECONDS), "nvidia-smi")
    except EvenerError as error:
        return (), (f"GPUs are left out: {error.message}",), ()
    left = visible(listed.gpus, os.environ.get("CUDA_VISIBLE_DEVICES"))
    hidden = len(listed.gpus) - len(left)
    notes = (f"CUDA_VISIBLE_DEVICES leaves out {hidden} of the GPUs",) if hidden else ()
    return left, (*listed.notes, *notes), ((("GPUs", source_of(listed)),) if left else ())


def visible(gpus: Sequence[ComputerGpu], chosen: str | None) -> list[ComputerGpu]:
    """Return the GPUs that CUDA_VISIBLE_DEVICES selects, in its order.

    As in CUDA, the list ends at the first entry that names no device. The index of a GPU that is
    divided into instances selects its first instance.
    """
    if chosen is None:
        return list(gpus)
    result: list[ComputerGpu] = []
    for word in (word.strip() for word in chosen.split(",")):
        named = [gpu for gpu in gpus if word == str(gpu.index)][:1]
        named = named or [gpu for gpu in gpus if word.startswith(("GPU-", "MIG-")) and
                          gpu.uuid.startswith(word)]  # fmt: skip
        if len(named) != 1 or named[0] in result:
            break
        result += named
    return result


def source_of(listed: ListedGpus) -> str:
    """Return the source of a list of GPUs, for the header of a machine file."""
    return f"nvidia-smi, driver {listed.driver}" if listed.driver else "nvidia-smi"


def scontrol_text(nodes: str | None) -> bytes:
    """Return the output of `scontrol show node` for these nodes, or for the job's or all nodes.

    nodes: None: the nodes of the job; if there is no job, all nodes. Raises UsageError if `nodes`
    is not a list of nodes, ToolError if scontrol is missing or fails.
    """
    program = shutil.which("scontrol")
    if program is None:
        raise ToolError(
            "scontrol is not installed here",
            hint="Run `scontrol show node > FILE` on the cluster, then use --from FILE here.",
        )
    if nodes is None:
        nodes = next(filter(None, (os.environ.get(key) for key in JOB_NODES)), None)
    if nodes is not None and not re.fullmatch(r"[A-Za-z0-9][\w.,\[\]-]*", nodes):
        raise UsageError(f"{nodes[:40]!r} is not a list of nodes such as n[001-004]")
    return output_of([program, "show", "node", *([nodes] if nodes else [])], SCONTROL_SECONDS)


def output_of(command: Sequence[str], seconds: float) -> bytes:
    """Return the output of a program.

    Raises ToolError if it cannot be run, ends with an error or takes longer than `seconds`.
    """
    name = os.path.basename(command[0])  # noqa: PTH119 - a name alone
    try:
        done = subprocess.run(command, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"{name} did not answer within {seconds:g} s") from error
    except OSError as error:
        raise ToolError(f"{name} cannot be run: {error.strerror or error}") from error
    if done.returncode:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().split("\n")[0]
        raise ToolError(f"{name} ended with exit code {done.returncode}: {said[:160]}")
    return done.stdout


def text_in(path: Path) -> str:
    """Return the text of a file, or "" if it cannot be read."""
    try:
        return path.read_text(errors="replace")
    except OSError:  # not Linux, or not mounted
        return ""


def number_in(path: Path) -> int | None:
    """Return the integer that a file contains, or None if it contains no integer."""
    text = text_in(path).strip()
    return int(text) if re.fullmatch(r"-?\d{1,20}", text) else None


def _number_of(folder: Path) -> int:
    return int(re.sub(r"\D", "", folder.name))


def _memory_of(node: Path) -> float:
    found = re.search(r"MemTotal:\s*(\d{1,15}) kB", text_in(node / "meminfo"))
    return int(found[1]) * KIB if found else 0.0


def _caches(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the first processor's caches, outermost first: size [B] and number of processors."""
    found = {}
    for cache in sorted(folder.glob("index[0-9]*"), reverse=True):
        level, kind = number_in(cache / "level"), text_in(cache / "type").strip()
        size = bytes_of(text_in(cache / "size"))
        if level and size and kind != "Instruction":
            name = "L1d" if level == 1 else f"L{level}"
            sharing = len(cpus_in(text_in(cache / "shared_cpu_list"))) or 1
            found[name] = (size, sharing)
    return found
