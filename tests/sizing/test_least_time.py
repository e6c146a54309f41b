"""GPA: optimal for the curves that the rule of shape leaves."""

import numpy as np
import pytest

from evener.errors import UsageError
from evener.platforms.models.akima import Akima
from evener.platforms.models.fitting import Constant
from evener.platforms.models.piecewise import Piecewise
from evener.sizing.least_time import in_shape
from evener.sizing.solving import solve_sizes
from tests.sizing.brute import least_by_force, random_problem, solved


class Lonely:
    """A model that has no points."""

    capacity = np.inf

    def time(self, load):
        return load / 2.0

    def speed(self, load):
        return 2.0 + 0 * load

    def max_load(self, seconds):
        return 2.0 * seconds


def test_by_hand():
    # Speeds fall from 4 at 2 units to 1 at 8: 5 units take 2 s, as do 4 at speed 2.
    curve = Piecewise([2.0, 8.0], [4.0, 1.0])
    found = solve_sizes([curve, Constant(2.0)], 9, "gpa")
    assert found.sizes.tolist() == [5, 4]
    assert found.seconds.tolist() == [2.0, 2.0]
    assert found.bound == 2.0


def test_optimal_under_the_rule_of_shape():
    dropped = 0
    for seed in range(300):
        problem = random_problem(np.random.default_rng([271828, seed]))
        found = solved(solve_sizes, problem, "gpa")
        shaped = problem | {"models": [in_shape(m, "") for m in problem["models"]]}
        least = least_by_force(**shaped)
        assert (found is None) == np.isinf(least)
        if found is None:
            continue
        dropped += bool(found.notes)
        pairs = zip(shaped["models"], found.sizes, shaped["fixed"], strict=True)
        seconds = max(m.time(float(d)) + f if d else 0.0 for m, d, f in pairs)
        assert seconds == pytest.approx(least, rel=1e-12, abs=0), seed
        assert found.converged
    assert dropped > 50


def test_what_the_rule_drops_is_said():
    noisy = Piecewise([1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 3.5, 2.0])
    found = solve_sizes([noisy, Constant(1.0)], 5, "gpa")
    assert found.notes == ("gpa: the shape rule drops 1 sample of 1 device",)
    smooth = solve_sizes([Akima(noisy), Constant(1.0)], 5, "gpa")
    assert smooth.sizes.tolist() == found.sizes.tolist()


def test_needs_points():
    with pytest.raises(
        UsageError, match="gpa needs the points of a curve, but the model of device 0"
    ):
        solve_sizes([Lonely()], 3, "gpa")
