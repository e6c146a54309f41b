"""The machine's tree as a matrix: levels kept, idle rows dropped, nonsense refused."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.partitioning.trees import as_tree, device_tree, leaf_order, simplest
from evener.platforms import Device, Level, Platform

LEVELS = (Level("net"), Level("node"), Level("socket"))


def machine(places, levels=LEVELS):
    return Platform(tuple(Device(f"d{i}", 1.0, at=at) for i, at in enumerate(places)), levels)


def test_levels_become_rows():
    tree = device_tree(machine(["a/x", "a/x", "b/x", "a/y", "b/x"]))
    assert tree.tolist() == [[0, 0, 1, 0, 1], [0, 0, 1, 2, 1]]


def test_a_device_higher_up_is_a_group_of_its_own():
    tree = device_tree(machine(["a/x", "a/x", "a", "", "a"]))
    assert tree.tolist() == [[0, 0, 0, 1, 0], [0, 0, 1, 2, 3]]


@pytest.mark.parametrize("places", [["a/x"] * 3, ["a/x", "b/x", "c/x"], ["", "", ""]])
def test_nothing_to_go_along(places):
    assert device_tree(machine(places)).shape == (0, 3)
    assert device_tree(Platform.flat([1, 2, 3])).shape == (0, 3)


def test_rows_that_divide_nothing_are_left_out():
    tree = np.array([[5, 5, 5, 5], [9, 9, 2, 2], [9, 9, 2, 2], [3, 1, 2, 0]])
    assert simplest(tree).tolist() == [[0, 0, 1, 1]]


def test_leaf_order_keeps_groups_together():
    tree = np.array([[0, 1, 0, 1, 0, 1], [0, 1, 2, 3, 0, 1]])
    assert leaf_order(tree).tolist() == [0, 4, 2, 1, 5, 3]
    assert leaf_order(np.empty((0, 3), np.int64)).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("values", "message"),
    [([[0, 0, 1], [0, 1, 1]], "joins devices"), ([0, 0, 1], "has shape"), ([[0, 1]], "has shape")],
)
def test_what_is_no_tree(values, message):
    with pytest.raises(InputError, match=message):
        as_tree(values, 3)
