"""What Linux says of this computer's cores, caches and memory in /sys and /proc."""

from __future__ import annotations

import re
import socket
from pathlib import Path

from evener.platforms.computer import Computer, ComputerCore, LocalMemory, cpus_in
from evener.wording import bytes_of

SYSTEM_FOLDER = Path("/sys/devices/system")
PCI_FOLDER = Path("/sys/bus/pci/devices")
CPUINFO = Path("/proc/cpuinfo")
KIB, KHZ = 2.0**10, 1e3
# Lanes of 64 bits, by what /proc/cpuinfo lists; the first that is there.
_FEATURES = (("avx512f", 8), ("avx", 4), ("sve", 4), ("sse2", 2), ("asimd", 2))


def computer_of_sysfs(folder: Path = SYSTEM_FOLDER, architecture: str = "") -> Computer:
    """Return this computer as Linux's sysfs has it; without cores where it has none.

    Cores are told apart by their threads, which share a list of siblings.
    """
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
    """Return the highest clock of a processor [Hz], else the present one; None where unknown."""
    if kilohertz := number_in(folder / f"cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq"):
        return kilohertz * KHZ
    found = re.search(r"^cpu MHz\s*:\s*(\d{1,6}\.?\d*)", text_in(cpuinfo), re.MULTILINE)
    return (float(found[1]) * 1e6 or None) if found else None


def lanes_here(cpuinfo: Path = CPUINFO) -> int | None:
    """Return how many numbers of 64 bits a vector instruction takes; None where that is unknown."""
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", text_in(cpuinfo), re.MULTILINE)
    words = set(found[1].split()) if found else set()
    return next((lanes for feature, lanes in _FEATURES if feature in words), None)


def model_here(cpuinfo: Path = CPUINFO) -> str:
    """Return the name of the CPU, "" where it is not said."""
    found = re.search(r"^model name\s*:\s*(.+)$", text_in(cpuinfo), re.MULTILINE)
    return found[1].strip()[:80] if found else ""


def cpus_near(bus: str, folder: Path = PCI_FOLDER) -> frozenset[int]:
    """Return the processors near a PCI address, none where that is not known."""
    return frozenset(cpus_in(text_in(folder / bus / "local_cpulist"))) if bus else frozenset()


def text_in(path: Path) -> str:
    """Return what a file says, "" where it cannot be read."""
    try:
        return path.read_text(errors="replace")
    except OSError:  # not Linux, or not mounted
        return ""


def number_in(path: Path) -> int | None:
    """Return the whole number that a file holds; None where it holds none."""
    text = text_in(path).strip()
    return int(text) if re.fullmatch(r"-?\d{1,20}", text) else None


def _number_of(folder: Path) -> int:
    return int(re.sub(r"\D", "", folder.name))


def _memory_of(node: Path) -> float:
    found = re.search(r"MemTotal:\s*(\d{1,15}) kB", text_in(node / "meminfo"))
    return int(found[1]) * KIB if found else 0.0


def _caches(folder: Path) -> dict[str, tuple[int, int]]:
    """Return size [B] and number of processors of the first processor's caches, outermost first."""
    found = {}
    for cache in sorted(folder.glob("index[0-9]*"), reverse=True):
        level, kind = number_in(cache / "level"), text_in(cache / "type").strip()
        size = bytes_of(text_in(cache / "size"))
        if level and size and kind != "Instruction":
            name = "L1d" if level == 1 else f"L{level}"
            sharing = len(cpus_in(text_in(cache / "shared_cpu_list"))) or 1
            found[name] = (size, sharing)
    return found
