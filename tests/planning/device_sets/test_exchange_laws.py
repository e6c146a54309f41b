"""evener.planning.device_sets.exchange_laws against real partitions, and slabs in line."""

from itertools import pairwise, permutations

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.grid import grid
from evener.graphs.generating.grid import grid as grid_of
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.planning.device_sets.exchange_laws import HaloLaw, sampled_halo_law
from evener.planning.makespan.candidates import candidate_of
from evener.planning.makespan.problem import MakespanProblem
from evener.planning.makespan.slabs import Slabs
from evener.plans import metrics
from evener.plans.partition import Partition
from evener.plans.workload import WEIGHTS
from evener.platforms.platform import Device, Level, Link, Platform
from tests.assertions import path
from tests.choosing import slow_but


def blocks_of(graph, targets):
    part = partition_with("metis", graph, Request(np.array(targets, float))).part
    partition = Partition(part, len(targets))
    between = metrics.quotient(graph, partition)
    both = np.bincount(between.block, between.sent + between.received, partition.k)
    return metrics.block_sizes(partition).astype(float), both / 2, metrics.neighbours(between)


@pytest.mark.parametrize("make", [lambda: delaunay(8000, seed=5), lambda: grid_of([20, 20, 20])])
@pytest.mark.parametrize("targets", slow_but([[1] * 2, [1] * 6, [1] * 24, [8, 8, *[1] * 12]], 1))
def test_halos_and_neighbours_are_near_those_of_real_blocks(make, targets):
    graph = make()
    surface = sampled_halo_law(graph)
    vertices, sent, met = blocks_of(graph, targets)
    assert surface.halos(vertices).sum() == pytest.approx(sent.sum(), rel=0.3)
    assert surface.touching(vertices).mean() == pytest.approx(met.mean(), rel=0.4)


@pytest.mark.slow
def test_the_dimension_is_seen_with_coordinates_and_nearly_without():
    flat, deep = delaunay(8000, seed=5), grid_of([20, 20, 20])
    assert sampled_halo_law(flat).exponent == pytest.approx(1 / 2)
    assert sampled_halo_law(deep).exponent == pytest.approx(2 / 3)
    assert sampled_halo_law(flat.with_(coords=None)).exponent == pytest.approx(1 / 2, abs=0.12)
    # A plane bent in space is still one.
    x, y = flat.coords.T
    bent = flat.with_(coords=np.column_stack([x, y, x * x + y * y]))
    assert sampled_halo_law(bent).exponent == pytest.approx(1 / 2)


def test_two_blocks_send_each_other_the_same_and_one_sends_nothing():
    surface = HaloLaw(1000, 4.0, 0.5, 6.0)
    halos = surface.halos(np.array([[900.0, 100.0, 0.0], [1000.0, 0.0, 0.0]]))
    assert halos[0, 0] == pytest.approx(halos[0, 1])
    assert halos[0, 2] == 0
    assert not halos[1].any()
    assert surface.touching(np.array([[900.0, 100.0, 0.0]])).tolist() == [[1.0, 1.0, 0.0]]
    assert not surface.touching(np.array([1000.0, 0.0])).any()


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_graphs_without_edges_and_tiny_ones_have_a_law(n):
    surface = sampled_halo_law(path(n) if n % 2 else path(n).with_(adjncy=[], xadj=np.zeros(n + 1)))
    halos = surface.halos(np.full(2, n / 2))
    assert np.isfinite(halos).all()


def lined_up(speeds, at, levels):
    devices = tuple(
        Device(f"d{b}", s, at=a) for b, (s, a) in enumerate(zip(speeds, at, strict=True))
    )
    problem = MakespanProblem.of(grid([8, 8]), Platform(devices, levels=levels), WEIGHTS)
    slabs = Slabs(problem)
    message = problem.costs.alpha + problem.costs.per_value * 64.0**slabs.power
    lost = message * np.add.outer(speeds, speeds)
    return slabs.line, lambda line: sum(lost[a, b] for a, b in pairwise(line))


def test_fast_devices_stand_at_the_ends_where_links_are_alike():
    line, price = lined_up([4.0, 1, 1, 4, 1, 1], [""] * 6, (Level("all", Link(1e-5, 1e-9)),))
    assert {int(line[0]), int(line[-1])} == {0, 3}
    assert price(line) <= 1.000001 * min(map(price, permutations(range(6))))


def test_devices_of_a_node_stand_together():
    levels = Level("all", Link(1e-3, 1e-9)), Level("node", Link(1e-6, 1e-10))
    line, price = lined_up([9.0, 1, 1, 9, 1, 1], ["a", "b", "a", "b", "a", "b"], levels)
    assert sorted(line[:3].tolist()) in ([0, 2, 4], [1, 3, 5])
    assert price(line) <= 1.000001 * min(map(price, permutations(range(6))))


def test_slabs_are_priced_as_those_that_touch_two_others():
    random = np.random.default_rng(8)
    devices = tuple(Device(f"d{b}", s) for b, s in enumerate(random.uniform(1, 9, 6)))
    problem = MakespanProblem.of(
        grid([600, 10]), Platform(devices, (Level("all", Link(1e-3, 1e-5)),)), WEIGHTS
    )
    slabs = Slabs(problem)
    known = candidate_of(problem, slabs.blocks(np.full(6, 1000.0)))
    loads = np.array([0.0, 1500, 500, 1000, 0, 3000])
    real = candidate_of(problem, slabs.blocks(loads))
    seconds, border = slabs.exchanged(known)(loads[None], loads[None] > 0)
    assert np.allclose(seconds[0], real.prediction.communicate, rtol=0.1)
    assert np.allclose(border[0, 1:4], real.quotient.boundary[1:4] / real.sizes[1:4], atol=0.05)
    assert (seconds[0] > 0).tolist() == (loads > 0).tolist()
