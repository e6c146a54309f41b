"""DistributedGraph: a graph whose rows lie on the ranks of an MPI program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, IntVector
from evener.errors import InputError, UsageError
from evener.graphs import graph_kernels
from evener.graphs.graph_checks import index_type
from evener.graphs.lists import BYTES_PER_EDGE, BYTES_PER_VERTEX
from evener.io.csr.csr_file import CsrFile
from evener.io.csr.layout import MAGIC
from evener.io.read import read
from evener.running.comm import Comm
from evener.running.counting import CountedComm
from evener.running.mpi_comm import MpiComm, comm_of
from evener.sliced import distributed_kernels as kernels
from evener.sliced.dealing import Dealing, bounds_of
from evener.sliced.gathering import Scalar, Values, agreed, exchanged, pass_on
from evener.sliced.given_rows import GivenRows, OwnRows, Passed, given_rows, no_vertex, numbers_of
from evener.sliced.rows import (
    N_SLICES,
    Changed,
    Known,
    SliceRows,
    Which,
    share_of,
    slice_ends,
)

PATIENCE = 6 * 3600.0  # seconds that a rank waits for another: some work is done only by rank 0


class DistributedGraph:
    """A SlicedGraph whose rows are distributed over the ranks of a program; undirected.

    Made by `from_local` or `from_file`. Each rank holds the rows of its slices. It numbers its own
    vertices from 0; its ghosts, which are neighbours that other ranks hold, have the next numbers.

    n, arcs: number of vertices and of adjacency entries of the graph, two for each edge. n_own:
    number of own vertices; n_local: of own vertices and ghosts. first: global number of the first
    own vertex. ghosts: global numbers of the ghosts, ascending. dimension: of the coordinates, or
    0. edges_weigh: whether some edge has a weight other than 1. comm: the ranks. bytes_per_vertex,
    bytes_per_edge [B]: see Graph; may be set. notes, inputs: about the file, at rank 0; see
    Reading.
    """

    def __init__(self, comm: CountedComm, n: int, rows: OwnRows, way: Sequence[Dealing]) -> None:
        self.comm: Comm = comm
        self._counted, self._way = comm, way
        self.n, self.first = n, rows.first
        self.bytes_per_vertex, self.bytes_per_edge = BYTES_PER_VERTEX, BYTES_PER_EDGE
        self.notes: tuple[str, ...] = ()
        self.inputs: Mapping[str, str] = {}
        self.n_own = int(rows.xadj.size - 1)
        self.dimension = int(rows.coords.shape[1])
        self._xadj, self._vwgt, self._coords = rows.xadj, rows.vwgt, rows.coords
        self._adjwgt = rows.adjwgt
        totals = comm.allgather((int(rows.adjncy.size), bool((rows.adjwgt != 1).any())))
        self.arcs = sum(arcs for arcs, _ in totals)
        self.edges_weigh = any(weigh for _, weigh in totals)
        self.ghosts = _ghosts(rows.adjncy, rows.first, self.n_own)
        self.n_local = self.n_own + int(self.ghosts.size)
        self._adjncy = _local(rows, self.n_own, self.ghosts, n)
        bounds = bounds_of(comm.size, n)
        self._taken = np.diff(np.searchsorted(self.ghosts, bounds))
        given, self._given = exchanged(comm, self.ghosts, self._taken)
        self._gives = (given - rows.first).astype(np.int32)

    @classmethod
    def from_local(
        cls,
        comm: Any,
        xadj: npt.ArrayLike,
        adjncy: npt.ArrayLike,
        *,
        vtxdist: npt.ArrayLike | None = None,
        vwgt: npt.ArrayLike | None = None,
        adjwgt: npt.ArrayLike | None = None,
        coords: npt.ArrayLike | None = None,
        numbers: npt.ArrayLike | None = None,
    ) -> DistributedGraph:
        """Return a graph of which each rank passes some rows, in ParMETIS's format. Collective.

        comm: an mpi4py communicator, which is duplicated once, or a Comm. xadj (rows + 1,), adjncy:
        the neighbours of this rank's row i are adjncy[xadj[i]:xadj[i + 1]], global numbers from 0;
        each edge is listed in the rows of both ends. vtxdist (ranks + 1,): rank r has the vertices
        vtxdist[r] to vtxdist[r + 1] - 1; None: ranks hold consecutive vertices, in rank order.
        numbers (rows,): global numbers of this rank's rows, if these are not consecutive. vwgt
        (rows,), adjwgt (as adjncy), coords (rows, 2 or 3): on all ranks that have rows, or on none.

        Rows are sent to the ranks that hold their slices; `back` sends results to the ranks that
        passed the rows. Raises InputError, on all ranks, for slices that overlap or leave gaps,
        edges listed at only one end or with two different weights, loops, repeated edges, vertices
        out of range, and arrays of wrong lengths.
        """
        passed = Passed(xadj, adjncy, vtxdist, vwgt, adjwgt, coords, numbers)
        with _counted(comm) as counted:
            return cls.of_rows(counted, passed)

    @classmethod
    def from_file(cls, comm: Any, path: str | Path, **options: Any) -> DistributedGraph:
        """Return the graph in a file, of which each rank reads its rows. Collective.

        Of a binary CSR file each rank reads a range; a file in another format is read as a whole at
        rank 0, with the options of `evener.read`. comm: see `from_local`. Raises InputError on all
        ranks if the file is missing, damaged, or not a graph.
        """
        with _counted(comm) as counted:
            found = rows_of_file(counted, path, options)
            graph = cls.of_rows(counted, found.passed)
        graph.bytes_per_vertex, graph.bytes_per_edge = found.bytes_per_vertex, found.bytes_per_edge
        graph.notes, graph.inputs = found.notes, found.inputs
        return graph

    @classmethod
    def of_rows(cls, comm: CountedComm, passed: Passed) -> DistributedGraph:
        """Return the graph of the rows that each rank passes; see `from_local`."""
        given = given_rows(comm, passed)
        dealing = _dealing(comm, given)
        rows = _dealt(dealing, given)
        rows = agreed(comm, lambda: check_entries(rows, given.n, dealing))
        check_symmetric(comm, rows, given.n, dealing)
        return cls(comm, given.n, rows, (dealing,))

    def renumbered(self, numbers: IntArray) -> DistributedGraph:
        """Return the graph with other numbers, so with other vertices in its slices. Collective.

        numbers (n_local,): the new number of each own vertex and ghost, a permutation of all n.
        """
        numbers = numbers.astype(index_type(self.n), copy=False)
        given = GivenRows(
            self._xadj,
            numbers[self._adjncy],
            self._vwgt,
            self._adjwgt,
            self._coords,
            numbers[: self.n_own].astype(np.int64),
            self.n,
        )
        dealing = Dealing.of_numbers(self._counted, given.numbers, self.n)
        rows = check_entries(_dealt(dealing, given), self.n, dealing)
        found = DistributedGraph(self._counted, self.n, rows, (*self._way, dealing))
        found.bytes_per_vertex, found.bytes_per_edge = self.bytes_per_vertex, self.bytes_per_edge
        return found

    def held_as(self, numbers: npt.ArrayLike) -> DistributedGraph:
        """Return the same graph for a calling program that has redistributed its rows. Collective.

        numbers (rows,): the vertices whose rows this rank's caller holds now, as numbered in
        `from_local`. Raises InputError on all ranks unless each vertex is held by one rank.
        """
        own = agreed(self.comm, lambda: numbers_of(numbers, self.n))
        dealing = _checked_dealing(self._counted, own, self.n)
        found = copy(self)
        found._way = (dealing, *self._way[1:])  # noqa: SLF001 - its own class
        return found

    @property
    def rows_given(self) -> int:
        """Number of rows that the calling program holds on this rank."""
        return int(self._way[0].sent.sum())

    @property
    def ends(self) -> IntVector:
        """The first vertex of every slice, then n (N_SLICES + 1,)."""
        return slice_ends(self.n)

    @property
    def own_slices(self) -> range:
        """The slices of this rank."""
        return share_of(self.comm.rank, self.comm.size)

    @property
    def sent(self) -> int:
        """Bytes of arrays and numbers that this rank has sent to others."""
        return self._counted.sent

    def rows(self, i: int) -> SliceRows:
        """Return the rows of slice i, an own slice, in local numbers."""
        first, last = self._span(i)
        offsets = self._xadj[first : last + 1]
        begin, end = int(offsets[0]), int(offsets[-1])
        return SliceRows(
            first,
            offsets - begin,
            self._adjncy[begin:end],
            self._adjwgt[begin:end],
            self._vwgt[first:last],
        )

    def pieces(self, i: int) -> Iterator[SliceRows]:
        """Yield all rows of slice i, an own slice, at once."""
        yield self.rows(i)

    def weights(self, i: int) -> FloatArray:
        """Return the weights (r,) of the vertices of slice i, or (0,) if all are 1."""
        first, last = self._span(i)
        return self._vwgt[first:last]

    def points(self, i: int) -> FloatArray:
        """Return the coordinates (r, dimension) of the vertices of slice i."""
        first, last = self._span(i)
        return self._coords[first:last]

    def fill(self, values: npt.NDArray[np.generic], which: Which = None) -> None:
        """Set values[n_own:] of ghosts to their owners' values; values (n_local, ...).

        which: only values of these slices, or these vertices, are sent; other ghosts are unchanged.
        """
        gives, given, taken = self._gives, self._given, self._taken
        ghosts = values[self.n_own :]
        chosen: Any = slice(None)
        if which is not None:
            told, chosen = self._chosen(which)
            given, taken = _picked(told, given), _picked(chosen, taken)
            gives, ghosts = gives[told], ghosts[chosen]
        self._pass(values[gives], given, ghosts, taken)
        if which is not None:
            values[self.n_own :][chosen] = ghosts

    def _pass(
        self,
        out: npt.NDArray[np.generic],
        given: IntVector,
        into: npt.NDArray[np.generic],
        taken: IntVector,
    ) -> None:
        """Send given[r] of the values to each rank r, and receive taken[r] values from it."""
        ends, free = (np.concatenate([[0], np.cumsum(c)]) for c in (given, taken))
        pass_on(
            self.comm,
            {r: out[ends[r] : ends[r + 1]] for r in range(self.comm.size)},
            {r: into[free[r] : free[r + 1]] for r in range(self.comm.size)},
        )

    def _chosen(
        self, which: Sequence[int] | Known | Changed
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Return which of the shared values are to be sent, and which ghosts receive one."""
        if isinstance(which, Known):
            return which.chosen[self._gives], which.chosen[self.n_own :]
        if isinstance(which, Changed):
            return self._changed(which)
        return self._in(which, self._gives + self.first), self._in(which, self.ghosts)

    def _changed(self, which: Changed) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Like `_chosen`, but exchange, in one bit per value, which values will be sent."""
        told, given, taken = which.own[self._gives], self._given, self._taken
        may: Any = slice(None)
        can: Any = slice(None)
        if which.slices is not None:
            may, can = (
                self._in(which.slices, of) for of in (self._gives + self.first, self.ghosts)
            )
            given, taken = _picked(may, given), _picked(can, taken)
            told = told & may
        bits = [np.packbits(one) for one in np.split(told[may], np.cumsum(given)[:-1])]
        n_bytes = -(-taken // 8)
        came = np.empty(int(n_bytes.sum()), np.uint8)
        self._pass(np.concatenate(bits), np.array([one.size for one in bits]), came, n_bytes)
        pieces = np.split(came, np.cumsum(n_bytes)[:-1])
        counts = taken.tolist()
        found = [np.unpackbits(one, count=n) for one, n in zip(pieces, counts, strict=True)]
        chosen = np.zeros(self.ghosts.size, np.bool_)
        chosen[can] = np.concatenate(found).view(np.bool_)
        return told, chosen

    def _in(self, slices: Sequence[int], vertices: IntArray) -> npt.NDArray[np.bool_]:
        """Return whether each vertex, by its global number, is in one of the slices."""
        marked = np.zeros(N_SLICES, np.bool_)
        marked[list(slices)] = True
        found: npt.NDArray[np.bool_] = marked[np.searchsorted(self.ends, vertices, "right") - 1]
        return found

    @contextmanager
    def failing_together(self) -> Iterator[None]:
        """Context manager: if this rank raises, raise the same error on ranks that wait for it."""
        with _told(self._counted):
            yield

    def back(self, values: Values[Scalar]) -> Values[Scalar]:
        """Return values to the ranks that passed the rows, in their order. Collective.

        values (n_own, ...): of the vertices of this rank's slices.
        """
        for dealing in reversed(self._way):
            values = dealing.back(values)
        return values

    def there(self, values: Values[Scalar]) -> Values[Scalar]:
        """Send values of the calling program's rows.

        Returns the values (n_own, ...) of own vertices.
        """
        for dealing in self._way:
            values = dealing.there(values)
        return values

    def _span(self, i: int) -> tuple[int, int]:
        ends = self.ends
        return int(ends[i]) - self.first, int(ends[i + 1]) - self.first


@contextmanager
def _told(comm: CountedComm) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        comm.fail(error)
        raise


@contextmanager
def _counted(comm: Any) -> Iterator[CountedComm]:
    """Context manager: yield a communicator on which one rank's error ends other ranks' waits."""
    known = comm_of(comm)
    if isinstance(known, MpiComm):
        known.waits.timeout = max(known.waits.timeout, PATIENCE)
    counted = CountedComm(known)
    with _told(counted):
        yield counted


def _dealing(comm: CountedComm, given: GivenRows) -> Dealing:
    """Return the Dealing of the given rows; InputError if a vertex has several holders, or none."""
    numbered = any(comm.allgather(bool(given.numbers.size)))
    if not numbered:
        return Dealing.of_ranges(comm, given.first, given.rows, given.n)
    return _checked_dealing(comm, given.numbers, given.n)


def _checked_dealing(comm: CountedComm, numbers: IntVector, n: int) -> Dealing:
    """Return the Dealing for these vertices; InputError on all ranks if a vertex has no holder."""
    dealing = Dealing.of_numbers(comm, numbers, n)
    first, last = bounds_of(comm.size, n)[comm.rank : comm.rank + 2].tolist()
    agreed(comm, lambda: dealing.check(last - first, first))
    return dealing


def _dealt(dealing: Dealing, given: GivenRows) -> OwnRows:
    """Return the rows of this rank's slices, with global numbers, entries in the given order."""
    weighted = dealing.comm.allgather((given.vwgt.size > 0, given.adjwgt.size > 0))
    vertices_weigh, edges_weigh = (any(column) for column in zip(*weighted, strict=True))
    lists: list[npt.NDArray[Any]] = [given.adjncy] + [given.adjwgt] * edges_weigh
    xadj, entries = dealing.rows_there(given.xadj, lists)
    dimension = given.coords.shape[1]
    return OwnRows(
        int(bounds_of(dealing.comm.size, given.n)[dealing.comm.rank]),
        xadj,
        entries[0],
        dealing.there(given.vwgt) if vertices_weigh else given.vwgt,
        entries[1] if edges_weigh else given.adjwgt,
        dealing.there(given.coords) if dimension else np.empty((xadj.size - 1, 0)),
    )


def _picked(which: npt.NDArray[np.bool_], counts: IntVector) -> IntVector:
    """Count the True flags of each rank; counts[r] (ranks,) consecutive flags are rank r's."""
    pieces = np.split(which, np.cumsum(counts)[:-1])
    return np.array([np.count_nonzero(piece) for piece in pieces], np.int64)


def _ghosts(adjncy: IntArray, first: int, n_own: int) -> IntArray:
    """Return the distinct numbers of other ranks' vertices among the entries, ascending."""
    none = np.empty(0, adjncy.dtype)
    found = np.empty(kernels.outside(adjncy, first, first + n_own, none), adjncy.dtype)
    kernels.outside(adjncy, first, first + n_own, found)
    found.sort()  # np.unique takes a hundred times as long
    is_new = np.ones(found.size, np.bool_)
    np.not_equal(found[1:], found[:-1], out=is_new[1:])
    return found[is_new]


def _local(rows: OwnRows, n_own: int, ghosts: IntArray, n: int) -> npt.NDArray[np.int32]:
    """Return the entries with global numbers replaced by local numbers."""
    shift = max(n // max(int(ghosts.size), 1), 1).bit_length()  # about two ghosts between starts
    starts = np.searchsorted(ghosts, np.arange(((n - 1) >> shift) + 2) << shift)
    local = np.empty(rows.adjncy.size, np.int32)
    kernels.localise(rows.adjncy, rows.first, n_own, ghosts, starts.astype(np.int64), shift, local)
    return local


OF_RANGES = {"format", "bytes_per_vertex", "bytes_per_edge"}  # options that ranges of rows take
NO_ROWS = Passed([0], np.empty(0, np.int32), None, None, None, None, None)


@dataclass(frozen=True, eq=False)
class ReadRows:
    """The rows of a file that a rank has read, and the graph's bytes per vertex and per edge [B].

    If the file was read as a whole: notes: oddities of the file; inputs: file name -> SHA-256.
    """

    passed: Passed
    bytes_per_vertex: float
    bytes_per_edge: float
    notes: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)


def rows_of_file(comm: Comm, path: str | Path, options: Mapping[str, Any]) -> ReadRows:
    """Return this rank's rows of the graph in a file. Collective.

    options: arguments of `evener.read`, the same on all ranks. Raises InputError on all ranks if
    the file cannot be read.
    """
    is_binary = all(comm.allgather(agreed(comm, lambda: _is_binary(path))))
    if is_binary and set(options) <= OF_RANGES and options.get("format") in (None, "ecsr"):
        return agreed(comm, lambda: _own_range(path, comm, options))
    # Whoever reads it, the fault is the file's: no rank is named.
    found = agreed(comm, lambda: _whole(path, options) if comm.rank == 0 else None, named=False)
    if is_binary and found is not None:
        given = ", ".join(sorted(set(options) - OF_RANGES)) or "format"
        note = f"{Path(path).name} was read on rank 0 as a whole, because of {given}"
        found = replace(found, notes=(*found.notes, note))
    sizes = comm.bcast(None if found is None else (found.bytes_per_vertex, found.bytes_per_edge))
    assert sizes is not None
    return ReadRows(NO_ROWS, *sizes) if found is None else found


def _is_binary(path: str | Path) -> bool:
    try:
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from error


def _own_range(path: str | Path, comm: Comm, options: Mapping[str, Any]) -> ReadRows:
    with CsrFile(path) as file:
        bounds = bounds_of(comm.size, file.n)
        first, last = bounds[comm.rank : comm.rank + 2].tolist()
        rows = file.rows(first, last)
        points = file.points(first, last) if file.dimension else None
        passed = Passed(rows.xadj, rows.adjncy, bounds, rows.vwgt, rows.adjwgt, points, None)
        vertex, entry = options.get("bytes_per_vertex"), options.get("bytes_per_edge")
        return ReadRows(
            passed,
            file.layout.bytes_per_vertex if vertex is None else float(vertex),
            file.layout.bytes_per_edge if entry is None else float(entry),
        )


def _whole(path: str | Path, options: Mapping[str, Any]) -> ReadRows:
    reading = read(path, **options)
    graph = reading.undirected
    if graph.together is not None:
        raise UsageError(
            "groups of vertices that share a block are not supported on ranks",
            hint="Plan in one process, without mpiexec.",
        )
    passed = Passed(graph.xadj, graph.adjncy, None, graph.vwgt, graph.adjwgt, graph.coords, None)
    sizes = graph.bytes_per_vertex, graph.bytes_per_edge
    return ReadRows(passed, *sizes, tuple(reading.notes), dict(reading.inputs))


def check_entries(rows: OwnRows, n: int, dealing: Dealing) -> OwnRows:
    """Return the rows in ascending order. Raises InputError for loops, repeats, wrong numbers.

    dealing: used to name the rank that passed a wrong row.
    """
    where = np.zeros(2, np.int64)
    found = kernels.check_rows(rows.xadj, rows.adjncy, rows.first, n, where)
    if found == kernels.UNSORTED:
        rows = _sorted(rows)
        found = kernels.check_rows(rows.xadj, rows.adjncy, rows.first, n, where)
    if found == kernels.FINE:
        return rows
    row, entry = where.tolist()
    rank, vertex = dealing.holder_of(row), rows.first + row
    if found == kernels.OUT_OF_RANGE:
        raise no_vertex(rank, vertex, entry, n)
    if found == kernels.LOOP:
        raise InputError(f"rank {rank}: vertex {vertex} is its own neighbour")
    raise InputError(f"rank {rank}: vertex {vertex} has neighbour {entry} more than once")


def _sorted(rows: OwnRows) -> OwnRows:
    adjncy = rows.adjncy.copy()  # it may be the caller's
    order = np.empty(adjncy.size if rows.adjwgt.size else 0, np.int64)
    graph_kernels.sort_lists(rows.xadj, adjncy, order)
    return rows._replace(adjncy=adjncy, adjwgt=rows.adjwgt[order] if order.size else rows.adjwgt)


def check_symmetric(comm: Comm, rows: OwnRows, n: int, dealing: Dealing) -> None:
    """Raise InputError on all ranks unless every edge is listed at both ends, with one weight.

    Compares a sum over all arcs that is 0 for symmetric graphs; only if it differs is the edge
    searched for.
    """
    bits = (rows.adjwgt + 0.0).view(np.uint64)  # -0.0 is 0.0
    own = int(kernels.signature(rows.xadj, rows.adjncy, bits, rows.first))
    if sum(comm.allgather(own)) % 2**64:
        _name_asymmetric(comm, rows, n, dealing)


def _name_asymmetric(comm: Comm, rows: OwnRows, n: int, dealing: Dealing) -> NoReturn:
    """Raise InputError that names an asymmetric edge; slice by slice, to send few arcs at once."""
    ends, bounds = slice_ends(n), bounds_of(comm.size, n)
    error = None
    for i in range(N_SLICES):
        if ends[i] == ends[i + 1]:
            continue
        owner = int(np.searchsorted(bounds, ends[i], side="right")) - 1
        inside = np.flatnonzero((rows.adjncy >= ends[i]) & (rows.adjncy < ends[i + 1]))
        heads = rows.first + np.searchsorted(rows.xadj, inside, side="right") - 1
        counts = np.zeros(comm.size, np.int64)
        counts[owner] = inside.size
        weights = rows.adjwgt[inside] if rows.adjwgt.size else np.ones(inside.size)
        seen = [
            exchanged(comm, array, counts)[0]
            for array in (rows.adjncy[inside].astype(np.int64), heads.astype(np.int64), weights)
        ]
        if comm.rank == owner:
            error = _first_difference(rows, int(ends[i]), int(ends[i + 1]), seen, dealing)
        error = comm.bcast(error, owner)
        if error is not None:
            break
    found = InputError(
        error or "an edge is listed at only one of its ends, or with two weights",
        hint="List each edge in the rows of both its ends, with the same weight.",
    )
    found.is_everywhere = True
    raise found


def _first_difference(
    rows: OwnRows, first: int, last: int, seen: list[npt.NDArray[Any]], dealing: Dealing
) -> str | None:
    """Return the first error in rows first to last - 1 of the graph, or None.

    seen: the arcs of all ranks that end in these rows: the ends in the rows, the other ends,
    weights.
    """
    tails, heads, weights = _arcs(rows, first, last)
    all_tails = np.concatenate([tails, seen[0]])
    all_heads = np.concatenate([heads, seen[1]])
    all_weights = np.concatenate([weights, seen[2]])
    order = np.lexsort((np.arange(all_tails.size), all_heads, all_tails))
    t, h, w = all_tails[order], all_heads[order], all_weights[order]
    ours = order < tails.size
    paired = (t[1:] == t[:-1]) & (h[1:] == h[:-1])
    alone = ~(np.append(paired, False) | np.insert(paired, 0, False)) if t.size else paired
    differ = np.append(paired & (w[1:] != w[:-1]), False)[: t.size]
    wrong = np.flatnonzero(alone | differ)
    if not wrong.size:
        return None
    at = int(wrong[0])
    u, v = int(t[at]), int(h[at])
    rank = dealing.holder_of(u - rows.first)
    if differ[at]:
        return (
            f"rank {rank}: the edge between vertices {u} and {v} weighs {w[at]:g} in the row of "
            f"{u} but {w[at + 1]:g} in the row of {v}"
        )
    if ours[at]:
        return (
            f"rank {rank}: vertex {u} has neighbour {v}, but vertex {v} does not have neighbour {u}"
        )
    return f"rank {rank}: vertex {v} has neighbour {u}, but vertex {u} does not have neighbour {v}"


def _arcs(
    rows: OwnRows, first: int, last: int
) -> tuple[IntVector, IntVector, npt.NDArray[np.float64]]:
    """Return both ends and the weights of the arcs in the rows first to last - 1 of the graph."""
    offsets = rows.xadj[first - rows.first : last - rows.first + 1]
    begin, end = int(offsets[0]), int(offsets[-1])
    tails = np.repeat(np.arange(first, last), np.diff(offsets))
    weights = rows.adjwgt[begin:end] if rows.adjwgt.size else np.ones(end - begin)
    return tails, rows.adjncy[begin:end].astype(np.int64), weights
