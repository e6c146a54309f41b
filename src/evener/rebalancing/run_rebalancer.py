"""RunRebalancer: asks a Rebalancer whether the vertices of a run are to change device.

It turns what `evener run` measures into what a Rebalancer takes: seconds that each device needs for
all arcs of its vertices. With the dense schedule these are its seconds of computing in a superstep.
The others look at some arcs in a superstep, in others the next; there an observation is made of so
many supersteps that as many arcs were looked at as there are, and the seconds of an arc count, as
far as a device has looked at enough of them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.plans import metrics
from evener.plans.plan import Plan
from evener.rebalancing.decider import Decision, plain
from evener.rebalancing.gains import MoveGain
from evener.rebalancing.proposals import Replan, slowed
from evener.rebalancing.rebalancer import Rebalancer
from evener.rebalancing.regret import ENOUGH, NOISE_FLOOR, is_typical
from evener.running.moving import DeviceTimes, MoveAdvice

# Share of its arcs that a device must have looked at for its seconds of an arc to count: with
# fewer, starting a superstep takes longer than the arcs. Chosen by hand.
ENOUGH_ARCS = 0.25
MOST_CHECKS = 1000  # that are kept: of a run of hours the last ones
# Of the first partition made while a run goes on, until it has been measured: moving a sixth of a
# grid's 4 million vertices to another device took 0.5 s of one core; rounded up.
PLANNING_SECONDS_PER_VERTEX = 1.5e-7


class MoveCheck(NamedTuple):
    """An observation while a run goes on, and what came of it.

    step: supersteps done. seconds (k,): of computing, for all arcs once, None where unknown. speeds
    (k,): by these, relative to what was measured first. lost [s]: until now, by the imbalance;
    saving [s a superstep], cost [s]: predicted; believed: share of the saving that is, by what
    earlier moves gained. decision: "move" or "stay"; reason: why.
    """

    step: int
    seconds: tuple[float | None, ...]
    speeds: tuple[float, ...]
    lost: float
    saving: float
    cost: float
    believed: float
    decision: str
    reason: str


def _check_of(
    decision: Decision, times: FloatArray, step: int, asked: tuple[bool, float, float | None]
) -> MoveCheck:
    """Return the record of a decision for a report.

    asked: whether little has been observed yet, iterations of a superstep, those left.
    """
    is_early, of_superstep, left = asked
    slowness = decision.slowness
    speeds = 1 / np.where(np.isfinite(slowness) & (slowness > 0), slowness, 1.0)
    verb = "stay" if decision.move is None else "move"
    return MoveCheck(
        step, tuple(plain(times)), tuple(speeds.tolist()), decision.regret,
        of_superstep * decision.saving, decision.cost, decision.believed, verb,
        _reason(decision, is_early, left),
    )  # fmt: skip


def _reason(decision: Decision, is_early: bool, left: float | None) -> str:
    """Return in words why data moves or stays, by the rule of regret.py."""
    if decision.move is not None:
        return "the seconds lost have reached the price of a move"
    if decision.saving <= NOISE_FLOOR * (decision.now - decision.saving):
        return "a move would save almost nothing"
    if is_early:
        return "too few observations"
    believed = decision.believed
    if believed <= 0:
        return "supersteps with such blocks took as long or longer"
    if decision.regret < ENOUGH * decision.cost:
        if decision.regret < believed * ENOUGH * decision.cost:
            return "the seconds lost are below the price of a move"
        return (
            f"withheld: earlier moves gained less than predicted, so {believed:.0%} of the "
            "prediction counts"
        )
    if left is not None and believed * decision.saving * left <= decision.cost:
        return "a move would save less than its price before the end"
    return "no partition saves the price of moving to it"


def _of_superstep(gain: MoveGain, part: float) -> MoveGain:
    """Return a gain of an iteration as that of a superstep, which is a part of one."""
    return gain._replace(predicted=part * gain.predicted, realized=part * gain.realized)


class RunRebalancer:
    """Says when the vertices of a run are to change device; an evener.running.moving.Adviser.

    plan, graph: of the run. replan, log: as of Rebalancer. Decisions are those of a Rebalancer
    whose speeds are scaled to the first seconds measured, since those of a machine file may be
    relative. Attributes: `rebalancer`, None until all devices have been measured; `checks`, the
    last MOST_CHECKS observations and what came of them; `gains`, of the moves that have been
    judged, by their numbers, in seconds of a superstep. Raises UsageError for several weights per
    vertex.
    """

    def __init__(
        self,
        plan: Plan,
        graph: Graph | DirectedGraph,
        *,
        replan: Replan | None = None,
        log: str | Path | None = None,
    ) -> None:
        if graph.n_constraints > 1:
            raise UsageError(
                f"rebalancing works with one weight per vertex, not {graph.n_constraints}"
            )
        self.rebalancer: Rebalancer | None = None
        self.checks: deque[MoveCheck] = deque(maxlen=MOST_CHECKS)
        self.gains: dict[int, MoveGain] = {}
        self._plan, self._replan, self._log = plan, replan, log
        self._graph = graph
        # Of the supersteps since the last observation.
        self._computing: FloatArray = np.zeros(plan.platform.k)
        self._arcs: FloatArray = np.zeros(plan.platform.k)
        self._supersteps, self._seconds = 0, 0.0
        self._sweeps = 0.0  # observed so far: all arcs, once

    def observe(self, seen: DeviceTimes) -> MoveAdvice | None:
        """Take in what devices did; return what to do, or None to go on."""
        self._computing += seen.computing
        self._arcs += seen.arcs
        self._supersteps += seen.supersteps
        self._seconds += seen.seconds
        if seen.is_dense:
            times, sweeps = self._computing / self._supersteps, float(self._supersteps)
        else:
            times, sweeps = self._times_of_arcs()
        if sweeps < 1 or (self.rebalancer is None and not np.isfinite(times).all()):
            return None
        of_superstep, seconds = sweeps / self._supersteps, self._seconds / sweeps
        self._computing[:], self._arcs[:], self._supersteps, self._seconds = 0.0, 0.0, 0, 0.0
        if self.rebalancer is None:
            self.rebalancer = self._made(times, seen.built)
        left = seen.left if seen.is_dense else None
        took = seconds if np.isfinite(seconds) else None
        move = self.rebalancer.observe(times, iterations=sweeps, left=left, seconds=took)
        decision = self.rebalancer.last
        assert decision is not None
        if decision.gain is not None:
            self.gains[decision.gain.move] = _of_superstep(decision.gain, of_superstep)
        self._sweeps += sweeps
        is_early = not is_typical(self.rebalancer.observations, self._sweeps)
        self.checks.append(_check_of(decision, times, seen.step, (is_early, of_superstep, left)))
        if move is None:
            return None
        return MoveAdvice(move.part, move.kind, of_superstep * move.saving, move.cost)

    def moved(self, seconds: float) -> None:
        """Take in the seconds that the last move took."""
        assert self.rebalancer is not None
        self.rebalancer.moved(seconds)

    def close(self) -> None:
        """Close the decision log."""
        if self.rebalancer is not None:
            self.rebalancer.close()

    def _made(self, times: FloatArray, built: float) -> Rebalancer:
        """Return the Rebalancer, by the plan's speeds times one factor.

        times (k,) [s]: first seconds measured. built [s]: what making the parts took.
        """
        plan, edges = self._plan, self._graph.undirected()
        work = plan.workload.weighted(edges)
        loads = metrics.block_weights(work, plan.partition)
        stated = metrics.compute_seconds(loads, plan.platform)
        ratio = float(times.sum() / max(float(stated.sum()), 1e-300))
        platform = slowed(plan.platform, np.full(plan.platform.k, ratio if ratio > 0 else 1.0))
        return Rebalancer(
            replace(plan, platform=platform), edges,
            replan=self._replan, log=self._log,
            rebuild_seconds=built + PLANNING_SECONDS_PER_VERTEX * edges.n,
        )  # fmt: skip

    def _times_of_arcs(self) -> tuple[FloatArray, float]:
        """Return seconds (k,) of all arcs, and how often as many were looked at.

        NaN for a device that has looked at too few.
        """
        own = self._arcs_owned()
        known = (self._arcs >= ENOUGH_ARCS * own) & (self._arcs > 0)
        each = self._computing / np.where(known, self._arcs, 1.0)
        times = np.where(known, each * own, np.nan)
        return np.where(own > 0, times, 0.0), float(self._arcs.sum() / max(own.sum(), 1.0))

    def _arcs_owned(self) -> FloatArray:
        """Return (k,) how many arcs leave the vertices of each device."""
        partition = self._plan.partition if self.rebalancer is None else self.rebalancer.partition
        degrees = np.diff(self._graph.arcs_out().xadj)
        return np.bincount(partition.part, degrees, partition.k).astype(np.float64)
