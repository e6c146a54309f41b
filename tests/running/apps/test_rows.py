"""Rows cut for threads: every arc in one piece, products and sums as of SciPy's matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

from evener.running.apps import rows as rows_module
from evener.running.apps import rows_kernels as kernels
from evener.running.apps.rows import (
    NONE,
    Cuts,
    MatrixRows,
    cut,
    random_looking,
    row_sums,
    within_rows,
)
from evener.running.engine.pool import ThreadPool
from evener.running.engine.work import ARCS_OF_CHUNK


def rows_of(lengths, weights, seed=0):
    """Return rows of so many arcs each, and SciPy's matrix of them."""
    draw = np.random.default_rng(seed)
    n = len(lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32)
    ends = draw.integers(0, n, offsets[-1]).astype(np.uint32)
    values = {"none": NONE, "whole": draw.integers(1, 9, ends.size), "real": draw.random(ends.size)}
    found = values[weights]
    data = found if found.size else np.ones(ends.size)
    matrix = sp.csr_array((data, ends.astype(np.int64), offsets.astype(np.int64)), shape=(n, n))
    return MatrixRows(offsets, ends, found), matrix


def product(rows, cuts, x, pool, factors=NONE):
    y = np.full(x.size, np.nan)
    tickets, carried = np.zeros(1, np.int64), np.full(cuts.first_rows.size - 1, np.nan)
    pool.run(kernels.multiply, tickets, cuts, rows, factors, x, y, carried)
    within = within_rows(rows, cuts)
    np.add.at(y, cuts.first_rows[within], carried[within])
    return y


SHAPES = {
    "empty rows": [0, 0, 3, 0, 9, 1, 8, 0],
    "one row": [5],
    "one long row": [3 * ARCS_OF_CHUNK],
    "a long row among short ones": [2, 0, 5 * ARCS_OF_CHUNK + 7, 1, 4] + [6] * 3000,
    "long rows in turn": [20, ARCS_OF_CHUNK + 1, 0, 2 * ARCS_OF_CHUNK, ARCS_OF_CHUNK],
}


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("shape", SHAPES)
def test_product_and_sums_are_those_of_scipy(shape, weights):
    rows, matrix = rows_of(SHAPES[shape], weights)
    x = random_looking(np.arange(matrix.shape[0]))
    cuts = cut(rows)
    with ThreadPool(1) as one, ThreadPool(3) as three:
        y = product(rows, cuts, x, one)
        assert np.allclose(y, matrix @ x, rtol=1e-12)
        assert np.array_equal(product(rows, cuts, x, three), y)
        scaled = product(rows, cuts, x, three, factors=x)
        assert np.allclose(scaled, x * (matrix @ x), rtol=1e-12)
        sums = row_sums(rows, three, cut(rows, whole=True).first_rows)
        assert np.allclose(sums, matrix.sum(axis=1), rtol=1e-12)


def test_infinite_values_stay_in_rows_that_have_them():
    rows, _ = rows_of([2, 3, 1, 20], "real")
    rows.ends[:] = [0, 1, 0, 1, 0, 2, *[3] * 20]
    x = np.array([1.0, 1.0, np.inf, np.nan])
    with ThreadPool(1) as pool:
        y = product(rows, cut(rows), x, pool)
    assert np.isfinite(y[:2]).all()
    assert np.isinf(y[2]) and np.isnan(y[3])


@pytest.mark.parametrize("shape", SHAPES)
def test_pieces_have_about_equally_many_arcs(shape):
    rows, _ = rows_of(SHAPES[shape], "none")
    cuts = cut(rows)
    work = np.diff(cuts.first_arcs) + 2 * np.diff(cuts.first_rows)
    assert cuts.first_arcs[0] == cuts.first_rows[0] == 0
    assert (cuts.first_rows[-1], cuts.first_arcs[-1]) == (len(SHAPES[shape]), rows.ends.size)
    assert (np.diff(cuts.first_arcs) >= 0).all()
    assert work.max() <= 2 * ARCS_OF_CHUNK + 4
    whole = cut(rows, whole=True)
    assert np.array_equal(whole.first_arcs, rows.offsets[whole.first_rows])
    assert within_rows(rows, whole).size == 0


def test_no_vertices():
    rows = MatrixRows(np.zeros(1, np.uint32), np.empty(0, np.uint32), NONE)
    assert isinstance(cut(rows), Cuts)
    assert rows_module.piece_count(0, 0) == 1
    with ThreadPool(2) as pool:
        assert product(rows, cut(rows), np.empty(0), pool).size == 0


def test_numbers_that_look_random():
    found = random_looking(np.arange(1000))
    assert 0 <= found.min() < found.max() < 1
    assert 0.45 < found.mean() < 0.55
