"""Memory shared by the ranks of one computer, so that rows pass between them without a copy."""

from __future__ import annotations

import mmap
import os
import platform
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Protocol

import numpy as np
import numpy.typing as npt

from evener.files.writing import take_room

Bytes = npt.NDArray[np.uint8]
BACKED = Path("/dev/shm")  # where Linux keeps what processes share; small in some containers
OPEN_FILES = Path("/proc/self/fd")  # Linux's way to open what another process has open
LONGEST_NAME = 4096  # bytes of a path (Linux's PATH_MAX)


class Memory(Protocol):
    """Bytes that several ranks read and write."""

    data: Bytes

    def sync(self) -> None:
        """Make writes visible to the other ranks; call it before a barrier of all, and after it."""

    def free(self) -> None:
        """Release the memory; all ranks that share it call, and none uses `data` afterwards."""


def run_around(rank: int, computers: Sequence[object]) -> tuple[int, int]:
    """Return first and end of the consecutive ranks around this one that are on its computer."""
    first, end = rank, rank + 1
    while first > 0 and computers[first - 1] == computers[rank]:
        first -= 1
    while end < len(computers) and computers[end] == computers[rank]:
        end += 1
    return first, end


class OwnMemory:
    """Memory of this process alone: for threads, and for ranks that share with none."""

    def __init__(self, data: Bytes) -> None:
        self.data = data

    def sync(self) -> None:
        """Do nothing: a barrier is enough."""

    def free(self) -> None:
        """Do nothing: the array is garbage-collected."""


def alone(n_bytes: int) -> Memory:
    """Return memory of this process alone."""
    return OwnMemory(np.empty(n_bytes, np.uint8))


class FileMemory:
    """Memory of several processes: a file which the system keeps in memory, mapped by each."""

    def __init__(self, path: str, n_bytes: int) -> None:
        with open(path, "r+b") as file:  # noqa: PTH123
            self.data: Bytes = np.frombuffer(mmap.mmap(file.fileno(), max(n_bytes, 1)), np.uint8)

    def sync(self) -> None:
        """Do nothing: a barrier is enough."""

    def free(self) -> None:
        """Give up the memory; it is released when no process has a part of it any more."""
        self.data = np.empty(0, np.uint8)


# Sends the buffers given first by rank, receives those given then; a wait for others has an end.
Tell = Callable[[Mapping[int, Bytes], Mapping[int, Bytes]], None]


def in_common(n_bytes: int, rank: int, near: range, tell: Tell) -> Memory | None:
    """Return memory of the consecutive ranks `near` of one computer; all of them call.

    None where there is no room for it. Raises ToolError where one of them does not come in time:
    calls that make a window of MPI would wait for ever.
    """
    if len(near) == 1:
        return alone(n_bytes)
    name, others = np.zeros(LONGEST_NAME, np.uint8), near[1:]
    if rank != near[0]:
        tell({}, {near[0]: name})
        path = bytes(name).rstrip(b"\0").decode()
        memory = FileMemory(path, n_bytes) if path else None
        tell({near[0]: name}, {})
        return memory
    with _new_file(n_bytes) or nullcontext() as file:
        path = "" if file is None else _path_of(file)
        name[: len(path.encode())] = np.frombuffer(path.encode(), np.uint8)
        tell(dict.fromkeys(others, name), {})
        memory = None if file is None else FileMemory(path, n_bytes)
        tell({}, {q: np.zeros_like(name) for q in others})  # all have it open
    return memory


def computer() -> str:
    """Return what is equal for processes that can share memory.

    That is the computer, the file system, and, where processes have numbers, whose numbers.
    """
    boot, numbers = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
    name = boot.read_text().strip() if boot.exists() else platform.node()
    whose = numbers.readlink() if numbers.is_symlink() else ""
    return f"{name} {_folder().stat().st_dev} {whose}"


def _folder() -> Path:
    return BACKED if BACKED.is_dir() else Path(tempfile.gettempdir())


def _new_file(n_bytes: int) -> IO[bytes] | None:
    """Return a new file, all of zeros; None, with a warning, where there is no room for it.

    It is gone when no process has it open; where there is /proc it has no name, so that nothing is
    left of it if this process is killed.
    """
    make = tempfile.TemporaryFile if OPEN_FILES.is_dir() else tempfile.NamedTemporaryFile
    file: IO[bytes] | None = None
    try:
        file = make(prefix="evener-", dir=_folder())
        take_room(file, max(n_bytes, 1))
    except OSError as error:
        if file is not None:
            file.close()
        warnings.warn(
            f"{n_bytes:,} bytes of rows are not shared between the ranks of this computer: "
            f"{_folder()} has no room ({error.strerror}). They will be copied when they move.",
            stacklevel=2,
        )
        return None
    return file


def _path_of(file: IO[bytes]) -> str:
    """Return by what path other processes open a file."""
    return f"/proc/{os.getpid()}/fd/{file.fileno()}" if OPEN_FILES.is_dir() else str(file.name)
