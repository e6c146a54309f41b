"""Intervals of means and ratios, and what they decide."""

import numpy as np
import pytest

from papers.intervals import (
    NOTHING,
    Interval,
    all_of,
    geometric_mean,
    half_width,
    interval_of,
    mean_of,
    share_of,
)


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
    assert tuple(map(np.isnan, geometric_mean([]))) == (True, True, True)


def test_all_three_numbers_are_written_alike():
    assert f"{geometric_mean([0.5, 1.0, 2.0])}" == "1.00 (0.18 to 5.59)"
    assert f"{Interval(2, 1, 3):.0f}" == "2 (1 to 3)"
    assert f"{geometric_mean([3.0]):.1f}" == "3.0 (no interval)"
    assert f"{NOTHING}" == "nan (no interval)"


def test_the_interval_of_a_share_is_wilsons():
    """8 of 10: 0.490 to 0.943, as tables of it have."""
    assert share_of(8, 10) == pytest.approx((0.8, 0.4902, 0.9433), abs=1e-4)
    assert share_of(0, 4).low == 0.0
    assert share_of(4, 4).high == 1.0
    assert np.isnan(share_of(0, 0).value)


@pytest.mark.parametrize(
    ("one", "within"),
    [
        (Interval(2.0, 1.5, 2.5), False), (Interval(1.0, 0.5, 1.5), None),
        (Interval(1.0, 1.0, 1.0), True), (NOTHING, None), (geometric_mean([1.0]), None),
    ],
)  # fmt: skip
def test_an_interval_lies_within_two_figures_or_not(one, within):
    assert one.within(1, 1) is within


def test_figures_are_compared_by_their_intervals():
    low, high, both = Interval(1, 0, 2), Interval(4, 3, 5), Interval(2, 1, 4)
    assert [low.less(high), high.less(low), low.less(both)] == [True, False, None]
    assert [all_of([True, True]), all_of([True, None]), all_of([None, False])] == [
        True, None, False,
    ]  # fmt: skip
