"""Predicted seconds against a slow account by vertex and message, and against SimGrid."""

import importlib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.planning.evaluate import evaluate
from evener.plans import metrics
from evener.plans.costs import costs_of
from evener.plans.partition import Contract, Partition
from evener.plans.workload import WORKLOADS, Workload
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.platform import Connection, Device, Level, Link, Platform
from evener.sizing.bounds import lower_bound
from tests.assertions import grid, path, random_graphs, random_partitions
from tests.examples import with_examples
from tests.slow_seconds import slow_seconds

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
costs = st.just(0.0) | st.floats(1e-3, 10)  # what is next to nothing does not flow
flags = st.booleans()


@st.composite
def devices(draw, k, places):
    """Devices of any speed, curve and fixed cost, each at one of some places."""
    made = []
    for i in range(k):
        curve = None
        if draw(st.integers(0, 3)) == 0:
            loads = sorted(draw(st.sets(st.integers(1, 30), min_size=1, max_size=4)))
            curve = DeviceSpeeds(
                f"d{i}", tuple(Sample(float(x), draw(st.floats(0.1, 9))) for x in loads)
            )
        made.append(
            Device(f"d{i}", draw(st.floats(0.1, 9)), at=draw(st.sampled_from(places)),
                   curve=curve, fixed_seconds=draw(st.sampled_from([0.0, 2.5])))
        )  # fmt: skip
    return tuple(made)


@st.composite
def platforms(draw, k):
    """Trees, rings with chords and stars of rings; any of their links may be shared."""
    if draw(flags):
        depth = draw(st.integers(1, 3))
        levels = tuple(
            Level(f"l{i}", Link(draw(costs), draw(costs)), draw(flags)) for i in range(depth)
        )
        places = ["", "a", "b"][: 3 if depth > 1 else 1] + ["a/x", "a/y", "b/x"][: 3 * (depth > 2)]
        return Platform(draw(devices(k, places)), levels)
    # Costs that no two routes share: sums of different powers of two.
    places = ["p0", "p1", "p2", "p3"][: draw(st.integers(3, 4))]
    ends = [*pairwise([*places, "p0"]), *draw(st.lists(st.just(("p0", "p2")), max_size=1))]
    ends = list(dict.fromkeys(tuple(sorted(pair)) for pair in ends))
    links = tuple(
        Connection(pair, Link(0.37 * 2.0**i, draw(st.sampled_from([0.0, 0.5]))), draw(flags))
        for i, pair in enumerate(ends)
    )
    return Platform(draw(devices(k, places)), connections=links)


workloads = st.builds(
    Workload,
    st.just("drawn"),
    bytes_per_vertex=st.sampled_from([0.0, 1.0, 36.0]),
    bytes_per_edge=st.sampled_from([0.0, 12.0]),
    bytes_per_value=st.sampled_from([0.0, 1.0, 8.0]),
    fixed_seconds=st.sampled_from([0.0, 3.0]),
    overlap=flags,
)
cases = random_graphs().flatmap(lambda graph: st.tuples(st.just(graph), random_partitions(graph)))
on_platforms = cases.flatmap(lambda case: st.tuples(st.just(case), platforms(case[1].k)))


@with_examples(200)
@given(on_platforms, workloads)
def test_as_the_slow_twin(case, workload):
    (graph, partition), platform = case
    if workload.shares[1] and not workload.shares[0] and not graph.m:
        return
    found = metrics.predicted_seconds(graph, partition, platform, workload)
    expected = slow_seconds(graph, partition, platform, workload)
    assert found.seconds.tolist() == pytest.approx(expected["seconds"], rel=1e-9, abs=1e-9)
    assert found.ends.tolist() == pytest.approx(expected["ends"], rel=1e-9, abs=1e-9)
    assert (found.contention >= 0).all()
    assert (found.overlapped <= np.minimum(found.compute, found.communicate) + 1e-12).all()
    bound = lower_bound(graph, platform, workload).seconds
    assert found.makespan >= bound * (1 - 1e-9)


@pytest.mark.slow
@with_examples(100)
@given(on_platforms, workloads)
def test_costs_say_the_same_to_kernels(case, workload):
    (graph, partition), platform = case
    if workload.shares[1] and not workload.shares[0] and not graph.m:
        return
    found = metrics.predicted_seconds(graph, partition, platform, workload)
    laid_out = costs_of(platform, workload)
    between, k = metrics.quotient(graph, partition), partition.k
    loads = metrics.summed(workload.work(graph), partition)
    compute = laid_out.compute_seconds(loads)
    assert compute.tolist() == pytest.approx(found.compute.tolist(), rel=1e-9)
    exchange, busy = np.zeros(k), np.zeros(laid_out.shared_per_value.size)
    for values in (between.sent, between.received):
        pairs = zip(between.block.tolist(), between.other.tolist(), values.tolist(), strict=True)
        for b, c, count in pairs:
            exchange[b] += laid_out.alpha[b, c] / 2 + laid_out.per_value[b, c] * count
            if busy.size:
                start, end = laid_out.route_start[b * k + c : b * k + c + 2]
                route = laid_out.route_link[start:end]
                # Each message stands in the rows of both its ends.
                busy[route] += laid_out.shared_per_value[route] * count / 2
    direct = found.communicate - found.contention
    assert exchange.tolist() == pytest.approx(direct.tolist(), rel=1e-9, abs=1e-12)
    for b, c in zip(between.block.tolist(), between.other.tolist(), strict=True):
        if busy.size:
            start, end = laid_out.route_start[b * k + c : b * k + c + 2]
            exchange[b] = max([exchange[b], *busy[laid_out.route_link[start:end]]])
    # Nobody waits for a shared link longer than until it is through.
    assert (found.communicate <= exchange * (1 + 1e-9) + 1e-12).all()
    assert laid_out.overlap == workload.overlap
    fixed = np.where((loads > 0) | (metrics.neighbours(between) > 0), laid_out.fixed, 0.0)
    assert fixed.tolist() == found.fixed.tolist()


faster = st.floats(1, 8)


@pytest.mark.slow
@with_examples(100)
@given(on_platforms, workloads, faster, st.data())
def test_better_links_never_slow_anything(case, workload, factor, data):
    (graph, partition), platform = case
    if workload.shares[1] and not workload.shares[0] and not graph.m:
        return
    listed = "levels" if platform.levels else "connections"
    # Fair shares are not monotone: who is served sooner may stand in another's way sooner.
    before = metrics.predicted_seconds(graph, partition, platform, workload).seconds
    links = [replace(one, shared=False) for one in getattr(platform, listed)]
    private = replace(platform, **{listed: tuple(links)})
    alone = metrics.predicted_seconds(graph, partition, private, workload).seconds
    assert (alone <= before * (1 + 1e-12)).all()
    i = data.draw(st.integers(0, len(links) - 1))
    old = links[i].link
    if listed == "connections":  # by the same factor for all, so that routes stay
        links = [
            replace(one, link=Link(one.link.alpha / factor, one.link.beta / factor))
            for one in links
        ]
    else:
        links[i] = replace(links[i], link=Link(old.alpha / factor, old.beta / factor))
    better = replace(private, **{listed: tuple(links)})
    after = metrics.predicted_seconds(graph, partition, better, workload).seconds
    assert (after <= alone * (1 + 1e-12)).all()
    hidden = replace(workload, overlap=True)
    overlapped = metrics.predicted_seconds(graph, partition, private, hidden).seconds
    whole = replace(workload, overlap=False)
    plain = metrics.predicted_seconds(graph, partition, private, whole).seconds
    assert (overlapped <= plain * (1 + 1e-12) + 1e-12).all()


def test_a_shared_uplink_by_hand():
    # Four columns of a 3 x 4 grid, two a node; what crosses the middle passes both uplinks.
    graph, partition = grid(3, 4), Partition(np.tile([0, 1, 2, 3], 3), 4)
    at = ("x", "x", "y", "y")
    levels = (Level("net", Link(0.0, 1.0), shared=True), Level("node", Link(0.0, 0.125)))
    platform = Platform(tuple(Device(f"d{b}", 1.0, at=a) for b, a in enumerate(at)), levels)
    found = metrics.predicted_seconds(graph, partition, platform)
    # Three values of 8 bytes each way over the middle: 48 s on each uplink. A block beside it
    # needs 48 s for its own, and 6 s for its neighbour in the node; the outer ones use no uplink.
    assert found.communicate.tolist() == [6.0, 54.0, 54.0, 6.0]
    assert found.contention.tolist() == [0.0] * 4
    crossed = metrics.predicted_seconds(graph, Partition(np.tile([0, 2, 1, 3], 3), 4), platform)
    # All three borders cross now: 144 s on each uplink, whoever waits.
    assert crossed.communicate.tolist() == [144.0] * 4
    assert crossed.contention.tolist() == [96.0, 48.0, 48.0, 96.0]


def test_an_idle_device_costs_nothing_and_a_lone_one_no_exchange():
    platform = Platform((Device("a", 2.0, fixed_seconds=1.0), Device("b", 1.0, fixed_seconds=9.0)))
    found = metrics.predicted_seconds(path(6), Partition(np.zeros(6), 2), platform)
    assert found.seconds.tolist() == [4.0, 0.0]
    assert np.isnan(found.bound)  # nobody asked


UNEVEN = DeviceSpeeds("d0", (Sample(20.0, 1.0), Sample(40.0, 9.0), Sample(60.0, 2.0)))
HARD = {
    "one device": [Device("d0", 3.0, fixed_seconds=0.5)],
    "all equal": [Device(f"d{b}", 3.0) for b in range(6)],
    "one a thousand times as fast": [Device(f"d{b}", 1000.0 if b == 2 else 1.0) for b in range(6)],
    "more is done sooner": [
        Device("d0", 1.0, curve=UNEVEN),
        *[Device(f"d{b}", 2.0) for b in (1, 2)],
    ],
}


@pytest.mark.parametrize("link", [Link(), Link(0.25, 0.0), Link(0.0, 0.125)], ids=str)
@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("devices", HARD.values(), ids=HARD)
def test_hard_shapes(devices, link, overlap):
    platform = Platform(tuple(devices), (Level("net", link, shared=True),))
    graph, workload = grid(6, 20), Workload("w", bytes_per_value=1.0, overlap=overlap)
    partition = Partition(np.arange(120) * platform.k // 120, platform.k)
    found = metrics.predicted_seconds(graph, partition, platform, workload)
    expected = slow_seconds(graph, partition, platform, workload)
    assert found.ends.tolist() == pytest.approx(expected["ends"])
    bound = lower_bound(graph, platform, workload).seconds
    assert bound <= found.makespan * (1 + 1e-9)
    if link == Link() and not overlap:
        slowest = found.compute + found.fixed
        assert found.makespan == pytest.approx(slowest.max())
        assert found.bottleneck == slowest.argmax()


def test_many_messages_end_nearly_when_they_would_if_all_counted(monkeypatch):
    rng = np.random.default_rng(99)
    levels = (Level("net", Link(0.1, 0.5), shared=True), Level("node", Link(0.0, 0.25)))
    devices = (Device(f"d{b}", s, at=f"n{b // 5}") for b, s in enumerate(rng.uniform(1, 8, 400)))
    part = np.arange(80 * 80).reshape(80, 80)
    part = part // 320 * 20 + part % 80 // 4
    case = grid(80, 80), Partition(part.ravel(), 400), Platform(tuple(devices), levels)
    nearly = metrics.predicted_seconds(*case)
    monkeypatch.setattr("evener.plans.exchange_costs.MAX_EXACT", 10**9)
    exactly = metrics.predicted_seconds(*case)
    assert (nearly.ends != exactly.ends).any()
    assert nearly.ends.tolist() == pytest.approx(exactly.ends.tolist(), rel=0.01)


@pytest.mark.slow
def test_a_thousand_devices():
    graph = grid(100, 100)
    k, part = 1000, np.arange(10_000) // 10
    links = tuple(Connection((f"d{i}", "hub"), Link(1e-6, 1e-9), shared=True) for i in range(k))
    platform = Platform(tuple(Device(f"d{i}", 1.0) for i in range(k)), connections=links)
    found = metrics.predicted_seconds(graph, Partition(part, k), platform, WORKLOADS["spmv"])
    laid_out = costs_of(platform)
    assert np.isfinite(found.seconds).all()
    assert laid_out.alpha[0, 1] == pytest.approx(2e-6)
    assert laid_out.route_link.size == 2 * k * (k - 1)


def test_too_many_devices_for_pairs():
    with pytest.raises(InputError, match="2,048"):
        costs_of(Platform.flat([1.0] * 2049))


def test_the_certificate_counts_the_work():
    graph, partition = path(4), Partition(np.array([0, 0, 1, 1]), 2)
    contract = Contract(np.full(2, 2.0), np.ones(2), np.full(2, 3.0))
    kernel = Workload("k", bytes_per_edge=1.0)
    judged = evaluate(graph, partition, Platform.flat([1, 1]), contract, workload=kernel)
    assert judged.certificate.weights.tolist() == pytest.approx([2.0, 2.0])
    uneven = Partition(np.array([0, 1, 1, 1]), 2)
    judged = evaluate(graph, uneven, Platform.flat([1, 1]), contract, workload=kernel)
    assert judged.certificate.weights.tolist() == pytest.approx([4 / 6, 20 / 6])
    assert judged.prediction.compute.tolist() == pytest.approx([4 / 6, 20 / 6])


@pytest.mark.parametrize("beta", [5e-324, 1e-310, 1e-300, 1e290])
def test_messages_end_at_any_cost_of_a_value(beta):
    # A second over the least number of all is more than the largest: such flows took for ever.
    platform = Platform(tuple(Device(f"d{i}", 1.0) for i in range(3)), (Level("l", Link(0, beta)),))
    made = metrics.predicted_seconds(
        path(6), Partition(np.repeat([0, 1, 2], 2), 3), platform, Workload("w")
    )
    # The one in the middle exchanges four values of eight bytes, those at the ends two.
    assert made.seconds.tolist() == pytest.approx([2 + 16 * beta, 2 + 32 * beta, 2 + 16 * beta])
    assert made.makespan == pytest.approx(2 + 32 * beta)


@pytest.mark.slow
def test_makespans_are_those_of_a_simulation(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    checking = importlib.import_module("simulated")
    if (reason := checking.missing()) is not None:
        pytest.skip(reason)
    lines = checking.measured(checking.SHAPES, range(100, 102))
    assert len(lines) == 32
    for line in lines:
        off = line["predicted"] / line["simulated"] - 1
        assert abs(off) <= checking.TOLERANCES[line["shared"]], line
