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

from dataclasses import dataclass
from pathlib import Path
from typing import Self, cast

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.plans.plan import Plan
from evener.plans.rank_plan import RankPlan
from evener.rebalancing.decider import Decider, Decision, Proposal
from evener.rebalancing.decision_log import Recorder
from evener.rebalancing.held_data import HeldData, Observation, Times
from evener.rebalancing.memory_data import MemoryData
from evener.rebalancing.proposals import Replan
from evener.rebalancing.rank_data import RankData, RankReplan
from evener.rebalancing.regret import NOISE_FLOOR
from evener.sliced.distributed import DistributedGraph
from evener.wording import brief


@dataclass(frozen=True, eq=False)
class Move:
    """A move of data: part (n,) int32, the device of every vertex from now on.

    On ranks part (rows,) is of the rows that this rank has; all else is of the whole graph.

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
    decision log. rebuild_seconds: what a move takes besides transferring its bytes, until `moved`
    reports it; None: the time of an iteration. noise_floor: savings up to this share of an
    iteration are noise.

    On the ranks of an MPI program: a RankPlan and its DistributedGraph. All ranks call the same
    methods in the same order, and get the same decision, taken by rank 0, which writes the log; a
    Move's `part` and `partition` are then of the rows that the rank has. The same moves for any
    number of ranks.

    Attributes: `partition`, the present one; `last`, the latest Decision; `moves`, their number;
    `rebuild_seconds`, as learnt. Equal calls give equal decisions. Raises InputError where plan
    and graph differ in length, UsageError for several weights per vertex.
    """

    def __init__(
        self,
        plan: Plan | RankPlan,
        graph: Graph | DistributedGraph,
        *,
        replan: Replan | RankReplan | None = None,
        log: str | Path | None = None,
        rebuild_seconds: float | None = None,
        noise_floor: float = NOISE_FLOOR,
    ) -> None:
        self._data = data = _held(plan, graph, replan)
        self._refused: list[str] = []
        with data.together():
            state = data.state()

            def recorder() -> Recorder:
                usual = float((state.compute + state.other).max())
                rebuild = usual if rebuild_seconds is None else rebuild_seconds
                decider = Decider(state, rebuild, noise_floor)
                return Recorder(decider, log, data.platform.names, {"vertices": data.n})

            self._recorder = data.recorder(recorder)

    @property
    def partition(self) -> Partition:
        """The present partition; on ranks, of the rows that this one has."""
        return self._data.partition

    @property
    def rebuild_seconds(self) -> float:
        """Learnt seconds that a move takes besides transferring its bytes."""
        return self._recorder.rebuild_seconds

    @property
    def moves(self) -> int:
        """Number of moves so far."""
        return self._recorder.moves

    @property
    def observations(self) -> int:
        """Number of calls of `observe` so far."""
        return self._recorder.observations

    @property
    def last(self) -> Decision | None:
        """The latest decision, or None before any."""
        return self._recorder.last

    @property
    def silent(self) -> list[str]:
        """Names of devices without a time in the last iteration."""
        if self.last is None:
            return []
        return [self._data.platform.names[b] for b in np.flatnonzero(self.last.silent)]

    def observe(
        self,
        times: Times,
        work: npt.ArrayLike | None = None,
        *,
        iterations: float = 1.0,
        left: float | None = None,
        seconds: float | None = None,
        numbers: npt.ArrayLike | None = None,
    ) -> Move | None:
        """Take in the seconds that each device computed in an iteration; return a Move, or None.

        times (k,) [s]: without waiting for others; None, NaN or infinity for a device without a
        time, which is assumed to be as fast as before. work (n,) [units]: new vertex weights from
        this iteration on. iterations: of how many the times are means, where not each is observed.
        left: how many follow at most, where that is known: data then moves only if that pays by the
        end. seconds: that an iteration took as a whole, waiting included, by which is judged what a
        move has gained; None: the longest of the times. Raises InputError for a wrong number of
        times or weights, and for negative ones.

        On ranks each passes the times that it knows, None for others: of its own device, or all.
        Two ranks do not tell different times of a device. work (rows,), on all ranks or none: of
        the rows that this rank has now. numbers (rows,): the vertices of these rows, where they are
        no longer those of before, on all ranks or none; Moves are of these rows from then on.
        iterations and left are the same on all ranks; of seconds the longest counts. InputErrors
        are raised on all ranks; nothing has changed then.
        """
        given = Observation(times, work, numbers, iterations, left, seconds)
        with self._data.together():
            told, changed, self._refused = self._data.observed(given), None, []
            if told.work is not None:
                self._data.reweigh(told.work)
                changed = self._data.state()
            decision = self._recorder.decide(
                told.times, self._propose, changed, self._refused, told.span
            )
            return None if decision.move is None else self._carried_out(decision)

    def moved(self, seconds: float) -> None:
        """Report the seconds that the last move took as a whole; later ones are priced by them.

        From before `observe` until halos are rebuilt, so planning counts too. On ranks all call,
        and the longest counts. Raises InputError before any move, and for an invalid time.
        """
        with self._data.together():
            self._recorder.moved(self._data.agreed_seconds(seconds))

    def close(self) -> None:
        """Close the decision log."""
        self._recorder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _propose(self, slowness: FloatArray, loads: FloatArray) -> list[Proposal]:
        offers = self._data.propose(slowness, loads)
        self._refused += offers.refused
        return offers.proposals

    def _carried_out(self, decision: Decision) -> Move:
        assert decision.move is not None
        kind = decision.proposals[decision.move].kind
        done = self._data.carry_out(decision.move)
        self._recorder.carry_out(done.state)
        return Move(done.part, kind, done.vertices, done.n_bytes, decision.saving, decision.cost)


def _held(
    plan: Plan | RankPlan, graph: Graph | DistributedGraph, replan: Replan | RankReplan | None
) -> HeldData:
    """Return the data of one process, or of ranks."""
    if isinstance(plan, RankPlan) and isinstance(graph, DistributedGraph):
        return RankData(plan, graph, cast("RankReplan | None", replan))
    if isinstance(plan, RankPlan) or isinstance(graph, DistributedGraph):
        raise UsageError(
            f"a {type(plan).__name__} does not belong to a {type(graph).__name__}",
            hint="On ranks, pass a DistributedGraph and the RankPlan that ev.plan returned for it.",
        )
    return MemoryData(plan, graph, cast("Replan | None", replan))
