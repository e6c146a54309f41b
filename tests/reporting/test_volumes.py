"""The chart of what blocks send."""

import numpy as np

from evener.reporting.volumes import HEIGHT, NAMED, volume_chart
from tests.assertions import grid
from tests.reporting.conftest import machine, plan_of, stripes


def test_bars_are_sorted_and_scaled(small_plan):
    plan, _ = small_plan
    chart = volume_chart(plan)
    volumes = plan.certificate.volumes
    assert chart.width == volumes.size
    heights = [bar.height for bar in chart.bars]
    assert heights == sorted(heights, reverse=True)
    assert heights[0] == HEIGHT
    assert chart.mean == round(HEIGHT * (1 - volumes.mean() / volumes.max()), 2)
    assert chart.outline == ""
    assert "the mean of 4 blocks" in chart.sentence


def test_many_blocks_are_one_outline():
    k = NAMED + 1
    graph = grid(2, 2 * k)
    chart = volume_chart(plan_of(graph, stripes(2, 2 * k, k), machine(k)))
    assert chart.bars == []
    assert chart.outline.count("h1") == k
    assert chart.outline.endswith(f"V{HEIGHT:g}z")


def test_one_block_sends_nothing():
    graph = grid(3, 4)
    assert volume_chart(plan_of(graph, np.zeros(12, int), machine(1))) is None
