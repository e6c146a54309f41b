"""Slices of graphs in memory: together they are the graph."""

import numpy as np
import pytest

from evener.graphs.generating.grid import grid
from evener.sliced.rows import N_SLICES, InMemoryGraph, share_of, slice_ends


def test_slices_together_are_the_graph():
    graph = grid([9, 23]).with_(vwgt=np.arange(9 * 23))
    whole = InMemoryGraph(graph)
    rows = [whole.rows(i) for i in whole.own_slices]
    assert [one.first for one in rows] == whole.ends[:-1].tolist()
    np.testing.assert_array_equal(np.concatenate([one.adjncy for one in rows]), graph.adjncy)
    np.testing.assert_array_equal(
        np.concatenate([np.diff(one.xadj) for one in rows]), graph.degrees
    )
    np.testing.assert_array_equal(np.concatenate([one.vwgt for one in rows]), graph.vwgt)
    points = np.concatenate([whole.points(i) for i in whole.own_slices])
    np.testing.assert_array_equal(points, graph.coords)
    assert (whole.n_own, whole.n_local, whole.arcs) == (graph.n, graph.n, graph.adjncy.size)


@pytest.mark.parametrize("n", [0, 1, 5, 64, 1000])
def test_slices_cover_all_vertices_evenly(n):
    sizes = np.diff(slice_ends(n))
    assert sizes.sum() == n
    assert np.ptp(sizes) <= 1


@pytest.mark.parametrize("ranks", [1, 2, 3, 7, 64, 100])
def test_ranks_share_all_slices_in_order(ranks):
    shares = [i for rank in range(ranks) for i in share_of(rank, ranks)]
    assert shares == list(range(N_SLICES))
