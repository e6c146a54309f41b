"""Search for copies: data are shared where that shortens the period, and only there."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.graphs.stream_graph import StreamGraph
from evener.partitioning.external import metis
from evener.platforms.platform import Platform
from evener.streams.methods import MethodOptions, ours
from evener.streams.period import StreamProblem, seconds_of
from evener.streams.readings import reading_of
from evener.streams.replicating import (
    FilterCopies,
    bounds_with_copies,
    with_copies,
    with_copies_by_search,
)
from evener.streams.search import SearchLimits
from tests.streams.twins import processor, small_case


@pytest.fixture(autouse=True)
def without_metis(monkeypatch):
    """A process of METIS takes longer than all else here."""
    monkeypatch.setattr(metis, "missing", lambda: "not wanted")


QUICK = MethodOptions(SearchLimits(2_000))


def problem_of(graph, *mips):
    devices = tuple(processor(f"p{i}", one) for i, one in enumerate(mips))
    return StreamProblem.of(graph, Platform(devices))


def test_one_filter_is_shared_by_rate():
    """12 data of a million instructions each, on processors of 2 and 1 MIPS: 8 and 4 of them."""
    problem = problem_of(StreamGraph(("x",), [1e6], [12], [], [], []), 2.0, 1.0)
    copied = with_copies_by_search(problem, QUICK)
    assert copied.found.period == pytest.approx(4.0)
    assert copied.problem.graph.vector.tolist() == [8, 4]
    assert ours(problem, QUICK).period == pytest.approx(6.0)
    assert bounds_with_copies(problem).best == pytest.approx(4.0, rel=0.02)


def test_filters_of_state_have_no_copies():
    graph = StreamGraph(("x",), [1e6], [1], [], [], [], stateful=np.array([True]))
    copied = with_copies_by_search(problem_of(graph, 1.0, 1.0), QUICK)
    assert copied.problem.graph.names == ("x",)
    assert bounds_with_copies(problem_of(graph, 1.0, 1.0)).best == pytest.approx(1.0)


@pytest.mark.parametrize("words", ["", "literal,sender", "transit", "overlap"])
def test_never_longer_than_without_copies_nor_shorter_than_the_bound(words):
    for seed in range(2):
        problem = small_case(seed, reading_of(words))
        copied = with_copies_by_search(problem, QUICK)
        period = seconds_of(copied.problem, copied.found.part)
        assert copied.found.period == pytest.approx(period)
        assert bounds_with_copies(problem).best <= period <= ours(problem, QUICK).period
        graph = copied.problem.graph
        assert np.bincount(copied.copies.of, graph.vector) == pytest.approx(problem.graph.vector)


def graph_of(vectors=(1, 12, 12, 1), stateful=None):
    n = len(vectors)
    return StreamGraph(
        tuple("abcdefgh"[:n]), np.full(n, 1e6), vectors, np.arange(n - 1), np.arange(1, n),
        np.full(n - 1, 24.0), stateful=stateful,
    )  # fmt: skip


def copies_of(*ranges):
    of, low, high = zip(*ranges, strict=True)
    return FilterCopies(np.array(of), np.array(low, float), np.array(high, float))


def test_one_copy_of_each_filter_is_the_graph():
    graph = graph_of()
    same = with_copies(graph, FilterCopies.single(graph))
    assert same.names == graph.names
    for name in ("scalar", "vector", "tails", "heads", "nbytes"):
        assert np.array_equal(getattr(same, name), getattr(graph, name))


def test_bytes_go_between_copies_that_have_the_same_data():
    copies = copies_of((0, 0, 1), (1, 0, 4), (1, 4, 12), (2, 0, 6), (2, 6, 12), (3, 0, 1))
    made = with_copies(graph_of(), copies)
    assert made.names == ("a", "b 1/2", "b 2/2", "c 1/2", "c 2/2", "d")
    assert made.vector.tolist() == [1, 4, 8, 6, 6, 1]
    sent = {
        (made.names[t], made.names[h]): nbytes
        for t, h, nbytes in zip(made.tails, made.heads, made.nbytes, strict=True)
    }
    assert sent == pytest.approx({
        ("a", "b 1/2"): 8.0, ("a", "b 2/2"): 16.0, ("b 1/2", "c 1/2"): 8.0,
        ("b 2/2", "c 1/2"): 4.0, ("b 2/2", "c 2/2"): 12.0, ("c 1/2", "d"): 12.0,
        ("c 2/2", "d"): 12.0,
    })  # fmt: skip


def test_random_copies_have_all_data_and_all_bytes():
    rng = np.random.default_rng(3)
    graph = graph_of((1, 9, 30, 8, 2, 1))
    copies = FilterCopies.single(graph)
    for _ in range(8):
        i = int(rng.choice(np.flatnonzero(copies.high - copies.low >= 2)))
        copies = copies.divided(i, float(rng.integers(copies.low[i] + 1, copies.high[i])))
        made = with_copies(graph, copies)
        assert np.bincount(copies.of, made.vector).tolist() == graph.vector.tolist()
        assert made.nbytes.sum() == pytest.approx(graph.nbytes.sum())
        part = rng.integers(0, 2, made.n)
        merged, processors = copies.merged(part)
        assert len(set(zip(merged.of.tolist(), processors.tolist(), strict=True))) == merged.of.size
        again = with_copies(graph, merged)
        assert np.bincount(merged.of, again.vector).tolist() == graph.vector.tolist()
        for p in (0, 1):
            for of, chosen, whole in ((copies.of, part, made), (merged.of, processors, again)):
                work = np.bincount(of[chosen == p], whole.vector[chosen == p], graph.n)
                if whole is made:
                    before = work
            assert work.tolist() == before.tolist()


def test_copies_that_cannot_be():
    with pytest.raises(InputError, match="filter 'b' has state, so it cannot have copies"):
        with_copies(
            graph_of((1, 1), np.array([False, True])),
            copies_of((0, 0, 1), (1, 0, 0.5), (1, 0.5, 1)),
        )
    with pytest.raises(InputError, match="a copy of filter 'a' has no data"):
        with_copies(graph_of((3,)), copies_of((0, 0, 0.5), (0, 0.5, 3)))


def test_copies_keep_needs_and_tokens():
    graph = StreamGraph(
        ("a", "b"), [1, 1], [4, 4], [0, 1], [1, 0], [8, 8], tokens=[0, 2], needs={"ram": [1, 2]}
    )
    made = with_copies(graph, copies_of((0, 0, 2), (0, 2, 4), (1, 0, 4)))
    assert made.needs["ram"].tolist() == [1, 1, 2]
    assert made.tokens.tolist() == [0, 0, 2, 2]
