"""Windows: borders refined in consecutive rows, all other vertices fixed."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.partitioning.refine import RefineOptions
from evener.plans import metrics
from evener.plans.partition import Contract, Partition
from evener.sliced import windows
from evener.sliced.borders import BlockBorders, near_clusters
from evener.sliced.clusters import clusters_in_slices
from evener.sliced.contraction import contract
from evener.sliced.rows import InMemoryGraph
from evener.sliced.windows import refine_windows

K = 12


def borders_of(graph, hops=1):
    """Borders of stripes, which are far from short."""
    whole = InMemoryGraph(graph)
    clusters = clusters_in_slices(whole, 8.0 * graph.total_weight / graph.n)
    coarse = contract(whole, clusters.of, clusters.count, points=True)
    part = np.minimum(coarse.coords[:, 0] * K, K - 1).astype(np.int32)
    near = near_clusters(coarse, part, hops)
    return BlockBorders.found(whole, clusters.of, coarse, part, K, near)


def weighted(graph):
    """Edges and vertices that weigh 1 to 5."""
    ends = np.repeat(np.arange(graph.n), graph.degrees)
    pairs = np.minimum(ends, graph.adjncy) + 3 * np.maximum(ends, graph.adjncy)
    return graph.with_(adjwgt=1 + pairs % 5, vwgt=1 + np.arange(graph.n) % 5)


def limits_of(graph, part):
    loads = np.bincount(part, graph.weights(), K)
    return Contract(loads, 0.9 * loads, 1.1 * loads)


def cut_of(graph, part):
    return metrics.edge_cut(metrics.quotient(graph, Partition(part, K)))


@pytest.mark.parametrize("most", [300, 2000, 10**6])
@pytest.mark.parametrize("has_weights", [False, True])
def test_windows_cut_less_and_keep_limits(most, has_weights):
    graph = delaunay(6000, 3)
    graph = weighted(graph) if has_weights else graph
    before = borders_of(graph).all_blocks()
    borders = borders_of(graph)
    limits = limits_of(graph, before)
    refine_windows(borders, limits, most, 2, RefineOptions())
    after = borders.all_blocks().copy()
    assert cut_of(graph, after) < cut_of(graph, before)
    loads = np.bincount(after, graph.weights(), K)
    assert (limits.low <= loads).all()
    assert (loads <= limits.high).all()
    np.testing.assert_allclose(borders.weights, loads)


def test_only_vertices_near_borders_move():
    graph = delaunay(6000, 5)
    borders = borders_of(graph, hops=0)
    single = borders.of < 0
    before = borders_of(graph, hops=0).all_blocks()
    refine_windows(borders, limits_of(graph, before), 500, 1, RefineOptions())
    moved = borders.all_blocks() != before
    assert moved.any()
    assert not moved[~single].any()


@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("most", [200, 900])
def test_the_graph_of_a_window_has_the_edges_of_its_vertices(has_weights, most, monkeypatch):
    graph = delaunay(3000, 8)
    graph = weighted(graph) if has_weights else graph
    borders = borders_of(graph)
    part = borders_of(graph).all_blocks().copy()
    single = np.flatnonzero(borders.of < 0)
    seen = []

    def looked_at(window, along, contract, effort, fixed):
        seen.append((window, along, contract.targets))
        return along

    monkeypatch.setattr(windows, "better_blocks", looked_at)
    numbered = Contract(np.arange(K) + 1.0, np.zeros(K), np.full(K, 1e9))  # targets name blocks
    refine_windows(borders, numbered, most, 1, RefineOptions())
    assert [along.size - targets.size for _, along, targets in seen] == [
        min(most, single.size - begin) for begin in range(0, single.size, most)
    ]
    loads = np.bincount(part, graph.weights(), K)
    for i, (window, along, targets) in enumerate(seen):
        own = single[i * most : (i + 1) * most]
        b = targets.size
        blocks = targets.astype(int) - 1
        # All others of a block are one vertex, the edges between these left out.
        to = np.full(graph.n, -1)
        to[own] = b + np.arange(own.size)
        others = to < 0
        to[others] = np.searchsorted(blocks, part[others])
        known = np.isin(part, blocks)
        expected = np.zeros((window.n, window.n))
        u, v = np.repeat(np.arange(graph.n), graph.degrees), graph.adjncy
        used = ~others[u] | ~others[v]
        assert known[u[used]].all()
        np.add.at(expected, (to[u[used]], to[v[used]]), graph.edge_weights()[used])
        found = np.zeros((window.n, window.n))
        rows = np.repeat(np.arange(window.n), window.degrees)
        np.add.at(found, (rows, window.adjncy), window.edge_weights())
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(along[b:], np.searchsorted(blocks, part[own]))
        np.testing.assert_allclose(np.bincount(along, window.weights()), loads[blocks])
