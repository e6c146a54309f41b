"""Rows of arrays divided over ranks in runs, and moved when the sizes of the runs change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray
from evener.running.comm import Comm
from evener.running.sharing import Memory, alone

Rows = npt.NDArray[Any]
PAGE = 4096  # bytes, the smallest there are


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
    """This rank's run of rows of an array, which moves when the sizes of the runs change.

    Ranks in a row on one computer keep their rows in memory that they share: between these, rows
    change hands and nothing is copied. To other computers rows are sent, all pairs at once, into
    room for half as many again on either side, written to from the start: a page of memory that
    was never written to takes longer to get than to fill.

    rows: this rank's by `sizes` (p,). ready: take memory now, and copy rows there; else that waits
    for the first move. Every rank makes one, at the same time. Read: `sizes`; `first`, the number
    of its first row; `end`.
    """

    def __init__(self, comm: Comm, rows: Rows, sizes: IntArray, *, ready: bool = False) -> None:
        self._comm, self._near = comm, (comm.rank, comm.rank + 1)
        self._memory: Memory | None = None
        self._own(sizes)
        self._buffer, self._offset = np.ascontiguousarray(rows), self.first
        if ready:
            self._ready_for(sizes)
            comm.barrier()
            # A process pays for its first look at a page, too: not while a program runs.
            self._buffer.reshape(-1).view(np.uint8)[::PAGE].max(initial=0)

    @property
    def rows(self) -> Rows:
        """Those it has now; a view, until the next move."""
        return self._buffer[self.first - self._offset : self.end - self._offset]

    def move(self, sizes: IntArray) -> None:
        """Have the rows of other sizes (p,), of the same sum. Every rank calls."""
        memory = self._ready_for(sizes)
        exchange = self._comm.swap(self._pieces(sizes, out=True), self._pieces(sizes, out=False))
        exchange.start()
        exchange.finish()
        memory.sync()
        self._comm.barrier()
        memory.sync()
        self._own(sizes)

    def free(self) -> None:
        """Give the memory back: every rank calls, and none looks at `rows` again."""
        if self._memory is not None:
            self._buffer, self._offset, self.end = self._buffer[:0].copy(), self.first, self.first
            self._memory.free()
            self._memory = None

    def _own(self, sizes: IntArray) -> None:
        self.sizes: npt.NDArray[np.int64] = np.array(sizes, np.int64)
        starts = starts_of(self.sizes)
        self.first, self.end = (int(x) for x in starts[self._comm.rank : self._comm.rank + 2])

    def _pieces(self, sizes: IntArray, *, out: bool) -> dict[int, Rows]:
        """Rank -> bytes that it is sent from here, or sends here; of ranks that share no memory."""
        before, after = starts_of(self.sizes), starts_of(sizes)
        mine, theirs = (before, after) if out else (after, before)
        me, (a, b) = self._comm.rank, self._near
        found = {}
        for rank in (*range(a), *range(b, self._comm.size)):
            low, high = max(mine[me], theirs[rank]), min(mine[me + 1], theirs[rank + 1])
            if low < high:
                piece = self._buffer[low - self._offset : high - self._offset]
                found[rank] = piece.reshape(-1).view(np.uint8)
        return found

    def _ready_for(self, sizes: IntArray) -> Memory:
        """Have memory for the rows of `sizes`, beside those that are there."""
        if self._memory is None:
            self._near = self._comm.beside()
        low, high = self._span(sizes)
        inside = self._offset <= low and high <= self._offset + len(self._buffer)
        return self._memory if self._memory is not None and inside else self._take(sizes)

    def _span(self, sizes: IntArray) -> tuple[int, int]:
        """Rows that the ranks nearby have between them, now or by `sizes`."""
        before, after = starts_of(self.sizes), starts_of(sizes)
        a, b = self._near
        return int(min(before[a], after[a])), int(max(before[b], after[b]))

    def _take(self, sizes: IntArray) -> Memory:
        """Take memory with room, together with the ranks nearby, and put this rank's rows there."""
        starts, (a, b) = starts_of(self.sizes), self._near
        low, high = self._span(sizes)
        more = (high - low) // 2
        first, end = max(low - more, 0), min(high + more, int(starts[-1]))
        shape = (end - first, *self._buffer.shape[1:])
        n_bytes = int(np.prod(shape)) * self._buffer.itemsize
        memory = alone(n_bytes) if b - a == 1 else self._comm.memory(n_bytes)
        if memory is None:  # a rank of this computer could not allocate it
            self._near = (self._comm.rank, self._comm.rank + 1)
            return self._take(sizes)
        buffer = memory.data.view(self._buffer.dtype).reshape(shape)
        buffer[self.first - first : self.end - first] = self.rows
        if self._comm.rank == a:
            buffer[: starts[a] - first] = 0
        if self._comm.rank == b - 1:
            buffer[starts[b] - first :] = 0
        old, self._memory = self._memory, memory
        self._buffer, self._offset = buffer, first
        if old is not None:
            old.free()
        return memory
