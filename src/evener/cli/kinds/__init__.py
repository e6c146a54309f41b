"""Commands on plans, one module for each kind of plan: vertices, edges, filters."""

from __future__ import annotations

from evener.cli.kinds import edges, filters, vertices
from evener.cli.kinds.plan_file import PlanKind
from evener.io.plans.kinds import EDGES, FILTERS, VERTICES, kind_in

# In the order in which `evaluate` and `compare` try them: vertices accept any command line.
KINDS: dict[str, PlanKind] = {FILTERS: filters, EDGES: edges, VERTICES: vertices}


def kind_of(path: str) -> PlanKind:
    """Return the kind of the plan in a file; of vertices if the file is not a plan."""
    return KINDS[kind_in(path)]
