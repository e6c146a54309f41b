"""Divides rows of arrays over ranks in contiguous runs, and moves them when sizes change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray
from evener.running.comm import Comm
from evener.running.sharing import Memory, alone

Rows = npt.NDArray[Any]
PAGE = 4096  # bytes, the smallest page size


def starts_of(sizes: IntArray) -> npt.NDArray[np.int64]:
    """Return the first row of each rank, then the number of rows (p + 1,)."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def moved_rows(old: IntArray, new: IntArray) -> int:
    """Return how many rows change rank when the sizes (p,) change from `old` to `new`."""
    before, after = starts_of(old), starts_of(new)
    stay = np.minimum(before[1:], after[1:]) - np.maximum(before[:-1], after[:-1])
    return int(before[-1] - np.maximum(stay, 0).sum())


def move_rows(comm: Comm, arrays: Sequence[Rows], old: IntArray, new: IntArray) -> tuple[Rows, ...]:
    """Return this rank's rows after a change of sizes; all ranks call this with their old rows.

    arrays: all of length old[rank]. old, new (p,): integer sizes with equal sums.
    """
    before, after = starts_of(old), starts_of(new)
    first, end = before[comm.rank], before[comm.rank + 1]

    def piece(rank: int) -> tuple[Rows, ...]:
        a, b = max(first, after[rank]) - first, min(end, after[rank + 1]) - first
        return tuple(array[a : max(a, b)] for array in arrays)

    # Rows that stay are not sent; most rows do.
    nothing = tuple(array[:0] for array in arrays)
    parts = [nothing if rank == comm.rank else piece(rank) for rank in range(comm.size)]
    received = comm.exchange(parts)
    received[comm.rank] = piece(comm.rank)
    return tuple(np.concatenate([pieces[i] for pieces in received]) for i in range(len(arrays)))


class HeldRows:
    """This rank's contiguous rows of an array, which move when the sizes change.

    Consecutive ranks on one computer store their rows in shared memory, so that rows move between
    them without a copy. Rows for other computers are sent, between all pairs of ranks at once. The
    memory has space for half as many additional rows on either side; all of it is written to once
    at the start, because the first write to a page takes longer than later ones.

    rows: this rank's rows according to `sizes` (p,). ready: allocate the memory and copy rows now,
    not at the first move. All ranks create it at the same time. Attributes: `sizes`; `first`, the
    number of its first row; `end`.
    """

    def __init__(self, comm: Comm, rows: Rows, sizes: IntArray, *, ready: bool = False) -> None:
        self._comm, self._near = comm, (comm.rank, comm.rank + 1)
        self._memory: Memory | None = None
        self._own(sizes)
        self._buffer, self._offset = np.ascontiguousarray(rows), self.first
        if ready:
            self._ready_for(sizes)
            comm.barrier()
            # The first read of a page is slow, too; it is done now, not while a program runs.
            self._buffer.reshape(-1).view(np.uint8)[::PAGE].max(initial=0)

    @property
    def rows(self) -> Rows:
        """This rank's rows: a view, valid until the next move."""
        return self._buffer[self.first - self._offset : self.end - self._offset]

    def move(self, sizes: IntArray) -> None:
        """Move rows so that ranks have these sizes (p,), with the same sum. All ranks call this."""
        self._ready_for(sizes)
        exchange = self._comm.swap(self._pieces(sizes, out=True), self._pieces(sizes, out=False))
        exchange.start()
        exchange.finish()
        self._comm.barrier()
        self._own(sizes)

    def free(self) -> None:
        """Release the memory; all ranks call this, and do not use `rows` afterwards."""
        if self._memory is not None:
            self._buffer, self._offset, self.end = self._buffer[:0].copy(), self.first, self.first
            self._memory.free()
            self._memory = None

    def _own(self, sizes: IntArray) -> None:
        self.sizes: npt.NDArray[np.int64] = np.array(sizes, np.int64)
        starts = starts_of(self.sizes)
        self.first, self.end = (int(x) for x in starts[self._comm.rank : self._comm.rank + 2])

    def _pieces(self, sizes: IntArray, *, out: bool) -> dict[int, Rows]:
        """Return the bytes for, or from, each rank that shares no memory with this one."""
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
        """Return memory that has space for the present rows and for those of `sizes`."""
        if self._memory is None:
            self._near = self._comm.beside()
        low, high = self._span(sizes)
        inside = self._offset <= low and high <= self._offset + len(self._buffer)
        return self._memory if self._memory is not None and inside else self._take(sizes)

    def _span(self, sizes: IntArray) -> tuple[int, int]:
        """Return the range of rows of the ranks on this computer, now and according to `sizes`."""
        before, after = starts_of(self.sizes), starts_of(sizes)
        a, b = self._near
        return int(min(before[a], after[a])), int(max(before[b], after[b]))

    def _take(self, sizes: IntArray) -> Memory:
        """Allocate memory with the ranks of this computer, and copy this rank's rows to it."""
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
