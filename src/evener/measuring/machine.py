"""Measures this computer for a machine file: speeds of all devices at work at once, and links.

A speed is rows per second of `spmv` at a load larger than the caches; a row stands for a vertex of
a mesh.
"""

from __future__ import annotations

import socket
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from evener.errors import EvenerError, NotFoundError
from evener.measuring.campaign import Progress
from evener.measuring.devices import GPU_SPEED, cores, discover_platform, memory_share
from evener.measuring.links import PRECISION, FittedLink, measure_link
from evener.measuring.outcomes import BUSY, Outcome, Point, Precision
from evener.measuring.pings import ProcessPing
from evener.measuring.together import Bench
from evener.measuring.workers import KernelJob, Worker
from evener.platforms.platform import Device, Level, Link, Platform

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
