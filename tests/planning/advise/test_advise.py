"""Advice is what plans of all sets of devices would give."""

from dataclasses import replace

import numpy as np
import pytest

from evener.errors import InfeasibleError, UsageError
from evener.graphs.generating.delaunay import delaunay
from evener.planning.advise.advise import advise
from evener.planning.advise.choices import SAME
from evener.planning.advise.set_plans import SetPlanner
from evener.planning.device_sets.sets import search_sets
from evener.planning.in_memory import plan
from evener.planning.options import PlanOptions
from evener.platforms.platform import Device, Level, Link, Platform
from tests.assertions import grid

GRAPH = delaunay(1500, seed=11)
FAST = PlanOptions(preset="fast")


def machine(speeds, alpha, *, nodes=2, fixed=0.0, **more):
    devices = tuple(
        Device(f"d{i}", float(s), at=f"n{i % nodes}", fixed_seconds=fixed, **more)
        for i, s in enumerate(speeds)
    )
    return Platform(devices, (Level("cluster", Link(alpha, 1e-9)), Level("node", Link(alpha / 4))))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("speeds", "alpha"),
    [([4e7, 1e7, 1e7, 1e7, 1e7], 3e-6), ([3e7, 2e7, 2e7, 1e6, 1e6], 1.5e-6), ([1e7] * 5, 2e-7)],
)
def test_no_set_of_devices_has_a_better_plan(speeds, alpha):
    platform = machine(speeds, alpha, fixed=1e-6)
    advice = advise(GRAPH, platform, FAST)
    planner = SetPlanner(GRAPH, platform, FAST)
    found = search_sets(planner.estimator)
    every = found.estimate((np.arange(1, 32)[:, None] >> np.arange(5)) & 1 == 1)
    plans = [planner.plan(one).seconds for one in every]
    masks = np.arange(1, 32)[:, None] >> np.arange(5) & 1 == 1
    bounds = planner.estimator.bounds(masks, connected=True)
    assert (bounds <= plans).all()
    # Plans of sets of devices alike differ by their partitions: by less than 2 % here.
    assert advice.best.seconds <= 1.02 * min(plans)
    assert advice.best.seconds <= SAME * plan(GRAPH, platform, FAST).prediction.makespan
    assert advice.best.seconds <= advice.everyone.seconds
    assert advice.best.planned
    assert advice.everyone.planned


def test_a_verdict_names_every_device_that_is_left_out():
    few = advise(GRAPH, machine([1e7, 5e7, 1e7], 1e-3), FAST)
    names = [f"n{i}" if i % 2 else f"m{i}" for i in range(0, 40, 3)]  # of which none follow
    platform = Platform(tuple(Device(name, 1.0) for name in names))
    chosen = [replace(few.best, devices=np.arange(count)) for count in (7, 14)]
    advice = replace(few, platform=platform, best=chosen[0], everyone=chosen[1])
    assert all(name in advice.verdict() for name in advice.left_out)
    assert " more" not in advice.verdict()


def test_dear_messages_leave_one_device_and_say_so():
    advice = advise(GRAPH, machine([1e7, 5e7, 1e7], 1e-3), FAST)
    assert advice.best.devices.tolist() == [1]
    assert advice.left_out == ["d0", "d2"]
    assert advice.gain > 10
    assert advice.verdict().startswith("Use d1 alone, leave the other 2 out: ")
    assert advice.knee.devices.tolist() == [1]
    assert [one.devices.size for one in advice.choices] == [1, 2, 3]


def test_free_messages_use_all_and_the_knee_needs_fewer():
    advice = advise(GRAPH, machine([1e7, 1e7, 1e7, 1e5], 0.0, nodes=1), FAST)
    assert advice.knee.devices.tolist() == [0, 1, 2]
    assert not advice.nodes
    assert advice.best.efficiency > 0.9
    assert advice.best.speed_up == pytest.approx(3, rel=0.1)


def test_one_device_is_used():
    advice = advise(GRAPH, machine([1e7], 1e-6, nodes=1), FAST)
    assert advice.verdict() == "There is one device: use it."
    assert advice.best.seconds == pytest.approx(1500 / 1e7)


@pytest.mark.parametrize(("k", "said"), [(2, "both devices"), (3, "all 3 devices")])
def test_where_no_device_is_left_out(k, said):
    few = advise(GRAPH, machine([1e7, 5e7, 1e7], 1e-3), FAST)
    platform = Platform.flat([1.0] * k)
    advice = replace(few, platform=platform, best=replace(few.best, devices=np.arange(k)))
    assert advice.verdict() == f"Use {said}: no smaller set is faster."


def test_a_slow_device_is_named():
    advice = advise(GRAPH, machine([2e7, 2e7, 2e7, 1e3], 1e-6, nodes=1), FAST)
    assert advice.best.devices.tolist() in ([0, 1, 2], [0, 1], [0])
    assert "d3" in advice.left_out
    assert "times faster" in advice.verdict()


@pytest.mark.slow
def test_money_and_energy_are_of_a_thousand_iterations():
    platform = machine([1e7, 1e7], 0.0, nodes=1, cost_per_hour=3.6, watts=100.0)
    advice = advise(GRAPH, platform, FAST)
    (one,) = (choice for choice in advice.choices if choice.devices.size == 1)
    assert one.cost == pytest.approx(1000 * 1.5e-4 * 3.6 / 3600)
    assert one.energy == pytest.approx(1000 * 1.5e-4 * 100)
    one_unpriced = replace(platform, devices=(*platform.devices[:1], Device("d1", 1e7, at="n0")))
    advice = advise(GRAPH, one_unpriced, FAST)
    assert advice.everyone.cost is None
    assert advice.everyone.energy is None


def test_whole_nodes_are_rows_of_their_own():
    advice = advise(GRAPH, machine([1e7, 1e7, 1e7, 1e7], 1e-7), FAST)
    assert [one.nodes for one in advice.nodes] == [1, 2]
    assert {tuple(one.devices % 2) for one in advice.nodes[:1]} <= {(0, 0), (1, 1)}


@pytest.mark.slow
def test_memory_is_kept_and_too_little_is_refused():
    platform = machine([1e7, 1e7, 1e7], 1e-3, nodes=1, memory_units=800.0)
    advice = advise(GRAPH, platform, FAST)
    assert advice.best.devices.size == 2
    assert [one.devices.size for one in advice.choices] == [2, 3]
    with pytest.raises(InfeasibleError):
        advise(GRAPH, machine([1e7, 1e7], 1e-6, memory_units=700.0), FAST)


def test_nothing_to_do_is_refused():
    with pytest.raises(InfeasibleError, match="weight zero"):
        advise(GRAPH.with_(vwgt=np.zeros(GRAPH.n)), machine([1e7, 1e7], 1e-6), FAST)


def test_more_devices_than_vertices_cannot_all_be_used():
    advice = advise(grid(2, 2), machine([1e7] * 6, 1e-9), FAST)
    assert advice.everyone is None
    assert advice.best.devices.size <= 4
    assert advice.verdict()


def test_the_best_set_has_a_row_where_not_every_size_is_looked_at():
    advice = advise(grid(11, 12), machine([1e5] * 160, 1e-12), FAST)
    assert advice.best.devices.size == 132
    assert advice.best in advice.choices
    sizes = [row.devices.size for row in advice.choices]
    assert sizes == sorted(set(sizes))


def test_several_weights_are_refused():
    graph = GRAPH.with_(vwgt=np.ones((GRAPH.n, 2), np.int64))
    with pytest.raises(UsageError, match="one weight per vertex"):
        advise(graph, machine([1e7, 1e7], 1e-6), FAST)


@pytest.mark.slow
def test_the_same_question_has_the_same_answer():
    platform = machine([3e7, 1e7, 1e7, 2e6], 1e-6)
    one, other = (advise(GRAPH, platform, FAST) for _ in range(2))
    assert [c.seconds for c in one.choices] == [c.seconds for c in other.choices]
