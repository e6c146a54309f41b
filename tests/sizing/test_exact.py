"""The exact solver finds what trying every load finds; steps of a thousandth come near it."""

from dataclasses import dataclass

import numpy as np
import pytest

from evener.platforms.models.akima import Akima
from evener.platforms.models.fitting import Constant, Piecewise, SpeedModel
from evener.sizing import exact, sums_of_runs
from evener.sizing.exact import Table, by_multiples, least_makespan
from evener.sizing.problems import make_problem
from evener.sizing.segments import Segments
from evener.sizing.solving import solve_sizes
from tests.sizing.brute import least_by_force, random_problem, solved


def test_by_hand():
    # a does one unit a second; b needs 3 s for 1 or 2 units, but does 10 in 2 s.
    a, b = Constant(1.0), Piecewise([1.0, 2.0, 10.0], [1 / 3, 2 / 3, 5.0])
    assert solve_sizes([a, b], 11, "exact").sizes.tolist() == [1, 10]
    assert solve_sizes([a, b], 2, "exact").sizes.tolist() == [2, 0]
    # With at most 9, b is done at 9 / (2/3 + 7/8 x 13/3) s: 2 units for a take longer.
    found = solve_sizes([a, b], 11, "exact", high=[11, 9])
    assert found.sizes.tolist() == [2, 9]
    assert found.makespan == found.bound == max(2.0, b.time(9.0))


@pytest.mark.slow
def test_equal_to_trying_every_load_on_small_machines():
    infeasible = 0
    for seed in range(350):
        problem = random_problem(np.random.default_rng([160217, seed]))
        least, found = least_by_force(**problem), solved(solve_sizes, problem, "exact")
        assert (found is None) == np.isinf(least), seed
        if found is None:
            infeasible += 1
            continue
        assert found.converged
        assert found.makespan == pytest.approx(least, rel=1e-12, abs=0), seed
        assert found.bound == pytest.approx(least, rel=1e-12, abs=0), seed
    assert 50 < infeasible < 200


def test_smooth_curves_are_cut_where_time_turns():
    for seed in range(60):
        problem = random_problem(np.random.default_rng([123456, seed]))
        problem["models"] = [
            Akima(m) if isinstance(m, Piecewise) else m for m in problem["models"]
        ]  # fmt: skip
        least, found = least_by_force(**problem), solved(solve_sizes, problem, "exact")
        assert (found is None) == np.isinf(least)
        if found is not None:
            assert found.makespan == pytest.approx(least, rel=1e-11, abs=0), seed


def test_sums_as_bits_are_the_same(monkeypatch):
    monkeypatch.setattr(sums_of_runs, "MANY_PAIRS", 0)
    for seed in range(150):
        problem = random_problem(np.random.default_rng([662607, seed]))
        least, found = least_by_force(**problem), solved(solve_sizes, problem, "exact")
        if found is not None:
            assert found.makespan == pytest.approx(least, rel=1e-12, abs=0), seed


def test_segments_and_tables_agree_load_by_load():
    for seed in range(80):
        rng = np.random.default_rng([137035, seed])
        given = random_problem(rng)
        given["low"] = np.minimum(given["low"], 1)
        if least_by_force(**given) == np.inf:
            continue
        given["fixed_seconds"] = given.pop("fixed")
        problem = make_problem(**given)
        segments, table = Segments(problem), Table(problem)
        assert segments.needed() == pytest.approx(table.needed(), rel=1e-12)
        moments = table.seconds[np.isfinite(table.seconds)]
        for seconds in np.r_[rng.choice(moments, 5) * rng.choice([1 - 1e-9, 1 + 1e-9, 0.7], 5), 0]:
            one, other = segments.runs(seconds), table.runs(seconds)
            for key in ("device", "first", "last"):
                assert getattr(one, key).tolist() == getattr(other, key).tolist(), seed
            assert segments.largest(seconds).tolist() == table.largest(seconds).tolist()
            after = table.next_time(seconds * (1 + 1e-11))
            assert segments.next_time(seconds * (1 + 1e-11)) == pytest.approx(after, rel=1e-12)


def test_large_loads_are_as_exact_as_small_ones():
    # Units a thousand times smaller: any answer for n is one for 1,000 n, so none is worse.
    for seed in range(40):
        problem = random_problem(np.random.default_rng([299792, seed]), most_devices=4)
        if np.isinf(least_by_force(**problem)):
            continue
        many = [
            Constant(m.rate * 1000, m.capacity * 1000)
            if isinstance(m, Constant)
            else Piecewise(m.loads * 1000, m.speeds * 1000, m.capacity * 1000)
            for m in problem["models"]
        ]
        fine = problem | {"models": many, "n": problem["n"] * 1000}
        fine |= {key: problem[key] * 1000 for key in ("low", "high")}
        coarse, found = solved(solve_sizes, problem, "exact"), solved(solve_sizes, fine, "exact")
        assert found.makespan <= coarse.makespan * (1 + 1e-12)
        loads = Table(make_problem(many, fine["n"], fine["low"], fine["high"], fine["fixed"]))
        assert found.makespan == pytest.approx(least_makespan(loads).makespan, rel=1e-12)


@pytest.mark.parametrize("low", [0, 2])
def test_a_speed_of_its_own_at_every_load(low):
    rng = np.random.default_rng(8314)
    models = [Piecewise(np.arange(1.0, 301), np.exp(rng.normal(0, 2, 300))) for _ in range(24)]
    found = solve_sizes(models, 300, "exact", low)
    least = least_by_force(models, 300, np.full(24, low))
    assert found.makespan == pytest.approx(least, rel=1e-12, abs=0)


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
            few.setattr(exact, "MAX_ENTRIES", 0)
            found = solved(solve_sizes, veiled(problem), "exact")
        assert (found is None) == (exactly is None)
        if found is None:
            continue
        assert found.bound <= exactly.makespan * (1 + 1e-9)
        assert found.makespan >= exactly.makespan * (1 - 1e-9)
        assert found.converged or "above the optimum" in found.notes[-1]
        losses.append(found.makespan / exactly.makespan if exactly.makespan else 1.0)
    assert np.median(losses) < 1 + 1e-9
    assert np.mean(losses) < 1.2


def test_scattered_beyond_count(monkeypatch):
    monkeypatch.setattr(sums_of_runs, "MANY_PAIRS", 0)
    monkeypatch.setattr(sums_of_runs, "MAX_PAIRS", 0)
    monkeypatch.setattr(sums_of_runs, "MAX_BITS", 0)
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
