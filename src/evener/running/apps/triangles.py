"""Triangles: of how many each vertex of an undirected graph is a corner.

Every vertex has a list of its neighbours that come before it in an order of all vertices: by
falling degree where degrees differ much, else by number. A device counts the triangles whose last
vertex it owns: for each v in the list of u, the vertices in both lists ([SW05]_, algorithm
forward; the list of u is marked, that of v is read). The lists of ghosts are fetched once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector
from evener.errors import InputError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.apps import triangles_kernels as kernels
from evener.running.apps.rows import MatrixRows, cut
from evener.running.comm import Comm
from evener.running.engine.pool import ThreadPool
from evener.running.engine.recording import DeviceRun, StepRecorder
from evener.running.engine.solver import Solver
from evener.running.local_graphs import LocalGraph

# Ordering by degree pays where the mean degree is so many times the median, as GAPBS decides.
MEAN_OF_SKEWED = 1.3
MOST_COUNTED = 1 << 26  # arcs, of which 1 GB is taken to count what lists will hold
ROWS_OF_PRODUCT = 4096  # of A A at a time: memory
NARROW = np.uint32
NO_RANKS = np.empty(0, NARROW)
Ranks = npt.NDArray[np.uint32]
Lists = npt.NDArray[Any]


def count(
    comm: Comm,
    local: LocalGraph,
    pool: ThreadPool,
    tell: Callable[[int], None] | None = None,
    *,
    most: int = 1,  # noqa: ARG001 - one superstep does it
) -> DeviceRun:
    """Return the triangles (m,) int64 at one device's vertices, in one superstep; all call.

    Bytes beside the graph's: 36 a local vertex, and 9 for each thread; 4 an entry of the lists,
    those of own vertices (half of the arcs, on one device) and of ghosts; while the latter come in,
    33 more an entry from one device. Raises InputError for directed graphs.
    """
    if local.out is None or local.out is not local.into:
        raise InputError(
            "a triangle has no directions: triangles are counted in undirected graphs",
            hint="Read it without --directed.",
        )
    counter = _Counter(local, pool)
    steps = StepRecorder(comm, local, tell)
    steps.begin()
    with steps.timed("waiting"):
        by_degree = _is_skewed(comm, local)
    with steps.timed("computing"):
        if by_degree or not counter.has_prefixes():
            counter.rank(by_degree)
            counter.list_own()
    if comm.size > 1:
        counter.fetch(comm, steps)
    with steps.timed("computing"):
        found = counter.count()
    if comm.size > 1:
        with steps.timed("waiting"):
            steps.halo.reduce(found, "sum")
        for q, (first, end) in local.receives.items():
            steps.now.count_sent(q, (end - first) * found.itemsize)
    steps.now.edges = counter.looked_at
    steps.end(local.n_ghosts)
    return steps.result(found[: local.n_owned])


def _is_skewed(comm: Comm, local: LocalGraph) -> bool:
    """Whether to order by degree: half of all vertices are far below the mean, or one is far above.

    Far above: a vertex whose square is more than all arcs could alone take most of the time.
    """
    own = local.degrees[: local.n_owned]
    found = comm.allgather((int(own.sum(dtype=np.int64)), int(own.max(initial=0))))
    arcs, largest = sum(one for one, _ in found), max(one for _, one in found)
    below = sum(comm.allgather(_below(own, local.n_global, arcs)))
    return 2 * below > local.n_global or largest**2 > arcs


def _below(degrees: npt.NDArray[np.integer[Any]], n: int, arcs: int) -> int:
    """Return how many degrees are far below the mean of a graph of n vertices."""
    return int(np.count_nonzero(degrees < arcs / (max(n, 1) * MEAN_OF_SKEWED)))


class _Counter:
    """One device's ranks, lists and counts.

    ranks (n_local,): the place of each vertex in the order; by_rank: the vertices in it. places (2,
    n_local): by rank, where a list begins and ends. lists: ranks of neighbours that come before.
    """

    def __init__(self, local: LocalGraph, pool: ThreadPool) -> None:
        self.local, self.pool = local, pool
        assert local.out is not None
        self.arcs = local.out
        self.chunks = cut(MatrixRows.of(local.out), whole=True).first_rows
        self.by_rank = self.ranks = NO_RANKS
        self.places = np.zeros((2, local.n_local), np.int64)
        self.lists: Ranks = NO_RANKS
        self.looked_at = 0
        self._n_own = 0  # entries of own vertices' lists
        pool.prepare(kernels.find_prefixes, *self._prefixed())
        pool.prepare(kernels.count_lower, *self._own_arcs(), self.places[1])
        pool.prepare(kernels.fill_lower, *self._own_arcs(), self.places, self.lists)
        pool.prepare(kernels.count_triangles, *self._counting(NO_RANKS, 0))
        kernels.rank_by_degree(local.degrees[:0], NO_RANKS, np.zeros(1, np.int64), NO_RANKS)

    def has_prefixes(self) -> bool:
        """Whether the lists by number are the beginnings of the lists of neighbours.

        They are of one device whose arcs are in order; then nothing is copied.
        """
        if self.local.k > 1:
            return False
        given = self._prefixed()
        self.pool.run(kernels.find_prefixes, *given)
        if given[-1].any():
            return False
        self.by_rank = self.ranks = np.arange(self.local.n_local, dtype=NARROW)
        self.lists = self.arcs.ends
        return True

    def _prefixed(self) -> tuple[Any, ...]:
        """Return what the kernel takes that finds beginnings."""
        unordered = np.zeros(self.pool.threads, np.int64)
        return self.chunks, self.arcs.offsets, self.arcs.ends, self.places, unordered

    def rank(self, by_degree: bool) -> None:
        """Rank all local vertices by number, or by falling degree and then number."""
        local, n = self.local, self.local.n_local
        in_order = np.arange(n) if local.k == 1 else np.argsort(local.numbers)
        by_number = in_order.astype(NARROW)
        self.by_rank, self.ranks = by_number, np.empty(n, NARROW)
        self.places[:] = 0
        if by_degree:
            places = np.zeros(int(local.degrees.max(initial=0)) + 1, np.int64)
            self.by_rank = np.empty(n, NARROW)
            kernels.rank_by_degree(local.degrees, by_number, places, self.by_rank)
        self.ranks[self.by_rank] = np.arange(n, dtype=NARROW)

    def list_own(self) -> None:
        """Make the lists of owned vertices."""
        begins, stops = self.places
        self.pool.run(kernels.count_lower, *self._own_arcs(), stops)
        np.cumsum(stops, out=stops)
        begins[1:] = stops[:-1]
        self._n_own = int(stops[-1]) if stops.size else 0
        self.lists = np.empty(self._n_own, NARROW)
        self.pool.run(kernels.fill_lower, *self._own_arcs(), self.places, self.lists)

    def _own_arcs(self) -> tuple[Any, ...]:
        """Return what the kernels take that read the arcs of own vertices."""
        return self.chunks, self.arcs.offsets, self.arcs.ends, self.ranks

    def fetch(self, comm: Comm, steps: StepRecorder) -> None:
        """Give others the lists of the vertices that are ghosts there; take those of ghosts here.

        What is no vertex here is left out: no triangle of own vertices has it as a corner.
        """
        with steps.timed("packing"):
            parts: list[Any] = [None] * comm.size
            for q, vertices in self.local.sends.items():
                parts[q] = self._lists_of(vertices)
                steps.now.count_sent(q, sum(part.nbytes for part in parts[q]))
        with steps.timed("waiting"):
            found = comm.exchange(parts)
        with steps.timed("unpacking"):
            known = np.argsort(self.local.numbers)
            pieces = [self.lists]
            for q, (first, end) in self.local.receives.items():
                before = sum(piece.size for piece in pieces)
                pieces.append(self._ranked(known, self.ranks[first:end], found[q], before))
            self.lists = np.concatenate(pieces)

    def _lists_of(self, vertices: Ranks) -> tuple[Lists, Lists]:
        """Return lengths of the lists of these own vertices, and the lists by global numbers."""
        begins, stops = self.places[:, self.ranks[vertices]]
        found = self.lists[_spans(begins, stops - begins)]
        narrow = self.local.n_global <= np.iinfo(NARROW).max
        numbers = self.local.numbers[self.by_rank[found]]
        return (stops - begins).astype(NARROW), numbers.astype(NARROW) if narrow else numbers

    def _ranked(
        self, known: IntVector, ghosts: Ranks, received: tuple[Lists, Lists], first: int
    ) -> Ranks:
        """Return the lists of these ghosts by ranks; set where they begin and end.

        known: local vertices by global number. received: lengths, and lists by global numbers.
        first: how many entries there are before them.
        """
        local, (lengths, numbers) = self.local, received
        places = np.searchsorted(local.numbers, numbers, sorter=known)
        places[places == known.size] = 0
        vertices = known[places]
        is_here = local.numbers[vertices] == numbers
        kept = np.concatenate([[0], np.cumsum(is_here)])
        ends = np.cumsum(lengths, dtype=np.int64)
        self.places[0, ghosts] = first + kept[ends - lengths]
        self.places[1, ghosts] = first + kept[ends]
        found: Ranks = self.ranks[vertices[is_here]]
        return found

    def count(self) -> IntVector:
        """Return (n_local,) how many triangles met at own vertices have each as a corner."""
        local = self.local
        own = np.arange(local.n_local, dtype=NARROW)
        if local.k > 1:
            own = own[self.by_rank < local.n_owned]
        given = self._counting(own, local.n_local)
        self.pool.run(kernels.count_triangles, *given)
        *_, counts, looked_at = given
        self.looked_at = int(looked_at.sum())
        for other in counts[1:]:
            counts[0] += other
        found: IntVector = counts[0] if self.ranks is self.by_rank else counts[0][self.ranks]
        return found

    def _counting(self, own_ranks: Ranks, n: int) -> tuple[Any, ...]:
        """Return what the kernel takes that counts: own vertices, room for n local ones."""
        threads = self.pool.threads
        marks, counts = np.zeros((threads, n), np.uint8), np.zeros((threads, n), np.int64)
        tickets, looked_at = np.zeros(1, np.int64), np.zeros(threads, np.int64)
        return tickets, own_ranks, self.places, self.lists, marks, counts, looked_at


def _spans(begins: IntVector, lengths: IntVector) -> IntVector:
    """Return all numbers from each begin on, as many as its length says."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    found: IntVector = np.arange(total) + np.repeat(begins - (ends - lengths), lengths)
    return found


def _bytes_of_count(n_owned: int, n_local: int, n_arcs: int, _: bool) -> int:
    """Bytes on one thread; lists of ghosts are taken to be as long as own ones are on average."""
    entries = n_arcs // 2
    of_ghosts = entries * (n_local - n_owned) // max(n_owned, 1)
    return 45 * n_local + 4 * (entries + of_ghosts)


def _bytes_on_devices(graph: Graph | DirectedGraph, partition: Partition) -> list[int] | None:
    """Return the bytes of each device's arrays on one thread, at the moment when they are most.

    Lists are those that will be made; of ghosts' lists those that come in, of which some entries
    are left out again. None for graphs of more than MOST_COUNTED arcs, as counting takes memory.
    """
    if graph.adjncy.size > MOST_COUNTED:
        return None
    arcs, k, part = graph.arcs_out(), partition.k, partition.part
    degrees = np.diff(arcs.xadj)
    tails = np.repeat(np.arange(degrees.size), degrees)
    n, m = degrees.size, arcs.adjncy.size
    by_degree = 2 * _below(degrees, n, m) > n or int(degrees.max(initial=0)) ** 2 > m
    is_own_order = tails[1:] != tails[:-1]
    is_own_order |= arcs.adjncy[1:] > arcs.adjncy[:-1]
    if k == 1 and not by_degree and is_own_order.all():
        return [33 * n]
    before = arcs.adjncy < tails
    if by_degree:
        other, own = degrees[arcs.adjncy], degrees[tails]
        before = (other > own) | ((other == own) & before)
    lengths = np.bincount(tails[before], minlength=n)
    # Each vertex once for each device that has it as a ghost.
    to = part[tails].astype(np.int64)
    away = to != part[arcs.adjncy]
    at, ghost = np.divmod(np.unique(to[away] * n + arcs.adjncy[away]), max(n, 1))
    entries = np.zeros((k, k), np.int64)  # that one device gives another
    np.add.at(entries, (part[ghost], at), lengths[ghost])
    sent, came = entries.sum(axis=1), entries.sum(axis=0)
    owned = np.bincount(part, minlength=k)
    local = owned + np.bincount(at, minlength=k)
    own = np.bincount(part, lengths, k).astype(np.int64)
    packing = 24 * local + 4 * (own + sent) + 28 * entries.max(axis=1)
    unpacking = 32 * local + 4 * (own + sent + came) + 33 * entries.max(axis=0)
    joining = 32 * local + 4 * (own + sent + came) + 4 * (own + came)
    counting = 41 * local + 4 * (own + came + owned)
    moments = [counting] if k == 1 else [packing, unpacking, joining, counting]
    found: list[int] = np.max(moments, axis=0).tolist()
    return found


TRIANGLES = Solver("triangles", count, _bytes_of_count, bytes_on_devices=_bytes_on_devices)


def total(values: npt.NDArray[Any]) -> int:
    """Return the number of triangles of the graph, each of which has three corners."""
    return int(np.asarray(values).sum()) // 3


def verify(graph: Graph | DirectedGraph, values: npt.NDArray[Any]) -> bool:
    """Whether SciPy finds as many: half of what each row of A A has where A has an entry.

    values (n,): by the vertices' numbers.
    """
    from scipy.sparse import csr_array

    arcs = graph.arcs_out()
    n = arcs.xadj.size - 1
    pattern: Any = csr_array(
        (np.ones(arcs.adjncy.size, np.int64), arcs.adjncy, arcs.xadj), shape=(n, n)
    )
    closed = np.zeros(n, np.int64)
    for first in range(0, n, ROWS_OF_PRODUCT):
        rows = pattern[first : first + ROWS_OF_PRODUCT]
        closed[first : first + ROWS_OF_PRODUCT] = (rows @ pattern).multiply(rows).sum(axis=1)
    return bool(np.array_equal(np.asarray(values), closed // 2))
