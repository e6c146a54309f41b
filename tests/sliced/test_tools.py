"""Partitioners of graphs in slices, by name: each keeps both limits, in a plan as well."""

import numpy as np
import pytest

from evener.errors import UsageError
from evener.graphs.generating.grid import grid
from evener.graphs.graph import Graph
from evener.io.write import write_graph
from evener.partitioning.tools import SLICED_TOOLS
from evener.planning.in_memory import plan
from evener.plans.partition import Contract
from evener.sliced.rows import InMemoryGraph
from evener.sliced.tools import blocks_by


@pytest.mark.parametrize("tool", SLICED_TOOLS)
def test_both_limits_hold(tool):
    targets = np.array([600.0, 300.0, 300.0, 400.0])
    limits = Contract(targets, np.ceil(0.95 * targets), np.floor(1.05 * targets))
    part = blocks_by(tool, InMemoryGraph(grid([40, 40])), limits)
    loads = np.bincount(part, minlength=4)
    assert (limits.low <= loads).all()
    assert (loads <= limits.high).all()


def test_restreaming_cuts_less_where_vertices_are_numbered_at_random():
    graph = grid([40, 40])
    rank = np.random.default_rng(3).permutation(graph.n)
    u = np.repeat(np.arange(graph.n), graph.degrees)
    mixed = Graph.from_edges(graph.n, rank[u], rank[graph.adjncy])
    targets = np.full(4, 400.0)
    limits = Contract(targets, 0.95 * targets, 1.05 * targets)
    u = np.repeat(np.arange(mixed.n), mixed.degrees)
    cuts = {}
    for tool in ("ldg", "reldg", "fennel", "refennel"):
        part = blocks_by(tool, InMemoryGraph(mixed), limits)
        cuts[tool] = np.count_nonzero(part[u] != part[mixed.adjncy])
    assert cuts["reldg"] < cuts["ldg"]
    assert cuts["refennel"] < cuts["fennel"]


@pytest.mark.parametrize("tool", ["curve", "ldg"])
def test_a_plan_of_a_file_names_the_tool(tool, tmp_path):
    import evener as ev

    write_graph(tmp_path / "g.ecsr", grid([40, 40]))
    made = ev.plan(tmp_path / "g.ecsr", 3, tool=tool, memory=1 << 30)
    assert made.evaluation.holds
    assert made.options["tool"] == tool
    with pytest.raises(UsageError, match="minimises cut, not max_volume"):
        ev.plan(tmp_path / "g.ecsr", 3, tool=tool, memory=1 << 30, objective="max_volume")


def test_graphs_in_memory_have_other_partitioners():
    with pytest.raises(UsageError, match="partitioner"):
        plan(grid([4, 4]), 2, tool="ldg")
