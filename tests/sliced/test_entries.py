"""Entries of the graph of clusters, told from some clusters: meshes and random graphs differ."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.graph import Graph
from evener.sliced.clusters import clusters_across, clusters_in_slices
from evener.sliced.contraction import cluster_graph_of, contract, falling_of
from evener.sliced.memory import ESTIMATED, MESH, RANDOM
from evener.sliced.rows import InMemoryGraph
from tests.sliced.test_memory import numbered, random_edges


def told_and_true(graph, clusters, *, across):
    told = cluster_graph_of(graph, clusters, 8, across=across)
    coarse = contract(graph, clusters.of, clusters.count, across=across)
    assert told.clusters == coarse.n
    return told, int(coarse.adjncy.size)


def test_entries_of_a_mesh():
    graph = InMemoryGraph(delaunay(40_000, 3))
    told, true = told_and_true(graph, clusters_in_slices(graph, 12.0), across=False)
    assert told.arcs == pytest.approx(ESTIMATED * true, rel=0.1)
    assert told.falling > MESH
    assert not told.uneven


def test_entries_of_a_mesh_numbered_at_random():
    graph = InMemoryGraph(numbered(delaunay(40_000, 3), at_random=True))
    told, true = told_and_true(graph, clusters_across(graph, 10), across=True)
    assert told.arcs == pytest.approx(ESTIMATED * true, rel=0.1)
    assert told.falling > MESH


@pytest.mark.parametrize("degree", [4, 20])
def test_entries_of_random_graphs_hardly_fall(degree):
    graph = InMemoryGraph(random_edges(20_000, degree))
    told, true = told_and_true(graph, clusters_across(graph, 10), across=True)
    # All entries are the most that there can be: no more are told.
    most = min(ESTIMATED * true, graph.arcs)
    assert told.arcs == pytest.approx(most, rel=0.15)
    assert told.falling < RANDOM


def test_single_vertices_of_a_mesh_are_told_from_those_of_a_random_graph_by_strips():
    graph = InMemoryGraph(delaunay(20_000, 3))
    told = cluster_graph_of(graph, clusters_in_slices(graph, 1.0), 8, across=False)
    assert told.clusters == graph.n
    assert falling_of(graph, graph.n, graph.arcs) == 0.0
    assert told.falling > (MESH + RANDOM) / 2


def test_graphs_without_edges():
    graph = InMemoryGraph(Graph(np.zeros(201, np.int64), np.empty(0, np.int32)))
    told = cluster_graph_of(graph, clusters_in_slices(graph, 4.0), 8, across=False)
    assert told.arcs == 0
    assert told.falling == 1.0
