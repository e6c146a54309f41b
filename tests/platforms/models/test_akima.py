"""Akima models: through every sample, smooth, above zero; largest loads against a fine grid."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.interpolate import Akima1DInterpolator, PPoly

from evener.errors import InputError
from evener.platforms.models.fitting import Akima, Piecewise, fit_model
from evener.platforms.models.samples import Sample
from tests.examples import with_examples

SPEEDS = [1e-7, 0.05, 1, 2, 3, 10, 100, 1e7]


@st.composite
def akima_models(draw):
    """Models with cliffs, dips and plateaus, from one point on."""
    count = draw(st.integers(1, 8))
    steps = draw(st.lists(st.integers(1, 40), min_size=count, max_size=count))
    speeds = draw(st.lists(st.sampled_from(SPEEDS), min_size=count, max_size=count))
    capacity = draw(st.sampled_from([np.inf, 0.5, 7.0, 60.0, 150.0]))
    points = Piecewise(np.cumsum(steps).astype(float), np.array(speeds, dtype=float), capacity)
    return Akima(points)


@with_examples(150)
@given(akima_models(), st.floats(0, 50))
def test_through_every_point_above_zero_and_largest_load(model, seconds):
    np.testing.assert_allclose(model.speed(model.breaks), model.points.speeds, rtol=1e-12)
    grid = np.unique(np.concatenate([np.linspace(0, 400, 4001), model.breaks]))
    assert (model.speed(grid) > 0).all()
    assert model.time(0.0) == 0.0
    assert (model.time(grid)[grid > model.capacity] == np.inf).all()

    most = model.max_load(seconds)
    assert 0 <= most <= model.capacity
    # The least numbers of all have few digits.
    assert model.time(most * (1 - 1e-12)) <= seconds * (1 + 1e-9) + np.finfo(float).tiny
    beyond = grid > most * (1 + 1e-9)
    assert (model.time(grid[beyond]) > seconds * (1 - 1e-9)).all()


CLIFF = Piecewise(
    np.array([1.0, 6, 46, 47, 48, 74, 114]), np.array([1e-7] * 3 + [0.05] + [1e-7] * 3)
)


@with_examples(60)
@given(akima_models())
@example(Akima(CLIFF))
def test_slopes_are_those_of_the_curve(model):
    rng = np.random.default_rng(7301)
    at = rng.uniform(0.1, model.breaks[-1] * 1.5, 50)
    apart = np.abs(at[:, None] - model.breaks).min(axis=1)
    at, apart = at[apart > 1e-3], apart[apart > 1e-3]
    free = Akima(Piecewise(model.points.loads, model.points.speeds))
    # At the foot of a cliff the curve bends within what lies between a point and the next break.
    step = np.minimum(1e-6 * at, 1e-3 * apart)
    by_difference = (free.speed(at + step) - free.speed(at - step)) / (2 * step)
    speed, slope = free._speed(at)
    scale = speed / at + np.abs(by_difference)
    assert (np.abs(slope - by_difference) <= 1e-4 * scale + 1e-9).all()


def test_is_scipys_where_that_stays_above_zero():
    loads, speeds = np.array([1.0, 2, 4, 5, 7, 11, 12]), np.array([3.0, 4, 5, 5.5, 6, 2, 1.8])
    model = Akima(Piecewise(loads, speeds))
    x = np.concatenate([[0, 1 / 3, 2 / 3], loads, [16, 20, 24]])
    y = np.concatenate([[3, 3, 3], speeds, [1.8, 1.8, 1.8]])
    grid = np.linspace(0, 24, 500)
    np.testing.assert_allclose(model.speed(grid), Akima1DInterpolator(x, y)(grid), rtol=1e-12)
    inside = np.linspace(1, 12, 99)
    curve = PPoly(model.coefficients, model.breaks)
    np.testing.assert_allclose(curve(inside), model.speed(inside), rtol=1e-12)


def test_held_above_zero_beside_a_cliff():
    """SciPy's curve dips below zero here."""
    loads = np.array([1.0, 2, 3, 4, 5, 6])
    speeds = np.array([101.0, 51, 1, 2, 1.5, 3])
    grid = np.linspace(1, 6, 2001)
    assert Akima1DInterpolator(loads, speeds)(grid).min() < 0
    assert Akima(Piecewise(loads, speeds)).speed(grid).min() > 0


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_partial_models_are_flat_outside(count):
    samples = [Sample(10.0 * (i + 1), 1.0 + i * i) for i in range(count)]
    model = fit_model(samples, "akima")
    assert model.speed(1e-9) == samples[0].speed
    assert model.speed(1e9) == samples[-1].speed
    assert model._speed(np.array([5.0, 10.0, 1e6]))[1].tolist() == [0.0, 0.0, 0.0]
    assert model.max_load(1e6) == pytest.approx(1e6 * samples[-1].speed)


def test_samples_too_close_together():
    with pytest.raises(InputError, match="are too close for a smooth curve"):
        Akima(Piecewise([1.0, np.nextafter(1.0, 2)], [1e300, 1e-300]))


def test_uncertainty_is_carried():
    samples = [Sample(10, 1.0, 0.1), Sample(20, 2.0, 0.1)]
    for kind in ("piecewise", "shaped", "akima"):
        model = fit_model(samples, kind)
        np.testing.assert_allclose(
            model.uncertainty([1.0, 10.0, 15.0, 99.0]), [0.1, 0.1, 0.075, 0.05]
        )
    assert fit_model(samples, "constant").uncertainty(5.0) == 0.05
