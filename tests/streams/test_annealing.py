"""Annealing: its loads are the problem's, and clusters cost what their filters do together."""

import numpy as np
import pytest

from evener.streams.annealing import Cooling, annealed, annealed_by_levels, costs_of, levels_of
from evener.streams.annealing_kernels import anneal
from evener.streams.period import seconds_of
from evener.streams.readings import reading_of
from tests.streams.test_search import problem_of
from tests.streams.twins import small_case

FOREVER = np.inf


def period_by_kernel(costs, part):
    """The period that annealing sees, without a move."""
    none, heat = np.array([0, 0, 1], np.int64), np.array([1.0, 0.1])
    part = part.astype(np.int32)
    return anneal(costs, part.copy(), none, heat, part.copy(), np.array([1], np.uint64))


@pytest.mark.parametrize("words", ["", "literal", "max1", "sender", "least", "overlap"])
def test_the_period_is_that_of_the_mapping(words):
    problem = small_case(3, reading_of(words), n=9, k=4)
    costs = costs_of(problem)
    for seed in range(3):
        part = np.random.default_rng(seed).integers(0, problem.k, problem.n)
        expected = seconds_of(problem, part.astype(np.int32))
        assert period_by_kernel(costs, part) == pytest.approx(expected, rel=1e-5)


def test_annealing_never_returns_a_longer_period():
    problem = problem_of("A")
    start = np.zeros(problem.n, np.int32)
    state = np.array([1], np.uint64)
    part, ended = annealed(costs_of(problem), start, Cooling(5000, 0.5, FOREVER), state)
    assert ended
    assert seconds_of(problem, part) < seconds_of(problem, start)


def test_clusters_cost_what_their_filters_do():
    problem = problem_of("A", k=4, n=150)
    costs = costs_of(problem)
    levels = levels_of(problem, costs, 1.0, 7)
    assert len(levels) > 1
    assert [level.least.size for level in levels] == sorted(
        (level.least.size for level in levels), reverse=True
    )
    part = np.random.default_rng(1).integers(0, problem.k, levels[-1].least.size)
    expected = period_by_kernel(levels[-1].costs, part)
    for level in levels[:0:-1]:
        part = part[level.cluster]
    assert seconds_of(problem, part.astype(np.int32)) == pytest.approx(expected, rel=1e-4)
    start = np.zeros(problem.n, np.int32)
    state = np.array([1], np.uint64)
    found, ended = annealed_by_levels(levels, start, Cooling(20_000, 0.5, FOREVER), state)
    assert ended
    assert seconds_of(problem, found) < seconds_of(problem, start)


def test_many_kinds_of_processors_become_few(monkeypatch):
    problem = small_case(5, n=6, k=8)
    monkeypatch.setattr("evener.streams.annealing.TABLED", 12)
    costs = costs_of(problem)
    assert costs.work.shape[1] == 2
    assert costs.kind.max() == 1


def test_the_nearest_processors_are_proposed():
    problem = problem_of("A", k=64)
    costs = costs_of(problem)
    for p in range(problem.k):
        others = np.delete(costs.cost[p], p)
        nearest = np.sort(others)[: costs.near.shape[1]]
        assert np.allclose(costs.cost[p, costs.near[p]], nearest)
        assert p not in costs.near[p]
