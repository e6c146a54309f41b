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


def test_the_name_of_a_program_is_refused():
    graph = grid((2, 2))
    whole = ev.Partition(np.zeros(4, int), 1)
    for run, blocks in ((ev.run_program, whole), (ev.run_on_edges, ev.split(graph, 1))):
        with pytest.raises(ev.UsageError, match="'pagerank' is no vertex program"):
            run("pagerank", graph, blocks)
