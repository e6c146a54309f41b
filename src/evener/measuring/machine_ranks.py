"""Measures the computers of an MPI program's ranks, a device a rank: speeds and links.

Ranks have the names that `evener measure` gives them under mpiexec, so that its speed curves can be
used with the machine file.
"""

from __future__ import annotations

import socket
import statistics
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from evener.errors import EvenerError
from evener.measuring.campaign import Progress
from evener.measuring.devices import (
    CGROUP_FOLDER,
    MeasuredDevice,
    cores,
    cuda_devices,
    memory_share,
    usable_memory,
)
from evener.measuring.links import PRECISION, SIZES, FittedLink, measure_link
from evener.measuring.machine import (
    KERNEL,
    POINT,
    ROW_BYTES,
    ROWS,
    Say,
    known_link,
    known_speeds,
    speeds_of_devices,
)
from evener.measuring.pings import RankPing, answer
from evener.measuring.ranks import RankBench, devices_of_rank
from evener.measuring.together import Bench
from evener.measuring.workers import KernelJob, Worker
from evener.platforms.computer import readable_memory
from evener.platforms.described import SPMV_SPEEDS
from evener.platforms.platform import Device, Level, Link, Platform
from evener.running.comm import Comm

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
        name=f"{named}, {comm.size} ranks: {SPMV_SPEEDS}",
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
    found = [median_link([link_of_ranks(comm, a, b, say) for a, b in kind]) for kind in chosen]
    inner, middle, outer = found
    middle, inner = middle or inner or outer or Link(), inner or middle or outer or Link()
    levels = (Level("machine", middle), Level("socket", inner))
    return levels if outer is None else (Level("cluster", outer), *levels)


def median_link(links: Sequence[Link]) -> Link | None:
    """Return the link of median latency and bandwidth; None for no links."""
    if not links:
        return None
    return Link(
        statistics.median(link.alpha for link in links),
        statistics.median(link.beta for link in links),
    )


def link_of_ranks(comm: Comm, a: int, b: int, say: Say) -> Link:
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
