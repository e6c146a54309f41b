"""StagedBlocks: blocks of edges, each with the few vertices that it copies to fast memory.

As in the programs of [SPAC]_, section 4: a block of threads, or a core, copies ("stages") the
values of all ends of its edges to shared memory, or to its cache, and identifies them by 16-bit
numbers. A vertex is staged once for each block that contains it, so the number of staged values is
that of copies plus that of vertices with an edge (section 3.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, IntVector
from evener.errors import InfeasibleError
from evener.graphs.edge_list import EdgeList
from evener.plans.edge_partition import EdgePartition
from evener.running.edge_copies import by_device
from evener.running.locality import staging_kernels as kernels

MOST_STAGED = 1 << 16  # vertices that 16-bit numbers tell apart
GROWTH = 1.05  # of the number of blocks at least, where they do not fit
TRIES = 12  # of numbers of blocks
LEAST_POWER = 0.25  # of k by which the bytes of the largest block are taken to fall


@dataclass(frozen=True)
class Multiprocessor:
    """Limits of a multiprocessor; the defaults are those of NVIDIA's A100 and H100.

    shared: bytes of shared memory for all blocks of threads; each block takes `reserved` bytes more
    than it requests. shared_of_block: limit for one block. threads, blocks: largest numbers.
    """

    shared: int = 164 * 1024
    shared_of_block: int = 163 * 1024
    reserved: int = 1024
    threads: int = 2048
    blocks: int = 32

    def room(self, resident: int = 2) -> int:
        """Return the bytes available to each of this number of blocks."""
        return min(self.shared // resident - self.reserved, self.shared_of_block)

    def resident(self, n_bytes: int, threads: int) -> int:
        """Return how many blocks with these bytes and threads run at once; 0 if none fits."""
        if n_bytes > self.shared_of_block:
            return 0
        by_memory = self.shared // max(n_bytes + self.reserved, 1)
        return min(by_memory, self.threads // threads, self.blocks)

    def occupancy(self, n_bytes: int, threads: int) -> float:
        """Return the share of the threads that run at once if blocks need these bytes."""
        return self.resident(n_bytes, threads) * threads / self.threads


@dataclass(frozen=True, eq=False)
class Staged:
    """The vertices that blocks stage, in the order of first use.

    starts (k + 1,) int64; vertices (s,) int32: those of block b are vertices[starts[b] : starts[b +
    1]]. local (m,) uint16: the end of each edge, as an index among those of its block. n: number of
    all vertices.
    """

    starts: IntVector
    vertices: npt.NDArray[np.int32]
    local: npt.NDArray[np.uint16]
    n: int

    @property
    def counts(self) -> IntVector:
        """Number of vertices that each block stages (k,)."""
        return np.diff(self.starts)

    def by_first_use(self) -> IntVector:
        """Return new numbers of the vertices (n,), by the first block and place that stages each.

        Data in this order are read in long runs. Vertices that no block stages come last.
        """
        first = np.full(self.n, self.vertices.size, np.int64)
        backwards = self.vertices[::-1]
        first[backwards] = np.arange(self.vertices.size)[::-1]
        numbers = np.empty(self.n, np.int64)
        numbers[np.argsort(first, kind="stable")] = np.arange(self.n)
        return numbers

    def renumbered(self, numbers: IntVector) -> Staged:
        """Return the same staged vertices, renumbered by numbers (n,)."""
        vertices = numbers[self.vertices].astype(np.int32)
        return Staged(self.starts, vertices, self.local, self.n)

    def parts(self) -> tuple[IntVector, IntVector]:
        """Return offsets (n + 1,) and lists (s,), ascending: each vertex's places in `vertices`."""
        offsets = np.zeros(self.n + 1, np.int64)
        np.cumsum(np.bincount(self.vertices, minlength=self.n), out=offsets[1:])
        return offsets, np.argsort(self.vertices, kind="stable")


@dataclass(frozen=True, eq=False)
class StagedBlocks:
    """Blocks of edges with the vertices that they stage.

    starts (k + 1,) int64; edges (m,) int64: their numbers, block by block, in ascending order.
    outputs, inputs: the ends to which edges add and from which they read; the same object if both
    ends do both.
    """

    starts: IntVector
    edges: IntVector
    outputs: Staged
    inputs: Staged

    @property
    def k(self) -> int:
        """Number of blocks."""
        return int(self.starts.size - 1)

    @property
    def columns(self) -> npt.NDArray[np.int32]:
        """The input of each edge (m,), by number, block by block."""
        places = np.repeat(self.inputs.starts[:-1], np.diff(self.starts)) + self.inputs.local
        columns: npt.NDArray[np.int32] = self.inputs.vertices[places]
        return columns

    @property
    def counts(self) -> IntVector:
        """Number of vertices that each block stages (k,).

        The row and column of a matrix count separately.
        """
        if self.inputs is self.outputs:
            return self.outputs.counts
        return self.outputs.counts + self.inputs.counts

    @property
    def loads(self) -> int:
        """Number of staged vertices of all blocks: copies, plus one per vertex with an edge."""
        return int(self.counts.sum())

    def largest_bytes(self, output: int, read: int) -> int:
        """Return the bytes that the largest block stages.

        output, read: bytes of a value that is written, and of a value that is read.
        """
        sizes = output * self.outputs.counts + read * self.inputs.counts
        return int(sizes.max(initial=0))

    @classmethod
    def of_matrix(cls, edges: EdgeList, partition: EdgePartition, n_rows: int) -> StagedBlocks:
        """Return the blocks of a matrix's entries, as listed by EdgeList.of_matrix.

        Outputs are rows, inputs are columns. Raises InfeasibleError if a block has more vertices
        than MOST_STAGED.
        """
        order, starts = by_device(partition)
        rows = _staged(starts, edges.tails[order], n_rows)
        columns = _staged(starts, edges.heads[order] - n_rows, edges.n - n_rows)
        return cls(starts, order, rows, columns)

    @classmethod
    def of_interactions(cls, edges: EdgeList, partition: EdgePartition) -> StagedBlocks:
        """Return the blocks of interactions, each of which reads and adds at both of its ends.

        local of the outputs is (2m,): tail and head of each edge. Raises the errors of of_matrix.
        """
        order, starts = by_device(partition)
        both = np.column_stack([edges.tails[order], edges.heads[order]]).ravel()
        ends = _staged(2 * starts, both, edges.n)
        return cls(starts, order, ends, ends)


def _staged(starts: IntVector, ends: IntArray, n: int) -> Staged:
    """Return the vertices that blocks stage, of n vertices.

    ends: ends of the edges, block by block.
    """
    block_of, place_of = np.full(n, -1, np.int32), np.empty(n, np.int32)
    staged, local = np.empty(ends.size, np.int32), np.empty(ends.size, np.uint16)
    staged_starts = np.empty_like(starts)
    given = ends.astype(np.int32, copy=False)
    kernels.list_staged(starts, given, block_of, place_of, staged, staged_starts, local)
    counts = np.diff(staged_starts)
    if counts.size and counts.max() > MOST_STAGED:
        b = int(np.argmax(counts))
        raise InfeasibleError(
            f"block {b} has {counts[b]:,} vertices, but 16-bit numbers allow only {MOST_STAGED:,}",
            hint="Use more blocks.",
        )
    return Staged(staged_starts, staged[: staged_starts[-1]].copy(), local, n)


class _Try(NamedTuple):
    """A number of blocks, and the bytes that the largest stages."""

    k: int
    need: int


def fewest_blocks(
    make: Callable[[int], StagedBlocks], at_least: int, room: int, output: int, read: int
) -> StagedBlocks:
    """Return blocks that all fit into `room` [B], with about the least k that suffices.

    make(k): returns k blocks. at_least: number k below which no blocks fit. output, read: bytes
    staged for each output and input. Each k is predicted from what two others stage, until k would
    fall by less than a factor of GROWTH: usually after three or four attempts, and at most TRIES.
    Raises InfeasibleError if none is found: then use the plain kernel.
    """
    k, found = max(at_least, 1), None
    too_few: list[_Try] = []
    enough: _Try | None = None
    for _ in range(TRIES):
        made = make(k)
        this = _Try(k, made.largest_bytes(output, read))
        if this.need <= room:
            found, enough = made, this
        else:
            too_few.append(this)
        if not too_few or k >= made.edges.size:
            break
        k = min(_predicted(too_few, enough, room), made.edges.size)
        if enough is not None and k * GROWTH >= enough.k:
            break
    if found is None:
        raise InfeasibleError(
            f"the largest of {this.k:,} blocks still does not fit into {room:,} bytes",
            hint="A vertex or edge is too large to be staged. Use the plain kernel.",
        )
    return found


def _predicted(too_few: list[_Try], enough: _Try | None, room: int) -> int:
    """Return the least k that may fit if bytes are a power of k between two known values of k.

    The result is at least GROWTH times the last k that was too small, and below `enough`.
    """
    last = too_few[-1]
    other = enough or (too_few[-2] if len(too_few) > 1 else None)
    power = 1.0
    if other is not None:
        power = math.log(last.need / max(other.need, 1)) / math.log(other.k / last.k)
    times: float = (last.need / room) ** (1 / min(max(power, LEAST_POWER), 1.0))
    return max(math.ceil(last.k * times), int(last.k * GROWTH) + 1)


class BlockProduct:
    """Products y = A x by staged blocks on one core.

    Parts of y are added up in the order of blocks. entries (m,): of the matrix, in the order of the
    EdgeList. loads: number of values staged by the last product, counted while staging.
    """

    def __init__(self, blocks: StagedBlocks, entries: npt.NDArray[np.float64]) -> None:
        self._blocks = blocks
        self._entries = np.ascontiguousarray(entries[blocks.edges], np.float64)
        self._room = np.empty(int(blocks.inputs.counts.max(initial=0)))
        self._partial = np.empty(blocks.outputs.vertices.size)
        self._parts = blocks.outputs.parts()
        self.loads = 0

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return A x."""
        own = self._blocks
        given = (
            own.starts, own.outputs.local, own.inputs.local, own.outputs.starts,
            own.inputs.vertices, own.inputs.starts,
        )  # fmt: skip
        self.loads = int(
            kernels.multiply_blocks(0, own.k, given, self._entries, x, self._room, self._partial)
        )
        y = np.empty(own.outputs.n)
        kernels.combine(*self._parts, self._partial, y)
        return y
