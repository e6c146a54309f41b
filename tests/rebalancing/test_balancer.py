"""The balancer finds even sizes, stays there, follows a device that changes, and survives gaps."""

import numpy as np
import pytest

from evener.errors import InfeasibleError, InputError
from evener.io.machines.speeds import read_speeds, write_speeds
from evener.measuring.traces import timed
from evener.platforms.models.examples import curve_set
from evener.platforms.models.fitting import Constant, Piecewise
from evener.rebalancing.balancer import Balancer
from evener.running.comm import run_threads
from evener.running.emulation import Drift, EmulatedMachine
from evener.sizing.solving import solve_sizes
from tests.choosing import slow_but


def even(n, k):
    return np.full(k, n // k) + (np.arange(k) < n % k)


def played(balancer, machine, steps):
    """Makespans by the models, without noise, of the sizes of each step."""
    spans = []
    for _ in range(steps):
        sizes = balancer.sizes
        pairs = zip(machine.models, sizes.tolist(), strict=True)
        spans.append(max(float(m.time(float(s))) for m, s in pairs))
        moved = balancer.observe(machine.run(sizes))
        assert moved is None or (
            moved.sum() == sizes.sum() and np.array_equal(moved, balancer.sizes)
        )
    return np.array(spans)


def test_by_hand():
    # Speeds 1 and 3: 8 units each take 8 and 8/3 s; of 16 units 4 and 12 take 4 s each.
    balancer = Balancer((), [8, 8])
    assert balancer.observe([8.0, 8 / 3]).tolist() == [4, 12]
    assert balancer.moves[0][1:] == (4, 8.0, 4.0)
    assert balancer.observe([4.0, 4.0]) is None


@pytest.mark.parametrize(
    ("name", "n"), [("cluster1", 11000), ("cluster2", 11000), ("hybrid", 300_000)]
)
@pytest.mark.parametrize("noise", slow_but([0.0, 0.03], 1))
def test_memory_cliffs_are_found_and_kept_away_from(name, n, noise):
    models = [curve.model for curve in curve_set(name)]
    best = solve_sizes(models, n).makespan
    balancer = Balancer((), even(n, len(models)))
    spans = played(balancer, EmulatedMachine(models, noise=noise, seed=11), 40) / best
    assert spans[0] > 5
    assert spans[-1] < 1.08
    assert spans[20:].max() < 1.1
    assert len(balancer.moves) <= 10


def test_given_models_lead_there_at_once():
    models = [curve.model for curve in curve_set("cluster2")]
    balancer = Balancer(models, even(11000, 4))
    spans = played(balancer, EmulatedMachine(models, noise=0.03, seed=12), 20)
    assert spans[1:].max() < 1.01 * solve_sizes(models, 11000).makespan
    assert len(balancer.moves) == 1


@pytest.mark.parametrize("noise", slow_but([0.02, 0.05], 1))
def test_noise_moves_no_data(noise):
    models = [curve.model for curve in curve_set("cluster2")]
    found = solve_sizes(models, 8000)
    moves = 0
    for seed in range(5):
        balancer = Balancer((), found.sizes)
        spans = played(balancer, EmulatedMachine(models, noise=noise, seed=seed), 100)
        moves += len(balancer.moves)
        assert spans[-1] < 1.05 * found.makespan
    assert moves <= 2


@pytest.mark.parametrize("given", [False, True])
def test_a_device_that_slows_down_is_followed_and_back(given):
    models = [Constant(10.0), Constant(20.0), Constant(30.0)]
    drift = Drift(2, start=30.0, factor=3.0, end=400.0)
    balancer = Balancer(models if given else (), [100, 200, 300])
    machine = EmulatedMachine(models, noise=0.01, drifts=[drift], seed=13)
    while machine.clock < 600:
        balancer.observe(machine.run(balancer.sizes))
    assert len(balancer.moves) in (2, 3, 4)
    assert balancer.sizes == pytest.approx([100, 200, 300], rel=0.05)
    slow = balancer.moves[0]
    assert slow.observation == 6  # three iterations of 10 s each as ever, three of 30 s
    assert slow.predicted == pytest.approx(600 / 40, rel=0.05)


def test_times_that_are_none_are_recorded_and_move_nothing():
    balancer = Balancer((), [8, 8])
    for i, value in enumerate([np.nan, -1.0, 0.0, np.inf]):
        assert balancer.observe([8.0, value]) is None
        assert balancer.gaps[i][:2] == (i + 1, 1)
    assert np.isnan(balancer.gaps[0].value)
    assert balancer.sizes.tolist() == [8, 8]
    assert balancer.observe([8.0, 8 / 3]) is not None
    with pytest.raises(InputError, match="3 times for 2 devices"):
        balancer.observe([1.0, 1.0, 1.0])


def test_limits_are_kept_and_idle_devices_ignored():
    balancer = Balancer((), [8, 8], high=[16, 10])
    assert balancer.observe([8.0, 1.0]).tolist() == [6, 10]
    idle = Balancer((), [8, 8, 0], low=0)
    assert idle.observe([8.0, 8 / 3, np.nan]).tolist() == [
        4,
        12,
        0,
    ]  # nothing is known of the third
    assert not idle.gaps
    known = Balancer([Constant(1.0), Constant(3.0), Constant(4.0)], [8, 8, 0])
    assert known.observe([8.0, 8 / 3, 0.0]).tolist() == [2, 6, 8]


@pytest.mark.parametrize("models", [(), [Constant(100.0), Constant(1.0), Constant(1.0)]])
def test_a_device_that_begins_with_nothing_is_tried(models):
    machine = EmulatedMachine([Constant(100.0), Constant(1.0), Constant(1.0)])
    balancer = Balancer(models, [0, 51, 51])
    assert played(balancer, machine, 6)[-1] == pytest.approx(1.0)
    assert balancer.sizes.tolist() == [100, 1, 1]


def test_what_was_learnt_is_a_file_of_speeds(tmp_path):
    models = [curve.model for curve in curve_set("cluster2")]
    balancer = Balancer((), even(11000, 4), names=["a", "b", "c", "d"])
    played(balancer, EmulatedMachine(models), 20)
    write_speeds(tmp_path / "s.toml", balancer.speeds())
    again = read_speeds(tmp_path / "s.toml")
    assert [device.name for device in again] == ["a", "b", "c", "d"]
    for device, model in zip(again, models, strict=True):
        for sample in device.samples:
            assert sample.seconds == pytest.approx(model.time(sample.load), rel=0.02)


@pytest.mark.slow
def test_on_any_machine_sizes_add_up_and_are_no_worse_than_the_first():
    rng = np.random.default_rng(9301)
    for case in range(50):
        k = int(rng.integers(1, 8))
        n = k + int(10 ** rng.uniform(0, 6))
        models = []
        for _ in range(k):
            loads = np.unique(rng.uniform(0.5, n, rng.integers(1, 6)))
            models.append(Piecewise(loads, 10 ** rng.uniform(-1, 2, loads.size)))
        machine = EmulatedMachine(models, noise=float(rng.choice([0, 0.02, 0.1])), seed=case)
        balancer = Balancer(models if case % 3 == 0 else (), even(n, k))
        first = balancer.sizes
        for _ in range(25):
            times = machine.run(balancer.sizes)
            bad = rng.choice([np.nan, -1.0, 0.0, np.inf], k)
            balancer.observe(np.where(rng.random(k) < 0.05, bad, times))
            assert balancer.sizes.sum() == n
            assert balancer.sizes.min() >= 1
        pairs = [zip(models, own.tolist(), strict=True) for own in (first, balancer.sizes)]
        before, after = (max(float(m.time(float(s))) for m, s in pair) for pair in pairs)
        assert after <= 1.35 * before, case


def test_it_takes_the_times_of_a_timed_block():
    # Two ranks; the clock says that the first takes 6 s for 8 units, the second 2 s.
    balancer = Balancer((), [8, 8])

    def work(comm):
        clock = iter([0.0, 6.0 - 4 * comm.rank]).__next__
        own = balancer if comm.rank == 0 else Balancer((), [8, 8])
        with timed(own, comm, clock) as taken:
            pass
        return taken.sizes

    assert [sizes.tolist() for sizes in run_threads(2, work)] == [[4, 12]] * 2


def test_limits_without_room_are_refused_at_once():
    for options in ({"high": [4, 4]}, {"low": [9, 9]}):
        with pytest.raises(InfeasibleError):
            Balancer((), [8, 8], **options)
    with pytest.raises(InfeasibleError):
        Balancer([Constant(1.0, capacity=3.0)] * 2, [8, 8])
    assert Balancer(sizes=[8, 8]).observe([1.0, 9.0]) is not None
    with pytest.raises(InputError, match="needs the present sizes"):
        Balancer()


@pytest.mark.parametrize(
    ("models", "sizes", "options"),
    [
        ((), [], {}),
        ((), [0, 0], {}),
        ((), [3, -1], {}),
        ([Constant(1.0)], [1, 1], {}),
        ((), [1, 1], {"names": ["a"]}),
        ((), [1, 1], {"tolerance": 0}),
        ((), [1.5, 1], {}),
    ],
)
def test_what_is_no_balance_is_refused(models, sizes, options):
    with pytest.raises(InputError):
        Balancer(models, sizes, **options)


@pytest.mark.parametrize("times", [["fast", 1.0], None, [1.0], [[1.0, 1.0]]])
def test_what_is_no_list_of_times_is_refused(times):
    with pytest.raises(InputError, match="times"):
        Balancer((), [8, 8]).observe(times)
