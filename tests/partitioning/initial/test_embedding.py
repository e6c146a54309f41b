"""Places from hops: a mesh that lost its coordinates is found again."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.random_graphs import rgg
from evener.graphs.graph import Graph
from evener.partitioning.initial.embedding import LANDMARKS, embedded
from evener.partitioning.levels.levels import finest, shrink_freely
from evener.partitioning.multilevel import level_state as starts
from evener.partitioning.multilevel import multilevel
from evener.partitioning.multilevel.multilevel import edge_weights, multilevel_blocks
from evener.plans.partition import Contract
from tests.assertions import grid


def coarse(graph, k=32):
    """A small graph made of this one, and the middles of its vertices, if it has coordinates."""
    level = finest(graph, np.arange(graph.n), None, edge_weights(graph), 1)
    hierarchy = shrink_freely(level, np.full(k, graph.n / k), 45, 8.0, 1)
    points = None if graph.coords is None else hierarchy.coarse_points(graph.coords.T)
    return hierarchy.coarsest, points


def unexplained(places, truth):
    """The share of the true places' spread that is no turned, stretched copy of these ones."""
    known = np.column_stack([places, np.ones(len(places))])
    rest = truth.T - known @ np.linalg.lstsq(known, truth.T, rcond=None)[0]
    return (rest.var(axis=0) / truth.var(axis=1)).max()


@pytest.mark.parametrize(
    ("graph", "d"),
    [(delaunay(20_000, seed=3), 2), (rgg(20_000, dim=3, degree=14, seed=4), 3)],
    ids=["plane", "space, in pieces"],
)
def test_places_are_those_that_the_mesh_had(graph, d):
    level, middles = coarse(graph)
    places = embedded(level)
    assert places.shape == (level.n, d)
    large = level.xadj[1:] > level.xadj[:-1]
    assert unexplained(places[large], middles[:, large]) < 0.08


def test_turned_squares_are_turned_back():
    level, _ = coarse(grid(100, 100))
    places = embedded(level)
    box = np.ptp(places, axis=0)
    # Hops make a diamond of a grid, at best; its corners lie in the corners of the box.
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]) * box + places.min(axis=0)
    for corner in corners:
        assert np.linalg.norm(places - corner, axis=1).min() < 0.25 * box.min()


@pytest.mark.parametrize(
    "graph",
    [
        Graph.from_edges(LANDMARKS, np.arange(LANDMARKS - 1), np.arange(1, LANDMARKS)),
        Graph.from_edges(500, np.arange(499), np.arange(1, 500)),
        Graph.from_edges(100, np.arange(49), np.arange(1, 50)),
        Graph.from_edges(80, [], []),
    ],
    ids=["few", "path", "half of it alone", "no edges"],
)
def test_where_there_are_no_places_none_are_given(graph):
    level = finest(graph, np.arange(graph.n), None, edge_weights(graph), 1)
    assert embedded(level) is None


def blocks_of(graph, k, threads=1):
    targets = np.full(k, graph.n / k)
    contract = Contract(targets, np.floor(0.97 * targets), np.ceil(1.03 * targets))
    return multilevel_blocks(graph, contract, threads=threads).part


@pytest.mark.slow
def test_large_graphs_without_coordinates_are_placed_by_hops(monkeypatch):
    asked = []
    monkeypatch.setattr(starts, "embedded", lambda level: asked.append(level) or embedded(level))
    monkeypatch.setattr(multilevel, "LEAST_EMBEDDED", 1000)
    graph = delaunay(20_000, seed=5)
    bare = Graph(graph.xadj, graph.adjncy)
    part = blocks_of(bare, 24)
    assert len(asked) == 1
    assert (part == blocks_of(bare, 24, threads=2)).all()

    def cut(blocks):
        return (np.repeat(blocks, graph.degrees) != blocks[graph.adjncy]).sum()

    assert cut(part) <= 1.06 * cut(blocks_of(graph, 24))
