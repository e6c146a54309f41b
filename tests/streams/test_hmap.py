"""HMAP: clusters both ways, effective bandwidth, filters along the tree."""

from dataclasses import replace

import numpy as np
import pytest

from evener.graphs.stream_graph import StreamGraph
from evener.partitioning.external import metis
from evener.platforms.device import Connection, Link
from evener.platforms.platform import Platform
from evener.streams.hmap import effective_bandwidths, hmap, machine_graph
from evener.streams.period import StreamProblem
from tests.streams.test_search import problem_of
from tests.streams.twins import processor, small_case

TOOLS = ["evener", *(["metis"] if metis.missing() is None else [])]


def check_tree(tree, k):
    """Every row refines the one above, and the last one has each processor alone."""
    above = np.zeros(k, int)
    for row in tree:
        for group in np.unique(row):
            assert np.unique(above[row == group]).size == 1
        above = row
    assert np.unique(tree[-1]).size == k


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("way", ["down", "up"])
@pytest.mark.parametrize("k", [2, 3, 6, 9])
def test_trees_and_mappings(tool, way, k):
    problem = problem_of("A", k=k)
    made = hmap(problem, way=way, tool=tool)
    check_tree(made.tree, k)
    assert 0 <= made.part.min() <= made.part.max() < k
    assert (made.unequal == 0) == (k == 2) or k > 2


@pytest.mark.parametrize("tool", TOOLS)
def test_filters_follow_what_processors_can_do(tool):
    """Two processors of 3:1 for scalar and for vector work get filters in these shares."""
    devices = processor("a", 3.0, 300.0), processor("b", 1.0, 100.0)
    links = (Connection(("a", "b"), Link(0.0, 1e-9)),)
    rng = np.random.default_rng(1)
    n = 200
    ends = np.sort(rng.integers(0, n, (2, 500)), axis=0)
    tails, heads = ends[:, ends[0] < ends[1]]
    graph = StreamGraph(
        tuple(map(str, range(n))), rng.integers(1, 9, n), rng.integers(1, 9, n), tails, heads,
        np.ones(tails.size),
    )  # fmt: skip
    part = hmap(StreamProblem.of(graph, Platform(devices, (), links)), tool=tool).part
    for work in (graph.scalar, graph.vector):
        assert work[part == 0].sum() / work.sum() == pytest.approx(0.75, abs=0.05)


def test_effective_bandwidth_of_a_line():
    """Of a - b - c - d with 4, 2 and 1 GB/s: {a, b} to {c, d}.

    Seconds per GB: a to c 3/4, to d 7/4; b to c 1/2, to d 3/2. Least bandwidths: from a 4/7, from b
    2/3; into c 4/3, into d 4/7. Sums: 26/21 over sources, 40/21 over destinations.
    """
    devices = tuple(processor(name, 1.0) for name in "abcd")
    pairs = zip("abc", "bcd", (4.0, 2.0, 1.0), strict=True)
    links = tuple(Connection((a, b), Link(0.0, 1e-9 / speed)) for a, b, speed in pairs)
    graph = StreamGraph(("x",), [1], [1], [], [], [])
    problem = StreamProblem.of(graph, Platform(devices, (), links))
    label = np.array([0, 0, 1, 1])
    found = effective_bandwidths(problem, label, np.array([0]), np.array([1]))
    assert found[0] == pytest.approx(26 / 21 * 1e9)


def test_processors_at_a_switch_are_neighbours():
    devices = tuple(processor(name, 1.0) for name in "abc")
    links = tuple(Connection((name, "switch"), Link(0.0, 1e-9)) for name in "abc")
    graph = StreamGraph(("x",), [1], [1], [], [], [])
    machine = machine_graph(StreamProblem.of(graph, Platform(devices, (), links)))
    assert machine.xadj.tolist() == [0, 2, 4, 6]
    assert np.allclose(machine.adjwgt, 0.5e9)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("way", ["down", "up"])
def test_processors_between_which_bytes_are_free_are_clustered(way, tool):
    """Three at one place and one behind a link: weights of links stay finite."""
    graph = small_case(2, n=12).graph
    near = [replace(processor(f"n{i}", 2), at="host") for i in range(3)]
    link = Connection(("host", "far"), Link(0.0, 1e-10))
    platform = Platform((*near, processor("far", 2)), (), (link,))
    found = hmap(StreamProblem.of(graph, platform), way=way, tool=tool, seed=3)
    assert set(found.part.tolist()) <= {0, 1, 2, 3}
    assert np.unique(found.part).size > 1
