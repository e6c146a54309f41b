"""Apps on random graphs and partitions, devices as threads: their values are right."""

import numpy as np
import pytest

import evener as ev
from evener.graphs.generating.grid import grid
from tests.examples import seeds
from tests.running.random_runs import APPS, is_right, random_case


@pytest.mark.parametrize("seed", seeds(40))
def test_random_graphs_and_partitions(seed):
    case = random_case(seed)
    for app in APPS:
        assert is_right(app, case), (app, case)


def test_an_app_is_run_by_its_name():
    graph = ev.Graph.from_edges(4, [0, 1], [1, 2])  # vertex 3 is alone
    halves = ev.Partition(np.array([0, 0, 1, 1]), 2)
    for blocks in (halves, ev.plan(graph, 2), ev.split(graph, 2)):
        found = ev.run_program("bfs", graph, blocks, parameters={"source": 1})
        assert found.values.tolist() == [1, 0, 1, -1]  # as `evener run -o` writes, not 2^31
        found = ev.run_program("pagerank", graph, blocks)
        assert found.supersteps == 10
        assert repr(found).startswith("ProgramRun(4 vertices, values ")
        assert ev.run_program("pagerank", graph, blocks, most=3).supersteps == 3


ENDLESS = ev.VertexProgram(
    init=lambda: 0.0, emit=lambda value: value, apply=lambda combined: combined, combine="sum"
)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("pagernk", "there is no app 'pagernk'; did you mean pagerank"),
        (3, "3 is not a vertex program"),
        (ENDLESS, "does not end by itself"),
    ],
)
def test_what_cannot_be_run(program, message):
    graph = grid((2, 2))
    whole = ev.Partition(np.zeros(4, int), 1)
    for blocks in (whole, ev.split(graph, 1)):
        with pytest.raises(ev.UsageError, match=message):
            ev.run_program(program, graph, blocks)
        with pytest.raises(ev.UsageError, match="supersteps must be at least 1, not 0"):
            ev.run_program("wcc", graph, blocks, most=0)
    with pytest.raises(ev.UsageError, match=r"'mesh\.plan' is neither a plan nor a partition"):
        ev.run_program("wcc", graph, "mesh.plan")
