"""One call for all methods: what it takes, what it refuses, what it says."""

import numpy as np
import pytest

from evener.errors import InfeasibleError, InputError, UsageError
from evener.platforms.models.fitting import Constant, Piecewise
from evener.sizing.solving import explain_sizes, solve_sizes
from tests.choosing import slow_but
from tests.sizing.brute import least_by_force, random_problem, solved
from tests.sizing.test_exact import Veiled

CURVE = Piecewise([10.0, 100.0], [10.0, 1.0])


def test_constant_speeds_by_hand():
    found = solve_sizes([Constant(1.0), Constant(3.0)], 9)
    assert found.sizes.tolist() == [2, 7]
    assert found.seconds.tolist() == [2.0, 7 / 3]
    assert (found.method, found.converged, found.bound) == ("constant", True, 7 / 3)
    assert found.notes == ("auto: every speed is constant",)


def test_constant_is_optimal_where_speeds_are():
    for seed in range(200):
        problem = random_problem(np.random.default_rng([314159, seed]))
        problem["models"] = [Constant(m.speed(1.0), m.capacity) for m in problem["models"]]
        least, found = least_by_force(**problem), solved(solve_sizes, problem, "constant")
        assert (found is None) == np.isinf(least)
        if found is not None:
            assert found.makespan == pytest.approx(least, rel=1e-12, abs=0), seed


def test_constant_takes_the_speed_at_an_even_share():
    found = solve_sizes([CURVE, Constant(1.0)], 20, "constant")  # 10 units a second at 10 units
    assert found.sizes.tolist() == [19, 1]  # 1.9 s, as it seems
    assert found.seconds[0] == CURVE.time(19.0)
    assert "even share" in found.notes[0]


def test_limits_and_fixed_times():
    two = [Constant(1.0), Constant(1.0)]
    assert solve_sizes(two, 10, low=[0, 7]).sizes.tolist() == [3, 7]
    assert solve_sizes(two, 10, high=[3, np.inf]).sizes.tolist() == [3, 7]
    assert solve_sizes(two, 10, fixed_seconds=[0, 4]).sizes.tolist() == [7, 3]
    found = solve_sizes(two, 10, fixed_seconds=[0, 11.0])
    assert (found.sizes.tolist(), found.seconds.tolist()) == ([10, 0], [10.0, 0.0])


def test_nothing_to_do():
    found = solve_sizes([CURVE, Constant(1.0)], 0)
    assert (found.sizes.tolist(), found.makespan) == ([0, 0], 0.0)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"high": [3, 4]}, "3 units short: all devices together hold 7 units, but the load is 10"),
        ({"low": 6}, "least sizes add up to 12 units, 2 more than the load of 10"),
        (
            {"low": [5, 0], "high": [4, 9], "names": ["x", "y"]},
            "x must get at least 5 .* at most 4",
        ),
    ],
)
def test_infeasible(more, message):
    with pytest.raises(InfeasibleError, match=message):
        solve_sizes([Constant(1.0), Constant(1.0)], 10, **more)


def test_capacities_are_whole_and_the_shortage_is_named():
    with pytest.raises(InfeasibleError, match="1 units short: all devices together hold 6"):
        solve_sizes([Constant(1.0, 3.9), Constant(1.0, 3.9)], 7)


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (([], 3), InputError, "no device"),
        (([CURVE], -1), InputError, "whole number"),
        (([CURVE], 1.5), InputError, "whole number"),
        (([CURVE], 3, "fast"), UsageError, "auto, constant"),
        (([CURVE], 3, "auto", -1), InputError, "low of device 0"),
        (([CURVE], 3, "auto", [0, 1]), InputError, "low has shape"),
        (([CURVE], 3, "auto", None, [np.nan]), InputError, "high"),
        (
            ([CURVE, Constant(1e-320)], 3, "auto", 1),
            InputError,
            "time exceeds the largest floating-point number",
        ),
    ],
)
def test_refused(given, kind, message):
    with pytest.raises(kind, match=message):
        solve_sizes(*given)


def test_many_ties():
    found = solve_sizes([Constant(1.0 + i % 3) for i in range(1000)], 10**5 + 1)
    assert found.sizes.sum() == 10**5 + 1
    assert found.makespan == found.bound


def test_loads_beyond_what_int32_holds():
    found = solve_sizes([CURVE, Constant(3.0), Constant(1e9)], 2**52)
    assert found.sizes.sum() == 2**52
    assert found.converged


@pytest.mark.parametrize("method", slow_but(["constant", "gpa", "npa", "exact"], 0, 1, 3))
def test_numbers_at_the_ends_of_their_range(method):
    """Speeds, loads and fixed times of any size: an answer that adds up, or an error of ours."""
    answers = 0
    for seed in range(40):
        rng = np.random.default_rng([317811, seed])
        k, n = int(rng.integers(1, 5)), int(10 ** rng.uniform(0, 15.9))
        models = []
        for _ in range(k):
            loads = 10 ** rng.uniform(-5, 16) * np.cumsum(10 ** rng.uniform(-3, 2, 3))
            wide = 10 ** rng.uniform(-200, 200) if rng.random() < 0.3 else 1.0
            speeds = 10 ** rng.uniform(-4, 8, 3) * wide
            models.append(Piecewise(loads, speeds) if rng.random() < 0.7 else Constant(speeds[0]))
        fixed = 10 ** rng.uniform(-10, 10, k)
        try:
            found = solve_sizes(models, n, method, fixed_seconds=fixed)
        except InputError as error:
            assert "time exceeds the largest floating-point number" in str(error)
            continue
        answers += 1
        assert found.sizes.sum() == n
        assert (found.sizes >= 0).all()
        assert found.bound <= found.makespan * (1 + 1e-9)
    assert answers > 25


FAST, SLOW = Constant(10.0), Constant(0.1)
LATE = Piecewise([1.0, 10.0], [0.05, 5.0])  # 20 s for a unit, 2 s for ten


@pytest.mark.parametrize("kind", [lambda model: model, Veiled])
@pytest.mark.parametrize(
    ("models", "n", "limits", "reasons"),
    [
        ([FAST, SLOW], 20, {},
         ["ends last", "one unit takes 10.0 s here; the others finish after 2.00 s"]),
        ([FAST, FAST], 1, {},
         ["ends last", "not needed: the others finish after 100 ms without it"]),
        ([Constant(10.0, 5.0), FAST], 20, {}, ["full: at its capacity", "ends last"]),
        ([Constant(10.0, 0.5), FAST], 20, {}, ["cannot hold a unit", "ends last"]),
        ([FAST, FAST], 20, {"high": [3, 20]}, ["at its upper limit", "ends last"]),
        ([FAST, FAST], 20, {"high": [0, 20]}, ["its upper limit is zero", "ends last"]),
        ([FAST, Constant(50.0)], 20, {"low": [18, 1]}, ["ends last", ""]),
        ([FAST, SLOW], 20, {"low": [0, 1]}, ["", "ends last"]),
        ([FAST, SLOW], 20, {"fixed_seconds": [0, 9]},
         ["ends last", "its fixed time alone is 9.00 s; the others finish after 2.00 s"]),
        ([FAST, LATE], 15, {},
         ["ends last",
          "its fastest load, 10 units, takes 2.00 s here; the others finish after 1.50 s"]),
    ],
)  # fmt: skip
def test_reasons(kind, models, n, limits, reasons):
    models = [kind(model) for model in models]
    found = solve_sizes(models, n, **limits)
    said = explain_sizes(models, found, **limits)
    assert said == reasons


def test_by_a_method_that_is_not_the_best():
    found = solve_sizes([Piecewise([1.0, 8.0], [9.0, 1.0]), FAST], 16, "constant")
    assert np.argmax(found.seconds) == explain_sizes([LATE, FAST], found).index("ends last")
