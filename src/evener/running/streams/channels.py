"""Channels: slots for arrays, filled by one filter and read by another, in turn.

Each end belongs to one thread. A Channel has both; of a channel between processes of MPI each has
one of far_channels.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

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
        self._slots = [np.empty(of.shape, of.dtype) for _ in range(size)]
        self._sent = self._freed = 0
        self._to_reader, self._to_writer = to_reader, to_writer
        for array in of.initial:
            self.slot()[...] = array
            self.send()

    def has_room(self) -> bool:
        """Whether a slot is free."""
        return self._sent - self._freed < len(self._slots)

    def slot(self) -> Array:
        """Return the slot that is to be filled next."""
        return self._slots[self._sent % len(self._slots)]

    def send(self) -> None:
        """Hand over that slot."""
        self._sent += 1
        self._to_reader()

    def has_data(self) -> bool:
        """Whether a slot has been handed over."""
        return self._freed < self._sent

    def data(self) -> Array:
        """Return the slot that was handed over first."""
        return self._slots[self._freed % len(self._slots)]

    def free(self) -> None:
        """Give that slot back."""
        self._freed += 1
        self._to_writer()
