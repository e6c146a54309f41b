"""The same buffers exchanged again and again between the same ranks, as the halo of a block is.

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
    """An exchange that may begin anew as soon as it is finished."""

    def start(self) -> None:
        """Send what the outgoing buffers hold; they may be written to after `finish`."""

    def finish(self, rest: float = 0.0) -> None:
        """Return when the incoming buffers are filled.

        rest [s]: sleep so long between two looks, where several ranks share a core; 0: wait awake.
        """


class Mail:
    """What threads hand to each other: a queue for each pair, so that who sends waits for none."""

    def __init__(self, patience: float) -> None:
        self._patience = patience  # [s]
        self._queues: defaultdict[tuple[int, int], queue.SimpleQueue[Any]] = defaultdict(
            queue.SimpleQueue
        )

    def put(self, source: int, to: int, value: Any) -> None:
        """Hand over."""
        self._queues[source, to].put(value)

    def take(self, source: int, to: int) -> Any:
        """Return what was handed over, in that order. Raises ToolError where nothing comes."""
        try:
            return self._queues[source, to].get(timeout=self._patience)
        except queue.Empty as error:
            raise ToolError(f"rank {source} has not sent for {self._patience:.0f} s") from error


class ThreadSwap:
    """Between threads: a copy of each buffer is handed over."""

    def __init__(self, rank: int, mail: Mail, outgoing: Buffers, incoming: Buffers) -> None:
        self._rank, self._mail = rank, mail
        self._outgoing, self._incoming = outgoing, incoming

    def start(self) -> None:
        """Hand over."""
        for to, buffer in self._outgoing.items():
            self._mail.put(self._rank, to, buffer.copy())

    def finish(self, rest: float = 0.0) -> None:  # noqa: ARG002 - threads wait asleep
        """Take what the others have handed over. Raises ToolError where nothing comes."""
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
        """Start all."""
        if self._requests:
            type(self._requests[0]).Startall(self._requests)

    def finish(self, rest: float = 0.0) -> None:
        """Wait for all."""
        if not self._requests:
            return
        kind = type(self._requests[0])
        if rest <= 0:
            kind.Waitall(self._requests)
            return
        while not kind.Testall(self._requests):
            time.sleep(rest)


def _free(requests: list[Any]) -> None:
    """Give inactive requests back to MPI."""
    for request in requests:
        request.Free()
