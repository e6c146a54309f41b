"""Rebalancer: moves a running program's data when, and only when, that pays.

    rebalancer = ev.Rebalancer(plan, graph, replan=ev.replan, log="decisions.jsonl")
    move = rebalancer.observe(times)                # after each iteration
    if move is not None: ...                        # move.part[v]: the device of vertex v now
    rebalancer.moved(seconds)                       # what that took, as measured

Measured times correct the plan's speed models. The seconds lost to the imbalance are added up, and
when they reach the price of a move, data moves (regret.py). The best of the partitions in
proposals.py is taken. Each is priced by its predicted seconds per iteration and by the seconds of
moving its bytes over the real links, plus what planning and rebuilding halos took last time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, as_numbers
from evener.errors import InfeasibleError, InputError, ToolError, UsageError
from evener.graphs.graph import Graph
from evener.plans import metrics
from evener.plans.partition import Partition
from evener.plans.plan import Plan
from evener.plans.workload import WEIGHTS, Workload, workload_from_dict
from evener.platforms.platform import Platform
from evener.platforms.with_curves import models_of
from evener.rebalancing.decider import (
    MAX_TIME,
    Decider,
    Decision,
    IterationSpan,
    LoadState,
    Proposal,
    checked_times,
)
from evener.rebalancing.decision_log import Recorder
from evener.rebalancing.proposals import (
    Replan,
    diffused,
    matched,
    messages,
    refined,
    slowed,
    transfer_seconds,
    usual_per_byte,
)
from evener.rebalancing.regret import NOISE_FLOOR
from evener.wording import brief

MOST_ITERATIONS = 1e15  # that are counted exactly


@dataclass(frozen=True, eq=False)
class Move:
    """A move of data: part (n,) int32, the device of every vertex from now on.

    kind: "diffused", "refined", "replanned" or "matched". vertices, n_bytes [B]: that change
    device. saving [s per iteration], cost [s]: predicted.
    """

    part: npt.NDArray[np.int32]
    kind: str
    vertices: int
    n_bytes: float
    saving: float
    cost: float

    def __repr__(self) -> str:
        return brief(self)


class Rebalancer:
    """Returns a Move after an iteration when moving data pays.

    plan: with one weight per vertex; graph: the one it was made for. replan: makes a partition from
    scratch, `ev.replan`; None: vertices move only between neighbouring blocks. log: path of the
    decision log. rebuild_seconds: what a move takes beside its bytes, until `moved` reports it;
    None: the time of an iteration. noise_floor: savings up to this share of an iteration are noise.

    Attributes: `partition`, the present one; `last`, the latest Decision; `moves`, their number;
    `rebuild_seconds`, as learnt. Equal calls give equal decisions. Raises InputError where plan
    and graph differ in length, UsageError for several weights per vertex.
    """

    def __init__(
        self,
        plan: Plan,
        graph: Graph,
        *,
        replan: Replan | None = None,
        log: str | Path | None = None,
        rebuild_seconds: float | None = None,
        noise_floor: float = NOISE_FLOOR,
    ) -> None:
        plan.partition.checked_for(graph.n)
        if graph.n_constraints > 1:
            raise UsageError(f"one weight per vertex is rebalanced, not {graph.n_constraints}")
        workload = _workload_of(plan)
        self.partition = plan.partition
        self._plan, self._replan, self._platform = plan, replan, plan.platform
        self._graph = workload.weighted(graph)
        # From here on the vertex weights are the work; messages and overlap stay the workload's.
        self._workload = replace(
            workload, flops_per_vertex=0, flops_per_edge=0, bytes_per_vertex=0, bytes_per_edge=0
        )
        state = self._state(self.partition)
        if rebuild_seconds is None:
            rebuild_seconds = float((state.compute + state.other).max())
        self._found: list[Partition] = []
        self._refused: list[str] = []
        decider = Decider(state, rebuild_seconds, noise_floor)
        self._recorder = Recorder(decider, log, plan.platform.names, {"vertices": graph.n})

    @property
    def rebuild_seconds(self) -> float:
        """Seconds that a move takes beside its bytes, as learnt."""
        return self._recorder.decider.rebuild

    @property
    def moves(self) -> int:
        """Number of moves so far."""
        return self._recorder.moves

    @property
    def observations(self) -> int:
        """Number of calls of `observe` so far."""
        return self._recorder.decider.count

    @property
    def last(self) -> Decision | None:
        """The latest decision, or None before any."""
        return self._recorder.last

    @property
    def silent(self) -> list[str]:
        """Names of devices without a time in the last iteration."""
        if self.last is None:
            return []
        return [self._platform.names[b] for b in np.flatnonzero(self.last.silent)]

    def observe(
        self,
        times: Sequence[float | None] | FloatArray,
        work: npt.ArrayLike | None = None,
        *,
        iterations: float = 1.0,
        left: float | None = None,
        seconds: float | None = None,
    ) -> Move | None:
        """Take in the seconds that each device computed in an iteration; return a Move, or None.

        times (k,) [s]: without waiting for others; None, NaN or infinity for a device without a
        time, which is assumed to be as fast as before. work (n,) [units]: new vertex weights from
        this iteration on. iterations: of how many the times are means, where not each is observed.
        left: how many follow at most, where that is known: data then moves only if that pays by the
        end. seconds: that an iteration took as a whole, waiting included, by which is judged what a
        move has gained; None: the longest of the times. Raises InputError for a wrong number of
        times or weights, and for negative ones.
        """
        span = _checked_span(iterations, left, seconds)
        given = checked_times(times, self._platform.k)
        changed, self._refused = None, []
        if work is not None:
            self._graph = self._graph.with_(vwgt=self._checked(work))
            changed = self._state(self.partition)
        decision = self._recorder.decide(given, self._propose, changed, self._refused, span)
        return None if decision.move is None else self._carried_out(decision)

    def moved(self, seconds: float) -> None:
        """Report the seconds that the last move took as a whole; later ones are priced by them.

        From before `observe` until halos are rebuilt, so planning counts too. Raises InputError
        before any move, and for an invalid time.
        """
        self._recorder.moved(seconds)

    def close(self) -> None:
        """Close the decision log."""
        self._recorder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _checked(self, work: npt.ArrayLike) -> FloatArray:
        weights = as_numbers(work, "work")
        if weights.size != self._graph.n:
            raise InputError(f"{weights.size:,} weights for {self._graph.n:,} vertices")
        if weights.min() < 0 or not weights.sum() > 0:
            raise InputError("work must not be negative, and one vertex must have some")
        return weights

    def _state(self, partition: Partition) -> LoadState:
        """Return the state of an iteration with `partition`, by the models of the plan."""
        graph, platform = self._graph, self._platform
        predicted = metrics.predicted_seconds(graph, partition, platform, self._workload)
        loads = metrics.block_weights(graph, partition)
        even = graph.total_weight / platform.k
        idle = [float(model.speed(even)) for model in models_of(platform)]
        density = graph.total_bytes / graph.total_weight
        return LoadState(
            loads=loads,
            compute=predicted.compute,
            other=predicted.communicate + predicted.fixed - predicted.overlapped,
            idle_rates=np.array(idle),
            high=np.minimum(platform.high_units, platform.memories / density),
            per_unit=usual_per_byte(platform) * density,
        )

    def _propose(self, slowness: FloatArray, loads: FloatArray) -> list[Proposal]:
        platform = slowed(self._platform, slowness)
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
            except (InfeasibleError, ToolError) as error:  # the program goes on as it is
                self._refused.append(f"{kind}: {error.message}")
        if "diffused" in found:
            better = refined(self._graph, found["diffused"], platform, self._workload)
            found |= {} if better is None else {"refined": better}
        if "replanned" in found:
            found["matched"] = matched(self._graph, self.partition, found["replanned"], platform)
        self._found = list(found.values())
        return [self._priced(kind, one, platform) for kind, one in found.items()]

    def _priced(self, kind: str, new: Partition, platform: Platform) -> Proposal:
        away = new.part != self.partition.part
        sent = messages(self.partition.part, new.part, self._graph.vertex_bytes(), new.k)
        predicted = metrics.predicted_seconds(self._graph, new, platform, self._workload)
        return Proposal(
            kind,
            float(predicted.seconds.max()),  # without delays, like the times that are measured
            transfer_seconds(self._platform, *sent),
            float(np.asarray(self._graph.weights(), np.float64)[away].sum()),
            hashlib.sha256(np.ascontiguousarray(new.part, "<i4").tobytes()).hexdigest(),
        )

    def _carried_out(self, decision: Decision) -> Move:
        assert decision.move is not None
        chosen, new = decision.proposals[decision.move], self._found[decision.move]
        away = new.part != self.partition.part
        n_bytes = float(self._graph.vertex_bytes()[away].sum())
        self.partition, self._found = new, []
        self._recorder.carry_out(self._state(new))
        return Move(new.part, chosen.kind, int(away.sum()), n_bytes, decision.saving, decision.cost)


def _checked_span(iterations: float, left: float | None, seconds: float | None) -> IterationSpan:
    """Return what all say. Raises InputError for what are no numbers of iterations, or seconds."""
    if not 0 < iterations <= MOST_ITERATIONS:
        raise InputError(f"times are means of some iterations, not of {iterations}")
    if left is not None and not 0 <= left <= MOST_ITERATIONS:
        raise InputError(f"a number of iterations is left, not {left}")
    if seconds is not None and not 0 <= seconds < MAX_TIME:
        raise InputError(f"an iteration takes some seconds, not {seconds}")
    known = [float("inf") if one is None else float(one) for one in (left, seconds)]
    return IterationSpan(float(iterations), *known)


def _workload_of(plan: Plan) -> Workload:
    given = plan.options.get("workload")
    if given is None or isinstance(given, Workload):
        return given or WEIGHTS
    return workload_from_dict(given)
