"""Ranges of steady relative speed, splines, and ratios of sides."""

import numpy as np
import pytest

from evener.platforms.models.fitting import Constant, Piecewise
from evener.sizing.tiling.cuts import best_columns
from papers.cla14.models import (
    _one_column,
    applicable,
    models,
    ranges,
    ratios_of_columns,
    shapes,
    spline_row,
    splines,
)
from papers.cla14.surfaces import surfaces_of_lille
from papers.findings import FindingVerdict


def test_constant_speeds_are_steady_everywhere_and_a_drop_ends_the_range():
    assert ranges([Constant(1.0), Constant(5.0)])["common"] == 1.0
    loads = np.array([1.0, 99.9, 100.1, 1e4])
    drop = Piecewise(loads, np.array([8.0, 8.0, 1.0, 1.0]))
    flat = Piecewise(loads, np.full(4, 3.0))
    assert ranges([drop, flat])["common"] == pytest.approx(0.5, abs=0.02)
    late = Piecewise(np.array([1.0, 9.99, 10.01, 1e4]), np.array([1.0, 1.0, 9.0, 9.0]))
    found = ranges([drop, flat, late])
    assert found["common"] == 0 < found["least"]


def test_cubic_splines_overshoot_at_a_drop_and_akimas_do_not():
    drop = Piecewise(np.array([1.0, 50.0, 55.0, 100.0]), np.array([9.0, 9.0, 1.0, 1.0]))
    row = spline_row("drop", drop)
    assert row["cubic_overshoot"] > 0.05
    assert row["akima_overshoot"] < 1e-6
    assert row["akima_reach"] < row["cubic_reach"]
    assert splines([row]).judged is FindingVerdict.HELD
    worse = row | {"akima_overshoot": 1.0, "akima_reach": 1.0}
    assert splines([worse]).verdict is FindingVerdict.NOT_HELD


def test_columns_of_least_half_perimeter_are_nearly_square():
    nodes = surfaces_of_lille()[:1]
    ratios, slices = ratios_of_columns(best_columns), ratios_of_columns(_one_column)
    assert np.median(np.abs(np.log(ratios))) < 0.2
    assert slices.max() < 0.2
    assert [c.met for c in shapes(nodes, ratios).criteria] == [True, True, True]
    assert [c.met for c in shapes(nodes, slices).criteria] == [False, True, True]


def test_one_speed_suffices_for_less_where_devices_differ():
    steady = {"least": 1.0, "most": 1.0, "common": 1.0}
    narrow = {"least": 0.3, "most": 0.8, "common": 0.1}
    met = [[c.met for c in applicable({"multi-cores": a, "with GPUs": b}).criteria]
           for a, b in ((narrow, narrow), (steady, narrow), (steady, steady))]  # fmt: skip
    assert met == [[True, True], [False, False], [False, False]]


def test_what_is_not_tried_says_why():
    last = models().findings[-1]
    assert last.verdict is FindingVerdict.NOT_TRIED
    assert "trace" in last.lacking
