"""Triangles on one device and several, by any number of threads, against all triples."""

from itertools import combinations

import numpy as np
import pytest

from evener.errors import InputError
from evener.graphs.generating.random_graphs import rmat
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.apps import triangles
from evener.running.comm import run_threads
from evener.running.engine.pool import ThreadPool
from evener.running.executing import run_program
from tests.running.engine.parts import loop, parts, random_graph, whole


def by_triples(graph):
    """Return of how many triangles each vertex is a corner, all triples tried."""
    near = np.zeros((graph.n, graph.n), bool)
    near[np.repeat(np.arange(graph.n), np.diff(graph.xadj)), graph.adjncy] = True
    found = np.zeros(graph.n, np.int64)
    for triple in combinations(range(graph.n), 3):
        a, b, c = triple
        if near[a, b] and near[b, c] and near[a, c]:
            found[list(triple)] += 1
    return found


def wheel(n):
    """Return a cycle of n vertices around one more: its degree is far above all others."""
    ring = np.arange(n)
    return Graph.from_edges(n + 1, np.append(ring, ring), np.append((ring + 1) % n, np.full(n, n)))


GRAPHS = {
    "random": random_graph(40, 300, 4),
    "skewed": rmat(6, 3, edge_factor=5),
    "wheel": wheel(20),
    "cycle": loop(9),
    "triangle": loop(3),
    "no edges": Graph.from_edges(4, [], []),
    "one vertex": Graph.from_edges(1, [], []),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize(("k", "at_once"), [(1, 1), (2, 1), (2, triangles.AT_ONCE), (5, 3)])
def test_triangles_of_each_vertex(name, k, at_once, monkeypatch):
    """at_once: with few entries at a time, lists are sent in many messages."""
    monkeypatch.setattr(triangles, "AT_ONCE", at_once)
    graph = GRAPHS[name]
    expected = by_triples(graph)
    blocks = np.random.default_rng(3).integers(0, k, graph.n).astype(np.int32)
    found = run_program(triangles.TRIANGLES, graph, Partition(blocks, k))
    assert np.array_equal(found.values, expected)
    assert found.supersteps == 1
    assert 3 * triangles.total(found.values) == expected.sum()
    assert triangles.verify(graph, expected)
    wrong = expected.copy()
    wrong[0] += 1
    assert not triangles.verify(graph, wrong)


@pytest.mark.parametrize("graph", [rmat(10, 5), random_graph(2000, 20000, 6)], ids=["rmat", "even"])
def test_threads_and_orders_change_nothing(graph, monkeypatch):
    partition = Partition(np.zeros(graph.n, np.int32), 1)
    expected = run_program(triangles.TRIANGLES, graph, partition).values
    with ThreadPool(4) as pool:
        alone = run_threads(1, lambda comm: triangles.count(comm, whole(graph), pool))[0]
    assert np.array_equal(alone.values, expected)
    for is_skewed in (False, True):
        monkeypatch.setattr(triangles, "_is_skewed", lambda *_, found=is_skewed: found)
        for k in (1, 3):
            divided = parts(graph, (np.arange(graph.n) * 7 % k).astype(np.int32), k)

            def work(comm, divided=divided):
                with ThreadPool(2) as own:
                    return triangles.count(comm, divided[comm.rank], own).values

            for part, values in zip(divided, run_threads(k, work), strict=True):
                assert np.array_equal(values, expected[part.owned])


def test_neighbours_in_any_order():
    graph = random_graph(200, 1500, 3)
    expected = by_triples(graph)
    turned = graph.adjncy.copy()
    for a, b in zip(graph.xadj[:-1], graph.xadj[1:], strict=True):
        turned[a:b] = graph.adjncy[a:b][::-1]
    for given in (graph, graph.with_(adjncy=turned)):
        found = run_program(triangles.TRIANGLES, given, Partition(np.zeros(200, np.int32), 1))
        assert np.array_equal(found.values, expected)


def test_a_hub_costs_no_more_than_its_arcs():
    star = Graph.from_edges(3001, np.full(3000, 1500), np.delete(np.arange(3001), 1500))
    found = run_program(triangles.TRIANGLES, star, Partition(np.zeros(3001, np.int32), 1))
    assert found.edges == 0  # no list has two entries
    spokes = wheel(3000)
    found = run_program(triangles.TRIANGLES, spokes, Partition(np.zeros(3001, np.int32), 1))
    assert found.edges < 3 * spokes.adjncy.size
    assert triangles.total(found.values) == 3000


def test_lists_of_ghosts_are_sent_once():
    graph = random_graph(300, 2000, 9)
    blocks = Partition((np.arange(300) % 3).astype(np.int32), 3)
    found = run_program(triangles.TRIANGLES, graph, blocks)
    for local, (step,) in zip(parts(graph, blocks.part, 3), found.steps, strict=True):
        most = sum(4 * numbers.size + 2 * graph.adjncy.size for numbers in local.sends.values())
        assert 0 < step.sent <= most + 8 * (local.n_local - local.n_owned)


def test_directed_graphs_are_refused():
    directed = random_graph(20, 60, 1, directed=True)
    with pytest.raises(InputError, match="counted in undirected graphs"):
        run_program(triangles.TRIANGLES, directed, Partition(np.zeros(20, np.int32), 1))
