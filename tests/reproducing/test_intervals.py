"""Intervals of means and ratios, and what they decide."""

import numpy as np
import pytest

from evener.reproducing.intervals import Interval, geometric_mean, half_width, interval_of, mean_of


def test_an_interval_that_has_the_figure_inside_decides_nothing():
    one = Interval(2.0, 1.5, 2.5)
    assert (one.above(1.0), one.above(2.0), one.above(2.5)) == (True, None, False)
    assert (one.below(3.0), one.below(2.0), one.below(1.5)) == (True, None, False)
    ratio = one.over(Interval(1.0, 1.0, 1.0))
    assert tuple(ratio) == pytest.approx((2.0, 1.5, 2.5))
    assert one.over(one).above(1.0) is None
    assert mean_of([one, one]).low == pytest.approx(2 - 0.5 / 2**0.5)


def test_students_interval_of_three_values():
    """Of 1, 4, 7: sigma 3, Student's quantile with two degrees of freedom 4.303."""
    found = interval_of([1.0, 4.0, 7.0])
    assert found.value == 4
    assert found.high - 4 == pytest.approx(4.303 * 3 / 3**0.5, rel=1e-3)
    assert half_width(np.array([5.0])) == np.inf
    assert geometric_mean([1.0, 4.0]).value == pytest.approx(2)
    assert np.isnan(mean_of([]).value)
