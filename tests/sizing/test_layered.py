"""INPA and IDPA: sizes by levels, near those of all devices at once."""

import numpy as np
import pytest

from evener.errors import InfeasibleError, InputError
from evener.platforms.models.examples import curve_set
from evener.platforms.models.fitting import Constant
from evener.platforms.platform import Device, Level, Platform
from evener.sizing.layered import layered_sizes, model_times, tree_of
from evener.sizing.solving import solve_sizes

FOUR = [Constant(1.0), Constant(3.0), Constant(2.0), Constant(2.0)]


def test_by_hand():
    found = layered_sizes(((0, 1), (2, 3)), 80, model_times(FOUR))
    assert found.sizes.tolist() == [10, 30, 20, 20]
    assert found.seconds.tolist() == [10.0] * 4
    assert found.converged
    # Each group on 40 units, in two steps; then all is balanced.
    assert found.measurements == 3


@pytest.mark.parametrize("tree", [0, (0,), ((0,),)])
def test_one_device(tree):
    found = layered_sizes(tree, 7, model_times(FOUR[1:2]))
    assert (found.sizes.tolist(), found.makespan) == ([7], 7 / 3)


@pytest.mark.parametrize(
    ("tree", "n"),
    [
        (((0, 1, 2, 3, 4, 5), (6, 7, 8, 9, 10, 11)), 1_500_000),
        (((11, (0, 1, 2)), ((3, 4), (5, 6, 7)), (8, (9, 10))), 18_973),
        (((11, (0, 1, 2)), ((3, 4), (5, 6, 7)), (8, (9, 10))), 240),
    ],
)
def test_near_the_best_of_all_devices_at_once(tree, n):
    models = [curve.model for curve in curve_set("hybrid")]
    asked = []

    def measure(devices, sizes):
        asked.append((devices, sizes))
        return model_times(models)(devices, sizes)

    found = layered_sizes(tree, n, measure, high=[m.capacity for m in models])
    assert found.sizes.sum() == n
    assert found.makespan <= 1.06 * solve_sizes(models, n).makespan
    assert found.measurements == len(asked)
    np.testing.assert_allclose(found.seconds, model_times(models)(np.arange(12), found.sizes))


def test_a_group_that_cannot_do_its_load():
    models = [Constant(1.0, 10.0), Constant(1.0, 10.0), Constant(1.0), Constant(1.0)]
    found = layered_sizes(((0, 1), (2, 3)), 100, model_times(models))
    assert found.sizes.sum() == 100
    assert (found.sizes[:2] <= 10).all()
    with pytest.raises(InfeasibleError):
        layered_sizes(((0,), (1,)), 100, model_times(models))


@pytest.mark.parametrize("tree", [(), (0, 2), (0, 0), ((0,), ()), ("a",), ([0, 1],)])
def test_trees_that_are_none(tree):
    with pytest.raises(InputError):
        layered_sizes(tree, 5, model_times(FOUR))


def test_the_tree_of_a_platform():
    at = ["a/x", "a/x", "a/y", "b/x", "b/x", "c/z"]
    devices = tuple(Device(f"d{i}", 1.0, at=place) for i, place in enumerate(at))
    levels = (Level("site"), Level("node"), Level("device"))
    assert tree_of(Platform(devices, levels)) == (((0, 1), 2), (3, 4), 5)
    assert tree_of(Platform.flat([1, 2, 3])) == (0, 1, 2)
    assert tree_of(Platform.flat([1])) == 0
