"""Facts of graphs in memory, from which contracts and lower bounds are made."""

import numpy as np

from evener.graphs.generating.grid import grid
from evener.plans.workload import WEIGHTS
from evener.platforms.device import Device
from evener.platforms.platform import Platform
from evener.sizing.facts import facts_of, held_work, lightest, work_facts_of


def test_facts_of_a_grid():
    graph = grid([4, 5])
    facts = facts_of(graph, Platform.flat([1.0, 1.0]))
    assert (facts.n, facts.load, facts.unit, facts.heaviest) == (20, 20.0, True, 1.0)
    assert facts.total_bytes == graph.total_bytes
    assert facts.smallest == 24 + 2 * 12  # a corner


def test_the_lightest_are_sought_among_vertices_that_fit_every_memory():
    graph = grid([4, 5]).with_(vwgt=np.arange(20.0)[::-1] + 1)
    platform = Platform([Device("a", 1.0, memory=48.0), Device("b", 1.0, memory=60.0)])
    # Corners alone, numbers 0, 4, 15 and 19, fit into 48 bytes.
    assert list(facts_of(graph, platform).light) == [1.0, 5.0]
    assert list(lightest(np.array([3, 1, 2]), 5)) == [1, 2, 3]


def test_work_that_needs_the_fewest_bytes_comes_first():
    held = held_work(np.array([10.0, 10.0, 4.0]), np.array([1.0, 5.0, 0.0]))
    assert list(held.of(np.array([0.0, 5.0, 10.0, 20.0, 24.0]))) == [0, 2.5, 5, 6, 6]
    assert work_facts_of(grid([3, 3]), Platform.flat([1.0]), WEIGHTS).held is None
