"""LDG and Fennel, against their definitions written in Python."""

import numpy as np
import pytest

from evener.errors import UsageError
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rmat
from evener.plans.partition import Contract
from evener.running.comm import run_threads
from evener.sliced.rows import InMemoryGraph
from evener.sliced.tools import one_pass_blocks


def limits_of(n, speeds, epsilon=0.05):
    targets = n * np.array(speeds, float) / np.sum(speeds)
    return Contract(targets, np.ceil((1 - epsilon) * targets), np.floor((1 + epsilon) * targets))


def slowly(graph, limits, rule):
    """One pass, vertex by vertex."""
    part, load = np.full(graph.n, -1), np.zeros(limits.k)
    price = 1.5 * graph.m / graph.n
    for v in range(graph.n):
        missing = np.maximum(limits.low - load, 0).sum()
        neighbours = part[graph.adjncy[graph.xadj[v] : graph.xadj[v + 1]]]
        pull = np.bincount(neighbours[neighbours >= 0], minlength=limits.k)
        full = load / limits.targets
        if rule == "ldg":
            score = pull * (1 - load / limits.high) - 1e-6 * full
        else:
            score = pull - price * np.sqrt(full)
        allowed = load + 1 <= limits.high
        if missing > 0 and graph.n - v - 1 < missing:
            allowed &= load < limits.low
        part[v] = np.argmax(np.where(allowed, score, -np.inf))
        load[part[v]] += 1
    return part


@pytest.mark.parametrize("rule", ["ldg", "fennel"])
@pytest.mark.parametrize("graph", [grid([30, 41]), rmat(9, 3)], ids=["grid", "rmat"])
def test_blocks_are_those_of_the_definition(graph, rule):
    limits = limits_of(graph.n, [4, 1, 1, 2, 3])
    part = one_pass_blocks(InMemoryGraph(graph), limits, rule)
    np.testing.assert_array_equal(part, slowly(graph, limits, rule))


@pytest.mark.parametrize("rule", ["ldg", "fennel"])
@pytest.mark.parametrize("passes", [1, 4])
def test_both_limits_hold(rule, passes):
    graph = rmat(10, 7)
    limits = limits_of(graph.n, [16, 1, 1, 1, 16, 1], epsilon=0.03)
    part = one_pass_blocks(InMemoryGraph(graph), limits, rule, passes=passes)
    loads = np.bincount(part, minlength=6)
    assert (limits.low <= loads).all()
    assert (loads <= limits.high).all()


def test_ranks_are_refused():
    graph = InMemoryGraph(grid([4, 4]))

    def work(comm):
        with pytest.raises(UsageError, match="one process"):
            one_pass_blocks(InMemoryGraph(graph.graph, comm), limits_of(16, [1, 1]), "ldg")

    run_threads(2, work)
