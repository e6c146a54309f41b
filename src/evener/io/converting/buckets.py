"""RowBuckets: sorts arcs into ranges of rows, in memory or on disk, and makes adjacency lists."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector
from evener.files.temporary import private_folder
from evener.io.converting import buckets_kernels as kernels

# Peak memory [B] per arc of a bucket that is sorted and made into lists, without and with
# weights: key, neighbour, and the temporaries of sorting with weights.
BYTES_AN_ARC, BYTES_A_WEIGHTED_ARC = 14, 52
PIECE = 2**20  # max. pairs processed at a time
A_DEALT_PAIR = 64  # peak memory [B] per pair
MOST = 256  # buckets; with more, their pieces on disk become small
SPARE = 4  # a bucket with up to this multiple of the mean number of arcs is sorted at once


class BucketLists(NamedTuple):
    """Ascending lists of the vertices from `first` on, as in CsrRows."""

    first: int
    xadj: IntVector
    adjncy: npt.NDArray[np.int32]
    adjwgt: FloatArray | None


class Spool:
    """A folder for arrays that do not fit in memory, created when the first array needs it.

    where: a folder on a disk with enough space. A context manager, which removes the folder.
    """

    def __init__(self, where: Path) -> None:
        self._where = where
        self._stack = ExitStack()
        self._folder: Path | None = None
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def new(self) -> Path:
        """Return the name of a file that does not exist yet."""
        if self._folder is None:
            self._folder = self._stack.enter_context(private_folder(self._where))
        self._count += 1
        return self._folder / str(self._count)


class Store:
    """Concatenated arrays of one type: in memory, or on disk after `spill`."""

    def __init__(self, dtype: type[np.generic]) -> None:
        self._dtype = dtype
        self._held: list[npt.NDArray[Any]] = []
        self._path: Path | None = None

    def append(self, values: npt.NDArray[Any]) -> None:
        """Append a copy of the values."""
        if self._path is None:
            self._held.append(values.copy())
        else:
            with self._path.open("ab") as file:
                file.write(values.data)

    def spill(self, spool: Spool) -> None:
        """Write the held values to disk; later values are appended there."""
        self._path = spool.new()
        with self._path.open("wb") as file:
            for values in self._held:
                file.write(values.data)
        self._held.clear()

    def read(self) -> npt.NDArray[Any]:
        """Return all values."""
        if self._path is not None:
            return np.fromfile(self._path, self._dtype)
        return np.concatenate(self._held) if self._held else np.empty(0, self._dtype)

    def taken(self) -> npt.NDArray[Any]:
        """Return all values, and empty the store."""
        found = self.read()
        self._held.clear()
        if self._path is not None:
            self._path.unlink()
        return found

    def pieces(self, size: int) -> Iterator[npt.NDArray[Any]]:
        """Yield all values in pieces, and empty the store."""
        if self._path is None:
            yield from (
                held[first : first + size]
                for held in self._held
                for first in range(0, held.size, size)
            )
            self._held.clear()
            return
        with self._path.open("rb") as file:
            while (values := np.fromfile(file, self._dtype, size)).size:
                yield values
        self._path.unlink()


class RowBuckets:
    """Arcs of a graph of n vertices, sorted into ranges of rows; arcs may be added in any order.

    expected: approximate number of arcs. memory [B]: limit for all buckets. first: number of the
    first row. Of equal arcs, only the first one added counts.
    """

    def __init__(
        self,
        n: int,
        expected: int,
        spool: Spool,
        *,
        memory: int,
        weighted: bool = False,
        first: int = 0,
    ) -> None:
        self.n, self.weighted, self.first = n, weighted, first
        self._spool, self._memory = spool, memory
        self._piece = min(PIECE, max(1024, memory // (4 * A_DEALT_PAIR)))
        self._most = max(1, memory // (BYTES_A_WEIGHTED_ARC if weighted else BYTES_AN_ARC))
        wanted = min(MOST, max(1, -(-SPARE * expected // self._most)))
        if expected <= self._most // 2:
            wanted = 1
        self._shift = max(0, int(-(-n // wanted) - 1).bit_length())
        count = ((n - 1) >> self._shift) + 1
        self._keys = [Store(np.int64) for _ in range(count)]
        self._weights = [Store(np.float64) for _ in range(count if weighted else 0)]
        self._counts = np.zeros(count, np.int64)
        self._spilled = False

    @property
    def arcs(self) -> int:
        """Number of arcs added, including repeated ones."""
        return int(self._counts.sum())

    def add(
        self,
        u: npt.NDArray[Any],
        v: npt.NDArray[Any],
        weights: FloatArray | None = None,
        *,
        both: bool = True,
    ) -> None:
        """Add arcs from u to v, int32 or int64 from 0 to n - 1; loops are ignored.

        both: also add the arcs from v to u.
        """
        none = np.empty(0)
        for first in range(0, u.size, self._piece):
            piece = slice(first, first + self._piece)
            tails, heads = (ends[piece].astype(np.int64, copy=False) for ends in (u, v))
            counts = np.zeros(self._counts.size, np.int64)
            kernels.count_rows(tails, heads, self._shift, both, counts)
            starts = np.concatenate([[0], np.cumsum(counts)])
            keys = np.empty(int(starts[-1]), np.int64)
            dealt = np.empty(keys.size if self.weighted else 0)
            given = none if weights is None else weights[piece]
            kernels.deal(tails, heads, given, self._shift, both, starts[:-1].copy(), keys, dealt)
            self._put(starts, keys, dealt)

    def lists(self) -> Iterator[BucketLists]:
        """Yield the lists of all rows, in order, a range at a time; free each range afterwards."""
        for i in range(self._counts.size):
            first = i << self._shift
            rows = min(self.n - first, 1 << self._shift)
            if self._counts[i] > self._most and rows > 1:
                yield from self._divided(i, first, rows)
            else:
                yield self._listed(i, first, rows)

    def _put(self, starts: IntVector, keys: IntVector, dealt: FloatArray) -> None:
        self._counts += np.diff(starts)
        for i in np.flatnonzero(np.diff(starts)).tolist():
            a, b = starts[i : i + 2]
            self._keys[i].append(keys[a:b])
            if self.weighted:
                self._weights[i].append(dealt[a:b])
        size = self.arcs * (16 if self.weighted else 8)
        if not self._spilled and self._counts.size > 1 and size > self._memory // 2:
            self._spilled = True
            for store in (*self._keys, *self._weights):
                store.spill(self._spool)

    def _listed(self, i: int, first: int, rows: int) -> BucketLists:
        """Return the adjacency lists of a bucket."""
        keys = self._keys[i].taken()
        weights, adjwgt = np.empty(0), np.empty(0)
        if self.weighted:
            order = np.argsort(keys, kind="stable")
            keys, weights = keys[order], self._weights[i].taken()[order]
            adjwgt = np.empty(keys.size)
        else:
            keys.sort()
        xadj, adjncy = np.empty(rows + 1, np.int64), np.empty(keys.size, np.int32)
        count = kernels.lists_of(keys, weights, xadj, adjncy, adjwgt)
        return BucketLists(
            self.first + first, xadj, adjncy[:count], adjwgt[:count] if self.weighted else None
        )

    def _divided(self, i: int, first: int, rows: int) -> Iterator[BucketLists]:
        """Yield the lists of a bucket that is too large, by sorting it into smaller buckets."""
        finer = RowBuckets(
            rows,
            int(self._counts[i]),
            self._spool,
            memory=self._memory,
            weighted=self.weighted,
            first=self.first + first,
        )
        weights = self._weights[i].pieces(self._piece) if self.weighted else None
        for keys in self._keys[i].pieces(self._piece):
            finer.add_keys(keys, None if weights is None else next(weights))
        yield from finer.lists()

    def add_keys(self, keys: IntVector, weights: FloatArray | None) -> None:
        """Add arcs given as keys, whose bits from BITS on hold the row, from 0."""
        bucket = keys >> (kernels.BITS + self._shift)
        order = np.argsort(bucket.astype(np.uint16), kind="stable")  # by radix, for 16 bits
        counts = np.bincount(bucket, minlength=self._counts.size)
        low = (np.int64(1) << (kernels.BITS + self._shift)) - 1
        starts = np.concatenate([[0], np.cumsum(counts)])
        dealt = np.empty(0) if weights is None else weights[order]
        self._put(starts, keys[order] & low, dealt)
