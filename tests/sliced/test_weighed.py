"""Rows in slices that weigh what they are given: totals do not depend on the number of ranks."""

import numpy as np

from evener.running.comm import run_threads
from evener.sliced.distributed import DistributedGraph
from evener.sliced.facts import VertexBytes, WeighedRows, degrees_of, weights_of
from evener.sliced.rows import InMemoryGraph
from tests.sliced.rank_rows import expected, put_together, random_graph, ranges_of, rows_of

SIZE = VertexBytes(3.0, 5.0)


def test_weights_totals_and_degrees_are_those_of_the_whole_graph():
    graph = random_graph(500, 2000, 3, weighted=True, coords=True)
    weights = np.random.default_rng(4).random(graph.n)
    (alone,) = [WeighedRows(InMemoryGraph(graph), weights, SIZE)]
    for ranks in (1, 2, 3):
        bounds = ranges_of(graph.n, ranks)

        def work(comm, bounds=bounds):
            mine = range(bounds[comm.rank], bounds[comm.rank + 1])
            rows = DistributedGraph.from_local(comm, **rows_of(graph, mine))
            here = slice(rows.first, rows.first + rows.n_own)
            assert (weights_of(rows) == graph.weights()[here]).all()
            assert (degrees_of(rows) == graph.degrees[here]).all()
            found = WeighedRows(rows, weights[here], SIZE)
            assert (weights_of(found) == weights[here]).all()
            found.first, found.ghosts = rows.first, rows.ghosts  # for put_together
            return put_together(comm, found), found.total, found.heaviest

        for rows, total, heaviest in run_threads(ranks, work):
            assert rows == expected(graph.with_(vwgt=weights))
            assert total == alone.total
            assert heaviest == weights.max()
    assert np.isclose(alone.total, weights.sum())
    assert alone.rows(3).vwgt.size


def test_where_all_weigh_1_no_weights_are_kept():
    graph = random_graph(300, 500, 3)
    rows = WeighedRows(InMemoryGraph(graph), np.ones(graph.n), SIZE)
    assert rows.rows(5).vwgt.size == 0
    assert rows.total == graph.n
    assert (weights_of(rows) == 1).all()
