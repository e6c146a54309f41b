"""Leaves of hubs in bundles: lighter than asked, of one hub each, with all weight and all edges."""

import numpy as np
import pytest

from evener.graphs.graph import Graph
from evener.partitioning.label_propagation import move_kernels as moves
from evener.partitioning.label_propagation.cycles import board_for_cut
from evener.partitioning.levels import clusters
from evener.partitioning.levels.clusters import bundled
from evener.partitioning.levels.levels import Level
from evener.partitioning.portfolio import best_blocks
from evener.plans.partition import Contract


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


def cut(graph, part):
    ends = np.repeat(np.arange(graph.n), graph.degrees)
    return graph.edge_weights()[part[ends] != part[graph.adjncy]].sum() / 2


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
    part = best_blocks(star, contract)
    sizes = np.bincount(part, minlength=8)
    assert ((sizes >= contract.low) & (sizes <= contract.high)).all()
    assert cut(star, part) == n - int(1.03 * n / 8)


@pytest.mark.parametrize("seed", range(12))
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
    level = Level(
        graph.xadj.astype(np.uint32), graph.adjncy.astype(np.uint32),
        none if graph.adjwgt is None else graph.adjwgt.astype(np.int32),
        graph.weights().astype(np.float64),
    )  # fmt: skip
    assert (graph.degrees >= moves.HUB).any()
    found = []
    for hub, run in ((moves.HUB, moves.swap), (10**9, moves.swap.py_func)):
        monkeypatch.setattr(moves, "HUB", hub)  # compiled code keeps its own
        moved = part.copy()
        won = run(board_for_cut(level, moved, weight - 3.0, weight + 3.0, 0.0), order)
        found.append((won, moved.tolist()))
    assert found[0][0] > 0
    assert found[0] == found[1]


def test_a_level_of_leaves_shrinks_at_once(small):
    rng = np.random.default_rng(1)
    graph = forest(2000, 5, rng, vwgt=rng.integers(1, 5, 2000))
    level = Level(
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
