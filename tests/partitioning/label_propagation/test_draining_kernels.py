"""Draining: the least losses bring blocks within their limits, whatever the hints."""

import numpy as np
import pytest

from evener.graphs.graph import Graph
from evener.partitioning.label_propagation import draining_kernels as kernels
from tests.partitioning.by_hand import cost, sparse, star, state_of


def drained(state, hint=0.0, enough=np.inf):
    n = state.part.size
    slack = np.full(n, 3, np.int32)
    kernels.drain(state, np.full(n, hint), np.zeros(n), enough, slack)
    return slack


def test_who_loses_least_leaves_a_full_block():
    graph = Graph.from_edges(6, np.array([0, 0, 1, 3, 4]), np.array([1, 2, 2, 4, 5]))
    state = state_of(graph, [0, 0, 0, 0, 1, 1], 2, high=3.0)  # 3 is of block 0 by mistake
    slack = drained(state)
    assert state.part.tolist() == [0, 0, 0, 1, 1, 1]
    assert state.weight.tolist() == [3, 3]
    assert slack.tolist() == [3, 3, 3, 0, 1, 3]  # 3 has moved, an edge binds it to 4


def test_a_light_block_takes_from_its_neighbours():
    """A path in blocks of 6 and 2 vertices, of which each needs 3: the one at the border goes."""
    graph = Graph.from_edges(8, np.arange(7), np.arange(1, 8))
    state = state_of(graph, [0] * 6 + [1] * 2, 2, low=3.0)
    drained(state)
    assert state.part.tolist() == [0] * 5 + [1] * 3


def test_an_empty_block_takes_from_anybody():
    state = state_of(star(9), [0] * 9, 3, low=2.0, high=5.0)
    drained(state)
    assert sorted(state.weight) == [2, 2, 5]
    assert cost(star(9), state) == 4


def test_what_fills_blocks_later_may_be_missing():
    state = state_of(star(9), [0] * 8 + [1], 2, low=3.0)._replace(filling=2.0)
    drained(state)
    assert state.weight.tolist() == [8, 1]
    assert kernels.excess(state) == 0
    assert kernels.excess(state._replace(filling=0.5)) == 1.5


@pytest.mark.parametrize("prices", [None, (1.0, 1.0, 1.0, 1.0)])
@pytest.mark.parametrize(("hint", "enough"), [(0.0, np.inf), (3.0, np.inf), (0.0, 2.0)])
def test_random_blocks_end_within_their_limits(prices, hint, enough):
    rng = np.random.default_rng(8)
    for _ in range(20):
        graph = sparse(200)
        part = np.minimum(rng.geometric(0.5, 200) - 1, 3)
        state = state_of(graph, part, 4, prices=prices, low=45.0, high=55.0)
        drained(state, hint, enough)
        assert state.weight.min() >= 45
        assert state.weight.max() <= 55
        np.testing.assert_array_equal(state.weight, np.bincount(state.part, minlength=4))


def test_weightless_vertices_stay_and_no_room_is_no_hang():
    graph = sparse(50, vwgt=np.where(np.arange(50) < 25, 0.0, 2.0))
    state = state_of(graph, [0] * 50, 2, high=1.0)
    drained(state)
    assert (state.part[:25] == 0).all()
    assert kernels.excess(state) > 0
