"""Builds the parts of a graph from pieces of its arcs: deals them, makes rows, numbers vertices.

The steps for one device, with the communication between devices:

1. `Dealer` deals the arcs of each piece to the devices that own their ends;
2. `Slice.of` makes rows from the arcs of a device, and finds its ghosts;
3. owners learn which of their vertices are ghosts elsewhere: `Slice.number`;
4. devices get the degrees of their ghosts: `Slice.finish` returns the LocalGraph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector
from evener.errors import InputError
from evener.graphs import graph_kernels
from evener.graphs.graph_checks import index_type
from evener.graphs.lists import Arcs
from evener.io.entries import whole_where_all_are
from evener.io.graphs.streams import ArcPiece, ArcStream, Repeats, Tally
from evener.plans.partition import Partition
from evener.running import slices_kernels as kernels
from evener.running.distributing import PartSize
from evener.running.local_graphs import (
    UNSIGNED,
    LocalArcs,
    LocalGraph,
    LocalNumbers,
    Want,
    signed,
    unsigned,
)
from evener.running.local_numbers import numbers_of

NONE = np.empty(0, np.int64)


class Dealt(NamedTuple):
    """Arcs of a piece, sorted by device: those of device d are at starts[d] to starts[d + 1] - 1.

    own, other: the ends of each arc; the device owns the end `own`. weights: of the arcs, or None.
    """

    starts: IntVector
    own: npt.NDArray[Any]
    other: npt.NDArray[Any]
    weights: npt.NDArray[Any] | None

    def of(self, first: int, last: int) -> Dealt:
        """Return only the arcs of devices first to last - 1."""
        a, b = self.starts[first], self.starts[last]
        weights = None if self.weights is None else self.weights[a:b]
        starts = self.starts[first : last + 1] - a
        return Dealt(starts, self.own[a:b], self.other[a:b], weights)


class Dealer:
    """Deals arcs to the devices of a partition.

    lists: which lists a device gets: "out" for an undirected graph; for a directed graph those
    wanted, and "out" for the degrees.
    """

    def __init__(self, stream: ArcStream, partition: Partition, want: Want) -> None:
        self.stream, self.partition = stream, partition
        asked = ("out", "into") if want in ("into", "both") else ("out",)
        self.lists = asked if stream.directed else ("out",)

    def deal(self, piece: ArcPiece, seen: Tally) -> tuple[dict[str, Dealt], Tally]:
        """Return a piece's arcs by list, and `seen`, its tally, with a signature if needed."""
        stream = self.stream
        if seen.low < 0 or seen.high >= stream.n:  # refused after the whole file is read
            empty = np.empty(0, np.int64)
            piece = ArcPiece(empty, empty, None if piece.weights is None else np.empty(0))
        if not stream.directed and not stream.both:
            bits = _bits(piece.weights)
            seen = seen._replace(signature=int(kernels.signature(piece.tails, piece.heads, bits)))
        dealt = {"out": self._dealt(piece.tails, piece.heads, piece.weights)}
        if "into" in self.lists:
            dealt["into"] = self._dealt(piece.heads, piece.tails, piece.weights)
        return dealt, seen

    def _dealt(
        self, tails: npt.NDArray[Any], heads: npt.NDArray[Any], given: npt.NDArray[Any] | None
    ) -> Dealt:
        part, both, turned = self.partition.part, self.stream.both, self.stream.turned
        counts = np.zeros(self.partition.k, np.int64)
        kernels.count_arcs(tails, heads, part, both, counts)
        starts = np.concatenate([[0], np.cumsum(counts)])
        count, dtype = int(starts[-1]), index_type(self.stream.n)
        own, other = np.empty(count, dtype), np.empty(count, dtype)
        weights = None if given is None else np.empty(count, given.dtype)
        kernels.deal_arcs(
            tails, heads, _or_none(given), part, both, float(turned), starts[:-1].copy(),
            own, other, _or_none(weights),
        )  # fmt: skip
        return Dealt(starts, own, other, weights)


def _bits(weights: npt.NDArray[Any] | None) -> npt.NDArray[np.uint64]:
    """Return the bits of weights as 64-bit integers, which are equal if the weights are equal."""
    if weights is None:
        return np.empty(0, np.uint64)
    return np.ascontiguousarray(weights + 0).view(np.uint64)  # adding 0 turns -0.0 into 0.0


class Facts(NamedTuple):
    """Properties of a graph that all devices know, although none has the whole graph.

    arcs: their number, where an edge counts twice. weighted: whether arcs have weights; fractional:
    whether these are float64 instead of int64. vertices_weigh: whether vertices have weights.
    """

    n: int
    arcs: int
    directed: bool
    weighted: bool
    fractional: bool
    vertices_weigh: bool


@dataclass
class Slice:
    """A device's part before its vertices are numbered.

    own (m,): its vertices, rising; lists: their rows, by global vertex numbers. boundary (m,):
    whether a vertex is known to have an arc from or to another block. ghosts and ghost_starts: as
    in LocalGraph. degrees (m,): number of arcs that leave each vertex. Set by `number`: sends, as
    in LocalGraph; rows (m,), the order of the vertices.
    """

    rank: int
    own: IntVector
    lists: dict[str, Arcs]
    boundary: npt.NDArray[np.bool_]
    ghosts: IntVector
    ghost_starts: IntVector
    degrees: IntVector
    rows: IntVector = field(default_factory=lambda: NONE)
    sends: dict[int, LocalNumbers] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        rank: int,
        pieces: Mapping[str, Iterable[Dealt]],
        partition: Partition,
        repeats: Repeats,
        want: Want,
    ) -> Slice:
        """Build the rows of device `rank` from the arcs dealt to it, in the order of the file.

        pieces: read twice; if they are lists, these are emptied. Raises InputError for repeated
        arcs if `repeats` is "refused".
        """
        own = np.flatnonzero(partition.part == rank)
        local = np.empty(partition.n, unsigned(partition.n))
        local[own] = np.arange(own.size)
        lists = {name: _rows(pieces[name], own, local, repeats) for name in pieces}
        degrees = np.diff(lists["out"].xadj)
        if "into" in lists and want == "into":
            del lists["out"]
        boundary, marks = np.zeros(own.size, np.bool_), np.zeros(partition.n, np.uint8)
        for xadj, adjncy, _ in lists.values():
            kernels.mark_others(xadj, adjncy, partition.part, rank, boundary, marks)
        found = np.flatnonzero(marks)
        ghosts = found[np.argsort(partition.part[found], kind="stable")]
        starts = np.searchsorted(partition.part[ghosts], np.arange(partition.k + 1))
        return cls(rank, own, lists, boundary, ghosts, starts, degrees)

    @property
    def n_interior(self) -> int:
        """Number of vertices without an arc from or to another block, valid after `number`."""
        return self.own.size - int(np.count_nonzero(self.boundary))

    def ghosts_of(self, q: int) -> IntVector:
        """Return the ghosts that device q owns."""
        return self.ghosts[self.ghost_starts[q] : self.ghost_starts[q + 1]]

    def number(self, asked: Mapping[int, IntVector]) -> dict[int, IntVector]:
        """Order the vertices, interior ones first; return the degrees of those in `asked`.

        asked: device -> numbers of this device's vertices, in the order of that device's ghosts.
        """
        places = {q: np.searchsorted(self.own, asked[q]) for q in sorted(asked) if asked[q].size}
        for place in places.values():
            self.boundary[place] = True
        self.rows = np.concatenate([np.flatnonzero(~self.boundary), np.flatnonzero(self.boundary)])
        number = np.empty(self.own.size, np.uint32)
        number[self.rows] = np.arange(self.own.size)
        self.sends = {q: number[place] for q, place in places.items()}
        return {q: self.degrees[place] for q, place in places.items()}

    def size(self, k: int) -> PartSize:
        """Return the sizes of the part, after `number` was called; k: number of devices."""
        lengths = np.diff(self.ghost_starts)
        ghosts = {q: int(lengths[q]) for q in np.flatnonzero(lengths).tolist()}
        sent = {q: int(numbers.size) for q, numbers in self.sends.items()}
        arcs = tuple(int(arcs.adjncy.size) for arcs in self.lists.values())
        m = int(self.own.size)
        n_boundary = m - self.n_interior
        n_ghosts, has_out = int(self.ghosts.size), "out" in self.lists
        ranges = frozenset(q for q, own in self.sends.items() if isinstance(numbers_of(own), slice))
        return PartSize(k, m, n_ghosts, arcs, ghosts, sent, n_boundary, has_out, ranges)

    def finish(self, ghost_degrees: IntVector, facts: Facts, k: int) -> LocalGraph:
        """Return the part, and discard the rows. ghost_degrees: of all ghosts, in their order."""
        m, owned = self.own.size, self.own[self.rows]
        if m + self.ghosts.size >= UNSIGNED:
            raise InputError(f"device {self.rank} has 2^32 or more vertices and ghosts")
        numbers = np.concatenate([owned, self.ghosts])
        local = np.empty(facts.n, np.uint32)
        local[numbers] = np.arange(numbers.size)
        arcs: dict[str, LocalArcs] = {}
        for name in list(self.lists):
            arcs[name] = _numbered(self.lists.pop(name), self.rows, local, facts)
        if not facts.directed:
            arcs["into"] = arcs["out"]
        degrees = np.concatenate([self.degrees[self.rows], ghost_degrees])
        return LocalGraph(
            self.rank, k, facts.n, self.n_interior, m, numbers, self.ghost_starts,
            degrees.astype(signed(facts.arcs)), arcs.get("out"), arcs.get("into"), self.sends,
        )  # fmt: skip


def _rows(
    pieces: Iterable[Dealt], own: IntVector, local: npt.NDArray[Any], repeats: Repeats
) -> Arcs:
    """Return the sorted rows of vertices `own`; empties `pieces` if it is a list."""
    xadj, kind, dtype = np.zeros(own.size + 1, np.int64), None, np.dtype(np.int32)
    for piece in pieces:
        kernels.count_rows(piece.own, local, xadj)
        dtype = piece.other.dtype
        kind = kind if piece.weights is None else piece.weights.dtype
    np.cumsum(xadj, out=xadj)
    size, fill = int(xadj[-1]), xadj[:-1].copy()
    adjncy = np.empty(size, dtype)
    adjwgt = None if kind is None else np.empty(size, kind)
    for _, mine, other, weights in _given_up(pieces):
        kernels.fill_rows(
            mine, other, NONE if weights is None else weights, local, fill, adjncy,
            NONE if adjwgt is None else adjwgt,
        )  # fmt: skip
    return _ascending(own, Arcs(xadj, adjncy, adjwgt), repeats)


def _given_up(pieces: Iterable[Dealt]) -> Iterator[Dealt]:
    """Yield all pieces; remove each from `pieces` if it is a list, to free memory."""
    if not isinstance(pieces, list):
        yield from pieces
        return
    pieces.reverse()
    while pieces:
        yield pieces.pop()


def _ascending(own: IntVector, arcs: Arcs, repeats: Repeats) -> Arcs:
    """Return the rows sorted and without repeated entries.

    A repeated entry gets its first weight, or the sum of its weights if `repeats` is "sum".
    """
    xadj, adjncy, adjwgt = arcs
    if graph_kernels.first_unsorted(xadj, adjncy) < 0:
        return arcs
    order = np.empty(0 if adjwgt is None else adjncy.size, np.int64)
    graph_kernels.sort_lists(xadj, adjncy, order)
    adjwgt = None if adjwgt is None else adjwgt[order]
    del order
    where = np.zeros(2, np.int64)
    if graph_kernels.check_duplicates(xadj, adjncy, where) == graph_kernels.OK:
        return Arcs(xadj, adjncy, adjwgt)
    if repeats == "refused":
        v, u = int(own[where[0]]), int(where[1])
        raise InputError(f"vertex {v} lists neighbour {u} more than once (counted from 0)")
    if repeats == "sum" and adjwgt is not None:
        starts = np.concatenate([[0], np.flatnonzero(_changes(xadj, adjncy)) + 1])
        adjwgt = np.add.reduceat(adjwgt, starts)
        adjncy, xadj = adjncy[starts], np.searchsorted(starts, xadj)
        return Arcs(xadj, adjncy, adjwgt)
    kept = np.empty(xadj.size, np.int64)
    size = adjncy.size - graph_kernels.drop_duplicates(xadj, adjncy, _or_none(adjwgt), kept)
    return Arcs(kept, adjncy[:size].copy(), None if adjwgt is None else adjwgt[:size].copy())


def _or_none(array: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
    return NONE if array is None else array


def _changes(xadj: npt.NDArray[Any], adjncy: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return (entries - 1,): whether the next entry differs from this one, or is in another row."""
    changes = adjncy[1:] != adjncy[:-1]
    inner = xadj[1:-1]
    changes[inner[(inner > 0) & (inner < adjncy.size)] - 1] = True
    return np.asarray(changes)


def _numbered(arcs: Arcs, rows: IntVector, local: LocalNumbers, facts: Facts) -> LocalArcs:
    """Return the rows in another order, with entries converted to local numbers."""
    xadj, adjncy, adjwgt = arcs
    if facts.weighted and adjwgt is None:  # of a device without arcs
        adjwgt = np.empty(0)
    if not facts.weighted:
        adjwgt = None
    elif adjwgt is not None and not facts.fractional:
        adjwgt = adjwgt.astype(np.int64, copy=False)
    elif adjwgt is not None:
        adjwgt = adjwgt.astype(np.float64, copy=False)
    offsets = np.zeros(rows.size + 1, unsigned(adjncy.size))
    ends = np.empty(adjncy.size, np.uint32)
    weights = None if adjwgt is None else np.empty(adjncy.size, adjwgt.dtype)
    kernels.number_rows(
        xadj, adjncy, _or_none(adjwgt), rows, local, offsets, ends, _or_none(weights)
    )
    return LocalArcs(offsets, ends, weights)


class Count(NamedTuple):
    """Figures of a device's part that are combined over all devices.

    arcs: number of arcs that leave its vertices; isolated: number of its vertices without arcs.
    whole: whether all weights are integers that a double represents exactly.
    """

    arcs: int
    isolated: int
    whole: bool


def count_of(one: Slice, n: int, repeats: Repeats) -> Count:
    """Return a device's Count, after `Slice.number`; n: number of vertices of the graph."""
    reached = np.zeros(n, np.bool_)
    for arcs in one.lists.values():
        reached[arcs.adjncy] = True
    joined, whole = (one.degrees > 0) | one.boundary | reached[one.own], True
    if repeats == "sum":
        values = [arcs.adjwgt for arcs in one.lists.values() if arcs.adjwgt is not None]
        whole = all(whole_where_all_are(value).dtype.kind == "i" for value in values)
    isolated = one.own.size - int(np.count_nonzero(joined))
    return Count(int(one.degrees.sum()), isolated, whole)


def facts_of(stream: ArcStream, tallies: Iterable[Tally], counts: Sequence[Count]) -> Facts:
    """Return the Facts of a graph once its file is read, and check them.

    tallies: of all pieces; counts: of all devices. Raises InputError if lists are not symmetric, or
    if counts differ from those that the file states; WholeNeeded if only now it is known that the
    file must be read as a whole.
    """
    seen = Tally.together(list(tallies))
    arcs, isolated = sum(one.arcs for one in counts), sum(one.isolated for one in counts)
    if seen.signature:
        raise InputError(
            "an edge is listed at only one of its ends, or with different weights at its ends",
            file=stream.source.path,
            hint=f"evener info {stream.source.path} names the edge.",
        )
    stream.finish(seen._replace(arcs=arcs, isolated=isolated))
    fractional = seen.fractional or stream.fractional
    if stream.repeats == "sum":
        fractional = not all(one.whole for one in counts)
    weighted = stream.weighted and not seen.unfit
    return Facts(stream.n, arcs, stream.directed, weighted, fractional, stream.vertices_weigh)
