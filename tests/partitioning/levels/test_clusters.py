"""Graphs of clusters are told from meshes, and are divided between clusters."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay, tetrahedron_dual
from evener.graphs.generating.random_graphs import barabasi_albert, rgg, rmat
from evener.graphs.graph import Graph
from evener.partitioning.label_propagation import propagation
from evener.partitioning.label_propagation.propagation import propagation_blocks
from evener.partitioning.levels.clusters import has_clusters
from evener.partitioning.levels.levels import finest, shrink_freely
from evener.partitioning.multilevel import multilevel
from evener.partitioning.multilevel.multilevel import multilevel_blocks, vertex_order
from tests.assertions import grid
from tests.partitioning.by_hand import faults, unit_contract

UNIT = np.empty(0, np.int32)


def clusters(count, each, degree, links, seed=5):
    """Equal clusters in a ring, each a random graph in one piece, in random order."""
    rng = np.random.default_rng(seed)
    m = count * each * degree // 2
    inside = rng.integers(0, count, m) * each
    path = np.arange(1, count * each)
    path = path[path % each > 0]
    c = np.repeat(np.arange(count), links)
    u = [inside + rng.integers(0, each, m), path - 1, c * each + rng.integers(0, each, c.size)]
    v = [inside + rng.integers(0, each, m), path, (c + 1) % count * each]
    v[2] = v[2] + rng.integers(0, each, c.size)
    u, v, label = np.concatenate(u), np.concatenate(v), rng.permutation(count * each)
    return Graph.from_edges(count * each, label[u[u != v]], label[v[u != v]])


def communities(count, each, degree, seed):
    """Barabási-Albert graphs joined by a sparse one over all."""
    rng, ends = np.random.default_rng(seed), []
    for c in range(count + 1):
        piece = barabasi_albert(each if c < count else count * each, c, degree if c < count else 1)
        first = c * each if c < count else 0
        label = rng.permutation(piece.n) + first
        ends.append((label[np.repeat(np.arange(piece.n), piece.degrees)], label[piece.adjncy]))
    u, v = (np.concatenate([pair[i] for pair in ends]) for i in (0, 1))
    return Graph.from_edges(count * each, u, v)


def shrunk(graph, k):
    graph = graph.with_(coords=None)
    level = finest(graph, vertex_order(graph), None, UNIT, 1)
    return shrink_freely(level, np.full(k, graph.n / k), 45, 8.0, 1)


def cut(graph, part):
    return int((np.repeat(part, graph.degrees) != part[graph.adjncy]).sum()) // 2


MESHES = {
    "delaunay": lambda: delaunay(5000, seed=2),
    "grid": lambda: grid(70, 70),
    "rgg in 3-D": lambda: rgg(6000, dim=3, seed=3),
    "tetrahedra": lambda: tetrahedron_dual(1000, seed=4),
}


@pytest.mark.parametrize("k", [3, 16])
@pytest.mark.parametrize("mesh", MESHES)
def test_meshes_have_no_clusters(mesh, k):
    assert not has_clusters(shrunk(MESHES[mesh](), k))


@pytest.mark.parametrize(("count", "each", "degree"), [(16, 250, 10), (60, 80, 8), (200, 20, 12)])
def test_random_clusters_are_found(count, each, degree):
    assert has_clusters(shrunk(clusters(count, each, degree, 4), 8))


def test_graphs_without_edges_and_small_ones_have_none():
    assert not has_clusters(shrunk(Graph.from_edges(5000, [], []), 4))
    assert not has_clusters(shrunk(grid(5, 5), 2))


@pytest.mark.parametrize("preset", ["default", "strong"])
def test_blocks_of_whole_clusters_are_found(preset):
    """Eight blocks of four clusters in a ring: 24 edges at the eight places where they meet, and no
    more than two such places in vain; inside a cluster hundreds would be cut.
    """
    graph = clusters(32, 80, 8, links=3)
    contract = unit_contract(graph.n, [1] * 8, 0.03)
    part = multilevel_blocks(graph, contract, preset=preset)
    assert faults(graph, part, contract) == []
    assert cut(graph, part) <= 30


def test_clusters_are_divided_with_less_cut_than_by_levels_alone(monkeypatch):
    graph = clusters(60, 80, 8, links=4)
    contract = unit_contract(graph.n, [12, *[1] * 12], 0.03)
    found = cut(graph, multilevel_blocks(graph, contract))
    monkeypatch.setattr(multilevel, "has_clusters", lambda _: False)
    assert found < 0.9 * cut(graph, multilevel_blocks(graph, contract))


def test_clusters_are_divided_alike_with_any_threads():
    graph = clusters(60, 80, 8, links=4)
    contract = unit_contract(graph.n, [4, 2, 1, 1, 1, 1], 0.03)
    parts = [multilevel_blocks(graph, contract, seed=3, threads=threads) for threads in (1, 3)]
    assert (parts[0] == parts[1]).all()


CORNERS = {
    "a core in two large blocks": (
        "PROMISING_CORE", lambda: rmat(10, 1, 50, 0.5, 0.2, 0.2), [9.9, 9.9, *[0.6] * 22], 0.995,
    ),
    "equal communities": ("PROMISING_HALVES", lambda: communities(24, 100, 5, 1), [1] * 16, 0.95),
}  # fmt: skip


@pytest.mark.parametrize("corner", CORNERS)
def test_other_starts_of_uneven_graphs_bring_what_they_promise(monkeypatch, corner):
    start, make, speeds, ratio = CORNERS[corner]
    graph = make()
    contract = unit_contract(graph.n, speeds, 0.03)
    part = propagation_blocks(graph, contract, UNIT)
    assert faults(graph, part, contract) == []
    monkeypatch.setattr(propagation, start, 0.0)
    assert cut(graph, part) < ratio * cut(graph, propagation_blocks(graph, contract, UNIT))


def test_fast_takes_no_other_starts(monkeypatch):
    graph = communities(24, 60, 5, 1)
    contract = unit_contract(graph.n, [1] * 8, 0.03)
    once = propagation_blocks(graph, contract, UNIT, preset="fast")
    monkeypatch.setattr(propagation, "PROMISING_CORE", np.inf)
    monkeypatch.setattr(propagation, "PROMISING_HALVES", np.inf)
    assert (propagation_blocks(graph, contract, UNIT, preset="fast") == once).all()
