"""Channels: slots for arrays, filled by one filter and read by another, in turn.

Each end belongs to one thread. A Channel has both; of a channel between processes of MPI each has
one of far_channels.py. Where filters have copies a channel is one between each two of them:
GatheringReceiver and ScatteringSender take these in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

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
