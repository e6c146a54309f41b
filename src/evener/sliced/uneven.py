"""Divides graphs of uneven degrees in slices: fills blocks by falling degree, then improves them.

    degrees -> blocks filled by falling degree -> rounds of moves and exchanges -> filled up

If a few vertices have most of the edges and many have none, clustering does not preserve the
graph's structure. Slices are assigned to phases: the slices of one phase see other slices'
vertices, and the weights of blocks, as they were when the phase began, and each may change the
blocks' weights by a fixed share. So blocks do not depend on which process holds a slice. A round
reads every slice once.

Blocks by clusters are made as well, and the better ones are returned:

    clusters by labels -> contracted -> Evener's partitioner at rank 0 -> rounds of moves

R-MAT graphs have no clusters: contraction removes hardly any edges. Social networks have clusters;
blocks filled by degree have 1.2 to 13 times the cut there, but take a tenth of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector, Part
from evener.errors import NotFoundError
from evener.graphs.graph import Graph
from evener.partitioning.registry import partition_with
from evener.plans.partition import Contract
from evener.sliced import labels_kernels, uneven_kernels
from evener.sliced.blocks import SlicedOptions, heaviest_cluster, request_for
from evener.sliced.clusters import clusters_by_labels
from evener.sliced.contraction import contract
from evener.sliced.degrees import SliceDegrees
from evener.sliced.facts import VertexBytes
from evener.sliced.gathering import narrow
from evener.sliced.memory import most_small
from evener.sliced.rows import N_SLICES, SlicedGraph, SliceRows
from evener.sliced.uneven_kernels import Places, Shares

PHASES = 8  # of a round; on R-MAT graphs 1 cuts 1.04 times as much, 4 up to 1.003, 16 no less
ROUNDS = 8
# Turns in which one slice after the other mends what limits miss, and what vertices may lose for
# their weight in each [edges].
LOSSES = (0.0, 1.0, 4.0, 16.0, np.inf, np.inf)
# From this skewness, graphs that clusters hardly contract count as without communities (R-MAT).
WITHOUT_COMMUNITIES = 2.0
NOTHING = 1e-9  # of a target or of all weight: what counts as none


def uneven_blocks(
    graph: SlicedGraph,
    limits: Contract,
    *,
    degrees: SliceDegrees | None = None,
    memory: VertexBytes | None = None,
    given: Part | None = None,
    rounds: int = ROUNDS,
) -> Part:
    """Return the blocks (n_own,) int32 of this process's vertices. Collective.

    The cut counts edge weights. degrees: of the graph, if known. memory: bytes that caps of
    `limits` apply to; None: caps are ignored. given (n_own,): initial blocks, instead of blocks
    filled by falling degree. The result does not depend on the number of processes. Raises
    NotFoundError, on all of them, if no blocks within the limits are found.
    """
    blocks = UnevenBlocks(graph, limits, degrees or SliceDegrees.read(graph), memory)
    if given is None:
        blocks.fill_by_degree()
    else:
        blocks.take(given)
    for turn in range(rounds):
        blocks.improve(turn)
    blocks.fill_up()
    blocks.mend()
    return blocks.part[: graph.n_own]


class UnevenBlocks:
    """The current blocks, and their loads.

    part (n_local,) int32: of own vertices and ghosts. load (k,) [units], held (k,) [B]: of blocks;
    these exclude vertices without edges until `fill_up` assigns them; filling [units]: weight of
    those vertices. now: number of moved edge ends / number of all edge ends. due (n_own,) float32:
    the value of `now` from which a vertex is examined again.
    """

    def __init__(
        self,
        graph: SlicedGraph,
        limits: Contract,
        degrees: SliceDegrees,
        memory: VertexBytes | None,
    ) -> None:
        self.graph, self.limits, self.degrees = graph, limits, degrees
        self.memory = memory or VertexBytes(0.0, 0.0)
        self.capped = memory is not None and bool(np.isfinite(limits.caps).any())
        self.low: FloatArray = np.maximum(limits.low, NOTHING * limits.targets)  # none is empty
        self.high: FloatArray = np.maximum(limits.high, np.finfo(np.float64).tiny)
        self.caps = limits.caps if self.capped else np.full(limits.k, np.inf)
        self.part = np.zeros(graph.n_local, np.int32)
        self.load, self.held = np.zeros(limits.k), np.zeros(limits.k)
        self.filling = degrees.alone
        self.now, self.due = 0.0, np.zeros(graph.n_own, np.float32)

    def fill_by_degree(self) -> None:
        """Fill blocks, largest first, with vertices of falling degree.

        Leaves enough capacity for vertices without edges. Most edges are then between the first
        blocks.
        """
        held = self.degrees.linked
        needed = float(self.low.sum()) - self.filling
        most = self.high
        if needed > NOTHING * held:
            most = np.minimum(most, self.low * (held / needed))
        following, ends = self._order(most)
        before = self.degrees.before()
        for i in self.graph.own_slices:
            rows = self.graph.rows(i)
            uneven_kernels.place_rows(rows, before[i].copy(), ends, following, self._own(rows))
        self._tell()
        self._weigh(linked=True)

    def take(self, given: Part) -> None:
        """Begin with these blocks (n_own,) of own vertices."""
        self.part[: given.size] = given
        self._tell()
        self._weigh(linked=True)

    def _order(self, most: FloatArray) -> tuple[IntVector, FloatArray]:
        """Return the blocks (k,) in order of filling, and the cumulative weight (k,) at each end.

        The largest targets come first; if caps then leave vertices without a block, blocks with the
        most memory per weight come first.
        """
        found = []
        for key in (self.limits.targets, self.caps / most):
            following = np.argsort(-key, kind="stable")
            ends = self.degrees.ends(
                most[following], self.caps[following], self.memory.vertex, self.memory.entry
            )
            found.append((following, ends))
            if ends[-1] >= self.degrees.linked * (1 - NOTHING):
                break
        return max(found, key=lambda one: float(one[1][-1]))

    def improve(self, turn: int) -> None:
        """Do one round of moves that lower the cut."""
        for phase in range(PHASES):
            self._phase(range(phase, N_SLICES, PHASES), turn, self._improved)

    def fill_up(self) -> None:
        """Assign vertices without edges: to blocks below low, then below target, then to others."""
        alone, each = self.filling, self.memory.vertex * self.degrees.isolated
        most = self.high
        if self.capped and each > 0:
            most = np.minimum(most, self.load + (self.caps - self.held) * (alone / each))
        amount: FloatArray = np.maximum(np.minimum(self.low, most) - self.load, 0.0)
        for limit in (self.limits.targets, most):
            room = np.maximum(np.minimum(limit, most) - self.load - amount, 0.0)
            rest = alone - float(amount.sum())
            if rest > 0 and room.sum() > 0:
                amount = amount + room * min(1.0, rest / float(room.sum()))
        ends, before = np.cumsum(amount), self.degrees.alone_before()
        for i in self.graph.own_slices:
            rows = self.graph.rows(i)
            uneven_kernels.place_alone(rows, float(before[i]), ends, self._own(rows))
        self.filling = 0.0
        self._weigh(linked=False)

    def mend(self) -> None:
        """Move vertices, slice by slice, until blocks satisfy their limits.

        Raises NotFoundError if this fails.
        """
        for turn, most in enumerate(LOSSES):
            if self._holds().all():
                return

            def mended(rows: SliceRows, shares: Shares, most: float = most) -> int:
                return int(uneven_kernels.leave(rows, self.part, shares, most))

            for i in range(N_SLICES):
                self._phase([i], turn, mended)
            self._weigh(linked=False)
        wrong = np.flatnonzero(~self._holds())
        if wrong.size:
            raise NotFoundError(
                f"{wrong.size} of {self.load.size} blocks violate their limits: block {wrong[0]} "
                f"weighs {self.load[wrong[0]]:g}",
                hint="Increase --epsilon, or use fewer blocks.",
            )

    def _improved(self, rows: SliceRows, shares: Shares) -> int:
        """Improve the blocks of a slice; return the sum of degrees of the moved vertices."""
        due = self.due[rows.first : rows.first + rows.xadj.size - 1]
        key, row = (
            np.full(uneven_kernels.SLOTS, -1, np.int64),
            np.empty(uneven_kernels.SLOTS, np.int64),
        )
        places = Places(key, row, np.empty(uneven_kernels.SLOTS))
        return int(uneven_kernels.improve(rows, self.part, shares, places, due, self.now))

    def _phase(
        self, slices: Sequence[int], turn: int, act: Callable[[SliceRows, Shares], int]
    ) -> None:
        """Call act for all slices of a phase, each with the blocks as before the phase."""
        found, changes = [], {}
        for place, i in enumerate(slices):
            if i in self.graph.own_slices:
                rows, shares = self.graph.rows(i), self._shares(place, len(slices), turn)
                own = self._own(rows)
                before = own.copy()
                moved = act(rows, shares)
                changes[i] = moved, shares.load - self.load, shares.held - self.held
                found.append((own, own.copy()))
                own[:] = before
        for own, blocks in found:
            own[:] = blocks
        moved, load, held = self._summed(changes)
        self.now += moved / max(self.graph.arcs, 1)
        self.load, self.held = self.load + load, self.held + held
        if moved:
            self._tell(slices)

    def _summed(
        self, changes: dict[int, tuple[int, FloatArray, FloatArray]]
    ) -> tuple[int, FloatArray, FloatArray]:
        """Return the sums of the changes of all slices: moved degrees, load and held.

        Real numbers are summed in the order of slices, so that the result does not depend on the
        number of processes.
        """
        if self.degrees.whole and not self.capped:
            none = np.zeros(self.load.size)
            own = np.stack([none, *(one for _, one, _ in changes.values())])
            load: FloatArray = own.sum(axis=0)
            moved = sum(moved for moved, _, _ in changes.values())
            sums = self.graph.comm.allgather((moved, load if changes else load[:0]))
            total: FloatArray = np.sum([one for _, one in sums if one.size], axis=0)
            return sum(moved for moved, _ in sums), total, np.zeros(load.size)
        parts = self.graph.comm.allgather(changes)
        by_slice = sorted((i, one) for part in parts for i, one in part.items())
        moved = sum(one[0] for _, one in by_slice)
        load = np.sum([one[1] for _, one in by_slice], axis=0)
        held: FloatArray = np.sum([one[2] for _, one in by_slice], axis=0)
        return moved, load, held

    def _shares(self, place: int, of: int, turn: int) -> Shares:
        """Return the changes allowed to a slice: number `place` of the `of` slices of its phase.

        Each slice gets an equal share of a block's capacity. If this share is less than the
        heaviest vertex, one slice gets the whole capacity.
        """
        first = (np.arange(self.load.size) + turn) % of == place

        def share(room: FloatArray, least: float) -> FloatArray:
            if of == 1:
                return room
            return np.where(np.abs(room) < of * least, np.where(first, room, 0.0), room / of)

        heaviest, largest = self.degrees.heaviest, self.memory.vertex
        return Shares(
            self.load.copy(), self.held.copy(),
            self.load + share(np.maximum(self.high - self.load, 0.0), heaviest),
            self.held + share(np.maximum(self.caps - self.held, 0.0), largest),
            self.load - share(self.load - self.low, heaviest),
            self.filling / of, self.high, self.caps, self.memory.vertex, self.memory.entry,
        )  # fmt: skip

    def _holds(self) -> npt.NDArray[np.bool_]:
        """Return whether each block satisfies its limits (k,)."""
        some = np.where(self.load > 0, 1, 0).astype(np.int64)
        return self.limits.keeps(self.load, some, np.where(np.isfinite(self.caps), self.held, 0.0))

    def _own(self, rows: SliceRows) -> Part:
        return self.part[rows.first : rows.first + rows.xadj.size - 1]

    def _weigh(self, *, linked: bool) -> None:
        """Compute load and memory of blocks: of vertices with edges if `linked`, else of all."""
        changes = {}
        for i in self.graph.own_slices:
            changes[i] = np.zeros((3, self.load.size))
            uneven_kernels.weigh(self.graph.rows(i), self.part, linked, changes[i])
        parts = self.graph.comm.allgather(changes)
        by_slice = {i: one for part in parts for i, one in part.items()}
        weight, vertices, entries = np.sum([by_slice[i] for i in sorted(by_slice)], axis=0)
        self.load = weight
        self.held = self.memory.vertex * vertices + self.memory.entry * entries

    def _tell(self, slices: Sequence[int] | None = None) -> None:
        """Send the blocks of vertices of these slices, or of all, to ghosts, as small integers."""
        if self.graph.comm.size > 1:
            narrow = self.part.astype(np.min_scalar_type(self.load.size - 1))
            self.graph.fill(narrow, slices)
            self.part[self.graph.n_own :] = narrow[self.graph.n_own :]


HEAVIEST = 4.0  # mean vertices in a cluster at most
# Share of the entries that a graph of clusters keeps, from which on there are hardly any clusters.
# Measured with HEAVIEST: social networks 0.3 to 0.88, R-MAT and Barabási-Albert graphs above 0.92.
WITHOUT_CLUSTERS = 0.9


def blocks_of_uneven(
    graph: SlicedGraph,
    limits: Contract,
    degrees: SliceDegrees,
    options: SlicedOptions,
    memory: VertexBytes | None = None,
) -> Part:
    """Return the blocks (n_own,) int32 of this process's vertices. Collective.

    memory: bytes that caps of `limits` apply to; None: caps are ignored. options.memory: if a graph
    of clusters needs more, blocks are filled by degree. The result does not depend on the number of
    processes. Raises NotFoundError, on all of them, if no blocks within the limits are found.
    """
    found: list[tuple[float, Part]] = []
    failed: NotFoundError | None = None
    for make in _ways(graph, limits, degrees, options, memory):
        try:
            part = make()
        except NotFoundError as error:
            failed = error
        else:
            found.append((cut_of(graph, part, limits.k), part))
    if failed is not None and not found:
        raise failed
    return min(found, key=lambda one: one[0])[1]


def _ways(
    graph: SlicedGraph,
    limits: Contract,
    degrees: SliceDegrees,
    options: SlicedOptions,
    memory: VertexBytes | None,
) -> Iterator[Callable[[], Part]]:
    """Yield the methods that may give the smallest cut: functions that return blocks (n_own,)."""

    def improved(given: Part | None) -> Part:
        return uneven_blocks(graph, limits, degrees=degrees, memory=memory, given=given)

    yield lambda: improved(None)
    clusters = None if degrees.fill_blocks else _clusters(graph, limits, options)
    if clusters is None or (clusters.are_few and degrees.skewness >= WITHOUT_COMMUNITIES):
        return
    made = clusters
    yield lambda: improved(_divided(graph, made, limits, options))


class _Clusters(NamedTuple):
    """Clusters and their graph.

    of (n_local,) int32: the cluster of each vertex and ghost. small: their graph, at rank 0.
    are_few: whether contraction left most edges, although the limits allow clusters of the desired
    weight: the graph has hardly any clusters.
    """

    of: Part
    small: Graph | None
    are_few: bool


def _clusters(graph: SlicedGraph, limits: Contract, options: SlicedOptions) -> _Clusters | None:
    """Return clusters by labels, or None if their graph exceeds the memory."""
    if most_small(options.memory, graph.n) <= 0:
        return None
    wished = HEAVIEST * float(limits.targets.sum()) / graph.n
    heaviest = heaviest_cluster(limits, wished)
    found = clusters_by_labels(graph, heaviest)
    if (1 - found.inside) * graph.arcs > most_small(options.memory, graph.n):
        return None
    small = contract(graph, found.of, found.n_clusters)
    entries = graph.comm.bcast(None if small is None else int(small.adjncy.size))
    assert entries is not None
    few = heaviest >= wished and entries > WITHOUT_CLUSTERS * graph.arcs
    return _Clusters(found.of, small, few)


def _divided(
    graph: SlicedGraph, clusters: _Clusters, limits: Contract, options: SlicedOptions
) -> Part:
    """Divide the graph of clusters; return the blocks (n_own,) of own vertices.

    Weights of blocks may slightly violate the limits, because whole clusters are assigned.
    """
    request = request_for(limits, options)
    small = clusters.small
    part = None if small is None else narrow(partition_with("evener", small, request).part)
    part = graph.comm.bcast(part)
    assert part is not None
    return part[clusters.of[: graph.n_own]].astype(np.int32)


def cut_of(graph: SlicedGraph, part: Part, k: int) -> float:
    """Return the weight of edges between blocks (n_own,), counted at both ends. Collective."""
    blocks = np.zeros(graph.n_local, np.min_scalar_type(k - 1))
    blocks[: graph.n_own] = part
    graph.fill(blocks)
    of = blocks.astype(np.int32)
    own = [labels_kernels.weight_inside(graph.rows(i), of) for i in graph.own_slices]
    found = [one for some in graph.comm.allgather(own) for one in some]
    return float(sum(total - inside for inside, total in found))
