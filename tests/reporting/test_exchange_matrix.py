"""The chart of what blocks send."""

import numpy as np

from evener.reporting.exchange_matrix import MAX_BARS, volume_chart
from tests.assertions import grid
from tests.reporting.conftest import machine, plan_of, stripes


def test_bars_are_named_sorted_and_scaled(small_plan):
    plan, _ = small_plan
    chart = volume_chart(plan, ["#000"] * 4)
    volumes, names = plan.certificate.volumes, plan.platform.names
    assert sorted((bar.name, bar.text) for bar in chart.bars) == sorted(
        (name, str(volume)) for name, volume in zip(names, volumes, strict=True)
    )
    lengths = [bar.bar for bar in chart.bars]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] == 100
    assert chart.mean == round(100 * volumes.mean() / volumes.max(), 2)
    assert "the mean of 4 blocks" in chart.sentence


def test_of_many_blocks_those_that_send_most_have_bars():
    k = 3 * MAX_BARS
    graph = grid(2, 2 * k)
    chart = volume_chart(plan_of(graph, stripes(2, 2 * k, k), machine(k)), [""] * k)
    assert len(chart.bars) == MAX_BARS
    assert chart.blocks == k


def test_one_block_sends_nothing():
    graph = grid(3, 4)
    assert volume_chart(plan_of(graph, np.zeros(12, int), machine(1)), [""]) is None
