"""Pairwise FM along edge colours: exact, balanced, side by side, and worth it after k-means."""

import itertools

import numpy as np
import pytest

from evener.errors import InputError, UsageError
from evener.graphs.generating.delaunay import delaunay
from evener.graphs.graph import Graph
from evener.partitioning import geographer
from evener.partitioning.geographer import (
    PairEffort,
    georef_blocks,
    refined_by_pairs,
)
from evener.partitioning.initial.bisection import cut_of
from evener.partitioning.initial.kmeans import kmeans_blocks
from evener.partitioning.levels.levels import shrink
from evener.partitioning.refinement import pairs_kernels as kernels
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import PRESETS, Request
from evener.plans.partition import Contract
from tests.assertions import grid
from tests.partitioning.by_hand import (
    any_contract,
    any_graph,
    any_k,
    any_part,
    edges_of,
    faults,
    level_of,
    unit_contract,
)

SPEEDS = np.r_[np.ones(20), np.full(3, 4.0), 16.0]


def whole(graph):
    """The graph with edge weights that a level takes as they are."""
    if graph.adjwgt is None:
        return graph
    return graph.with_(adjwgt=np.minimum(np.rint(graph.adjwgt), 1000).astype(np.int64))


def pair_refined(level, part, a, b, low, high, patience=50):
    """The blocks after one pair's search among all vertices; its gain, checked."""
    part = np.array(part, np.int32)
    k = low.size
    weight = np.bincount(part, level.vwgt, k).astype(float)
    place, before = np.full(level.n, -1, np.int32), cut_of(level, part)
    found = np.flatnonzero((part == a) | (part == b)).astype(np.int32)
    gain = kernels.refine_pair(
        level.arrays, part, a, b, weight, (low, high), found, patience, place
    )
    assert before - cut_of(level, part) == gain
    assert weight == pytest.approx(np.bincount(part, level.vwgt, k), rel=1e-9, abs=1e-3)
    assert (place == -1).all()
    return part, gain


def outside(level, part, low, high):
    weight = np.bincount(part, level.vwgt, low.size)
    return (np.maximum(weight - high, 0) + np.maximum(low - weight, 0)).sum()


def test_gains_are_exact_and_balance_is_no_worse():
    for seed in range(300):
        graph = whole(any_graph(seed))
        k = max(any_k(graph, seed), 2)
        level, part = level_of(graph), any_part(graph, k, seed)
        contract = any_contract(graph, k, seed)
        low, high = contract.low, contract.high
        after, gain = pair_refined(level, part, 0, 1, low, high)
        hair = 1e-9 * level.vwgt.sum()
        assert outside(level, after, low, high) <= outside(level, part, low, high) + hair, seed
        others = part > 1
        assert (after[others] == part[others]).all()
        assert set(after[~others].tolist()) <= {0, 1}
        if outside(level, part, low, high) == 0:
            assert gain >= 0, seed


def test_two_blocks_of_a_small_grid_reach_the_optimum():
    """From all starts of 3 x 3 in blocks of 4 and 5: brute force knows the least cut, 3 or 4."""
    level = level_of(grid(3, 3))
    low, high = np.full(2, 4.0), np.full(2, 5.0)
    starts = [p for p in itertools.product((0, 1), repeat=9) if 4 <= sum(p) <= 5]
    least = min(cut_of(level, np.array(p)) for p in starts)
    ends = []
    for start in starts:
        part, _ = pair_refined(level, start, 0, 1, low, high)
        assert 4 <= part.sum() <= 5
        ends.append(cut_of(level, part))
    assert min(ends) == least
    assert np.mean(np.array(ends) == least) > 0.9


def test_vertices_near_a_border_are_found():
    """Columns 0 to 3 and 4 to 7 of a grid: within d steps lie d + 1 columns on either side."""
    level = level_of(grid(5, 8))
    part = (np.arange(40) % 8 // 4).astype(np.int32)
    members = [np.flatnonzero(part == b).astype(np.int32) for b in range(2)]
    for depth in range(3):
        found, seen = np.empty(40, np.int32), np.zeros(40, np.int8)
        count = kernels.near_border(
            level.xadj, level.adjncy, part, 0, 1, *members, depth, seen, found
        )
        columns = {int(v) % 8 for v in found[:count]}
        assert count == 5 * len(columns) == 10 * (depth + 1)
        assert columns == set(range(3 - depth, 5 + depth))
        assert not seen.any()
        assert len(set(found[:count].tolist())) == count
    assert kernels.near_border(
        level.xadj, level.adjncy, part, 0, 1, *members, 2, seen, np.empty(7, np.int32)
    ) == 7  # fmt: skip


def test_touching_pairs_come_longest_border_first_in_groups_that_share_no_block():
    graph = whole(any_graph(7))
    level, part = level_of(graph), any_part(graph, 4, 7)
    lengths = {}
    for (v, u), w in edges_of(level).items():
        if part[v] < part[u]:
            pair = 4 * int(part[v]) + int(part[u])
            lengths[pair] = lengths.get(pair, 0) + w
    found = geographer._touching(level, part, np.arange(level.n), 4)
    assert sorted(np.concatenate(found)) == sorted(lengths)
    assert lengths[found[0][0]] == max(lengths.values())
    for pairs in found:
        of_pairs = [lengths[pair] for pair in pairs]
        assert of_pairs == sorted(of_pairs, reverse=True)
        assert np.unique([pairs // 4, pairs % 4]).size == 2 * pairs.size


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_change_nothing(threads):
    graph = delaunay(5000, seed=99)
    contract = unit_contract(graph.n, SPEEDS, 0.03)
    once = georef_blocks(graph, contract)
    assert (georef_blocks(graph, contract, threads=threads) == once).all()


@pytest.mark.parametrize("preset", PRESETS)
def test_better_than_k_means_within_the_contract(preset):
    graph = delaunay(12000, seed=99)
    contract = unit_contract(graph.n, SPEEDS, 0.03)
    level = level_of(graph)
    part = georef_blocks(graph, contract, preset=preset)
    placed = kmeans_blocks(graph.coords, None, contract.targets)
    assert cut_of(level, part) < 0.9 * cut_of(level, placed)
    assert faults(graph, part, contract) == []


def test_more_rounds_win_more():
    graph = delaunay(6000, seed=99)
    contract = unit_contract(graph.n, np.ones(12), 0.03)
    level, start = level_of(graph), (np.arange(6000) * 12 // 6000).astype(np.int32)
    given = start.copy()
    cuts = [
        cut_of(level, refined_by_pairs(level, start, contract, PairEffort(rounds, 2), 1))
        for rounds in (1, 4)
    ]
    assert (start == given).all()
    assert cuts[1] < cuts[0] < cut_of(level, start)


def test_vertices_may_be_joined_otherwise():
    graph = delaunay(4000, seed=99)
    contract, calls = unit_contract(graph.n, np.ones(6), 0.03), []

    def counted(*given):
        calls.append(given[0].n)
        return shrink(*given)

    found = georef_blocks(graph, contract, joined=counted)
    assert (found == georef_blocks(graph, contract)).all()
    assert calls == sorted(calls, reverse=True)
    assert calls[0] == 4000


@pytest.mark.slow
def test_random_graphs_with_coordinates():
    for seed in range(200):
        graph = any_graph(seed, coords=True)
        k = any_k(graph, seed)
        contract = any_contract(graph, k, seed)
        if graph.total_weight > 0:
            part = georef_blocks(graph, contract, preset=PRESETS[seed % 3])
            assert part.shape == (graph.n,)
            assert 0 <= part.min() <= part.max() < k


def test_refusals():
    graph = grid(8, 8, coords=None)
    targets = np.full(2, 32.0)
    with pytest.raises(InputError, match="coordinates"):
        georef_blocks(graph, Contract(targets, targets, targets))
    with pytest.raises(UsageError, match="needs coordinates"):
        partition_with("georef", graph, Request(targets))
    with pytest.raises(UsageError, match="max_volume"):
        partition_with("georef", grid(8, 8), Request(targets, objective="max_volume"))


def test_by_name():
    found = partition_with("georef", grid(8, 8), Request(np.ones(4)))
    assert np.bincount(found.part).tolist() == [16] * 4
    alone = partition_with("kmeans", Graph.from_edges(4, [0], [1], coords=np.eye(4)[:, :2]),
                           Request(np.ones(2)))  # fmt: skip
    assert np.bincount(alone.part).tolist() == [2, 2]
    assert "only coordinates" in alone.notes[0]
