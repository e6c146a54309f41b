"""Exchanges that are created once and started repeatedly: between threads, and under MPI.

If a swap is `sized`, the first eight bytes of each buffer, an int64, state how many of its bytes
are sent. This is for messages whose length changes while the buffers do not.
"""

from __future__ import annotations

import queue
import sys
import threading
import weakref
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from evener.running.failures import MpiWaits, Names

Buffer = npt.NDArray[Any]
Buffers = Mapping[int, Buffer]
Tagged = Mapping[tuple[int, int], Buffer]  # by rank and tag
Box = queue.SimpleQueue[Any]
LENGTH = 8  # bytes of a sized buffer that state how many are sent, including these


class Swap(Protocol):
    """An exchange that can be started again once it is finished."""

    def start(self) -> None:
        """Send the contents of the outgoing buffers, which may be changed after `settle`."""

    def finish(self, rest: float = 0.0) -> None:
        """Wait until the incoming buffers are filled.

        rest [s]: time to sleep between two checks, for ranks that share a core; 0: wait without
        sleep.
        """

    def settle(self) -> None:
        """Wait until the outgoing buffers may be reused; called after `finish`."""


class Stopped(Exception):  # noqa: N818 - the error is that of another rank
    """Raised in a rank that waits for others if another rank has failed."""


class Mail:
    """Values that threads send to each other: a queue for each pair, so that senders never wait."""

    def __init__(self, patience: float, names: Names) -> None:
        self._patience, self._names = patience, names  # [s]
        self._queues: dict[tuple[int, int], Box] = {}
        self._own: weakref.WeakSet[Box] = weakref.WeakSet()  # queues that `box` has made
        self._lock = threading.Lock()  # protects _own
        self._is_closed = False

    def put(self, source: int, to: int, value: Any) -> None:
        """Send a value."""
        self._box(source, to).put(value)

    def take(self, source: int, to: int) -> Any:
        """Return the next value that was sent; raises the errors of `wait`."""
        return self.wait(self._box(source, to), source)

    def box(self) -> Box:
        """Return a new queue; only the threads to which it is passed use it."""
        box: Box = queue.SimpleQueue()
        with self._lock:
            self._own.add(box)
        return box

    def wait(self, box: Box, source: int) -> Any:
        """Return the next value in a queue, which rank `source` puts there.

        Raises ToolError if none arrives in time, Stopped if the mail is closed.
        """
        if self._is_closed:  # checked once the box exists: if still open, `close` finds the box
            raise Stopped
        try:
            value = box.get(timeout=self._patience)
        except queue.Empty:
            raise self._names.stalled([source], self._patience) from None
        if value is Stopped:
            raise Stopped
        return value

    def _box(self, source: int, to: int) -> Box:
        """Return the queue of a pair of ranks; two threads that create it at once share it."""
        box = self._queues.get((source, to))
        return self._queues.setdefault((source, to), queue.SimpleQueue()) if box is None else box

    def close(self) -> None:
        """End all current and future waits."""
        self._is_closed = True
        with self._lock:
            own = list(self._own)
        for box in [*list(self._queues.values()), *own]:
            box.put(Stopped)


class ThreadSwap:
    """A swap between threads: each copies from the others' outgoing buffers, and notifies them."""

    def __init__(
        self, rank: int, mail: Mail, outgoing: Buffers, incoming: Buffers, *, sized: bool = False
    ) -> None:
        self._rank, self._mail, self._sized = rank, mail, sized
        self._outgoing, self._incoming = outgoing, incoming
        self._copied = {to: mail.box() for to in outgoing}
        self._is_settled = True

    def start(self) -> None:
        """Pass the outgoing buffers to the ranks that copy from them."""
        self.settle()
        for to, buffer in self._outgoing.items():
            self._mail.put(self._rank, to, (buffer, self._copied[to]))
        self._is_settled = False

    def finish(self, rest: float = 0.0) -> None:  # noqa: ARG002 - threads wait asleep
        """Fill the incoming buffers. Raises ToolError if a rank sends nothing in time."""
        for source, buffer in self._incoming.items():
            theirs, copied = self._mail.take(source, self._rank)
            used = _size(theirs) if self._sized else theirs.size
            buffer[:used] = theirs[:used]
            copied.put(None)

    def settle(self) -> None:
        """Wait until all receivers have copied. Raises ToolError if one does not in time."""
        if not self._is_settled:
            for to, copied in self._copied.items():
                self._mail.wait(copied, to)
            self._is_settled = True


class MpiSwap:
    """A swap between MPI processes: persistent requests on the buffers themselves.

    outgoing, incoming: (process, tag) -> buffer. waits: how to wait for requests. The messages of a
    sized swap may be shorter than their buffers; they are sent by new requests each time.
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
        """Wait for all requests. Raises ToolError if that takes too long."""
        if self._started:
            test_all = type(self._started[-1]).Testall
            self._waits.until(lambda: test_all(self._started), rest)

    def is_done(self) -> bool:
        """Whether all started requests are complete; true before the first start."""
        return not self._started or bool(type(self._started[-1]).Testall(self._started))

    def settle(self) -> None:
        """Do nothing: `finish` has also waited for the messages sent."""


def _size(buffer: Buffer) -> int:
    """Return how many bytes of a sized buffer are sent."""
    return int(buffer[:LENGTH].view(np.int64)[0])


def _free(requests: list[Any]) -> None:
    """Free inactive requests, unless MPI has been finalized, which frees them."""
    mpi = sys.modules.get("mpi4py.MPI")
    for request in () if mpi is None or mpi.Is_finalized() else requests:
        request.Free()
