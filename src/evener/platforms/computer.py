"""Computer: what a description says of one computer, before it becomes devices of a platform.

Readers of hwloc, nvidia-smi and Slurm make computers (evener.io.machines), described.py makes a
Platform of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from decimal import ROUND_FLOOR, Context, Decimal

from evener.errors import InputError

MOST_COMPUTER_CORES = 1 << 16  # of one computer: as many as a device may name
MOST_PAIRS = 1 << 22  # of a NUMA node or GPU and a core: more than any computer has
GIB = 2.0**30
_DIGITS = Context(prec=4, rounding=ROUND_FLOOR)  # of a memory [GiB]: for people to read


def cpus_in(text: str, end: int = MOST_COMPUTER_CORES) -> set[int]:
    """Return the processors of a list such as "0-3,8"; none if it is not a list of numbers < end.

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
    """A physical core: its processors as Linux numbers them, and where it is.

    socket, numa, cache: numbers of the package, NUMA node and shared L3 cache that it belongs to.
    clock [Hz]: the highest; lanes: numbers of 64 bits that one vector instruction takes; capacity:
    what Linux says of its speed, as a ratio. None: not known.
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
        """The first of its processors."""
        return self.cpus[0]


@dataclass(frozen=True, slots=True)
class LocalMemory:
    """Memory of a NUMA node [B], and the processors that it is local to."""

    size: float
    cpus: frozenset[int]


@dataclass(frozen=True, slots=True)
class ComputerGpu:
    """A GPU, or an instance of one (MIG).

    index: in nvidia-smi's order, of the whole GPU. uuid: of the instance, where it is one. memory
    [B]; share: of the whole GPU's bandwidth. bus: its PCI address; cpus: the processors near it,
    none where that is not known; sockets: those near it, where only they are known.
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

    near: processors near each PCI address. caches: size [B] and number of processors of one cache,
    by name, as "L2". usable [B]: what may be taken of the memory in all, where the system or a
    control group says so. numbering_guessed: whether processors have the numbers that are usual.
    read_from: what was read from where, as ("cores", "hwloc 2.9"). notes: what is left out.
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
        """What may be taken of all memories [B]; 0 where that is not known."""
        return sum(one.size for one in self.memories) if self.usable is None else self.usable


def restricted(computer: Computer, cpus: Collection[int], most: int | None = None) -> Computer:
    """Return the computer with the cores that have one of these processors; the first `most`.

    Raises InputError where none is left.
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
    """Return the computer with these GPUs, each near the processors that its PCI address is.

    Raises InputError for more of them than can be.
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
    """Return the memory of each core [B] by its first processor: an equal share of what is local.

    Memory local to no core of these is shared by all; where a core has none, all memory is. The sum
    is the computer's memory, 0 where that is not known.
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
    """Return a memory that was found [B], rounded down to the four digits in GiB that people read.

    Down, as a device may not be said to have more than it has. Whole bytes are what is rounded:
    shares of cores add up to a little less than 16 GiB, which are no 15.99.
    """
    return float(_DIGITS.divide(Decimal(round(size) or size), Decimal(GIB))) * GIB
