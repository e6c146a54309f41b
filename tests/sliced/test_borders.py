"""Borders refined in groups: what a group sees of the graph, and what comes of it."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.partitioning.refine import RefineOptions
from evener.plans import metrics
from evener.plans.partition import Contract, Partition
from evener.sliced.borders import BlockBorders, near_clusters, refine_borders
from evener.sliced.clusters import clusters_in_slices
from evener.sliced.contraction import contract
from evener.sliced.memory import BorderMemory
from evener.sliced.rows import InMemoryGraph

K = 12


def borders_of(graph, hops=1):
    """Borders of stripes, which are far from short."""
    whole = InMemoryGraph(graph)
    clusters = clusters_in_slices(whole, 16.0)
    coarse = contract(whole, clusters.of, clusters.count, points=True)
    part = np.minimum(coarse.coords[:, 0] * K, K - 1).astype(np.int32)
    borders = BlockBorders.found(
        whole, clusters.of, coarse, part, K, near_clusters(coarse, part, hops)
    )
    borders.keep()
    return borders


def cut_of(graph, part):
    return metrics.edge_cut(metrics.quotient(graph, Partition(part, K)))


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_refined_borders_cut_less_and_keep_limits(groups):
    graph = delaunay(8000, 3)
    borders = borders_of(graph)
    before = borders.all_blocks().copy()
    borders = borders_of(graph)
    weights = np.bincount(before, minlength=K)
    limits = Contract(weights, np.full(K, 0.9 * weights.min()), np.full(K, 1.1 * weights.max()))
    refine_borders(borders, limits, BorderMemory(groups), 2, RefineOptions())
    after = borders.all_blocks()
    assert cut_of(graph, after) < cut_of(graph, before)
    loads = np.bincount(after, minlength=K)
    assert (limits.low <= loads).all()
    assert (loads <= limits.high).all()


def test_vertices_at_borders_are_single_and_all_rows_are_theirs():
    graph = delaunay(4000, 5)
    borders = borders_of(graph, hops=0)
    part = borders_of(graph, hops=0).all_blocks()
    u = np.repeat(np.arange(graph.n), graph.degrees)
    at_border = np.unique(u[part[u] != part[graph.adjncy]])
    single = np.flatnonzero(borders.of < 0)
    assert single.size < graph.n
    assert np.isin(at_border, single).all()
    np.testing.assert_array_equal(borders.blocks[single], part[single])
    rows = borders.kept
    np.testing.assert_array_equal(rows.which, single)
    for i, v in enumerate(single.tolist()):
        own = rows.adjncy[rows.xadj[i] : rows.xadj[i + 1]]
        np.testing.assert_array_equal(own, graph.adjncy[graph.xadj[v] : graph.xadj[v + 1]])
