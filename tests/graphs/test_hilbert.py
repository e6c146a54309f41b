"""The Hilbert order steps from cell to neighbouring cell, and takes any finite points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evener.errors import InputError
from evener.graphs.hilbert import hilbert_keys, hilbert_order


def lattice(side, d):
    axes = np.meshgrid(*[np.arange(side, dtype=float)] * d, indexing="ij")
    return np.stack(axes, axis=-1).reshape(-1, d)


def test_four_quadrants_by_hand():
    # The curve enters at the origin and leaves at (1, 0) or (0, 1): a U, never a Z.
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    visited = corners[hilbert_order(corners)].tolist()
    assert visited in ([[0, 0], [0, 1], [1, 1], [1, 0]], [[0, 0], [1, 0], [1, 1], [0, 1]])


@pytest.mark.parametrize(("side", "d"), [(2, 2), (32, 2), (64, 2), (2, 3), (8, 3), (16, 3)])
def test_visits_a_lattice_by_unit_steps(side, d):
    cells = lattice(side, d)
    order = hilbert_order(cells)
    assert sorted(order) == list(range(len(cells)))
    assert (np.abs(np.diff(cells[order], axis=0)).sum(axis=1) == 1).all()


@pytest.mark.parametrize("d", [2, 3])
def test_finest_cells_are_told_apart(d):
    bits = {2: 32, 3: 21}[d]
    corner = np.zeros((3, d))
    corner[1] = 1.0
    corner[2, 0] = 1.5 * 2.0**-bits  # in the second finest cell
    keys = hilbert_keys(corner)
    assert sorted([keys[0], keys[2]]) in ([0, 1], [0, 3], [0, 7])


@pytest.mark.parametrize("d", [2, 3])
def test_sort_is_the_stable_sort_of_the_keys(monkeypatch, d):
    rng = np.random.default_rng(48611)
    for points in (
        rng.random((30_000, d)),
        rng.random((30_000, d)) ** 12,  # most in few buckets, told apart by the last digits
        rng.integers(0, 5, (30_000, d)).astype(float),  # many duplicates
        np.repeat(rng.random((1, d)), 999, axis=0),
    ):
        expected = np.argsort(hilbert_keys(points), kind="stable")
        assert np.array_equal(hilbert_order(points), expected)
        monkeypatch.setattr("evener.threads.SLICE", 4000)
        assert np.array_equal(hilbert_order(points, threads=3), expected)


coordinate = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.integers(2, 3).flatmap(
        lambda d: arrays(float, st.tuples(st.integers(0, 60), st.just(d)), elements=coordinate)
    )
)
def test_any_finite_points_are_ordered(points):
    order = hilbert_order(points)
    assert np.array_equal(np.sort(order), np.arange(len(points)))
    assert np.array_equal(order, np.argsort(hilbert_keys(points), kind="stable"))


def test_collinear_points_come_in_line():
    x = np.random.default_rng(92821).permutation(200) / 200
    for direction in ([1.0, 0.0], [0.0, -3.0]):
        along = x[hilbert_order(np.outer(x, direction))]
        assert np.array_equal(along, np.sort(along)) or np.array_equal(along, -np.sort(-along))


def test_degenerate_extents_keep_the_input_order():
    assert hilbert_order(np.empty((0, 2))).tolist() == []
    assert hilbert_order([[3.0, 4.0, 5.0]]).tolist() == [0]
    assert hilbert_order(np.ones((7, 2))).tolist() == list(range(7))


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[0.0], [1.0]], "2 or 3 columns, not 1"),
        ([0.0, 1.0], "2 dimension"),
        ([[0.0, np.nan]], "must be finite"),
    ],
)
def test_refuses(points, message):
    with pytest.raises(InputError, match=message):
        hilbert_order(points)
