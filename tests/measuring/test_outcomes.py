"""Means, intervals, outliers and drift of times made up."""

import math

import numpy as np
import pytest

from evener.measuring.outcomes import drift, half_width, slow_outliers, summarised


def test_the_interval_is_students():
    values = np.array([1.0, 1.2, 0.9, 1.1])
    t = 3.182446305284263  # of three degrees of freedom, 2.5 % beyond it, from a table
    assert half_width(values, 0.95) == pytest.approx(t * values.std(ddof=1) / 2)
    assert half_width(values[:1], 0.95) == math.inf


def test_the_interval_holds_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(5)
    samples = rng.normal(10.0, 1.0, (2000, 6))
    hits = [abs(s.mean() - 10.0) <= half_width(s, 0.9) for s in samples]
    assert 0.88 <= np.mean(hits) <= 0.92


def test_a_noisy_neighbour_is_set_aside_and_counted():
    rng = np.random.default_rng(6)
    times = rng.normal(1.0, 0.01, 30)
    times[[4, 17]] = 3.0
    summary = summarised(times, 0.95)
    assert (summary.outliers, summary.kept) == (2, 28)
    assert summary.mean == pytest.approx(1.0, abs=0.01)


def test_what_is_often_slow_is_no_outlier():
    assert not slow_outliers(np.array([1.0, 1.0, 1.0, 3.0, 3.0, 1.0, 3.0])).any()
    assert not slow_outliers(np.array([1.0, 1.0, 9.0])).any()  # too few to tell
    assert not slow_outliers(np.array([1.0, 1.0, 1.0, 1.0, 0.2])).any()  # fast is no neighbour's
    assert not slow_outliers(np.full(9, 2.0)).any()


def test_drift_is_told_from_chance():
    rng = np.random.default_rng(7)
    noise = rng.normal(0.0, 0.02, 40)
    assert drift(np.linspace(1.0, 1.3, 40) + noise) == pytest.approx(0.26, abs=0.04)
    found = [drift(1.0 + rng.normal(0.0, 0.02, 40)) != 0.0 for _ in range(200)]
    assert np.mean(found) < 0.05
    assert drift(np.array([1.0, 2.0, 3.0])) == 0.0
