"""A plan made again for what devices do now: what a Rebalancer is given, as it imports nothing up.

ev.Rebalancer(plan, graph, replan=ev.replan)
"""

from __future__ import annotations

from dataclasses import fields

from evener.graphs import Graph
from evener.partitions import Partition
from evener.planning import plan
from evener.planning_options import PlanOptions
from evener.plans import Plan
from evener.platforms import Platform
from evener.workloads import Workload


def replan(old: Plan, graph: Graph, platform: Platform, workload: Workload) -> Partition:
    """Return a partition from scratch, under the options of the old plan.

    graph: with the work as its weights; platform: with the speeds of now; workload: what it sends.
    Raises what evener.planning.plan raises.
    """
    known = {field.name for field in fields(PlanOptions)} - {"workload"}
    chosen = {name: value for name, value in old.options.items() if name in known}
    return plan(graph, platform, PlanOptions(**chosen, workload=workload)).partition
