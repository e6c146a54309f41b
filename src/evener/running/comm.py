"""Communication between ranks: threads of one process, or processes of MPI.

Exchanges that are repeated between the same ranks, as for the halo of a block, are made once by
`Comm.swap`, then started and finished in every iteration: nothing is allocated. The only file that
imports mpi4py.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
import traceback
import weakref
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from evener.errors import ToolError, UsageError
from evener.running.sharing import Memory, MpiNeighbours, alone, run_around

Buffer = npt.NDArray[Any]
Buffers = Mapping[int, Buffer]


class Swap(Protocol):
    """An exchange that can be started again once it is finished."""

    def start(self) -> None:
        """Send the contents of the outgoing buffers, which may be changed after `finish`."""

    def finish(self, rest: float = 0.0) -> None:
        """Return when the incoming buffers are filled.

        rest [s]: time to sleep between two checks, where ranks share a core; 0: wait without sleep.
        """


class Mail:
    """Values that threads send to each other: a queue for each pair, so sending never waits."""

    def __init__(self, patience: float) -> None:
        self._patience = patience  # [s]
        self._queues: defaultdict[tuple[int, int], queue.SimpleQueue[Any]] = defaultdict(
            queue.SimpleQueue
        )

    def put(self, source: int, to: int, value: Any) -> None:
        """Send a value."""
        self._queues[source, to].put(value)

    def take(self, source: int, to: int) -> Any:
        """Return the next value that was sent. Raises ToolError where none comes in time."""
        try:
            return self._queues[source, to].get(timeout=self._patience)
        except queue.Empty as error:
            raise ToolError(f"rank {source} has not sent for {self._patience:.0f} s") from error


class ThreadSwap:
    """Between threads: a copy of each buffer is sent, in memory that is returned and reused."""

    def __init__(self, rank: int, mail: Mail, outgoing: Buffers, incoming: Buffers) -> None:
        self._rank, self._mail = rank, mail
        self._outgoing, self._incoming = outgoing, incoming
        self._back: dict[int, queue.SimpleQueue[Buffer]] = {
            to: queue.SimpleQueue() for to in outgoing
        }

    def start(self) -> None:
        """Send copies of all outgoing buffers."""
        for to, buffer in self._outgoing.items():
            back = self._back[to]
            if back.empty():
                copy = buffer.copy()
            else:
                copy = back.get()
                np.copyto(copy, buffer)
            self._mail.put(self._rank, to, (copy, back))

    def finish(self, rest: float = 0.0) -> None:  # noqa: ARG002 - threads wait asleep
        """Fill the incoming buffers. Raises ToolError where a rank sends nothing in time."""
        for source, buffer in self._incoming.items():
            copy, back = self._mail.take(source, self._rank)
            buffer[:] = copy
            back.put(copy)


class MpiSwap:
    """Between processes of MPI: persistent requests over the buffers themselves."""

    def __init__(self, comm: Any, outgoing: Buffers, incoming: Buffers) -> None:
        requests = [comm.Recv_init(buffer, source=rank) for rank, buffer in incoming.items()]
        requests += [comm.Send_init(buffer, dest=rank) for rank, buffer in outgoing.items()]
        self._requests = requests
        self._kind: Any = type(requests[0]) if requests else None
        weakref.finalize(self, _free, requests)

    def start(self) -> None:
        """Start all requests."""
        if self._requests:
            self._kind.Startall(self._requests)

    def finish(self, rest: float = 0.0) -> None:
        """Wait for all requests."""
        if not self._requests:
            return
        if rest <= 0:
            self._kind.Waitall(self._requests)
            return
        while not self._kind.Testall(self._requests):
            time.sleep(rest)


def _free(requests: list[Any]) -> None:
    """Free requests that are not active."""
    for request in requests:
        request.Free()


T = TypeVar("T")
PATIENCE = 600.0  # seconds that a thread waits for the others before it raises ToolError


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

    def swap(self, outgoing: Buffers, incoming: Buffers) -> Swap:
        """Return an exchange, to be made many times, of buffers by rank, C-contiguous.

        What rank r has outgoing to q, q has incoming from r, of the same length.
        """

    def beside(self) -> tuple[int, int]:
        """Return first and end of the ranks in a row, this one among them, of one computer."""

    def memory(self, n_bytes: int) -> Memory | None:
        """Return memory that the ranks of `beside` have in common; all of these call.

        None where the computer has no room for what processes share: a warning says so.
        """


class _Shared:
    """What the threads of a group have in common: a place for each, and a barrier."""

    def __init__(self, size: int, computers: Sequence[int]) -> None:
        self.computers = computers
        self.places: list[Any] = [None] * size
        self.barrier = threading.Barrier(size, timeout=PATIENCE)
        # Each its own, so that one kind never takes what another was sent.
        self.bytes, self.swaps, self.memories = Mail(PATIENCE), Mail(PATIENCE), Mail(PATIENCE)


class ThreadComm:
    """One of several threads that play ranks; values are handed over, not copied."""

    def __init__(self, rank: int, size: int, shared: _Shared) -> None:
        self.rank, self.size, self._shared = rank, size, shared

    def barrier(self) -> None:
        """Wait until all are here."""
        self._shared.barrier.wait()

    def allgather(self, value: T) -> list[T]:
        """Return the values of all ranks, in their order."""
        self._shared.places[self.rank] = value
        self.barrier()
        found = list(self._shared.places)
        self.barrier()  # no rank writes the next value before all have read this one
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

    def swap(self, outgoing: Buffers, incoming: Buffers) -> Swap:
        """Return an exchange that hands copies over."""
        return ThreadSwap(self.rank, self._shared.swaps, outgoing, incoming)

    def beside(self) -> tuple[int, int]:
        """Return first and end of the ranks in a row on what is this thread's computer."""
        return run_around(self.rank, self._shared.computers)

    def memory(self, n_bytes: int) -> Memory:
        """Return memory that the ranks of `beside` have in common. ToolError where none comes."""
        first, end = self.beside()
        if self.rank != first:
            found: Memory = self._shared.memories.take(first, self.rank)
            return found
        memory = alone(n_bytes)
        for rank in range(first + 1, end):
            self._shared.memories.put(first, rank, memory)
        return memory


def run_threads(
    size: int, work: Callable[[Comm], T], *, computers: Sequence[int] | None = None
) -> list[T]:
    """Run work(comm) as `size` ranks, each a thread; return what they return, by rank.

    computers (size,): which one each rank is thought to be on; None: all on one. Raises what the
    first rank that failed has raised; the others are stopped at their next call.
    """
    if size < 1:
        raise UsageError(f"at least one rank is needed, not {size}")
    shared = _Shared(size, computers or [0] * size)
    results: list[Any] = [None] * size
    failures: list[BaseException] = []

    def play(rank: int) -> None:
        try:
            results[rank] = work(ThreadComm(rank, size, shared))
        except threading.BrokenBarrierError as error:
            failures.append(error)  # another rank has failed, or hangs
        except BaseException as error:
            failures.insert(0, error)
            shared.barrier.abort()

    threads = [threading.Thread(target=play, args=(rank,), daemon=True) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        if isinstance(failures[0], threading.BrokenBarrierError):
            raise ToolError(f"a rank has not answered for {PATIENCE:.0f} s") from failures[0]
        raise failures[0]
    return results


class MpiComm:
    """A communicator of mpi4py; MPI.COMM_WORLD by default. Raises ToolError without mpi4py."""

    def __init__(self, comm: Any = None) -> None:
        try:
            from mpi4py import MPI
        except (ImportError, RuntimeError) as error:
            raise ToolError(
                "mpi4py is not installed, or finds no MPI",
                hint="python -m pip install 'evener[mpi]'",
            ) from error
        self._mpi: Any = MPI
        self._comm = MPI.COMM_WORLD if comm is None else comm
        self.rank, self.size = int(self._comm.Get_rank()), int(self._comm.Get_size())
        self._neighbours: MpiNeighbours | None = None

    def barrier(self) -> None:
        """Wait until all are here."""
        self._comm.Barrier()

    def allgather(self, value: T) -> list[T]:
        """Return the values of all ranks, in their order."""
        return list(self._comm.allgather(value))

    def bcast(self, value: T, root: int = 0) -> T:
        """Return the value of rank `root`."""
        result: T = self._comm.bcast(value, root=root)
        return result

    def exchange(self, parts: Sequence[T]) -> list[T]:
        """Send parts[r] to each rank r; return what each has sent here."""
        return list(self._comm.alltoall(list(parts)))

    def rest(self) -> None:
        """Wait until all are here, asleep: cores are left to those that still work."""
        request = self._comm.Ibarrier()
        while not request.Test():
            time.sleep(1e-3)

    def send(self, data: bytearray | memoryview, to: int) -> None:
        """Send bytes to a rank that receives them."""
        self._comm.Send(data, dest=to)

    def receive(self, buffer: bytearray | memoryview, source: int) -> int:
        """Receive bytes, at most as many as the buffer holds; return how many."""
        status = self._mpi.Status()
        self._comm.Recv(buffer, source=source, status=status)
        return int(status.Get_count())

    def swap(self, outgoing: Buffers, incoming: Buffers) -> Swap:
        """Return an exchange of persistent requests."""
        return MpiSwap(self._comm, outgoing, incoming)

    def beside(self) -> tuple[int, int]:
        """Return first and end of the ranks in a row on this computer; all ranks call at first."""
        if self._neighbours is None:
            self._neighbours = MpiNeighbours(self._mpi, self._comm)
        return self._neighbours.first, self._neighbours.end

    def memory(self, n_bytes: int) -> Memory | None:
        """Return memory in common, a window of MPI, or None; all ranks of `beside` call."""
        self.beside()
        assert self._neighbours is not None
        return self._neighbours.memory(n_bytes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """A rank that fails takes all with it: the others would wait for it for ever."""
        if error is not None and self.size > 1:
            traceback.print_exception(error, file=sys.stderr)
            sys.stderr.flush()
            self._comm.Abort(1)


_duplicates: list[int] = []  # the key by which a communicator of mpi4py keeps its duplicate


def comm_of(given: Any) -> Comm:
    """Return a Comm as it is; of a communicator of mpi4py its duplicate, as an MpiComm.

    The duplicate is made once, by all ranks together, so that messages never meet those of others.
    """
    if not hasattr(given, "Get_rank"):
        known: Comm = given
        return known
    from mpi4py import MPI

    if not _duplicates:
        _duplicates.append(MPI.Comm.Create_keyval())
    if given.Get_attr(_duplicates[0]) is None:
        given.Set_attr(_duplicates[0], given.Dup())
    return MpiComm(given.Get_attr(_duplicates[0]))
