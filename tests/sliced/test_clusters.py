"""Clusters inside slices: connected, light, none across slices."""

import numpy as np

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.graph import Graph
from evener.sliced.clusters import clusters_in_slices, level_inside
from evener.sliced.rows import InMemoryGraph

HEAVIEST = 16.0


def inner_graph(graph, of):
    """The graph of the edges inside clusters, slowly."""
    u = np.repeat(np.arange(graph.n), graph.degrees)
    inside = of[u] == of[graph.adjncy]
    return Graph.from_edges(graph.n, u[inside], graph.adjncy[inside])


def test_clusters_are_connected_light_and_inside_slices():
    graph = delaunay(5000, 3)
    whole = InMemoryGraph(graph)
    found = clusters_in_slices(whole, HEAVIEST)
    assert sorted(set(found.of.tolist())) == list(range(found.count))
    assert np.bincount(found.of).max() <= 2 * HEAVIEST
    assert found.count < graph.n / 4
    count, _ = inner_graph(graph, found.of).components()
    assert count == found.count
    slice_of = np.searchsorted(whole.ends, np.arange(graph.n), side="right")
    for c in range(found.count):
        assert np.ptp(slice_of[found.of == c]) == 0


def test_edges_inside_slices_are_counted():
    graph = delaunay(2000, 5)
    whole = InMemoryGraph(graph)
    slice_of = np.searchsorted(whole.ends, np.arange(graph.n), side="right")
    u = np.repeat(np.arange(graph.n), graph.degrees)
    inside = np.count_nonzero(slice_of[u] == slice_of[graph.adjncy])
    assert clusters_in_slices(whole, HEAVIEST).inside == inside
    assert sum(level_inside(whole.rows(i)).adjncy.size for i in range(64)) == inside


def test_clusters_stay_inside_blocks():
    graph = delaunay(5000, 3)
    blocks = np.random.default_rng(1).integers(0, 40, graph.n // 50 + 1).repeat(50)
    blocks = blocks[: graph.n].astype(np.int32)
    found = clusters_in_slices(InMemoryGraph(graph), HEAVIEST, blocks)
    pairs = np.unique(np.column_stack([found.of, blocks]), axis=0)
    assert pairs.shape[0] == found.count < graph.n / 3
    count, _ = inner_graph(graph, found.of).components()
    assert count == found.count
