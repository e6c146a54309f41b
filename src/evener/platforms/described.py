"""Makes a platform of described computers: devices, their locations, and guessed values.

The tree has the levels cluster (for several computers), machine, socket, numa and cache (an L3);
levels that divide nothing are left out. Speeds and links that a description does not state are
guessed; measurements should replace them. Guessed speeds are rows per second of a sparse product
with 7 entries per row (`spmv` of `evener measure`), so that they are comparable with measured ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evener.errors import InputError
from evener.platforms.computer import (
    Computer,
    ComputerCore,
    ComputerGpu,
    memory_of_cores,
    readable_memory,
)
from evener.platforms.device import Device, Level, Link
from evener.platforms.homes import check_node
from evener.platforms.platform import SPMV_SPEEDS, Platform
from evener.wording import all_of, plural, ranges

GUESSED_SPEEDS = f"guessed {SPMV_SPEEDS}"
HOW = {
    "speed": "speed: guessed rows per second of a sparse product, from clock x vector width of "
    "cores, and from memory bandwidth of GPUs; --measure measures it",
    "alpha_us": "alpha_us, GB_per_s: guessed, typical of such links; --measure measures them",
    "fixed_seconds": "fixed_seconds: guessed, one kernel launch of a GPU per iteration; for a "
    "solver with several launches, state a multiple",
    "memory_GiB": "memory_GiB: guessed where marked, the smallest memory of GPUs with this name",
    "cores": "cores: guessed, numbered as Linux usually does, socket by socket",
}
LEVELS = ("cluster", "machine", "socket", "numa", "cache")


@dataclass(frozen=True)
class Described:
    """A platform, and the origin of its values.

    guessed: the guessed keys of each device's entry in a machine file, such as "speed", by device
    name; those of a level's link by "level NAME". sources: sentences on the origin of data, on
    measurements and on omitted data.
    """

    platform: Platform
    guessed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    sources: tuple[str, ...] = ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences for the head of the machine file: the sources, and the methods of guessing."""
        keys = frozenset[str]().union(*self.guessed.values())
        return (*self.sources, *(HOW[key] for key in HOW if key in keys))


class _Part(NamedTuple):
    """A future device: cores of a computer, or a GPU with the cores that drive it."""

    computer: Computer
    cores: tuple[ComputerCore, ...]
    gpu: ComputerGpu | None
    place: tuple[str, ...]  # below the root, one part per level in LEVELS[1:]
    name: str


def described(
    computers: Sequence[Computer], per: str = "core", notes: Sequence[str] = ()
) -> Described:
    """Return the platform of these computers, with guessed speeds and links.

    per: the unit of cores that forms a device: "core", "numa", "socket", "node" (a computer), or
    "gpu": cores form no devices of their own, but all belong to GPUs. A GPU is always a separate
    device, with a core to drive it if there are enough. notes: sentences for the head of the file.
    Raises InputError if no device results.
    """
    parts = [part for computer in computers for part in _parts(computer, per, len(computers) > 1)]
    if not parts:
        what = "no GPU, but --per gpu was given" if per == "gpu" else "neither cores nor GPUs"
        raise InputError(f"no device is left: the description has {what}")
    kept = _kept_levels(parts)
    guessed: dict[str, frozenset[str]] = {}
    devices = []
    memories = {id(c): memory_of_cores(c) for c in computers}
    speeds = {id(c): guessed_core_speeds(c) for c in computers}
    for part in parts:
        which = id(part.computer)
        device, guesses = _device(part, kept, speeds[which], memories[which])
        devices.append(device)
        guessed[device.name] = guesses
    levels = tuple(Level(name, LINKS[name]) for name in kept)
    guessed |= {f"level {name}": frozenset({"alpha_us", "GB_per_s"}) for name in kept}
    name = computers[0].host if len(computers) == 1 else f"{len(computers)} computers"
    title = f"{name or 'a computer'}: {GUESSED_SPEEDS}"
    platform = Platform(tuple(devices), levels, name=title)
    return Described(platform, guessed, (*_sources(computers), *notes))


def _parts(computer: Computer, per: str, is_one_of_many: bool) -> list[_Part]:
    """Return the devices of one computer: cores by place, then GPUs."""
    drivers = _drivers(computer, per)
    taken = {core.cpu for cores in drivers for core in cores}
    groups: dict[tuple[int, ...], list[ComputerCore]] = {}
    for core in computer.cores:
        if core.cpu not in taken:
            groups.setdefault(_key(core, per), []).append(core)
    before = f"{computer.host}-" if is_one_of_many else ""
    within: dict[str, int] = {}
    parts, names_numa = [], _has_more_nodes_than_sockets(computer)
    for cores in groups.values():
        name = before + _name(cores[0], per, names_numa, is_one_of_many)
        if per == "core" and is_one_of_many:  # numbered within their place, to form one table
            count = within[name] = within.get(name, -1) + 1
            name = f"{name}{count}"
        parts.append(_Part(computer, tuple(cores), None, _place(cores, computer, per), name))
    for i, (gpu, own) in enumerate(zip(computer.gpus, drivers, strict=False)):
        near = [core for core in computer.cores if _is_near(core, gpu)] or list(computer.cores)
        parts.append(_Part(computer, own, gpu, _place(near, computer, "gpu"), f"{before}cuda{i}"))
    return parts


def _key(core: ComputerCore, per: str) -> tuple[int, ...]:
    return {"node": (), "socket": (core.socket,), "numa": (core.numa,)}.get(per, (core.cpu,))


def _name(first: ComputerCore, per: str, names_numa: bool, is_one_of_many: bool) -> str:
    """Return the name of a device of cores; for one computer, the names of `evener measure`.

    first: its first core. names_numa: whether cores of several computers are named by NUMA node
    instead of socket.
    """
    if per == "node":
        return "cpu"
    if per != "core":
        return f"{per}{first.numa if per == 'numa' else first.socket}"
    if not is_one_of_many:
        return f"cpu{first.cpu}"
    return f"numa{first.numa}-cpu" if names_numa else f"socket{first.socket}-cpu"


def _has_more_nodes_than_sockets(computer: Computer) -> bool:
    nodes, sockets = ({getattr(c, key) for c in computer.cores} for key in ("numa", "socket"))
    return len(nodes) > len(sockets)


def _is_near(core: ComputerCore, gpu: ComputerGpu) -> bool:
    return not gpu.cpus.isdisjoint(core.cpus) or core.socket in gpu.sockets


def _drivers(computer: Computer, per: str) -> list[tuple[ComputerCore, ...]]:
    """Return the cores of each GPU: one core near it; with `per` "gpu", a share of all cores.

    The one core is the last of the NUMA node with the most free cores. A core drives only one GPU,
    unless there are more GPUs than cores.
    """
    cores, gpus = computer.cores, computer.gpus
    if not cores:
        return [()] * len(gpus)
    if per == "gpu":
        return _shared_out(cores, gpus) if gpus else [cores]
    free, found = list(cores), list[tuple[ComputerCore, ...]]()
    for gpu in gpus:
        near = [core for core in free if _is_near(core, gpu)] or free
        if near:
            rooms = Counter(core.numa for core in free)
            chosen = max(near, key=lambda core: (rooms[core.numa], core.numa, core.cpu))
            free.remove(chosen)
        else:
            chosen = cores[len(found) % len(cores)]
        found.append((chosen,))
    return found


def _shared_out(
    cores: Sequence[ComputerCore], gpus: Sequence[ComputerGpu]
) -> list[tuple[ComputerCore, ...]]:
    """Return the cores of each GPU: each core goes to the nearby GPU that has the fewest so far."""
    own: list[list[ComputerCore]] = [[] for _ in gpus]
    for core in cores:
        near = [i for i, gpu in enumerate(gpus) if _is_near(core, gpu)] or range(len(gpus))
        own[min(near, key=lambda i: len(own[i]))].append(core)
    return [tuple(some) or (cores[i % len(cores)],) for i, some in enumerate(own)]


def _place(cores: Sequence[ComputerCore], computer: Computer, per: str) -> tuple[str, ...]:
    """Return the place that these cores have in common, down to the level of devices."""
    parts = [computer.host.replace("/", "_") or "computer"]
    depth = {"core": 3, "numa": 2, "socket": 1}.get(per, 3 if per == "gpu" else 0)
    for key in ("socket", "numa", "cache")[:depth]:
        numbers = {getattr(core, key) for core in cores}
        if len(numbers) != 1:
            break
        parts.append(f"{key}{numbers.pop()}")
    return tuple(parts)


def _kept_levels(parts: Sequence[_Part]) -> tuple[str, ...]:
    """Return the levels that distinguish devices: those that divide some place of the level above.

    The root, and on one computer the socket, are always kept.
    """
    kept = ["machine"] if len({part.place[0] for part in parts}) == 1 else ["cluster", "machine"]
    for depth, level in enumerate(LEVELS[2:], start=1):
        inner = {part.place[: depth + 1] for part in parts if len(part.place) > depth}
        outer = {place[:depth] for place in inner}
        is_shared = len(inner) < sum(len(part.place) > depth for part in parts)
        if is_shared and (level == "socket" or len(inner) > len(outer)):
            kept.append(level)
    return tuple(kept)


def _device(
    part: _Part, kept: Sequence[str], speeds: Mapping[int, float], memories: Mapping[int, float]
) -> tuple[Device, frozenset[str]]:
    """Return a device and which of its keys are guessed."""
    guesses, launch = {"speed"}, 0.0
    if part.gpu is not None:
        launch = GPU_LAUNCH
        guesses.add("fixed_seconds")
        memory = part.gpu.memory
        if memory is None and (memory := guessed_gpu_memory(part.gpu)) is not None:
            guesses.add("memory_GiB")
        speed, kind = guessed_gpu_speed(part.gpu), "cuda"
    else:
        memory = sum(memories[core.cpu] for core in part.cores) or None
        speed, kind = sum(speeds[core.cpu] for core in part.cores), "cpu"
    if part.computer.numbering_guessed:
        guesses.add("cores")
    device = Device(
        part.name,
        float(f"{speed:.3g}"),
        kind,
        None if memory is None else readable_memory(memory),
        at="/".join(_at(part.place, kept)),
        node=_node(part.computer.host),
        fixed_seconds=launch,
        cores=tuple(sorted(core.cpu for core in part.cores)),
        gpu=None if part.gpu is None else part.gpu.uuid if part.gpu.is_instance else part.gpu.index,
    )
    return device, frozenset(guesses)


def _at(place: Sequence[str], kept: Sequence[str]) -> list[str]:
    """Return the parts of a place at the kept levels, as far as they are stated."""
    parts = list(place[:1]) if kept[0] == "cluster" else []
    for level, part in zip(LEVELS[2:], place[1:], strict=False):
        if level in kept:
            parts.append(part)
    return parts


def _node(host: str) -> str:
    """Return the host name if launchers accept it, else ""."""
    try:
        check_node(host)
    except InputError:
        return ""
    return host


def _sources(computers: Sequence[Computer]) -> list[str]:
    """Return sentences on the sources of the data, and on properties that devices do not state."""
    hosts: dict[str, list[str]] = {}
    for computer in computers:
        for what, source in computer.read_from:
            hosts.setdefault(f"{what}: read from {source}", []).append(computer.host)
    for computer in computers:
        for remark in _traits(computer):
            hosts.setdefault(remark, []).append(computer.host)
    return [
        remark if len(own) == len(computers) else f"{ranges(own)}: {remark}"
        for remark, own in hosts.items()
    ]


def _traits(computer: Computer) -> list[str]:
    """Return notable properties of a computer for which machine files have no key."""
    words = [computer.model, *map(_cache_text, computer.caches.items())]
    found = [f"CPU: {text}"] if (text := ", ".join(filter(None, words))) else []
    models = Counter(gpu.model or "of a type not stated" for gpu in computer.gpus)
    found += [f"GPUs: {n} x {model}" for model, n in models.items()]
    if 0 < len(computer.cores) <= len(computer.gpus):
        cores = all_of(len(computer.cores), "core").lower()
        found.append(f"driving {plural(len(computer.gpus), 'GPU')} takes {cores}")
    return [*found, *computer.notes]


def _cache_text(cache: tuple[str, tuple[int, int]]) -> str:
    name, (size, processors) = cache
    text = f"{size / 2**20:,.4g} MiB" if size >= 2**20 else f"{size / 2**10:,.4g} KiB"
    return f"{name} {text} of {processors} processors" if processors > 1 else f"{name} {text}"


# A core of 2.6 GHz with 8 vector lanes did 4.0e7 rows/s in `evener machine here --measure`.
ROWS_PER_CLOCK_AND_LANE = 4.0e7 / (2.6e9 * 8)
CLOCK = 2.5e9  # Hz, if it is not known
# 64-bit lanes of the vectors of all server CPUs of the last ten years: AVX2, NEON, VSX. Slurm
# does not know the architecture of powered-down nodes.
LANES = {"x86_64": 4, "": 4, "aarch64": 2, "ppc64le": 2}
ONE_LANE = 1
# Bytes of a row of 7 entries: 8 per value and 4 per column, plus x, y and the row's offset.
ROW_BYTES = 7 * 12 + 8 + 8 + 4
GPU_BANDWIDTH = 500e9  # B/s, for a GPU that is not in the table: as of a workstation

# [s] per iteration on a GPU, at any load: one launch with synchronisation.
GPU_LAUNCH = 1e-5
# Link of two devices by their deepest common level: typical orders of magnitude of MPI
# messages over InfiniBand, between sockets, NUMA nodes or caches, and within a cache.
LINKS = {
    "cluster": Link(2e-6, 1e-10),
    "machine": Link(1e-6, 2e-10),
    "socket": Link(6e-7, 1.25e-10),
    "numa": Link(5e-7, 1e-10),
    "cache": Link(3e-7, 1e-10),
}


class GpuModel(NamedTuple):
    """Words of a GPU's name, its memory bandwidth [B/s] and its smallest memory [GiB]."""

    words: str
    bandwidth: float
    least_gib: float


# From the makers' data sheets; the slower variant if a model has several. Words that contain
# others come first.
GPU_MODELS = (
    GpuModel("gb200", 8000e9, 186), GpuModel("b200", 7700e9, 180), GpuModel("gh200", 4000e9, 96),
    GpuModel("h200", 4800e9, 141), GpuModel("h100 pcie", 2000e9, 80), GpuModel("h100", 3350e9, 80),
    GpuModel("h20", 4000e9, 96), GpuModel("a100", 1555e9, 40), GpuModel("a800", 1555e9, 40),
    GpuModel("h800", 2000e9, 80),
    GpuModel("a40", 696e9, 48), GpuModel("a30", 933e9, 24), GpuModel("a10", 600e9, 24),
    GpuModel("a16", 200e9, 16), GpuModel("a2", 200e9, 16),
    GpuModel("l40s", 864e9, 48), GpuModel("l40", 864e9, 48), GpuModel("l4", 300e9, 24),
    GpuModel("v100", 900e9, 16), GpuModel("p100", 549e9, 12), GpuModel("t4", 320e9, 16),
    GpuModel("k80", 240e9, 12), GpuModel("rtx a6000", 768e9, 48),
    GpuModel("rtx 4090", 1008e9, 24), GpuModel("rtx 3090", 936e9, 24),
)  # fmt: skip


def guessed_core_speeds(computer: Computer) -> dict[int, float]:
    """Return the speed of each core [rows/s] by its first processor: clock times lanes.

    If Linux rates the cores' capacities differently, their speeds have these ratios.
    """
    capacities = {core.capacity for core in computer.cores}
    if None in capacities or len(capacities) < 2:
        return {core.cpu: _by_clock(core, computer) for core in computer.cores}
    best = max(computer.cores, key=lambda core: core.capacity or 0.0)
    unit = _by_clock(best, computer) / (best.capacity or 1.0)
    return {core.cpu: unit * (core.capacity or 1.0) for core in computer.cores}


def _by_clock(core: ComputerCore, computer: Computer) -> float:
    lanes = core.lanes or LANES.get(computer.architecture, ONE_LANE)
    return (core.clock or clock_in(computer.model) or CLOCK) * lanes * ROWS_PER_CLOCK_AND_LANE


def clock_in(model: str) -> float | None:
    """Return the clock [Hz] in a CPU's name, as in "... CPU E5-2680 v4 @ 2.40GHz", or None."""
    found = re.search(r"@\s*(\d{1,2}\.?\d{0,3})\s*GHz", model)
    clock = float(found[1]) * 1e9 if found else 0.0
    return clock or None


def guessed_gpu_speed(gpu: ComputerGpu) -> float:
    """Return the speed of a GPU [rows/s]: its memory bandwidth divided by the bytes of a row."""
    model = gpu_model(gpu.model)
    return (GPU_BANDWIDTH if model is None else model.bandwidth) * gpu.share / ROW_BYTES


def gpu_model(name: str) -> GpuModel | None:
    """Return the data of a GPU model, given a name such as "NVIDIA A100-SXM4-40GB" or "a100"."""
    plain = " ".join(re.findall(r"[a-z0-9]+", name.lower()))
    return next((m for m in GPU_MODELS if re.search(rf"\b{m.words}\b", plain)), None)


def guessed_gpu_memory(gpu: ComputerGpu) -> float | None:
    """Return the memory of a GPU [B] by its name: the stated size, else its model's smallest."""
    stated = re.search(r"(?<!\d)(\d{1,3})\s?gb", gpu.model.lower())
    model = gpu_model(gpu.model)
    if stated and int(stated[1]):
        return int(stated[1]) * 2.0**30
    return None if model is None else model.least_gib * gpu.share * 2.0**30
