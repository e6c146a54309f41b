"""Graphs in slices, brought to process 0."""

import numpy as np
import pytest

from evener.running.comm import run_threads
from evener.sliced.collecting import collected
from evener.sliced.distributed import DistributedGraph
from evener.sliced.whole import InMemoryGraph
from tests.sliced.rank_rows import random_graph, ranges_of, rows_of


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ranks", [1, 3])
def test_the_graph_is_whole_again(weighted, ranks):
    graph = random_graph(300, 900, 2, weighted=weighted)
    bounds = ranges_of(graph.n, ranks)

    def work(comm):
        rows = rows_of(graph, range(bounds[comm.rank], bounds[comm.rank + 1]))
        return collected(DistributedGraph.from_local(comm, **rows), 3.0, 5.0)

    found, *others = [*run_threads(ranks, work), collected(InMemoryGraph(graph), 3.0, 5.0)]
    assert others[:-1] == [None] * (ranks - 1)
    for one in (found, others[-1]):
        assert (one.xadj == graph.xadj).all()
        assert (one.adjncy == graph.adjncy).all()
        assert (one.weights() == graph.weights()).all()
        assert (one.edge_weights() == graph.edge_weights()).all()
        assert one.weights().dtype == graph.weights().dtype
        assert (one.bytes_per_vertex, one.bytes_per_edge) == (3.0, 5.0)


def test_weights_that_are_not_whole_stay_as_they_are():
    graph = random_graph(100, 300, 2).with_(vwgt=np.arange(100) + 0.5)
    assert (collected(InMemoryGraph(graph)).weights() == graph.weights()).all()
