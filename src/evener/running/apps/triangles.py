"""Triangles: the number of triangles at each vertex of an undirected graph.

Vertices are ordered by descending degree if degrees differ much, else by number. Every vertex has a
list of its neighbours that precede it in this order. A device counts the triangles whose last
vertex it owns: for each v in the list of u, it counts the vertices in both lists ([SW05]_,
algorithm forward; the list of u is marked, that of v is read). The lists of ghosts are fetched
once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector, ragged
from evener.errors import InputError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.apps import triangles_kernels as kernels
from evener.running.apps.matrices import matrix_of
from evener.running.apps.rows import MatrixRows, cut
from evener.running.comm import Comm
from evener.running.engine.pool import ThreadPool
from evener.running.engine.program import Solver
from evener.running.engine.recording import DeviceRun, StepRecorder
from evener.running.local_graphs import LocalGraph

# Ordering by degree pays where the mean degree is so many times the median, as GAPBS decides.
MEAN_OF_SKEWED = 1.3
MOST_COUNTED = 1 << 26  # arcs, of which 1 GB is taken to count what lists will hold
# Entries of lists that a device sends and receives at a time, or as many as it has local vertices,
# if these are more. Short messages are slow: of 16 devices with some 40,000 vertices each, one has
# to send 5 million entries.
AT_ONCE = 1 << 20
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
    """Return the triangles (m,) int64 at one device's vertices, in one superstep. Collective.

    Bytes in addition to the graph's: 24 per local vertex, plus 9 per local vertex and thread; 4 per
    own vertex; 4 per stored entry of the lists of own vertices (half of the arcs, on one device)
    and of ghosts; buffers of a reduction. While lists are sent, messages take the place of what is
    allocated after them; see `_bytes_while_fetching`. Raises InputError for directed graphs.
    """
    if local.out is None or local.out is not local.into:
        raise InputError(
            "triangles are counted in undirected graphs only",
            hint="Read the graph without --directed.",
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
            comm.barrier()  # so long all hold what they count in: see bytes_on_devices
        for q, (first, end) in local.receives.items():
            steps.now.count_sent(q, (end - first) * found.itemsize)
    steps.now.edges = counter.looked_at
    steps.end(local.n_ghosts)
    return steps.result(found[: local.n_owned])


def _is_skewed(comm: Comm, local: LocalGraph) -> bool:
    """Return whether to order by degree: half of all vertices have few arcs, or one has very many.

    Few: far below the mean. Very many: the degree squared exceeds the number of arcs of the graph,
    so that this vertex could take most of the time.
    """
    own = local.degrees[: local.n_owned]
    found = comm.allgather((int(own.sum(dtype=np.int64)), int(own.max(initial=0))))
    arcs, largest = sum(one for one, _ in found), max(one for _, one in found)
    below = sum(comm.allgather(_below(own, local.n_global, arcs)))
    return 2 * below > local.n_global or largest**2 > arcs


def _below(degrees: npt.NDArray[np.integer[Any]], n: int, arcs: int) -> int:
    """Return the number of degrees far below the mean of a graph of n vertices."""
    return int(np.count_nonzero(degrees < arcs / (max(n, 1) * MEAN_OF_SKEWED)))


class _Counter:
    """One device's ranks, lists and counts.

    ranks (n_local,): the position of each vertex in the order; by_rank: the vertices in this order.
    places (2, n_local): by rank, where a list begins and ends. lists: ranks of neighbours that
    precede.
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
        self._room: tuple[Any, ...] = ()  # what the counts are made in
        pool.prepare(kernels.find_prefixes, *self._prefixed())
        pool.prepare(kernels.count_lower, *self._own_arcs(), self.places[1])
        pool.prepare(kernels.fill_lower, *self._own_arcs(), self.places, self.lists)
        pool.prepare(kernels.count_triangles, *self._counting(NO_RANKS, 0))
        kernels.rank_by_degree(local.degrees[:0], NO_RANKS, np.zeros(1, np.int64), NO_RANKS)
        kernels.by_vertices(self.places[0], NO_RANKS, self.places[0])
        self._prepare_fetching()

    def _prepare_fetching(self) -> None:
        """Compile the kernels that send and receive lists."""
        if self.local.k > 1:
            none, numbers, places = NO_RANKS, self.local.numbers, self.places
            kernels.add_lengths(places, none, none, np.zeros(1, np.int64))
            kernels.put_lists(none, places, none, none, none, numbers, none)
            kernels.take_lists(none, none, none, numbers, none, none, 0, places, none)

    def has_prefixes(self) -> bool:
        """Return whether, in the order by number, each list is a prefix of its adjacency list.

        This holds on a single device whose arcs are sorted; nothing is copied then.
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
        """Return the arguments of `find_prefixes`."""
        unordered = np.zeros(self.pool.threads, np.int64)
        return self.chunks, self.arcs.offsets, self.arcs.ends, self.places, unordered

    def rank(self, by_degree: bool) -> None:
        """Rank all local vertices by number, or by descending degree and then number."""
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
        """Make the lists of own vertices."""
        begins, stops = self.places
        self.pool.run(kernels.count_lower, *self._own_arcs(), stops)
        np.cumsum(stops, out=stops)
        begins[1:] = stops[:-1]
        self.lists = np.empty(int(stops[-1]) if stops.size else 0, NARROW)
        self.pool.run(kernels.fill_lower, *self._own_arcs(), self.places, self.lists)

    def _own_arcs(self) -> tuple[Any, ...]:
        """Return the first arguments of `count_lower` and `fill_lower`."""
        return self.chunks, self.arcs.offsets, self.arcs.ends, self.ranks

    def fetch(self, comm: Comm, steps: StepRecorder) -> None:
        """Send other devices the lists of own vertices that are ghosts there.

        Receives the lists of ghosts of this device. Entries that are not local vertices are
        omitted: no triangle of own vertices contains them.
        """
        with steps.timed("packing"):
            entries = {q: self._entries_of(vertices) for q, vertices in self.local.sends.items()}
            known = np.argsort(self.local.numbers).astype(NARROW)
        with steps.timed("waiting"):
            rounds = self._rounds(comm, entries)
        cuts = {
            q: np.searchsorted(ends, int(ends[-1]) * np.arange(rounds + 1) // rounds)
            for q, ends in entries.items()
        }
        for q, ends in entries.items():
            cuts[q][0], cuts[q][-1] = 0, ends.size - 1
        came = {q: first for q, (first, _) in self.local.receives.items()}
        for one in range(rounds):
            with steps.timed("packing"):
                parts: list[Any] = [None] * comm.size
                for q, ends in entries.items():
                    parts[q] = self._lists_of(q, ends, *cuts[q][one : one + 2].tolist())
                    steps.now.count_sent(q, sum(part.nbytes for part in parts[q]))
            with steps.timed("waiting"):
                found = comm.exchange(parts)
            with steps.timed("unpacking"):
                first = self.lists.size
                new = sum(found[q][1].size for q in came)
                self.lists.resize(first + new, refcheck=False)
                for q, ghost in came.items():
                    first = self._take(known, ghost, first, *found[q])
                    came[q] = ghost + found[q][0].size
                self.lists.resize(first, refcheck=False)

    def _entries_of(self, vertices: Ranks) -> IntVector:
        """Return the cumulative number of entries (s + 1,) of the lists of these own vertices."""
        ends = np.zeros(vertices.size + 1, np.int64)
        kernels.add_lengths(self.places, self.ranks, vertices, ends)
        return ends

    def _rounds(self, comm: Comm, entries: dict[int, IntVector]) -> int:
        """Return in how many messages to send lists."""
        own = [int(entries[q][-1]) if q in entries else 0 for q in range(comm.size)]
        all_sizes = comm.allgather((self.local.n_local, own))
        sent = np.array([sizes for _, sizes in all_sizes], np.int64)
        n_local = np.array([n for n, _ in all_sizes])
        return _rounds_of(sent.sum(axis=0) + sent.sum(axis=1), n_local)

    def _lists_of(self, q: int, ends: IntVector, first: int, last: int) -> tuple[Lists, Lists]:
        """Return lengths of lists, and lists by number, of vertices that are ghosts of device q."""
        narrow = self.local.n_global <= np.iinfo(NARROW).max
        found = np.empty(int(ends[last] - ends[first]), NARROW if narrow else np.int64)
        vertices = self.local.sends[q][first:last]
        given = self.places, self.ranks, self.by_rank, self.lists, self.local.numbers
        kernels.put_lists(vertices, *given, found)
        return np.diff(ends[first : last + 1]).astype(NARROW), found

    def _take(self, known: Ranks, ghost: int, first: int, lengths: Lists, numbers: Lists) -> int:
        """Write the lists of ghosts from `ghost` on, by ranks, to `lists` from `first` on.

        Sets where they begin and end, and returns the end of all. known: local vertices by global
        number. lengths, numbers: of the lists.
        """
        ghosts = self.ranks[ghost : ghost + lengths.size]
        given = known, self.local.numbers, self.ranks
        end = kernels.take_lists(lengths, numbers, *given, ghosts, first, self.places, self.lists)
        return int(end)

    def count(self) -> IntVector:
        """Return each local vertex's number of triangles found at own vertices (n_local,).

        The counter keeps the memory for counting, so that the memory of all devices together does
        not depend on which device counts first.
        """
        local = self.local
        own = np.arange(local.n_local, dtype=NARROW)
        if local.k > 1:
            own = own[self.by_rank < local.n_owned]
        self._room = given = self._counting(own, local.n_local)
        self.pool.run(kernels.count_triangles, *given)
        *_, counts, looked_at = given
        self.looked_at = int(looked_at.sum())
        for other in counts[1:]:
            counts[0] += other
        found: IntVector = counts[0]
        if self.ranks is not self.by_rank:
            found = self.places[0]  # no longer needed
            kernels.by_vertices(counts[0], self.ranks, found)
        return found

    def _counting(self, own_ranks: Ranks, n: int) -> tuple[Any, ...]:
        """Return the arguments of `count_triangles` at own vertices.

        n: number of local vertices.
        """
        threads = self.pool.threads
        marks, counts = np.zeros((threads, n), np.uint8), np.zeros((threads, n), np.int64)
        tickets, looked_at = np.zeros(1, np.int64), np.zeros(threads, np.int64)
        return tickets, own_ranks, self.places, self.lists, marks, counts, looked_at


def _rounds_of(entries: IntVector, n_local: IntVector) -> int:
    """Return in how many messages to send lists.

    entries, n_local (k,): entries that each device sends and receives, and its local vertices.
    """
    return max(1, int((-(-entries // np.maximum(n_local, AT_ONCE))).max()))


def _bytes_while_fetching(
    n_local: Any, n_ghosts: Any, sent: Any, came: Any, stored: Any, rounds: int
) -> Any:
    """Return the bytes of one device while it fetches lists, without its own lists.

    n_ghosts: own vertices that other devices have as ghosts, and ghosts. sent, came, stored:
    entries of the lists that it sends, receives and stores. MPI has a copy of what is sent, then of
    what came; then entries that came are all in `lists`, until those of other vertices are omitted.
    """
    in_lists = np.minimum(came, stored + came // rounds)
    copied = stored - stored // rounds + np.maximum(sent, came) // rounds
    most = (sent + came) // rounds + np.maximum(in_lists, copied)
    return 28 * n_local + 8 * n_ghosts + 4 * most


def _bytes_of_count(n_owned: int, n_local: int, n_arcs: int, _: bool) -> int:
    """Return the bytes with one thread.

    Lists of ghosts are assumed to be as long as own ones on average, and to be sent as they come.
    """
    entries, n_ghosts = n_arcs // 2, n_local - n_owned
    of_ghosts = entries * n_ghosts // max(n_owned, 1)
    rounds = _rounds_of(np.array([2 * of_ghosts]), np.array([n_local]))
    lists = of_ghosts, of_ghosts, of_ghosts
    fetching = _bytes_while_fetching(n_local, 2 * n_ghosts, *lists, rounds)
    counting = 33 * n_local + 4 * (n_owned + of_ghosts) + 8 * n_ghosts
    return int(max(fetching * (n_ghosts > 0), counting) + 4 * entries)


def _bytes_on_devices(graph: Graph | DirectedGraph, partition: Partition) -> list[int] | None:
    """Return the bytes of each device's arrays with one thread, while it fetches lists or counts.

    The sizes of lists are counted exactly. None for graphs of more than MOST_COUNTED arcs, as
    counting takes memory.
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
    lists, lengths = arcs.adjncy[before], np.bincount(tails[before], minlength=n)
    begins = np.cumsum(lengths) - lengths
    # Each vertex once for each device that has it as a ghost.
    to = part[tails].astype(np.int64)
    away = to != part[arcs.adjncy]
    at, ghost = np.divmod(np.unique(to[away] * n + arcs.adjncy[away]), max(n, 1))
    starts = np.searchsorted(at, np.arange(k + 1))
    entries = np.bincount(part, lengths, k).astype(np.int64)  # of own lists
    most = np.zeros(k, np.int64)  # vertices that a device gives another
    # Entries sent, received, and stored of those; vertices given to all.
    sent, came, stored, given = (np.zeros(k, np.int64) for _ in range(4))
    for d in range(k):
        ghosts = ghost[starts[d] : starts[d + 1]]
        is_local = part == d
        is_local[ghosts] = True
        fetched = lists[ragged(begins[ghosts], lengths[ghosts])]
        came[d], stored[d] = fetched.size, np.count_nonzero(is_local[fetched])
        sent += np.bincount(part[ghosts], lengths[ghosts], k).astype(np.int64)
        given_to = np.bincount(part[ghosts], minlength=k)
        given, most = given + given_to, np.maximum(most, given_to)
    owned, n_ghosts = np.bincount(part, minlength=k), np.diff(starts)
    local = owned + n_ghosts
    rounds = _rounds_of(sent + came, local)
    fetching = _bytes_while_fetching(local, given + n_ghosts, sent, came, stored, rounds)
    counting = 33 * local + 4 * (owned + stored) + 8 * most
    found: list[int] = (np.maximum(fetching * (k > 1), counting) + 4 * entries).tolist()
    return found


TRIANGLES = Solver("triangles", count, _bytes_of_count, bytes_on_devices=_bytes_on_devices)


def total(values: npt.NDArray[Any]) -> int:
    """Return the number of triangles of the graph; each counts at three vertices."""
    return int(np.asarray(values).sum()) // 3


def verify(graph: Graph | DirectedGraph, values: npt.NDArray[Any]) -> bool:
    """Return whether SciPy finds the same: half the row sums of A A at the entries of A.

    values (n,): by vertex number.
    """
    pattern = matrix_of(graph, weighted=False, dtype=np.int64)
    n = pattern.shape[0]
    closed = np.zeros(n, np.int64)
    for first in range(0, n, ROWS_OF_PRODUCT):
        rows = pattern[first : first + ROWS_OF_PRODUCT]
        closed[first : first + ROWS_OF_PRODUCT] = (rows @ pattern).multiply(rows).sum(axis=1)
    return bool(np.array_equal(np.asarray(values), closed // 2))
