"""Rims: who is one, that dear devices touch it alone, and that loads are as asked."""

import numpy as np
import pytest

from evener.graphs.graph import Graph
from evener.partitioning.levels.levels import finest
from evener.planning.makespan.coarse_search import rims_of, with_rims
from evener.plans import metrics
from evener.plans.partition import Partition
from tests.assertions import grid

DEAR, NEAR, FAR = 9.0, 1.0, 2.0


def two_nodes():
    """Alpha of two dear devices (0, 3), each in a node with two cheap ones."""
    alpha = np.full((6, 6), FAR)
    alpha[:3, :3] = alpha[3:, 3:] = NEAR
    alpha[[0, 3]] = alpha[:, [0, 3]] = DEAR + FAR
    alpha[0, 1:3] = alpha[1:3, 0] = alpha[3, 4:] = alpha[4:, 3] = DEAR
    np.fill_diagonal(alpha, 0.0)
    return alpha


def test_a_dear_device_has_a_cheap_one_of_its_own_node():
    assert rims_of(two_nodes(), np.ones(6, bool)).tolist() == [[0, 1], [3, 4]]
    assert rims_of(two_nodes(), np.arange(6) != 1).tolist() == [[0, 2], [3, 4]]


def test_nobody_is_a_rim_twice_or_of_one_like_itself():
    alpha = np.full((4, 4), DEAR)
    alpha[3] = alpha[:, 3] = NEAR  # three devices, and one that all reach alike
    assert rims_of(alpha, np.ones(4, bool)).size == 0
    alpha = np.full((5, 5), DEAR)
    alpha[3:, 3:] = NEAR
    assert rims_of(alpha, np.ones(5, bool)).tolist() == [[0, 3], [1, 4]]
    assert rims_of(np.full((4, 4), DEAR), np.ones(4, bool)).size == 0
    assert rims_of(two_nodes(), np.arange(6) < 2).size == 0  # two have one neighbour anyhow


@pytest.mark.parametrize("apart", [False, True])
def test_dear_devices_touch_their_rims_alone(apart):
    graph = grid(30, 30)
    column = np.arange(900) % 30
    if apart:  # nothing joins the halves: nothing has a rim
        tail = np.repeat(np.arange(900), np.diff(graph.xadj))
        cut = (column[tail] < 15) == (column[graph.adjncy] < 15)
        starts = np.searchsorted(np.flatnonzero(cut), graph.xadj)
        graph = Graph(starts, graph.adjncy[cut])
    level = finest(graph, np.arange(graph.n), None, np.empty(0, np.int32), 1)
    halves = np.where(column < 15, 0, 3).astype(np.int32)
    aim = np.array([400.0, 50, 0, 380, 70, 0])
    part = with_rims(level, halves, np.array([[0, 1], [3, 4]]), aim)
    assert np.bincount(part, minlength=6).tolist() == aim.tolist()
    assert (np.where(np.isin(part, [0, 1]), 0, 3) == halves).all()
    between = metrics.quotient(graph, Partition(part, 6))
    met = set(zip(between.block.tolist(), between.other.tolist(), strict=True))
    assert met == ({(0, 1), (1, 0), (3, 4), (4, 3)} | (set() if apart else {(1, 4), (4, 1)}))
