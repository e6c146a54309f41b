"""CsrFile: a binary CSR file from which ranges of rows are read and checked.

An edge listed at only one end, or with two weights, is found in two passes over the rows. First, a
hash of each edge selects a bucket, to which the edge's arcs add terms that cancel if the edge is
symmetric. Then the arcs of one bucket whose sum is not 0 are held in memory and compared.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn, Self

import numpy as np
import numpy.typing as npt

from evener.arrays import FARTHEST, FloatArray, IntVector, NumberArray, mixed
from evener.errors import InputError
from evener.files.opening import ANY_SIZE, open_input
from evener.io.csr import csr_kernels as kernels
from evener.io.csr.layout import HEADER, CsrLayout

BATCH = 2**21  # max. adjacency entries of a range: 8 MiB
BATCH_ROWS = 2**18
FEW = 2**18  # entries held, in several copies, while searching for a wrong edge
MOST_WEIGHT = 2.0**62  # upper bound of a weight


class CsrRows(NamedTuple):
    """The adjacency lists of consecutive vertices, numbered as in the graph.

    first: number of the first vertex. xadj (r + 1,) int64, from 0; adjncy (a,) int32: the
    neighbours of vertex first + i are adjncy[xadj[i]:xadj[i + 1]], ascending. adjwgt (a,) and vwgt
    (r,) or (r, c): int64 or float64, or None if all weights are 1.
    """

    first: int
    xadj: IntVector
    adjncy: npt.NDArray[np.int32]
    adjwgt: NumberArray | None
    vwgt: NumberArray | None


class CsrFile:
    """A binary CSR file, open for reading; n vertices, `arcs` adjacency entries.

    Rows are read into internal buffers, which the next call overwrites, so only the last range is
    in memory. The first complete pass over the rows, in order, also checks that the lists are
    symmetric. A context manager. Raises InputError if the file has another format, is damaged or
    cut short, or changes while it is open.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._file: IO[bytes] = open_input(path, ANY_SIZE)
        try:
            self._state = self._found_state()
            self.layout = CsrLayout.unpacked(
                os.pread(self._file.fileno(), HEADER, 0), self._state[0]
            )
        except InputError as error:
            self._file.close()
            raise self._error(error.message) from error
        except OSError as error:
            self._file.close()
            raise self._error(f"cannot be read: {error.strerror or error}") from error
        self._buffers: dict[str, npt.NDArray[np.uint8]] = {}
        self._is_symmetric = False
        self._summed, self._signature = 0, 0  # rows seen from 0 on, and the sum over their arcs

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, and free its buffers."""
        self._file.close()
        self._buffers.clear()

    @property
    def n(self) -> int:
        """Number of vertices."""
        return self.layout.n

    @property
    def arcs(self) -> int:
        """Number of adjacency entries: every edge counts at both ends."""
        return self.layout.arcs

    @property
    def dimension(self) -> int:
        """Dimension of the coordinates: 2, 3, or 0 if there are none."""
        return self.layout.dimension

    @property
    def edges_weigh(self) -> bool:
        """Whether the file has weights of edges."""
        return self.layout.adjwgt != 0

    @property
    def vertices_weigh(self) -> bool:
        """Whether the file has weights of vertices."""
        return self.layout.vwgt != 0

    def rows(self, first: int, last: int) -> CsrRows:
        """Return the lists of vertices first to last - 1; the next call overwrites them."""
        xadj, start = self._offsets(first, last, "xadj")
        stop = start + int(xadj[-1])
        adjncy = self._read("adjncy", start, stop)
        where = np.zeros(2, np.int64)
        code = kernels.check_rows(first, xadj, adjncy, self.n, where)
        if code != kernels.OK:
            self._refuse(code, int(where[0]), int(where[1]))
        adjwgt = self._weights("adjwgt", start, stop, "adjwgt") if self.edges_weigh else None
        if not self._is_symmetric:
            self._see_symmetry(CsrRows(first, xadj, adjncy, adjwgt, None))
        vwgt = self._vertex_weights(first, last, "vwgt") if self.vertices_weigh else None
        return CsrRows(first, xadj, adjncy, adjwgt, vwgt)

    def forget(self) -> None:
        """Free the buffers; the arrays that were read must no longer be in use."""
        self._buffers.clear()

    def offset(self, v: int) -> int:
        """Return the total number of adjacency entries of the vertices before v."""
        return self._offsets(v, v, "offset")[1]

    def degrees(self, first: int, last: int) -> IntVector:
        """Return the number of neighbours of vertices first to last - 1 (r,)."""
        return np.diff(self._offsets(first, last, "degrees")[0])

    def weights(self, first: int, last: int) -> NumberArray | None:
        """Return the weights of vertices first to last - 1, (r,) or (r, c), or None.

        None: all weights are 1. The next call overwrites them.
        """
        return self._vertex_weights(first, last, "weights") if self.vertices_weigh else None

    def points(self, first: int, last: int) -> FloatArray:
        """Return the coordinates of vertices first to last - 1, (r, dimension).

        The next call overwrites them.
        """
        d = self.dimension
        found = self._read("coords", first * d, last * d)
        if found.size and not (np.abs(found).max() <= FARTHEST):
            raise self._error(f"has coordinates that are not numbers or exceed {FARTHEST:g}")
        return np.asarray(found.reshape(last - first, d), np.float64)

    def labels(self, first: int, last: int) -> IntVector | None:
        """Return the labels of vertices first to last - 1, (r,); None if there are none."""
        if not self.layout.labels:
            return None
        return self._read("labels", first, last).astype(np.int64)

    def ranges(
        self, arcs: int = BATCH, first: int = 0, end: int | None = None
    ) -> Iterator[tuple[int, int]]:
        """Yield consecutive ranges of vertices, each with at most `arcs` arcs or one vertex.

        From vertex `first` to end - 1, by default the last one.
        """
        end = self.n if end is None else end
        while first < end:
            last = min(first + BATCH_ROWS, end)
            xadj, _ = self._offsets(first, last, "ranges")
            rows = max(1, int(np.searchsorted(xadj, arcs, "right")) - 1)
            yield first, first + rows
            first += rows

    def check(self) -> None:
        """Read all rows once. Raises InputError if one is wrong, or lists are not symmetric."""
        for first, last in self.ranges():
            self.rows(first, last)

    def _see_symmetry(self, rows: CsrRows) -> None:
        """Add these rows to the symmetry check if they follow the previous ones.

        Raises InputError after the last row if the lists are not symmetric.
        """
        if rows.first == 0:
            self._summed, self._signature = 0, 0
        if rows.first != self._summed:
            return
        bits = np.empty(0, np.uint64)
        if rows.adjwgt is not None:
            bits = (rows.adjwgt + 0).view(np.uint64)  # -0.0 is 0.0
        self._signature += int(kernels.signature(rows.first, rows.xadj, rows.adjncy, bits))
        self._summed += rows.xadj.size - 1
        if self._summed == self.n:
            if self._signature % 2**64:
                self._refuse_asymmetric()
            self._is_symmetric = True

    def _vertex_weights(self, first: int, last: int, into: str) -> NumberArray:
        c = self.layout.constraints
        found = self._weights("vwgt", first * c, last * c, into)
        return found if c == 1 else found.reshape(last - first, c)

    def _offsets(self, first: int, last: int, into: str) -> tuple[IntVector, int]:
        """Return the offsets (r + 1,) of the rows, from 0, and the first row's offset in adjncy.

        One more offset on either side is read and checked, so that a wrong offset at the end of the
        range is detected before it causes a large read.
        """
        if not 0 <= first <= last <= self.n:
            raise ValueError(f"rows {first} to {last} do not exist: there are {self.n}")
        begin, end = max(first - 1, 0), min(last + 1, self.n)
        found = self._read("xadj", begin, end + 1, into)
        wrong = found[:-1] > found[1:]
        if wrong.any():
            raise self._error(
                f"is damaged: xadj decreases at vertex {begin + int(np.argmax(wrong))}"
            )
        if found[0] < 0 or found[-1] > self.arcs:
            raise self._error(f"is damaged: xadj leaves the range from 0 to {self.arcs:,}")
        if (begin == 0 and found[0] != 0) or (end == self.n and found[-1] != self.arcs):
            raise self._error(f"is damaged: xadj does not run from 0 to {self.arcs:,}")
        start = int(found[first - begin])
        xadj = found[first - begin : last - begin + 1]
        xadj -= start
        return xadj, start

    def _weights(self, name: str, start: int, stop: int, into: str) -> NumberArray:
        """Return numbers from a weight array. Raises InputError if they are not valid weights."""
        found: NumberArray = self._read(name, start, stop, into)
        if found.size and not (found.min() >= 0 and found.max() < MOST_WEIGHT):
            raise self._error(f"is damaged: {name} has negative or non-numeric weights")
        return found

    def _read(self, name: str, start: int, stop: int, into: str | None = None) -> npt.NDArray[Any]:
        """Return numbers start to stop - 1 of an array, in the buffer `into` (default: `name`)."""
        into = into or name
        section = self.layout.sections[name]
        size = (stop - start) * section.dtype.itemsize
        buffer = self._buffers.get(into)
        if buffer is None or buffer.size < size:
            self._buffers[into] = buffer = np.empty(size + size // 8, np.uint8)
        taken = buffer[:size]
        self._fill(taken.data, section.offset + start * section.dtype.itemsize)
        return taken.view(section.dtype.newbyteorder("=")).astype(
            section.dtype.newbyteorder("="), copy=False
        )

    def _fill(self, view: memoryview, offset: int) -> None:
        """Read from an offset of the file into `view`, and check that the file has not changed."""
        try:
            while view.nbytes:
                got = os.preadv(self._file.fileno(), [view], offset)
                if not got:
                    raise self._error("was cut short while it was read")
                view, offset = view[got:], offset + got
        except OSError as error:
            raise self._error(f"cannot be read: {error.strerror or error}") from error
        if self._found_state() != self._state:
            raise self._error("was changed while it was read")

    def _found_state(self) -> tuple[int, int]:
        found = os.fstat(self._file.fileno())
        return found.st_size, found.st_mtime_ns

    def _refuse_asymmetric(self) -> NoReturn:
        """Read the file twice more to find an asymmetric edge; raise InputError that names it."""
        self._is_symmetric = True  # not checked again during the search for the edge
        try:
            found = asymmetric_edge(self._arcs)
        finally:
            self._is_symmetric = False
        alone = "an edge is listed at only one of its ends, or has different weights at its ends"
        raise self._error(
            f"{alone}: {found} (vertices counted from 0)" if found else alone,
            hint="Each edge must be listed at both its ends.",
        )

    def _arcs(self) -> Iterator[SomeArcs]:
        """Yield all arcs, about FEW at a time."""
        for first, last in self.ranges(FEW):
            rows = self.rows(first, last)
            tail = np.repeat(np.arange(first, last), np.diff(rows.xadj))
            weight = np.zeros(tail.size) if rows.adjwgt is None else rows.adjwgt.astype(np.float64)
            yield SomeArcs(tail, rows.adjncy.astype(np.int64), weight)

    def _refuse(self, code: int, v: int, u: int) -> NoReturn:
        reasons = {
            kernels.OUT_OF_RANGE: f"vertex {v} has neighbour {u}, but there are {self.n} vertices",
            kernels.LOOP: f"vertex {v} is its own neighbour: loops are not allowed",
            kernels.UNSORTED: f"the neighbours of vertex {v} are not in ascending order at {u}",
        }
        raise self._error(reasons[code] + " (vertices counted from 0)")

    def _error(self, message: str, hint: str | None = None) -> InputError:
        return InputError(message, file=self.path, hint=hint)


BUCKET_BITS = 16  # so 15,000 of 10^9 arcs are held in memory
Words = npt.NDArray[np.uint64]


class SomeArcs(NamedTuple):
    """Arcs (a,) from `tail` to `head`, with weights."""

    tail: IntVector
    head: IntVector
    weight: npt.NDArray[np.float64]

    @property
    def edge(self) -> Words:
        """A number (a,) that is the same for both arcs of an edge."""
        low, high = np.minimum(self.tail, self.head), np.maximum(self.tail, self.head)
        return (low.astype(np.uint64) << np.uint64(32)) | high.astype(np.uint64)

    def taken(self, which: npt.NDArray[np.bool_]) -> SomeArcs:
        """Return the selected arcs."""
        return SomeArcs(self.tail[which], self.head[which], self.weight[which])


def asymmetric_edge(pieces: Callable[[], Iterable[SomeArcs]]) -> str:
    """Describe an edge that is not symmetric, with vertices counted from 0; "" if there is none.

    pieces: called twice; yields all arcs of the graph, some at a time.
    """
    sums = np.zeros(1 << BUCKET_BITS, np.uint64)
    for arcs in pieces():
        edge = arcs.edge
        bits = (arcs.weight + 0.0).view(np.uint64)  # -0.0 is 0.0
        word = mixed(edge + mixed(bits))
        down = arcs.tail > arcs.head
        word[down] = np.uint64(0) - word[down]
        np.add.at(sums, _bucket(edge), word)
    wrong = np.flatnonzero(sums)
    if not wrong.size:
        return ""
    found = [arcs.taken(_bucket(arcs.edge) == wrong[0]) for arcs in pieces()]
    return _difference(SomeArcs(*(np.concatenate(some) for some in zip(*found, strict=True))))


def _bucket(edge: Words) -> IntVector:
    return (mixed(edge) >> np.uint64(64 - BUCKET_BITS)).astype(np.int64)


def _difference(arcs: SomeArcs) -> str:
    """Describe the first edge that lacks an arc or whose arcs have different weights."""
    seen: dict[tuple[int, int], float] = dict(
        zip(zip(arcs.tail.tolist(), arcs.head.tolist(), strict=True), arcs.weight.tolist(),
            strict=True)
    )  # fmt: skip
    for (v, u), weight in sorted(seen.items()):
        other = seen.get((u, v))
        if other is None:
            return f"vertex {v} lists neighbour {u}, but vertex {u} does not list {v}"
        if other != weight:
            return (
                f"the edge between {v} and {u} has weight {weight:g} in the list of {v} and "
                f"{other:g} in the list of {u}"
            )
    return ""
