"""Loads at which devices finish together, halos included."""

import numpy as np
import pytest

from evener.planning.device_sets.set_loads import EqualFinish
from evener.plans.costs import costs_of
from evener.plans.workload import WEIGHTS
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.platform import Device, Level, Link, Platform
from evener.platforms.with_curves import models_of
from evener.sizing.solving import solve_sizes

LINKS = (Level("net", Link(1e-6, 1e-9)),)


def costs(*devices):
    return costs_of(Platform(devices, levels=LINKS), WEIGHTS)


def growing(messages, per_surface):
    """Exchanges that grow with the square root of the load."""

    def exchange(loads, masks):
        seconds = np.where(masks, np.array(messages) + per_surface * loads**0.5, 0.0)
        return seconds, np.zeros_like(loads)

    return exchange


def test_all_end_at_one_time_and_whom_messages_keep_busy_gets_nothing():
    three = costs(*(Device(f"d{i}", speed) for i, speed in enumerate((1e6, 4e6, 1e6))))
    found = EqualFinish(three, 10_000, 10_000).loads_of(
        np.ones((1, 3), bool), growing([1e-4, 1e-4, 5.0], 1e-6), drop=True
    )
    loads = found.loads[0]
    seconds = 1e-4 + 1e-6 * loads[:2] ** 0.5 + loads[:2] / [1e6, 4e6]
    assert loads[2] == 0
    assert np.allclose(seconds, found.seconds[0], rtol=1e-3)
    assert loads.sum() == pytest.approx(10_000)


def test_without_dropping_each_keeps_a_vertex():
    two = costs(Device("a", 1e6), Device("b", 1e6))
    found = EqualFinish(two, 500, 1000).loads_of(np.ones((1, 2), bool), growing([0.0, 1.0], 0.0))
    assert found.loads[0].tolist() == pytest.approx([499.5, 0.5])


@pytest.mark.parametrize("seed", range(6))
def test_as_even_as_the_exact_solver_makes_curves_and_room(seed):
    random = np.random.default_rng([271, seed])
    devices = []
    for i in range(5):
        loads = np.unique(np.geomspace(1, 2000, 12).astype(int))
        seconds = np.cumsum(np.diff(loads, prepend=0) / random.uniform(1e5, 3e6, loads.size))
        samples = zip(loads.tolist(), seconds.tolist(), strict=True)
        curve = DeviceSpeeds(f"d{i}", tuple(Sample(*one) for one in samples))
        devices.append(Device(f"d{i}", 1e6, curve=curve))
    platform = Platform(tuple(devices), levels=LINKS)
    room = random.integers(300, 900, 5)
    none = growing(np.zeros(5), 0.0)
    found = EqualFinish(costs_of(platform, WEIGHTS), 1500, 1500, room).loads_of(
        np.ones((1, 5), bool), none, drop=True
    )
    exact = solve_sizes(models_of(platform), 1500, "exact", high=room)
    assert found.seconds[0] == pytest.approx(exact.makespan, rel=0.01)
    assert (found.loads[0] <= room * (1 + 1e-12)).all()


def test_work_that_is_nothing_beside_fixed_costs_is_divided_nevertheless():
    slow = costs(*(Device(f"d{i}", 1e8, fixed_seconds=1e29) for i in range(2)))
    for drop in (False, True):
        found = EqualFinish(slow, 800, 800).loads_of(
            np.ones((1, 2), bool), growing([1e-6, 1e-6], 0.0), drop=drop
        )
        assert found.loads.sum() == pytest.approx(800)
        assert found.seconds[0] == 1e29


def test_memory_of_next_to_nothing_is_no_room():
    two = costs(*(Device(f"d{i}", 1e8) for i in range(2)))
    found = EqualFinish(two, 800, 800, np.full(2, 1e-310)).loads_of(
        np.ones((1, 2), bool), growing([1e-6, 1e-6], 0.0)
    )
    assert np.isinf(found.seconds[0])
