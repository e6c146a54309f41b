"""Communication between ranks: Comm, and threads of one process that play ranks.

Exchanges that are repeated between the same ranks, as for the halo of a block, are made once by
`Comm.swap`, then started and finished in every iteration: nothing is allocated. mpi_comm.py has
ranks that are processes.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from evener.errors import UsageError
from evener.running.failures import GRACE, PATIENCE, Names
from evener.running.sharing import Memory, alone, run_around
from evener.running.swaps import Buffers, Mail, Stopped, Swap, ThreadSwap

NO_NAMES = Names()
T = TypeVar("T")
C = TypeVar("C")


class Comm(Protocol):
    """A group of ranks; every call is made by all of them, in the same order."""

    @property
    def rank(self) -> int:
        """This rank's number, from 0."""

    @property
    def size(self) -> int:
        """How many there are."""

    def barrier(self) -> None:
        """Wait until all are here."""

    def allgather(self, value: T) -> list[T]:
        """Return the values of all ranks, in their order."""

    def bcast(self, value: T, root: int = 0) -> T:
        """Return the value of rank `root`."""

    def exchange(self, parts: Sequence[T]) -> list[T]:
        """Send parts[r] to each rank r; return what each has sent here. Not to be written to."""

    def rest(self) -> None:
        """Wait until all are here, asleep."""

    def send(self, data: bytearray | memoryview, to: int) -> None:
        """Send bytes to one rank, which calls `receive`; the others take no part."""

    def receive(self, buffer: bytearray | memoryview, source: int) -> int:
        """Receive bytes, at most as many as the buffer holds; return how many."""

    def swap(self, outgoing: Buffers, incoming: Buffers, *, sized: bool = False) -> Swap:
        """Return an exchange, to be made many times, of buffers by rank, C-contiguous.

        What rank r has outgoing to q, q has incoming from r, of the same length. sized: of buffers
        of uint8 which begin with how many of their bytes are sent; see swaps.py.
        """

    def beside(self) -> tuple[int, int]:
        """Return first and end of the ranks in a row, this one among them, of one computer."""

    def memory(self, n_bytes: int) -> Memory | None:
        """Return memory that the ranks of `beside` share; all of these call.

        None if the computer has no space for shared memory: a warning says so.
        """


class Shared:
    """What the threads of a group have in common: a place for each, and a barrier."""

    def __init__(
        self,
        size: int,
        computers: Sequence[int],
        timeout: float = PATIENCE,
        names: Names = NO_NAMES,
    ) -> None:
        self.computers = computers
        self.names, self._timeout = names, timeout
        self.places: list[Any] = [None] * size
        self._arrived = [0] * size  # at how many barriers each has been
        self._barrier = threading.Barrier(size)
        # Each its own, so that one kind never takes what another was sent.
        self.bytes, self.swaps, self.memories = (Mail(timeout, names) for _ in range(3))

    def meet(self, rank: int) -> None:
        """Wait until all are here. Raises ToolError where one is late, Stopped where one failed."""
        self._arrived[rank] += 1
        began = time.monotonic()
        try:
            self._barrier.wait(self._timeout)
        except threading.BrokenBarrierError:
            here = self._arrived[rank]
            late = [other for other, count in enumerate(self._arrived) if count < here]
            waited = time.monotonic() - began
            if waited < 0.9 * self._timeout or not late:  # another thread has ended it
                raise Stopped from None
            raise self.names.stalled(late, waited) from None

    def stop(self) -> None:
        """End the waits of all threads."""
        self._barrier.abort()
        for mail in (self.bytes, self.swaps, self.memories):
            mail.close()


class ThreadComm:
    """One of several threads that play ranks; values are handed over, not copied."""

    def __init__(self, rank: int, size: int, shared: Shared) -> None:
        self.rank, self.size, self._shared = rank, size, shared

    def barrier(self) -> None:
        """Wait until all are here."""
        self._shared.meet(self.rank)

    def allgather(self, value: T) -> list[T]:
        """Return the values of all ranks, in their order."""
        self._shared.places[self.rank] = value
        self.barrier()
        found = list(self._shared.places)
        self.barrier()  # no rank writes the next value before all have read this one
        self._shared.places[self.rank] = None  # nothing is kept that ranks have let go
        return found

    def bcast(self, value: T, root: int = 0) -> T:
        """Return the value of rank `root`."""
        return self.allgather(value)[root]

    def exchange(self, parts: Sequence[T]) -> list[T]:
        """Send parts[r] to each rank r; return what each has sent here."""
        return [sent[self.rank] for sent in self.allgather(parts)]

    def rest(self) -> None:
        """Wait until all are here, asleep as threads do."""
        self.barrier()

    def send(self, data: bytearray | memoryview, to: int) -> None:
        """Send a copy of bytes to one rank."""
        self._shared.bytes.put(self.rank, to, bytes(data))

    def receive(self, buffer: bytearray | memoryview, source: int) -> int:
        """Receive bytes; return how many. Raises ToolError where none come."""
        data = self._shared.bytes.take(source, self.rank)
        buffer[: len(data)] = data
        return len(data)

    def swap(self, outgoing: Buffers, incoming: Buffers, *, sized: bool = False) -> Swap:
        """Return an exchange in which each thread copies from the others' buffers."""
        return ThreadSwap(self.rank, self._shared.swaps, outgoing, incoming, sized=sized)

    def beside(self) -> tuple[int, int]:
        """Return first and end of the ranks in a row on what is this thread's computer."""
        return run_around(self.rank, self._shared.computers)

    def memory(self, n_bytes: int) -> Memory:
        """Return memory that the ranks of `beside` share. Raises ToolError if none comes."""
        first, end = self.beside()
        if self.rank != first:
            found: Memory = self._shared.memories.take(first, self.rank)
            return found
        memory = alone(n_bytes)
        for rank in range(first + 1, end):
            self._shared.memories.put(first, rank, memory)
        return memory


def run_threads(
    size: int,
    work: Callable[[Comm], T],
    *,
    computers: Sequence[int] | None = None,
    timeout: float = PATIENCE,
    names: Names = NO_NAMES,
) -> list[T]:
    """Run work(comm) as `size` ranks, each a thread; return what they return, by rank.

    computers (size,): which one each rank is thought to be on; None: all on one. timeout [s]: how
    long a rank waits for another. Raises what the first rank that failed has raised; the others are
    stopped at their next call, or left to themselves where they make none within GRACE seconds.
    """
    if size < 1:
        raise UsageError(f"at least one rank is needed, not {size}")
    shared = Shared(size, computers or [0] * size, timeout, names)
    return play_ranks([ThreadComm(rank, size, shared) for rank in range(size)], work, shared.stop)


def play_ranks(
    comms: Sequence[C],
    work: Callable[[C], T],
    stop: Callable[[], None],
    grace: float = GRACE,
) -> list[T]:
    """Run work(comm) in a thread for each comm; return what they return, in their order.

    stop: called once one has failed, to end the waits of the others. grace [s]: how long each of
    these is waited for then.
    """
    results: list[Any] = [None] * len(comms)
    failures: list[BaseException] = []
    stopped: list[BaseException] = []
    ends: queue.SimpleQueue[None] = queue.SimpleQueue()

    def play(place: int) -> None:
        try:
            results[place] = work(comms[place])
        except Stopped as error:
            stopped.append(error)  # after another rank's failure, which is raised
        except BaseException as error:
            failures.append(error)
            stop()
        finally:
            ends.put(None)

    for place in range(len(comms)):
        threading.Thread(target=play, args=(place,), daemon=True).start()
    for _ in comms:
        try:
            ends.get(timeout=grace if failures else None)
        except queue.Empty:
            break  # it computes, and would not hear
    if failures or stopped:
        raise (failures or stopped)[0]
    return results
