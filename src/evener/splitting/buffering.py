"""Streaming with a buffer: edges get blocks in their order, but some of them wait.

Where communities tell more than a buffer (`homes_of_stream`), two passes find clusters of vertices,
which are packed onto blocks, and another pass places the edges inside of blocks; the buffer is a
window of the others, see below. Else there is one pass. Where edges near each other in the file
share vertices, blocks are filled one after another, each grown in the buffer from vertex to vertex;
the buffer is filled up again as it empties. Where the order is as good as random, the first buffer
is divided among all blocks in this way. From then on edges that cost no copy are placed as they
come, and the buffer is a window of the others: a tenth of it is placed when it is full, where a
copy of a vertex serves most edges that wait, and by HDRF where none serves two. Memory: n ceil(k /
64) * 8 bytes of bits, 36 n more, and about 70 bytes for each edge of the buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, IntVector, Part
from evener.graphs.edge_list import EdgeList
from evener.plans.partition import Contract
from evener.splitting import expanding_kernels as kernels
from evener.splitting import placing_kernels, window_kernels
from evener.splitting.clustering_kernels import place_inside
from evener.splitting.expanding import NO_BLOCK, hold_placed, region_of, rooms_of
from evener.splitting.splits import Split, kept, work_of
from evener.splitting.streaming import RULES, empty_blocks
from evener.splitting.two_phase import clusters_of, homes_of
from evener.wording import plural

BUFFER_EDGES = 2**20  # of a buffer by default; an eighth of all edges where that is more
BUFFER_SHARE = 8
KEPT = 0.8  # of a buffer when it is filled up again; of 0.5 and 0.8 the one of fewer copies
# Mean degree within the first buffer, relative to that of the graph, from which its edges share
# vertices; chosen by hand: 0.25 to 0.45 for random order and a quarter of the edges, 0.8 to 1 for
# sorted lists.
LOCAL = 0.6
WINDOW_KEPT = 0.9  # of a window when it is filled up again; 0.5 and 0.8: up to 16 % more copies
# Passes over edges. A third reads the file once more for 1 % fewer copies on power-law graphs, 6 to
# 30 % on meshes.
CLUSTERING = 2
# Mean degree within a buffer below which it tells less of neighbourhoods than clusters do; chosen
# on the tuning graphs of benchmarks/splitting.py, where 0.54 gains from clusters and 0.9 loses.
THIN = 0.75
# Share of edges inside of clusters from which these tell more than any buffer; 0.68 to 0.9 on
# meshes, 0.5 at most where a buffer that is not thin made fewer copies.
CLUSTERED = 0.6
SERVED = (32, 16, 8, 4, 3, 2)  # edges that a copy must serve, in turn
# No copies are made for a window in blocks fuller than so many times the mean share of targets.
AHEAD = 1.1


def buffer_size(m: int) -> int:
    """Return how many of m edges a buffer holds by default."""
    return max(BUFFER_EDGES, m // BUFFER_SHARE)


def buffered(
    edges: EdgeList, contract: Contract, preset: str, seed: int, *, size: int | None = None
) -> Split:
    """Return the blocks of a stream of the edges in their order; `size` of them may wait."""
    del preset, seed
    work, part = work_of(edges), np.full(edges.m, NO_BLOCK, np.int32)
    m, ends, size = edges.m, (edges.tails, edges.heads), size or buffer_size(edges.m)
    rooms = rooms_of(contract.targets, edges.total_weight)
    blocks = empty_blocks(edges.n, contract, m=m if edges.weights is None else 0)
    homes = homes_of_stream(lambda: (ends,), edges.degrees, m, contract.targets, size)
    if homes is not None:
        place_inside(*ends, work, homes, blocks, part)
    stream = Stream(m, rooms, blocks, size, is_window=homes is not None)
    stream.add(*ends, work, part)
    stream.finish(part)
    return Split(kept(edges, part, contract), order="buffered", notes=stream.said())


def homes_of_stream(
    read: Callable[[], Iterable[tuple[IntArray, IntArray]]],
    degrees: IntVector,
    m: int,
    targets: FloatArray,
    size: int,
) -> Part | None:
    """Return the block (n,) of each vertex by its cluster, or None where a buffer tells more.

    read: as of two_phase.clusters_of; degrees (n,), m edges; targets (k,); size: of the buffer.
    """
    if size >= m:
        return None
    clusters, inside = clusters_of(read, degrees, m, targets.size, CLUSTERING)
    is_thin = 2 * size < THIN * np.count_nonzero(degrees)
    return homes_of(clusters, targets) if is_thin or inside >= CLUSTERED else None


class Stream:
    """A stream of m edges that are given blocks; `size` of them may wait.

    rooms (k,): work that each block takes. blocks: of the same targets; empty, or, with is_window,
    holding the edges that have a block already. is_window: the buffer is a window from the first.
    """

    def __init__(
        self,
        m: int,
        rooms: FloatArray,
        blocks: placing_kernels.FilledBlocks,
        size: int,
        *,
        is_window: bool = False,
    ) -> None:
        self.m, self.size, self.blocks = m, size, blocks
        self._seen, self._windowed, self._is_clustered = 0, is_window, is_window
        self._buffer = Buffer(blocks.held.shape[0], rooms)

    def add(self, tails: IntArray, heads: IntArray, work: FloatArray, part: Part) -> None:
        """Take the next edges; fill part (m,), -1 of those without a block, where they get one."""
        at, end = 0, tails.size
        while at < end:
            rest = slice(at, end)
            at += self._take(tails[rest], heads[rest], work[rest], part)
            if self._buffer.waiting >= self.size and self._seen < self.m:
                self._empty(part)

    def finish(self, part: Part) -> None:
        """Give blocks to all edges that wait."""
        if self._windowed:
            self._settle(part, 0)
        else:
            self._place(part)

    def said(self) -> tuple[str, ...]:
        """Return a sentence on what the buffer was used for, unless all edges were in it."""
        if self.size >= self.m:
            return ()
        buffer = f"a buffer of {plural(self.size, 'edge')}"
        if self._is_clustered:
            return (f"edges inside clusters were placed first; the others waited in {buffer}",)
        if self._windowed:
            return (f"the order of edges does not help; those that cost copies waited in {buffer}",)
        return (f"edges near each other share vertices; blocks grew in {buffer} at a time",)

    def _take(self, tails: IntArray, heads: IntArray, work: FloatArray, part: Part) -> int:
        """Take edges until the buffer is full; return how many."""
        room = self.size - self._buffer.waiting
        waiting = np.arange(min(room, tails.size))
        taken, first = waiting.size, self._seen
        if self._windowed:
            waiting = np.empty(room, np.int64)
            taken, count = window_kernels.place_free(
                tails, heads, work, self.blocks, waiting, part[first : first + tails.size]
            )
            waiting = waiting[:count]
        self._buffer.add(tails[waiting], heads[waiting], work[waiting], first + waiting)
        self._seen += taken
        return int(taken)

    def _empty(self, part: Part) -> None:
        buffer = self._buffer
        if self._windowed:
            self._settle(part, int(WINDOW_KEPT * self.size))
        elif self._seen > self.size or self._is_local():
            self._place(part, int(KEPT * self.size))
        else:
            buffer.rooms = rooms_of(self.blocks.targets, float(buffer.held[2].sum()))
            self._place(part)
            self._windowed = True

    def _place(self, part: Part, least: int = 0) -> None:
        tails, heads, work, found = self._buffer.place(part, least)
        hold_placed(self.blocks, tails, heads, work, found)
        self.blocks.left[0] -= work.sum()

    def _settle(self, part: Part, least: int) -> None:
        """Give blocks to edges of the window until `least` wait."""
        buffer, blocks = self._buffer, self.blocks
        tails, heads, work = buffer.held
        window, found = buffer.window(), np.full(tails.size, NO_BLOCK, np.int32)
        highest = AHEAD * float((blocks.loads.sum() + work.sum()) / blocks.targets.sum())
        counts, wanted = np.zeros(blocks.loads.size, np.int64), tails.size - least
        for served in SERVED:
            wanted -= window_kernels.place_together(
                window, served, wanted, highest, blocks, counts, found
            )
        oldest, rule = np.flatnonzero(found < 0)[: max(wanted, 0)], RULES["hdrf"]
        scored = np.full(oldest.size, NO_BLOCK, np.int32)
        placing_kernels.place_by_score(
            tails[oldest], heads[oldest], work[oldest], rule.by_degree, rule.balance, blocks, scored
        )
        found[oldest] = scored
        buffer.release(found, part)

    def _is_local(self) -> bool:
        tails, heads, _ = self._buffer.held
        n = self.blocks.held.shape[0]
        touched = np.zeros(n, np.bool_)
        touched[tails] = touched[heads] = True
        return bool(tails.size / np.count_nonzero(touched) >= LOCAL * self.m / n)


class Buffer:
    """Edges between n vertices that wait for a block; blocks take `rooms` (k,) of work in turn."""

    def __init__(self, n: int, rooms: FloatArray) -> None:
        self.rooms, self.block, self.waiting = rooms, 0, 0
        self._inside, self._number = (np.full(n, NO_BLOCK, np.int32) for _ in range(2))
        self._pieces: list[tuple[IntArray, IntArray, FloatArray, IntArray]] = []

    def add(self, tails: IntArray, heads: IntArray, work: FloatArray, edges: IntArray) -> None:
        """Take edges of these numbers."""
        self._pieces.append((tails, heads, work, edges))
        self.waiting += tails.size

    @property
    def held(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Tails, heads and work of the edges that wait."""
        self._joined()
        return self._pieces[0][:3]

    def place(
        self, part: Part, least: int = 0
    ) -> tuple[IntArray, IntArray, FloatArray, npt.NDArray[np.int32]]:
        """Fill part[e] of edges, until no more than `least` wait; return these edges.

        Returned are the tails, heads, work and blocks of those that got a block.
        """
        tails, heads, work = self.held
        ids, from_, to = self._numbered()
        found, inside = np.full(self.waiting, NO_BLOCK, np.int32), self._inside[ids]
        region = region_of(from_, to, found, inside, np.zeros(ids.size, np.bool_))
        self.block = kernels.expand(region, self.block, work, self.rooms, least, found)
        self._inside[ids] = inside
        done = found >= 0
        self.release(found, part)
        return tails[done], heads[done], work[done], found[done]

    def window(self) -> window_kernels.WaitingEdges:
        """Return the edges that wait, by vertex."""
        ids, from_, to = self._numbered()
        offsets, lengths = np.zeros(ids.size + 1, np.int64), np.zeros(ids.size, np.int32)
        others, listed = np.empty((2, 2 * self.waiting), np.int32)
        none, hubs = np.full(self.waiting, NO_BLOCK, np.int32), np.zeros(ids.size, np.bool_)
        kernels.list_ends(from_, to, none, hubs, offsets, lengths, others, listed)
        return window_kernels.WaitingEdges(ids, offsets, others, listed, self.held[2])

    def release(self, found: npt.NDArray[np.int32], part: Part) -> None:
        """Let go of the edges that have a block, found[i] >= 0 of the i-th; fill their part."""
        tails, heads, work, edges = self._pieces[0]
        done, left = found >= 0, found < 0
        part[edges[done]] = found[done]
        self._pieces = [(tails[left], heads[left], work[left], edges[left])]
        self.waiting = int(np.count_nonzero(left))

    def _numbered(self) -> tuple[IntArray, IntArray, IntArray]:
        """Vertices of the edges that wait, and these edges' ends by their places in it."""
        tails, heads, _ = self.held
        ids = np.empty(2 * self.waiting, np.int64)
        from_, to = np.empty((2, self.waiting), np.int32)
        ids = ids[: kernels.number_ends(tails, heads, self._number, ids, from_, to)]
        self._number[ids] = NO_BLOCK
        return ids, from_, to

    def _joined(self) -> None:
        if len(self._pieces) != 1:
            none = np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0), np.empty(0, np.int64)
            tails, heads, work, edges = zip(*(self._pieces or [none]), strict=True)
            joined = np.concatenate
            self._pieces = [(joined(tails), joined(heads), joined(work), joined(edges))]
