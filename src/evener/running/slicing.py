"""Builds the parts of a graph on ranks that read its file together, each some of its pieces.

No rank holds the whole graph. A rank holds one piece of the file at a time, the arcs of its own
devices, and arrays over all vertices, such as the partition. Arcs are sent to the ranks that own
their ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise, repeat

import numpy as np

from evener.arrays import IntVector
from evener.io.graphs.streams import ArcStream, Tally
from evener.plans.partition import Partition
from evener.running.comm import Comm
from evener.running.distributing import PartSize, size_of
from evener.running.local_graphs import LocalGraph, Want
from evener.running.slices import Dealer, Dealt, Facts, Slice, count_of, facts_of


@dataclass(frozen=True, eq=False)
class RankParts:
    """The parts of a rank's devices; used instead of a graph, which no rank holds.

    parts: device -> its part. sizes: of the parts of all k devices. out_arcs (k,): number of arcs
    that leave the vertices of each device. notes: oddities of the file, and what was left out.
    """

    facts: Facts
    parts: dict[int, LocalGraph]
    sizes: list[PartSize]
    out_arcs: IntVector
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of vertices."""
        return self.facts.n

    @property
    def n_arcs(self) -> int:
        """Number of arcs of the graph, where an edge counts twice."""
        return self.facts.arcs

    @property
    def symmetric(self) -> bool:
        """Whether the graph is undirected."""
        return not self.facts.directed


Shares = Sequence[int]  # (ranks + 1,): the devices of rank p are shares[p] to shares[p + 1] - 1


def read_parts(
    stream: ArcStream, partition: Partition, comm: Comm, *, want: Want = "out"
) -> RankParts:
    """Return the parts of this rank's devices, equal to those of `distribute`.

    All ranks call this. Rank p of P has the devices d with d P // k = p. want: as for `distribute`.
    Raises InputError for faults in the file, WholeNeeded if it must be read as a whole.
    """
    k, size = partition.k, comm.size
    shares = [-(-p * k // size) for p in range(size + 1)]
    _survey(stream, comm)
    dealer = Dealer(stream, partition, want)
    got, tallies = _dealt(dealer, comm, shares)
    slices = {
        rank: Slice.of(rank, got.pop(rank), partition, stream.repeats, want)
        for rank in range(shares[comm.rank], shares[comm.rank + 1])
    }
    degrees = _numbered(slices, comm, shares)
    own = [count_of(one, stream.n, stream.repeats) for one in slices.values()]
    found = comm.allgather((tallies, own))
    counts = [count for _, of in found for count in of]
    facts = facts_of(stream, [tally for tally, _ in found], counts)
    parts = {rank: slices.pop(rank).finish(degrees[rank], facts, k) for rank in list(slices)}
    sizes = [size for of in comm.allgather([size_of(one) for one in parts.values()]) for size in of]
    return RankParts(
        facts, parts, sizes, np.array([one.arcs for one in counts]), tuple(stream.notes)
    )


def share_of(n_pieces: int, rank: int, size: int) -> range:
    """Return the range of consecutive pieces that a rank reads."""
    return range(n_pieces * rank // size, n_pieces * (rank + 1) // size)


def _survey(stream: ArcStream, comm: Comm) -> None:
    """Determine on all ranks how many rows each piece has."""
    own = [stream.survey(piece) for piece in share_of(stream.n_pieces, comm.rank, comm.size)]
    stream.surveyed(list(chain(*comm.allgather(own))))


def _dealt(
    dealer: Dealer, comm: Comm, shares: Shares
) -> tuple[dict[int, dict[str, list[Dealt]]], Tally]:
    """Return the arcs of this rank's devices by list, in the file's order, and the tally.

    In each round, every rank reads a piece, and sends to each other rank the arcs of that rank's
    devices.
    """
    own = share_of(dealer.stream.n_pieces, comm.rank, comm.size)
    rounds = max(len(share_of(dealer.stream.n_pieces, p, comm.size)) for p in range(comm.size))
    tallies: list[Tally] = []
    nothing: dict[str, Dealt] = {}
    # By source rank: a rank's pieces are consecutive, those of a round are not.
    got: list[list[dict[str, Dealt]]] = [[] for _ in range(comm.size)]
    for dealt in islice(chain(_pieces(dealer, own, tallies), repeat(nothing)), rounds):
        parts = [
            {name: of.of(first, last) for name, of in dealt.items()}
            for first, last in pairwise(shares)
        ]
        for source, part in enumerate(comm.exchange(parts)):
            got[source].append(part)
    return _by_device(got, dealer.lists, shares[comm.rank], shares[comm.rank + 1]), Tally.together(
        tallies
    )


def _pieces(dealer: Dealer, own: range, tallies: list[Tally]) -> Iterator[dict[str, Dealt]]:
    """Yield the arcs of each piece, sorted by device; append the piece's tally to `tallies`."""
    for piece, seen in dealer.stream.read(own.start, own.stop):
        dealt, found = dealer.deal(piece, seen)
        tallies.append(found)
        yield dealt


def _by_device(
    got: list[list[dict[str, Dealt]]], lists: Sequence[str], first: int, last: int
) -> dict[int, dict[str, list[Dealt]]]:
    """Return the arcs received from all ranks, by device and list."""
    return {
        rank: {
            name: [one[name].of(rank - first, rank - first + 1) for of in got for one in of if one]
            for name in lists
        }
        for rank in range(first, last)
    }


def _numbered(slices: dict[int, Slice], comm: Comm, shares: Shares) -> dict[int, IntVector]:
    """Number the vertices of all devices; return the degrees of the ghosts of each device here."""
    spans = list(pairwise(shares))
    asked = comm.exchange(
        [
            {(rank, q): one.ghosts_of(q) for rank, one in slices.items() for q in range(*span)}
            for span in spans
        ]
    )
    wanted: dict[int, dict[int, IntVector]] = {rank: {} for rank in slices}
    for of in asked:
        for (rank, q), ghosts in of.items():
            wanted[q][rank] = ghosts
    answers = {q: one.number(wanted[q]) for q, one in slices.items()}
    told = comm.exchange(
        [
            {(rank, q): degrees for q, of in answers.items() for rank, degrees in of.items()
             if rank in range(*span)}
            for span in spans
        ]
    )  # fmt: skip
    by: dict[int, dict[int, IntVector]] = {rank: {} for rank in slices}
    for one in told:
        for (rank, q), degrees in one.items():
            by[rank][q] = degrees
    none = np.empty(0, np.int64)
    return {rank: np.concatenate([none, *(of[q] for q in sorted(of))]) for rank, of in by.items()}
