"""What an edge plan says of its blocks."""

import numpy as np

from evener.graphs.edge_list import EdgeList
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.plans.edge_plan import EdgePlan
from evener.plans.partition import Contract
from evener.platforms.platform import Device, Platform

EDGES = EdgeList(5, [0, 1, 2, 3], [1, 2, 3, 4])
PLATFORM = Platform((Device("a", 1.0), Device("b", 1.0)))


def plan_of(part):
    partition = EdgePartition.of(part, 2)
    contract = Contract(np.full(2, 2.0), np.full(2, 2.0), np.full(2, 2.0))
    return EdgePlan(partition, PLATFORM, contract, edge_metrics(EDGES, partition), "graph", {}, {})


def test_blocks_within_their_limits():
    plan = plan_of([0, 0, 1, 1])
    assert plan.holds.tolist() == [True, True]
    said = "Every block keeps its contract; 1 copy of vertices, replication 1.200."
    assert plan.verdict() == said


def test_blocks_outside_their_limits():
    plan = plan_of([0, 1, 1, 1])
    assert plan.holds.tolist() == [False, False]
    assert plan.relative_loads.tolist() == [0.5, 1.5]
    assert plan.verdict().startswith("0 of 2 blocks keep their contract")
