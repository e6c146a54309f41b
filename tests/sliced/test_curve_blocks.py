"""Blocks along the Hilbert curve: runs of it, within limits."""

import numpy as np
import pytest

from evener.errors import NotFoundError, UsageError
from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.grid import grid
from evener.graphs.hilbert import hilbert_order
from evener.plans.partition import Contract
from evener.sliced.rows import InMemoryGraph
from evener.sliced.tools import curve_blocks


def limits_of(total, speeds, epsilon=0.05):
    targets = total * np.array(speeds, float) / np.sum(speeds)
    return Contract(targets, (1 - epsilon) * targets, (1 + epsilon) * targets)


@pytest.mark.parametrize("graph", [delaunay(5000, 3), delaunay(3000, 3, 3)], ids=["2-D", "3-D"])
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_are_runs_of_the_curve(graph, weighted):
    if weighted:
        graph = graph.with_(vwgt=1 + np.arange(graph.n) % 3)
    limits = limits_of(graph.total_weight, [3, 1, 1, 5])
    part = curve_blocks(InMemoryGraph(graph), limits)
    along = part[hilbert_order(graph.coords)]
    assert (np.diff(along) >= 0).all()
    loads = np.bincount(part, graph.weights(), 4)
    assert (limits.low <= loads).all()
    assert (loads <= limits.high).all()


def test_points_in_one_place_are_told():
    graph = grid([20, 20])
    graph = graph.with_(coords=np.zeros((400, 2)))
    with pytest.raises(NotFoundError, match="have nearly the same coordinates"):
        curve_blocks(InMemoryGraph(graph), limits_of(400, [1, 1]))


def test_coordinates_are_needed():
    graph = grid([4, 4]).with_(coords=None)
    with pytest.raises(UsageError, match="need coordinates"):
        curve_blocks(InMemoryGraph(graph), limits_of(16, [1, 1]))
