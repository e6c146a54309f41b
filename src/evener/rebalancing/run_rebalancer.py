"""RunRebalancer: decides with a Rebalancer whether vertices change device during `evener run`.

It converts the measurements of `evener run` into the input of a Rebalancer: the seconds that each
device needs to process all arcs of its vertices once (a sweep). With the dense schedule this is its
computing time in a superstep. Other schedules process only some arcs in each superstep. For these,
an observation covers several supersteps, until the arcs processed are at least as many as the graph
has. The seconds of a device are then its seconds per arc times its number of arcs, if it has
processed enough arcs.
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

# A device's seconds per arc are used only if it has processed this fraction of its arcs: with
# fewer, the overhead of a superstep dominates. Chosen by hand.
ENOUGH_ARCS = 0.25
MOST_CHECKS = 1000  # number of latest checks that are stored
# Assumed time of the first move during a run besides building parts, until it has been measured:
# moving a tenth of a grid's million vertices took 0.65 to 1.1 s, a sixth of 4 million 4.2 to 5.1 s.
PLANNING_SECONDS_PER_VERTEX = 8e-7


class MoveCheck(NamedTuple):
    """An observation during a run, and the decision that followed.

    step: number of supersteps done. seconds (k,): time in which each device computes all its arcs
    once, None if unknown. speeds (k,): estimated speeds, relative to those that the first
    measurement implied. lost [s]: time lost to the imbalance so far. saving [s per superstep], cost
    [s]: predictions for a move. believed: fraction of the saving that is expected, given the gains
    of earlier moves. decision: "move" or "stay"; reason: a phrase that explains it.
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
    """Return the MoveCheck of a decision.

    asked: three values: whether there are too few observations for a move; the number of sweeps
    (iterations of the Rebalancer) per superstep; the number of sweeps left, or None.
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
    """Return a phrase that says why data moves or stays, by the rule of regret.py."""
    if decision.move is not None:
        return "the seconds lost have reached the price of a move"
    if decision.saving <= NOISE_FLOOR * (decision.now - decision.saving):
        return "a move would save almost nothing"
    if is_early:
        return "too few observations"
    believed = decision.believed
    if believed <= 0:
        return "earlier supersteps with similar blocks took as long or longer"
    if decision.regret < ENOUGH * decision.cost:
        if decision.regret < believed * ENOUGH * decision.cost:
            return "the seconds lost are below the price of a move"
        return (
            f"withheld: earlier moves gained less than predicted, so {believed:.0%} of the "
            "prediction counts"
        )
    if left is not None and believed * decision.saving * left <= decision.cost:
        return "until the end of the run, a move would save less than its price"
    return "no partition saves the price of moving to it"


def _of_superstep(gain: MoveGain, part: float) -> MoveGain:
    """Return a gain per iteration (sweep) as a gain per superstep.

    part: number of sweeps per superstep.
    """
    return gain._replace(predicted=part * gain.predicted, realized=part * gain.realized)


class RunRebalancer:
    """Decides when vertices of a run change device; it implements evener.running.moving.Adviser.

    plan, graph: those of the run. replan, log: passed to Rebalancer, which takes the decisions. Its
    speeds are the plan's speeds, scaled to the first times measured, since the speeds of a machine
    file may be relative. Attributes: `rebalancer`, None until all devices have been measured;
    `checks`, the last MOST_CHECKS observations with their decisions; `gains`, a dictionary from the
    number of a judged move to its MoveGain, in seconds per superstep. Raises UsageError for several
    weights per vertex.
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
        # Totals over the supersteps since the last observation.
        self._computing: FloatArray = np.zeros(plan.platform.k)
        self._arcs: FloatArray = np.zeros(plan.platform.k)
        self._supersteps, self._seconds = 0, 0.0
        self._sweeps = 0.0  # number observed so far; a sweep processes all arcs once

    def observe(self, seen: DeviceTimes) -> MoveAdvice | None:
        """Record what the devices did since the last call; return a move, or None for no change."""
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
        """Record the total seconds that the last move took."""
        assert self.rebalancer is not None
        self.rebalancer.moved(seconds)

    def close(self) -> None:
        """Close the decision log."""
        if self.rebalancer is not None:
            self.rebalancer.close()

    def _made(self, times: FloatArray, built: float) -> Rebalancer:
        """Return the Rebalancer, with the plan's speeds scaled by one factor for all devices.

        times (k,) [s]: the first times measured, which determine the factor. built [s]: time that
        building the parts of the graph took.
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
        """Return the seconds (k,) that each device needs for all its arcs, and the sweeps done.

        Seconds are NaN for a device that has processed too few arcs. sweeps: arcs processed by all
        devices / arcs of the graph.
        """
        own = self._arcs_owned()
        known = (self._arcs >= ENOUGH_ARCS * own) & (self._arcs > 0)
        each = self._computing / np.where(known, self._arcs, 1.0)
        times = np.where(known, each * own, np.nan)
        return np.where(own > 0, times, 0.0), float(self._arcs.sum() / max(own.sum(), 1.0))

    def _arcs_owned(self) -> FloatArray:
        """Return the number of arcs (k,) that leave the vertices of each device."""
        partition = self._plan.partition if self.rebalancer is None else self.rebalancer.partition
        degrees = np.diff(self._graph.arcs_out().xadj)
        return np.bincount(partition.part, degrees, partition.k).astype(np.float64)
