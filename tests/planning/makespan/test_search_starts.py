"""Where rounds of sizes begin: the best sets first, and of sets alike one."""

import numpy as np

from evener.planning.device_sets.estimate import Estimator
from evener.planning.device_sets.halo_law import Surface
from evener.planning.device_sets.search import first_sets, sets_in_line
from evener.planning.makespan.search import starts_of
from evener.plans.costs import costs_of
from evener.platforms.platform import Device, Level, Link, Platform


def estimator(speeds, alpha=1e-6):
    devices = tuple(Device(f"d{i}", s) for i, s in enumerate(speeds))
    costs = costs_of(Platform(devices, (Level("net", Link(alpha, 1e-10)),)))
    return Estimator(Surface(10_000, 4.0, 0.5, 6.0), costs, 10_000.0)


def test_all_sets_of_few_devices_are_tried_for_slabs():
    few = sets_in_line(estimator([1e8] * 5))
    assert few.shape == (31, 5)
    assert few[0].all()
    assert np.unique(few, axis=0).shape == (31, 5)
    many = estimator([1e8] * 12)
    assert np.array_equal(sets_in_line(many), first_sets(many))


def test_of_sets_of_devices_alike_one_is_begun_with_the_best_first():
    one = estimator([1e8, 1e8, 1e8, 3e7])
    starts = starts_of(one, sets_in_line(one), one.blocks, np.inf)
    seconds = [start.seconds for start in starts]
    assert seconds == sorted(seconds)
    kinds = {tuple(sorted(one.kinds[start.loads > 0].tolist())) for start in starts}
    assert (
        len(kinds) == len(starts) == 7
    )  # none to three of the fast ones, with the slow or without
    assert all(np.isclose(start.loads.sum(), 10_000) for start in starts)


def test_what_takes_longer_than_is_known_is_left_out():
    one = estimator([1e8, 1e8], alpha=1.0)
    starts = starts_of(one, sets_in_line(one), one.blocks, 2e-4)
    assert [start.name for start in starts] == ["one device"]
