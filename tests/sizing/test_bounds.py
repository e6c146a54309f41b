"""The lower bound: the best of all sizes where vertices are alike, below every partition anyway."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.graphs.graph import Graph
from evener.plans.workload import WORKLOADS, Workload
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.platform import Device, Platform
from evener.sizing.bounds import lower_bound
from tests.assertions import grid
from tests.examples import with_examples

SPEEDS = st.floats(0.1, 10.0)


@st.composite
def devices(draw, name):
    low = draw(st.sampled_from([None, None, 1.0, 2.0]))
    high = draw(st.sampled_from([None, None, 3.0, 4.0]))
    curve = None
    if draw(st.booleans()):
        loads = [1.0, 2.0, 5.0]
        samples = tuple(Sample(load, load / draw(SPEEDS)) for load in loads)
        curve = DeviceSpeeds(name, samples, capacity=draw(st.sampled_from([np.inf, 4.0])))
    memory = draw(st.sampled_from([None, None, 50.0, 100.0, 150.0]))
    fixed = draw(st.sampled_from([0.0, 0.0, 0.3, 2.0]))
    speed = draw(SPEEDS)
    return Device(
        name, speed, memory=memory, curve=curve, fixed_seconds=fixed, low_units=low, high_units=high
    )


@st.composite
def platforms(draw):
    k = draw(st.integers(1, 3))
    return Platform(tuple(draw(devices(f"d{b}")) for b in range(k)))


def seconds_of(platform, loads, n_bytes, *, capped=True):
    """Makespan of these blocks if nothing is exchanged; infinity where a limit is broken."""
    ends = []
    for device, load, own in zip(platform.devices, loads, n_bytes, strict=True):
        if load == 0 and own == 0:
            continue
        most = min(device.high_units or np.inf, device.model.capacity)
        fits = (device.low_units or 0) <= load <= most
        fits &= not capped or own <= (device.memory or np.inf)
        ends.append(device.model.time(load) + device.fixed_seconds if fits else np.inf)
    return max(ends, default=0.0)


@given(platforms(), st.integers(1, 7))
@with_examples(300)
def test_the_best_of_all_sizes(platform, n):
    graph = Graph(np.zeros(n + 1, np.int64), np.empty(0, np.int32), bytes_per_vertex=24.0)
    sizes = [s for s in product(range(n + 1), repeat=platform.k) if sum(s) == n]
    best = min(seconds_of(platform, s, [24.0 * x for x in s]) for s in sizes)
    found = lower_bound(graph, platform)
    if np.isfinite(best):
        # Lows may forbid sizes whose sum the largest loads allow: then it is a bound, not the best.
        free = all(device.low_units is None for device in platform.devices)
        assert found.seconds <= best * (1 + 1e-9)
        assert not free or found.seconds >= best * (1 - 1e-9)
        assert found.loads.sum() == pytest.approx(n)
    elif not found.fits:
        unbound = min(
            seconds_of(platform, s, [0.0 + 24 * x for x in s], capped=False) for s in sizes
        )
        assert found.seconds <= unbound * (1 + 1e-9)


@given(platforms(), st.integers(0, 2**31), st.sampled_from(["weights", "spmv"]))
@with_examples(150)
def test_no_partition_is_below(platform, seed, kernel):
    rng = np.random.default_rng(seed)
    graph = grid(2, 3)
    if rng.random() < 0.7:
        graph = graph.with_(vwgt=rng.integers(0, 4, graph.n) + (rng.random() < 0.5))
    if not graph.total_weight:
        return
    workload = WORKLOADS[kernel]
    work, n_bytes = workload.work(graph), graph.vertex_bytes()
    found = lower_bound(graph, platform, workload)
    parts = np.array(list(product(range(platform.k), repeat=graph.n)))
    blocks = [parts == b for b in range(platform.k)]
    needed = np.array([within @ each for each in (work, n_bytes) for within in blocks]).T
    for row in np.unique(needed, axis=0):  # of partitions that need the same, one
        made = seconds_of(platform, row[: platform.k], row[platform.k :], capped=found.fits)
        assert found.seconds <= made * (1 + 1e-9)


def test_memory_and_fixed_seconds_by_hand():
    # 4 of speed 4 within 48 bytes: two vertices; the other eight at speed 1, after 0.5 s.
    graph = grid(2, 5).with_(bytes_per_vertex=24.0, bytes_per_edge=0.0)
    platform = Platform((Device("a", 4.0, memory=48.0), Device("b", 1.0, fixed_seconds=0.5)))
    found = lower_bound(graph, platform)
    assert found.fits
    assert found.seconds == pytest.approx(8.5)
    assert found.loads == pytest.approx([2, 8])
    # A kernel's fixed seconds are everybody's.
    work = Workload("mine", fixed_seconds=0.25)
    assert lower_bound(graph, platform, work).seconds == pytest.approx(8.75)
    # Without the memory: by 2.25 s nine vertices, and one after its 0.5 s.
    free = Platform((Device("a", 4.0), Device("b", 1.0, fixed_seconds=0.5)))
    assert lower_bound(graph, free).loads == pytest.approx([9, 1])  # whole vertices
    assert lower_bound(graph, free).seconds == pytest.approx(2.25)


def test_memory_that_holds_too_little_is_left_out_of_account():
    platform = Platform((Device("a", 1.0, memory=10.0), Device("b", 1.0, memory=10.0)))
    found = lower_bound(grid(2, 2), platform)
    assert not found.fits
    assert found.seconds == pytest.approx(2.0)
    few = Platform((Device("a", 1.0, high_units=1), Device("b", 1.0, high_units=1)))
    assert lower_bound(grid(2, 2), few).seconds == np.inf


def test_light_vertices_cannot_fill_two_memories():
    # Half of the vertices need 100 bytes, half 10: by each alone both memories would hold all
    # of the light ones.
    cliques = [(20 + i + c, 20 + j + c) for c in (0, 10) for i in range(10) for j in range(i)]
    ends = np.array(cliques).T
    graph = Graph.from_edges(40, *ends).with_(bytes_per_vertex=10.0, bytes_per_edge=10.0)
    small = Platform(
        (Device("a", 10.0, memory=200.0), Device("b", 10.0, memory=200.0), Device("c", 1.0))
    )
    # Together 400 bytes: 20 light ones, and 2 heavy; 18 are left for c.
    assert lower_bound(graph, small).seconds == pytest.approx(18.0)


def test_nothing_to_do_takes_no_time():
    graph = grid(2, 2).with_(vwgt=np.zeros(4, np.int64))
    assert lower_bound(graph, Platform.flat([1.0, 2.0])).seconds == 0
