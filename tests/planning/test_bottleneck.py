"""What limits a partition, by hand; and that every change is what a changed machine says."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evener as ev
from evener.graphs.generating.delaunay import delaunay
from evener.planning.bottleneck import bottleneck_of
from evener.planning.evaluate import evaluate
from evener.plans import metrics
from evener.plans.partition import Contract, Partition
from evener.plans.workload import Workload
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.platform import Connection, Device, Level, Link, Platform
from tests.assertions import grid
from tests.examples import with_examples


def judged(graph, part, platform, workload):
    k = platform.k
    contract = Contract(np.full(k, 1.0), np.zeros(k), np.full(k, 1e9))
    return evaluate(graph, Partition(np.asarray(part), k), platform, contract, workload=workload)


def shared_tree():
    levels = (Level("net", Link(1.0, 0.5), shared=True), Level("node", Link(0.25, 0.125)))
    devices = [Device(f"cpu{b}", 2.0, at="x") for b in range(2)]
    devices += [Device("gpu0", 4.0, at="y", fixed_seconds=2.0), Device("gpu1", 4.0, at="y")]
    return Platform(tuple(devices), levels)


COLUMNS = np.tile([0, 2, 1, 3], 3)  # of a 3 x 4 grid, so that all borders cross the network


def test_where_the_time_goes():
    workload = Workload("w", bytes_per_value=1.0)
    limits = bottleneck_of(
        judged(grid(3, 4), COLUMNS, shared_tree(), workload), shared_tree(), workload
    )
    # Three borders of three values each way: 18 values x 0.5 s on each uplink. cpu1 and gpu0
    # sit in the middle: 2 x (1 + 6 x 0.5) = 8 s of their own, 1 s of waiting. The first message is
    # posted after 3.5 s, when cpu1 has computed for 1.5 s; gpu0 could begin 0.75 s sooner.
    assert limits.device == "gpu0"
    assert limits.compute == 0.75
    assert (limits.latency, limits.transfer, limits.waiting) == (2.0, 6.0, 1.0)
    assert limits.fixed == 2.0
    assert limits.delay == 0.75
    assert limits.seconds == 12.5
    assert (limits.next_device, limits.next_seconds) == ("cpu0", 10.5)
    assert limits.link == "y - net"
    texts = {change.text: change.seconds for change in limits.changes}
    assert texts["a separate link for each pair at level net"] == 10.75
    assert texts["twice the bandwidth of level net"] == 8.0  # 3.5 and 18 x 0.25
    assert texts["half the latency of level net"] == 11.5  # 2.5 and 18 x 0.5
    # The shared link is what lasts: gpu0 has time for its fixed seconds.
    assert "half the fixed seconds" not in texts
    assert list(texts.values()) == sorted(texts.values())


@with_examples(30)
@given(st.integers(0, 2**31), st.booleans(), st.booleans())
def test_changes_are_predictions_of_changed_machines(seed, overlap, curved):
    rng = np.random.default_rng([7_315, seed])
    curve = DeviceSpeeds("a", (Sample(1.0, 1.0), Sample(8.0, float(rng.uniform(2, 20)))))
    devices = (
        Device("a0", 1.0, curve=curve if curved else None),
        Device("a1", float(rng.uniform(1, 4))),
        Device("b", float(rng.uniform(1, 4))),
    )
    links = tuple(
        Connection((name, "hub"), Link(*rng.uniform(0, 0.5, 2)), bool(rng.integers(2)))
        for name in ("a0", "a1", "b")
    )
    platform = Platform(devices, connections=links)
    graph, part = grid(4, 5), rng.integers(0, 3, 20)
    workload = Workload("w", 1.0, 2.0, bytes_per_value=2.0, overlap=overlap)
    limits = bottleneck_of(judged(graph, part, platform, workload), platform, workload)
    assert all(0 < change.seconds < 0.995 * limits.seconds for change in limits.changes)
    texts = {change.text: change.seconds for change in limits.changes}

    def predicted(changed=platform, does=workload):
        return metrics.predicted_seconds(graph, Partition(part, 3), changed, does).makespan

    assert limits.seconds == pytest.approx(predicted(), rel=1e-9)
    wider = replace(links[0], link=Link(links[0].link.alpha, links[0].link.beta / 2))
    halved = replace(curve, samples=tuple(replace(s, seconds=s.seconds / 2) for s in curve.samples))
    faster = replace(devices[0], speed=2.0, curve=halved if curved else None)
    for text, seconds in (
        ("twice the bandwidth of a0 - hub",
         predicted(replace(platform, connections=(wider, *links[1:])))),
        ("twice the speed of a0", predicted(replace(platform, devices=(faster, *devices[1:])))),
        ("half the bytes per value", predicted(does=replace(workload, bytes_per_value=1.0))),
        ("overlap communication with computation", predicted(does=replace(workload, overlap=True))),
    ):  # fmt: skip
        expected = seconds if seconds < 0.995 * limits.seconds else None
        assert texts.get(text) == (None if expected is None else pytest.approx(expected))


def filled(memory=None, units=None):
    """A grid of 3 x 4 on a fast device, full with four vertices, and a slow one that has eight."""
    fast = Device("gpu", 4.0, memory=memory, memory_units=units)
    platform = Platform((fast, Device("cpu", 1.0)), (Level("net", Link(0.25, 0.0)),))
    return judged(grid(3, 4), np.repeat([0, 1], [4, 8]), platform, Workload("w")), platform


@pytest.mark.parametrize("by", ["units", "bytes"])
def test_full_memory_is_what_limits(by):
    one, platform = filled(units=4.0)
    if by == "bytes":
        one, platform = filled(memory=float(one.certificate.bytes[0]))
    limits = bottleneck_of(one, platform)
    assert limits.seconds == 8.25
    texts = {change.text: change.seconds for change in limits.changes}
    assert texts["twice the memory of gpu (sizes recomputed)"] == pytest.approx(4.25, rel=1e-3)
    one, platform = filled(units=5.0)  # room for one more: nothing is full
    assert not any("memory" in change.text for change in bottleneck_of(one, platform).changes)


def test_more_memory_brings_what_a_new_plan_with_it_takes():
    graph = delaunay(1500, seed=3)
    cpus = tuple(Device(f"cpu{b}", 1e8) for b in range(3))
    plans = {}
    for share in (0.2, 0.4):
        fast = tuple(Device(f"gpu{b}", 8e8, memory=share * graph.total_bytes) for b in range(2))
        machine = Platform(fast + cpus, (Level("net", Link(5e-8, 1e-11)),))
        plans[share] = ev.plan(
            graph, machine, ev.PlanOptions(objective="seconds", preset="fast", threads=1)
        )
    small = plans[0.2]
    changes = bottleneck_of(small.evaluation, small.platform).changes
    texts = {change.text: change.seconds for change in changes}
    said, real = (
        texts["twice the memory of both gpu devices (sizes recomputed)"],
        plans[0.4].prediction,
    )
    assert said == pytest.approx(real.makespan, rel=0.1)
    assert "twice the memory of gpu0 (sizes recomputed)" in texts


def test_what_has_nothing_to_do_is_not_next():
    platform = Platform((Device("a", 1.0), Device("b", 1.0)), (Level("net", Link(1.0, 0.0)),))
    limits = bottleneck_of(judged(grid(3, 4), np.zeros(12), platform, Workload("w")), platform)
    assert (limits.device, limits.next_device, limits.next_seconds) == ("a", "", None)


def test_one_device_and_no_links():
    platform = Platform.flat([2.0])
    limits = bottleneck_of(judged(grid(3, 4), np.zeros(12), platform, Workload("w")), platform)
    assert limits.next_seconds is None
    assert [(c.text, c.seconds) for c in limits.changes] == [("twice the speed of dev0", 3.0)]


def test_only_levels_that_messages_pass_are_looked_at():
    levels = tuple(Level(f"l{i}", Link(1e-3 * (i + 1), 0.5), shared=i == 2) for i in range(60))
    places = ("a", "/".join("b" * 59), "/".join("b" * 59))
    devices = tuple(Device(f"d{i}", 1.0, at=at) for i, at in enumerate(places))
    platform = Platform(devices, levels)
    workload = Workload("w")
    one = judged(grid(3, 4), np.repeat([0, 1, 2], 4), platform, workload)
    said = [change.text for change in bottleneck_of(one, platform, workload).changes]
    named = {text.split()[-1] for text in said if "level" in text}
    assert named <= {"l0", "l2", "l59"}
    assert "l0" in named
