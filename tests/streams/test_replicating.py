"""Search for copies: data are shared where that shortens the period, and only there."""

import numpy as np
import pytest

from evener.graphs.stream_graph import StreamGraph
from evener.partitioning.external import metis
from evener.platforms.platform import Platform
from evener.streams.methods import MethodOptions, ours
from evener.streams.period import StreamProblem, seconds_of
from evener.streams.readings import reading_of
from evener.streams.replicating import bounds_with_copies, with_copies_by_search
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
