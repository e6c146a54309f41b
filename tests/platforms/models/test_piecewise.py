"""Surfaces: bilinear in speed, cut exactly along a width."""

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

from evener.errors import InputError
from evener.platforms.models.fitting import SpeedSurface, fit_surface


def surface(capacity=np.inf):
    rng = np.random.default_rng(4417)
    heights, widths = np.array([1.0, 3, 8, 20]), np.array([2.0, 5, 30])
    return SpeedSurface(heights, widths, rng.uniform(1, 9, (4, 3)), capacity)


def test_is_scipys_inside_and_the_edge_outside():
    s = surface()
    rng = np.random.default_rng(8855)
    m, n = rng.uniform(0, 30, 200), rng.uniform(0, 40, 200)
    ask = RegularGridInterpolator((s.heights, s.widths), s.speeds)
    by_scipy = ask(np.column_stack([np.clip(m, 1, 20), np.clip(n, 2, 30)]))
    np.testing.assert_allclose(s.speed(m, n), by_scipy, rtol=1e-12)
    np.testing.assert_allclose(s.time(m, n), m * n / by_scipy, rtol=1e-12)
    assert s.time(0.0, 5.0) == 0.0


def test_a_column_and_squares():
    s = surface(capacity=100.0)
    column = s.at_width(4.0)
    rows = np.linspace(0, 25, 60)
    np.testing.assert_allclose(column.time(rows), s.time(rows, np.full_like(rows, 4.0)), rtol=1e-12)
    assert column.max_load(1e9) == 25.0
    squares = s.of_squares()
    for side in (1.0, 2, 3, 5, 8):
        assert squares.time(side**2) == pytest.approx(s.time(side, side))
    assert squares.time(101.0) == np.inf


def test_fitted_to_a_grid_and_refused_without():
    s = surface()
    samples = [(m, n, m * n / s.speeds[i, j]) for i, m in enumerate(s.heights)
               for j, n in enumerate(s.widths)]  # fmt: skip
    np.testing.assert_allclose(fit_surface(reversed(samples)).speeds, s.speeds, rtol=1e-12)
    with pytest.raises(InputError, match="3 x 5 is missing"):
        fit_surface([x for x in samples if x[:2] != (3, 5)])
    with pytest.raises(InputError, match="two samples of 1 x 2"):
        fit_surface([*samples, samples[0]])
    with pytest.raises(InputError, match="at least one"):
        fit_surface([])
    with pytest.raises(InputError, match="not a valid sample of a surface:"):
        fit_surface([(1, 2, 0)])
    with pytest.raises(InputError, match="do not fit"):
        SpeedSurface(s.heights, s.widths, s.speeds.T)
    with pytest.raises(InputError, match="heights must be above zero and strictly increase"):
        SpeedSurface(s.heights[::-1], s.widths, s.speeds)
