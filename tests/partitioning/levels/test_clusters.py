"""Graphs of clusters are recognised; bundles of leaves are light, of one hub, and lose nothing."""

from itertools import product

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay, tetrahedron_dual
from evener.graphs.generating.random_graphs import barabasi_albert, rgg
from evener.graphs.graph import Graph
from evener.partitioning.label_propagation import move_kernels as moves
from evener.partitioning.label_propagation import propagation
from evener.partitioning.label_propagation.cycles import state_for_cut
from evener.partitioning.label_propagation.propagation import propagation_blocks
from evener.partitioning.levels import clusters
from evener.partitioning.levels.clusters import bundled, kind_of
from evener.partitioning.levels.levels import GraphLevel, finest, shrink_freely
from evener.partitioning.multilevel import multilevel
from evener.partitioning.multilevel.multilevel import multilevel_blocks, vertex_order
from evener.partitioning.portfolio import best_blocks
from evener.plans.partition import Contract
from tests.assertions import grid
from tests.examples import seeds
from tests.partitioning.by_hand import faults, graph_of, unit_contract

UNIT = np.empty(0, np.int32)


def cut(graph, part):
    ends = np.repeat(np.arange(graph.n), graph.degrees)
    return graph.edge_weights()[part[ends] != part[graph.adjncy]].sum() / 2


def ring_of_clusters(count, each, degree, links, seed=5):
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


def box(n, *, diagonals):
    """A cube of n vertices along each edge; with diagonals, all 26 around a vertex are near it."""
    at = np.arange(n**3).reshape(n, n, n)
    near = [o for o in product((-1, 0, 1), repeat=3) if o > (0, 0, 0)]
    near = near if diagonals else [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
    ends = [
        (at[tuple(slice(max(0, -d), n - max(0, d)) for d in o)].ravel(),
         at[tuple(slice(max(0, d), n - max(0, -d)) for d in o)].ravel())
        for o in near
    ]  # fmt: skip
    return Graph.from_edges(n**3, *(np.concatenate(side) for side in zip(*ends, strict=True)))


def shrunk(graph, k):
    graph = graph.with_(coords=None)
    level = finest(graph, vertex_order(graph), None, UNIT, 1)
    return shrink_freely(level, np.full(k, graph.n / k), 45, 8.0, 1)


MESHES = {
    "delaunay": lambda: delaunay(5000, seed=2),
    "grid": lambda: grid(70, 70),
    "rgg in 3-D": lambda: rgg(6000, dim=3, seed=3),
    "tetrahedra": lambda: tetrahedron_dual(1000, seed=4),
}


@pytest.mark.parametrize("k", [3, 16])
@pytest.mark.parametrize("mesh", MESHES)
def test_meshes_have_no_clusters(mesh, k):
    assert kind_of(shrunk(MESHES[mesh](), k)) == "mesh"


@pytest.mark.parametrize("diagonals", [False, True])
def test_grids_in_3_d_are_solid_and_bisected_as_a_whole(diagonals, monkeypatch):
    graph = box(32 if diagonals else 60, diagonals=diagonals)
    assert kind_of(shrunk(graph, 16)) == "solid"
    contract = unit_contract(graph.n, [1] * 16, 0.03)
    found = cut(graph, multilevel_blocks(graph, contract, seed=3).part)
    monkeypatch.setattr(multilevel, "kind_of", lambda _: "mesh")
    alone = cut(graph, multilevel_blocks(graph, contract, seed=3).part)
    assert found <= alone
    if not diagonals:
        assert found < 0.95 * alone


@pytest.mark.parametrize(("count", "each", "degree"), [(16, 250, 10), (60, 80, 8), (200, 20, 12)])
def test_random_clusters_are_found(count, each, degree):
    assert kind_of(shrunk(ring_of_clusters(count, each, degree, 4), 8)) == "clusters"


def test_graphs_without_edges_and_small_ones_have_none():
    assert kind_of(shrunk(Graph.from_edges(5000, [], []), 4)) == "mesh"
    assert kind_of(shrunk(grid(5, 5), 2)) == "mesh"


@pytest.mark.parametrize("preset", ["default", "strong"])
def test_blocks_of_whole_clusters_are_found(preset):
    """Eight blocks of four clusters in a ring: 24 edges at the eight places where they meet, and no
    more than two such places in vain; inside a cluster hundreds would be cut.
    """
    graph = ring_of_clusters(32, 80, 8, links=3)
    contract = unit_contract(graph.n, [1] * 8, 0.03)
    part = multilevel_blocks(graph, contract, preset=preset).part
    assert faults(graph, part, contract) == []
    assert cut(graph, part) <= 30


@pytest.mark.slow
def test_clusters_are_divided_with_less_cut_than_by_levels_alone(monkeypatch):
    """In the mean of 24 seeds, by 3 %: with a few seeds, either may cut less."""
    graph = ring_of_clusters(60, 80, 8, links=4, seed=6)
    contract = unit_contract(graph.n, [12, *[1] * 12], 0.03)

    def cuts():
        return sum(
            cut(graph, multilevel_blocks(graph, contract, seed=seed).part) for seed in range(7, 31)
        )

    found = cuts()
    monkeypatch.setattr(multilevel, "kind_of", lambda _: "mesh")
    assert found < cuts()


def test_clusters_are_divided_alike_with_any_threads():
    graph = ring_of_clusters(60, 80, 8, links=4)
    contract = unit_contract(graph.n, [4, 2, 1, 1, 1, 1], 0.03)
    parts = [multilevel_blocks(graph, contract, seed=3, threads=threads).part for threads in (1, 3)]
    assert (parts[0] == parts[1]).all()


def core_with_leaves(core, leaves, degree):
    """A random graph of `core` vertices; each leaf is joined to one of them, most to a few hubs."""
    rng = np.random.default_rng(1)
    ends, hubs = rng.integers(0, core, (core * degree, 2)), core * rng.random(leaves) ** 3
    leaf_edges = np.stack([core + np.arange(leaves), hubs.astype(int)], axis=1)
    return graph_of(core + leaves, [*ends[ends[:, 0] != ends[:, 1]], *leaf_edges])


CORNERS = {
    "a core in a large block": (
        "PROMISING_CORE", lambda: core_with_leaves(500, 1500, 15), [8, *[1] * 8], 0.98,
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


# Bundles of leaves.


def forest(n, hubs, rng, **fields):
    """Hubs in a ring, all other vertices leaves of some of them."""
    u = np.concatenate([np.arange(hubs, n), np.arange(hubs)])
    v = np.concatenate([rng.integers(0, hubs, n - hubs), (np.arange(hubs) + 1) % hubs])
    return Graph.from_edges(n, u, v, **fields)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(clusters, "LEAST", 10)
    monkeypatch.setattr(clusters, "PER_BLOCK", 16)


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_bundles_are_the_graph_contracted(small, weights):
    rng = np.random.default_rng(3)
    given = {"none": None, "whole": rng.integers(1, 9, 3000), "real": rng.random(3000) + 0.1}
    graph = forest(3000, 7, rng, vwgt=given[weights])
    total = float(graph.weights().sum())
    found = bundled(graph, total / 8)
    assert found is not None
    heaviest = total / 8 / clusters.PER_BLOCK
    counts = np.bincount(found.of)
    assert found.graph.n == counts.size < graph.n / 2
    assert np.allclose(found.graph.weights(), np.bincount(found.of, graph.weights()))
    # No bundle is heavier than asked by more than its last leaf.
    inner = graph.degrees == 1
    lone = counts[found.of] > 1
    assert (found.graph.weights()[found.of[lone]] <= heaviest + graph.weights().max()).all()
    assert not lone[~inner].any()
    # Whatever blocks bundles get, what is cut is what the leaves' edges come to.
    blocks = rng.integers(0, 5, found.graph.n).astype(np.int32)
    assert cut(found.graph, blocks) == cut(graph, found.spread(blocks))


def test_two_that_have_but_each_other(small):
    graph = Graph.from_edges(400, np.arange(0, 400, 2), np.arange(1, 400, 2))
    found = bundled(graph, 4000.0)
    assert found is None or found.graph.n == 400  # nobody shares a neighbour: nothing to bundle


def test_where_it_is_not_worth_it(small):
    ring = Graph.from_edges(40, np.arange(40), (np.arange(40) + 1) % 40)
    assert bundled(ring, 10.0) is None
    star = Graph.from_edges(40, np.zeros(39, int), np.arange(1, 40))
    assert bundled(star, 1.0) is None  # every leaf would be its own bundle
    assert bundled(star, 40.0 * clusters.PER_BLOCK).graph.n == 2


def test_blocks_of_a_star_in_bundles(small):
    """Whoever has the hub keeps as many leaves as it may: nothing better is possible."""
    n = 4000
    star = Graph.from_edges(n, np.zeros(n - 1, int), np.arange(1, n))
    targets = np.full(8, n / 8)
    contract = Contract(targets, 0.97 * targets, 1.03 * targets)
    part = best_blocks(star, contract).part
    sizes = np.bincount(part, minlength=8)
    assert ((sizes >= contract.low) & (sizes <= contract.high)).all()
    assert cut(star, part) == n - int(1.03 * n / 8)


@pytest.mark.parametrize("seed", seeds(12))
def test_exchanges_with_hubs_are_those_without_memory(monkeypatch, seed):
    """What is remembered of a hub is what its edges would say each time."""
    rng = np.random.default_rng(seed)
    n, k = 600, 5
    graph = forest(n, 4, rng) if seed % 3 else forest(n, 6, rng, vwgt=rng.integers(1, 4, n))
    if seed % 2:
        pairs = rng.integers(0, n, (2, 900))
        ends = np.repeat(np.arange(n), graph.degrees)
        u, v = np.concatenate([ends, pairs[0]]), np.concatenate([graph.adjncy, pairs[1]])
        graph = Graph.from_edges(n, u, v, vwgt=graph.vwgt, weights=rng.integers(0, 5, u.size))
    part = rng.integers(0, k, n).astype(np.int32)
    weight = np.bincount(part, graph.weights(), k)
    order = rng.permutation(n)
    none = np.empty(0, np.int32)
    level = GraphLevel(
        graph.xadj.astype(np.uint32), graph.adjncy.astype(np.uint32),
        none if graph.adjwgt is None else graph.adjwgt.astype(np.int32),
        graph.weights().astype(np.float64),
    )  # fmt: skip
    assert (graph.degrees >= moves.HUB).any()
    found = []
    for hub, run in ((moves.HUB, moves.swap), (10**9, moves.swap.py_func)):
        monkeypatch.setattr(moves, "HUB", hub)  # compiled code keeps its own
        moved = part.copy()
        state = state_for_cut(level, moved, weight - 3.0, weight + 3.0, 0.0)
        won = run(state, order, np.zeros(n, np.int32), 0)
        found.append((won, moved.tolist()))
    assert found[0][0] > 0
    assert found[0] == found[1]


def test_a_level_of_leaves_shrinks_at_once(small):
    rng = np.random.default_rng(1)
    graph = forest(2000, 5, rng, vwgt=rng.integers(1, 5, 2000))
    level = GraphLevel(
        graph.xadj.astype(np.uint32), graph.adjncy.astype(np.uint32), np.empty(0, np.int32),
        graph.weights().astype(np.float64),
    )  # fmt: skip
    shrunk = clusters.leaves_shrunk(level, 60.0, 1)
    assert shrunk.level.n < 150
    sums = np.bincount(shrunk.coarse_of, level.vwgt, shrunk.level.n)
    assert shrunk.level.vwgt.tolist() == sums.tolist()
    assert sums[shrunk.coarse_of[graph.degrees == 1]].max() <= 64
    assert (np.bincount(shrunk.coarse_of)[shrunk.coarse_of[graph.degrees > 1]] == 1).all()
    assert clusters.leaves_shrunk(shrunk.level, 1e9, 1).level.n == 10  # a bundle for each hub
    assert clusters.leaves_shrunk(level, 0.0, 1) is None
