"""Bars of a stream plan's page: as long as loads that are counted slowly."""

import numpy as np
import pytest

from evener.planning.stream import MapOptions, counted, map_filters, problem_of
from evener.reporting.stream_report import classes_of, link_bars, load_charts
from tests.streams.twins import slow_loads, small_case


@pytest.fixture(scope="module")
def plan():
    problem = small_case(5, n=9, k=4)
    return map_filters(problem.graph, problem.processors.platform, MapOptions("greedy"))


def test_bars_are_as_long_as_loads(plan):
    charts = load_charts(plan, counted(plan, problem_of(plan)), [""] * plan.platform.k)
    loads = slow_loads(problem_of(plan), plan.part)
    scale = 100 / (1.02 * plan.period)
    for bar in charts.bars:
        assert bar.compute == pytest.approx(loads[bar.number, 0] * scale, abs=0.01)
        assert bar.communicate == pytest.approx(loads[bar.number, 1] * scale, abs=0.01)
    assert [bar.name for bar in charts.bars if bar.is_last] == [plan.bottleneck]
    assert charts.classes == []


def test_classes_of_loads_count_devices():
    loads, counts = np.array([0, 0.1, 0.11, 1.0, 0.95, 0.05]), np.array([0, 1, 1, 1, 2, 1])
    bars = {bar.name: bar.text for bar in classes_of(loads, counts, 1.0)}
    wanted = {"no filter": "1", "0 to 10 %": "2", "10 to 20 %": "1", "90 to 100 %": "2"}
    assert {name: text for name, text in bars.items() if text != "0"} == wanted


def test_links_are_those_that_carry_longest_first(plan):
    period = counted(plan, problem_of(plan))
    bars = link_bars(period)
    assert 0 < len(bars) == (period.links > 0).sum()
    assert bars[0].name == period.link_names[int(np.argmax(period.links))]
    assert [bar.bar for bar in bars] == sorted((bar.bar for bar in bars), reverse=True)
