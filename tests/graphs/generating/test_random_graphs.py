"""Geometric graphs and power laws: exact counts, brute force, the laws they follow."""

import numpy as np
import pytest

from evener.errors import UsageError
from evener.graphs.generating import random_graphs as rmat_module
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import barabasi_albert, rgg, rmat, uniform


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize(("n", "degree"), [(1, 12), (2, 0.5), (400, 9), (400, 0), (30, 1000)])
def test_geometric_graphs_against_brute_force(dim, n, degree, edges):
    found = rgg(n, 20011, dim, degree)
    ball = {2: np.pi, 3: 4 / 3 * np.pi}[dim]
    radius = (degree / (n * ball)) ** (1 / dim)
    apart = np.linalg.norm(found.coords[:, None] - found.coords[None], axis=2)
    expected = np.argwhere(np.triu(apart <= radius, k=1))
    assert np.array_equal(edges(found), expected.reshape(-1, 2))


@pytest.mark.parametrize("dim", [2, 3])
def test_geometric_graphs_have_the_degree_asked_for(dim):
    found = rgg(20_000, 30011, dim, 10.0)
    inside = ((found.coords > 0.1) & (found.coords < 0.9)).all(axis=1)
    assert found.degrees[inside].mean() == pytest.approx(10.0, rel=0.03)


def test_rmat_draws_cells_of_the_matrix_by_their_shares():
    # Two levels: the share of a cell is the product of its quadrants' shares.
    shares = np.array([[0.5, 0.25], [0.15, 0.1]])
    u, v = rmat_module._draw(400_000, 2, (0.5, 0.25, 0.15), np.random.default_rng(10007))
    found = np.bincount(4 * u + v, minlength=16).reshape(4, 4) / 400_000
    assert np.abs(found - np.kron(shares, shares)).max() < 0.003


def test_rmat_has_graph500s_shape():
    found = rmat(14, 60013)
    assert found.n == 1 << 14
    assert found.coords is None
    # Skewed: many of the edges drawn are the same, and many vertices get none.
    assert 0.75 < found.m / (16 << 14) < 0.9
    assert 0.2 < np.mean(found.degrees == 0) < 0.5
    assert found.degrees.max() > 50 * found.degrees.mean()
    # Permuted: the heavy vertices are not those of the lowest numbers.
    heavy = np.argsort(found.degrees)[-100:]
    assert found.n / 3 < heavy.mean() < found.n * 2 / 3


def test_rmat_of_equal_shares_is_a_random_graph():
    found = rmat(12, 50101, 8, 0.25, 0.25, 0.25)
    assert found.degrees.max() < 4 * found.degrees.mean()


@pytest.mark.parametrize("make", [rmat, uniform])
def test_drawn_arcs_are_those_of_the_undirected_graph(make):
    arcs, edges = make(9, 5, directed=True), make(9, 5)
    assert np.array_equal(arcs.undirected().adjncy, edges.adjncy)
    assert arcs.m > edges.m
    assert np.array_equal(make(9, 5, directed=True).adjncy, arcs.adjncy)


def test_ends_of_uniform_graphs_are_uniform():
    found = uniform(12, 3, directed=True)
    # Poisson of mean 16, less few that repeat.
    for degrees in (found.degrees, np.diff(found.arcs_in().xadj)):
        assert degrees.mean() == pytest.approx(16, rel=0.01)
        assert degrees.var() == pytest.approx(16, rel=0.1)


def test_rmat_of_one_vertex_and_of_one_quadrant():
    assert (rmat(0, 9).n, rmat(0, 9).m) == (1, 0)
    # All edges in the upper right corner of every level: one edge, drawn again and again.
    assert rmat(5, 9, 4, 0.0, 1.0, 0.0).m == 1
    assert rmat(5, 9, 4, 0.6, 0.3, 0.1).n == 32  # their sum is above 1 by a rounding


@pytest.mark.parametrize(("n", "degree"), [(2, 1), (9, 8), (50, 1), (300, 7), (300, 150)])
def test_attachment_counts_its_edges(n, degree, edges):
    found = barabasi_albert(n, 40127, degree)
    assert found.n == n
    assert found.m == degree * (n - degree)
    assert found.components()[0] == 1
    # Each vertex from `degree` on joined exactly that many earlier ones.
    later = edges(found)[:, 1]
    assert np.bincount(later, minlength=n).tolist() == [0] * degree + [degree] * (n - degree)


def test_attachment_follows_a_power_law():
    found = barabasi_albert(60_000, 80021, 4)
    # P(degree >= x) = d (d + 1) / (x (x + 1)) in the limit [BA99].
    for x in (8, 16, 32):
        assert np.mean(found.degrees >= x) == pytest.approx(20 / (x * (x + 1)), rel=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: grid((3,)), "2 or 3 sides, not 1"),
        (lambda: grid((3, 0)), "a side of shape must be at least 1, not 0"),
        (lambda: grid((10**5, 10**5)), "vertices of the grid must be at most 2,147,483,647"),
        (lambda: rgg(0, 3), "n must be at least 1, not 0"),
        (lambda: rgg(5, 3, 4), "dim must be 2 or 3, not 4"),
        (lambda: rgg(5, 3, 2, -1.0), "degree must lie from 0 to 1000"),
        (lambda: rmat(-1, 3), "scale must lie from 0 to 30, not -1"),
        (lambda: rmat(4, 3, 0), "edge_factor must lie from 1"),
        (lambda: rmat(4, 3, 8, 0.9, 0.2, 0.1), "shares of 1, not 0.9, 0.2, 0.1"),
        (lambda: rmat(4, 3, 8, float("nan")), "shares of 1, not nan"),
        (lambda: rmat(4, -3), "the seed must not be negative, but is -3"),
        (lambda: barabasi_albert(1, 3), "n must be at least 2, not 1"),
        (lambda: barabasi_albert(10, 3, 10), "degree must lie from 1 to 9, not 10"),
    ],
)
def test_refuses(call, message):
    with pytest.raises(UsageError, match=message):
        call()
