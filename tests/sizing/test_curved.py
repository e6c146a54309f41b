"""Contracts under speed curves: optimal targets, caps, and no block tolerated beyond a cliff."""

import numpy as np
import pytest

from evener.errors import InfeasibleError
from evener.graphs.graph import Graph
from evener.platforms.models.examples import emulated_speeds
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.platform import Device, Platform
from evener.platforms.with_curves import models_of, platform_of, seconds_at
from evener.sizing.contracts import contract_for
from evener.sizing.curved import at_sizes, curve_notes, curved_sizes
from tests.assertions import grid


def sized(platform, load, **options):
    chosen = {"epsilon": 0.03, "unit": True, "bytes_per_unit": 0.0, **options}
    return curved_sizes(platform, load, **chosen)


def random_curves(rng, k):
    curves = []
    for b in range(k):
        loads = np.cumsum(rng.integers(1, 9, 5))
        speeds = rng.choice([0.2, 1, 3, 5], 5)
        capacity = float(rng.choice([np.inf, 9, 14]))
        samples = tuple(Sample(x, x / s) for x, s in zip(loads, speeds, strict=True))
        curves.append(DeviceSpeeds(f"d{b}", samples, capacity))
    return platform_of(curves)


def test_no_other_sizes_are_done_sooner():
    rng = np.random.default_rng(31007)
    for _ in range(15):
        platform, n = random_curves(rng, 3), int(rng.integers(6, 26))
        capacities = np.array([model.capacity for model in models_of(platform)])
        every = [np.array([a, b, n - a - b]) for a in range(1, n) for b in range(1, n - a)]
        every = [sizes for sizes in every if (sizes <= capacities).all()]
        if not every:
            continue
        best = min(seconds_at(platform, sizes.astype(float)).max() for sizes in every)
        found = sized(platform, n)
        assert found.sizes.sum() == n
        assert seconds_at(platform, found.targets).max() == pytest.approx(best)
        assert found.makespan == pytest.approx(best)


def test_tolerance_ends_where_time_leaves_it():
    """At 11,000 rows P1 and P2 are sized up to their memory: more would page."""
    platform = platform_of(emulated_speeds("cluster2", points=200))
    found = sized(platform, 11_000)
    assert (found.low <= found.targets).all()
    assert (found.targets <= found.high).all()
    limit = found.makespan * 1.03
    assert (seconds_at(platform, found.high) <= limit * (1 + 1e-9)).all()
    usual = np.floor(1.03 * found.targets)
    assert found.high[0] < usual[0]
    assert found.high[3] == usual[3]


def test_memory_and_capacity_both_cap():
    curves = [DeviceSpeeds("a", (Sample(10, 0.1),), 30.0), DeviceSpeeds("b", (Sample(10, 1.0),))]
    devices = (Device("a", 1.0, curve=curves[0]), Device("b", 1.0, memory=400.0, curve=curves[1]))
    found = sized(Platform(devices), 60, bytes_per_unit=10.0)
    assert found.targets.tolist() == [30.0, 30.0]
    assert found.saturated.tolist() == [True, False]
    assert found.high[0] == 30.0
    assert sized(Platform(devices), 70, bytes_per_unit=10.0).saturated.all()
    with pytest.raises(InfeasibleError, match="short"):
        sized(Platform(devices), 71, bytes_per_unit=10.0)


def test_loads_that_nobody_measured_are_named():
    a = DeviceSpeeds("a", (Sample(10, 0.1), Sample(50, 1.0)))  # 50 units/s from 50 on
    platform = platform_of([a, DeviceSpeeds("b", (Sample(8, 1.0),))])  # 8 units/s
    assert not any("outside the measured range" in note for note in sized(platform, 58).notes)
    (said,) = [note for note in sized(platform, 580).notes if "outside the measured range" in note]
    assert "a gets 500, measured from 10 to 50; b gets 80, measured from 8 to 8" in said


def test_doubts_of_a_measurement_are_repeated():
    """Sizes from a curve that a stop ended say so; notes that put nothing in doubt are not said."""
    stop = "31623: stopped before they were done"
    samples = (Sample(10, 0.1), Sample(100, 1.0))
    curves = [
        DeviceSpeeds("a", samples, notes={"slower": stop, "kernel": "spmv"}),
        DeviceSpeeds("b", samples, notes={"kernel": "spmv"}),
        None,
    ]
    assert curve_notes(curves, [50, 50, 50]) == [f"a: when its curve was measured, {stop}"]


@pytest.mark.parametrize("scale", [1e-7, 0.37, 1e5 + 0.5])
def test_loads_that_are_no_whole_numbers(scale):
    """Scaling loads and curves together scales the sizes."""

    def curves(scale):
        return platform_of([
            DeviceSpeeds("a", (Sample(10 * scale, 1.0), Sample(40 * scale, 9.0))),
            DeviceSpeeds("b", (Sample(30 * scale, 2.0),), model="akima"),
        ])  # fmt: skip

    found = sized(curves(scale), 100 * scale, unit=False)
    whole = sized(curves(1e4), 1e6, unit=False)
    np.testing.assert_allclose(found.targets / scale, whole.targets / 1e4, rtol=1e-3)
    assert found.targets.sum() == pytest.approx(100 * scale)


def test_contract_of_a_graph_and_speeds_at_its_sizes():
    platform = platform_of(emulated_speeds("workstation", points=30))
    graph = grid(30, 40)
    contract, sizes = contract_for(graph, platform)
    assert sizes.sizes.sum() == graph.n
    assert (contract.low >= 1).all()
    now = at_sizes(platform, sizes)
    np.testing.assert_allclose(sizes.sizes / now.speeds, seconds_at(platform, sizes.targets))
    assert any("speed curves" in note for note in sizes.notes)

    rng = np.random.default_rng(90210)
    heavy = Graph(graph.xadj, graph.adjncy, vwgt=rng.uniform(0.5, 9.0, graph.n))
    contract, sizes = contract_for(heavy, platform)
    assert contract.targets.sum() == pytest.approx(heavy.total_weight)
    assert (contract.high >= np.minimum(contract.targets + 8.9, 1.03 * contract.targets)).all()
