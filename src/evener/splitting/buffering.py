"""Streaming with a buffer: edges are assigned to blocks in their order, but some wait in a buffer.

If the buffer holds all edges, blocks are grown as in "Growing". Otherwise two passes find clusters
of vertices, and the last pass assigns the edges by one of three variants:

- Clusters: if clusters predict good blocks better than a buffer (`homes_of_stream`), they are
  packed onto blocks. Another pass assigns edges whose ends lie in the same block. The other edges
  wait in a window, see below.
- Growing: if edges near each other in the file share vertices, blocks are filled one after another,
  each grown in the buffer from vertex to vertex; the buffer is refilled as it empties.
- Window: otherwise another pass draws a random sample of the edges, as large as the buffer, which
  is divided among all blocks, as in "Growing"; if the sample has few edges per vertex, the first
  edges are used instead. From then on, edges that need no new copy of a vertex are assigned at
  once, and the buffer is a window of the other edges. When it is full, a tenth of it is
  assigned: vertices are copied to blocks where the copy serves the most waiting edges; edges for
  which no copy would serve two edges are assigned by HDRF.

Memory: n ceil(k / 64) * 8 bytes of bits, 36 n bytes, and about 70 bytes per edge of the buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray, IntArray, IntVector, Part
from evener.graphs.edge_list import EdgeList
from evener.plans.partition import Contract
from evener.splitting import expanding_kernels as kernels
from evener.splitting import placing_kernels, window_kernels
from evener.splitting.clustering_kernels import place_inside
from evener.splitting.expanding import NO_BLOCK, hold_placed, region_of, rooms_of
from evener.splitting.splits import Split, kept, work_of
from evener.splitting.streaming import RULES, clusters_of, empty_blocks, homes_of
from evener.wording import plural

# Default number of edges in a buffer: 1 / BUFFER_SHARE of all edges, but at least BUFFER_EDGES.
BUFFER_EDGES = 2**20
BUFFER_SHARE = 8
KEPT = 0.8  # fraction of a buffer that remains when it is refilled; 0.5 made more copies
# If (mean degree within the first buffer) / (mean degree of the graph) is at least this, edges near
# each other share vertices. Chosen by hand: the ratio is 0.25 to 0.45 for random order and a
# quarter of the edges, 0.8 to 1 for sorted lists.
LOCAL = 0.6
WINDOW_KEPT = 0.9  # fraction of a window that remains; 0.5 and 0.8 make up to 16 % more copies
# Number of passes that find clusters. A third pass would give 1 % fewer copies on power-law graphs,
# and 6 to 30 % fewer on meshes.
CLUSTERING = 2
# If the mean degree within a buffer is below this, clusters are used instead. Chosen on the tuning
# graphs of benchmarks/splitting.py, where clusters are better at 0.54 and worse at 0.9.
THIN = 0.75
# If this fraction of the edges lies inside clusters, clusters are used with any buffer. It is 0.68
# to 0.9 on meshes, and at most 0.5 on graphs where a buffer that is not thin made fewer copies.
CLUSTERED = 0.6
# A sample of the edges is divided first if it has at least this mean degree; with fewer edges per
# vertex, the first edges of a file make fewer copies. Chosen on the tuning graphs, with buffers of
# a half to 1/32: a sample makes 0.8 of the copies of the first edges from 1.2 on, 1.2 times below.
DENSE = 1.2
SERVED = (8, 4, 3, 2)  # numbers of edges that a copy must serve, tried in this order
# Blocks whose load / target exceeds this multiple of the mean get no copies for a window.
AHEAD = 1.1


def buffer_size(m: int) -> int:
    """Return the default number of edges in a buffer, for m edges in all."""
    return max(BUFFER_EDGES, m // BUFFER_SHARE)


def buffered(
    edges: EdgeList, contract: Contract, preset: str, seed: int, *, size: int | None = None
) -> Split:
    """Return the blocks from streaming the edges in their order, with a buffer of `size` edges."""
    del preset
    work, part = work_of(edges), np.full(edges.m, NO_BLOCK, np.int32)
    m, ends, size = edges.m, (edges.tails, edges.heads), size or buffer_size(edges.m)
    rooms = rooms_of(contract.targets, edges.total_weight)
    blocks = empty_blocks(edges.n, contract, m=m if edges.weights is None else 0)
    homes = homes_of_stream(lambda: (ends,), edges.degrees, m, contract.targets, size)
    if homes is not None:
        place_inside(*ends, work, homes, blocks, part)
    stream = Stream(m, rooms, blocks, size, is_window=homes is not None)
    if homes is None:
        stream.begin(sample_of_stream(lambda: (ends,), edges.degrees, m, size, seed), work, part)
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
    """Return the block (n,) of each vertex by its cluster, or None if a buffer is better.

    read: see streaming.clusters_of. degrees (n,): of the vertices. m: number of edges. targets
    (k,). size: number of edges in the buffer.
    """
    if size >= m:
        return None
    clusters, inside = clusters_of(read, degrees, m, targets.size, CLUSTERING)
    is_thin = 2 * size < THIN * np.count_nonzero(degrees)
    return homes_of(clusters, targets) if is_thin or inside >= CLUSTERED else None


class SampledEdges(NamedTuple):
    """Tails, heads and numbers of some edges of a stream, in its order."""

    tails: IntArray
    heads: IntArray
    numbers: IntVector


def sample_of_stream(
    read: Callable[[], Iterable[tuple[IntArray, IntArray]]],
    degrees: IntVector,
    m: int,
    size: int,
    seed: int,
) -> SampledEdges | None:
    """Return about `size` random edges, or None if all fit, or the first edges are better.

    The arguments are those of homes_of_stream.
    """
    if size >= m or 2 * size < DENSE * np.count_nonzero(degrees):
        return None
    places = (np.arange(size) + np.random.default_rng(seed).random(size)) * (m / size)
    numbers = np.unique(places.astype(np.int64))
    found: list[tuple[IntArray, IntArray]] = []
    touched, first = np.zeros(degrees.size, np.bool_), 0
    for tails, heads in read():
        if first < size:
            touched[tails[: size - first]] = touched[heads[: size - first]] = True
        here = slice(*np.searchsorted(numbers, (first, first + tails.size)))
        found.append((tails[numbers[here] - first], heads[numbers[here] - first]))
        first += tails.size
        if first >= size and is_local(touched, size, m):
            return None
    tails, heads = (np.concatenate(ends) for ends in zip(*found, strict=True))
    return SampledEdges(tails, heads, numbers)


def is_local(touched: BoolArray, count: int, m: int) -> bool:
    """Return whether `count` of the m edges, with the vertices `touched` (n,), share vertices."""
    return bool(count / np.count_nonzero(touched) >= LOCAL * m / touched.size)


class Stream:
    """Assigns a stream of m edges to blocks, with a buffer of `size` edges.

    rooms (k,): work that each block still takes. blocks: the blocks to fill, with the targets of
    `rooms`. They are empty or, with is_window, contain the edges assigned before. is_window: use
    the buffer as a window from the start, because edges inside clusters were assigned before.
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

    def begin(self, sample: SampledEdges | None, work: FloatArray | None, part: Part) -> None:
        """Divide a sample of the edges, if any, among all blocks before the other edges.

        work (m,): of all edges, None if each is 1. part: see `add`.
        """
        if sample is not None:
            numbers = sample.numbers
            own = np.ones(numbers.size) if work is None else work[numbers]
            self._buffer.add(sample.tails, sample.heads, own, numbers)
            self._divide(part)

    def add(self, tails: IntArray, heads: IntArray, work: FloatArray, part: Part) -> None:
        """Process the next edges of the stream.

        tails, heads, work: ends and work of these edges. part (m,): the blocks of all edges, -1 for
        edges without a block; it is updated for edges that get a block.
        """
        at, end = 0, tails.size
        while at < end:
            rest = slice(at, end)
            at += self._take(tails[rest], heads[rest], work[rest], part)
            if self._buffer.waiting >= self.size and self._seen < self.m:
                self._empty(part)

    def finish(self, part: Part) -> None:
        """Assign all waiting edges to blocks."""
        if self._windowed:
            self._settle(part, 0)
        else:
            self._place(part)

    def said(self) -> tuple[str, ...]:
        """Return a note on how the buffer was used; empty if it held all edges."""
        if self.size >= self.m:
            return ()
        buffer = f"a buffer of {plural(self.size, 'edge')}"
        if self._is_clustered:
            return (
                f"edges inside clusters were assigned first; the other edges waited in {buffer}",
            )
        if self._windowed:
            return (f"the order of edges does not help; edges that need copies waited in {buffer}",)
        return (f"edges near each other share vertices; blocks grew edge by edge in {buffer}",)

    def _take(self, tails: IntArray, heads: IntArray, work: FloatArray, part: Part) -> int:
        """Process edges until the buffer is full; return how many were processed."""
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
        if self._windowed:
            self._settle(part, int(WINDOW_KEPT * self.size))
        elif self._seen > self.size or self._is_local():
            self._place(part, int(KEPT * self.size))
        else:
            self._divide(part)

    def _place(self, part: Part, least: int = 0) -> None:
        tails, heads, work, found = self._buffer.place(part, least)
        hold_placed(self.blocks, tails, heads, work, found)
        self.blocks.left[0] -= work.sum()

    def _divide(self, part: Part) -> None:
        """Divide the waiting edges among all blocks; the buffer is a window from now on."""
        buffer = self._buffer
        buffer.rooms = rooms_of(self.blocks.targets, float(buffer.held[2].sum()))
        self._place(part)
        self._windowed = True

    def _settle(self, part: Part, least: int) -> None:
        """Assign edges of the window to blocks until only `least` wait."""
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
        touched = np.zeros(self.blocks.held.shape[0], np.bool_)
        touched[tails] = touched[heads] = True
        return is_local(touched, tails.size, self.m)


class Buffer:
    """Edges between n vertices that wait for a block.

    Blocks are filled one after another, each up to its entry of `rooms` (k,) [units of work].
    """

    def __init__(self, n: int, rooms: FloatArray) -> None:
        self.rooms, self.block, self.waiting = rooms, 0, 0
        self._inside, self._number = (np.full(n, NO_BLOCK, np.int32) for _ in range(2))
        self._pieces: list[tuple[IntArray, IntArray, FloatArray, IntArray]] = []

    def add(self, tails: IntArray, heads: IntArray, work: FloatArray, edges: IntArray) -> None:
        """Add waiting edges; `edges` are their numbers."""
        self._pieces.append((tails, heads, work, edges))
        self.waiting += tails.size

    @property
    def held(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Tails, heads and work of the waiting edges."""
        self._joined()
        return self._pieces[0][:3]

    def place(
        self, part: Part, least: int = 0
    ) -> tuple[IntArray, IntArray, FloatArray, npt.NDArray[np.int32]]:
        """Assign edges to blocks until at most `least` wait.

        part[e] is set for each assigned edge e. Returns the tails, heads, work and blocks of the
        edges that were assigned.
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
        """Return the waiting edges, listed by vertex."""
        ids, from_, to = self._numbered()
        offsets, lengths = np.zeros(ids.size + 1, np.int64), np.zeros(ids.size, np.int32)
        others, listed = np.empty((2, 2 * self.waiting), np.int32)
        none, hubs = np.full(self.waiting, NO_BLOCK, np.int32), np.zeros(ids.size, np.bool_)
        kernels.list_ends(from_, to, none, hubs, offsets, lengths, others, listed)
        return window_kernels.WaitingEdges(ids, offsets, others, listed, self.held[2])

    def release(self, found: npt.NDArray[np.int32], part: Part) -> None:
        """Remove the edges that have a block, and store their blocks in `part`.

        found[i]: the block of the i-th waiting edge, or negative if it still has none.
        """
        tails, heads, work, edges = self._pieces[0]
        done, left = found >= 0, found < 0
        part[edges[done]] = found[done]
        self._pieces = [(tails[left], heads[left], work[left], edges[left])]
        self.waiting = int(np.count_nonzero(left))

    def _numbered(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the vertices of the waiting edges, and the edges' tails and heads.

        Tails and heads are positions in the array of vertices.
        """
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
