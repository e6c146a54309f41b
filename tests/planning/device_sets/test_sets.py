"""Which devices are worth using, without a plan."""

import numpy as np
import pytest

from evener.planning.device_sets.estimate import Estimator
from evener.planning.device_sets.exchange_laws import HaloLaw
from evener.planning.device_sets.sets import search_sets
from evener.plans.costs import costs_of
from evener.plans.workload import Workload
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.platform import Device, Level, Link, Platform
from tests.choosing import slow_but

PLANE = HaloLaw(10_000, 4.0, 0.5, 6.0)


def machine(speeds, alpha=1e-6, beta=1e-9, fixed=0.0, nodes=1):
    devices = tuple(
        Device(f"d{i}", float(s), at=f"n{i % nodes}", fixed_seconds=fixed)
        for i, s in enumerate(speeds)
    )
    levels = Level("cluster", Link(alpha, beta)), Level("node", Link(alpha / 8, beta / 8))
    return Platform(devices, levels)


def estimates_of(platform, masks, surface=PLANE, **options):
    costs = costs_of(platform, Workload("any", **options))
    return Estimator(surface, costs, surface.n).of(np.atleast_2d(np.array(masks, bool)))


def all_masks(k):
    return (np.arange(1, 1 << k)[:, None] >> np.arange(k)) & 1 == 1


def test_one_device_takes_its_work_and_what_it_starts_with():
    found = estimates_of(machine([1e6, 4e6], fixed=5e-3), [[1, 0], [0, 1]], fixed_seconds=1e-3)
    assert found.seconds == pytest.approx([10e-3 + 6e-3, 2.5e-3 + 6e-3])
    assert found.loads.tolist() == [[10_000, 0], [0, 10_000]]


def test_free_links_leave_sizes_in_proportion_to_speeds():
    found = estimates_of(machine([1e6, 3e6, 4e6], 0.0, 0.0), [[1, 1, 1], [1, 0, 1]])
    assert found.loads[0] == pytest.approx([1250, 3750, 5000])
    assert found.seconds == pytest.approx([1.25e-3, 2e-3])


@pytest.mark.parametrize("overlap", [False, True])
def test_many_sets_at_once_are_what_each_is_alone(overlap):
    platform = machine([1e6, 2e6, 5e6, 5e6, 9e6], 2e-4, 1e-7, 1e-5, nodes=2)
    masks = all_masks(5)
    together = estimates_of(platform, masks, overlap=overlap)
    alone = [estimates_of(platform, mask, overlap=overlap).seconds[0] for mask in masks]
    assert together.seconds == pytest.approx(alone, rel=2e-3)
    assert together.loads.sum(axis=1) == pytest.approx(np.full(31, 10_000))
    assert ((together.loads > 0) == masks).all()


def test_overlap_is_never_slower():
    platform = machine([1e6, 2e6, 5e6, 5e6], 2e-4, 1e-7)
    apart = estimates_of(platform, all_masks(4))
    overlapped = estimates_of(platform, all_masks(4), overlap=True)
    assert (overlapped.seconds <= apart.seconds * (1 + 1e-3)).all()


def test_speed_curves_with_a_cliff_are_followed():
    curve = DeviceSpeeds("d", (Sample(100, 1e-4), Sample(4000, 4e-3), Sample(4400, 44e-3)))
    devices = tuple(Device(f"d{i}", 1e6, curve=curve) for i in range(4))
    found = estimates_of(Platform(devices), [[1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]])
    assert found.seconds[0] > 10 * found.seconds[1]
    assert found.seconds[2] == pytest.approx(2.5e-3, rel=0.01)


def test_sets_that_cannot_hold_the_work_take_forever():
    costs = costs_of(machine([1e6, 1e6, 1e6]))
    found = Estimator(PLANE, costs, 10_000, np.array([4000, 4000, 9000])).of(all_masks(3))
    assert np.isinf(found.seconds).tolist() == [True, True, True, True, False, False, False]
    assert (found.loads[-1] <= [4000, 4000, 9000]).all()


def searched(platform, surface=PLANE):
    costs = costs_of(platform)
    return search_sets(Estimator(surface, costs, surface.n))


def test_dear_messages_leave_the_fastest_device_alone():
    found = searched(machine([1e6, 4e6, 2e6], 1.0)).distinct_sets()
    assert found[0].devices.tolist() == [1]
    assert len(found) == 7


def test_free_messages_use_everyone():
    assert searched(machine(np.full(12, 1e6), 0.0, 0.0)).distinct_sets()[0].devices.size == 12


@pytest.mark.parametrize("k", [1, 2, 10, 11, 40])
def test_every_size_is_looked_at_and_of_twins_one(k):
    found = searched(machine(np.full(k, 1e6), 1e-5, nodes=2), HaloLaw(100_000, 4.0, 0.5, 6.0))
    every = found.of_each_size()
    assert [one.devices.size for one in every] == list(range(1, k + 1))
    assert found.distinct_sets()[0].seconds == min(one.seconds for one in every)
    assert len(found.distinct_sets()) <= k * k // 2 + 1  # of two nodes, so many of each


@pytest.mark.parametrize("seed", slow_but(range(4), 1))
def test_the_search_finds_what_all_sets_have(monkeypatch, seed):
    random = np.random.default_rng(seed)
    speeds = random.choice([1e6, 4e6, 3e7], 10)
    platform = machine(speeds, 10 ** random.uniform(-6, -3.5), 1e-8, 1e-5, nodes=3)
    costs = costs_of(platform)
    estimator = Estimator(PLANE, costs, PLANE.n)
    every = search_sets(estimator)
    monkeypatch.setattr("evener.planning.device_sets.sets.MAX_EVERY_SET", 1)
    some = search_sets(estimator)
    assert some.least == pytest.approx(every.least, rel=5e-3)
    assert len(some.of_each_size()) == 10


@pytest.mark.slow
def test_a_device_a_thousand_times_faster_among_many():
    surface = HaloLaw(1 << 15, 4.0, 0.5, 6.0)
    found = searched(machine(np.r_[np.full(499, 1e8), 1e11], 2e-6, nodes=25), surface)
    assert found.distinct_sets()[0].devices.tolist() == [499]
    assert found.of_each_size()[-1].devices.size == 500
