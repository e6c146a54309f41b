"""Graphs on ranks in the order of the Hilbert curve: that of all points in one array."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.graphs.hilbert import hilbert_order
from evener.running.comm import run_threads
from evener.sliced.curve_order import along_curve, locality, positions
from evener.sliced.distributed import DistributedGraph
from tests.sliced.rank_rows import expected, put_together, random_graph, ranges_of, rows_of


@given(
    ranks=st.integers(1, 6),
    n=st.integers(0, 800),
    kinds=st.sampled_from([1, 5, 10**6]),
    seed=st.integers(0, 99),
)
def test_positions_are_those_of_a_stable_sort(ranks, n, kinds, seed):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, kinds, n).astype(np.uint64)
    ends = np.concatenate([[0], np.sort(rng.integers(0, n + 1, ranks - 1)), [n]])
    found = run_threads(
        ranks, lambda comm: positions(comm, keys[ends[comm.rank] : ends[comm.rank + 1]])
    )
    order = np.argsort(keys, kind="stable")
    assert (np.concatenate(found)[order] == np.arange(n)).all()


def test_no_rank_sorts_all_even_of_equal_keys():
    def work(comm):
        seen = []
        exchange = comm.exchange
        comm.exchange = lambda parts: seen.append(parts) or exchange(parts)
        positions(comm, np.zeros(1000, np.uint64))
        return seen[0]

    assert np.array(run_threads(4, work)).sum(0).max() < 1100


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("scale", [1.0, 1e90])
def test_the_same_graph_in_the_order_of_the_curve(dimension, scale):
    n = 300
    whole = random_graph(n, 700, 8, weighted=True)
    points = np.random.default_rng(1).random((n, dimension)).round(1) * scale
    whole = whole.with_(coords=points)
    order = hilbert_order(points)
    new = np.empty(n, np.int64)
    new[order] = np.arange(n)
    right = expected(whole)
    moved = [
        (
            i,
            *zip(*sorted(zip(new[right[v][1]].tolist(), right[v][2], strict=True)), strict=True),
            *right[v][3:],
        )
        if right[v][1]
        else (i, (), (), *right[v][3:])
        for i, v in enumerate(order)
    ]
    for ranks in (1, 2, 3, 8):
        held = np.random.default_rng(ranks).permutation(n)

        def work(comm, held=held, ranks=ranks):
            mine = held[comm.rank :: ranks]
            graph = DistributedGraph.from_local(comm, **rows_of(whole, mine), numbers=mine)
            found = along_curve(graph)
            own = np.arange(found.first, found.first + found.n_own)
            assert (found.back(own) == new[mine]).all()
            assert (found.there(new[mine]) == own).all()
            return put_together(comm, found)

        found = run_threads(ranks, work)[0]
        assert [(v, tuple(a), tuple(w), *more) for v, a, w, *more in found] == moved


def test_edges_are_inside_slices_then():
    n = 4000
    points = np.random.default_rng(1).random((n, 2))
    whole = random_graph(n, 0, 1)
    near = np.argsort(((points[:, None] - points[None, :500]) ** 2).sum(2), axis=1)[:, :3]
    whole = type(whole).from_edges(n, np.repeat(np.arange(n), 3), near.ravel(), coords=points)

    def work(comm):
        mine = range(n * comm.rank // 2, n * (comm.rank + 1) // 2)
        graph = DistributedGraph.from_local(comm, **rows_of(whole, mine))
        return locality(graph), locality(along_curve(graph))

    before, after = run_threads(2, work)[0]
    assert before < 0.03
    assert after > 0.3


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("n", [0, 300])
def test_the_share_is_that_of_arcs_with_both_ends_in_a_slice(ranks, n):
    whole = random_graph(n, 900, 2)
    bounds = ranges_of(n, ranks)

    def work(comm):
        mine = range(bounds[comm.rank], bounds[comm.rank + 1])
        graph = DistributedGraph.from_local(comm, **rows_of(whole, mine))
        return graph.ends, locality(graph)

    ends, found = run_threads(ranks, work)[-1]
    slices = np.searchsorted(ends, np.arange(n), side="right")
    tails = np.repeat(np.arange(n), np.diff(whole.xadj))
    same = slices[tails] == slices[whole.adjncy]
    assert found == (same.mean() if n else 1.0)
