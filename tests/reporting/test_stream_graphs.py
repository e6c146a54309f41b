"""The picture of a stream graph: ranks, places that do not overlap, every edge once."""

import re

import numpy as np
import pytest

from evener.graphs.stream_graph import StreamGraph
from evener.reporting.stream_graphs import draw_stream_graph, ranks_of, short_name
from tests.streams.twins import small_case


def graph_of(edges, n, **more):
    tails, heads = np.array(edges, np.int64).reshape(-1, 2).T
    names = tuple(f"f{i}" for i in range(n))
    return StreamGraph(names, np.ones(n), np.ones(n), tails, heads, np.ones(len(edges)), **more)


def drawn(graph, k=3, share=0.0):
    part = np.arange(graph.n) % k
    return draw_stream_graph(graph, part, np.full(graph.n, share), ["#abc"] * k, graph.names)


def test_ranks_are_longest_ways_and_sources_stand_beside_their_readers():
    graph = graph_of([(0, 1), (1, 2), (0, 2), (2, 3), (4, 3)], 5)
    assert ranks_of(graph).tolist() == [0, 1, 2, 3, 2]
    back = graph_of([(0, 1), (1, 0)], 2, tokens=[0, 1])
    assert ranks_of(back).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("edges", "n"),
    [
        ([(0, i) for i in range(1, 90)], 90),  # a high rank
        ([(i, i + 1) for i in range(200)], 201),  # many ranks
        ([], 1),
        ([(i, j) for i in range(8) for j in range(8, 16)], 16),
    ],
)
def test_filters_lie_apart_and_every_edge_is_drawn(edges, n):
    graph = graph_of(edges, n)
    picture = drawn(graph)
    boxes = np.array([(m.x, m.y, m.x + m.width, m.y + m.height) for m in picture.marks])
    assert len(boxes) == n
    assert (boxes[:, :2] >= 0).all()
    assert (boxes[:, 2] <= picture.width).all()
    assert (boxes[:, 3] <= picture.height).all()
    for i in range(n):
        beside = (boxes[:, 0] >= boxes[i, 2]) | (boxes[:, 2] <= boxes[i, 0])
        above = (boxes[:, 1] >= boxes[i, 3]) | (boxes[:, 3] <= boxes[i, 1])
        beside[i] = True
        assert (beside | above).all()
    paths = picture.inner + "".join(path for _, path in picture.between)
    assert paths.count("M") == len(edges)
    assert picture == drawn(graph)


@pytest.mark.parametrize("seed", [3, 4])
def test_edges_between_devices_are_told_from_others(seed):
    graph = small_case(seed, n=12).graph
    part = np.random.default_rng(seed).integers(0, 3, graph.n)
    picture = draw_stream_graph(graph, part, np.ones(graph.n), ["#abc"] * 3, graph.names)
    cut = int((part[graph.tails] != part[graph.heads]).sum())
    assert sum(path.count("M") for _, path in picture.between) == cut
    assert picture.inner.count("M") == graph.m - cut
    assert all(m.is_heavy for m in picture.marks)
    # Ways begin at the right of their filter and end at the left of the other one.
    ends = {(round(m.x), round(m.y + m.height / 2)) for m in picture.marks}
    last = re.findall(r"(\d+) (\d+)(?=M|$)", picture.inner)
    assert {(int(x), int(y)) for x, y in last} <= ends


def test_many_filters_show_numbers_and_too_many_are_not_drawn():
    assert drawn(graph_of([], 20)).is_named
    numbered = drawn(graph_of([], 300))
    assert not numbered.is_named
    assert {m.text for m in numbered.marks} == {"0", "1", "2"}
    assert drawn(graph_of([], 2000)) is None
    assert drawn(graph_of([], 0)) is None


def test_names_are_shortened_in_the_middle():
    assert short_name("AnonFilter_a0_pop_32_peek_40_push_1_4", 14) == "AnonFilter_a0_4"[
        :0
    ] + short_name("AnonFilter_a0_4", 14)
    assert short_name("abc", 3) == "abc"
    assert short_name("abcdefghi", 6) == "abc…hi"
    assert len(short_name("x" * 99, 13)) == 13
