"""Doubt between samples: none where a straight line is sure, the whole step at a jump."""

import math

import numpy as np
import pytest

from evener.measuring.adaptive import doubts_between
from evener.platforms.models.fitting import Piecewise
from evener.platforms.models.samples import Sample


def sampled(loads, speeds, noise=0.0):
    return [
        Sample(x, x / s, noise * x / s) for x, s in zip(loads, speeds, strict=True)
    ]  # fmt: skip


def test_equal_speeds_or_equal_times_leave_none():
    assert doubts_between(sampled([1, 10, 100], [5, 5, 5])) == pytest.approx([0, 0])
    assert doubts_between(sampled([1, 10, 100], [1, 10, 100])) == pytest.approx([0, 0])


def test_a_jump_may_be_anywhere_between():
    doubts = doubts_between(sampled([1, 10, 100, 1000], [25, 25, 1, 1]))
    assert doubts[1] > math.log(25) - 1
    assert doubts[[0, 2]] == pytest.approx([0, 0])


def test_noise_is_no_doubt():
    assert doubts_between(sampled([1, 10, 100], [5, 5.2, 4.9], 0.05)) == pytest.approx([0, 0])


def test_on_smooth_curves_it_is_about_the_error():
    loads = np.geomspace(1, 1e4, 9)
    speeds = 1 / (1 + 20 / loads)  # a launch of 20 s
    doubts = doubts_between(sampled(loads, speeds))
    model = Piecewise(loads, speeds)
    for doubt, low, high in zip(doubts, loads[:-1], loads[1:], strict=True):
        between = np.geomspace(low, high, 30)
        error = np.abs(np.log(model.time(between) / (between + 20))).max()
        assert error / 4 < doubt + 0.01
        assert doubt < 8 * error + 0.01
