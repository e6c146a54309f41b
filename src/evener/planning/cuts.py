"""Decides whether to divide vertices or edges, by the predicted seconds of both plans.

Both plans have the same work on the same devices. With blocks of vertices, a vertex sends a value
to each other block that contains one of its neighbours. With blocks of edges, each copy of a vertex
sends and receives a value, in two rounds of messages, and the work of a vertex is done once per
copy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from evener.arrays import FloatArray
from evener.graphs.edge_list import EdgeList
from evener.graphs.graph import Graph
from evener.plans.edge_partition import EdgePartition
from evener.plans.exchange_costs import ExchangeCosts
from evener.plans.metrics import prediction_of
from evener.plans.plan import Plan, Prediction
from evener.plans.workload import WEIGHTS, Workload
from evener.platforms.platform import Platform
from evener.running.edge_copies import Copies, copies_of
from evener.wording import duration, percent, plural

Cut: TypeAlias = Literal["vertices", "edges"]
# Share of the seconds by which edges must be faster to be taken; chosen by hand: predictions are
# off by as much (docs/prediction.md), and all apps run on blocks of vertices.
LEAST_GAIN = 0.05


@dataclass(frozen=True, eq=False)
class CutChoice:
    """Which of two plans is predicted to be faster, and why.

    vertices, edges: the prediction of each. sent: values sent in an iteration by each plan.
    is_relative: whether only the ratio of seconds is meaningful.
    """

    cut: Cut
    vertices: Prediction
    edges: Prediction
    sent: dict[Cut, int]
    is_relative: bool

    @property
    def reason(self) -> str:
        """Return one sentence with the choice, both predictions, and why they differ."""
        own, other = self._of(self.cut), self._of(self._other)
        if self.is_relative:
            share = f"{own.makespan / other.makespan:.3g}"
            times = f"predicted to take {share} of the time that blocks of {self._other} take"
            if share == "1":
                times = f"predicted to take as long as blocks of {self._other}"
        else:
            theirs = f"{duration(other.makespan)} with blocks of {self._other}"
            times = f"predicted {duration(own.makespan)} per iteration, {theirs}"
        return f"Blocks of {self.cut}: {times}; {self._why(own, other)}."

    def _why(self, own: Prediction, other: Prediction) -> str:
        """Return the reason for the choice: what makes one plan faster, or that it gains too
        little."""
        values = f"{self.sent[self.cut]:,} values are sent, not {self.sent[self._other]:,}"
        if self.sent["vertices"] == self.sent["edges"]:
            values = f"both send {plural(self.sent['edges'], 'value')}"
        if own.makespan >= other.makespan * (1 - LEAST_GAIN):
            return f"edges are divided only if that saves {percent(LEAST_GAIN)}, and {values}"
        computing = _most(other.compute) - _most(own.compute)
        if computing > _most(other.communicate) - _most(own.communicate):
            return f"the busiest device has less to compute, and {values}"
        return f"exchanges take less time, as {values}"

    @property
    def _other(self) -> Cut:
        return "edges" if self.cut == "vertices" else "vertices"

    def _of(self, cut: Cut) -> Prediction:
        return self.vertices if cut == "vertices" else self.edges


def choose_cut(plan: Plan, graph: Graph, edges: EdgeList, partition: EdgePartition) -> CutChoice:
    """Return whether a plan for vertices or a partition of edges is predicted to be faster.

    graph: undirected, as divided by the plan; edges: as divided by the partition, over the same
    devices.
    """
    copies, platform = copies_of(edges, partition), plan.platform
    predicted = predicted_on_edges(graph, edges, (partition, copies), platform, plan.workload)
    own = plan.evaluation.prediction
    sent: dict[Cut, int] = {
        "vertices": plan.evaluation.total_volume,
        "edges": int(copies.quotient().sent.sum()),
    }
    cut: Cut = "vertices"
    if predicted.makespan < own.makespan * (1 - LEAST_GAIN):
        cut = "edges"
    is_relative = platform.relative_ideal(float(graph.total_weight)) is not None
    return CutChoice(cut, own, predicted, sent, is_relative)


def predicted_on_edges(
    graph: Graph,
    edges: EdgeList,
    divided: tuple[EdgePartition, Copies],
    platform: Platform,
    workload: Workload = WEIGHTS,
) -> Prediction:
    """Return the Prediction of an iteration on blocks of edges, block b on device b.

    The total work is the graph's. It is distributed in proportion to the blocks' edges; or, if the
    workload states costs of vertices and entries, to their vertices, including copies, and edges:
    then copies add to the graph's work.
    """
    partition, copies = divided
    between = copies.quotient()
    loads = _loads(graph, partition.loads(edges), copies, workload)
    nothing = np.zeros(copies.k)
    found = prediction_of(between, loads, nothing, platform, replace(workload, overlap=False))
    if not platform.has_links:
        return found
    again = ExchangeCosts.of(between, platform, workload.bytes_per_value).posting
    return replace(found, communicate=found.communicate + again)


def _loads(graph: Graph, edges: FloatArray, copies: Copies, workload: Workload) -> FloatArray:
    """Return the work of each block (k,) [units]; edges (k,): work of its edges, in any unit."""
    share = edges / max(float(edges.sum()), 1e-300)
    vertex, edge = workload.shares
    if not (vertex or edge):
        return np.asarray(graph.total_weight * share)
    entries = float(graph.adjncy.size)
    unit = graph.total_weight / max(vertex * graph.n + edge * entries, 1e-300)
    return np.asarray(unit * (vertex * copies.vertices + edge * entries * share))


def _most(values: FloatArray) -> float:
    return float(values.max(initial=0.0))
