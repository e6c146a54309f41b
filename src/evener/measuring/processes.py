"""Devices by a process file: which one a rank measures, on which cores; a file to begin with."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence

from evener.errors import NotFoundError, UsageError
from evener.measuring.devices import (
    MeasuredDevice,
    cores,
    cuda_devices,
    devices_of,
    memory_share,
    visible,
)
from evener.measuring.ranks import devices_of_rank
from evener.platforms.processes import Process, of_host
from evener.running.comm import Comm


def devices_here(
    text: str | None, comm: Comm, processes: Sequence[Process] = ()
) -> list[MeasuredDevice]:
    """Return the devices of this rank, or of this computer where the program has one rank.

    text: names as for devices_of; processes: of a process file, in their place.
    """
    if processes:
        return devices_of_processes(processes, comm)
    if comm.size == 1:
        return devices_of(text)
    return devices_of_rank(text, comm, [core.cpu for core in cores()])


def memory_here(comm: Comm, n_devices: int) -> float:
    """Return the memory of each of this rank's devices [B]: an equal share of what is free here."""
    hosts = comm.allgather([socket.gethostname()] * n_devices)
    return memory_share(sum(own.count(socket.gethostname()) for own in hosts))


def devices_of_processes(processes: Sequence[Process], comm: Comm) -> list[MeasuredDevice]:
    """Return the devices of this rank, bound as its process says; binds the rank itself, too.

    The i-th rank of a host is its process of rank i; a rank alone on its host has the devices of
    all of them. Raises on all ranks NotFoundError where a host has no process in the file,
    UsageError where it has other than one for each of several ranks, or none of its cores is here.
    """
    here = socket.gethostname()
    hosts = comm.allgather(here)
    place, beside = hosts[: comm.rank].count(here), hosts.count(here)
    for host in dict.fromkeys(hosts):  # the same on every rank, so that all raise
        _check_host(processes, host, hosts.count(host))
    own = of_host(processes, here)
    mine = own if beside == 1 else [own[place]]
    prefix = f"rank{comm.rank}" if comm.size > 1 else ""
    devices = [_device(process, prefix, alone=len(mine) == 1) for process in mine]
    if len(mine) == 1 and devices[0].cpus:
        _bind(mine[0], devices[0].cpus)
    return devices


def _check_host(processes: Sequence[Process], host: str, ranks: int) -> None:
    own = of_host(processes, host)
    if not own:
        names = ", ".join(dict.fromkeys(p.host for p in processes))
        raise NotFoundError(
            f"no process of the process file is of {host}", hint=f"Its hosts are: {names}."
        )
    if ranks > 1 and len(own) != ranks:
        raise UsageError(
            f"{ranks} ranks on {host}, for which the process file has {len(own)} processes"
        )


def _device(process: Process, prefix: str, *, alone: bool) -> MeasuredDevice:
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
        raise UsageError(f"{process.title}: there is no {process.bind} here")
    missing = set(found) - set(range(os.cpu_count() or 1))
    if missing:
        raise UsageError(f"{process.title}: there is no core {min(missing)} here")
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
    """Return a process file's processes to begin with, the same on every rank.

    With one rank: one for each core of this computer; the first ones drive its CUDA devices, as
    a core is needed for each ([Cla14]_, A.2). With several: one a rank, on the cores that
    `evener measure` would take. Raises UsageError where ranks lack cores.
    """
    host, usable = socket.gethostname(), [core.cpu for core in cores()]
    if comm.size == 1:
        gpus = len(visible(cuda_devices(), os.environ.get("CUDA_VISIBLE_DEVICES")))
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
