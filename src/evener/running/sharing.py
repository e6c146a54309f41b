"""Memory shared by the ranks of one computer, so that rows pass between them without a copy."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
BACKED = Path("/dev/shm")  # where Linux keeps what processes share; small in some containers


class Memory(Protocol):
    """Bytes that several ranks read and write."""

    data: Bytes

    def sync(self) -> None:
        """Make writes visible to the other ranks; call it before a barrier of all, and after it."""

    def free(self) -> None:
        """Release the memory; all ranks that share it call, and none uses `data` afterwards."""


def run_around(rank: int, computers: Sequence[int]) -> tuple[int, int]:
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


class WindowMemory:
    """Memory of several MPI processes: a window whose bytes all belong to the first one."""

    def __init__(self, near: Any, window: Any) -> None:
        self._near, self._window = near, window
        buffer, _ = window.Shared_query(0)
        self.data: Bytes = np.frombuffer(buffer, np.uint8)
        window.Lock_all()

    def sync(self) -> None:
        """Complete earlier writes before later accesses."""
        self._window.Sync()

    def free(self) -> None:
        """Release the window; all ranks that share it call."""
        self.data = np.empty(0, np.uint8)
        self._window.Unlock_all()
        self._window.Free()


class MpiNeighbours:
    """The consecutive ranks of an MPI communicator that are on this rank's computer.

    first, end: of these ranks. Every rank makes one, at the same time.
    """

    def __init__(self, mpi: Any, comm: Any) -> None:
        self._mpi = mpi
        computer = comm.Split_type(mpi.COMM_TYPE_SHARED, comm.Get_rank())
        computers = comm.allgather(computer.allreduce(comm.Get_rank(), mpi.MIN))
        computer.Free()
        self.first, self.end = run_around(comm.Get_rank(), computers)
        self._near = comm.Split(self.first, comm.Get_rank())

    def memory(self, n_bytes: int) -> Memory | None:
        """Return shared memory; all of these ranks call. None where there is no room for it."""
        near = self._near
        if near.Get_size() == 1:
            return alone(n_bytes)
        if not near.bcast(_has_room(n_bytes) if near.Get_rank() == 0 else None):
            return None
        window = self._mpi.Win.Allocate_shared(
            n_bytes if near.Get_rank() == 0 else 0, 1, self._mpi.INFO_NULL, near
        )
        return WindowMemory(near, window)


def _has_room(n_bytes: int) -> bool:
    """Return whether this computer lets processes share so many bytes; warn where it does not."""
    if not BACKED.is_dir() or (free := shutil.disk_usage(BACKED).free) >= n_bytes:
        return True
    warnings.warn(
        f"{n_bytes:,} bytes of rows are not shared between the ranks of this computer: "
        f"{BACKED} has room for {free:,}. They will be copied when they move.",
        stacklevel=2,
    )
    return False
