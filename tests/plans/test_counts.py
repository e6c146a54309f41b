"""What blocks hold and send, and their seconds, by hand; random cases: test_certificate_twin.py."""

import numpy as np
import pytest

from evener.graphs.graph import Graph
from evener.planning.evaluate import evaluate
from evener.plans import metrics
from evener.plans.counts import counted_blocks, judged
from evener.plans.partition import Contract, Partition
from evener.plans.workload import Workload
from evener.platforms.device import Level, Link
from evener.platforms.platform import Device, Platform
from tests.assertions import grid, path
from tests.random_cases import random_case

VALUE = Workload("one byte a value", bytes_per_value=1.0)


def counted(graph, part, k):
    loads = np.asarray(graph.weights(), float)[:, None]
    return counted_blocks(graph, Partition(np.asarray(part), k), loads)


def test_pieces_that_wind():
    # A spiral's two arms, and a comb whose teeth meet in the last row.
    comb = np.ones((7, 9), int)
    comb[:6, ::2] = 0
    comb[6] = 0
    assert counted(grid(7, 9), comb.ravel(), 2).components.tolist() == [1, 4]
    comb[6] = 1
    assert counted(grid(7, 9), comb.ravel(), 2).components.tolist() == [5, 1]


def test_pieces_joined_from_both_ends():
    order = [4, 0, 3, 1, 2, 7, 5, 6]
    graph = Graph.from_edges(8, order[:-1], order[1:])
    assert counted(graph, np.zeros(8, int), 2).components.tolist() == [1, 0]
    assert counted(graph, [0, 0, 1, 0, 0, 0, 0, 0], 2).components.tolist() == [2, 1]


def test_a_value_goes_once_to_each_block():
    star = Graph.from_edges(6, np.zeros(5, int), np.arange(1, 6))
    found = counted(star, [0, 1, 1, 1, 2, 0], 3)
    between = found.between
    assert metrics.comm_volumes(between).tolist() == [2, 3, 1]
    rows = zip(between.block, between.other, between.sent, strict=True)
    assert [tuple(map(int, row)) for row in rows] == [(0, 1, 1), (0, 2, 1), (1, 0, 3), (2, 0, 1)]
    assert between.boundary.tolist() == [1, 3, 1]
    assert metrics.neighbours(between).tolist() == [2, 1, 1]
    assert found.edge_cut == 4


def test_the_interior_of_nothing_is_all_of_it():
    found = counted(path(4, vwgt=[0, 0, 2, 1]), [0, 0, 1, 1], 3)
    assert found.interior.tolist() == pytest.approx([1, 1 / 3, 1])


def star(levels, speeds=(1.0, 1.0, 1.0, 1.0), **fields):
    graph = Graph.from_edges(4, [0, 0, 0], [1, 2, 3])
    blocks = counted_blocks(graph, Partition(np.arange(4), 4), np.ones((4, 1)))
    devices = tuple(Device(f"d{b}", speed, **fields) for b, speed in enumerate(speeds))
    contract = Contract(np.ones(4), np.ones(4), np.ones(4))
    return judged(blocks, Platform(devices, levels), contract, VALUE).prediction


def test_fixed_seconds_come_before_messages_are_posted():
    free = star((Level("net", Link(0.5, 1.0)),))
    later = star((Level("net", Link(0.5, 1.0)),), fixed_seconds=7.0)
    assert free.communicate.tolist() == [7.5, 2.5, 2.5, 2.5]
    assert free.delay.tolist() == later.delay.tolist() == [0.0, 5.0, 5.0, 5.0]
    assert later.fixed.tolist() == [7.0] * 4


def test_contention_is_at_most_until_the_busiest_link_is_through():
    shared = star((Level("net", Link(0.5, 1.0), shared=True),))
    # d0's link carries 6 bytes; the others would need 2.5 s and wait for it until 6 s, which is
    # contention; d0 posts three messages, and so begins 1 s later than they would: delay.
    assert shared.communicate.tolist() == [7.5, 6.0, 6.0, 6.0]
    assert shared.contention.tolist() == [0.0, 3.5, 3.5, 3.5]
    assert shared.delay.tolist() == [0.0, 1.5, 1.5, 1.5]


def test_without_links_nobody_waits():
    assert star((), speeds=(1.0, 0.1, 1.0, 1.0)).delay.tolist() == [0.0] * 4
    # Links that cost nothing: partners wait all the same.
    free = star((Level("net"),), speeds=(1.0, 0.1, 1.0, 1.0))
    assert free.delay.tolist() == [9.0, 0.0, 0.0, 0.0]


def test_seconds_beyond_all_numbers_are_those_of_the_device_at_fault():
    slow = star((Level("net", Link(0.0, 1e308)),))
    assert np.isinf(slow.communicate).tolist() == [True, True, True, True]
    slow = star((Level("net", Link(0.0, 1.0)),), speeds=(1.0, 5e-324, 1.0, 1.0))
    assert np.isinf(slow.compute).tolist() == [False, True, False, False]
    assert np.isfinite(slow.communicate[[0, 2, 3]]).all()


def test_the_search_is_near_where_there_are_many_messages():
    case = random_case([2, 0], k=120, n=360)
    graph, partition, platform = case.graph, case.partition, case.platform
    exact = evaluate(graph, partition, platform, case.contract, workload=case.workload)
    near = metrics.predicted_seconds(graph, partition, platform, case.workload)
    assert exact.exchange.sender.size > 1024
    assert near.makespan != exact.prediction.makespan
    assert near.makespan == pytest.approx(exact.prediction.makespan, rel=0.005)


def test_a_graph_without_vertices():
    case = random_case([4, 0], k=3, n=5)
    empty = case.graph.from_edges(0, [], [])
    counts = counted_blocks(empty, Partition(np.empty(0, np.int32), 3), np.empty((0, 1)))
    found = judged(counts, case.platform, Contract(np.zeros(3), np.zeros(3), np.ones(3)))
    assert found.certificate.vertices.tolist() == [0, 0, 0]
    assert found.prediction.makespan == 0
