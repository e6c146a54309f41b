"""The best set of devices is the best of all sets."""

from itertools import combinations

import numpy as np
import pytest

from evener.errors import InputError
from evener.platforms.models.fitting import Constant
from evener.sizing import subsets
from evener.sizing.solving import solve_sizes
from evener.sizing.subsets import best_subset
from tests.sizing.brute import least_by_force, random_problem


def best_by_force(models, n, low, high, fixed, shared):
    """Least makespan of any set, each of its devices costing all of them its shared time."""
    k = len(models)
    least = np.inf
    for size in range(k + 1):
        for used in combinations(range(k), size):
            mask = np.isin(np.arange(k), used)
            if (low[~mask] > 0).any():
                continue
            makespan = least_by_force(models, n, low, np.where(mask, high, 0), fixed)
            least = min(least, makespan + shared[mask].sum())
    return least


@pytest.mark.parametrize("all_sets", [0, 8])
def test_as_good_as_the_best_of_all_sets(monkeypatch, all_sets):
    monkeypatch.setattr(subsets, "ALL_SETS", all_sets)  # 0: searching only
    losses = []
    for seed in range(60):
        rng = np.random.default_rng([196418, seed])
        problem = random_problem(rng, most_devices=4)
        shared = rng.exponential(1.0, len(problem["models"])) * rng.integers(0, 2)
        if np.isinf(least_by_force(**problem)):
            continue
        given = {key: problem[key] for key in ("models", "n", "low", "high")}
        found = best_subset(**given, fixed_seconds=problem["fixed"], shared_seconds=shared)
        assert found.sizes.sum() == problem["n"]
        assert (found.used == (found.sizes > 0)).all()
        spent = found.seconds.max() + shared[found.used].sum()
        assert found.makespan == pytest.approx(spent, rel=1e-12)
        assert 0 <= found.gain <= 1
        assert found.exhaustive == (all_sets == 8 or not shared.any())
        losses.append(found.makespan / best_by_force(**problem, shared=shared))
    assert min(losses) > 1 - 1e-12
    assert max(losses) < 1 + 1e-12 if all_sets else np.mean(losses) < 1.01


def test_gain_over_using_all():
    # Alone: 10 s. Both: half of it and 7 s for the second to take part.
    two = [Constant(1.0), Constant(1.0)]
    found = best_subset(two, 10, shared_seconds=[0.0, 7.0])
    assert (found.used.tolist(), found.makespan, found.makespan_of_all) == ([True, False], 10, 12)
    assert found.gain == pytest.approx(1 / 6)
    found = best_subset(two, 10, fixed_seconds=[0.0, 11.0])
    assert (found.sizes.tolist(), found.makespan_of_all) == ([10, 0], 12)  # 9 and 1 + 11
    assert np.isinf(best_subset(two, 1).makespan_of_all)
    assert best_subset(two, 1).gain == 1.0


def test_many_equal_costs():
    # m of 40 equal devices take 1000 / m + 2.5 m seconds.
    found = best_subset([Constant(1.0)] * 40, 1000, shared_seconds=2.5)
    assert found.makespan == pytest.approx(50 + 2.5 * 20)
    assert not found.exhaustive


def test_costs_are_checked():
    with pytest.raises(InputError, match="shared_seconds must not be negative, but entry 1"):
        best_subset([Constant(1.0)] * 2, 3, shared_seconds=[0, -1])
    with pytest.raises(InputError, match="fixed_seconds has shape"):
        solve_sizes([Constant(1.0)] * 2, 3, fixed_seconds=[0, 1, 2])
