"""CountedComm: a group of ranks that counts the bytes that this rank sends to the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from evener.running.comm import Comm
from evener.running.mpi_comm import MpiComm
from evener.running.sharing import Memory
from evener.running.swaps import LENGTH, Buffers, Swap

T = TypeVar("T")
NUMBER_BYTES = 8  # per number, without what a library adds to it in a message


class CountedComm:
    """A Comm that counts the bytes that this rank sends to others, in `sent`.

    In values other than arrays, a number counts as NUMBER_BYTES and a text as one byte per
    character. A value for all ranks counts size - 1 times, however MPI transmits it.
    """

    def __init__(self, comm: Comm) -> None:
        self._comm, self.rank, self.size = comm, comm.rank, comm.size
        self.sent = 0

    def barrier(self) -> None:
        """Wait until all ranks have called this."""
        self._comm.barrier()

    def allgather(self, value: T) -> list[T]:
        """Return the values of all ranks, by rank."""
        self.sent += (self.size - 1) * bytes_in(value)
        return self._comm.allgather(value)

    def bcast(self, value: T, root: int = 0) -> T:
        """Return the value of rank `root`."""
        if self.rank == root:
            self.sent += (self.size - 1) * bytes_in(value)
        return self._comm.bcast(value, root)

    def exchange(self, parts: Sequence[T]) -> list[T]:
        """Send parts[r] to each rank r; return what each rank sent to this one."""
        self.sent += sum(bytes_in(part) for rank, part in enumerate(parts) if rank != self.rank)
        return self._comm.exchange(parts)

    def rest(self) -> None:
        """Wait until all ranks have called this, and sleep meanwhile instead of polling."""
        self._comm.rest()

    def send(self, data: bytearray | memoryview, to: int) -> None:
        """Send bytes to one rank, which calls `receive`."""
        self.sent += len(data)
        self._comm.send(data, to)

    def receive(self, buffer: bytearray | memoryview, source: int) -> int:
        """Receive bytes, at most as many as the buffer holds; return the number of bytes."""
        return self._comm.receive(buffer, source)

    def swap(self, outgoing: Buffers, incoming: Buffers, *, sized: bool = False) -> Swap:
        """Return an exchange whose bytes are counted each time it starts."""
        swap = self._comm.swap(outgoing, incoming, sized=sized)
        return _CountedSwap(self, swap, outgoing, sized=sized)

    def fail(self, error: BaseException) -> None:
        """If ranks are processes, stop the other ranks that wait, with an error of this rank."""
        if isinstance(self._comm, MpiComm):
            self._comm.fail(error)

    def beside(self) -> tuple[int, int]:
        """Return the range (first, end) of consecutive ranks around this one on its computer."""
        return self._comm.beside()

    def memory(self, n_bytes: int) -> Memory | None:
        """Return memory that the ranks in the range of `beside` share, or None."""
        return self._comm.memory(n_bytes)


class _CountedSwap:
    """An exchange that adds its bytes to the count of its CountedComm."""

    def __init__(self, comm: CountedComm, swap: Swap, outgoing: Buffers, *, sized: bool) -> None:
        self._comm, self._swap, self._outgoing, self._sized = comm, swap, outgoing, sized
        self.finish, self.settle = swap.finish, swap.settle

    def start(self) -> None:
        """Send the contents of the outgoing buffers."""
        for buffer in self._outgoing.values():
            self._comm.sent += _sized(buffer) if self._sized else buffer.nbytes
        self._swap.start()


def bytes_in(value: Any) -> int:
    """Return the bytes of all arrays, numbers and texts in a value, including nested ones.

    Looks into lists, tuples, dictionaries and the fields of dataclasses.
    """
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, dict):
        return bytes_in(list(value)) + bytes_in(list(value.values()))
    if isinstance(value, list | tuple):
        return sum(bytes_in(one) for one in value)
    if is_dataclass(value):  # such as a graph
        return sum(bytes_in(getattr(value, field.name)) for field in fields(value))
    return 0 if value is None else NUMBER_BYTES


def _sized(buffer: Any) -> int:
    return int(buffer[:LENGTH].view(np.int64)[0])
