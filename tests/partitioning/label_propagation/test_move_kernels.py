"""Leaps: groups move that no vertex alone would begin to; nothing gets worse."""

import numpy as np

from evener.graphs.graph import Graph
from evener.partitioning.label_propagation import draining_kernels as draining
from evener.partitioning.label_propagation.move_kernels import leap
from tests.partitioning.by_hand import cost, sparse, state_of


def test_two_vertices_move_though_each_alone_would_lose():
    """0 and 1 are joined by weight 3, and each by 2 to block 1: alone they lose 1 by going."""
    edges = np.array([[0, 1], [0, 2], [1, 3], [2, 3], [4, 5]])
    graph = Graph.from_edges(6, edges[:, 0], edges[:, 1])
    heavy = {(0, 1): 3, (0, 2): 2, (1, 3): 2}
    u = np.repeat(np.arange(6), graph.degrees)
    pairs = zip(np.minimum(u, graph.adjncy), np.maximum(u, graph.adjncy), strict=True)
    weights = np.array([heavy.get((int(a), int(b)), 1) for a, b in pairs], np.int32)
    for boldness, expected in ((0.1, [0, 0, 1, 1, 0, 0]), (0.75, [1, 1, 1, 1, 0, 0])):
        state = state_of(graph, [0, 0, 1, 1, 0, 0], 2, weights=weights, high=4.0)
        leap(state, 4, 4, boldness, state.high)
        assert state.part.tolist() == expected


def test_nothing_gets_worse_and_limits_hold():
    rng = np.random.default_rng(12)
    for turn in range(20):
        graph, k = sparse(300), 6
        state = state_of(graph, rng.permutation(np.arange(300) % k), k, low=45.0, high=55.0)
        before = cost(graph, state)
        leap(state, 6, 3, 0.1 * turn, 1.2 * state.high)
        assert cost(graph, state) < before
        assert draining.excess(state) == 0
        np.testing.assert_array_equal(state.weight, np.bincount(state.part, minlength=k))


def test_blocks_too_heavy_are_made_lighter_first():
    graph = sparse(100)
    state = state_of(graph, [0] * 70 + [1] * 30, 2, high=55.0)
    leap(state, 3, 3, 0.25, 1.2 * state.high)
    assert draining.excess(state) == 0
