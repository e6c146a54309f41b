"""Devices in line: against every order of a few of them."""

from itertools import pairwise, permutations

import numpy as np

from evener.generating.grid import grid
from evener.platforms import Device, Level, Link, Platform
from evener.solving.judging import Task
from evener.solving.slabs import Slabs
from evener.workloads import WEIGHTS


def lined_up(speeds, at, levels):
    devices = tuple(
        Device(f"d{b}", s, at=a) for b, (s, a) in enumerate(zip(speeds, at, strict=True))
    )
    task = Task.of(grid([8, 8]), Platform(devices, levels=levels), WEIGHTS)
    slabs = Slabs(task)
    message = task.costs.alpha + task.costs.beta * 64.0**slabs.power
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
