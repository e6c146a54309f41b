"""Refinement on copies: never worse, within limits, and what it says it saved."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.splitting.refining import refine_copies
from tests.graphs.test_edge_list import edge_lists
from tests.plans.test_edge_partition import slow_copies

EFFORTS = st.sampled_from([{}, {"patience": 3}, {"cycles": 2}, {"patience": 3, "cycles": 1}])


@given(edge_lists(weighted=True), st.integers(1, 4), st.randoms(), st.integers(0, 3), EFFORTS)
def test_copies_fall_by_what_is_said_and_limits_hold(edges, k, random, slack, effort):
    before = EdgePartition([random.randrange(k) for _ in range(edges.m)], k)
    loads = before.loads(edges)
    low, high = loads - slack, loads + slack
    after, saved = refine_copies(edges, before, low, high, seed=random.randrange(9), **effort)
    assert slow_copies(edges, before.part) - saved == slow_copies(edges, after.part)
    assert saved >= 0
    assert (low <= after.loads(edges)).all()
    assert (after.loads(edges) <= high).all()


@given(edge_lists(), st.randoms())
def test_blocks_outside_their_limits_get_no_further_out(edges, random):
    before = EdgePartition([random.randrange(2) for _ in range(edges.m)], 2)
    low, high = np.array([edges.m - 1.0, 0.0]), np.array([float(edges.m), 1.0])
    after, _ = refine_copies(edges, before, low, high)
    for b in range(2):
        was, now = (one.loads(edges)[b] for one in (before, after))
        assert max(low[b] - now, now - high[b], 0) <= max(low[b] - was, was - high[b], 0)


def test_scattered_edges_of_a_grid_are_brought_together():
    edges = EdgeList.of_graph(grid((40, 40)))
    rng = np.random.default_rng(1)
    before = EdgePartition(rng.integers(0, 4, edges.m), 4)
    target = np.full(4, edges.m / 4)
    after, saved = refine_copies(edges, before, 0.8 * target, 1.2 * target, rounds=30)
    assert saved > 0.5 * edge_metrics(edges, before).copies
    again, _ = refine_copies(edges, before, 0.8 * target, 1.2 * target, rounds=30)
    assert np.array_equal(after.part, again.part)


def test_limits_of_other_blocks_are_refused():
    with pytest.raises(InputError, match="limits have 1 and 2 blocks, not 2"):
        refine_copies(EdgeList(2, [0], [1]), EdgePartition([0], 2), np.zeros(1), np.ones(2))
