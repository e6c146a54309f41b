"""What each device spends a superstep with, measured and predicted, where edges are divided."""

from __future__ import annotations

import numpy as np

from evener.planning.breakdown import Breakdown, PredictionTerms, broken_down, passes_of
from evener.plans.edge_plan import EdgePlan
from evener.plans.workload import WEIGHTS
from evener.running.edge_copies import Copies
from evener.running.engine.program import VertexProgram
from evener.running.engine.solver import Solver
from evener.running.executing import ProgramRun


def edge_breakdown_of(
    run: ProgramRun, plan: EdgePlan, copies: Copies, program: VertexProgram | Solver, n_arcs: int
) -> Breakdown:
    """Return measured and predicted seconds of a mean superstep.

    copies: of the vertices by this plan. n_arcs: of the graph that was run on. Loads are the plan's
    edges, and nothing is computed while messages flow.
    """
    passes = np.ones(plan.platform.k)
    if program.schedule != "dense":
        edges = np.bincount(plan.partition.part, minlength=plan.platform.k).astype(np.float64)
        passes = passes_of(run, edges * (n_arcs / max(plan.partition.m, 1)))
    nothing = np.zeros(plan.platform.k)
    loads = np.asarray(plan.metrics.loads, np.float64)
    terms = PredictionTerms(plan.platform, loads, copies.quotient(), nothing, WEIGHTS, passes, True)
    return broken_down(run, terms)
