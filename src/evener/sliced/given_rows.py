"""GivenRows: rows of a graph as the ranks of a program pass them, checked for consistency."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, IntVector, as_array, as_integers, as_weights
from evener.errors import InputError, UsageError
from evener.graphs.graph_checks import check_offsets, coordinates, narrow, same_length
from evener.running.comm import Comm
from evener.sliced.gathering import agreed
from evener.wording import plural

NO_NUMBERS, NO_WEIGHTS, NO_POINTS = np.empty(0, np.int64), np.empty(0), np.empty((0, 0))
MOST = 2**31 - 1  # vertices of a graph: clusters of all and vertices of a rank are int32


class Passed(NamedTuple):
    """The arguments that a program passes on one rank, as arrays of any types."""

    xadj: npt.ArrayLike
    adjncy: npt.ArrayLike
    vtxdist: npt.ArrayLike | None
    vwgt: npt.ArrayLike | None
    adjwgt: npt.ArrayLike | None
    coords: npt.ArrayLike | None
    numbers: npt.ArrayLike | None


class OwnRows(NamedTuple):
    """The rows of a rank's slices; `first` is the number of the first row.

    xadj (n_own + 1,) int64, adjncy (a,) int32 or int64: global numbers, ascending in every row.
    vwgt (n_own,), adjwgt (a,), coords (n_own, d): empty if the graph has none.
    """

    first: int
    xadj: IntVector
    adjncy: IntArray
    vwgt: FloatArray
    adjwgt: FloatArray
    coords: FloatArray


@dataclass(frozen=True, eq=False)
class GivenRows:
    """One rank's rows: row i has neighbours adjncy[xadj[i]:xadj[i + 1]], numbers below n.

    first: number of the first row if rows are consecutive vertices; else numbers (rows,) has the
    number of each, otherwise it is (0,). vwgt (rows,), adjwgt (arcs,): empty if all are 1. coords
    (rows, d): (0, 0) if there are none.
    """

    xadj: IntVector
    adjncy: IntArray
    vwgt: FloatArray
    adjwgt: FloatArray
    coords: FloatArray
    numbers: IntVector
    n: int = 0
    first: int = 0

    @classmethod
    def of(cls, passed: Passed) -> Self:
        """Convert passed arrays, except adjncy, to this class's types; InputError if invalid."""
        xadj = as_integers(passed.xadj, "xadj")
        adjncy = as_array(passed.adjncy, "adjncy")
        check_offsets(xadj, adjncy.size)
        rows = xadj.size - 1
        points, numbers = NO_POINTS, NO_NUMBERS
        if passed.coords is not None and rows:
            points = coordinates(passed.coords, rows)
        if passed.numbers is not None:
            numbers = as_integers(passed.numbers, "numbers")
            same_length(numbers, rows, "numbers", "rows")
        vwgt = _weights(passed.vwgt, "vwgt", rows, "rows")
        adjwgt = _weights(passed.adjwgt, "adjwgt", adjncy.size, "entries of adjncy")
        return cls(xadj, adjncy, vwgt, adjwgt, points, numbers)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.xadj.size - 1)


def given_rows(comm: Comm, passed: Passed) -> GivenRows:
    """Return this rank's rows, after comparing the arguments of all ranks. Collective.

    Raises InputError on all ranks if an array is invalid, or if the arguments of two ranks
    contradict each other.
    """
    own = agreed(comm, lambda: GivenRows.of(passed))
    facts = comm.allgather(_facts(own, passed))
    agreed(comm, lambda: _compare(facts))
    dimension = max(one.dimension for one in facts)
    ends = np.concatenate([[0], np.cumsum([one.rows for one in facts])])
    n = int(ends[-1])
    agreed(comm, lambda: _refuse_too_many(n))
    adjncy = agreed(comm, lambda: _placed(own, passed, facts, n, comm.rank))
    return replace(
        own,
        adjncy=adjncy,
        vwgt=own.vwgt if any(one.weigh for one in facts) else NO_WEIGHTS,
        adjwgt=own.adjwgt if any(one.edges_weigh for one in facts) else NO_WEIGHTS,
        coords=own.coords.reshape(own.rows, dimension) if dimension else NO_POINTS,
        n=n,
        first=int(ends[comm.rank]),
    )


def _refuse_too_many(n: int) -> None:
    if n > MOST:
        raise InputError(f"{n:,} vertices are too many: a graph has at most {MOST:,}")


class _Facts(NamedTuple):
    """What each rank tells the others about its rows.

    has: which of numbers, vwgt, adjwgt and coords were passed; None for arrays of length zero,
    which may or may not be meant as passed. vtxdist: its digest, 0 if it was not passed. weigh,
    edges_weigh: whether some weight is not 1.
    """

    rows: int
    has: tuple[bool | None, ...]
    vtxdist: int
    dimension: int
    weigh: bool
    edges_weigh: bool


NAMES = ("numbers", "vwgt", "adjwgt", "coords")


def _facts(own: GivenRows, passed: Passed) -> _Facts:
    has = tuple(
        getattr(passed, name) is not None if length else None
        for name, length in zip(NAMES, (own.rows, own.rows, own.adjncy.size, own.rows), strict=True)
    )
    digest = 0
    if passed.vtxdist is not None:
        digest = 1 + zlib.crc32(repr(np.asarray(passed.vtxdist).tolist()).encode())
    weigh, edges_weigh = (bool((one != 1).any()) for one in (own.vwgt, own.adjwgt))
    return _Facts(own.rows, has, digest, own.coords.shape[1], weigh, edges_weigh)


def _compare(facts: Sequence[_Facts]) -> None:
    """Raise InputError if ranks pass different kinds of arrays."""
    for place, name in enumerate(NAMES):
        by = {one.has[place]: rank for rank, one in reversed(list(enumerate(facts)))}
        if True in by and False in by:
            raise InputError(
                f"rank {by[True]} passes {name}, but rank {by[False]} does not",
                hint="All ranks with vertices must pass it, or none.",
            )
    for rank, one in enumerate(facts):
        if one.vtxdist != facts[0].vtxdist:
            raise InputError(f"rank {rank}: vtxdist differs from rank 0's")
        known = [other.dimension for other in facts[:rank] if other.rows]
        if one.rows and known and one.dimension != known[0]:
            raise InputError(
                f"rank {rank}: coords has {one.dimension} columns, but on earlier ranks {known[0]}"
            )
    if facts[0].vtxdist and any(True in one.has[:1] for one in facts):
        raise UsageError("pass either vtxdist or numbers, not both")


def _placed(own: GivenRows, passed: Passed, facts: Sequence[_Facts], n: int, rank: int) -> IntArray:
    """Check vtxdist and numbers; return adjncy in the type common to all ranks."""
    ends = np.concatenate([[0], np.cumsum([one.rows for one in facts])])
    if passed.vtxdist is not None:
        vtxdist = as_integers(passed.vtxdist, "vtxdist")
        if vtxdist.size != len(facts) + 1:
            raise InputError(
                f"vtxdist has {plural(vtxdist.size, 'entry', 'entries')}, not {len(facts) + 1}: "
                f"it must contain the first vertex of each of {plural(len(facts), 'rank')}, and "
                "the end"
            )
        wrong = np.flatnonzero(np.diff(vtxdist) != np.diff(ends))
        if wrong.size:
            first = int(wrong[0])
            raise InputError(
                f"rank {first}: xadj has {plural(facts[first].rows, 'row')}, but vtxdist gives "
                f"the rank vertices {vtxdist[first]} to {vtxdist[first + 1]} - 1",
                hint="Ranges of ranks must not overlap or leave gaps: rank r has vertices "
                "vtxdist[r] to vtxdist[r + 1] - 1.",
            )
        if vtxdist[0] != 0:
            raise InputError(f"vtxdist must begin with 0, not {vtxdist[0]}")
    wrong = np.flatnonzero((own.numbers < 0) | (own.numbers >= n))
    if wrong.size:
        raise InputError(
            f"rank {rank}: row {wrong[0]} is for vertex {own.numbers[wrong[0]]}, which does not "
            f"exist: all ranks have {n:,} vertices"
        )
    return _narrow(own, n, int(ends[rank]), rank)


def numbers_of(numbers: npt.ArrayLike, n: int) -> IntVector:
    """Return the vertices (rows,) of a rank's rows; InputError unless they are integers below n."""
    own = as_integers(numbers, "numbers")
    wrong = np.flatnonzero((own < 0) | (own >= n))
    if wrong.size:
        raise InputError(
            f"row {wrong[0]} is for vertex {own[wrong[0]]}, which does not exist: all ranks have "
            f"{n:,} vertices"
        )
    return own


def _narrow(own: GivenRows, n: int, first: int, rank: int) -> IntArray:
    """Return adjncy as int32, or as int64 for 2^31 vertices or more."""
    try:
        return narrow(own.adjncy, n)
    except InputError:
        given = own.adjncy
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise
        place = int(np.argmax((given < 0) | (given >= n)))
        row = int(np.searchsorted(own.xadj, place, side="right")) - 1
        vertex = own.numbers[row] if own.numbers.size else first + row
        raise no_vertex(rank, int(vertex), int(given[place]), n) from None


def no_vertex(rank: int, vertex: int, entry: int, n: int) -> InputError:
    """Return the error for an adjacency entry of a rank that is not one of the n vertices."""
    return InputError(
        f"rank {rank}: vertex {vertex} has neighbour {entry}, which does not exist: all ranks "
        f"have {n:,} vertices"
    )


def _weights(values: Any, name: str, length: int, what: str) -> FloatArray:
    """Return weights as float64, ones if none were passed; InputError for invalid weights."""
    if values is None or not length:
        return NO_WEIGHTS
    weights = as_weights(values, name)
    same_length(weights, length, name, what)
    return weights.astype(np.float64, copy=False)
