"""Graphs told to ranks: the same lists and types everywhere."""

import numpy as np
import pytest

from evener.graphs.generating.grid import grid
from evener.graphs.graph import Graph
from evener.running.comm import run_threads
from evener.sliced.telling import told_graph


@pytest.mark.parametrize("fraction", [0.0, 0.5])
def test_all_ranks_have_the_graph_of_the_first(fraction):
    plain = grid([5, 7])
    weights = np.arange(plain.n) + 300 + fraction
    edges = (plain.adjncy + np.repeat(np.arange(plain.n), plain.degrees)).astype(np.int32)
    edges = edges * (1 + fraction) if fraction else edges
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
