"""Devices in line: against every order of a few of them."""

from itertools import pairwise, permutations

import numpy as np

from evener.graphs.generating.grid import grid
from evener.planning.makespan.candidates import candidate_of
from evener.planning.makespan.problem import MakespanProblem
from evener.planning.makespan.slabs import Slabs
from evener.plans.workload import WEIGHTS
from evener.platforms.platform import Device, Level, Link, Platform


def lined_up(speeds, at, levels):
    devices = tuple(
        Device(f"d{b}", s, at=a) for b, (s, a) in enumerate(zip(speeds, at, strict=True))
    )
    problem = MakespanProblem.of(grid([8, 8]), Platform(devices, levels=levels), WEIGHTS)
    slabs = Slabs(problem)
    message = problem.costs.alpha + problem.costs.per_value * 64.0**slabs.power
    lost = message * np.add.outer(speeds, speeds)
    return slabs.line, lambda line: sum(lost[a, b] for a, b in pairwise(line))


def test_fast_devices_stand_at_the_ends_where_links_are_alike():
    line, price = lined_up([4.0, 1, 1, 4, 1, 1], [""] * 6, (Level("all", Link(1e-5, 1e-9)),))
    assert {int(line[0]), int(line[-1])} == {0, 3}
    assert price(line) <= 1.000001 * min(map(price, permutations(range(6))))


def test_devices_of_a_node_stand_together():
    levels = Level("all", Link(1e-3, 1e-9)), Level("node", Link(1e-6, 1e-10))
    line, price = lined_up([9.0, 1, 1, 9, 1, 1], ["a", "b", "a", "b", "a", "b"], levels)
    assert sorted(line[:3].tolist()) in ([0, 2, 4], [1, 3, 5])
    assert price(line) <= 1.000001 * min(map(price, permutations(range(6))))


def test_slabs_are_priced_as_those_that_touch_two_others():
    random = np.random.default_rng(8)
    devices = tuple(Device(f"d{b}", s) for b, s in enumerate(random.uniform(1, 9, 6)))
    problem = MakespanProblem.of(
        grid([600, 10]), Platform(devices, (Level("all", Link(1e-3, 1e-5)),)), WEIGHTS
    )
    slabs = Slabs(problem)
    known = candidate_of(problem, slabs.blocks(np.full(6, 1000.0)))
    loads = np.array([0.0, 1500, 500, 1000, 0, 3000])
    real = candidate_of(problem, slabs.blocks(loads))
    seconds, border = slabs.exchanged(known)(loads[None], loads[None] > 0)
    assert np.allclose(seconds[0], real.prediction.communicate, rtol=0.1)
    assert np.allclose(border[0, 1:4], real.quotient.boundary[1:4] / real.sizes[1:4], atol=0.05)
    assert (seconds[0] > 0).tolist() == (loads > 0).tolist()
