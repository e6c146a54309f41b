"""Measures a machine for its file: speeds of all devices at work at once, and links.

The machine is this computer, or the computers of an MPI program's ranks with a device a rank. Ranks
have the names that `evener measure` gives them under mpiexec, so that its speed curves can be used
with the file. A speed is rows per second of `spmv` at a load larger than the caches; a row stands
for a vertex of a mesh.
"""

from __future__ import annotations

import socket
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from evener.errors import EvenerError, NotFoundError
from evener.measuring.campaign import Progress
from evener.measuring.devices import (
    CGROUP_FOLDER,
    GPU_SPEED,
    MeasuredDevice,
    cores,
    cuda_devices,
    discover_platform,
    memory_share,
    usable_memory,
)
from evener.measuring.links import PRECISION, SIZES, FittedLink, measure_link
from evener.measuring.outcomes import BUSY, Outcome, Point, Precision
from evener.measuring.pings import ProcessPing, RankPing, answer
from evener.measuring.ranks import RankBench, devices_of_rank
from evener.measuring.together import Bench
from evener.measuring.workers import KernelJob, Worker
from evener.platforms.platform import Device, Level, Link, Platform
from evener.running.comm import Comm

KERNEL = "spmv"
ROWS = 1_000_000  # 100 MB: more than any core's share of a cache
ROW_BYTES = 400.0  # bytes of memory a row takes at most, while the matrix is being made
POINT = Precision(seconds=3.0)
Say = Callable[[str], None]


def measured_platform(progress: Progress, say: Say, rows: int = ROWS) -> Platform:
    """Return this computer with measured speeds [rows/s of spmv] and links between its cores.

    rows: load of each device. say: called with a sentence for each speed or link that could not be
    measured, or not well. Raises NotFoundError where no core's speed could be measured.
    """
    found = discover_platform()
    places = cores()
    progress(f"speeds of {found.k} devices at once", 0.0)
    speeds = measured_speeds(found.devices, [core.cpu for core in places], rows, say)
    progress("links", 0.6)
    levels = measured_levels([core.cpu for core in places], [core.socket for core in places], say)
    name = f"{socket.gethostname()}: rows of {KERNEL} a second"
    devices = tuple(replace(d, speed=speeds[d.name]) for d in found.devices)
    return Platform(devices, levels, name=name)


def measured_speeds(
    devices: Sequence[Device], cpus: Sequence[int], rows: int, say: Say
) -> dict[str, float]:
    """Return the speed of each device, all measured at once [rows/s].

    cpus: the core of each CPU device. A core that cannot be measured gets the median speed of the
    others, a GPU GPU_SPEED times that.
    """
    share = memory_share(len(devices))
    load = max(min(rows, int(share / ROW_BYTES)), 1)
    free = iter(cpus)
    workers = []
    for device in devices:
        gpu = device.kind == "cuda"
        index = {"index": int(device.name.removeprefix("cuda"))} if gpu else {}
        job = KernelJob(KERNEL, device.kind, () if gpu else (next(free),), share, index)
        workers.append(Worker(device.name, job))
    with Bench(workers, POINT) as bench:
        for worker in workers:
            worker.launch()
        working = [_works(worker, say) for worker in workers]
        outcomes = bench.measure([load if works else None for works in working])
    measured = known_speeds(bench.names, outcomes, say)
    return completed(devices, measured, say)


def known_speeds(
    names: Sequence[str], outcomes: Sequence[Outcome | None], say: Say
) -> dict[str, float]:
    """Return the measured speeds [rows/s]; `say` which are missing or not known precisely."""
    measured = {}
    for name, outcome in zip(names, outcomes, strict=True):
        if isinstance(outcome, Point):
            measured[name] = rounded(outcome.sample.speed)
            if not outcome.reached:
                width = outcome.sample.half_width / outcome.sample.seconds
                busy = f"; other processes had its core {1 - outcome.share:.0%} of the time"
                say(
                    f"{name}: speed known to {width:.0%} only"
                    + (busy if outcome.share < BUSY else "")
                )
        elif outcome is not None:
            say(f"{name} could not be measured: {outcome.message}")
    return measured


def _works(worker: Worker, say: Say) -> bool:
    """Return whether a device's process starts; where a core's does not, raise its error."""
    try:
        worker.ensure()
    except EvenerError as error:
        if worker.job.kind == "cpu":
            raise
        say(f"{worker.name} could not be measured: {error.message}")
        return False
    return True


def completed(
    devices: Sequence[Device], measured: Mapping[str, float], say: Say
) -> dict[str, float]:
    """Return a speed for each device; `say` the assumed speed of each that was not measured.

    Raises NotFoundError where no core was measured.
    """
    known = [measured[d.name] for d in devices if d.kind == "cpu" and d.name in measured]
    if not known:
        raise NotFoundError("no core's speed could be measured")
    core = statistics.median(known)
    speeds = dict(measured)
    for device in devices:
        if device.name not in speeds:
            times = 1.0 if device.kind == "cpu" else GPU_SPEED
            say(f"{device.name}: taken as {times:g} times a core's speed")
            speeds[device.name] = times * core
    return speeds


def measured_levels(cpus: Sequence[int], sockets: Sequence[int], say: Say) -> tuple[Level, Level]:
    """Return the levels machine and socket with measured links.

    The first two cores of a socket exchange messages for the link within sockets, the first cores
    of two sockets for that between them. Where only one of the links exists, both levels get it.
    """
    first = {s: cpus[list(sockets).index(s)] for s in dict.fromkeys(sockets)}
    shared = ([cpu for cpu, own in zip(cpus, sockets, strict=True) if own == s][:2] for s in first)
    within = next((pair for pair in shared if len(pair) == 2), None)
    across = list(first.values())[:2] if len(first) > 1 else None
    inner = _link(within, say) if within else None
    outer = _link(across, say) if across else None
    if inner is None and outer is None:
        say("only one core: links have no latency and unlimited bandwidth")
    inner, outer = inner or outer or Link(), outer or inner or Link()
    return Level("machine", outer), Level("socket", inner)


def _link(cpus: Sequence[int], say: Say) -> Link:
    here, there = cpus
    with ProcessPing((there,), here) as ping:
        found = measure_link(ping, precision=PRECISION)
    return known_link(found, f"cores {here} and {there}", say)


def known_link(found: FittedLink, ends: str, say: Say) -> Link:
    """Return a link with rounded values; `say` which has an interval wider than half of it."""
    for key, value, half in (
        ("alpha", found.link.alpha, found.alpha_half),
        ("beta", found.link.beta, found.beta_half),
    ):
        if half > 0.5 * value:
            say(f"{key} between {ends} is known only to {half / value:.0%}")
    return Link(rounded(found.link.alpha), rounded(found.link.beta))


def rounded(value: float) -> float:
    """Return the value to four significant digits: measurements are not more precise."""
    return float(f"{value:.4g}")


MOST_HOSTS = 8  # computers at most to which the first one measures its link


class Home(NamedTuple):
    """The computer and socket of a rank, and that computer's memory [B] and number of GPUs."""

    host: str
    socket: int
    memory: float
    gpus: int


def measured_ranks(comm: Comm, progress: Progress, say: Say, rows: int = ROWS) -> Platform:
    """Return the machine of all ranks, the same on every rank.

    Speeds [rows/s of spmv] are measured on all ranks at once, links by MPI messages. rows: load of
    each device. say: called with a sentence for each speed or link that could not be measured, or
    not well. Raises UsageError where ranks share a core, NotFoundError where no speed could be
    measured.
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
        name=f"{named}, {comm.size} ranks: rows of {KERNEL} a second",
    )  # fmt: skip


def _home(mine: MeasuredDevice) -> Home:
    sockets = {core.cpu: core.socket for core in cores()}
    at = sockets.get(mine.cpus[0], 0) if mine.cpus else 0
    return Home(socket.gethostname(), at, usable_memory(CGROUP_FOLDER), len(cuda_devices()))


def _rank_devices(homes: Sequence[Home]) -> list[Device]:
    """Return a device of speed 1 for each rank, with an equal share of its computer's memory."""
    hosts = [home.host for home in homes]
    several = len(set(hosts)) > 1
    return [
        Device(
            f"rank{rank}",
            1.0,
            memory=home.memory / hosts.count(home.host),
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
    return completed(devices, known_speeds(bench.names, outcomes, say), say)


def rank_levels(comm: Comm, homes: Sequence[Home], say: Say) -> tuple[Level, ...]:
    """Return the levels with measured links, the same on every rank.

    Within a socket and within a computer the first pair of ranks is measured. Between computers the
    median of the links from the first to up to MOST_HOSTS others is taken; without a second
    computer there is no level "cluster". A level without a pair gets the link of the next level.
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
    found = [_median_link([_link_of_ranks(comm, a, b, say) for a, b in kind]) for kind in chosen]
    inner, middle, outer = found
    middle, inner = middle or inner or outer or Link(), inner or middle or outer or Link()
    levels = (Level("machine", middle), Level("socket", inner))
    return levels if outer is None else (Level("cluster", outer), *levels)


def _median_link(links: Sequence[Link]) -> Link | None:
    if not links:
        return None
    return Link(
        statistics.median(link.alpha for link in links),
        statistics.median(link.beta for link in links),
    )


def _link_of_ranks(comm: Comm, a: int, b: int, say: Say) -> Link:
    """Return, on all ranks, the link between ranks a and b, measured while the others sleep."""
    found: FittedLink | EvenerError | None = None
    if comm.rank == a:
        ping = RankPing(comm, [b])
        try:
            found = measure_link(ping, precision=PRECISION)
        except EvenerError as error:  # raised on all ranks below: b waits for messages
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
