"""Exchanges that are made once and started again and again: between threads, and under MPI.

A swap that is `sized` sends of each buffer only as many bytes as the buffer's first eight say, an
int64: for messages whose length changes from one exchange to the next, in buffers that do not.
"""

from __future__ import annotations

import queue
import sys
import weakref
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from evener.running.failures import MpiWaits, Names

Buffer = npt.NDArray[Any]
Buffers = Mapping[int, Buffer]
Tagged = Mapping[tuple[int, int], Buffer]  # by rank and tag
LENGTH = 8  # bytes of a sized buffer that say how many are sent, these among them


class Swap(Protocol):
    """An exchange that can be started again once it is finished."""

    def start(self) -> None:
        """Send the contents of the outgoing buffers, which may be changed after `finish`."""

    def finish(self, rest: float = 0.0) -> None:
        """Return when the incoming buffers are filled.

        rest [s]: time to sleep between two checks, where ranks share a core; 0: wait without sleep.
        """


class Stopped(Exception):  # noqa: N818 - the error is that of another rank
    """Another rank has failed: there is nothing to wait for."""


class Mail:
    """Values that threads send to each other: a queue for each pair, so sending never waits."""

    def __init__(self, patience: float, names: Names) -> None:
        self._patience, self._names = patience, names  # [s]
        self._queues: dict[tuple[int, int], queue.SimpleQueue[Any]] = {}
        self._is_closed = False

    def put(self, source: int, to: int, value: Any) -> None:
        """Send a value."""
        self._box(source, to).put(value)

    def take(self, source: int, to: int) -> Any:
        """Return the next value that was sent.

        Raises ToolError where none comes in time, Stopped where the mail is closed.
        """
        box = self._box(source, to)
        if self._is_closed:  # asked after the box was there: one of the two is seen by `close`
            raise Stopped
        try:
            value = box.get(timeout=self._patience)
        except queue.Empty:
            raise self._names.stalled([source], self._patience) from None
        if value is Stopped:
            raise Stopped
        return value

    def _box(self, source: int, to: int) -> queue.SimpleQueue[Any]:
        """Return the queue of a pair; of two threads that ask first, both get the same."""
        box = self._queues.get((source, to))
        return self._queues.setdefault((source, to), queue.SimpleQueue()) if box is None else box

    def close(self) -> None:
        """End all waits, now and from now on."""
        self._is_closed = True
        for box in list(self._queues.values()):
            box.put(Stopped)


class ThreadSwap:
    """Between threads: a copy of each buffer is sent, in memory that is returned and reused."""

    def __init__(
        self, rank: int, mail: Mail, outgoing: Buffers, incoming: Buffers, *, sized: bool = False
    ) -> None:
        self._rank, self._mail, self._sized = rank, mail, sized
        self._outgoing, self._incoming = outgoing, incoming
        self._back: dict[int, queue.SimpleQueue[Buffer]] = {
            to: queue.SimpleQueue() for to in outgoing
        }

    def start(self) -> None:
        """Send copies of all outgoing buffers."""
        for to, buffer in self._outgoing.items():
            back = self._back[to]
            copy = np.empty_like(buffer) if back.empty() else back.get()
            used = _size(buffer) if self._sized else buffer.size
            np.copyto(copy[:used], buffer[:used])
            self._mail.put(self._rank, to, (copy, back))

    def finish(self, rest: float = 0.0) -> None:  # noqa: ARG002 - threads wait asleep
        """Fill the incoming buffers. Raises ToolError where a rank sends nothing in time."""
        for source, buffer in self._incoming.items():
            copy, back = self._mail.take(source, self._rank)
            used = _size(copy) if self._sized else copy.size
            buffer[:used] = copy[:used]
            back.put(copy)


class MpiSwap:
    """Between processes of MPI: persistent requests over the buffers themselves.

    outgoing, incoming: (process, tag) -> buffer. waits: how to wait for them. Messages of a sized
    swap are shorter than the buffers that receive them, and are sent by requests of their own.
    """

    def __init__(
        self,
        comm: Any,
        waits: MpiWaits,
        outgoing: Tagged,
        incoming: Tagged,
        *,
        sized: bool = False,
    ) -> None:
        requests = [comm.Recv_init(b, source=rank, tag=tag) for (rank, tag), b in incoming.items()]
        if not sized:
            requests += [comm.Send_init(b, dest=to, tag=tag) for (to, tag), b in outgoing.items()]
        self._comm, self._sized = comm, outgoing if sized else {}
        self._requests, self._waits = requests, waits
        self._kind: Any = type(requests[0]) if requests else None
        self._started = requests
        weakref.finalize(self, _free, requests)

    def start(self) -> None:
        """Start all requests."""
        if self._requests:
            self._kind.Startall(self._requests)
        if self._sized:
            send, sized = self._comm.Isend, self._sized.items()
            sent = [send(b[: _size(b)], dest=to, tag=tag) for (to, tag), b in sized]
            self._started = self._requests + sent

    def finish(self, rest: float = 0.0) -> None:
        """Wait for all requests. Raises ToolError where that takes too long."""
        if self._started:
            test_all = type(self._started[-1]).Testall
            self._waits.until(lambda: test_all(self._started), rest)


def _size(buffer: Buffer) -> int:
    """Return how many bytes of a sized buffer are sent."""
    return int(buffer[:LENGTH].view(np.int64)[0])


def _free(requests: list[Any]) -> None:
    """Free requests that are not active, unless MPI has ended and has freed them."""
    mpi = sys.modules.get("mpi4py.MPI")
    for request in () if mpi is None or mpi.Is_finalized() else requests:
        request.Free()
