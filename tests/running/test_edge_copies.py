"""Masters and mirrors of vertices, against sets of the devices that have their edges."""

import numpy as np
import pytest

from evener.graphs.edge_list import EdgeList
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.running.edge_copies import copies_of
from tests.running.edge_cases import divided, drawn, edges_of, star


def slow_counts(edges, partition):
    """Return for each vertex how many of its edges each device has."""
    counts = np.zeros((edges.n, partition.k), int)
    for tail, head, block in zip(edges.tails, edges.heads, partition.part, strict=True):
        counts[tail, block] += 1
        counts[head, block] += 1
    return counts


@pytest.mark.parametrize("seed", range(6))
def test_masters_have_most_edges_and_mirrors_some(seed):
    graph, k = drawn(seed), 1 + seed
    edges, partition = edges_of(graph, "graph"), divided(graph, k, seed=seed).partition
    copies, counts = copies_of(edges, partition), slow_counts(edges, partition)
    used = counts.any(axis=1)
    assert np.array_equal(copies.master[used], counts[used].argmax(axis=1))
    for device in range(k):
        expected = np.flatnonzero((counts[:, device] > 0) & (copies.master != device))
        assert np.array_equal(np.sort(copies.mirrors[device]), expected)
        for other in range(k):
            between = copies.between(other, device)
            assert np.array_equal(between, expected[copies.master[expected] == other])
    assert copies.vertices.sum() == graph.n + edge_metrics(edges, partition).copies


def test_what_devices_exchange_is_a_value_each_way_for_each_copy():
    graph = drawn(4)
    edges, partition = edges_of(graph, "graph"), divided(graph, 4).partition
    copies = copies_of(edges, partition)
    between = copies.quotient()
    assert between.sent.sum() == 2 * edge_metrics(edges, partition).copies
    assert np.array_equal(between.sent, between.received)
    there = np.zeros((4, graph.n), bool)
    for device, own in enumerate(copies.mirrors):
        there[device, own] = True
        there[copies.master[own], own] = True
    assert between.boundary.tolist() == there.sum(axis=1).tolist()


def test_vertices_without_an_edge_are_spread_as_edges_are():
    edges = EdgeList(104, np.array([0, 0, 0, 1]), np.array([1, 2, 3, 2]))
    copies = copies_of(edges, EdgePartition.of([0, 0, 0, 1], 3))
    assert np.bincount(copies.master[4:], minlength=3).tolist() == [75, 25, 0]
    nothing = EdgeList(6, np.empty(0, int), np.empty(0, int))
    assert copies_of(nothing, EdgePartition.of([], 3)).master.tolist() == [0, 0, 1, 1, 2, 2]


def test_a_star_has_its_middle_on_all_devices():
    graph = star(9)
    edges = edges_of(graph, "graph")
    copies = copies_of(edges, EdgePartition.of(np.arange(9) % 3, 3))
    assert [own.tolist() for own in copies.mirrors] == [[], [0], [0]]
