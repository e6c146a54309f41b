"""The quotient graph, drawn: discs apart, numbers with a key, nothing for empty blocks."""

import numpy as np
import pytest

from evener.graphs.graph import Graph
from evener.reporting.networks import draw_network
from tests.assertions import grid
from tests.reporting.conftest import machine, plan_of, stripes


def chain(k, **more):
    graph = grid(3, 400)
    return plan_of(graph, stripes(3, 400, k), machine(k, **more), epsilon=0.5)


def assert_network_is_drawn(network, k):
    assert len(network.nodes) == k
    for node in network.nodes:
        assert node.radius <= node.x <= network.width - node.radius
        assert node.radius <= node.y <= network.height - node.radius
    for i, a in enumerate(network.nodes):
        for b in network.nodes[:i]:
            assert np.hypot(a.x - b.x, a.y - b.y) > a.radius + b.radius


@pytest.mark.parametrize("k", [2, 5, 24, 96])
def test_discs_of_a_chain_stand_apart(k):
    network = draw_network(chain(k, speeds=(4.0, 1.0, 1.0)))
    assert_network_is_drawn(network, k)
    assert sum(path.count("L") for _, path in network.lines) == k - 1


def test_pieces_apart_are_drawn_too():
    graph = grid(1, 40)
    joined = np.delete(np.arange(39), [9, 19, 29])
    graph = Graph.from_edges(40, joined, joined + 1)
    network = draw_network(plan_of(graph, np.arange(40) // 5, machine(8)))
    assert_network_is_drawn(network, 8)
    assert sum(path.count("L") for _, path in network.lines) == 4


def test_few_blocks_do_not_take_the_whole_page():
    heights = [draw_network(chain(k)).height for k in (2, 8, 24, 96)]
    assert heights == sorted(heights)
    assert heights[0] < 300
    assert draw_network(chain(12)).width < 600


def test_numbers_have_a_key_and_each_disc_has_a_number():
    names = [f"a-long-name-{b}" for b in range(96)]
    network = draw_network(chain(96, names=names))
    assert [node.label for node in network.nodes] == [str(b) for b in range(96)]
    assert network.key == list(enumerate(names))
    few = draw_network(chain(3))
    assert [node.label for node in few.nodes] == ["dev0", "dev1", "dev2"]
    assert few.key == []


def test_unused_devices_are_not_drawn():
    graph = grid(3, 40)
    part = np.array([1, 4, 6])[stripes(3, 40, 3)]
    network = draw_network(plan_of(graph, part, machine(8), epsilon=0.5))
    assert [node.label for node in network.nodes] == ["dev1", "dev4", "dev6"]
    assert sum(path.count("L") for _, path in network.lines) == 2
    assert len(network.colours) == 8
