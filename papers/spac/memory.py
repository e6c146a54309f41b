"""Models of memory: misses of a cache (LRU), and memory transactions of kernels of a CUDA device.

A warp of 32 threads that reads or writes at once makes a transaction for each sector of 32 bytes
that any of its threads touches (NVIDIA's profiler counts these as L2 transactions). The model
counts them from the numbers that the threads use; arrays begin at a sector, and what a sector of
an earlier warp has brought into an L1 cache is not known, but for `reads_through_cache`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray, IntVector
from evener.errors import InputError
from evener.graphs.edge_list import EdgeList
from evener.running.local_graphs import LocalGraph
from evener.running.locality.staging import Staged, StagedBlocks
from papers.spac import memory_kernels as kernels


class ProductMisses(NamedTuple):
    """Lines that a product y = A x has to fetch: of x, and of matrix, y and what else it uses."""

    x: int
    other: int


@dataclass(frozen=True)
class Cache:
    """A set-associative cache. Raises InputError for sizes that do not make whole sets.

    size, line [B]; ways: lines of a set. The defaults are a core's L2 of recent servers.
    """

    size: int = 1 << 20
    line: int = 64
    ways: int = 16

    def __post_init__(self) -> None:
        if min(self.size, self.line, self.ways) < 1 or self.size % (self.line * self.ways):
            raise InputError(
                f"a cache of {self.size:,} bytes has no whole sets of {self.ways} lines of "
                f"{self.line} bytes"
            )

    def _empty(self) -> IntVector:
        sets = self.size // (self.line * self.ways)
        return np.full((sets, self.ways), kernels.EMPTY, np.int64)

    def misses(self, lines: npt.ArrayLike) -> int:
        """Return how many of these lines, used one after another, an empty cache has to fetch."""
        found = np.zeros(1, np.int64)
        column = np.ascontiguousarray(lines, np.int64).reshape(-1, 1)
        kernels.count_misses(column, self._empty(), found)
        return int(found[0])

    def misses_of_product(self, part: LocalGraph) -> ProductMisses:
        """Return the misses of a product by rows with a part's matrix, from an empty cache."""
        assert part.out is not None
        found = np.zeros(2, np.int64)
        given = part.out.offsets, part.out.ends, self.line, part.n_local
        kernels.product_misses(*given, self._empty(), found)
        return ProductMisses(*found.tolist())

    def misses_of_blocks(self, blocks: StagedBlocks) -> ProductMisses:
        """Return the misses of a product by staged blocks with all of their passes.

        Of a block: staged numbers, values of x and the room for them; entries of 12 bytes, and
        sums. Then the place of each sum, the sum, and y.
        """
        inputs, outputs, m = blocks.inputs, blocks.outputs, blocks.edges.size
        x, numbers, room, local, values, partial, places, y = self._addresses(
            8 * inputs.n, 4 * inputs.vertices.size, 8 * int(inputs.counts.max(initial=0)),
            4 * m, 8 * m, 8 * outputs.vertices.size, 8 * outputs.vertices.size, 8 * outputs.n,
        )  # fmt: skip
        tags, total = self._empty(), np.zeros(2, np.int64)

        def play(*accesses: tuple[int, int, IntArray]) -> None:
            """Use entries of arrays side by side: where each begins, an entry's bytes, which."""
            columns = [
                (first + item * which.astype(np.int64)) // self.line
                for first, item, which in accesses
            ]
            found = np.zeros(len(columns), np.int64)
            kernels.count_misses(np.column_stack(columns), tags, found)
            for (first, _, _), count in zip(accesses, found.tolist(), strict=True):
                total[int(first != x)] += count

        for b in range(blocks.k):
            own = np.arange(inputs.starts[b], inputs.starts[b + 1])
            staged = own - inputs.starts[b]
            play((numbers, 4, own), (x, 8, inputs.vertices[own]), (room, 8, staged))
            edges = np.arange(blocks.starts[b], blocks.starts[b + 1])
            play(
                (local, 4, edges), (values, 8, edges), (room, 8, inputs.local[edges]),
                (partial, 8, outputs.starts[b] + outputs.local[edges]),
            )  # fmt: skip
        _, listed = outputs.parts()
        rising = np.arange(listed.size)
        play((places, 8, rising), (partial, 8, listed), (y, 8, outputs.vertices[listed]))
        return ProductMisses(*total.tolist())

    def _addresses(self, *sizes: int) -> list[int]:
        """Return where arrays of so many bytes begin that lie one after another, in whole lines."""
        lines = [-(-size // self.line) for size in sizes]
        return [self.line * sum(lines[:i]) for i in range(len(lines))]


SECTOR, WARP = 32, 32  # bytes, threads
NUMBER, LOCAL = 4, 2  # bytes of a vertex's number in an array, and within a block
ITEMS = 7  # of a thread, as of rows_cuda_kernels, which need a CUDA device or its simulator


class Transactions(NamedTuple):
    """Sectors that are read and written; gathered: those of the reads that are of vertices."""

    reads: int
    writes: int
    gathered: int


def gathered(places: IntArray, starts: IntVector, item: int) -> int:
    """Return the sectors touched by threads that use entries `places` of `item` bytes each.

    starts (k + 1,): where the threads of each block begin.
    """
    return int(kernels.count_sectors(np.asarray(places, np.int64), starts, item, SECTOR, WARP))


def streamed(starts: IntVector, item: int) -> int:
    """Return the sectors touched where blocks read their runs of an array, thread after thread."""
    return gathered(np.arange(starts[-1]), starts, item)


def of_threads(count: int, threads: int) -> IntVector:
    """Return where blocks of so many threads begin, of `count` in all, and their end."""
    return np.append(np.arange(0, count, threads), count)


def plain_product(edges: EdgeList, n_rows: int, threads: int, item: int = 8) -> Transactions:
    """Return the transactions of y = A x where each thread takes an entry, in the order of rows.

    An entry's value and column are read, row offsets once, x at the column; a warp writes each of
    its rows once. This is what a kernel by rows needs at least, so also cuSPARSE's, whose rule is
    secret. edges, here and below: of a matrix, by rows.
    """
    starts = of_threads(edges.m, threads)
    x = gathered(edges.heads - n_rows, starts, item)
    offsets = streamed(of_threads(n_rows + 1, threads), NUMBER)
    reads = streamed(starts, item) + streamed(starts, NUMBER) + offsets + x
    return Transactions(reads, gathered(edges.tails, starts, item), x)


def product_by_rows(edges: EdgeList, n_rows: int, threads: int, item: int = 8) -> Transactions:
    """Return the transactions of `by_rows` of rows_cuda_kernels: a thread for each row."""
    counts = np.bincount(edges.tails, minlength=n_rows)
    turn = np.arange(edges.m) - np.repeat(np.cumsum(counts) - counts, counts)
    order = np.lexsort(
        (edges.tails, turn, edges.tails // WARP)
    )  # entries that a warp reads at once
    keys = np.stack([edges.tails[order] // WARP, turn[order]])
    starts = np.append(np.flatnonzero(_is_new(keys)), edges.m)
    x = gathered(edges.heads[order] - n_rows, starts, item)
    own = gathered(order, starts, item) + gathered(order, starts, NUMBER)
    offsets = streamed(of_threads(n_rows + 1, threads), NUMBER)
    return Transactions(own + offsets + x, streamed(of_threads(n_rows, threads), item), x)


def product_by_runs(edges: EdgeList, n_rows: int, threads: int, item: int = 8) -> Transactions:
    """Return the transactions of `by_runs`, CUSP's rule: a row's number is read for each entry.

    A row is written once for each `threads` entries that it is in.
    """
    starts = of_threads(edges.m, threads)
    x = gathered(edges.heads - n_rows, starts, item)
    own = streamed(starts, item) + 2 * streamed(starts, NUMBER)
    ends = np.append(edges.tails[1:] != edges.tails[:-1], True)
    ends[starts[1:] - 1] = True
    writers = np.flatnonzero(ends)
    warps = writers // threads * threads + writers % threads // WARP
    return Transactions(own + x, _distinct(warps, edges.tails[writers] * item // SECTOR), x)


def product_by_path(edges: EdgeList, n_rows: int, threads: int, item: int = 8) -> Transactions:
    """Return the transactions of `by_path`, the merge-based kernel.

    A block reads entries together and searches its two ends in the offsets, which are read once
    besides. A warp writes each sector of y once in which rows end, or in which a thread leaves one.
    """
    places = np.arange(edges.m) + edges.tails  # of entries among entries and ends of rows
    offsets = np.zeros(n_rows + 1, np.int64)
    np.cumsum(np.bincount(edges.tails, minlength=n_rows), out=offsets[1:])
    tile, items = threads * ITEMS, edges.m + n_rows
    starts = np.searchsorted(places, of_threads(items, tile))
    x = gathered(edges.heads - n_rows, starts, item)
    search = 2 * (starts.size - 1) * int(np.ceil(np.log2(n_rows + 1)))
    rows = streamed(of_threads(n_rows + 1, threads), NUMBER)
    own = streamed(starts, item) + streamed(starts, NUMBER)
    left = places % ITEMS == ITEMS - 1  # a thread's last item is an entry
    written = np.concatenate([np.arange(n_rows), edges.tails[left]])
    where = np.concatenate([offsets[1:] + np.arange(n_rows), places[left]])
    warps = where // tile * tile + where % tile // (WARP * ITEMS)
    return Transactions(own + rows + search + x, _distinct(warps, written * item // SECTOR), x)


def _is_new(keys: IntArray) -> npt.NDArray[np.bool_]:
    """Return (m,) which columns of keys (c, m) differ from the one before; the first does."""
    return np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))[: keys.shape[1]]


def _distinct(warps: IntArray, sectors: IntArray) -> int:
    """Return how many pairs of a warp and a sector there are."""
    order = np.lexsort((sectors, warps))
    return int(np.count_nonzero(_is_new(np.stack([warps[order], sectors[order]]))))


def staged_product(blocks: StagedBlocks, item: int = 8) -> Transactions:
    """Return the transactions of y = A x by staged blocks (`by_edges` of staged_cuda_kernels).

    Staged numbers are read, x at the inputs, of each entry its value and two local numbers; sums
    are added to y at the outputs.
    """
    inputs, outputs = blocks.inputs, blocks.outputs
    x = gathered(inputs.vertices, inputs.starts, item)
    lists = streamed(inputs.starts, NUMBER) + streamed(outputs.starts, NUMBER)
    entries = streamed(blocks.starts, item) + 2 * streamed(blocks.starts, LOCAL)
    writes = gathered(outputs.vertices, outputs.starts, item)
    return Transactions(lists + entries + x, writes, x)


def cached_product(
    blocks: StagedBlocks, cache: Cache, resident: int = 2, item: int = 8
) -> Transactions:
    """Return the transactions of `by_cache`: y is staged, x as of reads_through_cache."""
    outputs, x = blocks.outputs, reads_through_cache(blocks, cache, resident, item)
    entries = streamed(blocks.starts, item) + streamed(blocks.starts, LOCAL)
    lists = streamed(outputs.starts, NUMBER) + streamed(blocks.starts, NUMBER)
    return Transactions(lists + entries + x, gathered(outputs.vertices, outputs.starts, item), x)


def reads_through_cache(
    blocks: StagedBlocks, cache: Cache, resident: int = 2, item: int = 8
) -> int:
    """Return the sectors of x that are read where x is not staged, but goes through a cache.

    cache: of a multiprocessor, for textures and what is only read; its lines are sectors. Its
    `resident` blocks, which follow each other, take turns warp by warp, from an empty cache.
    """
    columns, total = blocks.columns, 0
    for b in range(0, blocks.k, resident):
        ends = blocks.starts[b : min(b + resident, blocks.k) + 1]
        own = columns[ends[0] : ends[-1]]
        turn = np.concatenate([np.arange(count) // WARP for count in np.diff(ends)])
        total += cache.misses(
            own[np.argsort(turn, kind="stable")].astype(np.int64) * item // SECTOR
        )
    return total


def plain_interactions(
    edges: EdgeList, schedule: IntArray, threads: int, values: int, item: int = 8
) -> Transactions:
    """Return the transactions of interactions (`swapped_flux`), a thread each, by a schedule (m,).

    values: of a vertex, each in an array of its own. Two ends and a value of each edge are read as
    the schedule has them.
    """
    starts = of_threads(edges.m, threads)
    tails, heads = edges.tails[schedule], edges.heads[schedule]
    ends = gathered(tails, starts, item) + gathered(heads, starts, item)
    lists = streamed(starts, NUMBER)  # the schedule
    own = 2 * gathered(schedule, starts, NUMBER) + gathered(schedule, starts, item)
    return Transactions(lists + own + values * ends, values * ends, values * ends)


def staged_interactions(blocks: StagedBlocks, values: int, item: int = 8) -> Transactions:
    """Return the transactions of interactions by staged blocks (`staged_flux`)."""
    ends: Staged = blocks.outputs
    staged = values * gathered(ends.vertices, ends.starts, item)
    own = streamed(blocks.starts, item) + streamed(2 * blocks.starts, LOCAL)
    return Transactions(streamed(ends.starts, NUMBER) + own + staged, staged, staged)
