"""Borders cut anew: a known answer, never worse, within limits."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.splitting.copies_kernels import Limits
from evener.splitting.groups import single_edges
from evener.splitting.separating import cut_borders
from tests.examples import with_examples
from tests.graphs.test_edge_list import edge_lists
from tests.plans.test_edge_partition import slow_copies


@with_examples(60)
@given(edge_lists(weighted=True, edges=30), st.integers(2, 4), st.randoms(), st.integers(0, 9))
def test_copies_fall_by_what_is_said_and_limits_hold(edges, k, random, slack):
    part = np.array([random.randrange(k) for _ in range(edges.m)], np.int32)
    load = np.bincount(part, edges.weights, k).astype(float)
    limits = Limits(load.copy(), load - slack, load + slack)
    before = slow_copies(edges, part)
    saved = cut_borders(single_edges(edges), part, limits, np.random.default_rng(1))
    assert saved >= 0
    assert slow_copies(edges, part) == before - saved
    assert limits.load.tolist() == np.bincount(part, edges.weights, k).tolist()
    assert (limits.low <= limits.load).all()
    assert (limits.load <= limits.high).all()


def test_a_crooked_border_through_a_grid_becomes_straight():
    edges = EdgeList.of_graph(grid((20, 12)))
    row = np.minimum(edges.tails, edges.heads) // 12
    column = np.minimum(edges.tails, edges.heads) % 12
    part = (row + 3 * (column % 4 > 1) > 10).astype(np.int32)
    load = np.bincount(part, minlength=2).astype(float)
    limits = Limits(load, 0.8 * load, 1.2 * load)
    assert edge_metrics(edges, EdgePartition(part, 2)).copies > 20
    cut_borders(single_edges(edges), part, limits, np.random.default_rng(1))
    assert edge_metrics(edges, EdgePartition(part, 2)).copies == 12
