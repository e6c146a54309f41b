"""Whether a run is rebalanced, by seconds that are stated here instead of measured."""

import numpy as np
import pytest

import evener as ev
from evener.errors import UsageError
from evener.graphs.generating.grid import grid
from evener.plans import metrics
from evener.rebalancing.run_rebalancer import RunRebalancer
from evener.running.moving import DeviceTimes

GRAPH = grid((40, 40))
SECONDS_PER_UNIT = 1e-5  # of computing, on a device that nothing slows down


def planned(speeds=(1.0, 1.0)):
    devices = tuple(ev.Device(f"cpu{i}", speed) for i, speed in enumerate(speeds))
    return ev.plan(GRAPH, ev.Platform(devices, ()))


def course(adviser, plan, slowness, *, supersteps=1, left=None, is_dense=True, asked=60, share=1.0):
    """Ask so often; return the moves, with when, on devices with these seconds of a unit."""
    part, moves = plan.partition.part, []
    degrees = np.diff(GRAPH.arcs_out().xadj)
    for number in range(asked):
        loads = np.bincount(part, minlength=plan.platform.k)
        arcs = np.bincount(part, degrees, plan.platform.k) * share * supersteps
        seconds = SECONDS_PER_UNIT * loads * share * supersteps * slowness(number)
        remaining = None if left is None else left - number * supersteps
        advice = adviser.observe(DeviceTimes(supersteps, remaining, seconds, arcs, is_dense, 1e-4))
        if advice is not None:
            moves.append((number, advice))
            part = advice.part
            adviser.moved(2e-3)
    return moves


def slows_down(number):
    return np.array([1.0, 1.0 if number < 30 else 2.0])


def test_a_device_that_slows_down_gives_up_load():
    plan = planned()
    ((number, advice),) = course(RunRebalancer(plan, GRAPH), plan, slows_down)
    assert 30 < number < 45
    loads = metrics.block_sizes(ev.Partition(advice.part, 2))
    assert loads[0] / loads[1] == pytest.approx(2, rel=0.1)
    assert advice.saving == pytest.approx(SECONDS_PER_UNIT * (1600 - 1067), rel=0.1)
    assert advice.cost > 0


@pytest.mark.parametrize("speeds", [(1.0, 20.0), (1e9, 2e10), (1e-3, 2e-2)])
def test_speeds_in_any_unit_are_scaled_to_the_first_seconds(speeds):
    """A machine said to be uneven, which is not: the same move in whatever unit."""
    plan = planned(speeds)
    (_, advice), *_ = course(RunRebalancer(plan, GRAPH), plan, lambda _: np.ones(2))
    loads = metrics.block_sizes(ev.Partition(advice.part, 2))
    assert loads[0] == pytest.approx(800, rel=0.05)


def test_devices_that_are_even_keep_their_vertices():
    plan = planned()
    assert course(RunRebalancer(plan, GRAPH), plan, lambda _: np.ones(2)) == []


def test_no_move_that_does_not_pay_before_the_end():
    plan = planned()
    late = RunRebalancer(plan, GRAPH)
    assert course(late, plan, slows_down, left=33, asked=33) == []
    assert course(RunRebalancer(plan, GRAPH), plan, slows_down, left=1000) != []


def test_each_check_says_what_was_seen_and_decided():
    plan = planned()
    adviser = RunRebalancer(plan, GRAPH)
    ((number, _),) = course(adviser, plan, slows_down)
    checks = list(adviser.checks)
    assert len(checks) == 60
    assert [check.decision for check in checks].index("move") == number
    found = checks[number]
    assert found.reason == "the seconds lost have reached the price of a move"
    assert found.lost >= 0.85 * found.cost > 0
    assert found.seconds == (SECONDS_PER_UNIT * 800, SECONDS_PER_UNIT * 1600)
    assert found.speeds == pytest.approx((1.0, 0.5), rel=0.05)
    assert {check.reason for check in checks[:30]} == {"a move would save next to nothing"}


def test_of_means_of_many_supersteps_three_are_enough():
    """At the start of a run on a machine that was misdescribed, asked after 100 supersteps each."""
    plan = planned((1.0, 20.0))
    moves = course(RunRebalancer(plan, GRAPH), plan, lambda _: np.ones(2), supersteps=100)
    assert moves[0][0] == 2
    assert course(RunRebalancer(plan, GRAPH), plan, lambda _: np.ones(2))[0][0] == 4


def test_an_observation_of_many_supersteps_counts_as_many():
    """Asked after 20 supersteps each, the loss is 20 times as large, so less is observed."""
    plan = planned()
    (seldom, advice), *_ = course(RunRebalancer(plan, GRAPH), plan, slows_down, supersteps=20)
    (often, same), *_ = course(RunRebalancer(plan, GRAPH), plan, slows_down)
    assert seldom <= often
    assert advice.saving == pytest.approx(same.saving, rel=0.1)  # of a superstep, either way


def test_supersteps_that_look_at_some_arcs_make_one_observation_together():
    plan = planned()
    words = {"is_dense": False, "share": 0.25, "asked": 400}
    moves = course(RunRebalancer(plan, GRAPH), plan, slows_down, **words)
    assert all(number % 4 == 3 for number, _ in moves)
    loads = metrics.block_sizes(ev.Partition(moves[-1][1].part, 2))
    assert loads[0] / loads[1] == pytest.approx(2, rel=0.15)


def test_several_weights_are_refused_before_the_run_begins():
    graph = GRAPH.with_(vwgt=np.ones((GRAPH.n, 2), np.int64))
    with pytest.raises(UsageError, match="one weight per vertex"):
        RunRebalancer(planned(), graph)


def test_a_device_that_looks_at_few_arcs_is_not_taken_as_slow():
    """A frontier in one block alone: the other's superstep is all overhead."""
    plan = planned()
    adviser = RunRebalancer(plan, GRAPH)
    degrees = np.diff(GRAPH.arcs_out().xadj)
    own = np.bincount(plan.partition.part, degrees, 2)
    both = DeviceTimes(4, None, np.array([0.01, 0.01]), 2 * own, False, 1e-4)
    one = DeviceTimes(4, None, np.array([0.02, 0.01]), own * [4, 0.01], False, 1e-4)
    assert adviser.observe(both) is None
    assert all(adviser.observe(one) is None for _ in range(40))
    assert adviser.rebalancer.silent == ["cpu1"]
