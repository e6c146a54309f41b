"""What limits a run, and predicted beside measured seconds, of runs with given times."""

from dataclasses import replace

import numpy as np
import pytest

import evener as ev
from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.planning.breakdown import (
    breakdown_of,
    divided_by,
    divided_into,
    edge_breakdown_of,
    limit_of,
)
from evener.planning.split import SplitOptions, split
from evener.platforms.platform import Device, Level, Link, Platform
from evener.running.apps import bfs, pagerank
from evener.running.edge_copies import copies_of
from evener.running.edge_shares import DividedEdges
from evener.running.engine.recording import Superstep
from evener.running.executing import run_program
from evener.running.program_run import ProgramRun
from tests.running.edge_cases import drawn

GRAPH = grid((20, 20))
LINK = Level("all", Link(1e-4, 1e-8))


def machine(*speeds, levels=(LINK,)):
    devices = [Device(f"cpu{i}", speed) for i, speed in enumerate(speeds)]
    return Platform(tuple(devices), levels)


def run_of(computing, waiting, edges=None, sent=80):
    """A run of two supersteps whose devices compute and wait for so long."""
    edges = edges or [1520 // len(computing)] * len(computing)
    steps = [
        [Superstep(computing=c, waiting=w, edges=e, sent=sent) for _ in range(2)]
        for c, w, e in zip(computing, waiting, edges, strict=True)
    ]
    seconds = 2 * max(c + w for c, w in zip(computing, waiting, strict=True))
    return ProgramRun(np.zeros(GRAPH.n), tuple(map(tuple, steps)), seconds)


@pytest.fixture(scope="module")
def plan():
    return ev.plan(GRAPH, machine(1e5, 1e5), objective="cut")


@pytest.mark.parametrize(
    ("computing", "waiting", "edges", "by", "waits"),
    [
        ([1.0, 3.0], [2.0, 0.0], None, "loads", 0),
        ([2.0, 2.0], [1.0, 1.0], None, "exchange", 0),
        ([2.0, 2.0], [0.01, 0.02], None, "nothing", 1),
        ([3.0, 1.0], [0.0, 2.0], [1200, 320], "units", 1),
    ],
)
def test_limits(plan, computing, waiting, edges, by, waits):
    run = run_of(computing, waiting, edges)
    limit = limit_of(breakdown_of(run, divided_by(plan), GRAPH, pagerank.PROGRAM))
    assert (limit.by, limit.waits) == (by, waits)
    assert limit.share == pytest.approx(waiting[waits] / (computing[waits] + waiting[waits]))
    if by == "loads":
        assert limit.last == 1


def test_devices_that_compute_as_stated_are_predicted_so(plan):
    loads = plan.certificate.weights
    found = breakdown_of(
        run_of([2e-3, 2e-3], [1e-3, 1e-3]), divided_by(plan), GRAPH, pagerank.PROGRAM
    )
    assert found.computing.tolist() == (loads / 1e5).tolist()
    exchanged = 1e-4 + 1e-8 * 160  # both ways
    assert found.ends == pytest.approx(loads / 1e5 + exchanged)
    assert not found.is_scaled
    assert found.seconds == 3e-3
    assert found.evened == pytest.approx(2e-3)


def test_relative_speeds_are_scaled_to_the_sum():
    plan = ev.plan(GRAPH, machine(1.0, 3.0, levels=()), objective="cut")
    found = breakdown_of(run_of([0.2, 0.2], [0.1, 0.1]), divided_by(plan), GRAPH, pagerank.PROGRAM)
    assert found.is_scaled
    assert found.computing.sum() == pytest.approx(0.4)
    assert found.computing == pytest.approx(0.4 * np.array([0.5, 0.5]), rel=0.05)


def test_a_frontier_of_half_the_arcs_is_predicted_half_the_time(plan):
    arcs = np.bincount(plan.partition.part, np.diff(GRAPH.xadj)) / 2
    run = run_of([1.0, 1.0], [0.0, 0.0], arcs.tolist())
    found = breakdown_of(run, divided_by(plan), GRAPH, bfs.PROGRAM)
    assert found.computing == pytest.approx(plan.certificate.weights / 2e5)


def test_devices_without_loads_wait_for_nobody(plan):
    judged = ev.evaluate(GRAPH, ev.Partition(np.zeros(GRAPH.n, np.int32), 2), plan.platform)
    alone = replace(plan, evaluation=judged)
    found = breakdown_of(
        run_of([1.0, 0.0], [0.0, 1.0], [1520, 0]), divided_by(alone), GRAPH, pagerank.PROGRAM
    )
    assert found.waiting_share.tolist() == [0.0, 0.0]
    assert limit_of(found).by == "nothing"


def test_blocks_of_a_policy_weigh_their_arcs(plan):
    divided = divided_into(GRAPH, plan.partition, plan.platform)
    assert divided.loads.sum() == GRAPH.adjncy.size
    found = breakdown_of(run_of([1.0, 3.0], [2.0, 0.0]), divided, GRAPH, pagerank.PROGRAM)
    assert limit_of(found).by == "loads"


def test_loads_are_edges_and_messages_both_ways_of_each_copy():
    graph = drawn(4)
    edges = EdgeList.of_graph(graph)
    plan = split(edges, [1e9, 2e9], SplitOptions("dbh"))
    copies, divided = copies_of(edges, plan.partition), DividedEdges(plan.partition)
    run = run_program(pagerank.PROGRAM, graph, divided, most=3)
    found = edge_breakdown_of(run, plan, copies, pagerank.PROGRAM, graph.adjncy.size)
    assert np.array_equal(found.loads, plan.metrics.loads)
    assert found.computing == pytest.approx(plan.metrics.loads / [1e9, 2e9])
    least = run_program(bfs.PROGRAM, graph, divided)
    share = least.edges / least.supersteps / graph.adjncy.size
    found = edge_breakdown_of(least, plan, copies, bfs.PROGRAM, graph.adjncy.size)
    assert (found.computing * [1e9, 2e9]).sum() == pytest.approx(edges.m * share)
