"""Numbers in the least bytes that hold them; graphs told to ranks in these."""

import numpy as np
import pytest

from evener.graphs.generating.grid import grid
from evener.graphs.graph import Graph
from evener.running.comm import run_threads
from evener.sliced.narrow import narrow, told_graph


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 255], "u1"), ([256.0, 1.0], "u2"), ([2.0**31 - 1], "u4"), ([2.0**31], "f8"),
        ([0.5], "f8"), ([-1], "i8"), ([np.inf], "f8"), ([np.nan, 1.0], "f8"),
    ],
)  # fmt: skip
def test_numbers_stay_the_same_in_the_least_bytes(values, kind):
    given = np.array(values)
    found = narrow(given)
    assert found.dtype == np.dtype(kind)
    np.testing.assert_array_equal(found, given)


def test_none_stay_none():
    assert narrow(np.empty(0, np.int32)).dtype == np.int32


@pytest.mark.parametrize("fraction", [0.0, 0.5])
def test_all_ranks_have_the_graph_of_the_first(fraction):
    plain = grid([5, 7])
    weights = np.arange(plain.n) + 300 + fraction
    edges = (plain.adjncy + np.repeat(np.arange(plain.n), plain.degrees)).astype(np.int32)
    graph = Graph(plain.xadj, plain.adjncy, weights, edges, plain.coords)

    def work(comm):
        return told_graph(comm, graph if comm.rank == 0 else None)

    for found in run_threads(3, work):
        assert (found.xadj == graph.xadj).all()
        assert (found.adjncy == graph.adjncy).all()
        assert (found.vwgt == graph.vwgt).all()
        assert (found.adjwgt == graph.adjwgt).all()
        assert found.adjwgt.dtype == graph.adjwgt.dtype
        assert found.vwgt.dtype == graph.vwgt.dtype


def test_one_process_keeps_its_graph():
    graph = grid([3, 3])
    assert run_threads(1, lambda comm: told_graph(comm, graph))[0] is graph
