"""Filters placed in turn: each on the processor where a slow count of all loads is least."""

import time

import numpy as np
import pytest

from evener.streams.period import seconds_of
from evener.streams.placing import greedy, on_subsets, placed_in_turn
from evener.streams.readings import reading_of
from tests.streams.twins import slow_loads, small_case


@pytest.mark.parametrize("words", ["", "sender", "overlap"])
def test_each_filter_goes_where_the_period_grows_least(words):
    problem = small_case(2, reading_of(words), n=6, k=4)
    order = np.arange(problem.n)
    part = placed_in_turn(problem, order)
    for i in range(problem.n):
        # Without what is placed later, no other processor has a shorter period then.
        periods = [period_of_first(problem, part, i, p) for p in range(problem.k)]
        assert periods[part[i]] <= min(periods) * (1 + 1e-9)


def period_of_first(problem, part, i, p):
    """The period of filters 0 to i, the last on processor p."""
    graph = problem.graph
    kept = (graph.tails <= i) & (graph.heads <= i)
    later = np.arange(graph.n) > i
    some = type(graph)(
        graph.names,
        np.where(later, 0.0, graph.scalar),
        graph.vector,
        graph.tails[kept],
        graph.heads[kept],
        graph.nbytes[kept],
    )
    tried = part.copy()
    tried[i] = p
    loads = slow_loads(type(problem)(some, problem.processors, problem.reading), tried)
    return (loads.max(axis=1) if problem.reading.overlap else loads.sum(axis=1)).max()


def test_a_set_of_processors_is_kept():
    problem = small_case(4, n=8, k=4)
    part = placed_in_turn(problem, np.arange(8), np.array([3, 1]))
    assert set(part.tolist()) <= {1, 3}


def test_the_best_start_is_as_good_as_greedy():
    problem = small_case(6, n=8, k=4)
    best = min(seconds_of(problem, part) for part in on_subsets(problem))
    assert best <= seconds_of(problem, greedy(problem))


def test_after_the_end_all_filters_are_on_one_processor():
    only = list(on_subsets(small_case(6), time.monotonic() - 1))
    assert [np.ptp(part) for part in only] == [0]
