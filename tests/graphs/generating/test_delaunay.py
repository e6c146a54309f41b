"""Delaunay graphs, duals and meshes: the rule itself, Euler's formula, the degrees of cells."""

from itertools import combinations

import numpy as np
import pytest

from evener.errors import InputError, UsageError
from evener.graphs.generating.delaunay import (
    CENTRE,
    delaunay,
    delaunay_graph,
    distance_to_front,
    dual_graph,
    graded_delaunay,
    quadtree_cloud,
    refined_delaunay,
    signed_sizes,
    tetrahedron_dual,
    tetrahedron_mesh,
    triangle_dual,
    triangle_mesh,
    triangulate,
)
from evener.graphs.hilbert import hilbert_keys

PLANAR = [delaunay, graded_delaunay, refined_delaunay]


def hull_size(points):
    from scipy.spatial import ConvexHull

    return len(ConvexHull(points).vertices)


def in_circumsphere(corners, points):
    """Whether points lie inside the sphere through the corners, by the lifted determinant."""
    lift = np.column_stack([corners, (corners**2).sum(axis=1)])
    sign = np.sign(np.linalg.det(corners[1:] - corners[0]))
    rows = np.concatenate([points, (points**2).sum(axis=1, keepdims=True)], axis=1)
    d = corners.shape[1]
    sides = [np.linalg.det(lift - row) * sign * (-1) ** d for row in rows]
    return np.array(sides) > 1e-12


def test_a_square_with_its_centre_by_hand(edges):
    # Four triangles around the centre: the sides and the four spokes, no diagonal.
    points = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.5]])
    found = edges(delaunay_graph(points)).tolist()
    assert found == [[0, 1], [0, 3], [0, 4], [1, 2], [1, 4], [2, 3], [2, 4], [3, 4]]
    ring = dual_graph(triangulate(points))
    assert ring.degrees.tolist() == [2, 2, 2, 2]
    assert ring.m == 4


def test_edges_are_those_with_an_empty_circle(edges):
    # Slow twin: triangles are the triples whose circle holds no other point.
    graph = delaunay(25, 77003)
    expected = set()
    for triple in combinations(range(25), 3):
        others = np.delete(graph.coords, triple, axis=0)
        if not in_circumsphere(graph.coords[list(triple)], others).any():
            expected |= set(combinations(triple, 2))
    assert set(map(tuple, edges(graph).tolist())) == expected


def test_edges_in_space_are_those_of_the_tetrahedra(edges):
    graph = delaunay(60, 50021, dim=3)
    cells = triangulate(graph.coords).simplices
    expected = {tuple(sorted(pair)) for cell in cells.tolist() for pair in combinations(cell, 2)}
    assert set(map(tuple, edges(graph).tolist())) == expected
    with pytest.raises(UsageError, match="dim must be 2 or 3, not 4"):
        delaunay(60, 1, dim=4)


def test_tetrahedra_have_empty_spheres_and_fill_the_hull():
    from scipy.spatial import ConvexHull

    mesh = tetrahedron_mesh(40, 50021)
    cells = mesh.corners.reshape(-1, 4)
    for cell in cells:
        assert not in_circumsphere(mesh.points[cell], np.delete(mesh.points, cell, axis=0)).any()
    volumes = signed_sizes(mesh.points, cells)
    assert volumes.min() > 0
    assert volumes.sum() == pytest.approx(ConvexHull(mesh.points).volume, rel=1e-12)


@pytest.mark.parametrize("make", PLANAR)
@pytest.mark.parametrize("n", [4, 5, 100, 3000])
def test_a_triangulation_has_eulers_number_of_edges(make, n):
    graph = make(n, 31337)
    assert graph.n == len(graph.coords) == n
    assert graph.m == 3 * n - 3 - hull_size(graph.coords)
    assert graph.components()[0] == 1


@pytest.mark.parametrize("make", [*PLANAR, triangle_dual, tetrahedron_dual])
def test_vertices_lie_along_the_curve(make):
    keys = hilbert_keys(make(800, 40009).coords)
    assert (keys[1:] >= keys[:-1]).all()


@pytest.mark.parametrize(
    ("make", "mesh", "degree"),
    [(triangle_dual, triangle_mesh, 3), (tetrahedron_dual, tetrahedron_mesh, 4)],
)
def test_duals_join_cells_that_share_a_facet(make, mesh, degree, edges):
    graph, cells = make(300, 60089), mesh(300, 60089)
    assert graph.degrees.max() <= degree
    assert graph.n == cells.n_cells
    assert np.array_equal(graph.coords, cells.centres())
    corners = [set(row) for row in cells.corners.reshape(-1, degree).tolist()]
    shared = [
        pair
        for pair in combinations(range(graph.n), 2)
        if len(corners[pair[0]] & corners[pair[1]]) == degree - 1
    ]
    assert edges(graph).tolist() == [list(pair) for pair in shared]
    again = cells.dual_graph()
    assert np.array_equal(again.adjncy, graph.adjncy)


def test_triangles_are_anticlockwise_and_fill_the_hull():
    from scipy.spatial import ConvexHull

    mesh = triangle_mesh(500, 88883)
    areas = signed_sizes(mesh.points, mesh.corners.reshape(-1, 3))
    assert areas.min() > 0
    assert areas.sum() == pytest.approx(ConvexHull(mesh.points).volume, rel=1e-12)


def test_graded_points_crowd_at_the_centre():
    graph = graded_delaunay(20_000, 70121)
    away = np.hypot(*(graph.coords - CENTRE).T)
    # Density 1/r^2: as many points in each ring whose radii are in the same proportion.
    rings = [np.count_nonzero((away > r) & (away < 2 * r)) for r in (0.002, 0.004, 0.008, 0.016)]
    assert min(rings) > 0.8 * max(rings)
    u = np.repeat(np.arange(graph.n), graph.degrees)
    lengths = np.hypot(*(graph.coords[u] - graph.coords[graph.adjncy]).T)
    assert np.quantile(lengths, 0.99) > 50 * np.quantile(lengths, 0.01)


@pytest.mark.parametrize("time", [0.0, 0.5, 1.0])
def test_refined_points_follow_the_front(time):
    graph = refined_delaunay(6000, 90089, time)
    assert graph.coords.min() >= 0
    assert graph.coords.max() <= 1
    near = distance_to_front(graph.coords, time) < 0.02
    square = np.random.default_rng(90121).random((100_000, 2))
    share = np.mean(distance_to_front(square, time) < 0.02)
    assert near.mean() > 4 * share


def test_one_seed_at_two_times_is_two_graphs(digest):
    assert digest(refined_delaunay(500, 12007, 0.2)) != digest(refined_delaunay(500, 12007, 0.3))


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.array([[0.0, 0.0], [1.0, 1.0]]), "needs 3 points, not 2"),
        (np.outer(np.arange(5.0), [1.0, 2.0]), "cannot be triangulated"),
        (
            np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]),
            "1 of 4 points nearly coincide",
        ),
    ],
)
def test_points_in_no_general_position_are_refused(points, message):
    with pytest.raises(InputError, match=message):
        triangulate(points)


def test_a_time_out_of_range_is_refused():
    with pytest.raises(UsageError, match=r"time must lie from 0\.0 to 1\.0, not 1\.5"):
        refined_delaunay(100, 5, 1.5)


def everywhere(function):
    return lambda centres, sides: (function(centres), np.ones(sides.size, bool))


@pytest.mark.parametrize("n", [1, 2, 5, 1000])
def test_gives_as_many_points_as_asked_for(n):
    cloud = quadtree_cloud(
        n, (2.0, -1.0), 3.0, everywhere(lambda c: np.ones(len(c))), np.random.default_rng(40037)
    )
    points, spacing = cloud
    assert points.shape == (n, 2)
    assert spacing.shape == (n,)
    assert (points >= [2, -1]).all()
    assert (points <= [5, 2]).all()
    assert len(np.unique(points, axis=0)) == n


def test_spacing_follows_what_is_wanted_without_steps():
    # Wanted: in proportion to x + 0.1. In strips of like wishes, the distance between points,
    # the root of the area of each, must be in one proportion to the wish; octaves alone, cells
    # halved where the wish has halved, would put it off by up to a root of two either way.
    points, _ = quadtree_cloud(
        40_000, (0.0, 0.0), 1.0, everywhere(lambda c: c[:, 0] + 0.1), np.random.default_rng(60101)
    )
    ends = np.geomspace(0.1, 1.1, 17)
    count = np.histogram(points[:, 0] + 0.1, ends)[0]
    apart = np.sqrt(np.diff(ends) / count)
    ratio = apart / np.sqrt(ends[:-1] * ends[1:])
    assert ratio.max() < 1.15 * ratio.min()


def test_only_cells_that_count_give_points():
    def left_half(centres, sides):
        left = centres[:, 0] < 0.5
        return np.where(left | (sides > 0.9), 1.0, np.inf), left

    points, spacing = quadtree_cloud(300, (0.0, 0.0), 1.0, left_half, np.random.default_rng(7079))
    assert points[:, 0].max() <= 0.5
    assert spacing.max() < 0.1
