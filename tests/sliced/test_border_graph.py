"""BorderGraph: seconds are those of the whole graph, before and after vertices have moved."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.plans import metrics
from evener.plans.partition import Partition
from evener.running.comm import run_threads
from evener.sliced.blocks import SlicedOptions, small_graph
from evener.sliced.border_graph import BorderGraph
from evener.sliced.distributed import DistributedGraph
from evener.sliced.rows import InMemoryGraph
from tests.sliced.rank_rows import ranges_of, rows_of

K = 6


def stripes(small):
    return np.minimum(small.graph.coords[:, 0] * K, K - 1).astype(np.int32)


def counted(graph, part):
    found = metrics.quotient(graph, Partition(part, K))
    arrays = found.starts, found.other, found.sent, found.cut, found.boundary
    return [array.tolist() for array in arrays]


def moved(borders, rng):
    """Every third vertex that may move goes to another block."""
    part = borders.part.copy()
    some = np.flatnonzero(~borders.fixed)[::3]
    part[some] = rng.integers(0, K, some.size)
    return part


@pytest.mark.parametrize("hops", [0, 1])
def test_blocks_exchange_what_those_of_the_whole_graph_do(hops):
    graph = delaunay(9000, 4)
    whole = InMemoryGraph(graph)
    small = small_graph(whole, 9.0, 5.0)
    blocks = stripes(small)[small.of]
    rng = np.random.default_rng(1)
    for turn in range(2):
        borders = BorderGraph.read(whole, small, blocks, K, SlicedOptions(hops=hops))
        assert turn > 0 or borders.graph.n < graph.n
        assert (~borders.fixed).any()
        assert borders.graph.total_weight == graph.n
        assert counted(borders.graph, borders.part) == counted(graph, blocks)
        part = moved(borders, rng)
        blocks = borders.blocks(part)
        assert counted(borders.graph, part) == counted(graph, blocks)


def test_all_blocks_may_change_places():
    whole = InMemoryGraph(delaunay(3000, 4))
    small = small_graph(whole, 16.0, 9.0)
    blocks = stripes(small)[small.of]
    borders = BorderGraph.read(whole, small, blocks, K, SlicedOptions())
    places = np.array([3, 1, 0, 2, 5, 4], np.int32)
    np.testing.assert_array_equal(borders.blocks(places[borders.part]), places[blocks])


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_same_graph_on_ranks(ranks):
    graph = delaunay(3000, 5)
    bounds = ranges_of(graph.n, ranks)

    def work(sliced):
        small = small_graph(sliced, 16.0, 9.0)
        part = sliced.comm.bcast(stripes(small) if sliced.comm.rank == 0 else None)
        blocks = part[small.of]
        borders = BorderGraph.read(sliced, small, blocks, K, SlicedOptions())
        part = borders.part
        if borders.graph is not None:
            part = moved(borders, np.random.default_rng(2))
        after = borders.blocks(part)
        return borders, after[: sliced.n_own].copy()

    def on_rank(comm):
        mine = range(bounds[comm.rank], bounds[comm.rank + 1])
        return work(DistributedGraph.from_local(comm, **rows_of(graph, mine), vtxdist=bounds))

    alone, after = work(InMemoryGraph(graph))
    found = run_threads(ranks, on_rank)
    first = found[0][0]
    np.testing.assert_array_equal(first.part, alone.part)
    np.testing.assert_array_equal(first.fixed, alone.fixed)
    np.testing.assert_array_equal(first.graph.xadj, alone.graph.xadj)
    np.testing.assert_array_equal(first.graph.adjncy, alone.graph.adjncy)
    np.testing.assert_array_equal(np.concatenate([one for _, one in found]), after)
