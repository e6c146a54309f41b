"""Communication between ranks: the protocol Comm, and ThreadComm, whose ranks are threads.

An exchange that ranks repeat, such as the halo exchange of a block, is created once by `Comm.swap`,
then started and finished in every iteration without allocations. Ranks that are processes:
mpi_comm.py.
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
    """A group of ranks; all of them make every call, in the same order."""

    @property
    def rank(self) -> int:
        """This rank's number, from 0."""

    @property
    def size(self) -> int:
        """Number of ranks."""

    def barrier(self) -> None:
        """Wait until all ranks have called this."""

    def allgather(self, value: T) -> list[T]:
        """Return the values of all ranks, by rank."""

    def bcast(self, value: T, root: int = 0) -> T:
        """Return the value of rank `root`."""

    def exchange(self, parts: Sequence[T]) -> list[T]:
        """Send parts[r] to each rank r; return what each rank sent here (read-only)."""

    def rest(self) -> None:
        """Wait until all ranks have called this, and sleep meanwhile instead of polling."""

    def send(self, data: bytearray | memoryview, to: int) -> None:
        """Send bytes to one rank, which calls `receive`; the other ranks make no call."""

    def receive(self, buffer: bytearray | memoryview, source: int) -> int:
        """Receive bytes, at most as many as the buffer holds; return the number of bytes."""

    def swap(self, outgoing: Buffers, incoming: Buffers, *, sized: bool = False) -> Swap:
        """Return a repeatable exchange of C-contiguous buffers, given by rank.

        The outgoing buffer of rank r for rank q and the incoming buffer of q for r have the same
        length. sized: buffers are uint8 and begin with the number of bytes to send; see swaps.py.
        """

    def beside(self) -> tuple[int, int]:
        """Return the range (first, end) of consecutive ranks around this one on its computer."""

    def memory(self, n_bytes: int) -> Memory | None:
        """Return memory that the ranks in the range of `beside` share; all of these call this.

        Returns None, with a warning, if the computer has no space for shared memory.
        """


class Shared:
    """State that the threads of a group share: a slot for each value, mail, and a barrier."""

    def __init__(
        self,
        size: int,
        computers: Sequence[int],
        timeout: float = PATIENCE,
        names: Names = NO_NAMES,
    ) -> None:
        self.computers = computers
        self.names, self.timeout = names, timeout
        self.places: list[Any] = [None] * size
        self.asleep = [False] * size  # which ranks wait inside a kernel
        self._arrived = [0] * size  # how many barriers each rank has reached
        self._barrier = threading.Barrier(size)
        # Separate mail for each kind of message, so that no call takes a message of another kind.
        self.bytes, self.swaps, self.memories = (Mail(timeout, names) for _ in range(3))

    def meet(self, rank: int) -> None:
        """Wait until all ranks have called this.

        Raises ToolError if a rank is late, Stopped if a rank failed.
        """
        self._arrived[rank] += 1
        began = time.monotonic()
        try:
            self._barrier.wait(self.timeout)
        except threading.BrokenBarrierError:
            here = self._arrived[rank]
            late = [other for other, count in enumerate(self._arrived) if count < here]
            waited = time.monotonic() - began
            if waited < 0.9 * self.timeout or not late:  # another thread broke the barrier
                raise Stopped from None
            raise self.names.stalled(late, waited) from None

    @property
    def is_stopped(self) -> bool:
        """Whether a thread has failed, so that all others must stop."""
        return self._barrier.broken

    def stop(self) -> None:
        """Stop all threads that wait."""
        self._barrier.abort()
        for mail in (self.bytes, self.swaps, self.memories):
            mail.close()


class ThreadWaits:
    """Waits of a kernel's thread for other threads, which end after the timeout of their group."""

    def __init__(self, rank: int, shared: Shared) -> None:
        self._rank, self._shared = rank, shared

    def until(self, is_done: Callable[[], bool], rest: float) -> None:
        """Wait until is_done() is true; rest [s]: time to sleep between two calls.

        Raises Stopped if a rank failed, ToolError after the timeout.
        """
        shared, began = self._shared, time.monotonic()
        shared.asleep[self._rank] = True
        try:
            while not is_done():
                if shared.is_stopped:
                    raise Stopped
                if time.monotonic() - began > shared.timeout:
                    late = [rank for rank, is_asleep in enumerate(shared.asleep) if not is_asleep]
                    raise shared.names.stalled(late, time.monotonic() - began)
                time.sleep(rest)
        finally:
            shared.asleep[self._rank] = False


class ThreadComm:
    """The Comm of a rank that is a thread; values are passed by reference, not copied."""

    def __init__(self, rank: int, size: int, shared: Shared) -> None:
        self.rank, self.size, self._shared = rank, size, shared
        self.waits = ThreadWaits(rank, shared)

    @property
    def shares_memory(self) -> bool:
        """Whether all threads are assumed to be on one computer."""
        return self.beside() == (0, self.size)

    def barrier(self) -> None:
        """Wait until all ranks have called this."""
        self._shared.meet(self.rank)

    def allgather(self, value: T) -> list[T]:
        """Return the values of all ranks, by rank."""
        self._shared.places[self.rank] = value
        self.barrier()
        found = list(self._shared.places)
        self.barrier()  # no rank writes the next value before all have read this one
        self._shared.places[self.rank] = None  # keeps no reference to a value no longer used
        return found

    def bcast(self, value: T, root: int = 0) -> T:
        """Return the value of rank `root`."""
        return self.allgather(value)[root]

    def exchange(self, parts: Sequence[T]) -> list[T]:
        """Send parts[r] to each rank r; return what each rank sent to this one."""
        return [sent[self.rank] for sent in self.allgather(parts)]

    def rest(self) -> None:
        """Wait until all ranks have called this; waiting threads sleep."""
        self.barrier()

    def send(self, data: bytearray | memoryview, to: int) -> None:
        """Send a copy of the bytes to one rank."""
        self._shared.bytes.put(self.rank, to, bytes(data))

    def receive(self, buffer: bytearray | memoryview, source: int) -> int:
        """Receive bytes; return the number of bytes. Raises ToolError if none arrive in time."""
        data = self._shared.bytes.take(source, self.rank)
        buffer[: len(data)] = data
        return len(data)

    def swap(self, outgoing: Buffers, incoming: Buffers, *, sized: bool = False) -> Swap:
        """Return an exchange in which each thread copies from the others' buffers."""
        return ThreadSwap(self.rank, self._shared.swaps, outgoing, incoming, sized=sized)

    def beside(self) -> tuple[int, int]:
        """Return the range (first, end) of consecutive ranks on this thread's assumed computer."""
        return run_around(self.rank, self._shared.computers)

    def memory(self, n_bytes: int) -> Memory:
        """Return memory that the ranks in the range of `beside` share.

        Raises ToolError if the first of these ranks does not provide it in time.
        """
        first, end = self.beside()
        if self.rank != first:
            return Memory(self._shared.memories.take(first, self.rank))
        memory = alone(n_bytes)
        for rank in range(first + 1, end):
            self._shared.memories.put(first, rank, memory.data)
        return memory


def run_threads(
    size: int,
    work: Callable[[Comm], T],
    *,
    computers: Sequence[int] | None = None,
    timeout: float = PATIENCE,
    names: Names = NO_NAMES,
) -> list[T]:
    """Run work(comm) on `size` ranks, each a thread; return the results by rank.

    computers (size,): the computer on which each rank is assumed to be; None: all on one. timeout
    [s]: how long a rank waits for another. Raises the error of the first rank that failed; the
    other ranks are stopped at their next call, or abandoned if they make no call within GRACE
    seconds.
    """
    if size < 1:
        raise UsageError(f"the number of ranks must be at least 1, not {size}")
    shared = Shared(size, computers or [0] * size, timeout, names)
    return play_ranks([ThreadComm(rank, size, shared) for rank in range(size)], work, shared.stop)


def play_ranks(
    comms: Sequence[C],
    work: Callable[[C], T],
    stop: Callable[[], None],
    grace: float = GRACE,
) -> list[T]:
    """Run work(comm) in a thread for each comm; return the results in the order of comms.

    stop: called when a thread has failed, to stop the others that wait. grace [s]: how long to wait
    then for each of the others to end.
    """
    results: list[Any] = [None] * len(comms)
    failures: list[BaseException] = []
    stopped: list[BaseException] = []
    ends: queue.SimpleQueue[None] = queue.SimpleQueue()

    def play(place: int) -> None:
        try:
            results[place] = work(comms[place])
        except Stopped as error:
            stopped.append(error)  # another rank has failed, whose error is raised
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
            break  # the thread computes and cannot be stopped
    if failures or stopped:
        raise (failures or stopped)[0]
    return results
