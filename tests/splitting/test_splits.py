"""What methods share: blocks outside of their limits are mended, others left as they are."""

import numpy as np

from evener.graphs.edge_list import EdgeList
from evener.plans.partition import Contract
from evener.splitting.splits import kept, work_of

TWO = Contract(np.array([2.0, 2.0]), np.array([1.0, 1.0]), np.array([3.0, 3.0]))


def test_only_blocks_outside_of_their_limits_are_changed():
    edges = EdgeList(5, [0, 1, 2, 3], [1, 2, 3, 4])
    assert kept(edges, np.array([0, 1, 1, 1], np.int32), TWO).part.tolist() == [0, 1, 1, 1]
    mended = kept(edges, np.array([1, 1, 1, 1], np.int32), TWO)
    assert mended.loads(edges).min() == 1


def test_work_of_edges():
    assert work_of(EdgeList(3, [0, 1], [1, 2])).tolist() == [1, 1]
    assert work_of(EdgeList(3, [0, 1], [1, 2], [2, 5])).tolist() == [2, 5]
