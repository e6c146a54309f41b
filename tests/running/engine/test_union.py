"""The union schedule and WCC, against slow references."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.plans.partition import Partition
from evener.running.apps import wcc
from evener.running.distributing import local_graph
from evener.running.engine import ThreadPool
from evener.running.engine.engine import run_on
from tests.examples import seeds
from tests.running.engine.parts import loop, random_graph, whole


@pytest.fixture(scope="module", params=[1, 2], ids=["1 thread", "2 threads"])
def pool(request):
    with ThreadPool(request.param) as made:
        yield made


def slow_components(graph):
    arcs, label = graph.arcs_out(), list(range(graph.n))
    changed = True
    while changed:
        changed = False
        for v in range(graph.n):
            for w in arcs.adjncy[arcs.xadj[v] : arcs.xadj[v + 1]]:
                if label[v] != label[w]:
                    label[v] = label[w] = min(label[v], label[w])
                    changed = True
    return label


@pytest.mark.parametrize("seed", seeds(20))
def test_wcc_of_random_graphs(pool, seed):
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 200))
    graph = random_graph(n, int(draw.integers(0, 2 * n)), seed, directed=bool(seed % 2))
    ran = run_on(wcc.PROGRAM, whole(graph), pool)
    assert ran.values.tolist() == slow_components(graph)
    assert wcc.verify(graph, ran.values)
    assert ran.supersteps == 1


def test_wcc_of_loops_of_all_sizes(pool):
    for n in range(1, 201):
        assert not run_on(wcc.PROGRAM, whole(loop(n)), pool).values.any(), n


def test_most_arcs_of_the_largest_component_are_skipped(pool):
    graph = random_graph(3000, 60_000, 1)
    ran = run_on(wcc.PROGRAM, whole(graph), pool)
    assert wcc.verify(graph, ran.values)
    assert ran.edges < 2.1 * graph.n


def test_a_wrong_label_is_found():
    graph = random_graph(60, 50, 2)
    values = run_on(wcc.PROGRAM, whole(graph), 1).values
    values[-1] += 1
    assert not wcc.verify(graph, values)


def test_arcs_that_were_not_asked_for_are_missed():
    graph = random_graph(60, 50, 2, directed=True)
    part = local_graph(graph, Partition(np.zeros(60, np.int32), 1), 0, want="out")
    with pytest.raises(InputError, match="wcc needs the arcs into"):
        run_on(wcc.PROGRAM, part)
