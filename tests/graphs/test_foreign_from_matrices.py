"""Graph.from_scipy: symmetric patterns as they are, others on request, weights where asked for."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import evener as ev
from evener.errors import InputError


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
    with pytest.raises(InputError, match=r"entry \(0, 1\) is stored and \(1, 0\) is not") as caught:
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
        (sp.csr_array((2, 3)), False, "2 x 3: only a square one"),
        (sp.coo_array(np.ones(3)), False, "3: only a square one"),
        (matrix([(0, 1, -1), (1, 0, -1)]), True, "negative or NaN"),
        (matrix([(0, 1, np.nan), (1, 0, np.nan)]), True, "negative or NaN"),
        (matrix([(0, 1, np.inf), (1, 0, np.inf)]), True, "finite"),
        (matrix([(0, 1, 1j), (1, 0, 1j)], dtype=complex), True, "no edge weights"),
    ],
)
def test_what_is_no_graph(made, weights, told):
    with pytest.raises(InputError, match=told):
        ev.Graph.from_scipy(made, weights=weights)


def test_fields_of_graph():
    graph = ev.Graph.from_scipy(matrix(BOTH), vwgt=[1, 2, 3, 4], coords=np.zeros((4, 2)))
    assert graph.total_weight == 10
    assert graph.coords.shape == (4, 2)


def test_no_entry_and_no_row():
    assert ev.Graph.from_scipy(sp.csr_array((3, 3))).n == 3
    assert ev.Graph.from_scipy(sp.csr_array((3, 3)), weights=True, symmetrize=True).m == 0
    assert ev.Graph.from_scipy(sp.csr_array((0, 0))).n == 0


@settings(max_examples=80)
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
