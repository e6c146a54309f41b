"""Contracted graphs, against NumPy's sums over all edges."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rmat
from evener.running.comm import run_threads
from evener.sliced.clusters import clusters_in_slices
from evener.sliced.contraction import EdgeSums, contract
from evener.sliced.distributed import DistributedGraph
from evener.sliced.rows import InMemoryGraph
from tests.sliced.rank_rows import ranges_of, rows_of


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
    for name in ("xadj", "adjncy", "adjwgt"):
        first, second = (getattr(one, name) for one in made)
        assert first.dtype == second.dtype
        np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(*(one.weights() for one in made))
    # Real numbers are rounded where clusters may have vertices of several slices.
    np.testing.assert_allclose(*(one.coords for one in made), rtol=1e-9)


def numbered_at_random(graph, seed):
    place = np.random.default_rng(seed).permutation(graph.n)
    u, v = place[np.repeat(np.arange(graph.n), graph.degrees)], place[graph.adjncy]
    along = np.lexsort((v, u))
    xadj = np.concatenate([[0], np.cumsum(np.bincount(u, minlength=graph.n))])
    return type(graph)(xadj, v[along])


def test_sums_of_real_numbers_are_the_same_for_any_number_of_ranks():
    graph, rng = numbered_at_random(grid([40, 40]), 3), np.random.default_rng(5)
    u = np.repeat(np.arange(graph.n), graph.degrees)
    apart = np.abs(np.sin(np.minimum(u, graph.adjncy) * 7.0 + np.maximum(u, graph.adjncy)))
    vwgt = rng.random(graph.n) + 0.5
    graph = graph.with_(adjwgt=apart + 0.1, vwgt=vwgt, coords=rng.random((graph.n, 2)))
    of = rng.integers(0, 60, graph.n).astype(np.int32)

    def work(comm):
        vertices = np.arange(*ranges_of(graph.n, comm.size)[comm.rank : comm.rank + 2])
        sliced = DistributedGraph.from_local(comm, **rows_of(graph, vertices))
        own = np.empty(sliced.n_local, np.int32)
        own[: sliced.n_own] = of[sliced.first : sliced.first + sliced.n_own]
        sliced.fill(own)
        return contract(sliced, own, 60, points=True)

    made = [run_threads(ranks, work)[0] for ranks in (1, 2, 3, 4, 8)]
    made.append(contract(InMemoryGraph(graph), of, 60, points=True))
    for one in made[1:]:
        for name in ("xadj", "adjncy", "adjwgt", "vwgt", "coords"):
            np.testing.assert_array_equal(getattr(one, name), getattr(made[0], name), name)
    np.testing.assert_allclose(made[0].vwgt, np.bincount(of, vwgt, 60), rtol=1e-12)


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
