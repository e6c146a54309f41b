"""Steps of a thousandth, polished, and a bound that is one."""

from dataclasses import dataclass

import numpy as np
import pytest

from evener.platforms.models.fitting import Constant, SpeedModel
from evener.sizing import exact, reaching, solve_sizes
from evener.sizing.exact import by_multiples
from evener.sizing.problems import make_problem
from tests.sizing.brute import least_by_force, random_problem, solved


@dataclass
class Veiled:
    """A model that shows nothing but its times."""

    model: SpeedModel

    @property
    def capacity(self):
        return self.model.capacity

    def time(self, load):
        return self.model.time(load)

    def speed(self, load):
        return self.model.speed(load)

    def max_load(self, seconds):
        return self.model.max_load(seconds)


def veiled(problem):
    return problem | {"models": [Veiled(model) for model in problem["models"]]}


def test_models_of_any_kind_are_tables():
    for seed in range(60):
        problem = veiled(random_problem(np.random.default_rng([123581, seed])))
        least, found = least_by_force(**problem), solved(solve_sizes, problem, "auto")
        assert (found is None) == np.isinf(least)
        if found is not None:
            assert found.method == "exact"
            assert found.makespan == pytest.approx(least, rel=1e-12, abs=0)


def test_steps_are_near_and_the_bound_holds(monkeypatch):
    losses = []
    for seed in range(60):
        rng = np.random.default_rng([345589, seed])
        problem = random_problem(rng, most_units=3000)
        exactly = solved(solve_sizes, problem, "exact")
        with monkeypatch.context() as few:
            few.setattr(exact, "MOST_ENTRIES", 0)
            found = solved(solve_sizes, veiled(problem), "exact")
        assert (found is None) == (exactly is None)
        if found is None:
            continue
        assert found.bound <= exactly.makespan * (1 + 1e-9)
        assert found.makespan >= exactly.makespan * (1 - 1e-9)
        assert found.converged or "above the least" in found.notes[-1]
        losses.append(found.makespan / exactly.makespan if exactly.makespan else 1.0)
    assert np.median(losses) < 1 + 1e-9
    assert np.mean(losses) < 1.2


def test_scattered_beyond_count(monkeypatch):
    monkeypatch.setattr(reaching, "MANY_PAIRS", 0)
    monkeypatch.setattr(reaching, "MOST_PAIRS", 0)
    monkeypatch.setattr(reaching, "MOST_BITS", 0)
    for seed in range(60):
        problem = random_problem(np.random.default_rng([607811, seed]))
        found = solved(solve_sizes, problem, "exact")
        if found is not None:  # by steps of one unit: a table, where too the sums cannot be counted
            least = least_by_force(**problem)
            assert found.bound <= least * (1 + 1e-12)
            assert found.converged == (found.makespan <= found.bound * (1 + 1e-12))


def test_limits_that_are_no_multiples():
    given = make_problem([Veiled(Constant(2.0))] * 3, 5003, [7, 0, 3], [1001, 2999, 1003])
    found = by_multiples(given)
    assert found.sizes.tolist() == [1001, 2999, 1003]
