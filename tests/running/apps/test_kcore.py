"""Core numbers on one device and several, by any number of threads, against a plain definition."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.apps import kcore
from evener.running.comm import run_threads
from evener.running.engine.pool import ThreadPool
from evener.running.executing import run_program
from tests.running.engine.parts import loop, parts, random_graph, whole


def by_definition(graph):
    """Return core numbers: of which k a vertex is left when those below k are removed for long."""
    core = np.zeros(graph.n, np.int64)
    for k in range(1, graph.n):
        left = np.ones(graph.n, bool)
        while True:
            counts = np.array(
                [
                    left[graph.adjncy[a:b]].sum()
                    for a, b in zip(graph.xadj[:-1], graph.xadj[1:], strict=True)
                ]
            )
            going = left & (counts < k)
            if not going.any():
                break
            left &= ~going
        core[left] = k
    return core


def clique_with_tail(n, tail):
    u, v = np.triu_indices(n, 1)
    more = np.arange(n - 1, n + tail - 1)
    return Graph.from_edges(n + tail, np.append(u, more), np.append(v, more + 1))


GRAPHS = {
    "random": random_graph(60, 260, 4),
    "sparse": random_graph(60, 50, 5),
    "cycle": loop(30),
    "clique with a tail": clique_with_tail(9, 12),
    "no edges": Graph.from_edges(4, [], []),
    "one vertex": Graph.from_edges(1, [], []),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("k", [1, 2, 5])
def test_core_numbers(name, k):
    graph = GRAPHS[name]
    expected = by_definition(graph)
    blocks = np.random.default_rng(2).integers(0, k, graph.n).astype(np.int32)
    found = run_program(kcore.KCORE, graph, Partition(blocks, k))
    assert np.array_equal(found.values, expected)
    assert kcore.verify(graph, expected)
    wrong = expected.copy()
    wrong[-1] += 1
    assert not kcore.verify(graph, wrong)
    if k == 1:
        assert found.supersteps == 1
        assert found.edges == graph.adjncy.size


@pytest.mark.parametrize("seed", range(4))
def test_threads_change_nothing(seed):
    graph = random_graph(3000, 30000, seed)
    expected = run_program(kcore.KCORE, graph, Partition(np.zeros(graph.n, np.int32), 1)).values
    with ThreadPool(4) as pool:
        alone = run_threads(1, lambda comm: kcore.cores(comm, whole(graph), pool))[0]
    assert np.array_equal(alone.values, expected)
    divided = parts(graph, (np.arange(graph.n) * 7 % 3).astype(np.int32), 3)

    def work(comm):
        with ThreadPool(3) as own:
            return kcore.cores(comm, divided[comm.rank], own).values

    for part, values in zip(divided, run_threads(3, work), strict=True):
        assert np.array_equal(values, expected[part.owned])


def test_fewer_supersteps_give_upper_bounds():
    graph = loop(40)
    path = Graph.from_edges(40, np.arange(39), np.arange(1, 40))
    blocks = Partition((np.arange(40) % 4).astype(np.int32), 4)
    assert run_program(kcore.KCORE, graph, blocks).supersteps == 2
    begun = run_program(kcore.KCORE, path, blocks, most=3)
    assert begun.supersteps == 3
    assert (begun.values >= 1).all() and begun.values.max() == 2
    assert (run_program(kcore.KCORE, path, blocks).values == 1).all()


def test_directed_graphs_are_refused():
    directed = random_graph(20, 60, 1, directed=True)
    with pytest.raises(InputError, match="core numbers are defined for undirected"):
        run_program(kcore.KCORE, directed, Partition(np.zeros(20, np.int32), 1))
