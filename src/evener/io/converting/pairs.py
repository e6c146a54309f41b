"""Converts edge lists and Matrix Market files to binary CSR: sorts pairs into ranges of rows.

PairSpool stores pairs in reading order, in memory while they fit, else on disk. UsedNumbers stores
which whole numbers occur as vertices in a file, and numbers the vertices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector
from evener.errors import InputError
from evener.io.converting import numbers_kernels as kernels
from evener.io.converting.blocks import TextBlocks, window_of
from evener.io.converting.buckets import BucketLists, RowBuckets, Spool
from evener.io.csr.csr_writer import PIECE, CsrWriter, type_of
from evener.io.csr.layout import WHOLE, CsrLayout
from evener.io.graphs import edges, matrixmarket
from evener.io.graphs.pairs import Layout, check_square, layout_of, notes_of_pattern
from evener.io.graphs.streams import WholeNeeded, Window

MOST_WEIGHT = 2.0**62
_SPREAD = 16  # max. span of the numbers, per line; for wider spans a list of names is shorter


@dataclass
class NumberedLines:
    """Facts about an edge list that was read: vertex numbers, number of loops, weight type."""

    used: UsedNumbers
    loops: int
    fractional: bool


class ListsWriter:
    """Writes the lists of consecutive ranges of rows, with at most `layout.arcs` arcs in all.

    Weights are kept in a temporary file until the number of arcs is known.
    """

    def __init__(self, writer: CsrWriter, spool: Spool) -> None:
        self._writer = writer
        self._weights = spool.new() if writer.layout.adjwgt else None
        self._total = 0.0
        self.arcs = 0

    def put(self, lists: BucketLists) -> None:
        """Write the lists of the next rows."""
        self._writer.put("adjncy", self.arcs, lists.adjncy)
        lists.xadj[:] += self.arcs
        self._writer.put("xadj", lists.first, lists.xadj)
        if self._weights is not None and lists.adjwgt is not None:
            self._total += float(lists.adjwgt.sum())
            refuse_total(self._total, "adjwgt")
            with self._weights.open("ab") as file:
                file.write(lists.adjwgt.data)
        self.arcs += lists.adjncy.size

    def finish(self) -> None:
        """Write the weights, whose offset in the file is now known."""
        self._writer.layout = replace(self._writer.layout, arcs=self.arcs)
        if self._weights is None or not self.arcs:
            return
        dtype = self._writer.layout.sections["adjwgt"].dtype
        with self._weights.open("rb") as file:
            start = 0
            while (values := np.fromfile(file, np.float64, PIECE)).size:
                self._writer.put("adjwgt", start, values.astype(dtype))
                start += values.size
        self._weights.unlink()


def refuse_total(total: float, name: str) -> None:
    """Raise InputError if the sum of weights is too large."""
    if not total < MOST_WEIGHT:
        raise InputError(f"{name} add up to more than 2^62")


def read_lines(
    blocks: TextBlocks, source: Window, layout: Layout, into: PairSpool, memory: int
) -> NumberedLines:
    """Read an edge list of numbers into `into`, and return facts about it.

    Raises InputError for wrong lines, WholeNeeded if the numbers are far apart.
    """
    low, high, loops, total, fractional = 2**63 - 1, -(2**63), 0, 0.0, False
    for block in blocks.blocks(layout.start):
        pairs, part = edges.pairs_in(window_of(source, block), layout)
        if not pairs.u.size:
            continue
        low = min(low, int(pairs.u.min()), int(pairs.v.min()))
        high = max(high, int(pairs.u.max()), int(pairs.v.max()))
        loops += int(np.count_nonzero(pairs.u == pairs.v))
        fractional |= part
        if pairs.weights is not None:
            total += float(pairs.weights.sum())
            refuse_total(total, "weights")
        into.append(
            pairs.u,
            pairs.v,
            None if pairs.weights is None else np.asarray(pairs.weights, np.float64),
        )
    span = high - low + 1
    if span > _SPREAD * into.count + 1024 or span * BYTES_A_NUMBER > memory:
        raise WholeNeeded(f"its vertex numbers have wide gaps: {low} to {high}")
    used = UsedNumbers(low, high)
    for piece in into.pieces(keep=True):
        used.mark(piece.u.astype(np.int64, copy=False))
        used.mark(piece.v.astype(np.int64, copy=False))
    used.count()
    return NumberedLines(used, loops, fractional)


class Filled(NamedTuple):
    """Arcs by rows, labels, and the layout of the file, whose number of arcs is an upper bound.

    said: returns the notes on a file, given the final number of arcs.
    """

    buckets: RowBuckets
    layout: CsrLayout
    labels: UsedNumbers | None
    said: Callable[[int], list[str]]

    def write(self, writer: CsrWriter, spool: Spool) -> Iterator[int]:
        """Write all arrays except the vertices' arrays, and set the writer's number of arcs.

        Yields the number of rows written so far.
        """
        lists = ListsWriter(writer, spool)
        for part in self.buckets.lists():
            yield part.first
            lists.put(part)
        lists.finish()
        if self.labels is not None:
            start = 0
            for labels in self.labels.labels():
                writer.put("labels", start, labels)
                start += labels.size


def fill_from_lines(blocks: TextBlocks, source: Window, spool: Spool, memory: int) -> Filled:
    """Return the arcs of an edge list. Raises InputError; WholeNeeded if vertices have names."""
    layout = layout_of(source)
    if layout is None:
        raise source.error("contains only comments")
    if not layout.numbered:
        raise WholeNeeded("its vertices have names")
    edges.refuse_whole(source, layout)
    edges.check_columns(source, layout)
    weighted = layout.n_columns == 3
    kept = PairSpool(spool, memory // 4)
    lines = read_lines(blocks, source, layout, kept, memory // 4)
    used = lines.used
    buckets = RowBuckets(used.n, 2 * kept.count, spool, memory=memory // 2, weighted=weighted)
    for piece in kept.pieces(keep=False):
        u, v = (used.vertices(ends.astype(np.int64, copy=False)) for ends in (piece.u, piece.v))
        buckets.add(u, v, piece.weights)
    labelled = used.gaps > 0 or used.low != 0
    made = CsrLayout(
        used.n,
        buckets.arcs // 2 * 2,
        type_of(lines.fractional) if weighted else 0,
        labels=WHOLE if labelled else 0,
    )

    def said(arcs: int) -> list[str]:
        names = edges.said_of_names(used.low, used.high, used.gaps)
        merged = kept.count - lines.loops - arcs // 2
        more = edges.said_of_lines(lines.loops, merged, weighted=weighted, directed=False)
        return [names, *more] if labelled else more

    return Filled(buckets, made, used if labelled else None, said)


def fill_from_matrix(blocks: TextBlocks, source: Window, spool: Spool, memory: int) -> Filled:
    """Return the arcs of A + A^T for a matrix A. Raises InputError; WholeNeeded if A is dense."""
    head = matrixmarket.header_of(source)
    if head.dense:
        raise WholeNeeded("a dense matrix is stored by columns")
    check_square(source, head.rows, head.columns, head.offset)
    if 4 * head.entries > source.extent:
        raise source.error(
            f"declares {head.entries:,} entries, too many for its size",
            offset=head.offset,
        )
    buckets = RowBuckets(head.rows, 2 * head.entries, spool, memory=memory)
    entries = diagonal = 0
    for block in blocks.blocks(head.body):
        window = window_of(source, block)
        rows, columns, _ = matrixmarket.entries_in(window, head, with_values=False)
        entries += rows.size
        diagonal += int(np.count_nonzero(rows == columns))
        if entries > head.entries:
            break
        buckets.add(rows, columns)
    if entries != head.entries:
        raise matrixmarket.wrong_count(source, head, entries)

    def said(arcs: int) -> list[str]:
        other = entries - diagonal
        stored = diagonal + (other if head.symmetry == "general" else 2 * other)
        return notes_of_pattern(stored, diagonal, arcs)

    return Filled(buckets, CsrLayout(head.rows, buckets.arcs // 2 * 2), None, said)


BYTES_A_NUMBER = 12 / 64  # per number in the range: a bit, and a rank for every 64 of them
WORDS = 2**18  # words of 64 numbers, whose labels are made at a time


class UsedNumbers:
    """A set of numbers from low to high; they become vertices in ascending order."""

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high
        self._bits = np.zeros((high - low) // 64 + 1, np.uint64)
        self._ranks: npt.NDArray[np.int32] | None = None
        self.n = 0

    @property
    def gaps(self) -> int:
        """The number of unmarked numbers in the range."""
        return self.high - self.low + 1 - self.n

    def mark(self, ends: IntVector) -> None:
        """Mark these numbers."""
        kernels.mark(ends, self.low, self._bits)

    def count(self) -> None:
        """Count the vertices, after all numbers are marked."""
        ranks = np.empty(self._bits.size, np.int32)
        self.n = int(kernels.rank(self._bits, ranks))
        self._ranks = ranks if self.gaps else None

    def vertices(self, ends: IntVector) -> IntVector:
        """Return the vertices, from 0, for these numbers."""
        if self._ranks is None:
            return ends - self.low
        found = np.empty(ends.size, np.int64)
        kernels.vertices(ends, self.low, self._bits, self._ranks, found)
        return found

    def labels(self) -> Iterator[IntVector]:
        """Yield the numbers of all vertices, in vertex order, in pieces."""
        for first in range(0, self._bits.size, WORDS):
            part = self._bits[first : first + WORDS].astype("<u8").view(np.uint8)
            used = np.flatnonzero(np.unpackbits(part, bitorder="little"))
            yield used + (self.low + 64 * first)


class PairPiece(NamedTuple):
    """Pairs (u, v), int32 or int64, and the weights of lines, or None."""

    u: npt.NDArray[Any]
    v: npt.NDArray[Any]
    weights: FloatArray | None


class PairSpool:
    """Pairs in the order in which they were added; memory [B]: limit for those held in memory."""

    def __init__(self, spool: Spool, memory: int) -> None:
        self._spool, self._left = spool, memory
        self._pieces: list[PairPiece | tuple[Path, int, type[np.generic], bool]] = []
        self.count = 0

    def append(self, u: IntVector, v: IntVector, weights: FloatArray | None) -> None:
        """Add pairs; store them as 32-bit numbers if they fit."""
        self.count += u.size
        if not u.size:
            return
        small = min(u.min(), v.min()) >= -(2**31) and max(u.max(), v.max()) < 2**31
        dtype = np.int32 if small else np.int64
        u, v = u.astype(dtype), v.astype(dtype)
        size = u.nbytes + v.nbytes + (0 if weights is None else weights.nbytes)
        if size <= self._left:
            self._left -= size
            self._pieces.append(PairPiece(u, v, None if weights is None else weights.copy()))
            return
        self._left = 0  # later pieces follow on disk, too
        path = self._spool.new()
        with path.open("wb") as file:
            for values in (u, v) if weights is None else (u, v, weights):
                file.write(values.data)
        self._pieces.append((path, u.size, dtype, weights is not None))

    def pieces(self, *, keep: bool) -> Iterator[PairPiece]:
        """Yield all pairs in order. keep: retain them for another pass, else free them."""
        for i, held in enumerate(self._pieces):
            if isinstance(held, PairPiece):
                yield held
            else:
                path, count, dtype, weighted = held
                with path.open("rb") as file:
                    u, v = (np.fromfile(file, dtype, count) for _ in range(2))
                    yield PairPiece(u, v, np.fromfile(file, np.float64) if weighted else None)
                if not keep:
                    path.unlink()
            if not keep:
                self._pieces[i] = PairPiece(np.empty(0, np.int32), np.empty(0, np.int32), None)
