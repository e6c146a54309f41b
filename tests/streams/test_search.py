"""Direct search: never worse than its starts, nearly always as good as the best of all mappings."""

import time

import numpy as np
import pytest

from evener.graphs.stream_graph import StreamGraph
from evener.platforms.platform import Platform
from evener.streams import annealing_kernels, methods
from evener.streams import search_kernels as kernels
from evener.streams.exact import exact
from evener.streams.generating import READINGS, GraphParameters, random_machine, random_stream_graph
from evener.streams.methods import METHODS, MethodOptions, placed_by, starts_of
from evener.streams.period import StreamProblem, seconds_of, work_on
from evener.streams.placing import best_of, on_subsets
from evener.streams.readings import reading_of
from evener.streams.search import SearchLimits, placed_at, search
from tests.streams.test_period import READINGS as WORDS
from tests.streams.twins import processor, shortest, slow_loads, small_case

QUICK = SearchLimits(20_000)


@pytest.mark.parametrize("words", WORDS)
def test_small_cases_come_near_the_best_of_all_mappings(words):
    ratios = []
    for seed in range(4):
        problem = small_case(seed, reading_of(words), n=5)
        starts = [("greedy", part) for part in best_of(problem, list(on_subsets(problem)), 3)]
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
    found = placed_by("ours", problem, MethodOptions(SearchLimits(10**12, seconds=0.2)))
    assert time.monotonic() - began < 20
    assert not found.ended


def test_no_time_at_all_leaves_a_mapping():
    problem = problem_of("A", k=16, n=400)
    found = placed_by("ours", problem, MethodOptions(SearchLimits(seconds=1e-9)))
    assert not found.ended
    assert found.period == pytest.approx(seconds_of(problem, found.part))


def test_an_interrupt_while_filters_are_placed_leaves_what_there_is(monkeypatch):
    problem = problem_of("A")

    def interrupted(*_):
        yield np.zeros(problem.n, np.int32)
        raise KeyboardInterrupt

    monkeypatch.setattr(methods.placing, "on_subsets", interrupted)
    found = placed_by("ours", problem, MethodOptions(QUICK))
    assert not found.ended
    assert np.ptp(found.part) == 0


def test_a_failure_beside_the_search_is_raised(monkeypatch):
    def failed(*_):
        raise ArithmeticError("beside")

    monkeypatch.setattr(methods, "divided_starts", failed)
    with pytest.raises(ArithmeticError, match="beside"):
        placed_by("ours", problem_of("A"), MethodOptions(QUICK))


def test_a_chain_of_moves_helps_where_no_move_and_no_exchange_does():
    """What p1 has p0 cannot have, so no exchange; p2 has no room for a filter of p0."""
    capabilities = [{"disk": float(i > 0)} for i in range(3)]
    devices = tuple(processor(f"p{i}", 1.0, **own) for i, own in enumerate(capabilities))
    work, disk = np.array([4.0, 4.0, 3.5, 3.5, 4.0]), np.array([0.0, 0.0, 1.0, 1.0, 0.0])
    graph = StreamGraph(tuple("abcde"), 1e6 * work, np.ones(5), [], [], [], needs={"disk": disk})
    problem = StreamProblem.of(graph, Platform(devices))
    placed = placed_at(problem, np.array([0, 0, 1, 1, 2], np.int32))
    kernels.improve(problem.filters, problem.machine, placed, 100_000, np.array([1], np.uint64))
    assert seconds_of(problem, placed.part) == pytest.approx(7.5)
    assert np.allclose(placed.computing, slow_loads(problem, placed.part)[:, 0])


def test_of_equal_periods_one_of_fewer_cut_edges_is_taken():
    n, k = 12, 3
    devices = tuple(processor(f"p{i}", 1.0) for i in range(k))
    names = tuple(f"f{i}" for i in range(n))
    tails = np.arange(n - 1)
    chain = StreamGraph(names, np.ones(n), np.ones(n), tails, tails + 1, np.ones(n - 1))
    problem = StreamProblem.of(chain, Platform(devices, ()))
    alternating = np.arange(n, dtype=np.int32) % k
    placed = placed_at(problem, alternating)
    period = seconds_of(problem, alternating)
    kernels.tidy(problem.filters, problem.machine, placed, period, 1.0, 100_000)
    loads = slow_loads_of_work(problem, placed.part)
    assert np.allclose(placed.computing, loads)
    assert loads.max() <= period * (1 + 1e-12)
    cut = np.count_nonzero(np.diff(placed.part))
    assert cut <= 5  # of 11 edges, all of which were
    found = placed_by("ours", problem, MethodOptions(QUICK))
    assert found.period == pytest.approx(period)
    assert np.count_nonzero(np.diff(found.part)) <= 5


def slow_loads_of_work(problem, part):
    loads = np.zeros(problem.k)
    for i, p in enumerate(part):
        loads[p] += work_on(problem, part)[i]
    return loads


def test_an_interrupt_leaves_the_best_so_far(monkeypatch):
    problem = problem_of("A")
    starts = starts_of(problem, 7)

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(annealing_kernels, "anneal", stopped)
    found = search(problem, starts, QUICK, 7)
    assert not found.ended
    assert found.period <= min(seconds_of(problem, part) for _, part in starts)


@pytest.mark.parametrize("k", [1, 2])
def test_few_processors_and_few_filters(k):
    problem = small_case(1, n=2, k=k)
    found = placed_by("ours", problem, MethodOptions(QUICK))
    assert found.period == pytest.approx(shortest(problem))
