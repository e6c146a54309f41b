"""Graph.from_scipy and from_networkx: patterns, names, weights; what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import evener as ev
from evener.errors import InputError
from tests.examples import with_examples

nx = pytest.importorskip("networkx")


def test_nodes_in_their_order_edges_as_they_are():
    given = nx.Graph([("b", "a"), ("a", "c"), ("c", "c")])
    graph = ev.Graph.from_networkx(given)
    assert graph.labels.tolist() == ["b", "a", "c"]
    assert graph.adjncy.tolist() == [1, 0, 2, 1]
    assert graph.adjwgt is None
    assert graph.vwgt is None


@pytest.mark.parametrize(
    ("nodes", "labels"),
    [
        ([0, 1, 2], None),
        ([2, 1, 0], [2, 1, 0]),
        ([10, 20], [10, 20]),
        ([np.int64(0), np.int64(1)], None),
        ([(0, 1), (1, 1)], ["(0, 1)", "(1, 1)"]),
        ([1, "1"], ["1", "'1'"]),
        ([2**70, 1], [str(2**70), "1"]),
        ([False, True], ["False", "True"]),
    ],
)
def test_labels(nodes, labels):
    given = nx.Graph()
    given.add_nodes_from(nodes)
    found = ev.Graph.from_networkx(given).labels
    assert (None if found is None else found.tolist()) == labels


def test_attributes_by_name():
    given = nx.Graph()
    given.add_node("a", load=2, pos=(0.0, 1.0))
    given.add_node("b", load=3, pos=(2, 3))
    given.add_edge("b", "a", wires=1.5)
    graph = ev.Graph.from_networkx(given, weight="wires", node_weight="load", coords="pos")
    assert graph.vwgt.tolist() == [2, 3]
    assert graph.adjwgt.tolist() == [1.5, 1.5]
    assert graph.coords.tolist() == [[0, 1], [2, 3]]


def test_fields_of_graph():
    graph = ev.Graph.from_networkx(nx.path_graph(3), bytes_per_vertex=8.0, labels=["x", "y", "z"])
    assert graph.bytes_per_vertex == 8
    assert graph.labels.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_other_kinds_of_graphs_are_refused_with_the_way_round(kind):
    given = kind([(0, 1), (1, 2)])
    with pytest.raises(InputError) as caught:
        ev.Graph.from_networkx(given)
    assert "G" in caught.value.hint
    assert ev.Graph.from_networkx(nx.Graph(given)).m == 2


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"weight": "w"}, "has no attribute 'w'"),
        ({"node_weight": "w"}, "node '0' has no attribute 'w'"),
        ({"coords": "pos"}, "has no attribute 'pos'"),
        ({"weight": "text"}, "must hold numbers"),
        ({"weight": "negative"}, "must not be negative"),
        ({"weight": "nan"}, "finite"),
        ({"coords": "text"}, "two or three numbers"),
        ({"coords": "one"}, "2 or 3 columns"),
    ],
)
def test_attributes_that_are_none(asked, told):
    given = nx.path_graph(3)
    for data in (*given.edges.values(), *given.nodes.values()):
        data |= {"text": "x", "negative": -1, "nan": float("nan"), "one": [1.0]}
    with pytest.raises(InputError, match=told):
        ev.Graph.from_networkx(given, **asked)


def test_no_node_and_no_edge():
    assert ev.Graph.from_networkx(nx.Graph()).n == 0
    assert ev.Graph.from_networkx(nx.empty_graph(3), weight="w").m == 0


def test_blocks_by_node():
    given = nx.grid_2d_graph(4, 4)
    plan = ev.plan(given, 2, tool="metis")
    block = dict(zip(given, plan.partition.part.tolist(), strict=True))
    assert sum(block[a] != block[b] for a, b in given.edges) == plan.evaluation.edge_cut


def matrix(entries, n=4, dtype=float):
    rows, columns, values = zip(*entries, strict=True)
    return sp.coo_array((np.array(values, dtype), (rows, columns)), shape=(n, n))


BOTH = [(0, 1, 2), (1, 0, 2), (1, 2, 5), (2, 1, 5), (3, 3, 9)]


def edges(graph):
    u = np.repeat(np.arange(graph.n), graph.degrees)
    weights = graph.edge_weights().tolist()
    return {(a, b): w for a, b, w in zip(u.tolist(), graph.adjncy.tolist(), weights, strict=True)}


def test_pattern_without_its_diagonal():
    graph = ev.Graph.from_scipy(matrix(BOTH))
    assert graph.n == 4
    assert edges(graph) == {(0, 1): 1, (1, 0): 1, (1, 2): 1, (2, 1): 1}
    assert graph.adjwgt is None


def test_stored_zeros_count_as_in_a_matrix_market_file():
    zero = [(0, 1, 0), (1, 0, 0)]
    assert ev.Graph.from_scipy(matrix(zero)).m == 1
    weighted = ev.Graph.from_scipy(matrix(zero), weights=True)
    assert edges(weighted) == {(0, 1): 0, (1, 0): 0}
    assert ev.Graph.from_scipy(matrix(zero), weights=True, symmetrize=True).m == 1


def test_weights_on_request():
    graph = ev.Graph.from_scipy(matrix(BOTH), weights=True)
    assert edges(graph) == {(0, 1): 2, (1, 0): 2, (1, 2): 5, (2, 1): 5}
    assert ev.Graph.from_scipy(matrix(BOTH, dtype=np.int32), weights=True).adjwgt.dtype == np.int64
    assert ev.Graph.from_scipy(matrix(BOTH, dtype=bool), weights=True).adjwgt.tolist() == [1] * 4


def test_entries_that_stand_twice_add_up_and_the_matrix_stays_as_it_is():
    twice = matrix([*BOTH, (0, 1, 1), (1, 0, 1)])
    assert edges(ev.Graph.from_scipy(twice, weights=True))[0, 1] == 3
    assert twice.nnz == 7
    csr = sp.csr_array(([1.0, 2.0, 3.0], [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    assert edges(ev.Graph.from_scipy(csr, weights=True)) == {(0, 1): 3, (1, 0): 3}
    assert csr.nnz == 3


def test_one_sided_patterns_are_refused_or_mirrored():
    upper = matrix([(0, 1, 2), (2, 1, 3), (1, 2, 4)])
    with pytest.raises(
        InputError, match=r"entry \(0, 1\) is stored, but \(1, 0\) is not"
    ) as caught:
        ev.Graph.from_scipy(upper)
    assert "symmetrize=True" in caught.value.hint
    assert set(edges(ev.Graph.from_scipy(upper, symmetrize=True))) == {
        (0, 1), (1, 0), (1, 2), (2, 1)
    }  # fmt: skip
    weighted = ev.Graph.from_scipy(upper, symmetrize=True, weights=True)
    assert edges(weighted) == {(0, 1): 2, (1, 0): 2, (1, 2): 7, (2, 1): 7}


def test_weights_that_differ_are_refused():
    with pytest.raises(InputError, match=r"entries \((1, 2|2, 1)\) and .* differ"):
        ev.Graph.from_scipy(matrix([(0, 1, 1), (1, 0, 1), (2, 1, 3), (1, 2, 4)]), weights=True)


@pytest.mark.parametrize(
    ("made", "weights", "told"),
    [
        (sp.csr_array((2, 3)), False, "2 x 3: only a square matrix"),
        (sp.coo_array(np.ones(3)), False, "3: only a square matrix"),
        (matrix([(0, 1, -1), (1, 0, -1)]), True, "negative or NaN"),
        (matrix([(0, 1, np.nan), (1, 0, np.nan)]), True, "negative or NaN"),
        (matrix([(0, 1, np.inf), (1, 0, np.inf)]), True, "finite"),
        (matrix([(0, 1, 1j), (1, 0, 1j)], dtype=complex), True, "are not edge weights"),
    ],
)
def test_what_is_no_graph(made, weights, told):
    with pytest.raises(InputError, match=told):
        ev.Graph.from_scipy(made, weights=weights)


def test_fields_of_a_matrix_s_graph():
    graph = ev.Graph.from_scipy(matrix(BOTH), vwgt=[1, 2, 3, 4], coords=np.zeros((4, 2)))
    assert graph.total_weight == 10
    assert graph.coords.shape == (4, 2)


def test_no_entry_and_no_row():
    assert ev.Graph.from_scipy(sp.csr_array((3, 3))).n == 3
    assert ev.Graph.from_scipy(sp.csr_array((3, 3)), weights=True, symmetrize=True).m == 0
    assert ev.Graph.from_scipy(sp.csr_array((0, 0))).n == 0


@with_examples(80)
@given(st.integers(1, 7), st.integers(0, 2**32), st.booleans(), st.booleans())
def test_as_the_dense_matrix_says(n, seed, weights, symmetrize):
    rng = np.random.default_rng([7, seed])
    dense = rng.integers(0, 4, (n, n)) * (rng.random((n, n)) < 0.4)
    if not symmetrize:
        dense = np.triu(dense) + np.triu(dense, 1).T
    wanted = dense + dense.T if symmetrize else dense
    made = sp.csr_array(dense)
    graph = ev.Graph.from_scipy(made, weights=weights, symmetrize=symmetrize)
    found = np.zeros((n, n), int)
    for (a, b), weight in edges(graph).items():
        found[a, b] = weight
    np.fill_diagonal(wanted, 0)
    assert np.array_equal(found, wanted if weights else wanted > 0)
