"""How each device spends a superstep, measured and predicted, and what limits the superstep."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, NumberArray
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.planning.bottleneck import quotient_of
from evener.planning.evaluate import evaluate
from evener.plans.edge_plan import EdgePlan
from evener.plans.metrics import Quotient, prediction_of
from evener.plans.partition import Contract, Partition
from evener.plans.plan import Evaluation, Plan
from evener.plans.workload import WEIGHTS, Workload
from evener.platforms.platform import Platform
from evener.running.edge_copies import Copies
from evener.running.emulated_run import EMULATED_ACTIVITIES
from evener.running.engine.program import Solver, VertexProgram
from evener.running.program_run import ProgramRun
from evener.running.slicing import RankParts

ACTIVITIES = ("computing", "packing", "waiting", "unpacking")
# Share of a superstep below which waiting, or what another plan would save, is not worth acting
# upon; chosen by hand: equal runs on one computer differ by as much.
NOTICED = 0.05
# Seconds of a run below which its waits say little: one pause of a thread takes milliseconds where
# other programs share the cores; chosen by hand.
SHORTEST_TOLD = 0.005
# Ratio of arcs a unit of load, between devices, from which loads do not describe the work; chosen
# by hand.
UNALIKE = 1.5


@dataclass(frozen=True, eq=False)
class Breakdown:
    """Seconds of each device in a mean superstep, (k,) each [s].

    loads [units]: the plan's. measured: by activity. computing: predicted from the plan's speeds
    for the arcs that the run read. ends: predicted times when devices finish, given the plan's
    links and the bytes that the run sent. is_scaled: whether predicted seconds are scaled so that
    computing has the measured sum, because the plan's speeds are relative. describes_work: whether
    loads are roughly proportional to the arcs read, or given by the user's kernel or weights.
    seconds: measured time of a mean superstep; whole: of all supersteps together. evened: seconds
    of computing if loads matched the measured speeds. is_emulated: whether measured seconds are
    those of a virtual clock.
    """

    loads: FloatArray
    measured: dict[str, FloatArray]
    computing: FloatArray
    ends: FloatArray
    is_scaled: bool
    describes_work: bool
    seconds: float
    whole: float
    evened: float
    is_emulated: bool = False

    @property
    def makespan(self) -> float:
        """Predicted seconds of a superstep [s]: all devices wait for the last."""
        return float(self.ends.max(initial=0.0))

    @property
    def busy(self) -> FloatArray:
        """Seconds without waiting (k,) [s]."""
        return np.asarray(sum(own for name, own in self.measured.items() if name != "waiting"))

    @property
    def waiting_share(self) -> FloatArray:
        """Fraction of its time that each device waits (k,); 0 without a load."""
        total = self.busy + self.measured["waiting"]
        share = self.measured["waiting"] / np.maximum(total, 1e-300)
        return np.where(self.loads > 0, share, 0.0)


class Limit(NamedTuple):
    """What limits a superstep: "nothing", "units", "loads", "exchange" or "unknown".

    unknown: the run was too short to tell. units: the plan's loads do not describe the work. loads:
    loads describe the work but do not match the speeds. exchange: loads match the speeds. waits:
    the device that waits most; share: the fraction of its time that it waits. last: the device that
    computes longest.
    """

    by: str
    waits: int
    share: float
    last: int


class Divided(NamedTuple):
    """A graph's blocks on the devices of a platform, evaluated for a workload."""

    platform: Platform
    partition: Partition
    evaluation: Evaluation
    workload: Workload

    @property
    def loads(self) -> FloatArray:
        """Loads (k,) [units]."""
        return np.asarray(self.evaluation.certificate.weights, np.float64)


def divided_by(plan: Plan) -> Divided:
    """Return the blocks of a plan."""
    return Divided(plan.platform, plan.partition, plan.evaluation, plan.workload)


def divided_anew(plan: Plan, graph: Graph | DirectedGraph, partition: Partition) -> Divided:
    """Evaluate other blocks on the devices of a plan, for example after vertices have moved."""
    contract, workload = plan.certificate.contract, plan.workload
    judged = evaluate(graph.undirected(), partition, plan.platform, contract, workload=workload)
    return Divided(plan.platform, partition, judged, workload)


def divided_into(graph: Graph | DirectedGraph, partition: Partition, platform: Platform) -> Divided:
    """Evaluate blocks that no plan made; the weight of a vertex is its degree."""
    edges = graph.undirected()
    weighted = replace(edges, vwgt=np.maximum(edges.degrees, 1).astype(np.int64))
    most = np.full(platform.k, float(weighted.total_weight))
    anything = Contract(most / platform.k, np.zeros(platform.k), most, may_be_unused=True)
    judged = evaluate(weighted, partition, platform, anything)
    return Divided(platform, partition, judged, WEIGHTS)


def activities_of(run: ProgramRun) -> tuple[str, ...]:
    """Return the names of the activities measured in this run, which are fields of its steps."""
    return EMULATED_ACTIVITIES if run.is_emulated else ACTIVITIES


def breakdown_of(
    run: ProgramRun,
    divided: Divided,
    graph: Graph | DirectedGraph | RankParts,
    program: VertexProgram | Solver,
) -> Breakdown:
    """Return measured and predicted seconds of a mean superstep. graph: the one of the run."""
    if program.schedule == "dense":
        passes = np.ones(divided.partition.k)
    else:
        passes = passes_of(run, _arcs_of_blocks(graph, divided.partition))
    platform, judged = divided.platform, divided.evaluation
    terms = PredictionTerms(
        platform,
        divided.loads,
        quotient_of(judged, platform.k),
        judged.prediction.interior,
        divided.workload,
        passes,
        _describes_work(run, divided, graph),
    )
    return broken_down(run, terms)


class PredictionTerms(NamedTuple):
    """Input of the prediction of a superstep.

    loads (k,) [units]; between: what devices exchange; interior (k,): share of a load that can be
    computed during the exchange; passes (k,): how many times a mean superstep processes a device's
    load. describes_work: see Breakdown.
    """

    platform: Platform
    loads: FloatArray
    between: Quotient
    interior: FloatArray
    workload: Workload
    passes: FloatArray
    describes_work: bool


def broken_down(run: ProgramRun, terms: PredictionTerms) -> Breakdown:
    """Return measured and predicted seconds of a mean superstep."""
    platform, loads, between = terms.platform, terms.loads, terms.between
    measured = {name: _mean(run, name) for name in activities_of(run)}
    own, sent = measured["computing"], float(_mean(run, "sent").sum())
    bytes_per_value = sent / max(float(between.sent.sum()), 1.0)
    workload = replace(terms.workload, bytes_per_value=bytes_per_value)
    done = loads * terms.passes
    predicted = prediction_of(between, done, terms.interior, platform, workload)
    is_scaled = platform.relative_ideal(float(loads.sum())) is not None
    scale = 1.0
    if is_scaled and own.sum() > 0:
        scale = float(own.sum() / max(float(predicted.compute.sum()), 1e-300))
    speeds = np.divide(loads, own, out=np.zeros(loads.size), where=own > 0)
    return Breakdown(
        loads,
        measured,
        predicted.compute * scale,
        predicted.ends * scale,
        is_scaled,
        terms.describes_work,
        run.seconds / max(len(run.steps[0]), 1),
        run.seconds,
        float(loads.sum() / max(float(speeds.sum()), 1e-300)),
        run.is_emulated,
    )


def limit_of(breakdown: Breakdown) -> Limit:
    """Return what limits a superstep, judged by the time saved if loads matched the speeds."""
    share = breakdown.waiting_share
    waits = int(share.argmax())
    computing = breakdown.measured["computing"]
    saved = (float(computing.max()) - breakdown.evened) / max(breakdown.seconds, 1e-300)
    by = "exchange"
    if saved >= NOTICED:
        by = "loads" if breakdown.describes_work else "units"
    if (breakdown.loads > 0).sum() < 2 or share[waits] < NOTICED:
        by = "nothing"
    elif breakdown.whole < SHORTEST_TOLD and not breakdown.is_emulated:
        by = "unknown"
    return Limit(by, waits, float(share[waits]), int(computing.argmax()))


def _mean(run: ProgramRun, name: str) -> FloatArray:
    found = run.of_devices(name)
    return found.mean(axis=0) if len(found) else np.zeros(len(run.steps))


def passes_of(run: ProgramRun, arcs: NumberArray) -> FloatArray:
    """Return how many times a mean superstep reads each of a device's arcs (k,)."""
    return np.asarray(_mean(run, "edges") / np.maximum(arcs, 1.0))


def _arcs_of_blocks(graph: Graph | DirectedGraph | RankParts, partition: Partition) -> NumberArray:
    """Return the number of arcs that leave the vertices of each block (k,)."""
    if isinstance(graph, RankParts):
        return graph.out_arcs
    return np.bincount(partition.part, np.diff(graph.arcs_out().xadj), partition.k)


def _describes_work(
    run: ProgramRun, divided: Divided, graph: Graph | DirectedGraph | RankParts
) -> bool:
    """Return whether loads are roughly proportional to the arcs read."""
    loads, arcs = divided.loads, _mean(run, "edges")
    weighs = graph.facts.vertices_weigh if isinstance(graph, RankParts) else graph.vwgt is not None
    if any(divided.workload.shares) or weighs or not arcs.any():
        return True
    of_unit = (arcs / np.maximum(loads, 1e-300))[loads > 0]
    return bool(of_unit.max() < UNALIKE * of_unit.min())


def edge_breakdown_of(
    run: ProgramRun, plan: EdgePlan, copies: Copies, program: VertexProgram | Solver, n_arcs: int
) -> Breakdown:
    """Return measured and predicted seconds of a mean superstep of an edge plan.

    copies: copies of vertices in this plan. n_arcs: arcs of the graph of the run. Loads are numbers
    of edges, and nothing is computed during the exchange.
    """
    passes = np.ones(plan.platform.k)
    if program.schedule != "dense":
        edges = np.bincount(plan.partition.part, minlength=plan.platform.k).astype(np.float64)
        passes = passes_of(run, edges * (n_arcs / max(plan.partition.m, 1)))
    nothing = np.zeros(plan.platform.k)
    loads = np.asarray(plan.metrics.loads, np.float64)
    terms = PredictionTerms(plan.platform, loads, copies.quotient(), nothing, WEIGHTS, passes, True)
    return broken_down(run, terms)
