"""Devices, levels and links: what is refused, what messages cost, machines of some devices."""

import heapq
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.platforms import examples
from evener.platforms.examples import grid
from evener.platforms.faults import find_fault
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.platform import Connection, Device, Level, Link, Platform, with_only
from tests.examples import with_examples

ONE_SAMPLE = DeviceSpeeds("a", (Sample(9.0, 1.0),))
SLOW, FAST = Link(2e-6, 1e-10), Link(5e-7, 2.5e-11)


def all_costs(platform):
    """(k, k) alpha and beta between all devices."""
    p, q = np.divmod(np.arange(platform.k**2), platform.k)
    return [cost.reshape(platform.k, -1) for cost in platform.link_costs(p, q)]


def tree(*places, levels=("cluster", "node")):
    links = [SLOW, FAST, Link(1e-7, 1e-12)]
    return Platform(
        tuple(Device(f"d{i}", 1.0, at=at) for i, at in enumerate(places)),
        tuple(Level(name, link) for name, link in zip(levels, links, strict=False)),
    )


def test_costs_are_real_numbers_also_where_nothing_costs():
    """Kernels are compiled anew for every other type."""
    whole = Platform((Device("a", 1.0), Device("b", 1.0)), (Level("here", Link(1, 2)),))
    for platform in (Platform.flat([1.0, 2.0]), whole):
        assert [cost.dtype for cost in all_costs(platform)] == [np.float64, np.float64]


def test_two_devices_use_the_link_of_the_deepest_level_they_share():
    platform = tree("n0", "n0", "n1", "")
    alpha, beta = all_costs(platform)
    assert alpha[0, 1] == 5e-7  # same node
    assert alpha[0, 2] == alpha[0, 3] == alpha[2, 3] == 2e-6  # only the cluster
    assert beta[0, 2] == 1e-10
    assert not alpha.diagonal().any()
    np.testing.assert_array_equal(alpha, alpha.T)
    p, q = np.array([0, 0, 0, 3, 3]), np.array([0, 1, 2, 0, 3])
    assert platform.shared_level(p, q).tolist() == [2, 1, 0, 0, 2]


def test_a_deeper_place_of_the_same_name_elsewhere_is_not_shared():
    platform = tree("a/n0", "b/n0", "a/n0", levels=("site", "node", "socket"))
    assert platform.shared_level(np.array([0, 0]), np.array([1, 2])).tolist() == [0, 2]


def test_without_levels_and_links_talking_is_free():
    platform = Platform.flat([1, 1, 4])
    assert not platform.has_links
    assert not any(cost.any() for cost in all_costs(platform))
    assert platform.names == ["dev0", "dev1", "dev2"]
    assert np.isinf(platform.memories).all()
    assert np.isinf(platform.memory_units).all()


def test_latencies_add_up_over_a_switch():
    # d0 -- sw -- d1, and d2 sits at the switch itself
    devices = (Device("d0", 1.0), Device("d1", 1.0), Device("d2", 1.0, at="sw"))
    platform = Platform(
        devices, connections=(Connection(("d0", "sw"), SLOW), Connection(("sw", "d1"), FAST))
    )
    alpha, beta = all_costs(platform)
    assert alpha[0, 1] == pytest.approx(2.5e-6)
    assert alpha[0, 2] == 2e-6
    assert beta[1, 0] == 1e-10  # the narrower one
    assert alpha[2, 2] == 0


def shortest(k, edges):
    """Dijkstra by hand on alpha + 1024 beta; (k, k, 2) sum of alpha, largest beta of each route."""
    result = np.zeros((k, k, 2))
    for source in range(k):
        queue, done = [(0.0, source, 0.0, 0.0)], {}
        while queue:
            cost, v, alpha, beta = heapq.heappop(queue)
            if v in done:
                continue
            done[v] = alpha, beta
            for (a, b), x in edges.items():
                if v in (a, b):
                    further = cost + x.alpha + 1024 * x.beta
                    both = alpha + x.alpha, max(beta, x.beta)
                    heapq.heappush(queue, (further, b if v == a else a, *both))
        result[source] = [done[v] for v in range(k)]
    return result


@with_examples(40)
@given(st.integers(2, 12), st.integers(0, 20), st.integers(0, 2**31))
def test_routes_are_the_cheapest(k, extra, seed):
    rng = np.random.default_rng([708531, seed])
    pairs = {(int(rng.integers(v)), v) for v in range(1, k)}  # a tree, so that all is joined
    pairs |= {tuple(sorted(rng.choice(k, 2, replace=False).tolist())) for _ in range(extra)}
    links = {
        pair: Link(float(rng.choice([0, 1e-6, rng.random()])), float(rng.random()) / 1024)
        for pair in sorted(pairs)
    }
    platform = Platform(
        tuple(Device(f"d{i}", 1.0) for i in range(k)),
        connections=tuple(Connection((f"d{a}", f"d{b}"), x) for (a, b), x in links.items()),
    )
    alpha, beta = all_costs(platform)
    wanted = np.moveaxis(shortest(k, links), 2, 0)
    np.testing.assert_allclose([alpha, beta], wanted, rtol=1e-12, atol=1e-25)


def test_of_two_links_between_the_same_places_the_cheaper_counts():
    devices = (Device("a", 1.0), Device("b", 1.0))
    both = (Connection(("a", "b"), SLOW), Connection(("b", "a"), FAST))
    assert all_costs(Platform(devices, connections=both))[0][0, 1] == FAST.alpha


@pytest.mark.parametrize("speed", [0, -1.0, math.nan, math.inf, True, "fast", None, 10**400])
def test_a_speed_that_is_no_number_above_zero_is_refused(speed):
    with pytest.raises(InputError, match="speed of device 'x' must be finite and above zero"):
        Device("x", speed)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Device("", 1.0), "name must not be empty"),
        (lambda: Device(" x", 1.0), "padded"),
        (lambda: Device("x", 1.0, memory=0.0), "memory of device 'x'"),
        (lambda: Device("x", 1.0, memory_units=math.nan), "memory_units of device 'x'"),
        (lambda: Device("x", 1.0, kind=""), "kind of device 'x'"),
        (lambda: Device("x", 1.0, at="n0//s1"), "the parts between slashes must not be empty"),
        (lambda: Device("x", 1.0, capabilities={"mips": math.inf}), "mips of device 'x'"),
        (lambda: Link(-1e-6), "alpha of a link"),
        (lambda: Link(0.0, math.inf), "beta of a link"),
        (lambda: Level(""), "level needs a name"),
        (lambda: Connection(("a", "a"), Link()), "two different places"),
        (lambda: Platform([1, 2, 4]), "made of Device objects"),
        (lambda: Platform(3), "made of Device objects"),
        (lambda: Platform(()), "at least one device"),
        (lambda: Platform((Device("a", 1.0), Device("a", 2.0))), "two devices have the name 'a'"),
        (lambda: tree("n0", levels=("x", "x")), "two levels have the name 'x'"),
        (lambda: tree("n0/s0"), r"2 level\(s\) allow 1 part"),
    ],
)
def test_refused_with_the_reason(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("ends", "message", "kind", "number"),
    [
        ([("a", "b"), ("b", "c9")], "unknown place 'c9'", "link", 1),
        ([("a", "b")], "no link reaches device 'c'", "device", 2),
        ([("a", "b"), ("c", "s"), ("s", "c")], "no chain of links joins device 'c'", "device", 2),
    ],
)
def test_faults_of_links_are_placed(ends, message, kind, number):
    devices = [Device(name, 1.0) for name in "abc"]
    fault = find_fault(devices, [], [Connection(pair, Link()) for pair in ends])
    assert message in fault.message
    assert (fault.kind, fault.number) == (kind, number)


def test_levels_beside_links_are_refused():
    with pytest.raises(InputError, match="not both"):
        Platform(
            (Device("a", 1.0), Device("b", 1.0)),
            (Level("cluster"),),
            (Connection(("a", "b"), Link()),),
        )


def test_hops_up_the_tree_and_down_or_along_the_route():
    levels = (Level("net"), Level("node"))
    tree = Platform(tuple(Device(f"d{i}", 1, at=f"n{i // 2}") for i in range(4)), levels)
    pairs = np.array([0, 0, 0]), np.array([0, 1, 2])
    assert tree.hops(*pairs).tolist() == [0, 2, 4]
    line = Platform(
        tuple(Device(f"d{i}", 1) for i in range(3)),
        connections=(Connection(("d0", "d1"), Link(1.0)), Connection(("d1", "d2"), Link(1.0))),
    )
    assert line.hops(*pairs).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("device", "more", "relative"),
    [
        ({"speed": 1.0}, {}, True),
        ({"speed": 100.0}, {}, True),
        ({"speed": 101.0}, {}, False),
        ({"speed": 1.0, "fixed_seconds": 0.1}, {}, False),
        ({"speed": 1.0, "curve": ONE_SAMPLE}, {}, False),
        ({"speed": 1.0}, {"levels": (Level("all"),)}, False),
    ],
)
def test_speeds_are_relative_where_nothing_states_a_time(device, more, relative):
    ideal = Platform((Device("a", **device), Device("b", 3.0)), **more).relative_ideal(12.0)
    assert ideal == (12 / (3 + device["speed"]) if relative else None)


def costs(platform, devices):
    p, q = np.repeat(devices, len(devices)), np.tile(devices, len(devices))
    return np.concatenate(platform.link_costs(p, q))


@pytest.mark.parametrize("kept", [[0], [0, 1], [2, 5, 7], [0, 3, 4, 8], list(range(9))])
def test_links_cost_what_they_did(kept):
    for platform in (grid([3, 3]), examples.tree([3, 3])):
        less = with_only(platform, kept)
        assert less.names == [platform.names[i] for i in kept]
        assert costs(less, list(range(len(kept)))) == pytest.approx(costs(platform, kept))


def test_links_that_lead_nowhere_go():
    link = Link(1e-6, 1e-9)
    devices = [Device(f"d{i}", 1.0, at=f"n{i}") for i in range(3)]
    ends = [("n0", "s"), ("n1", "s"), ("n2", "far"), ("far", "s"), ("d2", "n2")]
    platform = Platform(tuple(devices), connections=tuple(Connection(e, link) for e in ends))
    less = with_only(platform, [0, 1])
    assert {c.between for c in less.connections} == {("n0", "s"), ("n1", "s")}


def test_no_device_is_no_machine():
    with pytest.raises(InputError, match="at least one device"):
        with_only(grid([2, 2]), [])
