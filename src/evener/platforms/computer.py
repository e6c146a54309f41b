"""Computer: the description of one computer, before it becomes devices of a platform.

Readers of hwloc, nvidia-smi and Slurm make computers (evener.io.machines); described.py makes a
Platform from them.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from decimal import ROUND_FLOOR, Context, Decimal

from evener.errors import InputError
from evener.platforms.homes import MOST_CORES

HALF_WIDE = {"IntelAtom": 2}  # lanes of cores that execute a 256-bit vector in two halves
MOST_PAIRS = 1 << 22  # max. pairs of a core and a NUMA node or GPU: more than any computer has
GIB = 2.0**30
_DIGITS = Context(prec=4, rounding=ROUND_FLOOR)  # digits of a memory [GiB], for readability


def cpus_in(text: str, end: int = MOST_CORES) -> set[int]:
    """Return the processors in a list such as "0-3,8"; empty unless all are numbers below `end`.

    Linux and Slurm write such lists.
    """
    found: set[int] = set()
    for word in text.strip().split(","):
        ends = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", word)
        if ends is None or int(ends[2] or ends[1]) >= end:
            return set()
        found |= set(range(int(ends[1]), int(ends[2] or ends[1]) + 1))
    return found


@dataclass(frozen=True, slots=True)
class ComputerCore:
    """A physical core: its processors in Linux's numbering, and its location.

    socket, numa, cache: numbers of its package, NUMA node and shared L3 cache. clock [Hz]: the
    highest; lanes: number of 64-bit values per vector instruction; capacity: Linux's relative
    rating of its speed. None: not known.
    """

    cpus: tuple[int, ...]
    socket: int = 0
    numa: int = 0
    cache: int = 0
    clock: float | None = None
    lanes: int | None = None
    capacity: float | None = None

    @property
    def cpu(self) -> int:
        """The first of the core's processors."""
        return self.cpus[0]


@dataclass(frozen=True, slots=True)
class LocalMemory:
    """Memory of a NUMA node [B], and the processors to which it is local."""

    size: float
    cpus: frozenset[int]


@dataclass(frozen=True, slots=True)
class ComputerGpu:
    """A GPU, or an instance of one (MIG).

    index: of the whole GPU, in nvidia-smi's order. uuid: of the instance, if it is one. memory [B];
    share: of the whole GPU's bandwidth. bus: its PCI address; cpus: the processors near it, empty
    if not known; sockets: the sockets near it, if only they are known.
    """

    index: int
    model: str = ""
    uuid: str = ""
    memory: float | None = None
    share: float = 1.0
    bus: str = ""
    cpus: frozenset[int] = frozenset()
    sockets: frozenset[int] = frozenset()
    is_instance: bool = False


@dataclass(frozen=True)
class Computer:
    """One computer: cores, memories, GPUs and caches.

    near: processors near each PCI address. caches: size [B] of one cache and its number of
    processors, by name, such as "L2". usable [B]: the total memory that may be used, if the system
    or a control group limits it. numbering_guessed: whether processor numbers are assumed.
    read_from: sources of the data, such as ("cores", "hwloc 2.9"). notes: sentences on omitted
    data.
    """

    host: str = ""
    model: str = ""
    architecture: str = ""
    cores: tuple[ComputerCore, ...] = ()
    memories: tuple[LocalMemory, ...] = ()
    gpus: tuple[ComputerGpu, ...] = ()
    caches: dict[str, tuple[int, int]] = field(default_factory=dict)
    near: dict[str, frozenset[int]] = field(default_factory=dict)
    usable: float | None = None
    numbering_guessed: bool = False
    read_from: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def memory(self) -> float:
        """The total memory that may be used [B]; 0 if not known."""
        return sum(one.size for one in self.memories) if self.usable is None else self.usable


def restricted(computer: Computer, cpus: Collection[int], most: int | None = None) -> Computer:
    """Return the computer with only the cores that have one of these processors, at most `most`.

    Raises InputError if no core is left.
    """
    kept = [
        replace(core, cpus=own)
        for core in computer.cores
        if (own := tuple(cpu for cpu in core.cpus if cpu in cpus))
    ][:most]
    if not kept:
        raise InputError("this process may not use any core of the computer")
    return replace(computer, cores=tuple(kept))


def with_gpus(computer: Computer, gpus: Collection[ComputerGpu]) -> Computer:
    """Return the computer with these GPUs, each near the processors of its PCI address.

    Raises InputError if there are impossibly many GPUs.
    """
    if len(gpus) * max(len(computer.cores), 1) > MOST_PAIRS:
        raise InputError(
            f"{len(gpus):,} GPUs cannot be in a computer of {len(computer.cores):,} cores"
        )
    placed = (
        gpu if gpu.cpus else replace(gpu, cpus=computer.near.get(gpu.bus, frozenset()))
        for gpu in gpus
    )
    return replace(computer, gpus=tuple(placed))


def memory_of_cores(computer: Computer) -> dict[int, float]:
    """Return each core's memory [B] by its first processor: an equal share of its local memory.

    Memory that is local to no core is shared by all; if some core has no local memory, all memory
    is shared equally. The sum is the computer's memory, 0 if not known.
    """
    shares = dict.fromkeys((core.cpu for core in computer.cores), 0.0)
    for memory in computer.memories:
        local = [core.cpu for core in computer.cores if not memory.cpus.isdisjoint(core.cpus)]
        for cpu in local or shares:
            shares[cpu] += memory.size / len(local or shares)
    if not all(shares.values()):
        return {cpu: computer.memory / len(shares) for cpu in shares}
    total = sum(shares.values())
    return {cpu: share * computer.memory / total for cpu, share in shares.items()}


def readable_memory(size: float) -> float:
    """Return a detected memory [B], rounded down to four digits in GiB, for readability.

    It is rounded down so that a device never appears to have more memory than it has. Before that,
    the size is rounded to whole bytes: shares of cores add up to a little less than 16 GiB, which
    must not become 15.99.
    """
    return float(_DIGITS.divide(Decimal(round(size) or size), Decimal(GIB))) * GIB
