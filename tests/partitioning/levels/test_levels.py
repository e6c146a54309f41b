"""Shrinking: clusters keep to blocks, caps and slices; contraction against a table of edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evener.threads
from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.partitioning.levels import levels
from evener.partitioning.levels.levels import (
    GraphLevel,
    Shrunk,
    finest,
    overlay,
    projected,
    scattered,
    shrink,
    subgraph,
)
from tests.assertions import grid, random_graphs
from tests.examples import with_examples
from tests.partitioning.by_hand import edges_of, level_of, slice_of, whole


def check_shrunk(level, part, caps, shrunk):
    """Compare with sums over the finer level, vertex by vertex and edge by edge."""
    coarse, of = shrunk.level, shrunk.coarse_of
    count = coarse.n
    assert set(of.tolist()) == set(range(count))
    weight, size = [0.0] * count, [0] * count
    for v in range(level.n):
        c = int(of[v])
        assert shrunk.part[c] == part[v]
        weight[c] += level.vwgt[v]
        size[c] += 1
    assert coarse.vwgt == pytest.approx(weight, rel=1e-12)
    for v in range(level.n):
        c = int(of[v])
        assert size[c] == 1 or weight[c] <= caps[part[v]] * (1 + 1e-12)
    for c in range(count):
        assert len({slice_of(level, int(v)) for v in np.flatnonzero(of == c)}) == 1
    expected = {}
    for (v, u), w in edges_of(level).items():
        ends = int(of[v]), int(of[u])
        if ends[0] != ends[1]:
            expected[ends] = expected.get(ends, 0) + w
    found = edges_of(coarse)
    assert found == expected
    assert all(found[u, v] == w for (v, u), w in found.items())


@given(random_graphs(max_n=24), st.integers(1, 4), st.integers(0, 99))
@with_examples(60)
def test_a_shrunk_level_is_the_sum_of_its_members(graph, k, seed):
    rng = np.random.default_rng(seed)
    level = level_of(whole(graph))
    part = rng.integers(0, k, level.n).astype(np.int32)
    caps = rng.random(k) * 2 * max(level.vwgt.sum() / 3, 1)
    check_shrunk(level, part, caps, shrink(level, part, caps, 1))


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_slices_are_kept_and_decide_the_result(monkeypatch, threads):
    monkeypatch.setattr("evener.threads.SLICE", 50)
    level = level_of(grid(20, 20), threads=threads)
    assert evener.threads.slices_for(level.n) == 8
    part = (np.arange(400) // 100).astype(np.int32)
    caps = np.array([2.0, 4.0, 8.0, 16.0])
    shrunk = shrink(level, part, caps, threads)
    check_shrunk(level, part, caps, shrunk)
    again = shrink(level, part, caps, 1)
    assert (again.coarse_of == shrunk.coarse_of).all()
    assert (again.level.adjncy == shrunk.level.adjncy).all()


def test_a_connected_block_shrinks_by_about_its_cap():
    level = level_of(grid(40, 40))
    shrunk = shrink(level, np.zeros(1600, np.int32), np.array([8.0]), 1)
    assert 1600 / 8 <= shrunk.level.n <= 1600 / 2


def test_shrinking_again_adds_up_weights_of_edges():
    level = level_of(grid(16, 16))
    part = np.zeros(256, np.int32)
    once = shrink(level, part, np.array([4.0]), 1)
    check_shrunk(once.level, once.part, [16.0], shrink(once.level, once.part, np.array([16.0]), 1))


def test_heavy_vertices_stay_alone_and_weightless_ones_join():
    graph = Graph.from_edges(5, [0, 1, 2, 3], [1, 2, 3, 4], vwgt=[9, 1, 0, 0, 0])
    level = level_of(graph)
    shrunk = shrink(level, np.zeros(5, np.int32), np.array([2.0]), 1)
    check_shrunk(level, np.zeros(5, np.int32), [2.0], shrunk)
    assert (shrunk.coarse_of[1:] != shrunk.coarse_of[0]).all()
    assert shrunk.level.n < 5


@pytest.mark.parametrize("n_edges", [0, 3])
def test_no_edges_no_clusters(n_edges):
    graph = Graph.from_edges(8, np.arange(n_edges), np.arange(n_edges) + 4)
    part = (np.arange(8) >= 4).astype(np.int32)
    shrunk = shrink(level_of(graph), part, np.array([8.0, 8.0]), 1)
    assert shrunk.level.n == 8


def test_projecting_gives_each_vertex_its_clusters_block():
    of, blocks = np.array([0, 1, 1, 0, 1, 0], np.uint32), np.array([4, 2], np.int32)
    assert projected(Shrunk(None, None, of), blocks, 1).tolist() == [4, 2, 2, 4, 2, 4]


def test_blocks_go_back_to_the_graphs_own_order():
    order = np.random.default_rng(4).permutation(100_000)
    along = np.arange(100_000, dtype=np.int32)
    assert (scattered(along, order, 2)[order] == along).all()


@given(random_graphs(max_n=15), st.integers(0, 99))
@with_examples(30)
def test_the_finest_level_is_the_graph_renumbered(graph, seed):
    graph = whole(graph)
    order = np.random.default_rng(seed).permutation(graph.n)
    adjwgt = np.empty(0, np.int32) if graph.adjwgt is None else graph.adjwgt.astype(np.int32)
    level = finest(graph, order, graph.weights(), adjwgt, 1)
    assert (level.vwgt == graph.weights()[order]).all()
    rank = np.argsort(order)
    weights = graph.edge_weights()
    expected = {
        (int(rank[v]), int(rank[graph.adjncy[e]])): int(weights[e])
        for v in range(graph.n)
        for e in range(int(graph.xadj[v]), int(graph.xadj[v + 1]))
    }
    assert edges_of(level) == expected


def test_a_graph_in_its_own_order_is_not_copied():
    graph = grid(6, 5)
    level = finest(graph, np.arange(30), None, np.empty(0, np.int32), 1)
    assert np.shares_memory(level.adjncy, graph.adjncy)
    assert (level.vwgt == 1).all()
    assert edges_of(level) == edges_of(level_of(graph.with_(vwgt=np.ones(30))))


def test_more_entries_than_indices_hold_are_refused(monkeypatch):
    monkeypatch.setattr(levels, "MAX_ENTRIES", 3)
    with pytest.raises(InputError, match="adjacency entries"):
        level_of(grid(2, 2))


def test_a_level_knows_its_size():
    none = np.empty(0, np.uint32)
    assert GraphLevel(np.zeros(1, np.uint32), none, np.empty(0, np.int32), np.empty(0)).n == 0


def test_edges_of_no_weight_join_what_nothing_else_does():
    """0 -9- 1 -0- 2 -0- 3: the heavy edge first, then the rest."""
    graph = Graph.from_edges(4, [0, 1, 2], [1, 2, 3], weights=[9, 0, 0])
    shrunk = shrink(level_of(graph), np.zeros(4, np.int32), np.array([2.0]), 1)
    assert shrunk.coarse_of.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_graph_of_some_vertices(weighted):
    graph = grid(5, 6)
    part = (np.arange(30) % 6 > 2).astype(np.int32)
    members = np.flatnonzero(part == 1)
    weights = np.arange(graph.adjncy.size, dtype=np.int32) if weighted else np.empty(0, np.int32)
    level = finest(graph, np.arange(graph.n), np.arange(graph.n), weights, 1)
    found = subgraph(level, part, members)
    assert found.vwgt.tolist() == members.tolist()
    for i, v in enumerate(members):
        entries = range(graph.xadj[v], graph.xadj[v + 1])
        inside = [e for e in entries if part[graph.adjncy[e]] == 1]
        row = slice(found.xadj[i], found.xadj[i + 1])
        assert members[found.adjncy[row]].tolist() == graph.adjncy[inside].tolist()
        assert found.adjwgt[row].tolist() == (inside if weighted else [])


def test_pairs_of_blocks_have_one_number_each():
    numbers = overlay(np.array([0, 0, 1, 1, 0]), np.array([1, 1, 1, 0, 2]), 3)
    assert numbers.dtype == np.int32
    assert numbers.tolist() == [0, 0, 3, 2, 1]
