"""The ordered graph: the partitioner makes of it what it makes of the given one."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.planning.makespan.problem import order_vertices


@pytest.mark.parametrize("placed", [True, False])
def test_blocks_of_the_ordered_graph_are_those_of_the_given_one(placed):
    graph = delaunay(17_000, seed=3)
    shuffled = np.random.default_rng(3).permutation(graph.n)
    where = np.argsort(shuffled)
    u = np.repeat(np.arange(graph.n), graph.degrees)
    graph = type(graph).from_edges(
        graph.n, where[u], where[graph.adjncy], coords=graph.coords[shuffled] if placed else None
    )
    kept = order_vertices(graph, 1)
    assert kept.order is not None
    request = Request(np.array([1.0, 2, 4, 4]), 0.03, 7, 1, "cut", "fast")
    given, own = (partition_with("evener", one, request).part for one in (graph, kept.graph))
    np.testing.assert_array_equal(kept.given(own), given)
    np.testing.assert_array_equal(kept.ordered(given), own)
