"""Recursive bisection in one call: parts are found, targets met, and gains counted rightly."""

import numpy as np

from evener.graphs.generating.random_graphs import barabasi_albert
from evener.graphs.graph import Graph
from evener.partitioning.initial.bisection import cut_of
from evener.partitioning.initial.recursive_bisection_kernels import improve, split
from evener.partitioning.levels.levels import finest
from tests.partitioning.boards_by_hand import UNIT
from tests.partitioning.by_hand import sparse, star


def level_of(graph, weights=UNIT):
    return finest(graph, np.arange(graph.n), graph.weights(), weights, 1)


def split_up(level, targets, tries=2, seed=1, slack=0.005):
    targets = np.asarray(targets, np.float64)
    part = np.full(level.n, -1, np.int32)
    draws = np.random.default_rng(seed).random(tries * targets.size)
    order = np.argsort(-targets, kind="stable")
    split(*level.arrays, targets, order, slack, tries, draws, part)
    return part


def cliques(sizes):
    """Cliques, each joined to the next by one edge."""
    u, v, first = [], [], 0
    for size in sizes:
        a, b = np.triu_indices(size, 1)
        u, v = [*u, *(a + first)], [*v, *(b + first)]
        first += size
        u, v = [*u, first - 1], [*v, first]
    return Graph.from_edges(first, np.array(u[:-1]), np.array(v[:-1]))


def test_cliques_are_found():
    graph = cliques([40, 30, 20, 10])
    level = level_of(graph)
    parts = [split_up(level, [10, 40, 30, 20], tries=8, seed=seed) for seed in range(4)]
    part = min(parts, key=lambda part: cut_of(level, part))
    assert cut_of(level, part) == 3
    assert np.bincount(part).tolist() == [10, 40, 30, 20]


def test_targets_are_met():
    rng = np.random.default_rng(5)
    for graph in (sparse(500, vwgt=rng.random(500) + 0.5), barabasi_albert(500, 3)):
        targets = graph.weights().sum() * np.array([8, 1, 4, 1, 1, 2]) / 17
        part = split_up(level_of(graph), targets)
        weight = np.bincount(part, graph.weights(), 6)
        assert np.abs(weight / targets - 1).max() < 0.4
        assert np.array_equal(part, split_up(level_of(graph), targets))


def test_odd_shapes_and_targets_of_nothing():
    for graph in (star(60), Graph.from_edges(5, np.empty(0, int), np.empty(0, int))):
        for targets in ([graph.n], [0, graph.n, 0], [1] * graph.n, [1] * 80):
            part = split_up(level_of(graph), targets)
            assert part.min() >= 0
            assert part.max() < len(targets)
    empty = level_of(Graph.from_edges(0, np.empty(0, int), np.empty(0, int)))
    assert split_up(empty, [1, 1]).size == 0


def test_the_cut_it_tells_is_the_cut():
    rng = np.random.default_rng(8)
    for _ in range(30):
        graph = sparse(60)
        weights = np.repeat(np.int32(3), graph.adjncy.size)
        level = level_of(graph, weights)
        side = rng.integers(0, 2, 60).astype(np.int32)
        before = cut_of(level, side)
        room, place = 2.0, np.full(60, -1, np.int32)
        items, keys = np.empty((2, 61), np.int32), np.empty((2, 61), np.int64)
        off, cut = improve(level.arrays, 30.0, room, side, place, items, keys)
        assert cut == cut_of(level, side) < before
        assert off == max(abs((side == 0).sum() - 30) - room, 0)
        assert (place == -1).all()
