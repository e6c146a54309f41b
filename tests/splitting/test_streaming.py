"""Streaming methods: known answers."""

import numpy as np

from evener.graphs.edge_list import EdgeList
from evener.plans.partition import Contract
from evener.splitting.streaming import in_order


def test_runs_of_the_order_are_as_long_as_targets():
    edges = EdgeList(7, [0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6])
    targets = np.array([1.0, 2.0, 3.0])
    found = in_order(edges, Contract(targets, targets, targets), "default", 7)
    assert found.partition.part.tolist() == [0, 1, 1, 2, 2, 2]
