"""DirectedGraph: what is accepted, its reversal and its undirected graph, against dictionaries."""

from itertools import permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import evener as ev
from evener.errors import InputError
from evener.graphs.directed import DirectedGraph


@st.composite
def arcs(draw):
    """(n, {(tail, head): weight}) without loops, in any order."""
    n = draw(st.integers(1, 8))
    pairs = list(permutations(range(n), 2))
    weights = st.dictionaries(st.sampled_from(pairs), st.integers(1, 9), max_size=20)
    return n, draw(weights) if pairs else {}


def made(n, weights):
    tails, heads = ([pair[i] for pair in weights] for i in (0, 1))
    return DirectedGraph.from_arcs(n, tails, heads, weights=list(weights.values()))


def listed(arcs):
    """The arcs of lists, as {(vertex, entry): weight}, and whether all lists ascend."""
    n = arcs.xadj.size - 1
    vertices = np.repeat(np.arange(n), np.diff(arcs.xadj))
    pairs = list(zip(vertices.tolist(), arcs.adjncy.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    return dict(zip(pairs, arcs.adjwgt.tolist(), strict=True))


@given(arcs())
def test_arcs_in_both_directions(given_arcs):
    n, weights = given_arcs
    graph = made(n, weights)
    assert (graph.n, graph.m) == (n, len(weights))
    assert listed(graph.arcs_out()) == weights
    assert listed(graph.arcs_in()) == {(v, u): w for (u, v), w in weights.items()}


@given(arcs())
def test_undirected_graph_adds_the_weights_of_both_directions(given_arcs):
    n, weights = given_arcs
    expected = {}
    for (u, v), weight in weights.items():
        for pair in ((u, v), (v, u)):
            expected[pair] = expected.get(pair, 0) + weight
    assert listed(made(n, weights).undirected().arcs_out()) == expected
    bare = DirectedGraph.from_arcs(n, [u for u, _ in weights], [v for _, v in weights])
    graph = bare.undirected()
    assert graph.adjwgt is None
    assert np.array_equal(graph.adjncy, made(n, weights).undirected().adjncy)


def test_first_of_equal_arcs_is_kept_and_loops_are_dropped():
    graph = DirectedGraph.from_arcs(3, [0, 0, 1, 2], [1, 1, 0, 2], weights=[5, 7, 2, 9])
    assert listed(graph.arcs_out()) == {(0, 1): 5, (1, 0): 2}


@pytest.mark.parametrize(
    ("xadj", "adjncy", "reason"),
    [
        ([0, 1, 1], [0], "its own neighbour"),
        ([0, 2, 2], [1, 1], "more than once"),
        ([0, 1, 1], [2], "but there are 2 vertices"),
        ([0, 2, 1], [1], "xadj"),
    ],
)
def test_wrong_arrays_are_refused(xadj, adjncy, reason):
    with pytest.raises(InputError, match=reason):
        DirectedGraph(np.array(xadj), np.array(adjncy))


def test_vertices_keep_what_they_have():
    graph = DirectedGraph.from_arcs(
        3, [0, 1], [1, 2], vwgt=[1, 2, 3], coords=np.eye(3), labels=["a", "b", "c"]
    )
    both = graph.undirected()
    assert both.vwgt.tolist() == [1, 2, 3]
    assert both.labels.tolist() == ["a", "b", "c"]
    assert np.array_equal(both.coords, np.eye(3))
    again = DirectedGraph.of_edges(both)
    assert again.m == 2 * both.m == 4
    assert again.vwgt.tolist() == [1, 2, 3]


def test_scipy_matrix_that_is_not_symmetric():
    matrix = csr_array(np.array([[5, 2, 0], [0, 0, 3], [0, 0, 0]]))
    graph = ev.DirectedGraph.from_scipy(matrix, weights=True)
    assert listed(graph.arcs_out()) == {(0, 1): 2, (1, 2): 3}
    with pytest.raises(InputError, match="not symmetric"):
        ev.Graph.from_scipy(matrix)


def test_networkx_graphs():
    given_graph = nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")])
    graph = ev.DirectedGraph.from_networkx(given_graph)
    assert graph.arcs_out().adjncy.tolist() == [1, 0, 2]
    assert graph.labels.tolist() == ["a", "b", "c"]
    undirected = ev.DirectedGraph.from_networkx(nx.path_graph(3))
    assert undirected.m == 4
    with pytest.raises(InputError, match=r"DirectedGraph\.from_networkx"):
        ev.Graph.from_networkx(given_graph)


def test_undirected_graph_has_the_same_arcs_in_and_out():
    graph = ev.Graph.from_edges(3, [0, 1], [1, 2])
    assert graph.arcs_in() == graph.arcs_out()


def test_repr_counts_arcs():
    assert "2 arcs" in repr(DirectedGraph.from_arcs(3, [0, 1], [1, 2]))
