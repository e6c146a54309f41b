"""Devices of this computer on which a plan is run, by words such as cpu:0-1 and cuda:0."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from evener.errors import UsageError

_WORD = re.compile(r"cpu:(\d+(?:-\d+)?(?:\+\d+(?:-\d+)?)*)")
_CUDA = re.compile(r"cuda:(\d+)")


@dataclass(frozen=True)
class Cuda:
    """A CUDA device: its number among those that CUDA shows."""

    number: int


def devices_of(words: str) -> list[list[int] | Cuda]:
    """Return the devices of words such as "cpu:0-1,cpu:2+4,cuda:0".

    A device of cores, of which each gets a thread, is the list of these. Raises UsageError for
    other words, for cores that this process may not use, for CUDA devices that are not there, and
    for a core or a CUDA device named twice.
    """
    devices = [_device(word.strip()) for word in words.split(",")]
    _check_cores([device for device in devices if not isinstance(device, Cuda)])
    _check_cuda([device.number for device in devices if isinstance(device, Cuda)])
    return devices


def _check_cores(devices: list[list[int]]) -> None:
    allowed = os.sched_getaffinity(0)
    seen: set[int] = set()
    for core in (core for device in devices for core in device):
        if core not in allowed:
            raise UsageError(
                f"there is no core {core} for this process",
                hint=f"It may use: {', '.join(map(str, sorted(allowed)))}.",
            )
        if core in seen:
            raise UsageError(f"core {core} belongs to two devices: each thread needs its own")
        seen.add(core)


def _check_cuda(numbers: list[int]) -> None:
    if not numbers:
        return
    from evener.running.engine.device_cuda_kernels import check_cuda

    if len(set(numbers)) < len(numbers):
        raise UsageError("a CUDA device is named twice: its memory and its cores are of one")
    for number in numbers:
        check_cuda(number)


def _device(word: str) -> list[int] | Cuda:
    cuda = _CUDA.fullmatch(word)
    return _cores(word) if cuda is None else Cuda(int(cuda[1]))


def _cores(word: str) -> list[int]:
    found = _WORD.fullmatch(word)
    if found is None:
        raise UsageError(
            f"there is no device {word!r}",
            hint="Devices are cpu:0 (a core), cpu:0-1 or cpu:0+2 (cores of one device), cuda:0.",
        )
    cores: list[int] = []
    for run in found[1].split("+"):
        first, _, last = run.partition("-")
        cores.extend(range(int(first), int(last or first) + 1))
    if not cores or len(set(cores)) < len(cores):
        raise UsageError(f"device {word!r} has no core, or one twice")
    return cores
