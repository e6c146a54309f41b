"""Bars of times and loads: to scale, with the limits that bind and no others."""

from dataclasses import replace

import numpy as np
import pytest

from evener.reporting import bars
from tests.assertions import grid
from tests.reporting.conftest import machine, plan_of, stripes, without_links


def colours(plan):
    return [f"#{b:06x}" for b in range(plan.platform.k)]


def bars_of(plan):
    return bars.device_bars(plan, colours(plan))


def for_seconds(plan, **limits):
    """The plan as one for seconds: nothing binds but memory, devices may be unused."""
    certificate, k = plan.certificate, plan.platform.k
    most = np.full(k, certificate.weights.sum())
    fields = {"low": np.zeros(k), "high": most, "may_be_unused": True} | limits
    free = replace(certificate.contract, **fields)
    return replace(
        plan, evaluation=replace(plan.evaluation, certificate=replace(certificate, contract=free))
    )


def test_bars_are_to_scale(small_plan):
    plan, _ = small_plan
    found = bars_of(plan)
    weights = plan.certificate.weights
    for b, bar in enumerate(found.loads):
        assert bar.bar / found.loads[0].bar == pytest.approx(weights[b] / weights[0], abs=1e-3)
        assert bar.low <= bar.target <= bar.high <= 100
        assert bar.filled == pytest.approx(100 * plan.certificate.bytes[b] / 1e6, abs=0.06)
        assert bar.cap is None
    longest = plan.prediction.makespan
    assert [bar.is_last for bar in found.times].index(True) == plan.prediction.bottleneck
    for b, bar in enumerate(found.times):
        share = (bar.compute + bar.communicate) / found.bound
        assert share == pytest.approx(plan.prediction.seconds[b] / plan.prediction.bound, rel=1e-3)
        assert bar.compute + bar.communicate <= 100
    assert found.bound == pytest.approx(100 / 1.02 * plan.prediction.bound / longest, abs=0.01)
    assert [bar.name for bar in found.times] == plan.platform.names
    assert [bar.colour for bar in found.loads] == colours(plan)
    assert found.off == "off target"


def test_limits_are_shown_only_where_they_bind(small_plan):
    plan = for_seconds(small_plan[0])
    assert {(bar.low, bar.high) for bar in bars_of(plan).loads} == {(None, None)}
    assert bars_of(plan).off == "off optimum"
    assert max(bar.bar for bar in bars_of(plan).loads) > 90
    limited = for_seconds(plan, high=np.array([200.0, 480, 480, 480]))
    assert [bar.high is None for bar in bars_of(limited).loads] == [False, True, True, True]


def test_targets_that_are_the_loads_themselves_say_nothing(small_plan):
    """In plans for seconds of old; small_plan's targets are its loads."""
    plan = for_seconds(small_plan[0], may_be_unused=False)
    assert {bar.target for bar in bars_of(plan).loads} == {None}
    assert {bar.off for bar in bars_of(plan).loads} == {""}


def test_a_full_memory_is_marked_on_the_scale_of_loads():
    graph = grid(3, 400)
    memory = float(graph.vertex_bytes().sum()) / 4
    plan = plan_of(graph, stripes(3, 400, 4), machine(4, memory=1.0001 * memory), epsilon=0.5)
    for bar in bars_of(for_seconds(plan)).loads:
        assert bar.filled == pytest.approx(100, abs=1)
        assert bar.cap == pytest.approx(bar.bar, rel=0.01)
        assert "of" in bar.memory


def test_unused_devices_are_one_line():
    graph = grid(3, 40)
    names = [*(f"old{i}" for i in range(5)), "gpu0", "gpu1", "gpu2"]
    part = np.array([0, 5, 7])[stripes(3, 40, 3)]
    found = bars_of(plan_of(graph, part, machine(8, names=names), epsilon=0.5))
    assert found.unused == "5 devices unused: old1..old4 and gpu1"
    assert [bar.name for bar in found.times] == ["old0", "gpu0", "gpu2"]
    assert [bar.number for bar in found.loads] == [0, 5, 7]
    assert (found.used, found.shown) == (3, 3)


def test_of_many_devices_those_that_press_are_shown():
    graph = grid(3, 410)
    platform = machine(200, speeds=(1.0, 2.0, 3.0))
    plan = plan_of(graph, stripes(3, 410, 200), platform, epsilon=0.5)
    found = bars_of(plan)
    assert len(found.times) == len(found.loads) == found.shown == bars.FOREMOST
    assert found.used == 200
    assert not any(bar.holds for bar in found.loads)  # more are broken than are shown
    seconds = plan.prediction.seconds[[bar.number for bar in found.times]]
    assert found.times[0].number == plan.prediction.bottleneck
    assert (np.diff(seconds) <= 0).all()


def test_unstated_links_are_no_exchange_and_small_speeds_no_seconds(small_plan):
    plan, _ = small_plan
    plan = without_links(plan)
    assert {bar.exchange for bar in bars_of(plan).times} == {"–"}
    assert all(bar.total.endswith("x") for bar in bars_of(plan).times)
