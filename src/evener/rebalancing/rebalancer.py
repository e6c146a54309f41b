"""Rebalancer: moves a running program's data when, and only when, that pays.

    rebalancer = ev.Rebalancer(plan, graph, replan=ev.replan, log="decisions.jsonl")
    move = rebalancer.observe(times)                # after each iteration
    if move is not None: ...                        # move data: move.part[v] is v's new device
    rebalancer.moved(seconds)                       # report how long the move took

Measured times correct the plan's speed models. The seconds lost to the imbalance are added up, and
when they reach the price of a move, data moves (regret.py) to the best of the partitions in
proposals.py. A partition is judged by its predicted seconds per iteration and by its price: the
seconds to move its bytes over the real links, plus the time that planning and rebuilding halos took
in earlier moves.
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
    """A move of data: part (n,) int32 is the new device of every vertex.

    In an MPI program, part (rows,) has the devices of this rank's rows only; the other fields
    describe the whole graph.

    kind: "diffused", "refined", "replanned" or "matched". vertices, n_bytes [B]: number of vertices
    that change device, and their bytes. saving [s per iteration], cost [s]: predictions.
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
    """Returns a Move after an iteration if moving data pays.

    plan: a plan with one weight per vertex; graph: the graph for which it was made. replan: a
    function that makes a partition from scratch, such as `ev.replan`; None: vertices move only
    between neighbouring blocks. log: path of the decision log. rebuild_seconds: assumed time of a
    move in addition to the transfer of its bytes, until `moved` reports the real time; None: the
    time of an iteration. noise_floor: savings up to this fraction of an iteration are noise.

    In an MPI program, pass a RankPlan and its DistributedGraph. All ranks must call the same
    methods in the same order. Rank 0 decides for all ranks and writes the log; `partition`, and
    `part` of a Move, then contain the rows of this rank only. The moves do not depend on the number
    of ranks.

    Attributes: `partition`, the current partition; `last`, the latest Decision; `moves`, the number
    of moves; `rebuild_seconds`, the learnt value. The same calls give the same decisions. Raises
    InputError if plan and graph have different numbers of vertices, UsageError for several weights
    per vertex.
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
        """The current partition; in an MPI program, of this rank's rows only."""
        return self._data.partition

    @property
    def rebuild_seconds(self) -> float:
        """Learnt seconds that a move takes in addition to the transfer of its bytes."""
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
        """The latest decision, or None if there is none yet."""
        return self._recorder.last

    @property
    def silent(self) -> list[str]:
        """Names of the devices without a time in the latest observation."""
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
        """Record the computing time of each device in an iteration; return a Move, or None.

        times (k,) [s]: computing times, without waiting for other devices; None, NaN or infinity
        for a device without a time, which is assumed to be as fast as before. work (n,) [units]:
        new vertex weights, from this iteration on. iterations: number of iterations of which the
        times are means, if not every iteration is observed. left: the largest number of iterations
        that follow, if known; data then moves only if the move pays before the end. seconds: wall
        time of an iteration including waiting, from which the gain of a move is measured; None: use
        the longest of the times. Raises InputError for a wrong number of times or weights, and for
        negative ones.

        In an MPI program, each rank passes the times that it knows (of its own device, or of all)
        and None for other devices; two ranks must not pass different times for a device. work
        (rows,): weights of the rows that this rank has now; either all ranks pass it or none.
        numbers (rows,): vertex numbers of this rank's rows, if they have changed; either all ranks
        pass it or none; later Moves refer to these rows. iterations and left must be equal on all
        ranks; of `seconds`, the largest is used. An InputError is raised on all ranks and changes
        nothing.
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
        """Report the total seconds of the last move, from which the price of later moves is learnt.

        Measure from before `observe` until halos are rebuilt, so that planning is included. In an
        MPI program all ranks must call, and the longest time counts. Raises InputError if there was
        no move, and for an invalid time.
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
    """Return the HeldData for a graph in one process, or for a graph distributed over ranks.

    Raises UsageError if plan and graph are not of the same kind.
    """
    if isinstance(plan, RankPlan) and isinstance(graph, DistributedGraph):
        return RankData(plan, graph, cast("RankReplan | None", replan))
    if isinstance(plan, RankPlan) or isinstance(graph, DistributedGraph):
        raise UsageError(
            f"a {type(plan).__name__} does not belong to a {type(graph).__name__}",
            hint="On ranks, pass a DistributedGraph and the RankPlan that ev.plan returned for it.",
        )
    return MemoryData(plan, graph, cast("Replan | None", replan))
