"""The plan that is fastest: no worse than METIS and the plan of least cut, and it holds."""

from dataclasses import replace

import numpy as np
import pytest

import evener as ev
from evener.errors import InfeasibleError, InputError, UsageError
from evener.graphs.generating.delaunay import delaunay
from evener.planning.compare import rival_of
from evener.planning.device_sets.estimate import Estimator
from evener.planning.device_sets.exchange_laws import HaloLaw
from evener.planning.device_sets.sets import every_set, few_sets
from evener.planning.makespan.candidates import candidate_of
from evener.planning.makespan.problem import MakespanProblem
from evener.planning.makespan.search import starts_of
from evener.planning.makespan.slabs import Slabs, in_line
from evener.plans import metrics
from evener.plans.costs import costs_of
from evener.plans.plan import METIS_STAGE, SAME_DEVICES_STAGE
from evener.plans.workload import WEIGHTS, WORKLOADS
from evener.platforms.examples import tree
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.platform import Device, Level, Link, Platform
from evener.reporting.stages import beside
from evener.wording import duration
from tests.assertions import grid
from tests.choosing import slow_but

CLUSTER = tree([3, 4], fast=1, speed=16e8, slow_speed=1e8)
SOON = ev.PlanOptions(objective="seconds", preset="fast", threads=1)


def linked(speeds, alpha=1e-6, beta=1e-9, **more):
    devices = [Device(f"d{i}", s, **more) for i, s in enumerate(speeds)]
    return Platform(tuple(devices), levels=(Level("net", Link(alpha, beta)),))


def test_seconds_are_the_default_where_links_are_known():
    options = ev.PlanOptions()
    assert options.settled(CLUSTER).objective == "seconds"
    assert options.settled(Platform.flat([1, 2])).objective == "cut"
    assert replace(options, tool="metis").settled(CLUSTER).objective == "cut"
    assert options.settled(CLUSTER, weights=2).objective == "cut"
    with pytest.raises(UsageError, match="one weight per vertex"):
        replace(options, objective="seconds").settled(CLUSTER, weights=2)


@pytest.mark.parametrize("kernel", slow_but(["weights", "spmv"], 1))
@pytest.mark.parametrize("overlap", [False, True])
def test_never_worse_than_the_rivals_and_certified(kernel, overlap):
    graph = delaunay(3000, seed=3)
    work = replace(WORKLOADS[kernel], overlap=overlap)
    plan = ev.plan(graph, CLUSTER, ev.PlanOptions(workload=work, threads=1))
    assert plan.options["objective"] == "seconds"
    assert plan.certificate.all_hold
    steps = {one.role: one.seconds for one in plan.stages}
    assert plan.prediction.makespan <= min(steps["metis"], steps["cut"]) * (1 + 1e-9)
    last, least = plan.stages[-1], min(one.seconds for one in plan.stages)
    assert last.role == "chosen"
    ratios = plan.certificate.weights / plan.certificate.contract.targets
    assert (last.smallest, last.largest) == pytest.approx((ratios.min(), ratios.max()))
    assert last.seconds <= 1.01 * least
    assert plan.prediction.makespan == pytest.approx(last.seconds, rel=1e-9)
    again = metrics.predicted_seconds(graph, plan.partition, CLUSTER, work)
    assert again.makespan == pytest.approx(plan.prediction.makespan, rel=1e-9)
    contract = plan.certificate.contract
    assert contract.may_be_unused
    assert contract.makespan == last.seconds
    # Targets are what would be best if nothing were exchanged: all are done at the bound.
    alone = contract.targets / CLUSTER.speeds
    assert np.allclose(alone, alone[0])
    assert alone[0] == pytest.approx(plan.prediction.bound, rel=0.02)


def test_of_plans_alike_the_one_that_sends_least():
    graph, machine = delaunay(3000, seed=3), linked([1e7, 3e7, 2e7, 6e7, 1e7], 1e-7, 1e-10)
    fastest = ev.plan(graph, machine, ev.PlanOptions(threads=1, alike=0.0))
    assert fastest.stages[-1].seconds == min(one.seconds for one in fastest.stages)
    alike = ev.plan(graph, machine, ev.PlanOptions(threads=1, alike=0.2))
    assert alike.evaluation.total_volume < fastest.evaluation.total_volume
    assert alike.evaluation.edge_cut <= fastest.evaluation.edge_cut
    assert alike.prediction.makespan <= 1.2 * fastest.prediction.makespan
    rivals = [one.seconds for one in alike.stages if one.role in ("metis", "cut")]
    assert alike.prediction.makespan <= min(rivals) * (1 + 1e-9)
    with pytest.raises(UsageError, match="alike"):
        ev.PlanOptions(alike=-0.1)


@pytest.mark.parametrize("preset", slow_but(["fast", "default"]))
def test_times_may_fall_where_loads_grow(preset):
    """Speeds measured on a noisy machine: no order in them, and still never worse."""
    graph, rng = delaunay(2000, seed=5), np.random.default_rng(5)
    loads = np.geomspace(20, 2000, 10)
    devices = []
    for b in range(5):
        times = loads / 1e8 * rng.uniform(0.3, 3, 10)
        samples = [Sample(*pair) for pair in zip(loads.tolist(), times.tolist(), strict=True)]
        devices.append(Device(f"d{b}", 1e8 * (b + 1), curve=DeviceSpeeds(f"d{b}", tuple(samples))))
    platform = Platform(tuple(devices), levels=(Level("net", Link(1e-7, 1e-10)),))
    plan = ev.plan(graph, platform, replace(SOON, preset=preset))
    steps = {one.role: one.seconds for one in plan.stages}
    assert plan.certificate.all_hold
    assert plan.prediction.makespan <= min(steps["metis"], steps["cut"]) * (1 + 1e-9)


def test_same_plan_at_any_number_of_threads(tmp_path):
    graph = delaunay(2000, seed=4)
    found = []
    for threads in (1, 2):
        ev.write_plan(tmp_path / "x.plan", ev.plan(graph, CLUSTER, replace(SOON, threads=threads)))
        found.append((tmp_path / "x.plan").read_bytes())
    assert found[0] == found[1]


def test_a_device_that_costs_more_than_it_does_gets_nothing():
    graph, platform = grid(12, 12), linked([1e8, 1e8], alpha=1.0)
    plan = ev.plan(graph, platform, SOON)
    assert sorted(plan.certificate.vertices.tolist()) == [0, 144]
    assert plan.certificate.all_hold
    assert plan.prediction.makespan == 144 / 1e8
    empty = int(plan.certificate.vertices.argmin())
    assert plan.verdict().startswith("1 block, 1 of 2 devices unused; slowest device ")
    assert any(f"d{empty}" in note for note in plan.notes)


def test_metis_gets_the_devices_that_the_plan_chooses():
    """One of three devices costs more than it does; METIS on the other two is a second row."""
    fast, far = linked([1e8, 1e8, 1e8], alpha=1e-7), Link(1.0, 1e-9)
    devices = tuple(replace(d, at=("a", "a", "b")[i]) for i, d in enumerate(fast.devices))
    platform = Platform(devices, (Level("far", far), Level("near", Link(1e-7, 1e-9))))
    plan = ev.plan(grid(30, 30), platform, objective="seconds", threads=1)
    assert plan.certificate.vertices[2] == 0
    stages = {stage.role: stage for stage in plan.stages}
    ours, all_three = plan.prediction.makespan, stages[METIS_STAGE].seconds
    assert ours <= stages[SAME_DEVICES_STAGE].seconds < all_three
    assert f"METIS on the same devices {duration(stages[SAME_DEVICES_STAGE].seconds)}" in beside(
        plan
    )
    used = plan.certificate.vertices > 0
    rival = rival_of(grid(30, 30), platform, "metis", SOON, used)
    assert [stage.name for stage in rival.stages][-1] == "on the plan's 2 devices"
    assert rival.seconds == rival.nearest.seconds == rival.stages[-1].seconds < all_three
    assert ours <= rival.seconds


def test_memory_binds_and_nothing_else():
    small = Device("small", 1e9, memory=30 * 72.0)
    platform = Platform((small, Device("cpu", 1e6)), levels=(Level("net", Link(1e-9, 1e-12)),))
    plan = ev.plan(grid(12, 12), platform, SOON)
    assert plan.certificate.all_hold
    assert plan.certificate.bytes[0] <= 30 * 72
    tight = linked([1e6, 1e6], memory=70 * 60.0)
    with pytest.raises(InfeasibleError):
        ev.plan(grid(12, 12), tight, SOON)


@pytest.mark.parametrize("seed", range(4))
def test_any_graph_and_machine(seed):
    rng = np.random.default_rng([31_415, seed])
    n, k = int(rng.integers(2, 30)), int(rng.integers(2, 6))
    u, v = rng.integers(0, n, (2, int(rng.integers(0, 4 * n))))
    weights = None if seed % 2 else rng.random(n)
    graph = ev.Graph.from_edges(n, u[u != v], v[u != v], vwgt=weights)
    platform = linked(np.exp(rng.normal(0, 2, k)), *np.exp(rng.normal(-3, 2, 2)))
    try:
        plan = ev.plan(graph, platform, SOON)
    except InfeasibleError:
        assert k > graph.n or graph.total_weight == 0
        return
    assert plan.certificate.all_hold
    assert plan.prediction.makespan <= 1.01 * min(one.seconds for one in plan.stages)


def test_curves_that_fall_off_a_cliff():
    samples = [
        Sample(load, load / 1e8 * (1 if load <= 1000 else 50)) for load in (1, 1000, 1001, 9e4)
    ]
    curve = DeviceSpeeds("gpu", tuple(samples))
    devices = (Device("gpu", 1e8, curve=curve), *(Device(f"c{i}", 2e7) for i in range(3)))
    platform = Platform(devices, levels=(Level("net", Link(1e-8, 1e-11)),))
    plan = ev.plan(delaunay(3000, seed=8), platform, SOON)
    # METIS knows the best sizes: 1,000 on the GPU, and no more.
    metis = next(one for one in plan.stages if one.role == "metis")
    assert plan.prediction.makespan <= metis.seconds * (1 + 1e-9)
    assert plan.prediction.makespan < 1.5 * plan.prediction.bound
    assert plan.certificate.weights[0] <= 1000


def test_slabs_touch_two_others():
    graph = delaunay(4000, seed=6)
    for one in (graph, graph.with_(coords=None)):
        order = in_line(one, 0.5)
        assert np.array_equal(np.sort(order), np.arange(one.n))
        problem = MakespanProblem.of(one, CLUSTER, WEIGHTS)
        found = candidate_of(problem, Slabs(problem).blocks(np.full(12, one.n / 12)))
        assert np.diff(found.quotient.starts).max() <= 4
        assert np.abs(found.sizes - one.n / 12).max() <= 1


@pytest.mark.parametrize("seed", slow_but(range(6), 0, 1))
def test_what_is_certified_holds_counted_one_by_one(seed):
    """Loads, memory, shares of zero and steps, by plain loops over what the plan says."""
    draw = np.random.default_rng(seed)
    graph = delaunay(250, seed=seed).with_(vwgt=draw.integers(0, 4, 250))
    cap = graph.total_bytes / 250 * 120
    devices = tuple(
        Device(f"d{i}", float(draw.choice([1e8, 4e8])), memory=cap if i % 2 else None)
        for i in range(6)
    )
    machine = Platform(devices, (Level("net", Link(10.0 ** -draw.integers(6, 9), 1e-9)),))
    plan = ev.plan(graph, machine, SOON)
    asked = plan.certificate.contract
    edges = np.diff(graph.xadj)
    for b, device in enumerate(devices):
        own = [v for v in range(graph.n) if plan.partition.part[v] == b]
        load = sum(float(graph.weights()[v]) for v in own)
        room = sum(graph.bytes_per_vertex + graph.bytes_per_edge * int(edges[v]) for v in own)
        assert asked.low[b] <= load <= asked.high[b]
        assert device.memory is None or room <= device.memory
    empty = plan.certificate.vertices == 0
    assert ("Unused" in " ".join(plan.notes)) == bool(empty.any())
    assert ("unused" in plan.verdict()) == bool(empty.any())
    seconds = [one.seconds for one in plan.stages]
    assert seconds[-1] <= 1.01 * min(seconds)
    for one in plan.stages:  # what is refined is never slower than what it was made of
        known = {other.name: other.seconds for other in plan.stages}
        if one.name.endswith(", refined") and not one.name.startswith("chosen"):
            assert one.seconds <= known[one.name.removesuffix(", refined")]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_more_devices_than_vertices_leave_devices_out(n):
    plan = ev.plan(grid(n, 1), linked([1e8] * 8, alpha=1e-12, beta=0.0), SOON)
    assert plan.certificate.all_hold and np.count_nonzero(plan.certificate.vertices) <= n
    unused = 8 - np.count_nonzero(plan.certificate.vertices)
    assert f"{unused} of 8 devices unused" in plan.verdict()


def test_what_cannot_be_reckoned_is_refused():
    graph = grid(10, 10)
    with pytest.raises(InfeasibleError, match="weight zero"):
        ev.plan(graph.with_(vwgt=np.zeros(100)), linked([1.0, 2.0]), SOON)
    with pytest.raises(InputError, match="too little to predict"):
        ev.plan(graph.with_(vwgt=np.full(100, 1e-300)), linked([1.0, 2.0]), SOON)
    for speeds, alpha, culprit in (
        ([1.0, 1e300], 1e-6, "d1"),
        ([1e308, 1e308], 1e-6, "d0"),
        ([1.0, 1.0], 1e300, "latency"),
    ):
        with pytest.raises(InputError, match=culprit):
            ev.plan(graph, linked(speeds, alpha=alpha), SOON)


@pytest.mark.parametrize("low", [54, -12])
def test_weights_of_any_size_are_divided(low):
    """Heavy ones all, or from next to nothing up; warnings are errors here."""
    weights = 2.0 ** np.linspace(low, 54, 60)
    plan = ev.plan(grid(60, 1).with_(vwgt=weights), linked([1e8, 2e8, 1e8]), replace(SOON, seed=3))
    assert plan.certificate.all_hold


def estimator(speeds, alpha=1e-6):
    devices = tuple(Device(f"d{i}", s) for i, s in enumerate(speeds))
    costs = costs_of(Platform(devices, (Level("net", Link(alpha, 1e-10)),)))
    return Estimator(HaloLaw(10_000, 4.0, 0.5, 6.0), costs, 10_000.0)


def test_of_sets_of_devices_alike_one_is_tried_the_least_estimate_first():
    one = estimator([1e8, 1e8, 1e8, 3e7])
    starts = starts_of(one, every_set(4), one.blocks, np.inf)
    seconds = [start.seconds for start in starts]
    assert seconds == sorted(seconds)
    kinds = {tuple(sorted(one.kinds[start.loads > 0].tolist())) for start in starts}
    assert (
        len(kinds) == len(starts) == 7
    )  # none to three of the fast ones, with the slow or without
    assert all(np.isclose(start.loads.sum(), 10_000) for start in starts)


def test_sets_estimated_to_take_longer_than_the_best_are_left_out():
    one = estimator([1e8, 1e8], alpha=1.0)
    starts = starts_of(one, few_sets(one), one.blocks, 2e-4)
    assert [start.name for start in starts] == ["one device"]
