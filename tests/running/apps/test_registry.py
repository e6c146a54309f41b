"""The apps by name: each runs, is verified, and is found wrong where one value is."""

import numpy as np
import pytest

from evener.errors import UsageError
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.apps.registry import APPS, find_app
from evener.running.engine.engine import MOST
from evener.running.executing import run_program
from tests.running.engine.parts import random_graph


@pytest.mark.parametrize("name", APPS)
def test_values_are_verified_and_wrong_ones_found(name):
    app, graph = APPS[name], random_graph(120, 500, 3, weights=9)
    partition = Partition(np.random.default_rng(5).integers(0, 3, 120).astype(np.int32), 3)
    found = run_program(app.program, graph, partition, most=app.iterations or MOST)
    given = dict(app.program.parameters)
    assert app.verify(graph, found.values, found.supersteps, given)
    wrong = found.values.copy()
    wrong[int(np.argmax(np.where(wrong < 10**6, wrong, 0)))] += 1
    assert not app.verify(graph, wrong, found.supersteps, given)
    assert app.result(found.values).shape == (120,)


def test_summaries_of_values():
    clique = Graph.from_edges(6, *np.triu_indices(5, 1))
    partition = Partition(np.array([0, 1, 0, 1, 1, 0], np.int32), 2)
    for name, summary in {
        "triangles": {"triangles": 10},
        "kcore": {"largest core number": 4},
    }.items():
        found = run_program(APPS[name].program, clique, partition)
        assert APPS[name].summary(found.values) == summary


def test_unknown_app():
    with pytest.raises(UsageError, match="no app 'pagerang'; did you mean pagerank"):
        find_app("pagerang")
