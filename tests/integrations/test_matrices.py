"""split_matrix: the devices' rows together are the matrix, and multiply as it does."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import evener as ev
from evener.errors import InputError
from evener.graphs.generating.delaunay import triangle_mesh


def test_by_hand():
    A = sp.csr_array([[1.0, 0, 2], [0, 0, 3], [4, 5, 0]])
    first, second, third = ev.split_matrix(A, ev.Partition([1, 0, 1], 3))
    assert first.rows.tolist() == [1]
    assert first.matrix.toarray().tolist() == [[0, 0, 3]]
    assert first.columns.tolist() == [1, 2]  # its own first, though it has no entry
    assert first.halo.tolist() == [2]
    assert first.local.toarray().tolist() == [[0, 3]]
    assert second.rows.tolist() == [0, 2]
    assert second.columns.tolist() == [0, 2, 1]
    assert second.local.toarray().tolist() == [[1, 2, 0], [4, 0, 5]]
    assert third.matrix.shape == (0, 3)
    assert third.local.shape == (0, 0)
    assert repr(second).startswith("RowBlock(rows=")


@pytest.mark.slow
@given(data=st.data())
def test_any_matrix(data):
    draw = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    m, k = int(draw.integers(1, 12)), int(draw.integers(1, 5))
    n = m if draw.random() < 0.7 else int(draw.integers(1, 12))
    form = draw.choice(["csr", "coo", "csc", "dense"])
    dense = np.round(draw.standard_normal((m, n)), 3) * (draw.random((m, n)) < 0.4)
    A = dense if form == "dense" else sp.coo_array(dense).asformat(form)
    part, x = draw.integers(0, k, m), draw.standard_normal(n)
    blocks = ev.split_matrix(A, ev.Partition(part, k))
    assert len(blocks) == k
    assert np.array_equal(np.sort(np.concatenate([block.rows for block in blocks])), np.arange(m))
    for b, block in enumerate(blocks):
        assert isinstance(block.matrix, sp.csr_array)
        assert np.array_equal(block.rows, np.flatnonzero(part == b))
        assert np.array_equal(block.matrix.toarray(), dense[block.rows])
        assert np.unique(block.columns).size == block.columns.size
        assert np.allclose(block.local @ x[block.columns], (dense @ x)[block.rows])
        used = np.flatnonzero((dense[block.rows] != 0).any(axis=0))
        assert set(block.halo) == set(used) - set(block.rows)


def test_what_is_stored_is_kept():
    A = sp.coo_array(([1, 2, 0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2)).tocsr(copy=True)
    twice = sp.csr_array((np.array([1, 2, 5]), np.array([1, 1, 0]), np.array([0, 2, 3])))
    before = twice.data.copy()
    first, second = ev.split_matrix(twice, [0, 1])
    assert first.matrix.data.tolist() == [3]
    assert np.array_equal(twice.data, before)
    assert twice.nnz == 3
    assert ev.split_matrix(A, [0, 1])[1].matrix.nnz == 1  # a stored zero
    assert second.matrix.dtype == twice.dtype


def test_a_plan_of_the_matrix(tmp_path):
    graph = triangle_mesh(200, seed=31).nodal_graph()
    A = sp.csr_array((np.ones(graph.adjncy.size), graph.adjncy, graph.xadj))
    plan = ev.plan(A, [1, 2, 5])
    blocks = ev.split_matrix(A, plan)
    volumes = [block.halo.size for block in blocks]
    received = np.zeros(3, np.int64)
    np.add.at(received, plan.evaluation.exchange.receiver, plan.evaluation.exchange.values)
    assert volumes == received.tolist()  # the halo is what the plan says is received
    ev.write_plan(tmp_path / "a.plan", plan)
    again = ev.split_matrix(A, tmp_path / "a.plan")
    assert [one.rows.tolist() for one in again] == [one.rows.tolist() for one in blocks]


def test_other_matrices_are_refused():
    A = sp.eye_array(4, format="csr")
    with pytest.raises(InputError, match="the plan divides 3 vertices, but the matrix has 4 rows"):
        ev.split_matrix(A, [0, 1, 1])
    with pytest.raises(InputError, match="is not a matrix"):
        ev.split_matrix("matrix", [0])
    with pytest.raises(InputError, match="2 dimensions, not 1"):
        ev.split_matrix(sp.coo_array(np.ones(3)), [0, 0, 1])
