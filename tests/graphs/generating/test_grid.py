"""Grids: by hand, and against all pairs of places one step apart."""

from itertools import product

import numpy as np
import pytest

from evener.graphs.generating.grid import grid


def test_a_grid_of_2_by_3_by_hand(edges):
    # 0 1 2
    # 3 4 5
    found = grid((2, 3))
    assert edges(found).tolist() == [[0, 1], [0, 3], [1, 2], [1, 4], [2, 5], [3, 4], [4, 5]]
    assert found.coords.tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (5, 4), (1, 1, 1), (3, 4, 5), (2, 1, 6)])
def test_grids_join_what_is_one_step_apart(shape, edges):
    found = grid(shape)
    places = list(product(*map(range, shape)))
    assert found.coords.tolist() == [list(place) for place in places]
    steps = np.abs(found.coords[:, None] - found.coords[None]).sum(axis=2)
    assert np.array_equal(edges(found), np.argwhere(np.triu(steps == 1)))
