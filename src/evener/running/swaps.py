"""Exchanges of the same buffers between the same ranks, repeated, as for the halo of a block.

Made once by `Comm.swap`, then started and finished in every iteration: nothing is allocated.
"""

from __future__ import annotations

import queue
import time
import weakref
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Protocol

import numpy.typing as npt

from evener.errors import ToolError

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
    """Between threads: a copy of each buffer is sent."""

    def __init__(self, rank: int, mail: Mail, outgoing: Buffers, incoming: Buffers) -> None:
        self._rank, self._mail = rank, mail
        self._outgoing, self._incoming = outgoing, incoming

    def start(self) -> None:
        """Send copies of all outgoing buffers."""
        for to, buffer in self._outgoing.items():
            self._mail.put(self._rank, to, buffer.copy())

    def finish(self, rest: float = 0.0) -> None:  # noqa: ARG002 - threads wait asleep
        """Fill the incoming buffers. Raises ToolError where a rank sends nothing in time."""
        for source, buffer in self._incoming.items():
            buffer[:] = self._mail.take(source, self._rank)


class MpiSwap:
    """Between processes of MPI: persistent requests over the buffers themselves."""

    def __init__(self, comm: Any, outgoing: Buffers, incoming: Buffers) -> None:
        requests = [comm.Recv_init(buffer, source=rank) for rank, buffer in incoming.items()]
        requests += [comm.Send_init(buffer, dest=rank) for rank, buffer in outgoing.items()]
        self._requests = requests
        weakref.finalize(self, _free, requests)

    def start(self) -> None:
        """Start all requests."""
        if self._requests:
            type(self._requests[0]).Startall(self._requests)

    def finish(self, rest: float = 0.0) -> None:
        """Wait for all requests."""
        if not self._requests:
            return
        kind = type(self._requests[0])
        if rest <= 0:
            kind.Waitall(self._requests)
            return
        while not kind.Testall(self._requests):
            time.sleep(rest)


def _free(requests: list[Any]) -> None:
    """Free requests that are not active."""
    for request in requests:
        request.Free()
