"""Models whose time is linear between samples, against the line itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.platforms.models.fitting import PRECISION, Piecewise, by_time, fit_model
from evener.platforms.models.samples import Sample
from evener.sizing.solving import solve_sizes
from tests.examples import with_examples


@with_examples(60)
@given(
    st.lists(st.tuples(st.integers(1, 10_000), st.floats(0.01, 100.0)), min_size=1, max_size=6,
             unique_by=lambda point: point[0]),
    st.sampled_from([np.inf, 500.0]),
)  # fmt: skip
def test_time_is_linear_between_samples(points, capacity):
    samples = [Sample(float(load), seconds) for load, seconds in sorted(points)]
    model = fit_model(samples, "time", capacity)
    loads = np.array([s.load for s in samples])
    seconds = np.array([s.seconds for s in samples])
    inside = np.linspace(loads[0], loads[-1], 203)
    inside = inside[inside <= capacity]
    np.testing.assert_allclose(
        model.time(inside), np.interp(inside, loads, seconds), rtol=1.5 * PRECISION
    )
    own = loads <= capacity
    np.testing.assert_allclose(model.time(loads[own]), seconds[own], rtol=1e-14)
    assert model.speed(loads[0] / 2) == model.speed(loads[0])
    assert model.speed(loads[-1] * 2) == model.speed(loads[-1])
    assert model.capacity == capacity


def test_a_launch_and_a_rate_are_known_from_two_samples():
    launched = fit_model([Sample(x, 0.01 + 1e-6 * x) for x in (100.0, 1e6)], "time")
    for load in (500.0, 2e4, 7e5):
        assert launched.time(load) == pytest.approx(0.01 + 1e-6 * load, rel=PRECISION)
    by_speed = fit_model([Sample(x, 0.01 + 1e-6 * x) for x in (100.0, 1e6)])
    assert by_speed.time(2e4) < 0.8 * launched.time(2e4) or by_speed.time(2e4) > 1.2 * 0.03
    found = solve_sizes([launched, launched], 40_000)
    assert found.sizes.tolist() == [20_000, 20_000]


def test_spread_capacity_and_straight_lines_are_kept():
    points = Piecewise([10.0, 20.0, 40.0], [5.0, 5.0, 5.0], 30.0, [0.1, 0.2, 0.4])
    same = by_time(points)
    assert same.loads.tolist() == [10.0, 20.0, 40.0]  # a constant speed needs no more knots
    assert same.capacity == 30.0
    bent = by_time(Piecewise([10.0, 40.0], [1.0, 3.0], spread=[0.1, 0.4]))
    assert bent.uncertainty(25.0) == pytest.approx(0.25)
    assert len(bent.loads) > 2
