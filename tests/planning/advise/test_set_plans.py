"""Plans are made where estimates leave a doubt, and nowhere else."""

from types import SimpleNamespace

import numpy as np
import pytest

from evener.errors import InfeasibleError
from evener.planning.advise.set_plans import confirm
from evener.planning.device_sets.sets import DeviceSet


def device_sets(estimates):
    return [
        DeviceSet(np.arange(size), np.ones(size), seconds)
        for size, seconds in sorted(estimates.items(), key=lambda pair: pair[1])
    ]


def confirmed(estimates, real, always=(), **more):
    asked = []

    def plan(one):
        size = one.devices.size
        asked.append(size)
        if real[size] is None:
            raise InfeasibleError("too little memory")
        return SimpleNamespace(devices=one.devices, seconds=real[size])

    ranked = device_sets(estimates)
    first = [one for one in ranked if one.devices.size in always]
    given = {"preset": "default", "vertices": 10**9} | more
    return confirm(ranked, plan, first, **given), asked


def test_exact_estimates_need_the_best_and_what_is_as_good():
    found, asked = confirmed({2: 1.0, 3: 1.2, 4: 2.0}, {2: 1.0, 3: 1.2, 4: 2.0}, always=(4,))
    assert asked == [4, 2]
    assert found.best.seconds == 1.0
    assert found.complete


def test_an_estimate_too_hopeful_by_one_factor_corrects_the_others():
    found, asked = confirmed({8: 1.0, 7: 1.01, 2: 1.5}, {8: 3.0, 7: 2.9, 2: 1.5})
    assert found.best.devices.size == 2
    assert found.complete
    assert asked[0] == 8


def test_sets_without_room_are_passed_over_and_none_at_all_is_an_error():
    found, asked = confirmed({2: 1.0, 3: 1.1}, {2: None, 3: 1.1})
    assert asked == [2, 3]
    assert found.best.devices.size == 3
    with pytest.raises(InfeasibleError, match="too little memory"):
        confirmed({2: 1.0, 3: 1.1}, {2: None, 3: None})


def test_plans_are_limited_on_large_graphs_not_on_small_ones():
    estimates = {size: 1.0 + 1e-3 * size for size in range(2, 60)}
    real = dict.fromkeys(estimates, 1.0)
    found, asked = confirmed(estimates, real)
    assert len(asked) < 12
    assert not found.complete
    found, asked = confirmed(estimates, real, vertices=1000, bounds=[0.0] * 58)
    assert len(asked) == 58
    assert found.complete


def test_what_cannot_be_faster_is_not_planned_and_nothing_else_is_missed():
    estimates, real = {2: 1.0, 3: 2.0, 4: 9.0}, {2: 1.0, 3: 2.0, 4: 0.9}
    found, asked = confirmed(estimates, real, vertices=1000, bounds=[0.5, 1.5, 0.8])
    assert asked == [2, 4]
    assert found.best.seconds == 0.9
    assert found.complete
