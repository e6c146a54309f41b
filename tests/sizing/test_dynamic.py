"""DPA: sizes by measuring; on emulated devices beside the exact sizes of their true curves."""

import numpy as np
import pytest

from evener.errors import InfeasibleError, InputError
from evener.platforms.models.examples import curve_set
from evener.platforms.models.fitting import Constant
from evener.platforms.models.piecewise import Piecewise
from evener.sizing.dynamic import Dynamic, measured_sizes
from evener.sizing.rounding import between
from evener.sizing.solving import solve_sizes
from tests.sizing.brute import random_model


def clock(models, rng=None, noise=0.0):
    def measure(sizes):
        times = np.array([m.time(float(d)) for m, d in zip(models, sizes, strict=True)])
        return times if rng is None else times * rng.lognormal(0, noise, times.size)

    return measure


def test_constant_speeds_need_two_steps():
    found = measured_sizes(clock([Constant(1.0), Constant(3.0)]), 100, 2)
    assert [seen.sizes.tolist() for seen in found.history] == [[50, 50], [25, 75]]
    assert found.converged
    assert found.best.makespan == 25.0
    assert found.best.spread == 0.0
    assert [len(samples) for samples in found.known()] == [2, 2]


@pytest.mark.parametrize("method", ["auto", "gpa", "npa"])
@pytest.mark.parametrize(
    ("curves", "n"),
    [("cluster1", 7551), ("cluster2", 35_200), ("hybrid", 2_400_000), ("workstation", 258_398)],
)
def test_near_the_best_in_few_steps(method, curves, n):
    models = [curve.model for curve in curve_set(curves)]
    least = solve_sizes(models, n).makespan
    found = measured_sizes(clock(models), n, len(models), method=method)
    assert len(found.history) <= 20
    assert found.best.makespan <= 1.05 * least
    assert found.best.makespan == min(seen.makespan for seen in found.history)
    assert found.converged


def test_constant_models_swing_at_a_cliff_and_the_best_is_kept():
    models = [curve.model for curve in curve_set("hybrid")]
    found = measured_sizes(clock(models), 2_400_000, len(models), method="constant")
    spans = [seen.makespan for seen in found.history]
    assert not found.converged
    assert max(spans[20:]) > 2 * min(spans)
    assert found.best.makespan == min(spans)


@pytest.mark.slow
def test_always_feasible_and_never_worse_than_seen():
    for seed in range(60):
        rng = np.random.default_rng([832040, seed])
        k, n = int(rng.integers(1, 6)), int(rng.integers(1, 300))
        models = [random_model(rng, n) for _ in range(k)]
        measure, calls = clock(models, rng, 0.05), []

        def limited(sizes, measure=measure, calls=calls, n=n):
            calls.append(sizes)
            assert sizes.sum() == n
            return measure(sizes)

        try:
            found = measured_sizes(limited, n, k, max_steps=15)
        except InfeasibleError:
            assert sum(np.floor(min(m.capacity, n)) for m in models) < n
            continue
        assert len(calls) == len(found.history) <= 15
        assert found.outcome
        assert found.best.makespan == min(seen.makespan for seen in found.history)


def test_a_device_that_fails_is_not_given_as_much_again():
    models = [Constant(1.0, 30.0), Constant(1.0)]
    found = measured_sizes(clock(models), 100, 2)
    assert found.best.sizes[0] <= 30
    assert found.best.makespan <= 1.1 * 70
    failed = [seen.sizes[0] for seen in found.history if np.isinf(seen.seconds[0])]
    assert failed == sorted(failed, reverse=True)
    with pytest.raises(InfeasibleError, match="no longer sum to 100"):
        measured_sizes(clock([Constant(1.0, 30.0)] * 2), 100, 2)


def test_a_device_slow_at_its_first_load_is_seen_on_a_unit():
    paging = Piecewise([20.0, 21.0], [10.0, 1e-3])
    found = measured_sizes(clock([paging, Constant(1.0)]), 100, 2)
    assert found.best.makespan < 1.3 * solve_sizes([paging, Constant(1.0)], 100).makespan


def test_noise_within_epsilon():
    rng = np.random.default_rng(75025)
    models = [curve.model for curve in curve_set("workstation")]
    found = measured_sizes(clock(models, rng, 0.01), 86_602, 3, epsilon=0.1)
    assert found.converged
    assert len(found.history) < 15


def test_samples_of_earlier_runs_and_a_start():
    models = [Constant(1.0), Constant(3.0)]
    first = measured_sizes(clock(models), 100, 2)
    again = Dynamic(1000, 2, samples=first.known())
    assert again.sizes.tolist() == [250, 750]
    assert Dynamic(10, 2, start=[3, 7]).sizes.tolist() == [3, 7]
    assert Dynamic(10, 2, low=[0, 6]).sizes.tolist() == [4, 6]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 0}, "epsilon must be above zero"),
        ({"max_steps": 0}, "one step"),
        ({"start": [3, 8]}, "start must contain"),
        ({"start": [11, -1]}, "start must contain"),
        ({"samples": [[]]}, "samples of 1 devices, but 2 devices"),
        ({"low": 6}, "add up to 12"),
    ],
)
def test_refused(options, message):
    with pytest.raises((InputError, InfeasibleError), match=message):
        Dynamic(10, 2, **options)


@pytest.mark.parametrize("seconds", [[1.0], [0.0, 1.0], [-1.0, 1.0], [np.nan, 1.0], ["a", "b"]])
def test_times_that_are_none(seconds):
    search = Dynamic(10, 2)
    with pytest.raises(InputError):
        search.observe(seconds)
    assert search.observe([1.0, 1.0]) is None
    with pytest.raises(InputError, match="has ended: balanced"):
        search.observe([1.0, 1.0])
    with pytest.raises(InputError, match="nothing has been observed"):
        _ = Dynamic(10, 2).best


def test_part_of_the_way_keeps_the_sum():
    rng = np.random.default_rng(121393)
    for _ in range(200):
        k = int(rng.integers(1, 6))
        start = rng.integers(0, 20, k)
        end = rng.permutation(start)
        sizes = between(
            start, end, float(rng.choice([0.1, 0.5, 1, 2])), np.zeros(k, int), start * 0 + 20
        )
        assert sizes.sum() == end.sum()
        assert (sizes >= 0).all()
        assert (sizes <= 20).all()
