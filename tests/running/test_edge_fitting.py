"""Bytes of a run on blocks of edges, counted in advance, against those that are made."""

import tracemalloc

import pytest

from evener.graphs.generating.random_graphs import rmat
from evener.running.apps.registry import APPS
from evener.running.edge_copies import copies_of
from evener.running.edge_fitting import bytes_on_edges
from evener.running.edge_shares import dealt_edges, edge_shares
from evener.running.on_edges import run_on_shares
from tests.running.edge_cases import divided, drawn


def counted(graph, given, program):
    """Return the bytes of each device."""
    dealt = dealt_edges(graph, given)
    arcs = graph.arcs_out().adjncy.size
    return bytes_on_edges(*dealt, copies_of(*dealt), program, arcs)


@pytest.mark.parametrize(("seed", "of"), [(2, "graph"), (2, "arcs"), (3, "arcs"), (1, "graph")])
def test_bytes_of_shares_are_those_that_are_made(seed, of):
    graph = drawn(seed)
    given = divided(graph, 4, of, seed, used=3)
    needed = counted(graph, given, APPS["pagerank"].program)
    shares = edge_shares(graph, given)
    assert [one.graph for one in needed] == [shares[d].nbytes for d in range(4)]


@pytest.mark.parametrize("app", ["pagerank", "bfs", "wcc", "spmv"])
def test_bytes_of_runs_are_those_that_are_allocated(app):
    graph, program = rmat(11, seed=5), APPS[app].program
    given = divided(graph, 2)
    shares = edge_shares(graph, given)
    run_on_shares(program, shares, most=2)  # compiles
    tracemalloc.start()
    run_on_shares(program, shares, most=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    needed = sum(one.arrays + one.halo for one in counted(graph, given, program))
    # Beside them: results of the run, and what NumPy makes for a moment.
    assert 0.75 * needed < peak < 1.5 * needed + 16 * graph.n
