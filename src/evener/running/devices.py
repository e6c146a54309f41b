"""Devices on which a plan is run, given as text such as cpu:0-1 and cuda:0."""

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
DIGITS = 5  # most digits in the number of a core


@dataclass(frozen=True)
class Cuda:
    """A CUDA device, by its number among those that CUDA lists."""

    number: int


def devices_named(words: str) -> list[list[int] | Cuda]:
    """Return the devices in a text such as "cpu:0-1,cpu:2+4,cuda:0"; they need not exist here.

    A device of CPU cores is a list of core numbers; each core gets a thread. Raises UsageError if
    the text is malformed.
    """
    return [_device(word.strip()) for word in words.split(",")]


def devices_of(words: str, comm: MpiComm | None = None) -> list[list[int] | Cuda]:
    """Return the devices in a text such as "cpu:0-1,cpu:2+4,cuda:0", and check that they exist.

    comm: all MPI ranks, each of which calls this. A device's cores or CUDA device belong to the
    computer of the device's rank, so devices of different computers may have the same numbers.
    Raises UsageError if the text is malformed, if this process may not use a core, if a CUDA device
    does not exist, or if two devices of one computer share a core or a CUDA device.
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
    """Raise UsageError if two devices of a computer share a core or a CUDA device."""
    cores = [core for device in devices if not isinstance(device, Cuda) for core in device]
    seen: set[int] = set()
    for core in cores:
        if core in seen:
            raise UsageError(f"core {core} belongs to two devices: each thread needs its own core")
        seen.add(core)
    cuda = [device for device in devices if isinstance(device, Cuda)]
    if len(set(cuda)) < len(cuda):
        raise UsageError("a CUDA device occurs twice, but it can be only one device of the plan")


def _check_there(devices: Sequence[list[int] | Cuda]) -> None:
    """Raise UsageError if this process cannot use one of the cores or CUDA devices."""
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
            raise UsageError(
                f"device {word[:40]!r} has a core number with more than {DIGITS} digits"
            )
        cores.extend(range(int(first), int(last or first) + 1))
    if not cores or len(set(cores)) < len(cores):
        raise UsageError(f"device {word!r} has no core, or the same core twice")
    return cores
