"""Pairs cut anew: gains claimed are gains made, limits are kept, a best border is found."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.graph import Graph
from evener.partitioning.levels.levels import finest
from evener.partitioning.multilevel.multilevel import edge_weights
from evener.partitioning.refinement import cutting_kernels
from evener.partitioning.refinement.cutting import coloured, cut_anew
from evener.partitioning.refinement.fm_kernels import BlockState, WeightLimits
from evener.partitioning.refinement.maxflow_kernels import SINK, SOURCE, TIED
from tests.assertions import grid, path
from tests.examples import seeds
from tests.partitioning.by_hand import any_graph, level_of, priced_cut


def anew(level, part, low, high, price, *, rounds=3, reach=8.0, seed=1, threads=1):
    """Cut a copy anew; check all that must hold whatever was given; return (blocks, gain)."""
    k = price.size
    given, part = part.astype(np.int32), part.astype(np.int32)
    weight = np.bincount(part, level.vwgt, k).astype(np.float64)
    before = np.maximum(low - weight, 0) + np.maximum(weight - high, 0)
    blocks = BlockState(part, weight, price, WeightLimits(low, high, low, high))
    gain = sum(cut_anew(level, blocks, reach, seed + turn, threads) for turn in range(rounds))
    assert ((part >= 0) & (part < k)).all()
    scale = 1e-12 * max(level.vwgt.sum(), 1)
    assert weight == pytest.approx(np.bincount(part, level.vwgt, k), rel=1e-9, abs=scale)
    assert gain == priced_cut(level, given, price) - priced_cut(level, part, price)
    assert gain >= 0
    after = np.maximum(low - weight, 0) + np.maximum(weight - high, 0)
    assert after.sum() <= before.sum() + scale
    return part, gain


@pytest.mark.parametrize("seed", seeds(200))
def test_gains_weights_and_limits_are_what_they_are_said_to_be(seed):
    rng = np.random.default_rng(seed)
    graph = any_graph(seed)
    level = finest(graph, np.arange(graph.n), graph.weights(), edge_weights(graph), 1)
    k = int(rng.integers(1, 6))
    mean = level.vwgt.sum() / k
    low, high = rng.uniform(0.3, 1, k) * mean, rng.uniform(0.8, 2, k) * mean
    anew(
        level, rng.integers(0, k, level.n), low, high, rng.integers(6, 13, k), seed=seed,
        reach=float(rng.choice([0.5, 4.0, 100.0])),
    )  # fmt: skip


def test_a_crooked_border_is_made_straight():
    # Two halves of a 10 x 20 grid whose border goes to and fro; the shortest has ten edges.
    level = level_of(grid(10, 20))
    row, column = np.divmod(np.arange(200), 20)
    part = (column >= 10 + 3 * (row % 2)).astype(np.int32)
    part, _ = anew(level, part, np.full(2, 90.0), np.full(2, 130.0), np.full(2, 8))
    assert priced_cut(level, part, np.full(2, 8)) == 16 * 10


@pytest.mark.parametrize("seed", seeds(12))
def test_the_best_of_all_borders_where_all_are_allowed(seed):
    rng = np.random.default_rng(seed)
    graph = grid(3, 4, weights=rng.integers(1, 9, 17))
    level, part = level_of(graph), (np.arange(12) % 4 >= 2).astype(np.int32)
    price = np.array([8, 8])
    # Corridors take half of a block: vertices of the first and the last column may stay.
    found, _ = anew(level, part, np.full(2, 1.0), np.full(2, 11.0), price, rounds=1, reach=1.0)
    corridor = np.flatnonzero((np.arange(12) % 4 == 1) | (np.arange(12) % 4 == 2))
    best = min(
        priced_cut(level, chosen, price)
        for chosen in (_with(part, corridor, bits) for bits in np.ndindex(*([2] * corridor.size)))
    )
    assert priced_cut(level, found, price) == best


def _with(part, where, what):
    part = part.copy()
    part[where] = what
    return part


def test_dear_blocks_get_the_shorter_borders():
    # Three stripes; the middle one is dearer, so what is next to it and the third goes elsewhere.
    level = level_of(grid(6, 12))
    part = (np.arange(72) % 12 // 4).astype(np.int32)
    part[:3] = 1
    anew(level, part, np.full(3, 10.0), np.full(3, 40.0), np.array([8, 20, 8]))


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_change_nothing(threads):
    graph = delaunay(6000, seed=99)
    level = level_of(graph)
    rng = np.random.default_rng(3)
    cell = np.floor(graph.coords * 6 + 0.2 * rng.random((graph.n, 2))).astype(int).clip(0, 5)
    part = (6 * cell[:, 0] + cell[:, 1]).astype(np.int32)
    weight = np.bincount(part, minlength=36)
    limits = 0.9 * weight, 1.1 * weight
    price = np.full(36, 8)
    once, gain = anew(level, part, *limits, price)
    assert gain > 0.1 * priced_cut(level, part, price)
    again, _ = anew(level, part, *limits, price, threads=threads)
    assert (once == again).all()


@pytest.mark.parametrize(
    ("graph", "k"),
    [
        (Graph.from_edges(0, [], []), 1),
        (Graph.from_edges(1, [], []), 1),
        (Graph.from_edges(9, [], []), 3),
        (path(9), 1),
        (path(9), 9),
        (path(40), 3),
        (Graph.from_edges(40, *np.triu_indices(40, 1)), 4),
        (Graph.from_edges(600, np.zeros(599, int), np.arange(1, 600)), 3),
        (grid(5, 8, vwgt=np.zeros(40)), 4),
        (grid(5, 8, vwgt=np.r_[1000.0, np.ones(39)]), 4),
        (grid(5, 8, weights=np.zeros(67)), 4),
    ],
    ids=["empty", "one", "isolated", "k1", "kn", "path", "clique", "star", "weightless", "huge",
         "edges of 0"],
)  # fmt: skip
def test_hard_shapes(graph, k):
    level = level_of(graph)
    mean = level.vwgt.sum() / k
    for seed in range(5):
        part = np.random.default_rng(seed).integers(0, k, graph.n)
        anew(level, part, np.full(k, 0.7 * mean), np.full(k, 1.3 * mean), np.full(k, 8), seed=seed)


@pytest.mark.parametrize("seed", seeds(20))
def test_groups_of_pairs_are_few_and_share_no_block(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 40))
    pairs = np.unique(
        [min(a, b) * k + max(a, b) for a, b in rng.integers(0, k, (200, 2)) if a != b]
    )
    order, groups = coloured(pairs, rng.integers(1, 9, pairs.size), rng.permutation(pairs.size), k)
    assert sorted(order) == list(range(pairs.size))
    assert groups[-1][1] == pairs.size
    for first, last in groups:
        blocks = np.r_[pairs[order[first:last]] // k, pairs[order[first:last]] % k]
        assert np.unique(blocks).size == blocks.size
    most = np.bincount(np.concatenate([pairs // k, pairs % k])).max()
    assert most <= len(groups) <= 2 * most - 1
    assert coloured(pairs[:0], pairs[:0], pairs[:0], k)[1] == []


def test_many_vertices_tied_to_the_other_side_send_no_more_than_can_be_counted():
    """Eight of them sent 2^63 in all: a negative flow, and with it a gain that no cut had."""
    count = 9
    supply, side = np.full(count, TIED, np.int64), np.full(count, SOURCE, np.int8)
    found = np.arange(count, dtype=np.int32)
    some, sent = cutting_kernels._tie_some(supply, side, np.ones(count), found, found, count, SINK)
    assert some
    assert sent == TIED
