"""Memory shared by the ranks of one computer, so that rows move between them without a copy."""

from __future__ import annotations

import mmap
import os
import platform
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from evener.files.writing import take_room

Bytes = npt.NDArray[np.uint8]
BACKED = Path("/dev/shm")  # Linux's folder in memory; small in some containers
OPEN_FILES = Path("/proc/self/fd")  # Linux's folder to open files of another process
LONGEST_NAME = 4096  # bytes of a path (Linux's PATH_MAX)


class Memory:
    """Bytes that several ranks can read and write; each rank has its own object of them."""

    def __init__(self, data: Bytes) -> None:
        self.data = data

    def free(self) -> None:
        """Drop `data`; the memory is released when no rank that shares it uses it any more."""
        self.data = np.empty(0, np.uint8)


def run_around(rank: int, computers: Sequence[object]) -> tuple[int, int]:
    """Return the range (first, end) of consecutive ranks around this one on its computer."""
    first, end = rank, rank + 1
    while first > 0 and computers[first - 1] == computers[rank]:
        first -= 1
    while end < len(computers) and computers[end] == computers[rank]:
        end += 1
    return first, end


def alone(n_bytes: int) -> Memory:
    """Return memory of only this process."""
    return Memory(np.empty(n_bytes, np.uint8))


def _mapped(path: str, n_bytes: int) -> Memory:
    """Return memory that several processes share: a file in memory, which each process maps."""
    with open(path, "r+b") as file:  # noqa: PTH123
        return Memory(np.frombuffer(mmap.mmap(file.fileno(), max(n_bytes, 1)), np.uint8))


# Sends the first buffers and receives the second, both by rank; its waits have a timeout.
Tell = Callable[[Mapping[int, Bytes], Mapping[int, Bytes]], None]


def in_common(n_bytes: int, rank: int, near: range, tell: Tell) -> Memory | None:
    """Return memory that the consecutive ranks `near` of one computer share; all of them call this.

    Returns None if there is no space for it. Raises ToolError if one of these ranks does not call
    in time (MPI's own call for shared memory, which creates a window, would wait forever).
    """
    if len(near) == 1:
        return alone(n_bytes)
    name, others = np.zeros(LONGEST_NAME, np.uint8), near[1:]
    if rank != near[0]:
        tell({}, {near[0]: name})
        path = bytes(name).rstrip(b"\0").decode()
        memory = _mapped(path, n_bytes) if path else None
        tell({near[0]: name}, {})
        return memory
    with _new_file(n_bytes) or nullcontext() as file:
        path = "" if file is None else _path_of(file)
        name[: len(path.encode())] = np.frombuffer(path.encode(), np.uint8)
        tell(dict.fromkeys(others, name), {})
        memory = None if file is None else _mapped(path, n_bytes)
        tell({}, {q: np.zeros_like(name) for q in others})  # all have opened the file
    return memory


def computer() -> str:
    """Return a text that is equal for processes that can share memory.

    It identifies the computer, the file system, and the namespace of process numbers, if there are
    any.
    """
    boot, numbers = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
    name = boot.read_text().strip() if boot.exists() else platform.node()
    whose = numbers.readlink() if numbers.is_symlink() else ""
    return f"{name} {_folder().stat().st_dev} {whose}"


def _folder() -> Path:
    return BACKED if BACKED.is_dir() else Path(tempfile.gettempdir())


def _new_file(n_bytes: int) -> IO[bytes] | None:
    """Return a new file filled with zeros, or None, with a warning, if there is no space for it.

    The file is deleted when no process has it open. If /proc exists, it has no name, so that
    nothing remains if this process is killed.
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
    """Return the path by which other processes can open the file."""
    return f"/proc/{os.getpid()}/fd/{file.fileno()}" if OPEN_FILES.is_dir() else str(file.name)
