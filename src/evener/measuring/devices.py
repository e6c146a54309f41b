"""Devices to be measured: by name, by a process file, or one for each MPI rank."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from evener.errors import NotFoundError, UsageError
from evener.measuring.this_computer import cores, gpus_here, usable_memory
from evener.measuring.together import together
from evener.platforms.processes import Process, of_host
from evener.running.comm import Comm

SPARE = 0.9  # share of the free memory that measuring may use


@dataclass(frozen=True)
class MeasuredDevice:
    """A device to be measured: its name, kind and cores; for "cuda" also its index.

    The cores of a CUDA device are those that drive it. memory [B]: limit of its kernel; None: the
    common limit. options: of its kernel, in addition to those of all kernels.
    """

    name: str
    kind: str = "cpu"
    cpus: tuple[int, ...] = ()
    index: int = 0
    memory: float | None = None
    options: tuple[tuple[str, Any], ...] = ()


def devices_of(text: str | None, cpus: Sequence[int] | None = None) -> list[MeasuredDevice]:
    """Return the devices in a list such as "cpu0,cpu2-3,cuda0"; None: one device for each core.

    cpu2-3 is one device of two cores. cuda0 is driven by the first core that no other device uses,
    if any; cuda0@cpu5 chooses another core. Raises UsageError that names the invalid entry.
    """
    usable = [core.cpu for core in cores()] if cpus is None else list(cpus)
    if text is None:
        return [MeasuredDevice(f"cpu{cpu}", cpus=(cpu,)) for cpu in usable]
    devices = [_named_device(word.strip()) for word in text.split(",")]
    taken: set[int] = set()
    for device in devices:
        if shared := taken & set(device.cpus):
            raise UsageError(f"--device: core {min(shared)} belongs to two devices")
        taken |= set(device.cpus)
    if len({device.name for device in devices}) < len(devices):
        raise UsageError("--device: a device occurs twice")
    _refuse_foreign(taken)
    free = [cpu for cpu in usable if cpu not in taken]
    return [
        MeasuredDevice(d.name, d.kind, (free.pop(0),), d.index)
        if d.kind == "cuda" and not d.cpus and free
        else d
        for d in devices
    ]


def memory_share(n_devices: int) -> float:
    """Return the memory that each of n devices of this computer may use now [B]."""
    import psutil

    free = min(usable_memory(), float(psutil.virtual_memory().available))
    return SPARE * free / n_devices


def _named_device(word: str) -> MeasuredDevice:
    if match := re.fullmatch(r"cpu(\d{1,6})(?:-(\d{1,6}))?", word):
        first, last = int(match[1]), int(match[2] or match[1])
        if last >= first:
            return MeasuredDevice(word, cpus=tuple(range(first, last + 1)))
    if match := re.fullmatch(r"(cuda(\d{1,3}))(?:@cpu(\d{1,6}))?", word):
        cpus = (int(match[3]),) if match[3] else ()
        return MeasuredDevice(match[1], "cuda", cpus, int(match[2]))
    raise UsageError(
        f"--device: {word!r} is not a device", hint="Devices are cpu0, cpu0-3, cuda0 and the like."
    )


def _refuse_foreign(cpus: set[int]) -> None:
    if hasattr(os, "sched_getaffinity"):
        foreign = cpus - os.sched_getaffinity(0)
        if foreign:
            may = ",".join(map(str, sorted(os.sched_getaffinity(0))))
            raise UsageError(
                f"--device: this process may not use core {min(foreign)}",
                hint=f"It may use {may}.",
            )


def devices_of_rank(text: str | None, comm: Comm, cpus: Sequence[int]) -> list[MeasuredDevice]:
    """Return the devices that this rank measures, named after the rank.

    text: names as for devices_of; the only rank of a computer takes all of them, several ranks take
    one each. None: the cores to which a rank is bound are one device; if ranks of a computer share
    cores, each takes one core. cpus: the cores that this rank may use. Raises UsageError on all
    ranks if the names are not one per rank of a computer, or if a computer has fewer cores than
    ranks.
    """
    homes = comm.allgather((socket.gethostname(), tuple(cpus)))
    mine = together(comm, lambda: _chosen(text, comm, homes))
    prefix = f"rank{comm.rank}"
    if len(mine) == 1:
        return [replace(mine[0], name=prefix)]
    return [replace(device, name=f"{prefix}.{device.name}") for device in mine]


def _chosen(
    text: str | None, comm: Comm, gathered: Sequence[tuple[str, tuple[int, ...]]]
) -> list[MeasuredDevice]:
    here, cpus = gathered[comm.rank]
    beside = [rank for rank, (host, _) in enumerate(gathered) if host == here]
    place = beside.index(comm.rank)
    if text is not None:
        devices = devices_of(text, cpus)
        if len(beside) == 1:
            return devices
        if len(devices) != len(beside):
            raise UsageError(
                f"--device names {len(devices)} devices, but {here} has {len(beside)} ranks",
                hint="Name one device for each rank.",
            )
        return [devices[place]]
    bound = [set(gathered[rank][1]) for rank in beside]
    if len(beside) > 1 and any(bound[place] & own for own in bound if own is not bound[place]):
        if len(beside) > len(cpus):
            raise UsageError(f"{len(beside)} ranks share {len(cpus)} cores of {here}")
        return [MeasuredDevice("", cpus=(cpus[place],))]
    return [MeasuredDevice("", cpus=tuple(cpus))] if cpus else [MeasuredDevice("")]


def devices_here(
    text: str | None, comm: Comm, processes: Sequence[Process] = ()
) -> list[MeasuredDevice]:
    """Return the devices of this rank, or of this computer if the program has one rank.

    text: names as for devices_of; processes: of a process file, instead of names.
    """
    if processes:
        return devices_of_processes(processes, comm)
    if comm.size == 1:
        return devices_of(text)
    return devices_of_rank(text, comm, [core.cpu for core in cores()])


def memory_here(comm: Comm, n_devices: int) -> float:
    """Return the memory of each of this rank's devices [B]: an equal share of the free memory."""
    hosts = comm.allgather([socket.gethostname()] * n_devices)
    return memory_share(sum(own.count(socket.gethostname()) for own in hosts))


def devices_of_processes(processes: Sequence[Process], comm: Comm) -> list[MeasuredDevice]:
    """Return the devices of this rank, bound as its process states; binds the rank itself, too.

    The i-th rank of a host is the host's i-th process; the only rank of a host has the devices of
    all its processes. Raises NotFoundError on all ranks if the file has no process for a host, and
    UsageError if several ranks do not match its processes, or if this computer lacks a core.
    """
    here = socket.gethostname()
    hosts = comm.allgather(here)
    place, beside = hosts[: comm.rank].count(here), hosts.count(here)
    for host in dict.fromkeys(hosts):  # the same on every rank, so that all raise
        _check_host(processes, host, hosts.count(host))
    own = of_host(processes, here)
    mine = own if beside == 1 else [own[place]]
    prefix = f"rank{comm.rank}" if comm.size > 1 else ""
    devices = [_device_of_process(process, prefix, alone=len(mine) == 1) for process in mine]
    if len(mine) == 1 and devices[0].cpus:
        _bind(mine[0], devices[0].cpus)
    return devices


def _check_host(processes: Sequence[Process], host: str, ranks: int) -> None:
    own = of_host(processes, host)
    if not own:
        names = ", ".join(dict.fromkeys(p.host for p in processes))
        raise NotFoundError(
            f"the process file has no process on {host}", hint=f"Its hosts are: {names}."
        )
    if ranks > 1 and len(own) != ranks:
        raise UsageError(f"{host} has {ranks} ranks, but {len(own)} processes in the process file")


def _device_of_process(process: Process, prefix: str, *, alone: bool) -> MeasuredDevice:
    by_kind = f"cuda{process.index}" if process.kind == "cuda" else f"process{process.rank}"
    name = prefix if prefix and alone else ".".join(filter(None, [prefix, by_kind]))
    return MeasuredDevice(
        name,
        process.kind,
        _cores_here(process),
        process.index,
        process.memory,
        tuple(process.options.items()),
    )


def _cores_here(process: Process) -> tuple[int, ...]:
    sockets: dict[int, list[int]] = {}
    for core in cores():
        sockets.setdefault(core.socket, []).append(core.cpu)
    found = process.cores(sockets)
    if process.bind and not found:
        raise UsageError(f"{process.title}: this computer has no {process.bind}")
    missing = set(found) - set(range(os.cpu_count() or 1))
    if missing:
        raise UsageError(f"{process.title}: this computer has no core {min(missing)}")
    return found


def _bind(process: Process, cpus: Sequence[int]) -> None:
    if hasattr(os, "sched_setaffinity"):
        try:
            os.sched_setaffinity(0, cpus)
        except OSError as error:
            raise UsageError(
                f"{process.title} cannot be bound to {process.bind}: {error}"
            ) from error


def processes_here(comm: Comm) -> list[Process]:
    """Return the processes for a new process file, the same on every rank.

    With one rank, there is a process for each core of this computer; the first ones drive its CUDA
    devices, as each needs a core ([Cla14]_, A.2). With several ranks, there is a process per rank,
    on the cores that `evener measure` would use. Raises UsageError if there are too few cores for
    the ranks.
    """
    host, usable = socket.gethostname(), [core.cpu for core in cores()]
    if comm.size == 1:
        gpus = len(gpus_here())
        return [
            Process(host, i, "cuda", i, f"cpu{cpu}")
            if i < gpus
            else Process(host, i, bind=f"cpu{cpu}")
            for i, cpu in enumerate(usable)
        ]
    (mine,) = devices_of_rank(None, comm, usable)
    found: list[Process] = []
    for other, cpus in comm.allgather((host, mine.cpus)):
        bind = ",".join(f"cpu{cpu}" for cpu in cpus)
        found.append(Process(other, len(of_host(found, other)), bind=bind))
    return found
