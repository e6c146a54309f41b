"""Plans on the coarse graph: their seconds are near the real ones; slow devices lie between."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.graph import Graph
from evener.partitioning.levels.levels import finest
from evener.planning.device_sets.set_loads import EqualFinish
from evener.planning.makespan.candidates import candidate_of
from evener.planning.makespan.coarse_search import (
    MIN_VERTICES,
    CoarseSearch,
    enclosed_pairs,
    with_enclosed,
)
from evener.planning.makespan.problem import MakespanProblem
from evener.plans import metrics
from evener.plans.partition import Partition
from evener.plans.workload import WEIGHTS
from evener.platforms.platform import Connection, Device, Link, Platform
from tests.assertions import grid


def expensive_and_cheap(fast, slow, memory=None):
    """Fast devices with expensive messages, and slow ones with cheap messages."""
    devices = [Device(f"fast{i}", 4e9, memory=memory) for i in range(fast)]
    devices += [Device(f"slow{i}", 4e8) for i in range(slow)]
    links = [
        Connection((d.name, "switch"), Link(20e-6 if d.name.startswith("fast") else 1e-7, 1e-9))
        for d in devices
    ]
    return Platform(tuple(devices), connections=tuple(links))


@pytest.fixture(scope="module")
def problem():
    return MakespanProblem.of(delaunay(20_000, seed=4), expensive_and_cheap(4, 4), WEIGHTS)


def search_of(problem, threads=1):
    equal_finish = EqualFinish(problem.costs, problem.load, problem.graph.n, problem.room)
    return CoarseSearch(problem, equal_finish, threads)


def test_the_coarse_graph_is_small_and_its_seconds_are_near_the_real_ones(problem):
    search = search_of(problem)
    assert search.level.n <= MIN_VERTICES
    assert search.level.vwgt.sum() == problem.graph.n
    found = search.best([np.ones(8, bool)], 3, 1)
    assert len(found) == 3
    assert np.diff([one.seconds for one in found]).min() >= 0
    real = candidate_of(problem, search.on_graph(found[0].part))
    assert real.seconds == pytest.approx(found[0].seconds, rel=0.25)


def test_the_best_is_the_same_again_whatever_the_threads(problem):
    sets = [np.arange(8) < 4, np.arange(8) >= 4, np.arange(8) == 0]
    one, other = (search_of(problem, threads).best(sets, 4, 5)[0] for threads in (1, 2))
    assert np.array_equal(one.part, other.part)
    assert one.seconds == other.seconds


def test_slow_devices_come_between_fast_ones(problem):
    search = search_of(problem)
    part = search.on_graph(search.best([np.ones(8, bool)], 6, 2)[0].part)
    between = metrics.quotient(problem.graph, Partition(part, 8))
    assert ((between.block < 4) & (between.other < 4)).sum() <= 2  # in place of four pairs


def test_loads_end_at_one_time_within_room():
    graph = grid(30, 30)
    memory = 100 * graph.total_bytes / graph.n
    problem = MakespanProblem.of(graph, expensive_and_cheap(2, 3, memory), WEIGHTS)
    search = search_of(problem)
    assert search.level.n == graph.n  # nothing to shrink
    used = np.array([True, True, True, True, False])
    loads = search.loads(used)
    assert loads.sum() == pytest.approx(graph.n)
    assert loads[4] == 0
    assert (loads[:2] <= 100 * (1 + 1e-9)).all()
    assert loads[2] == pytest.approx(loads[3])
    best = search.best([used, np.array([True, True, False, False, False])], 4, 1)
    assert all((one.used == used).all() for one in best)  # the other set has no room
    assert (np.bincount(best[0].part, minlength=5)[:2] <= 110).all()


EXPENSIVE, NEAR, FAR = 9.0, 1.0, 2.0


def expensive_in_two_nodes():
    """Alpha of two devices with expensive messages (0, 3), each in a node with two others."""
    alpha = np.full((6, 6), FAR)
    alpha[:3, :3] = alpha[3:, 3:] = NEAR
    alpha[[0, 3]] = alpha[:, [0, 3]] = EXPENSIVE + FAR
    alpha[0, 1:3] = alpha[1:3, 0] = alpha[3, 4:] = alpha[4:, 3] = EXPENSIVE
    np.fill_diagonal(alpha, 0.0)
    return alpha


def test_a_device_with_expensive_messages_is_enclosed_by_one_of_its_node():
    assert enclosed_pairs(expensive_in_two_nodes(), np.ones(6, bool)).tolist() == [[0, 1], [3, 4]]
    assert enclosed_pairs(expensive_in_two_nodes(), np.arange(6) != 1).tolist() == [[0, 2], [3, 4]]


def test_no_device_encloses_two_or_one_as_expensive_as_itself():
    alpha = np.full((4, 4), EXPENSIVE)
    alpha[3] = alpha[:, 3] = NEAR  # three devices, and one whose messages to all cost the same
    assert enclosed_pairs(alpha, np.ones(4, bool)).size == 0
    alpha = np.full((5, 5), EXPENSIVE)
    alpha[3:, 3:] = NEAR
    assert enclosed_pairs(alpha, np.ones(5, bool)).tolist() == [[0, 3], [1, 4]]
    assert enclosed_pairs(np.full((4, 4), EXPENSIVE), np.ones(4, bool)).size == 0
    assert (
        enclosed_pairs(expensive_in_two_nodes(), np.arange(6) < 2).size == 0
    )  # two devices have one neighbour in any case


@pytest.mark.parametrize("apart", [False, True])
def test_enclosed_devices_touch_their_partner_alone(apart):
    graph = grid(30, 30)
    column = np.arange(900) % 30
    if apart:  # no edge joins the halves: no block has an outer layer
        tail = np.repeat(np.arange(900), np.diff(graph.xadj))
        cut = (column[tail] < 15) == (column[graph.adjncy] < 15)
        starts = np.searchsorted(np.flatnonzero(cut), graph.xadj)
        graph = Graph(starts, graph.adjncy[cut])
    level = finest(graph, np.arange(graph.n), None, np.empty(0, np.int32), 1)
    halves = np.where(column < 15, 0, 3).astype(np.int32)
    aim = np.array([400.0, 50, 0, 380, 70, 0])
    part = with_enclosed(level, halves, np.array([[0, 1], [3, 4]]), aim)
    assert np.bincount(part, minlength=6).tolist() == aim.tolist()
    assert (np.where(np.isin(part, [0, 1]), 0, 3) == halves).all()
    between = metrics.quotient(graph, Partition(part, 6))
    met = set(zip(between.block.tolist(), between.other.tolist(), strict=True))
    assert met == ({(0, 1), (1, 0), (3, 4), (4, 3)} | (set() if apart else {(1, 4), (4, 1)}))
