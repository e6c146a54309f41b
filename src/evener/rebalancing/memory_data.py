"""MemoryData: the data of a Rebalancer if one process holds the whole graph."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from evener.arrays import FloatArray
from evener.errors import InfeasibleError, InputError, ToolError, UsageError
from evener.graphs.graph import Graph
from evener.plans import metrics
from evener.plans.partition import Partition
from evener.plans.plan import Plan
from evener.platforms.platform import Platform
from evener.rebalancing.decider import LoadState, Proposal
from evener.rebalancing.decision_log import Recorder
from evener.rebalancing.held_data import (
    AgreedObservation,
    CarriedOut,
    Observation,
    Offers,
    checked_observation,
    checked_work,
    state_of_loads,
    workload_in,
)
from evener.rebalancing.proposals import (
    Replan,
    diffused,
    matched,
    messages,
    refined,
    slowed,
    transfer_seconds,
)


class MemoryData:
    """HeldData of a graph in the memory of one process.

    Raises InputError if plan and graph have different numbers of vertices, UsageError for several
    weights per vertex.
    """

    def __init__(self, plan: Plan, graph: Graph, replan: Replan | None) -> None:
        self.partition = plan.partition.checked_for(graph.n)
        if graph.n_constraints > 1:
            raise UsageError(
                f"rebalancing works with one weight per vertex, not {graph.n_constraints}"
            )
        if graph.together is not None or plan.graph.get("groups"):
            raise UsageError(
                "rebalancing moves single vertices, and cannot keep vertices together",
                hint="Plan again with the new speeds: ev.tuned.",
            )
        workload = workload_in(plan.options)
        self.n, self.platform = graph.n, plan.platform
        self._plan, self._replan = plan, replan
        self._graph = workload.weighted(graph)
        # The vertex weights are now the work, so the workload only states messages and overlap.
        self._workload = workload.without_work()
        self._found: list[Partition] = []

    def together(self) -> AbstractContextManager[None]:
        """Return a context that does nothing, as there are no other processes."""
        return nullcontext()

    def recorder(self, make: Callable[[], Recorder]) -> Recorder:
        """Return the Recorder that `make` creates."""
        return make()

    def observed(self, given: Observation) -> AgreedObservation:
        """Return the checked observation. Raises InputError or UsageError for invalid arguments."""
        times, span = checked_observation(given, self.platform.k)
        if given.numbers is not None:
            raise UsageError("numbers are only for rows on ranks; a Graph has its own numbers")
        work = None
        if given.work is not None:
            work = checked_work(given.work, self.n)
            if not work.sum() > 0:
                raise InputError(
                    "work must not be negative, and at least one vertex must have work"
                )
        return AgreedObservation(times, work, span)

    def agreed_seconds(self, seconds: float) -> float:
        """Return `seconds` unchanged, as there are no other processes."""
        return seconds

    def reweigh(self, work: FloatArray) -> None:
        """Replace the vertex weights by `work` (n,)."""
        self._graph = self._graph.with_(vwgt=work)

    def state(self) -> LoadState:
        """Return the LoadState of the current partition, computed with the plan's models."""
        graph, platform = self._graph, self.platform
        predicted = metrics.predicted_seconds(graph, self.partition, platform, self._workload)
        loads = metrics.block_weights(graph, self.partition)
        other = predicted.communicate + predicted.fixed - predicted.overlapped
        total = graph.total_weight, graph.total_bytes
        return state_of_loads(loads, predicted.compute, other, total, platform)

    def propose(self, slowness: FloatArray, loads: FloatArray) -> Offers:
        """Return the partitions that data could move to.

        slowness (k,): of the devices now. loads (k,): target loads [units].
        """
        platform, refused = slowed(self.platform, slowness), []
        ways: dict[str, Callable[[], Partition]] = {
            "diffused": lambda: diffused(self._graph, self.partition, loads, platform)
        }
        if self._replan is not None:
            again = self._replan
            ways["replanned"] = lambda: again(self._plan, self._graph, platform, self._workload)
        found: dict[str, Partition] = {}
        for kind, way in ways.items():
            try:
                found[kind] = way().checked_for(self._graph.n)
            except (InfeasibleError, ToolError) as error:  # do not stop the program
                refused.append(f"{kind}: {error.message}")
        if "diffused" in found:
            better = refined(self._graph, found["diffused"], platform, self._workload)
            found |= {} if better is None else {"refined": better}
        if "replanned" in found:
            found["matched"] = matched(self._graph, self.partition, found["replanned"], platform)
        self._found = list(found.values())
        return Offers([self._priced(kind, one, platform) for kind, one in found.items()], refused)

    def carry_out(self, index: int) -> CarriedOut:
        """Apply the proposal `index` of the last `propose`: it becomes the current partition."""
        new = self._found[index]
        away = new.part != self.partition.part
        n_bytes = float(self._graph.vertex_bytes()[away].sum())
        self.partition, self._found = new, []
        return CarriedOut(new.part, int(away.sum()), n_bytes, self.state())

    def _priced(self, kind: str, new: Partition, platform: Platform) -> Proposal:
        away = new.part != self.partition.part
        sent = messages(self.partition.part, new.part, self._graph.vertex_bytes(), new.k)
        predicted = metrics.predicted_seconds(self._graph, new, platform, self._workload)
        return Proposal(
            kind,
            float(predicted.seconds.max()),  # without delays, like the measured times
            transfer_seconds(self.platform, *sent),
            float(np.asarray(self._graph.weights(), np.float64)[away].sum()),
            hashlib.sha256(np.ascontiguousarray(new.part, "<i4").tobytes()).hexdigest(),
        )
