"""Devices on which a plan is run, by words such as cpu:0-1 and cuda:0."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from evener.errors import UsageError
from evener.running.hybrid import devices_of_process
from evener.running.mpi_comm import MpiComm

_WORD = re.compile(r"cpu:(\d+(?:-\d+)?(?:\+\d+(?:-\d+)?)*)")
_CUDA = re.compile(r"cuda:(\d{1,5})")
DIGITS = 5  # of the number of a core, at most


@dataclass(frozen=True)
class Cuda:
    """A CUDA device: its number among those that CUDA shows."""

    number: int


def devices_named(words: str) -> list[list[int] | Cuda]:
    """Return the devices of words such as "cpu:0-1,cpu:2+4,cuda:0", wherever they are.

    A device of cores, of which each gets a thread, is the list of these. Raises UsageError for
    other words.
    """
    return [_device(word.strip()) for word in words.split(",")]


def devices_of(words: str, comm: MpiComm | None = None) -> list[list[int] | Cuda]:
    """Return the devices of words such as "cpu:0-1,cpu:2+4,cuda:0", which are here.

    comm: all ranks, each of which calls; words mean cores and CUDA devices of the computer on which
    the device's rank is, so that those of several computers may have the same. Raises UsageError
    for other words, for cores that this process may not use, for CUDA devices that are not there,
    and for a core or a CUDA device of one computer named twice.
    """
    devices = devices_named(words)
    own, here = range(len(devices)), list(range(len(devices)))
    if comm is not None:
        own = devices_of_process(comm, len(devices))
        hosts = chain.from_iterable(comm.allgather([socket.gethostname()] * len(own)))
        here = [i for i, host in enumerate(hosts) if host == socket.gethostname()]
    _check_named_once([devices[i] for i in here])
    _check_there([devices[i] for i in own])
    return devices


def _check_named_once(devices: Sequence[list[int] | Cuda]) -> None:
    """Refuse a core or a CUDA device that belongs to two devices of a computer."""
    cores = [core for device in devices if not isinstance(device, Cuda) for core in device]
    seen: set[int] = set()
    for core in cores:
        if core in seen:
            raise UsageError(f"core {core} belongs to two devices: each thread needs its own core")
        seen.add(core)
    cuda = [device for device in devices if isinstance(device, Cuda)]
    if len(set(cuda)) < len(cuda):
        raise UsageError("a CUDA device occurs twice: it can be one device of the plan only")


def _check_there(devices: Sequence[list[int] | Cuda]) -> None:
    """Refuse cores and CUDA devices that this process does not have."""
    allowed = os.sched_getaffinity(0)
    for device in devices:
        if isinstance(device, Cuda):
            from evener.running.engine.device_cuda_kernels import check_cuda

            check_cuda(device.number)
            continue
        for core in device:
            if core not in allowed:
                raise UsageError(
                    f"this process may not use core {core}",
                    hint=f"It may use: {', '.join(map(str, sorted(allowed)))}.",
                )


def _device(word: str) -> list[int] | Cuda:
    cuda = _CUDA.fullmatch(word)
    return _cores(word) if cuda is None else Cuda(int(cuda[1]))


def _cores(word: str) -> list[int]:
    found = _WORD.fullmatch(word)
    if found is None:
        raise UsageError(
            f"{word!r} is not a device",
            hint="Devices are cpu:0 (a core), cpu:0-1 or cpu:0+2 (cores of one device), cuda:0.",
        )
    cores: list[int] = []
    for run in found[1].split("+"):
        first, _, last = run.partition("-")
        if max(len(first), len(last)) > DIGITS:
            raise UsageError(f"device {word[:40]!r} has a core number of more than {DIGITS} digits")
        cores.extend(range(int(first), int(last or first) + 1))
    if not cores or len(set(cores)) < len(cores):
        raise UsageError(f"device {word!r} names no core, or a core twice")
    return cores
