"""Lower bounds: never above the shortest period of all mappings, equal to it where it is known."""

import itertools

import networkx as nx
import numpy as np
import pytest

from evener.graphs.stream_graph import StreamGraph
from evener.platforms.device import Connection, Link
from evener.platforms.platform import Platform
from evener.streams.bounds import bounds_of
from evener.streams.cycles import edges_of_cycles, slowest_cycle
from evener.streams.period import StreamProblem, period_of, seconds_of
from evener.streams.readings import reading_of
from tests.streams.test_period import READINGS
from tests.streams.twins import processor, shortest, small_case


@pytest.mark.parametrize("words", READINGS)
def test_no_mapping_is_shorter(words):
    for seed in range(2):
        problem = small_case(seed, reading_of(words), n=4)
        bounds = bounds_of(problem, strong=True)
        assert 0 < bounds.best <= shortest(problem) * (1 + 1e-12)
        assert bounds_of(problem).best <= bounds.best


def alike(n, k, nbytes=0.0, seconds_per_byte=1e-3):
    """n filters of a second in a row on k processors in a row, all alike."""
    links = [Connection((f"p{i}", f"p{i + 1}"), Link(0.0, seconds_per_byte)) for i in range(k - 1)]
    platform = Platform(tuple(processor(f"p{i}", 1.0) for i in range(k)), (), tuple(links))
    graph = StreamGraph(
        tuple(map(str, range(n))), np.full(n, 1e6), np.ones(n),
        np.arange(n - 1), np.arange(1, n), np.full(n - 1, nbytes),
    )  # fmt: skip
    return StreamProblem.of(graph, platform)


@pytest.mark.parametrize(("n", "k", "shortest"), [(3, 2, 2.0), (7, 3, 3.0), (5, 4, 2.0)])
def test_filters_that_are_not_divided_need_more_than_their_share(n, k, shortest):
    bounds = bounds_of(alike(n, k), strong=True)
    assert bounds.heaviest == pytest.approx(1.0)
    assert bounds.shared == pytest.approx(n / k)
    assert shortest / 1.01 < bounds.whole <= shortest


def test_a_filter_has_its_neighbours_beside_it_or_sends_them_bytes():
    assert bounds_of(alike(3, 2, nbytes=300.0)).heaviest == pytest.approx(1.6)
    assert bounds_of(alike(3, 2, nbytes=3000.0)).heaviest == pytest.approx(3.0)
    assert bounds_of(alike(3, 1, nbytes=3000.0)).best == pytest.approx(3.0)


def test_work_is_shared_by_processors_of_unlike_abilities():
    """One of the two that are scalar for 20 / 11: the CPU takes 1 s for one of them, the GPU 10."""
    names = tuple("abcd")
    graph = StreamGraph(names, [1e6, 1e6, 1.0, 1.0], [1, 1, 1e6, 1e6], [], [], [])
    devices = processor("cpu", 1.0, 1.0), processor("gpu", 0.1, 1e7)
    bounds = bounds_of(StreamProblem.of(graph, Platform(devices)))
    assert 0.998 * 20 / 11 < bounds.shared < 1.0001 * 20 / 11


def test_nothing_to_do_has_a_bound_of_nothing():
    empty = StreamGraph((), [], [], [], [], [])
    platform = Platform((processor("a", 1.0),))
    assert bounds_of(StreamProblem.of(empty, platform)).best == 0
    idle = StreamGraph(("x",), [0], [1], [], [], [])
    assert bounds_of(StreamProblem.of(idle, platform)).best == 0


def cyclic(seed, n=7):
    """A random graph: edges forwards have no tokens, edges backwards have some."""
    rng = np.random.default_rng(seed)
    arcs = [(i, j) for i, j in itertools.permutations(range(n), 2) if rng.random() < 0.3]
    tails, heads = np.array(arcs, np.int64).reshape(-1, 2).T
    tokens = np.where(tails > heads, rng.integers(1, 4, tails.size), 0)
    return StreamGraph(
        tuple(map(str, range(n))), rng.integers(1, 9, n) * 1e6, np.ones(n), tails, heads,
        rng.integers(0, 9, tails.size), tokens=tokens,
    )  # fmt: skip


def test_the_slowest_cycle_is_that_of_all_cycles():
    found = 0
    for seed in range(30):
        graph = cyclic(seed)
        edges = edges_of_cycles(graph)
        own, sent = graph.scalar / 1e6, graph.nbytes[edges]
        number = {
            (int(t), int(h)): e
            for e, (t, h) in enumerate(zip(graph.tails, graph.heads, strict=True))
        }
        ratios = [0.0]
        for cycle in nx.simple_cycles(nx.DiGraph(list(number))):
            around = [number[pair] for pair in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
            seconds = own[cycle].sum() + graph.nbytes[around].sum()
            ratios.append(seconds / graph.tokens[around].sum())
        found += len(ratios) > 2
        assert slowest_cycle(graph, edges, own, sent) == pytest.approx(max(ratios))
    assert found > 20


def test_a_cycle_of_few_tokens_sets_the_period():
    """Three filters of a second on three processors, a second of bytes between each two."""
    graph = StreamGraph(
        tuple("abc"), np.full(3, 1e6), np.ones(3), [0, 1, 2], [1, 2, 0], np.full(3, 1.0),
        tokens=[0, 0, 2],
    )  # fmt: skip
    links = tuple(Connection(ends, Link(0.0, 1.0)) for ends in (("a", "b"), ("b", "c"), ("a", "c")))
    platform = Platform(tuple(processor(name, 1.0) for name in "abc"), (), links)
    problem = StreamProblem.of(graph, platform)
    period = period_of(problem, [0, 1, 2])
    assert period.loads.tolist() == [3.0, 3.0, 3.0]
    assert period.cycle == pytest.approx(6 / 2)
    one = np.zeros(3, np.int32)
    assert seconds_of(problem, one) == 3.0  # the processor's load; the cycle takes 1.5
    few = StreamProblem.of(
        StreamGraph(graph.names, graph.scalar, graph.vector, graph.tails, graph.heads,
                    graph.nbytes * 0, tokens=[0, 0, 1]), platform,
    )  # fmt: skip
    assert seconds_of(few, np.arange(3, dtype=np.int32)) == 3.0
    assert bounds_of(few).cycle == pytest.approx(3.0)
