"""What fits within a memory: larger clusters, more groups or windows where there is less."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from evener.errors import InfeasibleError, MemoryShortError
from evener.graphs.generating.delaunay import delaunay
from evener.graphs.graph import Graph
from evener.partitioning.refine import RefineOptions
from evener.plans.partition import Contract
from evener.sliced import memory
from evener.sliced.blocks import SlicedOptions, least_clusters, sliced_blocks
from evener.sliced.borders import BlockBorders, near_clusters, refine_borders
from evener.sliced.clusters import clusters_in_slices, entries_of_clusters
from evener.sliced.contraction import contract
from evener.sliced.memory import (
    BorderMemory,
    BorderSizes,
    ClusterGraph,
    SliceSizes,
    border_memory,
    cluster_memory,
    group_bytes,
    least_bytes,
    vertices_in_cell,
    vertices_in_cluster,
)
from evener.sliced.rows import InMemoryGraph


def random_edges(n, degree, seed=3):
    """A graph of n vertices and so many neighbours in the mean, all edges as likely as others."""
    u, v = np.random.default_rng(seed).integers(0, n, (2, n * degree // 2))
    keys = np.unique((np.minimum(u, v) * n + np.maximum(u, v))[u != v])
    ends = np.concatenate([np.divmod(keys, n), np.divmod(keys, n)[::-1]], axis=1)
    u, v = ends[:, np.lexsort(ends[::-1])]
    return Graph(np.searchsorted(u, np.arange(n + 1)), v)


SIZES = SliceSizes.even(4_000_000, 24_000_000)
BORDERS = BorderSizes(700_000, 110_000, 660_000, 1)
ROOMY = 2e9


def test_less_memory_takes_windows_and_smaller_ones():
    found = [border_memory(at, SIZES, BORDERS, 96, 4, across=False) for at in (ROOMY, 300e6, 230e6)]
    assert found[0].keep
    assert found[0].groups == 4
    assert found[0].window == 0
    assert not found[1].keep
    assert found[1].window > found[2].window > 0


def test_less_memory_takes_more_groups_where_clusters_cross_slices():
    found = [
        border_memory(at, SIZES, BORDERS, 96, 4, across=True)
        for at in (ROOMY, 340e6, 290e6, 240e6, 100e6)
    ]
    groups = [one.groups for one in found]
    assert groups == sorted(groups)
    assert groups[0] == 4
    assert groups[-1] == 48
    assert [one.keep for one in found] == sorted((one.keep for one in found), reverse=True)
    assert not any(one.window for one in found)


def test_clusters_are_larger_where_memory_is_short():
    sizes = SliceSizes.even(10**8, 6 * 10**8)
    assert vertices_in_cluster(1e12, sizes, 32.0, 6.0) == 32.0
    assert 32.0 < vertices_in_cluster(1.2e9, sizes, 32.0, 6.0) < 256.0
    assert vertices_in_cluster(0.5e9, sizes, 32.0, 6.0) == 256.0
    assert vertices_in_cluster(1.2e9, sizes, 32.0, 6.0) < vertices_in_cluster(
        1.2e9, sizes, 32.0, 12.0
    )
    assert vertices_in_cell(1e12, sizes, 10.0) == 10.0
    assert 10.0 < vertices_in_cell(3e9, sizes, 10.0) < 150.0
    assert vertices_in_cell(0.5e9, sizes, 10.0) == 150.0


def test_the_least_grows_with_the_graph_and_with_blocks():
    sizes = [least_bytes(SliceSizes.even(n, 6 * n), 96) for n in (10**4, 10**6, 10**8)]
    assert sizes == sorted(sizes)
    assert sizes[0] > 100e6
    assert least_bytes(SIZES, 96) < least_bytes(SIZES, 1000)
    uneven = SIZES._replace(row_arcs=10 * SIZES.row_arcs)
    assert least_bytes(SIZES, 96) < least_bytes(uneven, 96)


def test_graphs_of_clusters_whose_entries_hardly_fall_need_more():
    mesh = ClusterGraph(30_000, 200_000, 1.0, across=True, k=8)
    falls = [mesh._replace(falling=falling) for falling in (1.0, 0.7, 0.3)]
    needs = [cluster_memory(SIZES, one) for one in falls]
    assert needs == sorted(set(needs))
    dense = [falls[-1]._replace(clusters=n, arcs=10**6) for n in (1000, 30_000)]
    # Where all clusters are joined, entries fall with the square of their number.
    assert cluster_memory(SIZES, dense[0]) < cluster_memory(SIZES, dense[1])
    assert cluster_memory(SIZES, mesh) < cluster_memory(SIZES.searched(), mesh)
    assert group_bytes(1000, 9000, 1.0) < group_bytes(1000, 9000, 0.2)


@pytest.mark.parametrize("k", [2, 8])
def test_what_is_told_to_suffice_does(k):
    graph = random_edges(4000, 16)
    limits = limits_of(graph, k)
    with pytest.raises(MemoryShortError, match=r"graph of clusters needs \d+ MiB") as told:
        sliced_blocks(InMemoryGraph(graph), limits, SlicedOptions(memory=memory.IMPORTS))
    least = int(re.search(r"--memory to at least (\d+)MiB", told.value.hint).group(1))
    assert least == memory.mebibytes(told.value.needed)
    made = sliced_blocks(InMemoryGraph(graph), limits, SlicedOptions(memory=least << 20))
    assert np.bincount(made.part, minlength=k).max() <= limits.high.max()


def test_entries_of_clusters_are_those_of_the_graph_of_clusters():
    graph = InMemoryGraph(delaunay(60_000, 3))
    clusters = clusters_in_slices(graph, 12.0)
    coarse = contract(graph, clusters.of, clusters.count)
    mean = coarse.adjncy.size / coarse.n
    assert entries_of_clusters(graph, 12.0, 0.5) == pytest.approx(mean, rel=0.1)


def limits_of(graph, k):
    targets = np.full(k, graph.n / k)
    return Contract(targets, np.ceil(0.97 * targets), np.floor(1.03 * targets))


def numbered(graph, *, at_random):
    if not at_random:
        return graph
    place = np.random.default_rng(2).permutation(graph.n)
    ends = np.repeat(np.arange(graph.n), graph.degrees)
    u, v = place[ends], place[graph.adjncy]
    along = np.lexsort((v, u))
    xadj = np.concatenate([[0], np.cumsum(np.bincount(u, minlength=graph.n))])
    return type(graph)(xadj, v[along])


@pytest.mark.parametrize("at_random", [False, True])
def test_limits_hold_where_memory_is_short(at_random):
    graph = numbered(delaunay(9000, 3), at_random=at_random)
    limits = limits_of(graph, 24)
    sizes = SliceSizes.even(graph.n, graph.adjncy.size)
    least = least_bytes(sizes, 24, least_clusters(limits.targets, 0.03))
    roomy = sliced_blocks(InMemoryGraph(graph), limits, SlicedOptions())
    for bound in (least, least + 2e6):
        made = sliced_blocks(InMemoryGraph(graph), limits, SlicedOptions(memory=bound))
        again = sliced_blocks(InMemoryGraph(graph), limits, SlicedOptions(memory=bound))
        np.testing.assert_array_equal(made.part, again.part)
        loads = np.bincount(made.part, minlength=24)
        assert (limits.low <= loads).all()
        assert (loads <= limits.high).all()
    assert roomy.unrefined == 0


def test_blocks_whose_borders_have_no_room_are_told_and_stay():
    graph = InMemoryGraph(delaunay(6000, 3))
    limits = limits_of(graph.graph, 12)
    borders = borders_of(graph)
    before = borders_of(graph).all_blocks().copy()
    refined = refine_borders(borders, limits, BorderMemory(2, room=1.0), 2, RefineOptions())
    assert not refined.any()
    np.testing.assert_array_equal(borders.all_blocks(), before)


def test_groups_become_more_until_there_is_room():
    graph = InMemoryGraph(delaunay(6000, 3))
    borders = borders_of(graph)
    whole = group_bytes(borders.n_own + borders.coarse.n, 6.0 * borders.n_own)
    for room in (math.inf, whole / 4):
        borders, within = borders_of(graph), BorderMemory(2, room=room)
        refined = refine_borders(borders, limits_of(graph.graph, 12), within, 1, RefineOptions())
        assert refined.all()


def test_too_many_clusters_are_refused():
    # Vertices of very different weights, and limits so narrow that clusters stay small.
    graph = delaunay(6000, 4)
    weights = np.where(np.arange(graph.n) % 2 == 0, 1, 100)
    graph = graph.with_(vwgt=weights)
    targets = np.full(8, graph.total_weight / 8)
    limits = Contract(targets, targets - 60, targets + 60)
    with pytest.raises(InfeasibleError, match="graph of clusters needs"):
        sliced_blocks(
            InMemoryGraph(graph), limits, SlicedOptions(memory=memory.IMPORTS + 5 * graph.n)
        )


def borders_of(graph):
    clusters = clusters_in_slices(graph, 16.0)
    coarse = contract(graph, clusters.of, clusters.count, points=True)
    part = np.minimum(coarse.coords[:, 0] * 12, 11).astype(np.int32)
    return BlockBorders.found(graph, clusters.of, coarse, part, 12, near_clusters(coarse, part, 1))


def test_rows_read_for_each_group_give_the_same_blocks():
    graph = InMemoryGraph(delaunay(6000, 3))
    limits = replace(limits_of(graph.graph, 12))
    found = []
    for keep in (True, False):
        borders = borders_of(graph)
        if keep:
            borders.keep()
        refine_borders(borders, limits, BorderMemory(2), 2, RefineOptions())
        found.append(borders.all_blocks())
    np.testing.assert_array_equal(*found)
