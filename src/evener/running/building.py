"""Builds the parts of a graph in memory: numbers vertices by block, finds ghosts, copies arcs.

Threads share the work in slices that contain about equally many arcs. The arrays do not depend on
the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector, Part
from evener.errors import InputError
from evener.graphs.lists import Arcs
from evener.plans.partition import Partition
from evener.running import distributing_kernels as kernels
from evener.running.local_graphs import UNSIGNED, LocalArcs, LocalGraph, Want, signed, unsigned
from evener.threads import MOST_SLICES, SLICE, in_slices, slice_ends, slices_for

T = TypeVar("T")
MOST_SETS = 4 * MOST_SLICES  # sets of ghosts that are in memory at a time, n / 8 bytes each
NONE = np.empty(0, np.int64)


class Lists(NamedTuple):
    """Adjacency lists of a graph by tail and by head; wanted: which of these lists the parts need.

    out: arcs by the vertex that they leave. into: arcs by the vertex that they reach; None if these
    are not needed; `out` itself if the graph is undirected.
    """

    out: Arcs
    into: Arcs | None
    want: Want

    @property
    def is_directed(self) -> bool:
        """Whether the graph is directed, so that an arc is only in the list of its tail."""
        return self.into is not self.out

    @property
    def wanted(self) -> dict[str, Arcs]:
        """The lists that a LocalGraph needs, by field name; an undirected graph has only "out"."""
        if not self.is_directed:
            return {"out": self.out}
        both = {"out": self.out, "into": self.into}
        return {
            name: arcs
            for name, arcs in both.items()
            if arcs is not None and self.want in (name, "both")
        }


def boundary_of(lists: Lists, part: Part, only: int, threads: int) -> npt.NDArray[np.uint8]:
    """Return flags (n,): 1 for vertices that have an arc from or to another block.

    only: the block whose vertices are marked, or -1 for all blocks. For all blocks, one list
    suffices, as both ends of each arc are marked; for one block of a directed graph, both lists are
    read.
    """
    boundary = np.zeros(part.size, np.uint8)
    both_ends = lists.is_directed and only < 0
    looked_at = {id(arcs): arcs for arcs in (lists.out, lists.into) if arcs is not None}
    for xadj, adjncy, _ in list(looked_at.values())[: 1 if both_ends else 2]:
        slices = slices_for(part.size)
        ends = np.searchsorted(xadj, slice_ends(adjncy.size, slices)).tolist()
        ends[0], ends[-1] = 0, part.size

        def mark(i: int, xadj: Any = xadj, adjncy: Any = adjncy, ends: Any = ends) -> None:
            kernels.mark_boundary(
                xadj, adjncy, part, only, both_ends, ends[i], ends[i + 1], boundary
            )

        in_slices(mark, slices, threads)
    return boundary


class Numbering(NamedTuple):
    """Positions of vertices when they are sorted by block, then interior or boundary, then number.

    order: the vertex at each position; position: the position of each vertex. starts (k + 1,):
    positions at which blocks begin; boundaries (k,): positions at which their boundary vertices
    begin.
    """

    order: IntVector
    position: npt.NDArray[Any]
    starts: IntVector
    boundaries: IntVector


def numbering_of(partition: Partition, boundary: npt.NDArray[np.uint8], threads: int) -> Numbering:
    """Return the numbering of vertices: by block, then interior or boundary, then number."""
    part, n = partition.part, partition.n
    slices = slices_for(n)
    ends = slice_ends(n, slices)
    counts = np.zeros((slices, 2 * partition.k), np.int64)

    def count(i: int) -> None:
        kernels.count_vertices(part, boundary, ends[i], ends[i + 1], counts[i])

    in_slices(count, slices, threads)
    through = np.cumsum(counts.T).reshape(counts.T.shape)  # by group, then slice
    places = np.ascontiguousarray(through.T - counts)
    order, position = np.empty(n, np.int64), np.empty(n, unsigned(n))

    def place(i: int) -> None:
        kernels.place_vertices(part, boundary, ends[i], ends[i + 1], places[i], order, position)

    groups = np.append(places[0], n)
    in_slices(place, slices, threads)
    return Numbering(order, position, groups[::2], groups[1::2])


class _Builder:
    """The arrays of one device while they are filled."""

    def __init__(self, rank: int, lists: Lists, numbering: Numbering) -> None:
        self.rank, self.lists, self.numbering = rank, lists, numbering
        first, last = numbering.starts[rank : rank + 2].tolist()
        self.owned = numbering.order[first:last]
        self.n_interior = int(numbering.boundaries[rank]) - first
        self.offsets: dict[str, npt.NDArray[Any]] = {}
        for name, arcs in lists.wanted.items():
            offsets = np.empty(self.owned.size + 1, np.int64)
            kernels.list_offsets(arcs.xadj, self.owned, offsets)
            self.offsets[name] = offsets.astype(unsigned(int(offsets[-1])))
        self.n_arcs = sum(int(offsets[-1]) for offsets in self.offsets.values())

    def cut(self, arcs_each: int) -> int:
        """Divide the rows into slices of about `arcs_each` arcs; return the number of slices."""
        slices = max(round(self.n_arcs / arcs_each), 1)
        total = sum(offsets.astype(np.int64) for offsets in self.offsets.values())
        self.ends = np.searchsorted(total, slice_ends(self.n_arcs, slices)).tolist()
        self.ends[0], self.ends[-1] = 0, self.owned.size
        return slices

    def begin(self, sets: _Sets, first: int) -> None:
        """Take an empty set of ghosts for each slice; the first slice gets set number `first`."""
        own = slice(first, first + len(self.ends) - 1)
        self.bits, self.used, self.ranks = sets.bits[own], sets.used[own], sets.ranks[first]

    def mark(self, i: int) -> None:
        """Find the ghosts of slice i."""
        first = max(self.ends[i], self.n_interior)  # interior vertices have no ghosts
        for arcs in self.lists.wanted.values():
            kernels.mark_ghosts(
                arcs.xadj, arcs.adjncy, self.numbering.position, self.owned, first,
                self.ends[i + 1], self.bits[i], self.used[i],
            )  # fmt: skip

    def number_ghosts(self) -> None:
        """List the ghosts of all slices after the owned vertices."""
        order, position, starts, _ = self.numbering
        m, count = self.owned.size, int(kernels.merge_bits(self.bits, self.used, self.ranks))
        if m + count >= UNSIGNED:
            raise InputError(f"device {self.rank} has 2^32 or more vertices and ghosts")
        self.numbers = np.empty(m + count, np.int64)
        self.numbers[:m] = self.owned
        kernels.list_ghosts(self.bits[0], self.used[0], order, self.numbers[m:])
        self.ghost_starts = np.searchsorted(position[self.numbers[m:]], starts)

    def make_room(self) -> None:
        """List the degrees, and allocate the arrays of arcs."""
        xadj = self.lists.out.xadj
        self.degrees = np.empty(self.numbers.size, signed(int(xadj[-1])))
        kernels.list_degrees(xadj, self.numbers, self.degrees)
        self.arcs = {}
        for name, offsets in self.offsets.items():
            count, weights = int(offsets[-1]), self.lists.wanted[name].adjwgt
            made = None if weights is None else np.empty(count, weights.dtype)
            self.arcs[name] = LocalArcs(offsets, np.empty(count, np.uint32), made)

    def fill(self, i: int) -> None:
        """Copy the arcs of slice i."""
        for name, (offsets, ends, weights) in self.arcs.items():
            arcs = self.lists.wanted[name]
            kernels.fill_arcs(
                arcs.xadj, arcs.adjncy, NONE if arcs.adjwgt is None else arcs.adjwgt,
                self.numbering.position, self.owned, self.ends[i], self.ends[i + 1],
                self.bits[0], self.ranks, offsets, ends, NONE if weights is None else weights,
            )  # fmt: skip

    def finished(self) -> LocalGraph:
        """Return the part, without its lists of vertices to send."""
        if not self.lists.is_directed:
            self.arcs["into"] = self.arcs["out"]
        _, _, starts, _ = self.numbering
        return LocalGraph(
            self.rank, starts.size - 1, self.numbering.order.size, self.n_interior,
            self.owned.size, self.numbers, self.ghost_starts, self.degrees,
            self.arcs.get("out"), self.arcs.get("into"),
        )  # fmt: skip


def parts_of(
    lists: Lists, numbering: Numbering, ranks: Sequence[int], threads: int
) -> Iterator[LocalGraph]:
    """Yield the parts of these devices, without their lists of vertices to send."""
    for batch in with_ghosts(lists, numbering, ranks, threads):
        items = [(builder, i) for builder in batch for i in range(len(builder.ends) - 1)]
        _each(batch, _Builder.make_room, threads)
        _each(items, lambda item: item[0].fill(item[1]), threads)
        for builder in batch:
            yield builder.finished()


def with_ghosts(
    lists: Lists, numbering: Numbering, ranks: Sequence[int], threads: int
) -> Iterator[list[_Builder]]:
    """Yield batches of devices whose ghosts are known; they are valid until the next batch.

    Threads share the work in slices of about equally many arcs; a large device has several slices.
    """
    builders: list[_Builder] = [None] * len(ranks)  # type: ignore[list-item]

    def build(i: int) -> None:
        builders[i] = _Builder(ranks[i], lists, numbering)

    in_slices(build, len(ranks), threads)
    total = sum(builder.n_arcs for builder in builders)
    arcs_each = max(total // (2 * MOST_SLICES), SLICE)
    slices = [builder.cut(arcs_each) for builder in builders]
    sets = _Sets(max(min(sum(slices), MOST_SETS), *slices, 1), numbering)
    for batch in _batches(builders, slices):
        items: list[tuple[_Builder, int]] = []
        for builder in batch:
            builder.begin(sets, len(items))
            items += [(builder, i) for i in range(len(builder.ends) - 1)]
        _each(items, lambda item: item[0].mark(item[1]), threads)
        _each(batch, _Builder.number_ghosts, threads)
        yield batch
        _each(batch, lambda builder: kernels.clear_bits(builder.bits, builder.used), threads)


def _each(items: Sequence[T], work: Callable[[T], object], threads: int) -> None:
    """Call work(item) for all items, on several threads."""
    in_slices(lambda i: work(items[i]), len(items), threads)


class _Sets:
    """Empty bit sets of positions, each with an array for the number of bits before each word."""

    def __init__(self, count: int, numbering: Numbering) -> None:
        words = -(-numbering.order.size // kernels.WORD)
        self.bits = np.zeros((count, words), np.uint64)
        self.used = np.zeros((count, -(-words // kernels.WORD)), np.uint64)
        self.ranks = np.empty((count, words), numbering.position.dtype)


def _batches(builders: list[_Builder], slices: list[int]) -> Iterator[list[_Builder]]:
    """Yield devices in batches whose sets of ghosts fit in memory together (MOST_SETS)."""
    batch: list[_Builder] = []
    count = 0
    for builder, more in zip(builders, slices, strict=True):
        if batch and count + more > MOST_SETS:
            yield batch
            batch, count = [], 0
        batch.append(builder)
        count += more
    yield batch
