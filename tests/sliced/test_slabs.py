"""Slabs of graphs in slices: vertices in line, cut where loads say so, on any number of ranks."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.grid import grid
from evener.running.comm import run_threads
from evener.sliced.distributed import DistributedGraph
from evener.sliced.rows import InMemoryGraph
from evener.sliced.slabs import BINS, SliceSlabs, directions_of
from tests.sliced.rank_rows import ranges_of, rows_of

LINE = np.array([2, 0, 3, 1])


def in_line(graph, direction):
    """The vertices by bin along the direction, those of a bin by number."""
    along = graph.coords @ direction
    width = np.ptp(along) / BINS
    return sorted(range(graph.n), key=lambda v: (min(int((along[v] - along.min()) / width),
                                                     BINS - 1), v))  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("graph", [delaunay(900, 3), grid([7, 8, 9])], ids=["mesh", "grid"])
def test_vertices_in_line_are_cut_by_load(graph, weighted):
    if weighted:
        graph = graph.with_(vwgt=np.random.default_rng(4).integers(1, 9, graph.n))
    for direction in directions_of(np.ptp(graph.coords, axis=0)):
        loads = np.array([0.4, 0.1, 0.3, 0.2]) * graph.weights().sum()
        found = SliceSlabs.along(InMemoryGraph(graph), direction).blocks(LINE, loads)
        passed = 0.0
        for v in in_line(graph, direction):
            middle = passed + graph.weights()[v] / 2
            ends = np.cumsum(loads[LINE])
            assert found[v] == LINE[min(int((ends < middle).sum()), 3)]
            passed += graph.weights()[v]


def test_the_same_on_ranks():
    whole = delaunay(700, 5)
    direction, loads = np.ones(2), np.array([100.0, 250.0, 50.0, 300.0])
    alone = SliceSlabs.along(InMemoryGraph(whole), direction).blocks(LINE, loads)
    bounds = ranges_of(whole.n, 3)

    def work(comm):
        mine = range(bounds[comm.rank], bounds[comm.rank + 1])
        graph = DistributedGraph.from_local(comm, **rows_of(whole, mine), vtxdist=bounds)
        return SliceSlabs.along(graph, direction).blocks(LINE, loads)[: graph.n_own]

    assert (np.concatenate(run_threads(3, work)) == alone).all()


def test_directions():
    axis, diagonal = directions_of(np.array([1.0, 5.0, 2.0]))
    assert axis.tolist() == [0, 1, 0]
    assert diagonal.tolist() == [1, 1, 1]
    assert len(directions_of(np.array([3.0]))) == 1
