"""Cells across slices: connected clusters of graphs numbered at random."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.graph import Graph
from evener.sliced.cells import clusters_across
from evener.sliced.whole import InMemoryGraph


def renumbered(graph, seed):
    rank = np.random.default_rng(seed).permutation(graph.n)
    u = np.repeat(np.arange(graph.n), graph.degrees)
    return Graph.from_edges(graph.n, rank[u], rank[graph.adjncy])


@pytest.mark.parametrize("vertices", [1, 8, 20])
def test_cells_are_connected_and_of_about_the_size_asked(vertices):
    graph = renumbered(delaunay(6000, 3), 1)
    found = clusters_across(InMemoryGraph(graph), vertices)
    assert sorted(set(found.of.tolist())) == list(range(found.count))
    assert 0.8 * graph.n / vertices <= found.count <= 1.25 * graph.n / vertices
    u = np.repeat(np.arange(graph.n), graph.degrees)
    inside = found.of[u] == found.of[graph.adjncy]
    count, _ = Graph.from_edges(graph.n, u[inside], graph.adjncy[inside]).components()
    assert count == found.count


def test_every_vertex_of_a_graph_in_pieces_has_a_cell():
    pairs = Graph.from_edges(600, np.arange(0, 600, 2), np.arange(1, 600, 2))
    found = clusters_across(InMemoryGraph(pairs), 32)
    assert found.of.min() == 0
    assert found.count == found.of.max() + 1
    assert (found.of[::2] == found.of[1::2]).mean() > 0.5
