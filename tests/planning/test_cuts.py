"""Vertices or edges: predictions by hand, and which is chosen."""

import numpy as np
import pytest

import evener as ev
from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.graphs.graph import Graph
from evener.planning.cuts import LEAST_GAIN, choose_cut, predicted_on_edges
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.plans.workload import WORKLOADS
from evener.platforms.platform import Device, Level, Link, Platform
from evener.running.edge_copies import copies_of
from tests.running.edge_cases import star

ALPHA, BETA = 1e-6, 1e-9


def machine(k, speed=1e7, alpha=ALPHA, beta=BETA):
    devices = tuple(Device(f"d{b}", speed) for b in range(k))
    return Platform(devices, levels=(Level("net", Link(alpha, beta)),))


def test_a_path_of_two_blocks_by_hand():
    path = Graph.from_edges(5, [0, 1, 2, 3], [1, 2, 3, 4])
    edges, partition = EdgeList.of_graph(path), EdgePartition.of([0, 0, 0, 1], 2)
    copies = copies_of(edges, partition)
    found = predicted_on_edges(path, edges, (partition, copies), machine(2))
    assert found.compute == pytest.approx([5 * 3 / 4 / 1e7, 5 / 4 / 1e7])
    # Each device posts its messages in two rounds; one value goes there, and one back.
    assert found.communicate == pytest.approx([2 * ALPHA + 2 * 8 * BETA] * 2)
    kernel = WORKLOADS["pagerank"]
    found = predicted_on_edges(path, edges, (partition, copies), machine(2), kernel)
    unit = 5 / (32 * 5 + 12 * 8)
    work = unit * np.array([32 * 4 + 12 * 6, 32 * 2 + 12 * 2])
    assert found.compute == pytest.approx(work / 1e7)


def test_a_star_is_divided_by_its_edges():
    """The middle alone is more work than a device's share."""
    graph, k = star(60), 6
    edges = EdgeList.of_graph(graph)
    plan = ev.plan(graph, machine(k, 1e4), workload="pagerank", preset="fast")
    split = ev.split(graph, k)
    choice = choose_cut(plan, graph, edges, split.partition)
    assert choice.cut == "edges"
    assert choice.edges.makespan < (1 - LEAST_GAIN) * choice.vertices.makespan
    assert choice.sent["edges"] == 2 * edge_metrics(edges, split.partition).copies
    assert choice.reason.startswith("Blocks of edges: predicted ")
    assert "less to compute" in choice.reason


def test_vertices_are_kept_where_edges_save_little():
    graph = grid([20, 20])
    plan = ev.plan(graph, machine(2))
    choice = choose_cut(plan, graph, EdgeList.of_graph(graph), ev.split(graph, 2).partition)
    assert choice.cut == "vertices"
    assert choice.reason.startswith("Blocks of vertices: ")
    relative = ev.plan(graph, 2)
    choice = choose_cut(relative, graph, EdgeList.of_graph(graph), ev.split(graph, 2).partition)
    assert choice.is_relative
    assert "of the time that blocks of edges take" in choice.reason


def test_equal_predictions_are_said_to_be_equal():
    graph = grid([2, 1])
    two = EdgePartition.of([0], 1)
    choice = choose_cut(ev.plan(graph, 1), graph, EdgeList.of_graph(graph), two)
    assert "predicted to take as long as blocks of edges" in choice.reason
    assert choice.reason.endswith("and both send 0 values.")
