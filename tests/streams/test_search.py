"""Direct search: never worse than its starts, nearly always as good as the best of all mappings."""

import time

import numpy as np
import pytest

from evener.streams import search_kernels as kernels
from evener.streams.exact import exact
from evener.streams.generating import READINGS, GraphParameters, random_machine, random_stream_graph
from evener.streams.methods import METHODS, MethodOptions, placed_by, starts_of
from evener.streams.period import StreamProblem, seconds_of
from evener.streams.placing import greedy_starts
from evener.streams.readings import reading_of
from evener.streams.search import SearchLimits, placed_at, search
from tests.streams.test_period import READINGS as WORDS
from tests.streams.twins import shortest, slow_loads, small_case

QUICK = SearchLimits(20_000)


@pytest.mark.parametrize("words", WORDS)
def test_small_cases_come_near_the_best_of_all_mappings(words):
    ratios = []
    for seed in range(4):
        problem = small_case(seed, reading_of(words), n=5)
        starts = [("greedy", part) for part in greedy_starts(problem, 3)]
        found = search(problem, starts, QUICK, 7)
        ratios.append(found.period / shortest(problem))
        assert found.period == pytest.approx(seconds_of(problem, found.part), rel=1e-9)
    assert min(ratios) > 1 - 1e-9
    assert np.mean(ratios) < 1.02


@pytest.mark.parametrize("words", ["", "sender", "least", "literal"])
def test_the_exact_method_finds_the_best_of_all_mappings(words):
    for seed in range(2):
        problem = small_case(seed, reading_of(words), n=5)
        found = exact(problem)
        assert found.proven
        assert found.period == pytest.approx(shortest(problem), rel=1e-6)
        assert found.bound <= found.period * (1 + 1e-6)


def problem_of(setting, k=9, n=60, seed=1, ratio=0.1):
    platform, reading = random_machine(k, setting, seed), READINGS[setting]
    parameters = GraphParameters(n, ratio=ratio)
    return StreamProblem.of(
        random_stream_graph(parameters, platform, seed, reading), platform, reading
    )


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["A", "B"])
def test_ours_is_never_worse_than_any_other_method(setting):
    for seed, ratio in ((1, 0.001), (2, 1.0)):
        problem = problem_of(setting, seed=seed, ratio=ratio)
        ours = placed_by("ours", problem, MethodOptions(QUICK)).period
        for name in METHODS:
            if name in ("exact", "ours"):
                continue
            try:
                other = placed_by(name, problem, MethodOptions()).period
            except Exception as error:
                assert "METIS" in str(error)  # which may be absent
                continue
            assert ours <= other * (1 + 1e-12), name


def test_loads_kept_along_are_those_of_the_mapping():
    problem = problem_of("A")
    placed = placed_at(problem, np.zeros(problem.n, np.int32))
    state = np.array([1], np.uint64)
    kernels.improve(problem.filters, problem.machine, placed, 10_000_000, state)
    slow = slow_loads(problem, placed.part)
    assert np.allclose(placed.computing, slow[:, 0])
    assert np.allclose(placed.communicating, slow[:, 1])
    for p in range(problem.k):
        mine, i = set(), placed.first[p]
        while i >= 0:
            mine.add(int(i))
            i = placed.after[i]
        assert mine == set(np.flatnonzero(placed.part == p).tolist())


def test_the_same_seed_gives_the_same_mapping():
    problem = problem_of("B")
    one, other = (placed_by("ours", problem, MethodOptions(QUICK)).part for _ in range(2))
    assert np.array_equal(one, other)


def test_a_time_limit_is_kept_and_said():
    problem = problem_of("A", k=16, n=400)
    began = time.monotonic()
    found = search(problem, starts_of(problem, 7), SearchLimits(10**12, seconds=0.2), 7)
    assert time.monotonic() - began < 20
    assert not found.ended


def test_an_interrupt_leaves_the_best_so_far(monkeypatch):
    problem = problem_of("A")
    starts = starts_of(problem, 7)

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(kernels, "anneal", stopped)
    found = search(problem, starts, QUICK, 7)
    assert not found.ended
    assert found.period <= min(seconds_of(problem, part) for _, part in starts)


@pytest.mark.parametrize("k", [1, 2])
def test_few_processors_and_few_filters(k):
    problem = small_case(1, n=2, k=k)
    found = placed_by("ours", problem, MethodOptions(QUICK))
    assert found.period == pytest.approx(shortest(problem))
