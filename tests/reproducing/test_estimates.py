"""Intervals by hand, and what they leave undecided."""

import math

import numpy as np
import pytest

from evener.reproducing.estimates import (
    Estimate,
    every,
    geometric,
    mean_of,
    ratio_of_means,
    share,
)


def test_the_interval_of_ratios_is_students_of_their_logarithms():
    """Of 1/2, 1 and 2: mean 1, deviation log 2, quantile 4.303 for two degrees of freedom."""
    found = geometric([0.5, 1.0, 2.0])
    half = 4.3027 * math.log(2) / math.sqrt(3)
    assert found == pytest.approx((1.0, math.exp(-half), math.exp(half)), rel=1e-4)
    assert f"{found:.2f}" == "1.00 (0.18 to 5.59)"
    one = geometric([3.0])
    assert (one.value, one.low, one.high) == (pytest.approx(3.0), 0.0, math.inf)
    assert f"{one:.1f}" == "3.0 (no interval)"
    assert math.isnan(geometric([]).value)


def test_the_interval_of_a_share_is_wilsons():
    """8 of 10: 0.490 to 0.943, as tables of it have."""
    assert share(8, 10) == pytest.approx((0.8, 0.4902, 0.9433), abs=1e-4)
    assert share(0, 4).low == 0.0
    assert share(4, 4).high == 1.0
    assert math.isnan(share(0, 0).value)


def test_the_interval_of_the_ratio_of_means_covers_the_true_one():
    """Of 2,000 samples of 40 pairs whose means are 2 and 1, some 95 % of the intervals have 2."""
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(2000):
        common = rng.lognormal(0, 0.5, 40)
        found = ratio_of_means((2 * common * rng.uniform(0.5, 1.5, 40)).tolist(), common.tolist())
        hits += found.low < 2 < found.high
    assert 0.92 < hits / 2000 < 0.97


def test_ratios_and_means_of_independent_estimates():
    one, sure = Estimate(2.0, 1.5, 2.5), Estimate(0.5, 0.5, 0.5)
    assert one.over(sure) == pytest.approx((4.0, 3.0, 5.0))
    assert one.over(one).above(1) is None
    up, down = math.log(2.5 / 2), math.log(2 / 1.5)
    assert one.over(one).high == pytest.approx(math.exp(math.hypot(up, down)))
    assert one.over(geometric([3.0])).high == math.inf
    assert math.isnan(one.over(geometric([])).value)
    assert mean_of([one, one]) == pytest.approx((2, 2 - 0.5 / 2**0.5, 2 + 0.5 / 2**0.5))
    assert math.isnan(mean_of([]).value)


@pytest.mark.parametrize(
    ("estimate", "above", "below", "within"),
    [
        (Estimate(2.0, 1.5, 2.5), True, False, False),
        (Estimate(1.0, 0.5, 1.5), None, None, None),
        (Estimate(0.5, 0.4, 0.6), False, True, False),
        (Estimate(1.0, 1.0, 1.0), False, False, True),
        (Estimate(1.05, 1.0, 1.1), None, False, None),
        (Estimate(2.0, 0.0, math.inf), None, None, None),
        (geometric([]), None, None, None),
    ],
)
def test_a_bound_within_the_interval_leaves_it_undecided(estimate, above, below, within):
    assert estimate.above(1) is above
    assert estimate.below(1) is below
    assert estimate.within(1, 1) is within


def test_estimates_are_compared_by_their_intervals():
    low, high, both = Estimate(1, 0, 2), Estimate(4, 3, 5), Estimate(2, 1, 4)
    assert [low.less(high), high.less(low), low.less(both)] == [True, False, None]


def test_all_hold_where_none_fails_and_none_is_undecided():
    assert every([True, True]) is True
    assert every([True, None]) is None
    assert every([None, False]) is False
