"""Measured and predicted seconds of a run on blocks of edges."""

import numpy as np
import pytest

from evener.graphs.edge_list import EdgeList
from evener.planning.edge_breakdown import edge_breakdown_of
from evener.planning.split import SplitOptions, split
from evener.running.apps import bfs, pagerank
from evener.running.edge_copies import copies_of
from evener.running.edge_shares import DividedEdges
from evener.running.on_edges import run_on_edges
from tests.running.edge_cases import drawn

GRAPH = drawn(4)


def test_loads_are_edges_and_messages_both_ways_of_each_copy():
    edges = EdgeList.of_graph(GRAPH)
    plan = split(edges, [1e9, 2e9], SplitOptions("dbh"))
    copies, divided = copies_of(edges, plan.partition), DividedEdges(plan.partition)
    run = run_on_edges(pagerank.PROGRAM, GRAPH, divided, most=3)
    found = edge_breakdown_of(run, plan, copies, pagerank.PROGRAM, GRAPH.adjncy.size)
    assert np.array_equal(found.loads, plan.metrics.loads)
    assert found.computing == pytest.approx(plan.metrics.loads / [1e9, 2e9])
    least = run_on_edges(bfs.PROGRAM, GRAPH, divided)
    share = least.edges / least.supersteps / GRAPH.adjncy.size
    found = edge_breakdown_of(least, plan, copies, bfs.PROGRAM, GRAPH.adjncy.size)
    assert (found.computing * [1e9, 2e9]).sum() == pytest.approx(edges.m * share)
