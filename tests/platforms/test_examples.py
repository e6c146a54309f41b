"""The papers' machines: counts, order, Table III and its last column, equation 5."""

import itertools

import numpy as np
import pytest

from evener.errors import UsageError
from evener.platforms import network
from evener.platforms.examples import PLATFORMS, grid, topo1, topo2, topo3, tree
from evener.platforms.platform import Link, Platform
from evener.sizing.memory_capped import target_sizes

UNITS = 10_000_000
# Last column of Table III: tw(fast)/tw(slow) for |F| = k/12 and k/6, printed with two digits.
LAST_COLUMN = {1: (1, 1), 2: (2, 2), 4: (3.2, 3.5), 8: (5.5, 6.1), 16: (9.4, 11.5)}


@pytest.mark.parametrize("speed", LAST_COLUMN)
@pytest.mark.parametrize(("half", "share"), [(0, 12), (1, 6)])
def test_last_column_of_table_three(speed, half, share):
    platform = topo1(96, 96 // share, speed, units=UNITS)
    targets = target_sizes(platform, UNITS).targets
    assert targets[0] / targets[-1] == pytest.approx(LAST_COLUMN[speed][half], abs=0.08)
    # "In the remaining three steps, their memory is saturated"
    if speed >= 4:
        assert targets[0] == np.floor(platform.memory_units[0])


def test_units_are_five_sixths_of_the_memory():
    for make in (topo1, topo2):
        platform = make(96, 8, 16, units=UNITS)
        assert UNITS / platform.memory_units.sum() == pytest.approx(5 / 6)
        assert platform.memory_units[0] / platform.memory_units[-1] == pytest.approx(13.8 / 2)


def test_topo1_order_and_no_memory_without_units():
    platform = topo1(96, 8, 16)
    assert platform.names == [f"fast{i}" for i in range(8)] + [f"slow{i}" for i in range(88)]
    assert platform.speeds.tolist() == [16.0] * 8 + [1.0] * 88
    assert np.isinf(platform.memory_units).all()
    assert not platform.has_links
    assert topo1(96, 8, 16, units=UNITS, memory_caps=False) == platform
    assert topo1(10, 3, 2.75).speeds[2] == 2.75


def test_topo2_order_and_middle_speed():
    platform = topo2(97, 8, 16)
    groups = [name.rstrip("0123456789") for name in platform.names]
    assert [(g, len(list(m))) for g, m in itertools.groupby(groups)] == [
        ("fast", 8),
        ("mid", 44),
        ("slow", 45),
    ]
    assert platform.speeds[8] == 2.0
    assert topo2(96, 8, 16, middle=3).speeds[8] == 3.0
    # c(s1)/m(s1) = c(f)/m(f)/2 with m(s1) = 2, m(f) = 13.8
    capped = topo2(96, 8, 16, units=UNITS)
    assert capped.speeds[8] == pytest.approx(16 / 13.8)
    ratio = capped.speeds / capped.memory_units
    assert ratio[8] == pytest.approx(ratio[0] / 2)
    assert ratio[8] > ratio[-1]  # filled after the fast ones, before the slow


@pytest.mark.parametrize(("k", "fast"), [(96, 24), (96, 48), (192, 24), (192, 48)])
def test_topo3_has_whole_nodes(k, fast):
    platform = topo3(k, fast, 4, links=True)
    places = [device.at for device in platform.devices]
    assert len(set(places)) == k // 24
    for place in set(places):
        assert places.count(place) == 24
        assert len({d.speed for d in platform.devices if d.at == place}) == 1
    assert (platform.speeds == 4).sum() == fast


def test_links_join_the_devices_of_a_node_more_closely():
    platform = topo1(96, 8, 16, links=True)
    assert [level.name for level in platform.levels] == ["cluster", "node"]
    alpha, beta = platform.link_costs(np.array([0, 0]), np.array([23, 24]))
    assert alpha[0] < alpha[1]
    assert beta[0] < beta[1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: topo1(96, 8, 3, units=UNITS), "Table III has no memory.*speed 3"),
        (lambda: topo1(96, 8, 16, units=0), "--units must be above zero"),
        (lambda: topo1(96, 97, 16), "97 cannot be fast"),
        (lambda: topo1(96, -1, 16), "-1 cannot be fast"),
        (lambda: topo1(0, 0, 16), "between 1 and"),
        (lambda: topo2(96, 8, 16, units=UNITS, middle=2), "equation 5"),
        (lambda: topo3(72, 24, 4), "whole nodes"),
        (lambda: topo3(96, 1, 4), "24 or 48"),
        (lambda: grid([4]), "NXxNY"),
        (lambda: grid([1, 1]), "two devices or more"),
        (lambda: grid([10**6, 10**6]), "not 1000000x1000000"),
        (lambda: grid([-2, -2]), "not -2x-2"),
        (lambda: grid([2, 2], speeds=[1, 2]), "2 speeds for a grid of 4"),
    ],
)
def test_refused(make, message):
    with pytest.raises(UsageError, match=message):
        make()


@pytest.mark.parametrize("shape", [(2, 1), (3, 4), (5, 5), (2, 3, 4)])
def test_grid_routes_are_manhattan(shape, monkeypatch):
    monkeypatch.setattr(network, "ROUTE_ENTRIES", 20)  # few sources at a time
    platform = grid(shape, link=Link(1e-6, 1e-9))
    places = np.array(list(np.ndindex(*shape)))
    p, q = np.divmod(np.arange(platform.k**2), platform.k)
    alpha, beta = platform.link_costs(p, q)
    steps = np.abs(places[p] - places[q]).sum(axis=1)
    np.testing.assert_allclose(alpha, steps * 1e-6, rtol=1e-12)
    np.testing.assert_array_equal(beta, np.where(steps > 0, 1e-9, 0.0))


def test_grid_takes_one_speed_or_one_each():
    assert grid([2, 2]).speeds.tolist() == [1.0] * 4
    assert grid([2, 2], speeds=[3]).speeds.tolist() == [3.0] * 4
    assert grid([2, 2], speeds=[1, 2, 3, 4]).speeds.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_registry_names_what_it_makes():
    assert PLATFORMS["flat"]([1, 4]) == Platform.flat([1, 4])
    for name in ("topo1", "topo2"):
        assert PLATFORMS[name](24, 2, 16).name == name


def test_tree_of_clusters_nodes_and_sockets():
    platform = tree([2, 3, 2, 4], fast=1, speed=8.0, slow_speed=2.0)
    assert platform.k == 48
    assert platform.speeds.tolist() == [8.0, 2.0, 2.0, 2.0] * 12
    assert [level.name for level in platform.levels] == ["site", "cluster", "node", "socket"]
    assert platform.devices[-1].at == "c1/n2/s1"
    alpha, beta = platform.link_costs(np.zeros(4, int), np.array([47, 23, 7, 3]))
    assert (np.diff(alpha) < 0).all()
    assert (np.diff(beta) < 0).all()
    assert [level.name for level in tree([2, 2]).levels] == ["cluster", "node"]
    assert tree([2, 2]).devices[0].at == "n0"
