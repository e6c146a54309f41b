"""On how few devices a program fits, and plans by the bytes that it allocates."""

import numpy as np
import pytest

from evener.graphs.generating.random_graphs import barabasi_albert
from evener.planning.least_devices import _fullest, least_devices, planned_by_bytes
from evener.plans.partition import Partition
from evener.platforms.platform import Device, Platform
from evener.running.apps import bfs, pagerank
from evener.running.fitting import bytes_of_program
from tests.running.engine.parts import random_graph


@pytest.mark.parametrize("directed", [False, True])
def test_one_device_fewer_is_too_few(directed):
    graph = random_graph(2000, 12000, 3, directed=directed)
    alone = _fullest(graph, pagerank.PROGRAM, 1, 1)
    assert least_devices(graph, pagerank.PROGRAM, alone) == 1
    found = least_devices(graph, pagerank.PROGRAM, alone / 2.5)
    assert found >= 3
    assert _fullest(graph, pagerank.PROGRAM, found, 1) <= alone / 2.5
    assert _fullest(graph, pagerank.PROGRAM, found - 1, 1) > alone / 2.5


def test_none_where_no_number_is_enough():
    graph = random_graph(200, 3000, 3)
    assert least_devices(graph, bfs.PROGRAM, 1000) is None


def test_ghosts_count_in_the_plan():
    graph = barabasi_albert(3000, 8, 1)
    on_first = Partition(np.zeros(graph.n, np.int32), 2)
    whole = bytes_of_program(graph, on_first, pagerank.PROGRAM)[0].total
    devices = [Device("a", 1.0, memory=whole), Device("b", 6.0, memory=0.5 * whole)]
    found = planned_by_bytes(graph, pagerank.PROGRAM, Platform(tuple(devices)), [1, 1])
    totals = [one.total for one in found.needed]
    assert totals[1] <= 0.5 * whole
    assert totals[0] <= whole
    assert np.sum(totals) > whole
    assert found.per_vertex * graph.n + found.per_edge * graph.adjncy.size >= whole * (1 - 1e-9)
