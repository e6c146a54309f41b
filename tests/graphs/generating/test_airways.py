"""Prisms in forking tubes: one piece, the edges of layers, tubes that narrow."""

import numpy as np
import pytest

from evener.errors import UsageError
from evener.graphs.generating import airways as module
from evener.graphs.generating.airways import airways


def test_edges_are_those_of_layers_of_prisms(edges, in_one_piece):
    graph = airways(20_000, 23)
    assert graph.n == pytest.approx(20_000, rel=0.05)
    assert in_one_piece(graph)
    # Three in the layer and one along the tube, less at walls and ends.
    assert 3.5 < graph.m / graph.n < 4.0
    # Edges join near points: none is longer than the widest tube is wide.
    u, v = edges(graph).T
    assert np.linalg.norm(graph.coords[u] - graph.coords[v], axis=1).max() < 2.0


def test_tubes_fork_in_two_and_narrow_without_crossing():
    tubes = module._tubes()
    assert len(tubes) == module.TUBES
    for tube in tubes[1:]:
        before = tubes[tube.parent]
        assert tube.radius**3 * 2 == pytest.approx(before.radius**3)
        assert tube.axes[0] @ before.axes[0] == pytest.approx(np.cos(module.FORK))
        assert tube.axes @ tube.axes.T == pytest.approx(np.eye(3))
    assert np.bincount([tube.parent for tube in tubes[1:]]).tolist() == [2] * 15


def test_too_few_points_are_refused():
    with pytest.raises(UsageError, match="n must be at least 500, not 499"):
        airways(499, 1)
