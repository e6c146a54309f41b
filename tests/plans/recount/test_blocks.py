"""Blocks counted in several passes are those counted in one; pieces however they wind."""

import numpy as np
import pytest

from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.plans.recount import blocks as recount
from tests.assertions import grid, path


def counted(graph, part, k):
    loads = np.asarray(graph.weights(), float)[:, None]
    return recount.recounted_blocks(graph, Partition(np.asarray(part), k), loads)


@pytest.mark.parametrize("at_once", [1, 3, 7, 50])
@pytest.mark.parametrize("dtype", [None, np.int64, np.float64])
def test_passes(monkeypatch, at_once, dtype):
    draw = np.random.default_rng([5, at_once])
    u, v = draw.integers(0, 60, (2, 150))
    weights = None if dtype is None else draw.integers(1, 9, 150).astype(dtype)
    graph = Graph.from_edges(80, u, v, weights=weights)  # the last 20 are isolated
    part = draw.integers(0, 6, 80)
    whole = counted(graph, part, 7)
    monkeypatch.setattr(recount, "ENTRIES_AT_ONCE", at_once)
    for one, other in zip(whole, counted(graph, part, 7), strict=True):
        np.testing.assert_array_equal(one, other)
    assert whole.values.sum() == whole.volumes.sum() > 0


def test_pieces_that_wind():
    # A spiral's two arms, and a comb whose teeth meet in the last row.
    comb = np.ones((7, 9), int)
    comb[:6, ::2] = 0
    comb[6] = 0
    assert counted(grid(7, 9), comb.ravel(), 2).components.tolist() == [1, 4]
    comb[6] = 1
    assert counted(grid(7, 9), comb.ravel(), 2).components.tolist() == [5, 1]


def test_pieces_joined_from_both_ends():
    order = [4, 0, 3, 1, 2, 7, 5, 6]
    graph = Graph.from_edges(8, order[:-1], order[1:])
    assert counted(graph, np.zeros(8, int), 2).components.tolist() == [1, 0]
    assert counted(graph, [0, 0, 1, 0, 0, 0, 0, 0], 2).components.tolist() == [2, 1]


def test_a_value_goes_once_to_each_block():
    star = Graph.from_edges(6, np.zeros(5, int), np.arange(1, 6))
    found = counted(star, [0, 1, 1, 1, 2, 0], 3)
    assert found.volumes.tolist() == [2, 3, 1]
    rows = zip(found.sender, found.receiver, found.values, strict=True)
    assert [tuple(map(int, row)) for row in rows] == [(0, 1, 1), (0, 2, 1), (1, 0, 3), (2, 0, 1)]
    assert found.boundary.tolist() == [1, 3, 1]
    assert found.neighbours.tolist() == [2, 1, 1]
    assert found.edge_cut == 4


def test_the_interior_of_nothing_is_all_of_it():
    found = counted(path(4, vwgt=[0, 0, 2, 1]), [0, 0, 1, 1], 3)
    assert found.interior.tolist() == [1, 1 / 3, 1]
