"""Contracted graphs, against NumPy's sums over all edges."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rmat
from evener.sliced.clusters import clusters_in_slices
from evener.sliced.contraction import EdgeSums, contract
from evener.sliced.whole import InMemoryGraph


def summed(graph, of, count):
    """(count, count) sums of edge weights between clusters, slowly."""
    table = np.zeros((count, count))
    weights = np.ones(graph.adjncy.size) if graph.adjwgt is None else graph.adjwgt
    u = np.repeat(np.arange(graph.n), graph.degrees)
    np.add.at(table, (of[u], of[graph.adjncy]), weights)
    np.fill_diagonal(table, 0)
    return table


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("graph", [grid([30, 40]), rmat(8, 3)], ids=["grid", "rmat"])
def test_sums_are_those_of_all_edges(graph, weighted):
    rng = np.random.default_rng(4)
    if weighted:
        pairs = np.minimum(np.repeat(np.arange(graph.n), graph.degrees), graph.adjncy)
        graph = graph.with_(adjwgt=1 + pairs % 7, vwgt=rng.integers(1, 9, graph.n))
    of, count = rng.integers(0, 50, graph.n).astype(np.int32), 50
    small = contract(InMemoryGraph(graph), of, count)
    dense = np.zeros((count, count))
    u = np.repeat(np.arange(count), np.diff(small.xadj))
    dense[u, small.adjncy] = small.adjwgt
    np.testing.assert_array_equal(dense, summed(graph, of, count))
    expected = np.bincount(of, graph.weights(), count)
    np.testing.assert_array_equal(small.weights(), expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_clusters_inside_slices_are_summed_slice_by_slice_alike(weighted):
    graph = delaunay(3000, 7)
    if weighted:
        pairs = np.repeat(np.arange(graph.n), graph.degrees) * graph.adjncy.astype(np.int64)
        graph = graph.with_(adjwgt=1 + pairs % 7)
    whole = InMemoryGraph(graph)
    clusters = clusters_in_slices(whole, 6.0)
    made = [
        contract(whole, clusters.of, clusters.count, points=True, across=across)
        for across in (True, False)
    ]
    for name in ("xadj", "adjncy", "adjwgt", "coords"):
        first, second = (getattr(one, name) for one in made)
        assert first.dtype == second.dtype
        np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(*(one.weights() for one in made))


def test_centres_are_means():
    graph = grid([30, 40])
    of = np.random.default_rng(1).integers(0, 9, graph.n).astype(np.int32)
    small = contract(InMemoryGraph(graph), of, 9, points=True)
    for c in range(9):
        np.testing.assert_allclose(small.coords[c], graph.coords[of == c].mean(axis=0))


def test_a_table_grows_for_any_number_of_pairs():
    table = EdgeSums(1, weighted=False)
    keys = np.arange(200_000, dtype=np.int64) << 32 | np.arange(200_000) + 1
    for _ in range(3):
        table.add_pairs(keys, np.ones(keys.size, np.int32))
    found, sums = table.pairs()
    assert table.used == keys.size
    assert np.array_equal(np.sort(found), keys)
    assert (sums == 3).all()
