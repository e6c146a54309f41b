"""Streaming with a buffer: one pass over the edges in their order, some of which wait for a block.

Where edges near each other in the file share vertices, blocks are filled one after another, each
grown in the buffer from vertex to vertex; the buffer is filled up again as it empties. Where the
order is as good as random, the first buffer is divided among all blocks in this way, and the rest
is streamed by HDRF, which then begins with blocks that are pieces of the graph.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, Part
from evener.graphs.edge_list import EdgeList
from evener.plans.partition import Contract
from evener.splitting import expanding_kernels as kernels
from evener.splitting import placing_kernels
from evener.splitting.expanding import NO_BLOCK, hold_placed, region_of, rooms_of
from evener.splitting.splits import Split, kept, work_of
from evener.splitting.streaming import RULES, empty_blocks

BUFFER_EDGES = 2**20  # of a buffer by default; a sixteenth of all edges where that is more
BUFFER_SHARE = 16
KEPT = 0.8  # of a buffer when it is filled up again; of 0.5 and 0.8 the one of fewer copies
# Mean degree within the first buffer, relative to that of the graph, from which its edges share
# vertices; chosen by hand: 0.25 to 0.45 for random order and a quarter of the edges, 0.8 to 1 for
# sorted lists.
LOCAL = 0.6


def buffer_size(m: int) -> int:
    """Return how many of m edges a buffer holds by default."""
    return max(BUFFER_EDGES, m // BUFFER_SHARE)


def buffered(
    edges: EdgeList, contract: Contract, preset: str, seed: int, *, size: int | None = None
) -> Split:
    """Return the blocks of one pass over the edges in their order; `size` of them may wait."""
    del preset, seed
    work, part = work_of(edges), np.full(edges.m, NO_BLOCK, np.int32)
    rooms = rooms_of(contract.targets, edges.total_weight)
    stream = Stream(edges.m, rooms, empty_blocks(edges.n, contract), size or buffer_size(edges.m))
    stream.add(edges.tails, edges.heads, work, part)
    stream.finish(part)
    return Split(kept(edges, part, contract), order="buffered")


class Stream:
    """A stream of m edges that are given blocks; `size` of them may wait.

    rooms (k,): work that each block takes. blocks: empty, of the same targets.
    """

    def __init__(
        self, m: int, rooms: FloatArray, blocks: placing_kernels.FilledBlocks, size: int
    ) -> None:
        self.m, self.size, self.blocks = m, size, blocks
        self._seen, self._scored = 0, False
        self._buffer = Buffer(blocks.held.shape[0], rooms)

    def add(self, tails: IntArray, heads: IntArray, work: FloatArray, part: Part) -> None:
        """Take the next edges; fill part (m,) of those that get their blocks now."""
        at, end = 0, tails.size
        while at < end:
            if self._scored:
                self._score(tails[at:], heads[at:], work[at:], part)
                return
            taken = slice(at, min(end, at + self.size - self._buffer.waiting))
            self._buffer.add(tails[taken], heads[taken], work[taken], self._seen)
            self._seen += taken.stop - at
            at = taken.stop
            if self._buffer.waiting >= self.size and self._seen < self.m:
                self._empty(part)

    def finish(self, part: Part) -> None:
        """Give blocks to all edges that wait."""
        if not self._scored:
            self._place(part)

    def _empty(self, part: Part) -> None:
        buffer = self._buffer
        if self._seen > self.size or self._is_local():
            self._place(part, int(KEPT * self.size))
            return
        buffer.rooms = rooms_of(self.blocks.targets, float(buffer.held[2].sum()))
        self._place(part)
        self._scored = True

    def _place(self, part: Part, least: int = 0) -> None:
        tails, heads, work, found = self._buffer.place(part, least)
        hold_placed(self.blocks, tails, heads, work, found)
        self.blocks.left[0] -= work.sum()

    def _is_local(self) -> bool:
        tails, heads, _ = self._buffer.held
        n = self.blocks.held.shape[0]
        touched = np.zeros(n, np.bool_)
        touched[tails] = touched[heads] = True
        return bool(tails.size / np.count_nonzero(touched) >= LOCAL * self.m / n)

    def _score(self, tails: IntArray, heads: IntArray, work: FloatArray, part: Part) -> None:
        rule, now = RULES["hdrf"], part[self._seen : self._seen + tails.size]
        placing_kernels.place_by_score(
            tails, heads, work, rule.by_degree, rule.balance, self.blocks, now
        )
        self._seen += tails.size


class Buffer:
    """Edges between n vertices that wait for a block; blocks take `rooms` (k,) of work in turn."""

    def __init__(self, n: int, rooms: FloatArray) -> None:
        self.rooms, self.block, self.waiting = rooms, 0, 0
        self._inside, self._number = (np.full(n, NO_BLOCK, np.int32) for _ in range(2))
        self._pieces: list[tuple[IntArray, IntArray, FloatArray, IntArray]] = []

    def add(self, tails: IntArray, heads: IntArray, work: FloatArray, first: int) -> None:
        """Take edges, numbered from `first` on."""
        self._pieces.append((tails, heads, work, np.arange(first, first + tails.size)))
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
        self._joined()
        tails, heads, work, edges = self._pieces[0]
        ids = np.empty(2 * self.waiting, np.int64)
        from_, to = np.empty((2, self.waiting), np.int32)
        ids = ids[: kernels.number_ends(tails, heads, self._number, ids, from_, to)]
        self._number[ids] = NO_BLOCK
        found, inside = np.full(self.waiting, NO_BLOCK, np.int32), self._inside[ids]
        region = region_of(from_, to, found, inside, np.zeros(ids.size, np.bool_))
        self.block = kernels.expand(region, self.block, work, self.rooms, least, found)
        self._inside[ids] = inside
        done, left = found >= 0, found < 0
        part[edges[done]] = found[done]
        self._pieces = [(tails[left], heads[left], work[left], edges[left])]
        self.waiting = int(np.count_nonzero(left))
        return tails[done], heads[done], work[done], found[done]

    def _joined(self) -> None:
        if len(self._pieces) != 1:
            none = np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0), np.empty(0, np.int64)
            tails, heads, work, edges = zip(*(self._pieces or [none]), strict=True)
            joined = np.concatenate
            self._pieces = [(joined(tails), joined(heads), joined(work), joined(edges))]
