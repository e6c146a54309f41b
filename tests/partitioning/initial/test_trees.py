"""The machine's tree as a matrix: levels kept, idle rows dropped, nonsense refused."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.partitioning.initial.trees import as_tree, device_tree, leaf_order, simplest
from evener.platforms.examples import grid as grid_of_links
from evener.platforms.platform import Connection, Device, Level, Link, Platform

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


def test_devices_joined_by_links_are_halved():
    tree = device_tree(grid_of_links((8, 8)))
    assert [len(np.unique(row)) for row in tree] == [2, 4, 8, 16, 32]
    assert (as_tree(tree, 64) == tree).all()
    for row in tree:
        assert np.ptp(np.bincount(row)) == 0
    square = tree[0].reshape(8, 8)
    cut = (square[1:] != square[:-1]).sum() + (square[:, 1:] != square[:, :-1]).sum()
    assert cut == 8


def test_links_through_switches():
    devices = [Device(f"d{i}", 1.0) for i in range(9)]
    links = [Connection((f"d{i}", f"s{i % 3}"), Link(1e-6)) for i in range(9)]
    links += [Connection(("root", f"s{i}"), Link(5e-6)) for i in range(3)]
    tree = device_tree(Platform(tuple(devices), connections=tuple(links)))
    assert sorted(np.bincount(tree[0])) == [4, 5]
    # Those of one switch are nearer to each other: one of three is torn apart at most.
    torn = [len(np.unique(tree[0][np.arange(9) % 3 == s])) > 1 for s in range(3)]
    assert sum(torn) == 1


def test_too_many_links_make_no_tree(monkeypatch):
    monkeypatch.setattr("evener.partitioning.initial.trees.MOST_LINKED", 63)
    assert device_tree(grid_of_links((8, 8))).shape == (0, 64)
