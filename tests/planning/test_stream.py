"""Stream plans: made, written, read back; notes on what is odd."""

import dataclasses

import numpy as np
import pytest

from evener.errors import InputError, UsageError
from evener.graphs.stream_graph import StreamGraph
from evener.io.plans.stream_plan import read_stream_plan, write_stream_plan
from evener.partitioning.external import metis
from evener.planning.stream import MapOptions, counted, map_filters, problem_of
from evener.platforms.device import Connection, Device, Link
from evener.platforms.platform import Platform
from evener.streams.readings import CostReading


def platform_of(beta=1e-9):
    names = ("a", "b", "c", "d")
    devices = tuple(Device(name, 1.0, capabilities={"mips": 1.0}) for name in names)
    hub = tuple(Connection((name, "hub"), Link(0.0, beta)) for name in names[:-1])
    return Platform(devices, (), (*hub, Connection(("hub", "d"), Link(0.0, beta))))


def graph_of(n=4):
    names = tuple(f"f{i}" for i in range(n))
    ends = np.arange(n - 1)
    return StreamGraph(names, np.full(n, 1e6), np.ones(n), ends, ends + 1, np.full(n - 1, 10.0))


@pytest.fixture(scope="module")
def plan():
    return map_filters(graph_of(), platform_of(), MapOptions("greedy"), CostReading(overlap=True))


def test_a_plan_says_what_an_iteration_takes(plan):
    assert plan.period == 1.0 == plan.bound
    assert sorted(plan.part.tolist()) == [0, 1, 2, 3]
    assert plan.loads[plan.platform.names.index(plan.bottleneck)] == plan.period
    assert plan.used == 4
    assert plan.verdict().startswith("Period 1.00 s, 1.00 of its lower bound")
    assert set(plan.links) == {"a - hub", "b - hub", "hub - c", "hub - d"} or plan.links
    assert plan.options["method"] == "greedy"


def test_a_link_that_is_busier_than_every_device_is_named():
    """Three senders share the hub's link to the receiver; each pays for its own bytes."""
    graph = StreamGraph(
        ("x", "y", "z", "sink"), [5e5, 5e5, 5e5, 1], [1, 1, 1, 1], [0, 1, 2], [3, 3, 3],
        [4e5, 4e5, 4e5],
    )  # fmt: skip
    plan = map_filters(
        graph, platform_of(1e-6), MapOptions("round-robin"), CostReading(pays="sender")
    )
    assert plan.part.tolist() == [0, 1, 2, 3]
    assert max(plan.links.values()) == pytest.approx(1.2)
    assert plan.period == pytest.approx(1.3)
    slower = dataclasses.replace(graph, nbytes=np.full(3, 5e5), scalar=np.full(4, 1e5))
    said = map_filters(
        slower, platform_of(1e-6), MapOptions("round-robin"), CostReading(pays="sender")
    ).notes
    assert any("hub" in note and "is busy for longer" in note for note in said)


def test_what_a_plan_says_is_counted_again(plan):
    assert counted(plan, problem_of(plan)).seconds == plan.period
    for change in ({"period": 0.5}, {"computing": np.ones(4) * 2}, {"part": plan.part * 0}):
        with pytest.raises(InputError, match="states a period of"):
            counted(dataclasses.replace(plan, **change), problem_of(plan))
    for options in ({}, {**plan.options, "compute": "cail"}, {**plan.options, "pays": ["both"]}):
        with pytest.raises(InputError, match="invalid options"):
            problem_of(dataclasses.replace(plan, options=options))


@pytest.mark.parametrize("wrong", [{"seconds": 0.0}, {"seed": -1}])
def test_options_that_cannot_be(wrong):
    with pytest.raises(UsageError):
        MapOptions(**wrong)


def test_copies_are_written_and_read_with_their_plan(monkeypatch, tmp_path):
    """100 data of 10^4 instructions each take 1 s on one device of 1 MIPS, 0.25 s on four."""
    monkeypatch.setattr(metis, "missing", lambda: "not wanted")
    graph = StreamGraph(("x", "y"), [1e4, 10], [100, 1], [0], [1], [8.0])
    plan = map_filters(graph, platform_of(), MapOptions(replicate=True))
    assert plan.bound <= plan.period < 0.26
    assert plan.names[:4] == ("x 1/4", "x 2/4", "x 3/4", "x 4/4")
    assert plan.copy_of.tolist() == [0, 0, 0, 0, 1]
    assert plan.verdict().endswith("1 filter in copies.")
    write_stream_plan(tmp_path / "x.plan", plan)
    again = read_stream_plan(tmp_path / "x.plan")
    assert again.copy_of.tolist() == plan.copy_of.tolist()
    assert counted(again, problem_of(again)).seconds == plan.period
    alone = map_filters(graph_of(1), platform_of(), MapOptions(replicate=True))
    assert alone.copy_of is None
    with pytest.raises(UsageError, match="copies of filters need --method ours"):
        MapOptions("greedy", replicate=True)


def test_a_cycle_that_sets_the_period_is_noted():
    graph = StreamGraph(
        ("x", "y"), [1e6, 1e6], [1, 1], [0, 1], [1, 0], [0.0, 0.0], tokens=[0.0, 1.0]
    )
    plan = map_filters(graph, platform_of(), MapOptions("round-robin", bound="strong"))
    assert plan.period == pytest.approx(2.0)
    assert plan.loads.max() == pytest.approx(1.0)
    assert any("A cycle of filters takes 2.00 s" in note for note in plan.notes)
    assert counted(plan, problem_of(plan)).cycle == pytest.approx(2.0)
