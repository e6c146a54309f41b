"""The dense schedule and PageRank, against slow references."""

import numpy as np
import pytest

from evener.running.apps import pagerank
from evener.running.engine import ThreadPool, VertexProgram
from evener.running.engine.engine import Engine, run_on
from evener.running.engine.work import ARCS_OF_CHUNK
from tests.examples import seeds
from tests.running.engine.parts import loop, random_graph, whole


@pytest.fixture(scope="module", params=[1, 2], ids=["1 thread", "2 threads"])
def pool(request):
    with ThreadPool(request.param) as made:
        yield made


def slow_ranks(graph, steps, damping=0.85):
    arcs, n = graph.arcs_out(), graph.n
    ranks = [1 / n] * n
    for _ in range(steps):
        new = [(1 - damping) / n] * n
        for v in range(n):
            heads = arcs.adjncy[arcs.xadj[v] : arcs.xadj[v + 1]]
            for w in heads:
                new[w] += damping * ranks[v] / len(heads)
        ranks = new
    return ranks


@pytest.mark.parametrize("seed", seeds(20))
def test_pagerank_of_random_graphs(pool, seed):
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 60))
    graph = random_graph(n, int(draw.integers(0, 4 * n)), seed, directed=bool(seed % 2))
    ran = run_on(pagerank.PROGRAM, whole(graph), pool, 7)
    assert np.allclose(ran.values, slow_ranks(graph, 7), rtol=1e-5)
    assert pagerank.verify(graph, ran.values, ran.supersteps)
    assert (ran.supersteps, ran.edges) == (7, 7 * graph.arcs_in().adjncy.size)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 63, 64, 65, 128, 200])
def test_ranks_of_a_loop_are_equal(pool, n):
    ran = run_on(pagerank.PROGRAM, whole(loop(n)), pool, 5)
    assert np.allclose(ran.values, 1 / n if n > 1 else 0.15, rtol=1e-5)


def test_it_halts_when_ranks_change_too_little(pool):
    graph = random_graph(50, 200, 1)
    ran = run_on(pagerank.PROGRAM, whole(graph), pool, tolerance=1e-4)
    assert 3 < ran.supersteps < 50
    before, after = (slow_ranks(graph, ran.supersteps + i) for i in (-2, -1))
    assert np.abs(np.subtract(after, before)).sum() >= 1e-4
    last = slow_ranks(graph, ran.supersteps)
    assert np.abs(np.subtract(last, after)).sum() < 1e-4


def test_a_wrong_rank_is_found():
    graph = random_graph(50, 200, 1)
    values = run_on(pagerank.PROGRAM, whole(graph), 1, 5).values
    values[3] *= 1.5
    assert not pagerank.verify(graph, values, 5)


def test_some_steps_at_a_time_give_the_same(pool):
    part = whole(random_graph(60, 300, 2))
    once = run_on(pagerank.PROGRAM, part, pool, 6)
    engine = Engine(pagerank.PROGRAM, part, pool)
    engine.compile()
    for most in (0, 1, 2, 3):
        engine.advance(most)
    assert engine.supersteps == 6
    assert (engine.values == once.values).all()
    assert engine.edges == once.edges


def test_chunks_and_threads_do_not_change_sums():
    """A graph of several chunks gives the same bits with any number of threads."""
    part = whole(random_graph(3000, 60_000, 3))
    assert part.into.ends.size > 4 * ARCS_OF_CHUNK
    runs = [run_on(pagerank.PROGRAM, part, threads, tolerance=1e-6) for threads in (1, 2, 3)]
    assert all((runs[0].values == other.values).all() for other in runs)
    assert {(one.supersteps, one.edges) for one in runs} == {(runs[0].supersteps, runs[0].edges)}


def init(vertex):
    return vertex


def weighed(payload, weight, scale):
    return payload * weight * scale


LARGEST = VertexProgram(
    init=init, along=weighed, combine="max", dtype="float64", schedule="dense",
    parameters={"scale": 0.25}, name="largest",
)  # fmt: skip


@pytest.mark.parametrize("directed", [False, True])
def test_weights_and_other_combines(pool, directed):
    graph = random_graph(40, 100, 5, directed=directed, weights=9)
    ran = run_on(LARGEST, whole(graph), pool, 2)
    arcs, expected = graph.arcs_in(), np.arange(40.0)
    for _ in range(2):
        old = expected.copy()
        for v in range(40):
            for j in range(arcs.xadj[v], arcs.xadj[v + 1]):
                expected[v] = max(expected[v], old[arcs.adjncy[j]] * arcs.adjwgt[j] * 0.25)
    assert np.array_equal(ran.values, expected)


def test_arcs_may_count_both_ways(pool):
    graph = random_graph(40, 60, 8, directed=True)
    both = VertexProgram(
        init=init, combine="max", dtype="int32", direction="both", schedule="dense"
    )
    ran = run_on(both, whole(graph), pool, 1)
    undirected = graph.undirected()
    expected = run_on(both, whole(undirected), pool, 1)
    assert np.array_equal(ran.values, expected.values)
    assert ran.edges == 2 * graph.m
