"""Channels between processes of MPI: each slot has its message, and its reader says it is free.

Nothing waits here: both ends ask MPI whether messages have come. Requests are made once for each
slot. As many messages are received as are sent, so that none is left when the last has been.
"""

from __future__ import annotations

import numpy as np

from evener.errors import UsageError
from evener.running.failures import ASKED
from evener.running.mpi_comm import MpiComm
from evener.running.streams.program import Array, StreamChannel


def _tags(number: int) -> tuple[int, int]:
    """Return the tags of a channel's messages: data, and slots that are free."""
    found = 1 + 2 * number, 2 + 2 * number
    if found[1] >= ASKED:
        raise UsageError(f"channel {number:,}: ranks have messages of {ASKED // 2:,} at most")
    return found


class FarSender:
    """The end of a channel that is filled here. number: of the channel; to: the reader's process.

    total: messages of the whole run, with what lies in the channel at first.
    """

    def __init__(self, mpi: MpiComm, of: StreamChannel, number: int, to: int, size: int) -> None:
        data, freed = _tags(number)
        self._slots = [np.empty(of.shape, of.dtype) for _ in range(size)]
        freeing = [np.empty(1, np.uint8) for _ in range(size)]
        self._data = [mpi.tagged({(to, data): slot}, {}) for slot in self._slots]
        self._freed = [mpi.tagged({}, {(to, freed): byte}) for byte in freeing]
        self._sent = 0
        for array in of.initial:
            self.slot()[...] = array
            self.send()

    def has_room(self) -> bool:
        """Whether the next slot has been read since it was sent."""
        place = self._sent % len(self._slots)
        return self._data[place].is_done() and self._freed[place].is_done()

    def slot(self) -> Array:
        """Return the slot that is to be filled next."""
        return self._slots[self._sent % len(self._slots)]

    def send(self) -> None:
        """Send that slot."""
        place = self._sent % len(self._slots)
        self._freed[place].start()
        self._data[place].start()
        self._sent += 1

    def is_over(self) -> bool:
        """Whether all that was sent has been read."""
        return all(one.is_done() for one in [*self._data, *self._freed])


class FarReceiver:
    """The end of a channel that is read here. source: the writer's process; total: messages."""

    def __init__(
        self, mpi: MpiComm, of: StreamChannel, number: int, source: int, size: int, total: int
    ) -> None:
        data, freed = _tags(number)
        self._slots = [np.empty(of.shape, of.dtype) for _ in range(size)]
        self._data = [mpi.tagged({}, {(source, data): slot}) for slot in self._slots]
        byte = np.zeros(1, np.uint8)
        self._freed = [mpi.tagged({(source, freed): byte}, {}) for _ in range(size)]
        self._read, self._asked, self._total = 0, 0, total
        for _ in range(min(size, total)):
            self._ask()

    def has_data(self) -> bool:
        """Whether the next message is there."""
        return self._read < self._total and self._data[self._read % len(self._slots)].is_done()

    def data(self) -> Array:
        """Return the slot of that message."""
        return self._slots[self._read % len(self._slots)]

    def free(self) -> None:
        """Let the slot be sent again."""
        place = self._read % len(self._slots)
        self._read += 1
        self._freed[place].finish()  # of its last time: the writer has sent since
        if self._asked < self._total:
            self._ask()
        self._freed[place].start()

    def _ask(self) -> None:
        self._data[self._asked % len(self._slots)].start()
        self._asked += 1

    def is_over(self) -> bool:
        """Whether all messages have been received; those that no filter reads are freed."""
        while self.has_data():
            self.free()
        return self._read == self._total and all(one.is_done() for one in self._freed)
