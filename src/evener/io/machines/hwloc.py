"""Reads hwloc's description of a computer: `lstopo --of xml`, of hwloc 1.x, 2.x and 3.x.

In files of 1.x, a NUMA node contains its cores; from 2.0 on, it is a separate object with their
cpuset. Both are read by the cpuset. Sizes of memories and caches are in bytes, sizes of CUDA memory
in KiB. Files of `lstopo --disallowed` state what may be used; the rest is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

from evener.errors import InputError
from evener.io.machines.hwloc_values import (
    ANY,
    bitmap,
    bus_address,
    cpus_of,
    infos_of,
    number_of,
    whole,
)
from evener.io.xml_tree import xml_tree
from evener.platforms.computer import (
    HALF_WIDE,
    MOST_PAIRS,
    Computer,
    ComputerCore,
    ComputerGpu,
    LocalMemory,
    with_gpus,
)
from evener.platforms.homes import MOST_CORES
from evener.wording import ranges

ROOT = "topology"
MOST_MEMORY = 2**60  # bytes
KIB, MHZ = 2.0**10, 1e6
OTHER_GPUS = ("RSMI", "LevelZero")  # hwloc's names for GPUs of AMD and of Intel
_PACKAGES = ("Package", "Socket")
_CACHE = re.compile(r"L(\d)(d?)Cache|L(\d)")
_GPU_CLASS = re.compile(r"\s*03[0-9a-fA-F]{2}\b")
_CUDA_NAME = re.compile(r"cuda(\d{1,4})")


def computer_of_hwloc(content: bytes, file: str | Path) -> Computer:
    """Return the computer that an XML file of lstopo describes, including GPUs listed as CUDA.

    Raises InputError if the file is not such XML, has impossible numbers, or has no cores.
    """
    tree = xml_tree(content, ROOT, file)
    machine = next(iter(tree.iter("object")), None)
    if machine is None:
        raise InputError("describes no object of a computer", file=file)
    found = _Found(file, bitmap(machine.get("allowed_cpuset"), file))
    nodes = bitmap(machine.get("allowed_nodeset"), file)
    for place in _objects(tree, file):
        _take(found, place, nodes)
    if not found.cores:
        raise InputError("describes no usable core", file=file)
    return _computer(found, tree, machine)


class _Place(NamedTuple):
    """An object and its context: package, L3 cache, core, cpuset, PCI address."""

    element: ET.Element
    socket: int
    cache: int
    core: int
    cpuset: int
    bus: str


@dataclass
class _Found:
    """What has been collected from the objects so far."""

    file: str | Path
    allowed: int
    cores: dict[int, list[int]] = field(default_factory=dict)
    places: dict[int, tuple[int, int]] = field(default_factory=dict)
    memories: list[tuple[int, int, float]] = field(default_factory=list)
    caches: dict[str, tuple[int, int]] = field(default_factory=dict)
    buses: dict[str, int] = field(default_factory=dict)
    gpus: list[ComputerGpu] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def _objects(tree: ET.Element, file: str | Path) -> Iterator[_Place]:
    """Yield all objects, parents first, in file order."""
    first = [_Place(one, 0, 0, -1, ANY, "") for one in tree if one.tag == "object"]
    stack, seen = first[::-1], {"socket": 0, "cache": 0, "core": 0}
    sockets: set[int] = set()
    while stack:
        place = stack.pop()
        kind = place.element.get("type", "")
        own = place.element.get("cpuset")
        if own is not None:
            place = place._replace(cpuset=bitmap(own, file))
        if kind in _PACKAGES:
            number = number_of(place.element, "os_index", file, MOST_CORES, seen["socket"])
            if number in sockets:
                number = max(sockets) + 1
            sockets.add(number)
            place = place._replace(socket=number)
            seen["socket"] += 1
        elif _is_l3(place.element):
            place = place._replace(cache=seen["cache"])
            seen["cache"] += 1
        elif kind == "Core":
            place = place._replace(core=seen["core"])
            seen["core"] += 1
        elif kind == "PCIDev":
            place = place._replace(bus=bus_address(place.element.get("pci_busid", "")))
        yield place
        stack += [place._replace(element=e) for e in reversed(place.element) if e.tag == "object"]


def _take(found: _Found, place: _Place, nodes: int) -> None:
    element, file = place.element, found.file
    kind = element.get("type", "")
    if kind == "PU":
        cpu = number_of(element, "os_index", file, MOST_CORES)
        if found.allowed >> cpu & 1:
            # If cores are not known, each processor is taken as a core.
            core = place.core if place.core >= 0 else -2 - cpu
            found.cores.setdefault(core, []).append(cpu)
            found.places[core] = (place.socket, place.cache)
            if len(found.cores) > MOST_CORES:
                raise InputError(f"describes more than {MOST_CORES:,} cores", file=file)
    elif kind == "NUMANode" or (kind == "Machine" and element.get("local_memory")):
        number = number_of(element, "os_index", file, MOST_CORES, len(found.memories))
        size = number_of(element, "local_memory", file, MOST_MEMORY, 0)
        is_allowed = kind == "Machine" or nodes >> number & 1
        found.memories.append((number, place.cpuset, float(size) if is_allowed else 0.0))
    elif name := _cache_name(element):
        size = number_of(element, "cache_size", file, MOST_MEMORY, 0)
        found.caches.setdefault(name, (size, place.cpuset))
    elif kind == "PCIDev" and place.bus and _GPU_CLASS.match(element.get("pci_type", "")):
        found.buses[place.bus] = place.cpuset
    elif kind == "OSDev" and (gpu := _cuda_device(place, file)) is not None:
        found.gpus.append(gpu)
    elif kind == "OSDev" and element.get("subtype") in OTHER_GPUS:
        found.others.append(element.get("name", "")[:20])


def _cuda_device(place: _Place, file: str | Path) -> ComputerGpu | None:
    """Return the GPU of an OSDev object if hwloc found it by CUDA, else None."""
    infos = infos_of(place.element)
    named = _CUDA_NAME.fullmatch(place.element.get("name", ""))
    if named is None or "CUDA" not in {
        place.element.get("subtype"), infos.get("CoProcType"), infos.get("Backend")
    }:  # fmt: skip
        return None
    size = whole(infos.get("CUDAGlobalMemorySize"), "CUDAGlobalMemorySize", file, MOST_MEMORY)
    return ComputerGpu(
        int(named[1]), infos.get("GPUModel", ""), memory=size * KIB or None, bus=place.bus
    )


def _computer(found: _Found, tree: ET.Element, machine: ET.Element) -> Computer:
    processors = [cpu for cpus in found.cores.values() for cpu in cpus]
    if len(set(processors)) < len(processors):
        raise InputError("describes a processor twice, by the same os_index", file=found.file)
    pairs = (len(found.memories) + len(found.buses)) * len(processors)
    if pairs > MOST_PAIRS:
        raise InputError("describes too many NUMA nodes and GPUs", file=found.file)
    infos = infos_of(machine)
    packages = (infos_of(e).get("CPUModel") for e in machine.iter("object"))
    memories = [
        LocalMemory(size, cpus_of(cpuset, processors)) for _, cpuset, size in found.memories if size
    ]
    notes = (
        [] if memories else ["the description states no memory, so devices have no memory limit"]
    )
    if found.others:
        notes.append(f"GPUs other than CUDA GPUs are left out: {ranges(found.others)}")
    version = infos.get("hwlocVersion", tree.get("version", "1"))
    computer = Computer(
        infos.get("HostName", ""),
        next(filter(None, packages), "") or infos.get("CPUModel", ""),
        infos.get("Architecture", ""),
        _cores(found, tree),
        tuple(memories),
        caches={
            name: (size, len(cpus_of(cpuset, processors)))
            for name, (size, cpuset) in found.caches.items()
            if size
        },
        near={bus: cpus_of(cpuset, processors) for bus, cpuset in found.buses.items()},
        read_from=(("cores, memory and caches", f"hwloc {version}"),),
        notes=tuple(notes),
    )
    return with_gpus(computer, found.gpus)


def _cores(found: _Found, tree: ET.Element) -> tuple[ComputerCore, ...]:
    """Return the cores by socket and number, with the NUMA node and kind of each core.

    Cores outside all described nodes are assigned to one extra node per socket.
    """
    kinds = [_kind(element, found.file) for element in tree.iter("cpukind")]
    cores, elsewhere = [], max((i + 1 for i, _, _ in found.memories), default=0)
    for number, cpus in found.cores.items():
        socket, cache = found.places[number]
        first = min(cpus)
        # A node that includes another node's cores, such as fast memory, has the larger cpuset.
        nodes = [(n.bit_count(), i) for i, n, _ in found.memories if n != ANY and n >> first & 1]
        numa = min(nodes)[1] if nodes else elsewhere + socket
        kind = next((one for one in kinds if one.cpuset >> first & 1), _Kind(0))
        traits = kind.clock, kind.lanes, kind.capacity
        cores.append(ComputerCore(tuple(sorted(cpus)), socket, numa, cache, *traits))
    return tuple(sorted(cores, key=lambda core: (core.socket, core.numa, core.cache, core.cpu)))


class _Kind(NamedTuple):
    """A kind of core: its cpuset, and its properties as in ComputerCore."""

    cpuset: int
    clock: float | None = None
    lanes: int | None = None
    capacity: float | None = None


def _kind(element: ET.Element, file: str | Path) -> _Kind:
    infos = infos_of(element)
    clock = infos.get("FrequencyMaxMHz") or infos.get("FrequencyBaseMHz")
    megahertz = whole(clock, "a frequency", file, 10**6)
    capacity = whole(infos.get("LinuxCapacity"), "LinuxCapacity", file, 10**6)
    return _Kind(
        bitmap(element.get("cpuset"), file),
        megahertz * MHZ or None,
        HALF_WIDE.get(infos.get("CoreType", "")),
        float(capacity) or None,
    )


def _is_l3(element: ET.Element) -> bool:
    return _cache_name(element) == "L3"


def _cache_name(element: ET.Element) -> str:
    """Return "L1d", "L2", "L3", ... for a data cache; "" for other objects."""
    kind = element.get("type", "")
    if kind == "Cache":  # of hwloc 1.x
        depth, code = element.get("depth", ""), element.get("cache_type", "0")
    elif (named := _CACHE.fullmatch(kind)) is not None:
        depth, code = named[1] or named[3], element.get("cache_type", "0")
    else:
        return ""
    if code == "2" or depth not in {"1", "2", "3", "4", "5"}:
        return ""
    return "L1d" if depth == "1" else f"L{depth}"
