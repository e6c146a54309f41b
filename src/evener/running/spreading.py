"""Rows of arrays divided over ranks in runs, and moved when the sizes of the runs change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray
from evener.running.comm import Comm

Rows = npt.NDArray[Any]


def starts_of(sizes: IntArray) -> npt.NDArray[np.int64]:
    """(p + 1,) the first row of each rank, and behind them the number of rows."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def moved_rows(old: IntArray, new: IntArray) -> int:
    """How many rows have another rank after sizes changed from old to new, (p,) each."""
    before, after = starts_of(old), starts_of(new)
    stay = np.minimum(before[1:], after[1:]) - np.maximum(before[:-1], after[:-1])
    return int(before[-1] - np.maximum(stay, 0).sum())


def move_rows(comm: Comm, arrays: Sequence[Rows], old: IntArray, new: IntArray) -> tuple[Rows, ...]:
    """Return this rank's rows by the new sizes; each rank passes in its rows by the old ones.

    arrays: of equal length, old[rank]. old, new (p,): whole sizes of equal sum. Every rank calls.
    """
    before, after = starts_of(old), starts_of(new)
    first, end = before[comm.rank], before[comm.rank + 1]

    def piece(rank: int) -> tuple[Rows, ...]:
        a, b = max(first, after[rank]) - first, min(end, after[rank + 1]) - first
        return tuple(array[a : max(a, b)] for array in arrays)

    # What stays is not sent: most of it does.
    nothing = tuple(array[:0] for array in arrays)
    parts = [nothing if rank == comm.rank else piece(rank) for rank in range(comm.size)]
    received = comm.exchange(parts)
    received[comm.rank] = piece(comm.rank)
    return tuple(np.concatenate([pieces[i] for pieces in received]) for i in range(len(arrays)))


class HeldRows:
    """This rank's run of rows of an array, with room around them: moves copy only what moves.

    rows: those it has; first: the number of the first. room: whether to make room at once, for
    half as many again on both sides; else when it is needed, which copies all. Room that is never
    used costs no memory on systems that give pages when they are written to.
    """

    def __init__(self, rows: Rows, first: int, *, room: bool = False) -> None:
        self._buffer, self._offset = np.ascontiguousarray(rows), first
        self.first, self.end = first, first + len(rows)
        if room:
            self._enlarge(self.first, self.end)

    @property
    def rows(self) -> Rows:
        """Those it has now; a view, until the next move."""
        return self._buffer[self.first - self._offset : self.end - self._offset]

    def move(self, comm: Comm, old: IntArray, new: IntArray) -> None:
        """Send and receive what sizes old (p,) have elsewhere than sizes new (p,) do.

        Every rank calls. Pairs of ranks take turns in one order, so that none waits for ever.
        """
        before, after = starts_of(old), starts_of(new)
        me = comm.rank
        self._make_room(int(after[me]), int(after[me + 1]))
        for source in range(comm.size):
            for target in range(comm.size):
                a = int(max(before[source], after[target]))
                b = int(min(before[source + 1], after[target + 1]))
                if source == target or a >= b or me not in (source, target):
                    continue
                piece = self._buffer[a - self._offset : b - self._offset].data.cast("B")
                if me == source:
                    comm.send(piece, target)
                else:
                    comm.receive(piece, source)
        self.first, self.end = int(after[me]), int(after[me + 1])

    def _make_room(self, first: int, end: int) -> None:
        """Have room for rows first:end beside those that are there."""
        low, high = min(first, self.first), max(end, self.end)
        if low < self._offset or high > self._offset + len(self._buffer):
            self._enlarge(low, high)

    def _enlarge(self, low: int, high: int) -> None:
        more = (high - low) // 2
        start = max(low - more, 0)
        buffer = np.empty((high + more - start, *self._buffer.shape[1:]), self._buffer.dtype)
        buffer[self.first - start : self.end - start] = self.rows
        self._buffer, self._offset = buffer, start
