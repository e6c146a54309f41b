"""Edges of graphs, arcs and matrices: against loops over the lists; wrong ends are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.graphs.directed import DirectedGraph
from evener.graphs.edge_list import EdgeList, by_ends
from evener.graphs.graph import Graph


@st.composite
def edge_lists(draw, most=9, edges=14, weighted=False):
    """A few vertices, and edges between them, parallel ones among them."""
    n = draw(st.integers(2, most))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 2))
    pairs = [(u, v + (v >= u)) for u, v in draw(st.lists(pair, min_size=1, max_size=edges))]
    weights = draw(st.lists(st.integers(1, 4), min_size=len(pairs), max_size=len(pairs)))
    ends = [u for u, _ in pairs], [v for _, v in pairs]
    return EdgeList(n, *ends, np.array(weights) if weighted else None)


def test_loops_are_opened_to_vertices_of_their_own():
    edges = EdgeList(3, [0, 1, 1, 1], [1, 1, 1, 2], [1, 2, 3, 4])
    assert (edges.touched, edges.degrees.tolist()) == (3, [1, 6, 1])
    opened = edges.opened()
    assert (opened.n, opened.tails.tolist(), opened.heads.tolist()) == (
        5,
        [0, 1, 1, 1],
        [1, 3, 4, 2],
    )
    assert opened.weights.tolist() == [1, 2, 3, 4]
    assert opened.opened() is opened


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20), st.booleans())
def test_numbers_by_ends_keep_the_order_of_parallel_edges(pairs, large):
    u, v = (np.array([pair[i] for pair in pairs], np.int64) for i in range(2))
    if large:
        u = u * 2**60
    keys = sorted(range(len(pairs)), key=lambda e: pairs[e])
    assert by_ends(u, v).tolist() == keys


@given(edge_lists(), st.randoms())
def test_edges_at_each_vertex_by_the_position_of_the_other_end(edges, random):
    position = list(range(edges.n))
    random.shuffle(position)
    offsets, listed = edges.incidence_by(np.array(position))
    for v in range(edges.n):
        at = [
            (position[u], e)
            for e, ends in enumerate(zip(edges.tails, edges.heads, strict=True))
            for u in ends
            if v in ends and u != v
        ]
        assert listed[offsets[v] : offsets[v + 1]].tolist() == [e for _, e in sorted(at)]
    assert edges.degrees.sum() == 2 * edges.m


def test_edges_of_a_graph_of_arcs_and_of_a_matrix():
    sparse = pytest.importorskip("scipy.sparse")
    graph = Graph.from_edges(4, [0, 1, 3], [2, 0, 1], weights=[5, 6, 7])
    edges = EdgeList.of_graph(graph, weighted=True)
    assert edges.tails.tolist() == [0, 0, 1]
    assert edges.heads.tolist() == [1, 2, 3]
    assert edges.weights.tolist() == [6, 5, 7]
    arcs = EdgeList.of_arcs(DirectedGraph.from_arcs(3, [2, 0, 1], [0, 1, 0]))
    assert (arcs.tails.tolist(), arcs.heads.tolist()) == ([0, 1, 2], [1, 0, 0])
    assert EdgeList.of_arcs(graph).m == 6
    stored = sparse.coo_matrix(([1.0, 2.0, 3.0], ([1, 0, 1], [1, 2, 0])), shape=(2, 3))
    entries = EdgeList.of_matrix(stored)
    assert (entries.n, entries.tails.tolist(), entries.heads.tolist()) == (5, [0, 1, 1], [4, 2, 3])


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (lambda: EdgeList(2, [0, 1], [1]), "2 tails but 1 heads"),
        (lambda: EdgeList(2, [0, 2], [1, 0]), "edge 1 ends at vertex 2, of 2 vertices"),
        (lambda: EdgeList(2, [0], [-1]), "edge 0 ends at vertex -1"),
        (lambda: EdgeList(2, [0], [1], [1, 2]), "2 weights for 1 edges"),
        (lambda: EdgeList(2, [0], [1], [-1]), "weights"),
        (lambda: EdgeList(2, [0], [1], [np.nan]), "weights"),
    ],
)
def test_other_edges_are_refused(made, reason):
    with pytest.raises(InputError, match=reason):
        made()
