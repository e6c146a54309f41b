"""Divides a graph among devices by a plan: each device's own vertices, ghosts, arcs and messages.

A ghost is a copy of a vertex that another device owns. Vertices of a device have local numbers:
first its own, interior before boundary, then its ghosts by owner. Any number of threads gives the
same arrays.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, cast, get_args

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector, Part
from evener.errors import InputError, one_of
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.graphs.lists import Arcs
from evener.io.accept import GraphLike, as_graph_or_arcs
from evener.plans.partition import Partition
from evener.plans.plan import Plan
from evener.running import distributing_kernels as kernels
from evener.threads import MOST_SLICES, SLICE, cores, in_slices, slice_ends, slices_for
from evener.wording import number, plural, two_lines

T = TypeVar("T")
Want: TypeAlias = Literal["out", "into", "both"]
LocalNumbers: TypeAlias = npt.NDArray[np.uint32]
Divided: TypeAlias = Plan | Partition | str | os.PathLike[str]  # a plan's file, too
UNSIGNED = 2**32  # from here on uint32 is too short
MOST_SETS = 4 * MOST_SLICES  # sets of ghosts in memory at a time, n / 8 bytes each
NONE = np.empty(0, np.int64)


class LocalArcs(NamedTuple):
    """The arcs of a device's own vertices, those of one vertex together, in the graph's order.

    offsets (m + 1,) uint32, or uint64 from 2^32 arcs on; ends (arcs,) uint32: local numbers of the
    other ends; weights (arcs,) or None.
    """

    offsets: npt.NDArray[Any]
    ends: LocalNumbers
    weights: npt.NDArray[Any] | None

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for array in self if array is not None)


@dataclass(frozen=True, eq=False)
class LocalGraph:
    """The part of a graph of n_global vertices that device `rank` of k computes.

    numbers (n_local,) int64: global numbers of its n_owned own vertices, first the n_interior that
    have no arc from or to another block, then the boundary, both rising; then of its ghosts, the
    vertices of other blocks that its arcs lead to, by owner, then number. owned and ghosts are the
    two parts; the ghosts of owner q are ghosts[ghost_starts[q] : ghost_starts[q + 1]]. A vertex's
    local number is its place in `numbers`. degrees (n_local,): how many arcs leave each in the
    whole graph.

    out: arcs that leave owned vertices, into: those that reach them; None where not asked for, and
    the same object where the graph is undirected. sends: other device -> (s,) uint32, the owned
    vertices that are ghosts there, in the order of its ghosts.
    """

    rank: int
    k: int
    n_global: int
    n_interior: int
    n_owned: int
    numbers: IntVector
    ghost_starts: IntVector
    degrees: npt.NDArray[np.integer[Any]]
    out: LocalArcs | None
    into: LocalArcs | None
    sends: Mapping[int, LocalNumbers] = field(default_factory=dict)

    def __repr__(self) -> str:
        arcs = self.out or self.into
        n_arcs = 0 if arcs is None else arcs.ends.size
        sent = sum(numbers.size for numbers in self.sends.values())
        return two_lines(
            "LocalGraph",
            [f"device {self.rank} of {self.k}", plural(self.n_owned, "vertex", "vertices"),
             f"{number(self.n_interior)} of them interior", plural(n_arcs, "arc")],
            [plural(self.n_local - self.n_owned, "ghost"),
             f"{plural(sent, 'value')} sent to {plural(len(self.sends), 'device')}"],
        )  # fmt: skip

    @property
    def owned(self) -> IntVector:
        """(m,) global numbers of its own vertices."""
        return self.numbers[: self.n_owned]

    @property
    def ghosts(self) -> IntVector:
        """(h,) global numbers of its ghosts."""
        return self.numbers[self.n_owned :]

    @property
    def n_local(self) -> int:
        """Number of its own vertices and its ghosts, m + h."""
        return int(self.numbers.size)

    @property
    def receives(self) -> dict[int, tuple[int, int]]:
        """Other device -> first and end of the local numbers of the ghosts that it owns."""
        starts = self.n_owned + self.ghost_starts
        return {
            int(q): (int(starts[q]), int(starts[q + 1])) for q in np.flatnonzero(np.diff(starts))
        }

    @property
    def nbytes(self) -> int:
        """Bytes of all its arrays; `out` and `into` count once where they are the same."""
        arrays = [self.numbers, self.ghost_starts, self.degrees, *self.sends.values()]
        arcs = {id(one): one.nbytes for one in (self.out, self.into) if one is not None}
        return sum(array.nbytes for array in arrays) + sum(arcs.values())


def distribute(
    graph: GraphLike,
    divided: Divided,
    *,
    want: Want = "out",
    threads: int | None = None,
) -> list[LocalGraph]:
    """Return the LocalGraphs of all k devices of a plan, or of the k blocks of a partition.

    want: which arcs of a directed graph: "out" leaves owned vertices, "into" reaches them, or
    "both"; ghosts are what these arcs lead to. threads: as many as there are cores by default.
    Raises InputError for a partition of another number of vertices.
    """
    taken, partition = _taken(graph, divided)
    return _distributed(_lists(taken, want, alone=False), partition, threads or cores())


def local_graph(
    graph: GraphLike,
    divided: Divided,
    rank: int,
    *,
    want: Want = "out",
    threads: int | None = None,
) -> LocalGraph:
    """Return the LocalGraph of device `rank` alone, as `distribute` does.

    Raises InputError also for a rank without a block.
    """
    taken, partition = _taken(graph, divided)
    return local_part(_lists(taken, want, alone=True), partition, rank, threads or cores())


class PartSize(NamedTuple):
    """How much a device's part of a graph holds.

    ghost_counts, sent_counts: other device -> ghosts that it owns, own vertices that are ghosts
    there. arcs: of each list that a part has.
    """

    k: int
    n_owned: int
    n_ghosts: int
    arcs: tuple[int, ...]
    ghost_counts: dict[int, int]
    sent_counts: dict[int, int]

    @property
    def n_local(self) -> int:
        """Number of own vertices and of ghosts."""
        return self.n_owned + self.n_ghosts


def part_sizes(
    graph: GraphLike,
    divided: Divided,
    *,
    want: Want = "out",
    threads: int | None = None,
) -> list[PartSize]:
    """Return how much the part of each device would hold; the parts are not made.

    Arguments and errors as of `distribute`.
    """
    taken, partition = _taken(graph, divided)
    lists, k, threads = _lists(taken, want, alone=False), partition.k, threads or cores()
    numbering = _numbering(partition, _boundary(lists, partition.part, -1, threads), threads)
    sizes: list[PartSize] = []
    for batch in _with_ghosts(lists, numbering, range(k), threads):
        for built in batch:
            counts = np.diff(built.ghost_starts)
            ghosts = {q: int(counts[q]) for q in np.flatnonzero(counts).tolist()}
            arcs = tuple(int(offsets[-1]) for offsets in built.offsets.values())
            m = int(built.owned.size)
            sizes.append(PartSize(k, m, sum(ghosts.values()), arcs, ghosts, {}))
    for rank, size in enumerate(sizes):
        for q, count in size.ghost_counts.items():
            sizes[q].sent_counts[rank] = count
    return sizes


class Lists(NamedTuple):
    """A graph's arcs by the vertex that they leave, by the one that they reach, and those wanted.

    into: None where a directed graph's is not needed; `out` itself for an undirected graph.
    """

    out: Arcs
    into: Arcs | None
    want: Want

    @property
    def is_directed(self) -> bool:
        """Whether an arc stands in the list of one of its ends alone."""
        return self.into is not self.out

    @property
    def wanted(self) -> dict[str, Arcs]:
        """The lists that a LocalGraph is to hold, by its fields; for undirected graphs one."""
        if not self.is_directed:
            return {"out": self.out}
        both = {"out": self.out, "into": self.into}
        return {
            name: arcs
            for name, arcs in both.items()
            if arcs is not None and self.want in (name, "both")
        }


def local_part(lists: Lists, partition: Partition, rank: int, threads: int) -> LocalGraph:
    """Return the LocalGraph of one block, of lists that are both there.

    Raises InputError for a rank without a block.
    """
    if not 0 <= rank < partition.k:
        raise InputError(f"rank {rank} has no block: there are {plural(partition.k, 'block')}")
    if partition.k == 1:
        return _whole(lists)
    boundary = _boundary(lists, partition.part, rank, threads)
    numbering = _numbering(partition, boundary, threads)
    local = next(_parts(lists, numbering, [rank], threads))
    return replace(local, sends=_sends_of(lists, local, partition))


def _distributed(lists: Lists, partition: Partition, threads: int) -> list[LocalGraph]:
    """Return the LocalGraphs of all blocks."""
    if partition.k == 1:
        return [_whole(lists)]
    boundary = _boundary(lists, partition.part, -1, threads)
    numbering = _numbering(partition, boundary, threads)
    locals_ = list(_parts(lists, numbering, range(partition.k), threads))
    for local in locals_:  # what it receives is what the others send
        positions = numbering.position[local.ghosts]
        for q in np.flatnonzero(np.diff(local.ghost_starts)).tolist():
            own = positions[local.ghost_starts[q] : local.ghost_starts[q + 1]]
            numbers = (own - numbering.starts[q]).astype(np.uint32)
            cast(dict[int, LocalNumbers], locals_[q].sends)[local.rank] = numbers
    return locals_


def _taken(graph: GraphLike, divided: Divided) -> tuple[Graph | DirectedGraph, Partition]:
    """Return what public functions take as a graph and a partition of it."""
    taken = as_graph_or_arcs(graph)
    if isinstance(divided, str | os.PathLike):
        from evener.io.plans.plan import read_plan

        divided = read_plan(Path(divided))
    partition = divided.partition if isinstance(divided, Plan) else divided
    return taken, partition.checked_for(taken.n)


def _lists(graph: Graph | DirectedGraph, want: Want, *, alone: bool) -> Lists:
    """Return a graph's lists; alone: for one device, which needs those into its vertices, too."""
    one_of("choice of arcs", want, get_args(Want))
    out = graph.arcs_out()
    if graph.symmetric:
        return Lists(out, out, want)
    return Lists(out, graph.arcs_in() if alone or want != "out" else None, want)


def _whole(lists: Lists) -> LocalGraph:
    """Return the one part of a graph that is not divided: its own arrays, narrowed."""
    n = lists.out.xadj.size - 1
    made = {name: _narrowed(arcs) for name, arcs in lists.wanted.items()}
    if not lists.is_directed:
        made["into"] = made["out"]
    degrees = np.diff(lists.out.xadj)
    return LocalGraph(
        0, 1, n, n, n, np.arange(n), np.zeros(2, np.int64),
        degrees.astype(_signed(lists.out.adjncy.size)), made.get("out"), made.get("into"),
    )  # fmt: skip


def _narrowed(arcs: Arcs) -> LocalArcs:
    ends = arcs.adjncy
    short = ends.view(np.uint32) if ends.dtype == np.int32 else ends.astype(np.uint32)
    return LocalArcs(arcs.xadj.astype(_unsigned(ends.size)), short, arcs.adjwgt)


def _boundary(lists: Lists, part: Part, only: int, threads: int) -> npt.NDArray[np.uint8]:
    """Return (n,) 1 for vertices with an arc from or to another block, of block `only` or, -1, all.

    Of one block both lists are looked at, of all one is enough, as both ends of an arc are marked.
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


class _Numbering(NamedTuple):
    """order: the vertex at each position; position: that of each vertex.

    starts (k + 1,): positions at which blocks begin; boundaries (k,): where their boundaries do.
    """

    order: IntVector
    position: npt.NDArray[Any]
    starts: IntVector
    boundaries: IntVector


def _numbering(partition: Partition, boundary: npt.NDArray[np.uint8], threads: int) -> _Numbering:
    """Return the positions of vertices: by block, then interior or boundary, then number."""
    part, n = partition.part, partition.n
    slices = slices_for(n)
    ends = slice_ends(n, slices)
    counts = np.zeros((slices, 2 * partition.k), np.int64)

    def count(i: int) -> None:
        kernels.count_vertices(part, boundary, ends[i], ends[i + 1], counts[i])

    in_slices(count, slices, threads)
    through = np.cumsum(counts.T).reshape(counts.T.shape)  # by group, then slice
    places = np.ascontiguousarray(through.T - counts)
    order, position = np.empty(n, np.int64), np.empty(n, _unsigned(n))

    def place(i: int) -> None:
        kernels.place_vertices(part, boundary, ends[i], ends[i + 1], places[i], order, position)

    groups = np.append(places[0], n)
    in_slices(place, slices, threads)
    return _Numbering(order, position, groups[::2], groups[1::2])


class _Builder:
    """The arrays of one device while they are filled."""

    def __init__(self, rank: int, lists: Lists, numbering: _Numbering) -> None:
        self.rank, self.lists, self.numbering = rank, lists, numbering
        first, last = numbering.starts[rank : rank + 2].tolist()
        self.owned = numbering.order[first:last]
        self.n_interior = int(numbering.boundaries[rank]) - first
        self.offsets: dict[str, npt.NDArray[Any]] = {}
        for name, arcs in lists.wanted.items():
            offsets = np.empty(self.owned.size + 1, np.int64)
            kernels.list_offsets(arcs.xadj, self.owned, offsets)
            self.offsets[name] = offsets.astype(_unsigned(int(offsets[-1])))
        self.n_arcs = sum(int(offsets[-1]) for offsets in self.offsets.values())

    def cut(self, arcs_each: int) -> int:
        """Divide the rows into slices of about so many arcs; return how many slices there are."""
        slices = max(round(self.n_arcs / arcs_each), 1)
        total = sum(offsets.astype(np.int64) for offsets in self.offsets.values())
        self.ends = np.searchsorted(total, slice_ends(self.n_arcs, slices)).tolist()
        self.ends[0], self.ends[-1] = 0, self.owned.size
        return slices

    def begin(self, sets: _Sets, first: int) -> None:
        """Take an empty set of ghosts for each slice, the first of them at `first`."""
        own = slice(first, first + len(self.ends) - 1)
        self.bits, self.used, self.ranks = sets.bits[own], sets.used[own], sets.ranks[first]

    def mark(self, i: int) -> None:
        """Find the ghosts of slice i."""
        first = max(self.ends[i], self.n_interior)  # the rows before have none
        for arcs in self.lists.wanted.values():
            kernels.mark_ghosts(
                arcs.xadj, arcs.adjncy, self.numbering.position, self.owned, first,
                self.ends[i + 1], self.bits[i], self.used[i],
            )  # fmt: skip

    def number_ghosts(self) -> None:
        """List the ghosts of all slices behind the owned vertices."""
        order, position, starts, _ = self.numbering
        m, count = self.owned.size, int(kernels.merge_bits(self.bits, self.used, self.ranks))
        if m + count >= UNSIGNED:
            raise InputError(f"device {self.rank} has 2^32 vertices and ghosts or more")
        self.numbers = np.empty(m + count, np.int64)
        self.numbers[:m] = self.owned
        kernels.list_ghosts(self.bits[0], self.used[0], order, self.numbers[m:])
        self.ghost_starts = np.searchsorted(position[self.numbers[m:]], starts)

    def make_room(self) -> None:
        """List the degrees, and make room for arcs."""
        xadj = self.lists.out.xadj
        self.degrees = np.empty(self.numbers.size, _signed(int(xadj[-1])))
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
        """Return the part, without what it sends."""
        if not self.lists.is_directed:
            self.arcs["into"] = self.arcs["out"]
        _, _, starts, _ = self.numbering
        return LocalGraph(
            self.rank, starts.size - 1, self.numbering.order.size, self.n_interior,
            self.owned.size, self.numbers, self.ghost_starts, self.degrees,
            self.arcs.get("out"), self.arcs.get("into"),
        )  # fmt: skip


def _parts(
    lists: Lists, numbering: _Numbering, ranks: Sequence[int], threads: int
) -> Iterator[LocalGraph]:
    """Yield the parts of these devices, without what they send."""
    for batch in _with_ghosts(lists, numbering, ranks, threads):
        items = [(builder, i) for builder in batch for i in range(len(builder.ends) - 1)]
        _each(batch, _Builder.make_room, threads)
        _each(items, lambda item: item[0].fill(item[1]), threads)
        for builder in batch:
            yield builder.finished()


def _with_ghosts(
    lists: Lists, numbering: _Numbering, ranks: Sequence[int], threads: int
) -> Iterator[list[_Builder]]:
    """Yield devices, some at a time, whose ghosts are known until the next ones are asked for.

    Slices of about equally many arcs are the work that threads share, large devices several.
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
    """Call work(item) for all items, in threads."""
    in_slices(lambda i: work(items[i]), len(items), threads)


class _Sets:
    """Empty sets of positions, with room for the bits before each word."""

    def __init__(self, count: int, numbering: _Numbering) -> None:
        words = -(-numbering.order.size // kernels.WORD)
        self.bits = np.zeros((count, words), np.uint64)
        self.used = np.zeros((count, -(-words // kernels.WORD)), np.uint64)
        self.ranks = np.empty((count, words), numbering.position.dtype)


def _batches(builders: list[_Builder], slices: list[int]) -> Iterator[list[_Builder]]:
    """Yield as many devices as have their sets of ghosts in memory at a time."""
    batch: list[_Builder] = []
    count = 0
    for builder, more in zip(builders, slices, strict=True):
        if batch and count + more > MOST_SETS:
            yield batch
            batch, count = [], 0
        batch.append(builder)
        count += more
    yield batch


def _sends_of(lists: Lists, local: LocalGraph, partition: Partition) -> dict[int, LocalNumbers]:
    """Return what one device sends, by the arcs that make its vertices ghosts of others."""
    assert lists.into is not None
    # Where others hold the arcs that leave their vertices, those are the ones that reach ours.
    seen = {"out": [lists.into], "into": [lists.out], "both": [lists.into, lists.out]}[lists.want]
    first, more = seen[0], seen[1] if lists.is_directed and len(seen) > 1 else None
    none = np.empty(0, np.int64)
    given = (
        first.xadj, first.adjncy, none if more is None else more.xadj,
        first.adjncy[:0] if more is None else more.adjncy, partition.part, local.owned,
        local.n_interior,
    )  # fmt: skip
    starts, last_sent = np.zeros(local.k + 1, np.int64), np.full(local.k, -1)
    kernels.list_sends(*given, last_sent, starts[1:], np.empty(0, np.uint32))
    np.cumsum(starts, out=starts)
    sent = np.empty(int(starts[-1]), np.uint32)
    if sent.size:
        kernels.list_sends(*given, np.full(local.k, -1), starts[:-1].copy(), sent)
    others = np.flatnonzero(np.diff(starts)).tolist()
    return {q: sent[starts[q] : starts[q + 1]] for q in others}


def _unsigned(count: int) -> type[np.unsignedinteger[Any]]:
    """Return the unsigned type that counts so far."""
    return np.uint32 if count < UNSIGNED else np.uint64


def _signed(count: int) -> type[np.signedinteger[Any]]:
    """Return the signed type that counts so far."""
    return np.int32 if count < UNSIGNED // 2 else np.int64
