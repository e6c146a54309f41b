"""The surface law says what real blocks exchange."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.grid import grid as grid_of
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.planning.device_sets.halo_law import HaloLaw, sampled_halo_law
from evener.plans import metrics
from evener.plans.partition import Partition
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
