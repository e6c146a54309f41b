"""Grids, their ends, the search for where memory ends."""

import math

import pytest

from evener.errors import UsageError
from evener.measuring.devices import MeasuredDevice, devices_of
from evener.measuring.loads import NEAR, GridPlan, fixed_grid, geometric_grid, range_of
from evener.measuring.outcomes import Gap, Point
from evener.platforms.models.samples import Sample


def follow(plan, answer):
    asked = []
    while (load := plan.next()) is not None:
        assert load == plan.next()  # asking changes nothing
        asked.append(load)
        plan.add(answer(load))
    return asked


def fine(load):
    return Point(Sample(load, 1.0))


def test_grids():
    assert fixed_grid(10, 30, 3) == [10, 20, 30]
    assert geometric_grid(1, 1000, 4) == [1, 10, 100, 1000]
    assert geometric_grid(1, 4, 9) == [1, 2, 3, 4]  # whole loads, once each
    assert follow(GridPlan([5, 1, 5]), fine) == [1, 5]


@pytest.mark.parametrize("text", ["", "1e3", "5:2", "0:9", "nan:3", "a:b", "1:2:3", "1:1e300"])
def test_ranges_that_are_none(text):
    with pytest.raises(UsageError, match="LOW:HIGH"):
        range_of(text)


def test_range():
    assert range_of("1e3:1e6") == (1000, 1_000_000)
    assert range_of("7:7") == (7, 7)


def test_the_capacity_is_found_between_what_fits_and_what_does_not():
    plan = GridPlan([10, 100, 1000, 10_000])
    asked = follow(plan, lambda x: fine(x) if x <= 300 else Gap(x, "memory", ""))
    assert asked[:3] == [10, 100, 1000]
    assert 10_000 not in asked
    assert 300 / NEAR < plan.ceiling.capacity <= 300
    assert plan.left_out == [10_000]


def test_nothing_fits():
    plan = GridPlan([10, 100])
    assert follow(plan, lambda x: Gap(x, "memory", "")) == [10]
    assert plan.ceiling.capacity == math.inf


def test_beyond_what_is_too_slow_nothing_is_tried():
    plan = GridPlan([10, 100, 1000])
    asked = follow(plan, lambda x: Point(Sample(x, 1.0, status="ok" if x < 100 else "slower")))
    assert asked == [10, 100]
    assert follow(GridPlan([1, 2, 3]), lambda x: Point(Sample(x, 1.0), slow=x == 2)) == [1, 2]


def test_a_load_that_fails_is_a_gap_and_no_more():
    asked = follow(GridPlan([1, 2, 3]), lambda x: Gap(x, "raised", "") if x == 2 else fine(x))
    assert asked == [1, 2, 3]


def test_a_device_that_vanishes_again_and_again_is_given_up():
    plan = GridPlan(range(1, 50))
    asked = follow(plan, lambda x: fine(x) if x < 5 else Gap(x, "lost", ""))
    assert asked == [1, 2, 3, 4, 5, 6, 7]
    assert plan.ceiling.given_up


def test_devices_by_name(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(8)), raising=False)
    cores = range(8)
    assert devices_of(None, [0, 2]) == [
        MeasuredDevice("cpu0", cpus=(0,)), MeasuredDevice("cpu2", cpus=(2,))
    ]  # fmt: skip
    cpu, pair, gpu = devices_of("cpu0, cpu1-3,cuda0", cores)
    assert (cpu.cpus, pair.cpus, gpu.cpus) == ((0,), (1, 2, 3), (4,))
    assert devices_of("cuda1@cpu5", cores) == [MeasuredDevice("cuda1", "cuda", (5,), 1)]


@pytest.mark.parametrize(
    "text", ["", "core0", "cpu3-1", "cpu0,cpu0", "cpu0-2,cpu2", "cpu9", "cuda0,cuda0", "cpu0,"]
)
def test_devices_that_are_none(text, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1, 2, 3}, raising=False)
    with pytest.raises(UsageError, match="--device"):
        devices_of(text, range(4))
