"""Whether a run is rebalanced, by seconds that are stated here instead of measured."""

import numpy as np
import pytest

import evener as ev
from evener.errors import UsageError
from evener.graphs.generating.grid import grid
from evener.plans import metrics
from evener.rebalancing import gains
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
    assert {check.reason for check in checks[:30]} == {"a move would save almost nothing"}


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


# What a superstep is and seems to take, by a virtual clock: from the loads (2,) of two devices, the
# seconds (2,) of computing and those of the superstep as a whole.
PRICE = 0.3  # seconds of a move: those of some 20 supersteps
EVEN = 800 * SECONDS_PER_UNIT


def pays(loads):
    """The second device is half as fast, and nothing else counts."""
    computing = SECONDS_PER_UNIT * loads * [1, 2]
    return computing, computing.max()


def takes_turns(loads):
    """A rival gets the second core for whole slices, while the device computes or between.

    With half of the vertices they fall into computing; with less, the device has its turn at once
    but waits for one in each superstep, which takes longer in all.
    """
    has_half = loads[1] > 0.42 * loads.sum()
    computing = SECONDS_PER_UNIT * loads * [1, 2 if has_half else 1]
    return computing, 2 * EVEN if has_half else 2.6 * EVEN


def always_as_long(loads):
    """The second device takes as long however little it has to do."""
    computing = np.array([SECONDS_PER_UNIT * loads[0], 2 * EVEN])
    return computing, computing.max()


def other_slows_down(loads):
    """The first device is a fifth as fast, the second as at the beginning."""
    computing = SECONDS_PER_UNIT * loads * [5, 1]
    return computing, computing.max()


def on_clock(worlds, *, asked, supersteps=5, noise=0.03, of_whole=0.03):
    """Ask `asked` times in each world, after even devices; return adviser, moves and seconds.

    noise, of_whole: of seconds of computing, and of the superstep as a whole.
    """
    plan, rng = planned(), np.random.default_rng(1)
    adviser, part = RunRebalancer(plan, GRAPH), plan.partition.part
    moves, seconds, step = [], [], 0
    degrees = np.diff(GRAPH.arcs_out().xadj)
    for number, world in enumerate([None, *worlds]):
        seconds.append(0.0)
        for _ in range(asked if number else 30):
            loads, step = np.bincount(part, minlength=2), step + supersteps
            computing, whole = world(loads) if world else (SECONDS_PER_UNIT * loads, EVEN)
            computing = supersteps * computing * np.exp(rng.normal(0, noise, 2))
            whole *= supersteps * np.exp(rng.normal(0, of_whole))
            arcs = supersteps * np.bincount(part, degrees, 2)
            given = DeviceTimes(supersteps, None, computing, arcs, True, 1e-4, step, whole)
            advice, seconds[-1] = adviser.observe(given), seconds[-1] + whole
            if advice is not None:
                moves.append((number, step, advice))
                part, seconds[-1] = advice.part, seconds[-1] + PRICE
                adviser.moved(PRICE)
    return adviser, moves, seconds


def test_a_move_that_gains_what_was_predicted_is_believed():
    adviser, moves, (_, seconds) = on_clock([pays], asked=150)
    ((_, step, advice),) = moves
    assert step <= 5 * (30 + 6)  # as soon as the loss has reached the price
    gain = adviser.gains[0]
    assert gain.predicted == pytest.approx(advice.saving)
    assert gain.realized == pytest.approx(EVEN * 2 / 3, rel=0.15)
    assert gain.trust == 1
    assert seconds < 0.74 * 150 * 5 * 2 * EVEN  # 2/3, the move, and what it waited for


@pytest.mark.parametrize(("world", "most"), [(takes_turns, 2), (always_as_long, 5)])
def test_where_no_move_pays_the_wait_grows(world, most):
    """Without learning, 28 and 10 moves, by which the run takes 1.40 and 1.07 times as long."""
    adviser, moves, (_, seconds) = on_clock([world], asked=500)
    assert 1 <= len(moves) <= most
    assert seconds < 1.05 * 500 * 5 * 2 * EVEN
    assert adviser.gains[0].share < 0.25
    assert adviser.gains[0].trust <= 0.625
    assert adviser.gains[0].realized < 0.25 * adviser.gains[0].predicted
    if world is takes_turns:  # it goes back to the blocks that were measured to be better
        assert np.bincount(moves[-1][2].part)[0] == pytest.approx(800, rel=0.1)
        return
    waits = np.diff([step for _, step, _ in moves])
    assert (waits[1:] > 1.5 * waits[:-1]).all()
    # What is believed to be lost in the wait before a move has reached its price.
    for number, wait in enumerate(waits):
        before = adviser.gains[number - 1].trust if number else 1.0
        assert wait * before * moves[number + 1][2].saving > 0.85 * PRICE


@pytest.mark.parametrize("world", [takes_turns, always_as_long])
def test_where_noise_hides_that_no_move_pays_there_are_fewer(monkeypatch, world):
    found = []
    for kept in (gains.KEPT_UNJUDGED, 1.0):
        monkeypatch.setattr(gains, "KEPT_UNJUDGED", kept)
        adviser, moves, (_, seconds) = on_clock([world], asked=250, noise=0.15, of_whole=0.4)
        assert all(gain.share is None for gain in adviser.gains.values())
        found.append((len(moves), seconds))
    assert found[0] < found[1]
    assert found[0][1] < found[1][1]


@pytest.mark.parametrize("world", [takes_turns, always_as_long])
def test_what_was_learnt_is_forgotten_when_speeds_change_again(world):
    adviser, moves, _ = on_clock([world, other_slows_down], asked=120)
    late = [(step, advice) for number, step, advice in moves if number == 2]
    assert late
    assert late[0][0] <= 5 * (30 + 120 + 12)
    assert adviser.gains[len(moves) - 1].trust == 1
    loads = np.bincount(late[-1][1].part)
    assert loads[1] / loads[0] == pytest.approx(5, rel=0.15)


def test_why_a_move_is_withheld_is_said():
    adviser, _, _ = on_clock([always_as_long], asked=120)
    withheld = [check for check in adviser.checks if check.reason.startswith("withheld")]
    assert withheld
    for check in withheld:
        assert f"so {check.believed:.0%} of the prediction counts" in check.reason
        assert check.decision == "stay"
        assert 0.85 * check.believed * check.cost <= check.lost < 0.85 * check.cost
    adviser, _, _ = on_clock([takes_turns], asked=60)
    assert adviser.checks[-1].reason.startswith("earlier supersteps with similar blocks took")
