"""RankData: the data of a Rebalancer if the rows of the graph are distributed over MPI ranks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector, Part
from evener.errors import EvenerError, InfeasibleError, InputError, ToolError
from evener.plans import metrics
from evener.plans.partition import Partition
from evener.plans.rank_plan import RankPlan
from evener.plans.workload import Workload
from evener.platforms.platform import Platform
from evener.rebalancing.decider import MAX_TIME, IterationSpan, LoadState, Proposal
from evener.rebalancing.decision_log import Recorder
from evener.rebalancing.held_data import (
    AgreedObservation,
    CarriedOut,
    Observation,
    Offers,
    RankRecorder,
    checked_observation,
    checked_work,
    state_of_loads,
    workload_in,
)
from evener.rebalancing.proposals import (
    CountedBlocks,
    RowsToShift,
    clusters_inside,
    counted,
    rematched,
    slowed,
    transfer_seconds,
)
from evener.running.comm import Comm
from evener.sliced.blocks import SmallGraph
from evener.sliced.curve_order import in_slices_order
from evener.sliced.distributed import DistributedGraph
from evener.sliced.facts import VertexBytes, WeighedRows, degrees_of, weighted_slices, weights_of
from evener.sliced.gathering import agreed, raised_everywhere

FEW_PAIRS = 1 << 16  # up to this many pairs of blocks are counted without sorting
# Like Replan, but for rows in slices whose weights are the work: a function that returns the blocks
# (n_own,) int32 of this rank's rows from scratch. All ranks call.
RankReplan = Callable[[RankPlan, WeighedRows, Platform, Workload], Part]


class _Found(NamedTuple):
    """A partition that data could move to; vertices and n_bytes [B] that would change device."""

    given: CountedBlocks
    vertices: int
    n_bytes: float


class RankData:
    """HeldData of a graph whose rows are distributed over MPI ranks; all ranks call.

    partition: blocks of the rows that this rank's program holds. Raises InputError on all ranks if
    the plan does not belong to these rows.
    """

    def __init__(self, plan: RankPlan, graph: DistributedGraph, replan: RankReplan | None) -> None:
        self.n, self.platform = graph.n, plan.platform
        self._plan, self._replan, self._held = plan, replan, graph
        with graph.failing_together():
            self._rows = in_slices_order(graph)
            workload = self._checked_workload()
            size = VertexBytes(graph.bytes_per_vertex, graph.bytes_per_edge)
            given = WeighedRows(self._rows, weights_of(self._rows), size)
            weighted = weighted_slices(given, workload, given.total)
            self._graph = WeighedRows(self._rows, weights_of(weighted), size)
            self._workload = workload.without_work()
            self._degrees = degrees_of(self._rows)
            blocks = self._rows.there(np.ascontiguousarray(plan.part, np.int32))
            self._given = self._counted(blocks)
            agreed(graph.comm, self._check_blocks)
        self.partition = Partition(plan.part, self.platform.k)
        self._found: list[_Found] = []
        self._small: SmallGraph | None = None  # created by `propose`, valid until rows move

    def together(self) -> AbstractContextManager[None]:
        """Context manager: if this rank raises an exception, raise it on all waiting ranks."""
        return self._held.failing_together()

    def recorder(self, make: Callable[[], Recorder]) -> RankRecorder:
        """Return a RankRecorder, by which all ranks call the Recorder of rank 0."""
        return RankRecorder(self._graph.comm, make)

    def observed(self, given: Observation) -> AgreedObservation:
        """Check the arguments of all ranks and return them combined.

        If `numbers` are given, this rank's rows are from now on those of these vertices.
        """
        comm, rows = self._graph.comm, self._rows
        names, here = self.platform.names, rows.rows_given
        times, span, has_work = agreed_observation(comm, given, names, here)
        if given.numbers is not None:
            rows = rows.held_as(given.numbers)
        work = self._work(given.work, rows) if has_work else None
        if rows is not self._rows:
            self._rows = rows
            self.partition = Partition(rows.back(self._given.blocks), self.platform.k)
        return AgreedObservation(times, work, span)

    def agreed_seconds(self, seconds: float) -> float:
        """Return the longest of the seconds that the ranks pass, NaN if one is invalid."""
        return longest(self._graph.comm, seconds)

    def reweigh(self, work: FloatArray) -> None:
        """Replace the weights (n_own,) of the vertices of this rank's slices."""
        self._graph = WeighedRows(self._rows, work, self._graph.size)
        self._given, self._small = self._counted(self._given.blocks), None

    def state(self) -> LoadState:
        """Return the LoadState of the current partition, computed with the plan's models."""
        counts, graph = self._given.counts, self._graph
        loads = counts.weights[:, 0]
        predicted = metrics.prediction_of(
            counts.between, loads, counts.interior, self.platform, self._workload
        )
        other = predicted.communicate + predicted.fixed - predicted.overlapped
        total = graph.total, float(counts.bytes.sum())
        return state_of_loads(loads, predicted.compute, other, total, self.platform)

    def propose(self, slowness: FloatArray, loads: FloatArray) -> Offers:
        """Return the partitions that data could move to.

        slowness (k,): of the devices now. loads (k,): target loads [units].
        """
        platform = slowed(self.platform, slowness)
        if self._small is None:
            self._small = clusters_inside(self._graph, self._given.blocks, platform.k)
        rows = RowsToShift(self._graph, self._given, self._small, platform, self._workload)
        found: dict[str, CountedBlocks] = {}
        refused: list[str] = []
        try:
            shifted = rows.shifted(loads)
        except (InfeasibleError, ToolError) as error:  # do not stop the program
            refused.append(_refusal("diffused", error))
        else:
            found["diffused"] = shifted.diffused
            found |= {} if shifted.refined is None else {"refined": shifted.refined}
        if self._replan is not None:
            try:
                blocks = self._replan(self._plan, self._graph, platform, self._workload)
            except (InfeasibleError, ToolError) as error:
                refused.append(_refusal("replanned", error))
            else:
                found["replanned"] = rows.counted(blocks)
                stays = self._stays(found["replanned"].blocks)
                found["matched"] = rematched(rows, found["replanned"], stays)
        priced = [self._priced(kind, one, platform) for kind, one in found.items()]
        self._found = [one for _, one in priced]
        return Offers([one for one, _ in priced], refused)

    def carry_out(self, index: int) -> CarriedOut:
        """Apply the proposal `index` of the last `propose`: it becomes the current partition."""
        new = self._found[index]
        self._given, self._small, self._found = new.given, None, []
        part = self._rows.back(new.given.blocks)
        self.partition = Partition(part, self.platform.k)
        return CarriedOut(part, new.vertices, new.n_bytes, self.state())

    def _checked_workload(self) -> Workload:
        """Return the workload of the plan, received from rank 0, which has the whole plan.

        Raises InputError on all ranks if plan and graph do not match.
        """
        plan, graph = self._plan, self._held
        own, rows = plan.part.size, graph.rows_given

        def check() -> None:
            if own != rows:
                raise InputError(
                    f"the plan has {own:,} vertices on this rank, but the graph has {rows:,}"
                )
            whole = plan.plan
            if graph.comm.rank == 0 and whole is None:
                raise InputError("rank 0 must pass the plan that it received from ev.plan")
            if whole is not None and whole.graph.get("edges") != graph.arcs // 2:
                raise InputError(
                    f"the plan has {whole.graph.get('edges'):,} edges, but the graph has "
                    f"{graph.arcs // 2:,}"
                )

        agreed(graph.comm, check)
        options = graph.comm.bcast(None if plan.plan is None else plan.plan.options)
        assert options is not None
        return workload_in(options)

    def _check_blocks(self) -> None:
        """Raise InputError if the plan's block sizes or edge cut do not match these rows."""
        counts, evaluation = self._given.counts, self._plan.evaluation
        same = np.array_equal(counts.vertices, evaluation.certificate.vertices)
        if not (same and np.isclose(counts.edge_cut, evaluation.edge_cut, rtol=1e-9)):
            raise InputError(
                f"the edge cut of the plan is {evaluation.edge_cut:,.6g}, but its blocks cut "
                f"{counts.edge_cut:,.6g} on these rows: the plan is for another graph, or the rows "
                "are in another order"
            )

    def _counted(self, blocks: Part) -> CountedBlocks:
        k = self.platform.k
        return CountedBlocks(blocks, counted(self._graph, blocks, k, self._workload))

    def _work(self, work: npt.ArrayLike | None, rows: DistributedGraph) -> FloatArray:
        """Return the work (n_own,) of the vertices of this rank's slices."""
        comm = self._graph.comm
        given: npt.ArrayLike = [] if work is None else work
        own = agreed(comm, lambda: checked_work(given, rows.rows_given))
        if not sum(comm.allgather(float(own.sum()))) > 0:
            with raised_everywhere():
                raise InputError(
                    "work must not be negative, and at least one vertex must have work"
                )
        return rows.there(own)

    def _priced(self, kind: str, new: CountedBlocks, platform: Platform) -> tuple[Proposal, _Found]:
        counts = new.counts
        loads = counts.weights[:, 0]
        predicted = metrics.prediction_of(
            counts.between, loads, counts.interior, platform, self._workload
        )
        pairs, vertices, n_bytes = self._pairs(self._given.blocks, new.blocks)
        source, target = np.divmod(pairs, self.platform.k)
        away = source != target
        weight = np.where(new.blocks != self._given.blocks, self._graph.all_weights, 0.0)
        proposal = Proposal(
            kind,
            float(predicted.seconds.max()),  # without delays, like the measured times
            transfer_seconds(self.platform, source[away], target[away], n_bytes[away]),
            self._graph.summed(weight),
            self._digest(new.blocks),
        )
        return proposal, _Found(new, int(vertices[away].sum()), float(n_bytes[away].sum()))

    def _stays(self, blocks: Part) -> FloatArray:
        """Return (k, k): at [i, j] the bytes of block i of `blocks` (n_own,) held by device j."""
        k = self.platform.k
        pairs, _, n_bytes = self._pairs(blocks, self._given.blocks)
        found = np.zeros(k * k)
        found[pairs] = n_bytes
        return found.reshape(k, k)

    def _pairs(self, one: Part, other: Part) -> tuple[IntVector, IntVector, FloatArray]:
        """Count the vertices that are in block i of `one` and in block j of `other`, for all i, j.

        one, other (n_own,): blocks of this rank's vertices. Returns, over all ranks, the pairs that
        occur as i x k + j in ascending order, and the number of vertices and the bytes [B] of each.
        """
        key = one.astype(np.int64) * self.platform.k + other
        if self.platform.k**2 <= max(key.size, FEW_PAIRS):
            counts = np.bincount(key, minlength=self.platform.k**2)
            own = np.flatnonzero(counts)
            counts, entries = counts[own], np.bincount(key, self._degrees, counts.size)[own]
        else:
            own, which, counts = np.unique(key, return_inverse=True, return_counts=True)
            entries = np.bincount(which, self._degrees, own.size)
        of_ranks = self._graph.comm.allgather((own, counts, entries.astype(np.int64)))
        keys, which = np.unique(np.concatenate([some[0] for some in of_ranks]), return_inverse=True)
        vertices, entries = (
            np.bincount(which, np.concatenate([some[j] for some in of_ranks]), keys.size)
            for j in (1, 2)
        )
        size = self._graph.size
        n_bytes = size.vertex * vertices + size.entry * entries
        return keys, vertices.astype(np.int64), np.asarray(n_bytes, np.float64)

    def _digest(self, blocks: Part) -> str:
        """Return a digest of the blocks of all vertices, computed from a digest per slice."""
        graph = self._graph
        own = [
            hashlib.sha256(np.ascontiguousarray(blocks[graph.span(i)], "<i4").tobytes()).digest()
            for i in graph.own_slices
        ]
        of_ranks = [one for some in graph.comm.allgather(own) for one in some]
        return hashlib.sha256(b"".join(of_ranks)).hexdigest()


def _refusal(kind: str, error: EvenerError) -> str:
    """Return a message why no partition of this kind was made.

    If the error was not raised on all ranks, it is raised again.
    """
    if not error.is_everywhere:
        raise error
    return f"{kind}: {error.message}"


class _OfRank(NamedTuple):
    """What a rank sends to the others: its times (k,) [s] and its span.

    has: whether this rank passes work, and whether it passes numbers; None: this rank has no rows,
    so it may pass them or not.
    """

    times: FloatArray
    span: IterationSpan
    has: tuple[bool | None, bool | None]


def agreed_observation(
    comm: Comm, given: Observation, names: Sequence[str], rows: int
) -> tuple[FloatArray, IterationSpan, bool]:
    """Return the times (k,) [s], the span, and whether ranks pass work, combined from all ranks.

    names (k,): device names. rows: number of rows of this rank; a rank without rows need not pass
    work. Raises InputError on all ranks if one passes an invalid observation, or if two ranks pass
    contradictory ones.
    """

    def own() -> _OfRank:
        times, span = checked_observation(given, len(names))
        has_work = given.work is not None if rows or given.numbers is not None else None
        return _OfRank(times, span, (has_work, given.numbers is not None))

    of_ranks = comm.allgather(agreed(comm, own))
    with raised_everywhere():
        times, span = _joined(of_ranks, names)
    return times, span, any(one.has[0] for one in of_ranks)


def _joined(of_ranks: Sequence[_OfRank], names: Sequence[str]) -> tuple[FloatArray, IterationSpan]:
    for place, name in enumerate(("work", "numbers")):
        by = {one.has[place]: rank for rank, one in reversed(list(enumerate(of_ranks)))}
        if True in by and False in by:
            raise InputError(
                f"rank {by[True]} passes {name}, but rank {by[False]} does not",
                hint="All ranks must pass it, or none.",
            )
    first = of_ranks[0].span
    for rank, (_, span, _) in enumerate(of_ranks):
        if (span.iterations, span.left) != (first.iterations, first.left):
            raise InputError(
                f"rank {rank} passes means of {span.iterations:g} iterations with {span.left:g} "
                f"left, but rank 0 passes means of {first.iterations:g} with {first.left:g} left"
            )
    seconds = [one.span.seconds for one in of_ranks if np.isfinite(one.span.seconds)]
    return _times(of_ranks, names), first._replace(seconds=max(seconds, default=np.inf))


def _times(of_ranks: Sequence[_OfRank], names: Sequence[str]) -> FloatArray:
    """Return the time (k,) [s] of each device, NaN if no rank knows it.

    Raises InputError if two ranks pass different times for a device.
    """
    times = np.full(len(names), np.nan)
    by = np.full(len(names), -1)
    for rank, one in enumerate(of_ranks):
        known = np.isfinite(one.times)
        differ = np.flatnonzero(known & (by >= 0) & (one.times != times))
        if differ.size:
            b = int(differ[0])
            raise InputError(
                f"{names[b]} took {one.times[b]:.6g} s on rank {rank}, but {times[b]:.6g} s on "
                f"rank {by[b]}",
                hint="A rank passes the times of its own devices and None for others, or all ranks "
                "pass the same times.",
            )
        times[known], by[known] = one.times[known], rank
    return times


def longest(comm: Comm, seconds: float) -> float:
    """Return the largest of the seconds that ranks measured, or NaN if one is not a valid time."""
    own = agreed(comm, lambda: float(seconds))
    of_ranks = np.array(comm.allgather(own))
    return float(of_ranks.max()) if ((of_ranks >= 0) & (of_ranks < MAX_TIME)).all() else np.nan
