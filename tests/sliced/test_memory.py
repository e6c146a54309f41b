"""Groups that keep a process within a memory: more where there is less, or an error."""

import math

import numpy as np
import pytest

from evener.errors import InfeasibleError
from evener.graphs.generating.delaunay import delaunay
from evener.plans.partition import Contract
from evener.sliced.blocks import SlicedOptions, sliced_blocks
from evener.sliced.borders import BlockBorders, BorderEffort, near_clusters, refine_borders
from evener.sliced.clusters import clusters_in_slices
from evener.sliced.contraction import contract
from evener.sliced.memory import border_memory, least_bytes, vertices_in_cluster
from evener.sliced.whole import InMemoryGraph

GRAPH = 4_000_000, 110_000, 700_000, 24_000_000  # vertices, clusters, singles, arcs


def test_less_memory_takes_more_groups_then_reads_again_then_is_told():
    found = [border_memory(memory, *GRAPH, 96, 4) for memory in (math.inf, 300e6, 260e6, 220e6)]
    assert found[0] == (4, True)
    groups = [one.groups for one in found]
    assert groups == sorted(groups)
    assert [one.keep for one in found] == [True, True, True, False]
    with pytest.raises(InfeasibleError, match="of which 191 MiB may be used"):
        border_memory(200e6, *GRAPH, 96, 4)


def test_clusters_are_larger_where_memory_is_short():
    assert vertices_in_cluster(math.inf, 10**8, 32.0) == 32.0
    assert 32.0 < vertices_in_cluster(1.0e9, 10**8, 32.0) < 256.0
    assert vertices_in_cluster(0.6e9, 10**8, 32.0) == 256.0


def test_the_least_grows_with_the_graph():
    sizes = [least_bytes(n, 6 * n) for n in (10**4, 10**6, 10**8)]
    assert sizes == sorted(sizes)
    assert sizes[0] > 100e6


def test_limits_hold_in_many_groups():
    graph = delaunay(9000, 3)
    targets = np.full(24, graph.n / 24)
    limits = Contract(targets, np.ceil(0.97 * targets), np.floor(1.03 * targets))
    part = sliced_blocks(InMemoryGraph(graph), limits, SlicedOptions(memory=165e6))
    loads = np.bincount(part, minlength=24)
    assert (limits.low <= loads).all()
    assert (loads <= limits.high).all()


def test_rows_read_for_each_group_give_the_same_blocks():
    graph = InMemoryGraph(delaunay(6000, 3))
    targets = np.full(12, graph.n / 12)
    limits = Contract(targets, np.ceil(0.9 * targets), np.floor(1.1 * targets))
    clusters = clusters_in_slices(graph, 16.0)
    coarse = contract(graph, clusters.of, clusters.count, points=True)
    part = np.minimum(coarse.coords[:, 0] * 12, 11).astype(np.int32)
    found = []
    for keep in (True, False):
        borders = BlockBorders.found(
            graph, clusters.of.copy(), coarse, part, 12, near_clusters(coarse, part, 1)
        )
        if keep:
            borders.keep()
        refine_borders(borders, limits, 2, 2, BorderEffort())
        found.append(borders.all_blocks())
    np.testing.assert_array_equal(*found)
