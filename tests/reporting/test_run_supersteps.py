"""The chart of supersteps: heights in proportion, outliers cut off, many in few columns."""

import re
from dataclasses import replace

import numpy as np

from evener.reporting.run_supersteps import COLUMNS, LEFT, RIGHT, ROW, WIDTH, superstep_chart
from evener.running.engine.recording import Superstep
from evener.running.program_run import ProgramRun


def run_of(edges, seconds=None, first=0):
    """A run of one device, whose supersteps look at so many arcs."""
    seconds = np.full(len(edges), 1e-3) if seconds is None else seconds
    steps = []
    for count, took in zip(edges, seconds, strict=True):
        step = Superstep(edges=int(count), sent=8)
        step.add("computing", 0.0, float(took))
        steps.append(step)
    return ProgramRun(np.zeros(1), (tuple(steps),), 1.0, first)


def bars(row):
    """Heights and right ends of a row's bars."""
    pairs = re.findall(r"V([\d.]+)H([\d.]+)", row.path)
    return [row.floor - float(y) for y, _ in pairs], [float(x) for _, x in pairs]


def test_heights_are_in_proportion():
    chart = superstep_chart(run_of([10, 40, 40, 20]))
    seconds, arcs, sent = chart.rows
    heights, ends = bars(arcs)
    np.testing.assert_allclose(heights, [ROW / 4, ROW, ROW / 2], atol=0.06)
    across = (WIDTH - LEFT - RIGHT) / 4
    np.testing.assert_allclose(ends, LEFT + across * np.array([1, 3, 4]), atol=0.06)
    assert (arcs.most, sent.most, seconds.most) == ("40", "8 B", "1.00 ms")


def test_one_long_superstep_does_not_hide_the_others():
    seconds = np.full(100, 1e-3)
    seconds[7] = 1.0
    row = superstep_chart(run_of(np.ones(100), seconds)).rows[0]
    heights, _ = bars(row)
    assert row.most == "1.50 ms"
    np.testing.assert_allclose(sorted(set(heights)), [ROW / 1.5, ROW], atol=0.06)


def test_many_supersteps_share_columns_and_numbers_go_on_from_a_checkpoint():
    draw = np.random.default_rng(0)
    chart = superstep_chart(run_of(draw.integers(1, 1000, 5000), first=100))
    heights, ends = bars(chart.rows[1])
    assert len(heights) <= COLUMNS
    assert max(ends) == WIDTH - RIGHT
    assert chart.ticks[0] == (LEFT, "100")


def test_a_run_that_did_nothing_has_no_heights():
    still = run_of([0, 0], np.zeros(2))
    still = replace(still, steps=(tuple(replace(one, sent=0) for one in still.steps[0]),))
    assert all(set(bars(row)[0]) == {0.0} for row in superstep_chart(still).rows)
