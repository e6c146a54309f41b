"""Measures the contents of a machine file: speeds, with all devices computing at once, and links.

A speed is in rows per second of `spmv` at a load larger than the caches; a row stands for a vertex
of a mesh. `measured_platform` measures this computer. `measured_ranks` measures the computers of an
MPI program's ranks with one device per rank, named as `evener measure` names them under mpiexec, so
that its speed curves can be used with the machine file.
"""

from __future__ import annotations

import re
import socket
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from evener.errors import EvenerError, NotFoundError
from evener.measuring.campaign import Progress
from evener.measuring.devices import MeasuredDevice, devices_of_rank, memory_share
from evener.measuring.links import PRECISION, SIZES, FittedLink, measure_link
from evener.measuring.outcomes import BUSY, Outcome, Point, Precision
from evener.measuring.pings import ProcessPing, RankPing, answer
from evener.measuring.this_computer import cores, gpus_here, usable_memory
from evener.measuring.together import Bench, RankBench
from evener.measuring.workers import KernelJob, Worker
from evener.platforms.computer import readable_memory
from evener.platforms.described import GUESSED_SPEEDS, Described
from evener.platforms.platform import SPMV_SPEEDS, Device, Level, Link, Platform
from evener.running.comm import Comm

KERNEL = "spmv"
ROWS = 1_000_000  # 100 MB: more than a core's share of any cache
ROW_BYTES = 400.0  # most bytes of memory per row while the matrix is created
POINT = Precision(seconds=3.0)
MOST_HOSTS = 8  # most computers to which the first one measures its link
KEYS = {"alpha_us", "GB_per_s"}  # of a level, which are measured together
Say = Callable[[str], None]


def measured_platform(
    found: Described, progress: Progress, say: Say, rows: int = ROWS
) -> Described:
    """Return this computer with measured speeds [rows/s of spmv] and links between its cores.

    found: the described computer. rows: load of each core and GPU. say: called with a sentence for
    each speed or link that could not be measured precisely, or at all. Raises NotFoundError if the
    speed of no core could be measured.
    """
    devices = found.platform.devices
    progress(f"speeds of {len(devices)} devices at once", 0.0)
    with bench_of(devices, say) as bench:
        outcomes = bench.measure(loads_of(bench, rows))
    speeds = speeds_of_devices(devices, known_speeds(bench.names, outcomes, say), say)
    progress("links", 0.6)
    links = measured_links(found.platform, say)
    return with_measured(found, speeds, links)


def bench_of(devices: Sequence[Device], say: Say, meet: Callable[[], None] = lambda: None) -> Bench:
    """Return the processes that measure these devices: one for each core, one for each GPU.

    A device that cannot be measured is reported and omitted. meet: as for Bench.
    """
    workers = _workers(devices, say)
    for worker in workers:
        worker.launch()
    try:
        working = [worker for worker in workers if _works(worker, say)]
    except BaseException:
        for worker in workers:
            worker.end()
        raise
    return Bench(working, POINT, meet)


def _workers(devices: Sequence[Device], say: Say) -> list[Worker]:
    """Return a process for each core and each GPU, each with an equal share of the memory.

    If a GPU is divided into instances, no GPU is measured, because CUDA shows a process only one
    instance.
    """
    gpus = [device for device in devices if device.kind == "cuda"]
    if any(isinstance(gpu.gpu, str) for gpu in gpus):
        say(
            "GPUs are not measured, because some are instances of a GPU: their speeds remain "
            "guesses"
        )
        gpus = []
    cores = [(device, cpu) for device in devices if device.kind == "cpu" for cpu in device.cores]
    share = memory_share(max(len(cores) + len(gpus), 1))
    workers = [
        Worker(_core_name(device, cpu), KernelJob(KERNEL, "cpu", (cpu,), share))
        for device, cpu in cores
    ]
    for gpu in gpus:
        index = {"index": int(re.sub(r".*cuda", "", gpu.name))}
        workers.append(Worker(gpu.name, KernelJob(KERNEL, "cuda", gpu.cores, share, index)))
    return workers


def loads_of(bench: Bench, rows: int) -> list[int | None]:
    """Return the load of each process [rows], limited by its share of the memory."""
    shares = (worker.job.memory or 0.0 for worker in bench.workers)
    return [max(min(rows, int(share / ROW_BYTES)), 1) for share in shares]


def _core_name(device: Device, cpu: int) -> str:
    return device.name if len(device.cores) == 1 else f"{device.name}.{cpu}"


def known_speeds(
    names: Sequence[str], outcomes: Sequence[Outcome | None], say: Say
) -> dict[str, float]:
    """Return the measured speeds [rows/s]; report by `say` which are missing or imprecise."""
    measured = {}
    for name, outcome in zip(names, outcomes, strict=True):
        if isinstance(outcome, Point):
            measured[name] = rounded(outcome.sample.speed)
            if not outcome.reached:
                width = outcome.sample.half_width / outcome.sample.seconds
                busy = f"; other processes had its core {1 - outcome.share:.0%} of the time"
                say(
                    f"{name}: the speed is known only to within {width:.0%}"
                    + (busy if outcome.share < BUSY else "")
                )
        elif outcome is not None:
            say(f"{name} could not be measured: {outcome.message}")
    return measured


def _works(worker: Worker, say: Say) -> bool:
    """Return whether a device's process starts; raise the error if the device is a core."""
    try:
        worker.ensure()
    except EvenerError as error:
        if worker.job.kind == "cpu":
            raise
        say(f"{worker.name} could not be measured: {error.message}")
        return False
    return True


def speeds_of_devices(
    devices: Sequence[Device], measured: Mapping[str, float], say: Say
) -> dict[str, float]:
    """Return the speeds of the measured devices, each the sum over its cores [rows/s].

    A core that was not measured counts as the median of the measured cores. Raises NotFoundError if
    there are cores and none was measured.
    """
    cpus = [device for device in devices if device.kind == "cpu"]
    names = {d.name: [_core_name(d, cpu) for cpu in d.cores] or [d.name] for d in cpus}
    known = [measured[core] for own in names.values() for core in own if core in measured]
    if names and not known:
        raise NotFoundError("no core's speed could be measured")
    speeds = {d.name: measured[d.name] for d in devices if d.name in measured}
    for device, own in names.items():
        for core in (core for core in own if core not in measured):
            say(f"{core} was not measured: it counts as fast as the median core")
        speeds[device] = rounded(sum(measured.get(core, statistics.median(known)) for core in own))
    return speeds


def with_measured(
    found: Described, speeds: Mapping[str, float], links: Mapping[str, Link]
) -> Described:
    """Return the described platform with these measured speeds of devices and links of levels."""
    devices = tuple(replace(d, speed=speeds.get(d.name, d.speed)) for d in found.platform.devices)
    levels = tuple(replace(v, link=links.get(v.name, v.link)) for v in found.platform.levels)
    measured = {f"level {name}": KEYS for name in links} | {name: {"speed"} for name in speeds}
    guessed = {name: keys - measured.get(name, set()) for name, keys in found.guessed.items()}
    title = found.platform.name.replace(GUESSED_SPEEDS, SPMV_SPEEDS)
    platform = replace(found.platform, devices=devices, levels=levels, name=title)
    how = (
        "speed, alpha_us, GB_per_s: measured unless marked; speeds of all devices at once, by "
        f"{KERNEL}"
    )
    return Described(platform, guessed, (*found.sources, how))


def measured_links(platform: Platform, say: Say) -> dict[str, Link]:
    """Return the measured link of each level by name; empty if there is only one core.

    For each level, messages are exchanged by the first two devices of cores that have it as their
    deepest common level. A level without such a pair gets the link of the next deeper level that
    has one, otherwise of the next higher level.
    """
    cpus = [i for i, device in enumerate(platform.devices) if device.kind == "cpu" and device.cores]
    found: list[Link | None] = []
    for number in range(len(platform.levels)):
        pair = _first_pair(platform, cpus, number)
        ends = [platform.devices[i].cores[0] for i in pair]
        found.append(_link(ends, platform.levels[number].name, say) if ends else None)
    if not any(found):
        say("no link is measured: there is only one device of cores")
        return {}
    filled = {}
    for number, level in enumerate(platform.levels):
        order = [*found[number:], *reversed(found[:number])]
        filled[level.name] = next(link for link in order if link is not None)
    return filled


def _first_pair(platform: Platform, some: Sequence[int], level: int) -> tuple[int, ...]:
    """Return the first two of these devices whose deepest common level is `level`, or ()."""
    for i, one in enumerate(some[:-1]):
        others = np.array(some[i + 1 :])
        shared = platform.shared_level(np.full(others.size, one), others)
        if (shared == level).any():
            return one, int(others[int((shared == level).argmax())])
    return ()


def _link(cpus: Sequence[int], level: str, say: Say) -> Link:
    here, there = cpus
    with ProcessPing((there,), here) as ping:
        found = measure_link(ping, precision=PRECISION)
    return known_link(found, f"cores {here} and {there} (level {level})", say)


def known_link(found: FittedLink, ends: str, say: Say) -> Link:
    """Return a link with rounded values; report by `say` if an interval exceeds half the value."""
    for key, value, half in (
        ("alpha", found.link.alpha, found.alpha_half),
        ("beta", found.link.beta, found.beta_half),
    ):
        if half > 0.5 * value:
            say(f"{key} between {ends} is known only to within {half / value:.0%}")
    return Link(rounded(found.link.alpha), rounded(found.link.beta))


def rounded(value: float) -> float:
    """Return the value rounded to four significant digits; measurements are not more precise."""
    return float(f"{value:.4g}")


class Home(NamedTuple):
    """Computer and socket of a rank, and the computer's memory [B] and number of GPUs."""

    host: str
    socket: int
    memory: float
    gpus: int


def measured_ranks(comm: Comm, progress: Progress, say: Say, rows: int = ROWS) -> Platform:
    """Return the machine of all ranks, the same on every rank.

    Speeds [rows/s of spmv] are measured on all ranks at once, links by MPI messages. rows: load of
    each device. say: called with a sentence for each speed or link that could not be measured
    precisely, or at all. Raises UsageError if ranks share a core, NotFoundError if no speed could
    be measured.
    """
    places = cores()
    (mine,) = devices_of_rank(None, comm, [core.cpu for core in places])
    homes = comm.allgather(_home(mine))
    progress(f"speeds of {comm.size} ranks at once", 0.0)
    devices = _rank_devices(homes)
    speeds = _rank_speeds(comm, mine, devices, homes, rows, say)
    progress("links between ranks", 0.6)
    levels = rank_levels(comm, homes, say)
    for host, gpus in {home.host: home.gpus for home in homes}.items():
        if gpus:
            say(f"{host}: its {gpus} GPUs are left out: ranks are measured on cores only")
    hosts = list(dict.fromkeys(home.host for home in homes))
    named = hosts[0] if len(hosts) == 1 else f"{len(hosts)} computers"
    return Platform(
        tuple(
            Device(d.name, speeds[d.name], memory=d.memory, at=d.at)
            for d in devices
        ),
        levels,
        name=f"{named}, {comm.size} ranks: {SPMV_SPEEDS}",
    )  # fmt: skip


def _home(mine: MeasuredDevice) -> Home:
    sockets = {core.cpu: core.socket for core in cores()}
    at = sockets.get(mine.cpus[0], 0) if mine.cpus else 0
    return Home(socket.gethostname(), at, usable_memory(), len(gpus_here()))


def _rank_devices(homes: Sequence[Home]) -> list[Device]:
    """Return a device of speed 1 for each rank, with an equal share of its computer's memory."""
    hosts = [home.host for home in homes]
    several = len(set(hosts)) > 1
    return [
        Device(
            f"rank{rank}",
            1.0,
            memory=readable_memory(home.memory / hosts.count(home.host)),
            at=f"{home.host.replace('/', '_')}/socket{home.socket}"
            if several
            else f"socket{home.socket}",
        )
        for rank, home in enumerate(homes)
    ]


def _rank_speeds(
    comm: Comm,
    mine: MeasuredDevice,
    devices: Sequence[Device],
    homes: Sequence[Home],
    rows: int,
    say: Say,
) -> dict[str, float]:
    share = memory_share([home.host for home in homes].count(socket.gethostname()))
    load = min(comm.allgather(max(min(rows, int(share / ROW_BYTES)), 1)))
    worker = Worker(mine.name, KernelJob(KERNEL, "cpu", mine.cpus, share))
    with RankBench(Bench([worker], POINT, comm.rest), comm) as bench:
        outcomes = bench.measure([load] * comm.size)
    return speeds_of_devices(devices, known_speeds(bench.names, outcomes, say), say)


def rank_levels(comm: Comm, homes: Sequence[Home], say: Say) -> tuple[Level, ...]:
    """Return the levels with measured links, the same on every rank.

    Within a socket and within a computer, the first pair of ranks is measured. Between computers,
    the link is the median over the links from the first to at most MOST_HOSTS others; without a
    second computer, there is no level "cluster". A level without a pair gets the link of the
    nearest level that has one.
    """
    pairs = list(combinations(range(len(homes)), 2))

    def first(same_host: bool, same_socket: bool) -> list[tuple[int, int]]:
        return [
            (a, b)
            for a, b in pairs
            if (homes[a].host == homes[b].host) == same_host
            and (not same_host or (homes[a].socket == homes[b].socket) == same_socket)
        ]

    hosts = {homes[b].host: (a, b) for a, b in reversed(first(False, False)) if a == 0}
    chosen = [first(True, True)[:1], first(True, False)[:1], list(hosts.values())[-MOST_HOSTS:]]
    found = [median_link([link_of_ranks(comm, a, b, say) for a, b in kind]) for kind in chosen]
    inner, middle, outer = found
    middle, inner = middle or inner or outer or Link(), inner or middle or outer or Link()
    levels = (Level("machine", middle), Level("socket", inner))
    return levels if outer is None else (Level("cluster", outer), *levels)


def median_link(links: Sequence[Link]) -> Link | None:
    """Return the link of median latency and bandwidth, or None if there are no links."""
    if not links:
        return None
    return Link(
        statistics.median(link.alpha for link in links),
        statistics.median(link.beta for link in links),
    )


def link_of_ranks(comm: Comm, a: int, b: int, say: Say) -> Link:
    """Return, on all ranks, the link between ranks a and b, measured while other ranks sleep."""
    found: FittedLink | EvenerError | None = None
    if comm.rank == a:
        ping = RankPing(comm, [b])
        try:
            found = measure_link(ping, precision=PRECISION)
        except EvenerError as error:  # raised on all ranks below, because b waits for messages
            found = error
        ping.end()
    elif comm.rank == b:
        answer(comm, max(SIZES), a)
    comm.rest()
    found = comm.bcast(found, a)
    if isinstance(found, EvenerError):
        raise found
    assert found is not None
    return known_link(found, f"ranks {a} and {b}", say)
