"""NPA: equal times on smooth curves; whole sizes from them, optimal where time rises."""

import numpy as np
import pytest

from evener.errors import UsageError
from evener.platforms.models.akima import Akima
from evener.platforms.models.fitting import Constant
from evener.platforms.models.piecewise import Piecewise
from evener.sizing import numerical
from evener.sizing.numerical import slid
from evener.sizing.problems import make_problem
from evener.sizing.rounding import given_out, whole_from_balanced
from evener.sizing.segments import stacked
from evener.sizing.solving import solve_sizes
from tests.sizing.brute import least_by_force, random_problem, solved
from tests.sizing.test_least_time import Lonely


def smooth(model):
    return Akima(model) if isinstance(model, Piecewise) else model


def is_rising(model, n):
    return (np.diff(model.time(np.linspace(0, n, 40 * n + 1))) >= 0).all()


@pytest.mark.parametrize("few", [0, 24])
def test_optimal_where_time_rises(monkeypatch, few):
    monkeypatch.setattr(numerical, "FEW", few)  # 0: Newton alone
    tried = 0
    for seed in range(200):
        rng = np.random.default_rng([161803, seed])
        problem = random_problem(rng, most_units=60, rising=True)
        problem["models"] = [smooth(m) for m in problem["models"]]
        problem["fixed"] = np.zeros(len(problem["models"]))
        if not all(is_rising(m, int(min(problem["n"], m.capacity))) for m in problem["models"]):
            continue
        least, found = least_by_force(**problem), solved(solve_sizes, problem, "npa")
        assert (found is None) == np.isinf(least)
        if found is not None:
            tried += 1
            assert found.makespan == pytest.approx(least, rel=1e-9, abs=0), seed
    assert tried > 40


def test_feasible_and_honest_on_anything():
    fell_back = 0
    for seed in range(150):
        problem = random_problem(np.random.default_rng([141421, seed]), most_devices=8)
        found = solved(solve_sizes, problem, "npa")
        if found is not None:
            assert found.converged == (not found.notes)
            fell_back += not found.converged
    assert fell_back < 10


def test_the_jacobian_is_the_derivative():
    rng = np.random.default_rng(2997)
    models = [smooth(Piecewise(np.arange(1.0, 8), rng.uniform(1, 3, 7))) for _ in range(4)]
    problem = make_problem(models, 16)
    curves = numerical.SmoothTimes(problem, stacked(models))
    at = rng.uniform(1.1, 6.9, 4)
    for i in range(4):
        step = np.zeros(4)
        step[i] = 1e-6
        rise = (curves.at(at + step)[0] - curves.at(at - step)[0]) / 2e-6
        np.testing.assert_allclose(rise[i], curves.at(at)[1][i], rtol=1e-5)


def test_newton_and_minpack_find_the_same_balance():
    rng = np.random.default_rng(6626)
    loads = np.linspace(10, 1000, 30)
    models = [Akima(Piecewise(loads, a / (1 + (loads / b) ** 2))) for a, b in rng.uniform(
        [1, 300], [9, 900], (20, 2))]  # fmt: skip
    problem = make_problem(models, 8000)
    curves = numerical.SmoothTimes(problem, stacked(models))
    one, other = numerical._hybrid(problem, curves), numerical._newton(problem, curves)
    np.testing.assert_allclose(one, other, rtol=1e-6)
    assert one.sum() == pytest.approx(8000)
    np.testing.assert_allclose(curves.at(one)[0], curves.at(one)[0][0], rtol=1e-8)


def test_a_step_between_limits_takes_equal_times():
    rng = np.random.default_rng(9109)
    for _ in range(100):
        k = int(rng.integers(1, 7))
        low = rng.integers(0, 4, k)
        high = low + rng.integers(0, 9, k)
        n = int(rng.integers(low.sum(), high.sum() + 1))
        problem = make_problem([Constant(1.0)] * k, n, low, np.maximum(high, low))
        shares, slopes = rng.uniform(0, 9, k), rng.uniform(0.1, 9, k)
        seconds = rng.uniform(0, 9, k)
        ahead = numerical.step_within(problem, shares, seconds, slopes)
        assert ahead.sum() == pytest.approx(n)
        assert ((ahead >= problem.low - 1e-9) & (ahead <= problem.high + 1e-9)).all()
        assert numerical.gap(problem, ahead, seconds + (ahead - shares) * slopes) < 1e-6


def test_units_are_given_where_they_are_done_first():
    speeds = np.array([1.0, 10.0, 2.0])

    def times(device, load):
        return load / speeds[device]

    assert given_out(np.zeros(3, int), 13, np.array([9, 9, 9]), times).tolist() == [1, 9, 3]
    assert given_out(np.zeros(3, int), 14, np.array([9, 20, 9]), times).tolist() == [1, 11, 2]
    problem = make_problem([Constant(s) for s in speeds], 13)
    balanced = speeds / speeds.sum() * 13
    assert whole_from_balanced(balanced, 13, problem.low, problem.high, times).tolist() == [
        1,
        10,
        2,
    ]
    # Shares that sum to a trifle more than n.
    above = np.array([1.0, 10.0, 3.0])
    assert whole_from_balanced(above, 13, problem.low, problem.high, times).sum() == 13


def test_needs_points():
    with pytest.raises(UsageError, match="npa needs the points of a curve"):
        solve_sizes([Lonely()], 3, "npa")


def test_a_balance_behind_a_hump_of_time():
    # The first takes 4 s for 4 units and 2 s for 8: in between no largest load by any time lies.
    hump = Piecewise([1.0, 4.0, 8.0, 40.0], [1.0, 1.0, 4.0, 4.0])
    slow = Piecewise([1.0, 10.0, 60.0], [1.0, 1.0, 0.7])
    problem = make_problem([Akima(hump), Akima(slow)], 9)
    shares = slid(problem)
    assert 4 < shares[0] < 8
    assert shares.sum() == pytest.approx(9)
    seconds = [m.time(float(x)) for m, x in zip(problem.models, shares, strict=True)]
    assert seconds[0] == pytest.approx(seconds[1])
    found = solve_sizes([hump, slow], 9, "npa")
    assert found.converged
    assert found.sizes.sum() == 9
