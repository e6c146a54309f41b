"""Refinement for seconds: its state against the prediction, its moves against brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError, UsageError
from evener.graphs.generating.random_graphs import rmat
from evener.graphs.graph import Graph
from evener.partitioning.makespan import search_kernels as kernels
from evener.partitioning.makespan.gain_state import Prices, SecondsState
from evener.partitioning.makespan.refine_seconds import (
    EFFORTS,
    GREEDY,
    BlockLimits,
    faces_of,
    refine_seconds,
)
from evener.partitioning.makespan.seconds_kernels import (
    Bounds,
    Model,
    best_move,
    make_move,
    reprice,
)
from evener.plans import metrics
from evener.plans.costs import Costs, costs_of
from evener.plans.exchange_costs import ExchangeCosts
from evener.plans.partition import Partition
from evener.plans.workload import Workload
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.platform import Connection, Device, Link, Platform
from evener.platforms.platform import Level as PlatformLevel
from tests.examples import with_examples
from tests.partitioning.refinement.test_volumes import grid, level_of, random_graph

SEEDS = st.integers(0, 10**6)


def random_platform(k: int, rng: np.random.Generator) -> Platform:
    """Devices at nodes, some with speed curves, links of their own or shared."""
    devices = []
    for b in range(k):
        samples = [Sample(x, float(x / s)) for x, s in ((4, rng.uniform(2, 9)), (9, 3.0))]
        curve = DeviceSpeeds(f"d{b}", tuple(samples)) if rng.random() < 0.4 else None
        fixed = float(rng.choice([0.0, 0.5]))
        devices.append(
            Device(
                f"d{b}", float(rng.uniform(1, 8)), at=f"n{b % 3}", curve=curve, fixed_seconds=fixed
            )
        )
    shared = bool(rng.random() < 0.5)
    nodes = sorted({one.at for one in devices})
    if rng.random() < 0.5 or len(nodes) == 1:
        levels = (
            PlatformLevel("network", Link(rng.uniform(0, 2), rng.uniform(0, 0.2)), shared),
            PlatformLevel("node", Link(0.1, 0.01), bool(rng.random() < 0.3)),
        )
        return Platform(tuple(devices), levels=levels)
    link = Link(rng.uniform(0, 2), rng.uniform(0, 0.1))
    return Platform(
        tuple(devices), connections=[Connection(ends, link, shared) for ends in pairwise(nodes)]
    )


def random_case(
    seed: int, n: int, k: int
) -> tuple[Graph, np.ndarray, Platform, Workload, np.random.Generator]:
    rng = np.random.default_rng(seed)
    graph = random_graph(n, int(rng.integers(0, 4 * n)), rng)
    exchange = "faces" if rng.random() < 0.4 else "vertices"
    if exchange == "faces" and rng.random() < 0.5:
        weights = rng.integers(1, 4, (n, n))
        ends = np.repeat(np.arange(n), graph.degrees), graph.adjncy
        graph = graph.with_(adjwgt=(weights + weights.T)[ends])
    workload = Workload(
        "any", bytes_per_vertex=float(rng.integers(0, 2)), bytes_per_edge=float(rng.integers(0, 2)),
        fixed_seconds=0.1, overlap=bool(rng.random() < 0.5), exchange=exchange,
    )  # fmt: skip
    if not graph.adjncy.size:
        workload = replace(workload, bytes_per_vertex=1.0)
    part = rng.integers(0, k, n).astype(np.int32)
    return graph, part, random_platform(k, rng), workload, rng


def state_of(graph: Graph, part: np.ndarray, work: np.ndarray, costs: Costs) -> SecondsState:
    k, n = costs.k, graph.n
    free = Bounds(work, work, np.zeros(n), np.zeros(k), np.full(k, np.inf), np.full(k, np.inf))
    level = replace(level_of(graph), adjwgt=faces_of(graph, costs))
    return SecondsState.opened(level, part.copy(), free, Prices(costs), 1)


def slow_seconds(
    model: Model, graph: Graph, part: np.ndarray, work: np.ndarray, of_faces: bool = False
):
    """(k,) seconds as kernels are to see them: shared links in beta, small messages in part."""
    k = model.fixed.size
    values, load, outer = np.zeros((k, k)), np.zeros(k), np.zeros(k)
    for v in range(graph.n):
        own = slice(graph.xadj[v], graph.xadj[v + 1])
        to = part[graph.adjncy[own]].tolist()
        faces = [1] * len(to) if graph.adjwgt is None else graph.adjwgt[own].tolist()
        near = set(to) - {part[v]}
        load[part[v]] += work[v]
        outer[part[v]] += work[v] if near else 0.0
        for b in near:
            sent = sum(w for q, w in zip(to, faces, strict=True) if q == b) if of_faces else 1
            values[part[v], b] += sent
            values[b, part[v]] += sent
    seconds = np.zeros(k)
    for b in range(k):
        own = slice(model.first[b], model.last[b])
        compute = load[b] / np.interp(load[b], model.left[own], model.speed[own])
        exchange = 0.0
        for c in range(k):
            share = min(1.0, values[b, c] / model.latency_ramp)
            exchange += (
                model.alpha[b, c] * share * (2 - share) + model.per_value[b, c] * values[b, c]
            )
        edge = compute * outer[b] / load[b] if load[b] else 0.0
        total = max(compute - edge, exchange) + edge if model.overlap else compute + exchange
        seconds[b] = total + model.fixed[b] if load[b] or values[b].any() else 0.0
    return seconds


@given(SEEDS, st.integers(2, 24), st.integers(1, 7))
@with_examples(80)
def test_seconds_are_those_predicted(seed: int, n: int, k: int) -> None:
    graph, part, platform, workload, _ = random_case(seed, n, k)
    state = state_of(graph, part, workload.work(graph), costs_of(platform, workload))
    said = metrics.predicted_seconds(graph, Partition(part, k), platform, workload)
    # All are taken to wait until the shared links they use are through: nobody waits longer.
    between = metrics.quotient(graph, Partition(part, k), of_faces=workload.of_faces)
    exchange = ExchangeCosts.of(between, platform, 8.0)
    until = np.maximum(exchange.direct, exchange.held_up())
    interior = said.interior * said.compute if workload.overlap else np.zeros(k)
    slow = np.maximum(interior, until) + said.compute - interior + said.fixed
    np.testing.assert_allclose(state.seconds(), slow, rtol=1e-12)
    assert (said.seconds <= slow * (1 + 1e-12)).all()
    if not any(one.shared for one in (*platform.levels, *platform.connections)):
        np.testing.assert_allclose(state.seconds(), said.seconds, rtol=1e-12)


@given(SEEDS, st.integers(2, 16), st.integers(2, 5))
@with_examples(60)
def test_moves_are_weighed_and_booked_exactly(seed: int, n: int, k: int) -> None:
    """Without compiling: the same functions, called from Python."""
    graph, part, platform, workload, rng = random_case(seed, n, k)
    work = workload.work(graph)
    state = state_of(graph, part, work, costs_of(platform, workload))
    second_weight = rng.uniform(0.1, 10, k)
    model = state.prices.model(float(rng.integers(1, 5)), state.tables.sent, second_weight)
    total, log2_power = state.totals, 2
    reference = reprice(state.tables, model, total)
    for b in range(k):
        total.powered[b] = second_weight[b] * (total.seconds[b] / reference) ** 2**log2_power
    for v in rng.permutation(n)[:6]:
        args = (state.tables, model, total, state.bounds, int(v))
        np.testing.assert_allclose(
            total.seconds, slow_seconds(model, graph, state.part, work, workload.of_faces),
            rtol=1e-9, atol=1e-12,
        )  # fmt: skip
        change, to = best_move(*args, reference, log2_power, state.scratch)
        least = {}
        for q in set(state.part[graph.adjncy[graph.xadj[v] : graph.xadj[v + 1]]].tolist()):
            moved = state.part.copy()
            moved[v] = q
            now = slow_seconds(model, graph, moved, work, workload.of_faces)
            powered = second_weight * (now / reference) ** 2**log2_power
            least[q] = float(powered.sum() - total.powered.sum())
        least.pop(int(state.part[v]), None)
        if total.size[state.part[v]] == 1 or not least:
            assert to == -1
            continue
        assert least[int(to)] == pytest.approx(min(least.values()), rel=1e-9, abs=1e-9)
        assert change == pytest.approx(least[int(to)], rel=1e-9, abs=1e-9)
        q = int(rng.choice(list(least)))
        won = make_move(*args, q, reference, log2_power, state.scratch)
        assert won == pytest.approx(least[q], rel=1e-9, abs=1e-9)
    assert (state.scratch.slot == -1).all()
    assert (total.size == np.bincount(state.part, minlength=k)).all()


@given(SEEDS, st.integers(2, 40), st.integers(1, 7), st.sampled_from(list(EFFORTS)))
@with_examples(60)
def test_never_slower_nor_empty_nor_out_of_limits(seed: int, n: int, k: int, effort: str) -> None:
    graph, part, platform, workload, rng = random_case(seed, n, k)
    work, costs = workload.work(graph), costs_of(platform, workload)
    before = state_of(graph, part, work, costs).seconds()
    weight, memory = (
        np.bincount(part, weights, k) for weights in (graph.weights(), graph.vertex_bytes())
    )
    low, high = weight - rng.integers(0, 3, k), weight + rng.integers(0, 3, k)
    caps = memory + rng.integers(0, 100, k)
    found, seconds = refine_seconds(
        graph, part, work, costs, limits=BlockLimits(low, high, caps), effort=effort
    )
    np.testing.assert_allclose(seconds, state_of(graph, found, work, costs).seconds(), rtol=1e-12)
    assert seconds.max() <= before.max() * (1 + 1e-12)
    assert ((np.bincount(found, minlength=k) > 0) == (np.bincount(part, minlength=k) > 0)).all()
    weight, memory = (
        np.bincount(found, weights, k) for weights in (graph.weights(), graph.vertex_bytes())
    )
    assert (weight >= low).all() and (weight <= high).all() and (memory <= caps).all()


@given(SEEDS, st.integers(2, 40), st.integers(1, 7), st.sampled_from(list(EFFORTS)))
@with_examples(40)
def test_fixed_vertices_stay(seed: int, n: int, k: int, effort: str) -> None:
    graph, part, platform, workload, rng = random_case(seed, n, k)
    work, costs = workload.work(graph), costs_of(platform, workload)
    fixed = rng.random(n) < rng.choice([0.2, 0.5, 1.0])
    before = state_of(graph, part, work, costs).seconds()
    found, seconds = refine_seconds(
        graph, part, work, costs, limits=BlockLimits(fixed=fixed), effort=effort
    )
    assert (found == part)[fixed].all()
    # A block whose vertices are all without work may keep a rounding error's worth of it.
    some = np.bincount(found, work, k) > 0
    again = state_of(graph, found, work, costs).seconds()
    np.testing.assert_allclose(seconds[some], again[some], rtol=1e-12)
    assert seconds.max() <= before.max() * (1 + 1e-12)


def test_anchors_are_no_hindrance() -> None:
    """A grid whose first and last columns are one heavy vertex each, beside the grid itself."""
    graph, width = grid(24), 24
    column = np.arange(576) % width
    of = np.where(column < 4, 0, np.where(column >= 20, 1, 2 + np.arange(576)))
    _, of = np.unique(of, return_inverse=True)
    ends = of[np.repeat(np.arange(576), graph.degrees)], of[graph.adjncy]
    once = ends[0] < ends[1]
    small = Graph.from_edges(int(of.max()) + 1, ends[0][once], ends[1][once])
    work = np.bincount(of).astype(float)
    costs = machine([1.0, 3.0], alpha=1.0, beta=0.1)
    part = (column >= 12).astype(np.int32)
    given = np.empty(small.n, np.int32)
    given[of] = part
    fixed = np.arange(small.n) < 2
    found, seconds = refine_seconds(small, given, work, costs, limits=BlockLimits(fixed=fixed))
    whole, _ = refine_seconds(graph, part, np.ones(576), costs, limits=BlockLimits(fixed=of < 2))
    assert (found == given)[fixed].all()
    assert (whole == part)[of < 2].all()
    assert seconds.max() < 151  # as without fixed vertices: 149.8
    np.testing.assert_allclose(
        seconds, state_of(graph, found[of], np.ones(576), costs).seconds(), rtol=1e-12
    )


def machine(speeds: list[float], alpha: float, beta: float) -> Costs:
    devices = tuple(Device(f"d{b}", s) for b, s in enumerate(speeds))
    return costs_of(Platform(devices, levels=(PlatformLevel("net", Link(alpha, beta / 8)),)))


def test_loads_follow_speeds_and_what_is_exchanged() -> None:
    graph = grid(24)
    part = (np.arange(576) // 288).astype(np.int32)
    costs = machine([1.0, 3.0], alpha=1.0, beta=0.1)
    found, seconds = refine_seconds(graph, part, np.ones(576), costs)
    assert seconds.max() < 151  # blocks of 6 and 18 columns: 149.8
    assert abs(np.bincount(found)[0] - 144) < 4


def test_messages_are_removed_where_they_are_dear() -> None:
    """Four quadrants of a grid, of which two touch at the middle only: diagonals are let go."""
    graph = grid(20)
    row, column = np.divmod(np.arange(400), 20)
    part = ((row >= 10) * 2 + (column >= 10)).astype(np.int32)
    part[[189, 190]] = 3, 2  # a corner that goes round
    costs = machine([10.0] * 4, alpha=5.0, beta=0.001)
    assert metrics.neighbours(metrics.quotient(graph, Partition(part, 4))).max() == 3
    found, seconds = refine_seconds(graph, part, np.ones(400), costs)
    between = metrics.quotient(graph, Partition(found, 4))
    assert metrics.neighbours(between).max() == 2
    assert seconds.max() < 2 * 5.0 + 10.5


def test_graphs_with_hubs_and_the_same_whatever_the_threads() -> None:
    graph = rmat(10, 5, 8)
    rng = np.random.default_rng(3)
    part = rng.integers(0, 40, graph.n).astype(np.int32)
    costs = machine(rng.uniform(1, 4, 40).tolist(), alpha=0.5, beta=0.05)
    work = np.ones(graph.n)
    before = state_of(graph, part, work, costs).seconds().max()
    found, seconds = refine_seconds(graph, part, work, costs)
    again, _ = refine_seconds(graph, part, work, costs, threads=3)
    assert (found == again).all()
    assert seconds.max() < 0.8 * before
    star = Graph.from_edges(600, np.zeros(599, np.int64), np.arange(1, 600))
    part = (np.arange(600) % 2).astype(np.int32)
    found, seconds = refine_seconds(star, part, np.ones(600), machine([2.0, 1.0], 0.0, 0.0))
    assert seconds.max() <= 207  # leaves that came over cannot be told to go back
    assert found[0] == part[0]  # a vertex of so many edges stays


def test_a_search_ends_when_it_has_looked_enough() -> None:
    graph, part = grid(24), (np.arange(576) % 7).astype(np.int32)
    state = state_of(graph, part, np.ones(576), machine([1.0] * 7, 1.0, 0.1))
    flag = state.flag.copy()
    state.scratch.queue[:] = np.arange(576)
    _, looks = kernels.search(
        state.tables, state.prices.model(), state.totals, state.bounds, 2, 0.1, 1, GREEDY, 576,
        1000, state.flag, state.scratch,
    )  # fmt: skip
    assert 1000 <= looks < 1200
    assert (state.flag == flag).all() and not state.scratch.lock.any()


def test_what_is_refused() -> None:
    graph, costs = grid(3), machine([1.0, 1.0], 0.0, 0.0)
    part, work = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1], np.int32), np.ones(9)
    for bad in (part[1:], part + 1, part - 1, part / 2):
        with pytest.raises(InputError, match="part"):
            refine_seconds(graph, bad, work, costs)
    for bad in (work[1:], -work, work * np.nan):
        with pytest.raises(InputError, match="work"):
            refine_seconds(graph, part, bad, costs)
    with pytest.raises(InputError, match="limits"):
        refine_seconds(graph, part, work, costs, limits=BlockLimits(np.ones(3)))
    with pytest.raises(UsageError, match="effort"):
        refine_seconds(graph, part, work, costs, effort="none")


def test_nothing_to_do() -> None:
    costs = machine([1.0, 1.0], 0.0, 0.0)
    nothing = Graph(np.zeros(1, np.int64), np.empty(0, np.int32))
    found, seconds = refine_seconds(nothing, np.empty(0, np.int32), np.empty(0), costs)
    assert found.size == 0 and not seconds.any()
    alone = Graph(np.zeros(2, np.int64), np.empty(0, np.int32))
    found, seconds = refine_seconds(alone, np.ones(1, np.int32), np.full(1, 3.0), costs)
    assert found.tolist() == [1] and seconds.tolist() == [0.0, 3.0]


def test_unlike_devices_are_evened_out_to_the_last_unit() -> None:
    """Where exchange is next to free, as whole units allow: 2 x 674 + 6 x 42 = 1,600."""
    graph = grid(40)
    speeds = [16e6, 16e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6]
    devices = tuple(Device(f"d{i}", s) for i, s in enumerate(speeds))
    platform = Platform(devices, levels=(PlatformLevel("net", Link(1e-12, 1e-15)),))
    part = np.repeat(np.arange(8), [660, 661, 40, 44, 50, 48, 47, 50]).astype(np.int32)
    _, seconds = refine_seconds(graph, part, np.ones(graph.n), costs_of(platform))
    assert seconds.max() == pytest.approx(674 / 16e6, rel=1e-4)
