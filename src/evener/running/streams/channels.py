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
    """The end of a channel that is filled."""

    def has_room(self) -> bool:
        """Whether a slot is free."""

    def slot(self) -> Array:
        """Return the slot that is to be filled next; only where there is room."""

    def send(self) -> None:
        """Hand over that slot."""


class Receiver(Protocol):
    """The end of a channel that is read."""

    def has_data(self) -> bool:
        """Whether a slot has been handed over."""

    def data(self) -> Array:
        """Return the slot that was handed over first, which may be changed."""

    def free(self) -> None:
        """Give that slot back."""


class Channel:
    """A channel within this process, with `size` slots.

    to_reader, to_writer: called, by the other end's thread, when there may be data, or room. Counts
    are changed by one thread each, so that no lock is needed to read them.
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
        """Return the slot that is to be filled next."""
        return self._slots[self._sent % len(self._slots)]

    def send(self) -> None:
        """Hand over that slot."""
        self._sent += 1
        self._to_reader()

    def has_data(self) -> bool:
        """Whether a slot has been handed over."""
        return self._freed < self._sent

    def data(self) -> Any:
        """Return the slot that was handed over first."""
        return self._slots[self._freed % len(self._slots)]

    def free(self) -> None:
        """Give that slot back."""
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
    """The writer's end of a channel to another process of MPI. to: the reader's rank.

    Each slot has a persistent request for its data and one for the reader's message that the slot
    is free. No call waits: all ask MPI whether messages have come.
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
    """The reader's end of a channel from another process of MPI. source: the writer's rank.

    total: messages of the whole run, initial arrays included: as many are received as are sent, so
    that no message is left at the end.
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


class ScatteringSender:
    """The end of a channel whose readers are copies. to: by reader; turns: whose each array is."""

    def __init__(self, to: Mapping[int, Sender], turns: Sequence[int]) -> None:
        self._to, self._turns, self._sent = to, turns, 0

    def has_room(self) -> bool:
        """Whether a slot is free for the reader whose turn it is."""
        return self._now().has_room()

    def slot(self) -> Array:
        """Return the slot that is to be filled next."""
        return self._now().slot()

    def send(self) -> None:
        """Hand over that slot."""
        self._now().send()
        self._sent += 1

    def _now(self) -> Sender:
        return self._to[self._turns[self._sent]]


class GatheringReceiver:
    """The end of a channel whose writers are copies. by: by writer; turns: who makes each array."""

    def __init__(self, by: Mapping[int, Receiver], turns: Sequence[int]) -> None:
        self._by, self._turns, self._read = by, turns, 0

    def has_data(self) -> bool:
        """Whether the array of the writer whose turn it is has been handed over."""
        return self._now().has_data()

    def data(self) -> Array:
        """Return that array."""
        return self._now().data()

    def free(self) -> None:
        """Give its slot back."""
        self._now().free()
        self._read += 1

    def _now(self) -> Receiver:
        return self._by[self._turns[self._read]]
