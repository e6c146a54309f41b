"""Refinement for seconds by clusters of vertices inside blocks, before single vertices move.

A block that parts two others, as a core's around a GPU with expensive messages, may have to grow
along a whole border before a message is saved: single moves see no gain in that, moves of clusters
do. Fixed vertices stay in their blocks.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evener.graphs.graph import Graph
from evener.partitioning.levels.levels import Hierarchy, finest, shrink_all
from evener.partitioning.makespan.gain_state import Prices
from evener.partitioning.makespan.refine_seconds import faces_of, refine_by
from evener.partitioning.makespan.seconds_kernels import Bounds
from evener.planning.makespan.candidates import Candidate, CandidateMaker
from evener.planning.makespan.coarse_search import COARSE_EFFORT, REFINED_VALUES
from evener.planning.makespan.problem import MakespanProblem
from evener.plans import metrics
from evener.plans.partition import Partition

# Mean vertices of a cluster, one after the other. On Delaunay graphs of 2^20 vertices and four GPUs
# beside cores, 16 and 6 brought plans 12 to 17 % slower than those in memory to 3 % faster ones on
# all of three seeds; 8 or 6 alone on one and two.
IN_CLUSTER = (16.0, 6.0)
SHRINK_BY = 3.0  # mean vertices of the level before that a cluster may weigh


def refined_by_clusters(one: Candidate, maker: CandidateMaker, seed: int) -> Candidate | None:
    """Return the candidate after its blocks were refined by clusters, large ones first.

    Of a problem without memories. None where a block would be empty.
    """
    found: Candidate | None = one
    for vertices in IN_CLUSTER:
        if found is None:
            break
        found = _refined(found, maker, vertices, seed)
    return found


def _refined(one: Candidate, maker: CandidateMaker, vertices: float, seed: int) -> Candidate | None:
    """Return the candidate refined by clusters of about so many vertices."""
    problem = maker.problem
    clusters = _clusters(problem, one, vertices)
    level, costs = clusters.coarsest, problem.costs
    # A coarse edge weighs its faces.
    values = 1.0 if problem.workload.of_faces else _values_sent(clusters, one)
    prices = Prices(
        replace(
            costs,
            per_value=values * costs.per_value,
            shared_per_value=values * costs.shared_per_value,
        )
    )
    contract = problem.contract(one.loads)
    bounds = Bounds(
        level.vwgt, level.vwgt, np.zeros(level.n), contract.low, contract.high, contract.caps
    )
    part, _ = refine_by(COARSE_EFFORT, level, clusters.part, bounds, prices, seed, 1)
    name = f"{one.name}, by clusters of {vertices:g}"
    return maker.make(name, clusters.on_finest(part, 1), one.loads)


def _clusters(problem: MakespanProblem, one: Candidate, vertices: float) -> Hierarchy:
    """Return the problem's graph shrunk inside the candidate's blocks."""
    graph = problem.weighted
    work = None if graph.vwgt is None else problem.work
    level = finest(graph, np.arange(graph.n), work, faces_of(graph, problem.costs), 1)
    if problem.fixed is not None:
        level.fixed = np.flatnonzero(problem.fixed)
    mean = float(level.free_weights.sum()) / max(level.n_free, 1)
    return shrink_all(level, one.part, np.array([vertices * mean]), 1, SHRINK_BY, 1)


def _values_sent(clusters: Hierarchy, one: Candidate) -> float:
    """Return the values that a cluster sends to each block it touches, in the mean."""
    level = clusters.coarsest
    small = Graph(level.xadj.astype(np.int64), level.adjncy.astype(np.int32))
    few = metrics.quotient(small, Partition(clusters.part, one.used.size)).sent.sum()
    many = one.quotient.sent.sum()
    return REFINED_VALUES * float(many / few) if few else 1.0
