"""Channels: slots for arrays, filled by one filter and read by another, in turn.

Each end belongs to one thread. A Channel is both ends in one process; between processes of MPI,
the writer has a FarSender and the reader a FarReceiver. If filters have copies, a channel consists
of one channel for each pair of copies; ScatteringSender and GatheringReceiver use them in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from evener.errors import UsageError
from evener.running.failures import ASKED
from evener.running.mpi_comm import MpiComm
from evener.running.streams.program import Array, StreamChannel


class Sender(Protocol):
    """Protocol of the writer's end of a channel."""

    def has_room(self) -> bool:
        """Whether a slot is free."""

    def slot(self) -> Array:
        """Return the slot to be filled next; valid only if there is room."""

    def send(self) -> None:
        """Pass this slot to the reader."""


class Receiver(Protocol):
    """Protocol of the reader's end of a channel."""

    def has_data(self) -> bool:
        """Whether a filled slot is available."""

    def data(self) -> Array:
        """Return the oldest filled slot; its array may be changed."""

    def free(self) -> None:
        """Return that slot to the writer."""


class Channel:
    """A channel within this process, with `size` slots.

    to_reader: called by the writer's thread when there may be data; to_writer: called by the
    reader's thread when there may be room. Only one thread changes each count, so no lock is needed
    to read them.
    """

    def __init__(
        self,
        of: StreamChannel,
        size: int,
        to_reader: Callable[[], None] = lambda: None,
        to_writer: Callable[[], None] = lambda: None,
    ) -> None:
        self._slots: list[Any] = [np.empty(of.shape, of.dtype) for _ in range(size)]
        self._sent = self._freed = 0
        self._to_reader, self._to_writer = to_reader, to_writer
        for array in of.initial:
            self.slot()[...] = array
            self.send()

    def has_room(self) -> bool:
        """Whether a slot is free."""
        return self._sent - self._freed < len(self._slots)

    def slot(self) -> Any:
        """Return the slot to be filled next."""
        return self._slots[self._sent % len(self._slots)]

    def send(self) -> None:
        """Pass this slot to the reader."""
        self._sent += 1
        self._to_reader()

    def has_data(self) -> bool:
        """Whether a filled slot is available."""
        return self._freed < self._sent

    def data(self) -> Any:
        """Return the oldest filled slot."""
        return self._slots[self._freed % len(self._slots)]

    def free(self) -> None:
        """Return that slot to the writer."""
        self._freed += 1
        self._to_writer()


def _tags(number: int) -> tuple[int, int]:
    """Return the tags of a channel's messages: data, and free slots."""
    data, freed = 1 + 2 * number, 2 + 2 * number
    if freed >= ASKED:
        raise UsageError(
            f"channel {number:,}: MPI ranks can exchange data of at most {ASKED // 2:,} channels",
            hint="Run the program without mpiexec.",
        )
    return data, freed


class FarSender:
    """The writer's end of a channel to another MPI process. to: the reader's rank.

    Each slot has a persistent request for its data and one for the reader's message that the slot
    is free. No method waits: all only test whether messages have arrived.
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
        """Whether the next slot has been read since it was last sent."""
        place = self._sent % len(self._slots)
        return self._data[place].is_done() and self._freed[place].is_done()

    def slot(self) -> Array:
        """Return the slot to be filled next."""
        return self._slots[self._sent % len(self._slots)]

    def send(self) -> None:
        """Send that slot."""
        place = self._sent % len(self._slots)
        self._freed[place].start()
        self._data[place].start()
        self._sent += 1

    def is_over(self) -> bool:
        """Whether everything that was sent has been read."""
        return all(one.is_done() for one in [*self._data, *self._freed])


class FarReceiver:
    """The reader's end of a channel from another MPI process. source: the writer's rank.

    total: number of messages of the whole run, including initial arrays: all of them are received,
    so that no message is left at the end.
    """

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
        """Whether the next message has arrived."""
        return self._read < self._total and self._data[self._read % len(self._slots)].is_done()

    def data(self) -> Array:
        """Return the array of this message."""
        return self._slots[self._read % len(self._slots)]

    def free(self) -> None:
        """Allow the writer to send this slot again."""
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


class ScatteringSender:
    """The writer's end of a channel with copies of the reader. to: reader -> end of its channel.

    turns: the reader of each array.
    """

    def __init__(self, to: Mapping[int, Sender], turns: Sequence[int]) -> None:
        self._to, self._turns, self._sent = to, turns, 0

    def has_room(self) -> bool:
        """Whether a slot is free for the reader of the next array."""
        return self._now().has_room()

    def slot(self) -> Array:
        """Return the slot to be filled next."""
        return self._now().slot()

    def send(self) -> None:
        """Pass this slot to the reader."""
        self._now().send()
        self._sent += 1

    def _now(self) -> Sender:
        return self._to[self._turns[self._sent]]


class GatheringReceiver:
    """The reader's end of a channel with copies of the writer. by: writer -> end of its channel.

    turns: the writer of each array.
    """

    def __init__(self, by: Mapping[int, Receiver], turns: Sequence[int]) -> None:
        self._by, self._turns, self._read = by, turns, 0

    def has_data(self) -> bool:
        """Whether the next array has been sent by its writer."""
        return self._now().has_data()

    def data(self) -> Array:
        """Return this array."""
        return self._now().data()

    def free(self) -> None:
        """Return its slot to the writer."""
        self._now().free()
        self._read += 1

    def _now(self) -> Receiver:
        return self._by[self._turns[self._read]]
