"""Diffused blocks: each step against a dense matrix; weights, roundness, hard shapes."""

import numpy as np
import pytest
import scipy.sparse

from evener.graphs.graph import Graph
from evener.partitioning.initial import diffusion
from evener.partitioning.initial import diffusion_kernels as kernels
from evener.partitioning.initial.bisection import cut_of, recursive_bisection
from evener.partitioning.initial.diffusion import (
    AGAIN,
    THOROUGH,
    Spread,
    Spreading,
    diffused_blocks,
)
from evener.partitioning.levels.levels import GraphLevel, finest


def level_of(adjacency, weights=None, order=None):
    """A level of a symmetric scipy matrix, whose values are edge weights."""
    matrix = scipy.sparse.csr_matrix(adjacency)
    n = matrix.shape[0]
    graph = Graph(matrix.indptr, matrix.indices, adjwgt=matrix.data.astype(np.int64))
    edges = graph.adjwgt.astype(np.int32)
    weights = np.ones(n) if weights is None else weights
    return finest(graph, np.arange(n) if order is None else order, weights, edges, 1)


def grid(rows, columns):
    def path(n):
        return scipy.sparse.diags([np.ones(n - 1), np.ones(n - 1)], [-1, 1])

    return scipy.sparse.kronsum(path(columns), path(rows), format="csr")


def spread(level, part, k, steps):
    """Loads (n, k) after some steps, what is forgotten left out."""
    spreading = Spreading.of(level, k, 1)
    held = spreading.after(part, steps)
    loads = np.zeros((level.n, k))
    for v in range(level.n):
        blocks = held[0][v, : held[2][v]]
        assert len(set(blocks)) == len(blocks)
        loads[v, blocks] = held[1][v, : held[2][v]]
    return loads, held


def spread_slowly(matrix, part, k, steps):
    """As spread, by a dense matrix; loads that are too small are forgotten."""
    dense = matrix.toarray()
    degree = dense.sum(axis=1, keepdims=True)
    move = np.where(degree > 0, dense / np.maximum(degree, 1), np.eye(len(dense)))
    move = float(kernels.STAYS) * np.eye(len(dense)) + (1 - float(kernels.STAYS)) * move
    loads = np.eye(k)[part]
    for _ in range(steps):
        loads = move @ loads
        loads[loads < float(kernels.DUST) * loads.max(axis=1, keepdims=True)] = 0
    return loads


def random_graph(n, edges, rng):
    """Whole weights; some vertices without an edge."""
    at = rng.integers(n - 2, size=(2, edges))
    at = at[:, at[0] != at[1]]
    upper = scipy.sparse.coo_matrix((rng.integers(1, 9, at.shape[1]), at), (n, n)).tocsr()
    return upper + upper.T


@pytest.mark.parametrize("seed", range(5))
def test_loads_spread_as_a_dense_matrix_says(seed):
    rng = np.random.default_rng(seed)
    matrix = random_graph(60, 130, rng)
    k = int(rng.integers(2, kernels.MOST + 1))
    part = rng.integers(k, size=60).astype(np.int32)
    level = level_of(matrix)
    for steps in (1, 2, 4):
        ours, _ = spread(level, part, k, steps)
        assert ours == pytest.approx(spread_slowly(matrix, part, k, steps), abs=1e-5)


def test_the_largest_loads_are_kept_where_there_are_too_many():
    leaves = kernels.MOST + 5
    star = np.zeros((leaves + 1, leaves + 1))
    star[0, 1:] = star[1:, 0] = np.random.default_rng(2).permutation(np.arange(10, 10 + leaves))
    part = np.arange(leaves + 1, dtype=np.int32)
    loads, held = spread(level_of(star), part, leaves + 1, 1)
    assert held[2][0] == kernels.MOST
    heaviest = np.argsort(-star[0])[: kernels.MOST - 1]
    assert set(np.flatnonzero(loads[0])) == {0, *heaviest}


def test_every_vertex_joins_the_largest_scaled_load(seed=3):
    rng = np.random.default_rng(seed)
    level = level_of(random_graph(80, 200, rng), rng.random(80))
    part = rng.integers(6, size=80).astype(np.int32)
    before = part.copy()
    loads, held = spread(level, part, 6, 2)
    factor = rng.uniform(0.5, 2, 6)
    expected = (loads * factor).argmax(axis=1)
    targets = np.bincount(expected, weights=level.vwgt, minlength=6)  # so that factors may stay
    given = factor.copy()
    changed = kernels.settle(level.vwgt, held, targets, factor, part, np.empty(80, np.int32))
    assert (part == expected).all() and (factor == given).all()
    assert changed == (before != part).sum() > 0


def test_factors_follow_from_what_blocks_weigh(seed=4):
    rng = np.random.default_rng(seed)
    level = level_of(random_graph(90, 260, rng))
    part = rng.integers(3, size=90).astype(np.int32)
    loads, held = spread(level, part, 3, 3)
    targets, factor = np.array([60.0, 20.0, 10.0]), np.ones(3)
    kernels.settle(level.vwgt, held, targets, factor, part, np.empty(90, np.int32))
    slow, expected = np.ones(3), part
    for _ in range(kernels.CORRECTIONS):
        expected = (loads * slow).argmax(axis=1)
        ratio = np.bincount(expected, minlength=3) / targets
        if np.abs(ratio - 1).max() < kernels.BALANCED:
            break
        slow *= np.clip(ratio**-0.5, 0.9, 1.1)
    assert (part == expected).all()
    assert factor == pytest.approx(slow)


@pytest.mark.parametrize("spread_as", [THOROUGH, AGAIN, Spread(8, 8, settled=0.003)])
def test_one_call_for_all_rounds_does_what_threads_do(monkeypatch, spread_as):
    level = level_of(grid(70, 70))
    targets = np.r_[np.full(3, 900.0), np.full(22, 100.0)]
    start = recursive_bisection(level, targets, 0.02, 1)
    alone = diffused_blocks(level, targets, start, spread_as)
    monkeypatch.setattr(diffusion, "LARGE", 100)
    shared = diffused_blocks(level, targets, start, spread_as, threads=3)
    assert (alone == shared).all() and (alone != start).any()


def test_a_round_that_changes_little_is_the_last():
    level = level_of(grid(60, 60))
    targets = np.full(9, 400.0)
    start = recursive_bisection(level, targets, 0.02, 1)
    first = diffused_blocks(level, targets, start, Spread(1, 8))
    ends = diffused_blocks(level, targets, start, Spread(14, 8, settled=1.0))
    assert (ends == first).all()
    assert (diffused_blocks(level, targets, start, Spread(14, 8)) != first).any()


@pytest.mark.parametrize("k", [2, 3, 5])
def test_loads_of_all_blocks_lead_to_about_the_same_blocks(k):
    level = level_of(random_graph(30 * k, 90 * k, np.random.default_rng(k)))
    targets = np.full(k, 30.0)
    start = recursive_bisection(level, targets, 0.1, 1)
    few, all_loads = (
        diffused_blocks(level, targets, start, Spread(1, 2, dense=dense)) for dense in (0, k)
    )
    assert (few == all_loads).mean() > 0.95  # small loads that are dropped decide little


@pytest.mark.parametrize("shuffled", [False, True])
def test_blocks_of_a_grid_get_rounder_and_keep_unequal_weights(shuffled):
    order = np.random.default_rng(5).permutation(3600) if shuffled else None
    level = level_of(grid(60, 60), order=order)
    targets = np.r_[np.full(4, 4.0), np.full(30, 1.0)]
    targets *= level.n / targets.sum()
    place = np.arange(level.n) if order is None else order
    # Along stripes of three rows: blocks with long borders.
    along = (place // 180) * 180 + (place % 60) * 3 + (place // 60) % 3
    stripes = np.searchsorted(np.cumsum(targets), along, side="right").clip(max=33).astype(np.int32)
    part = diffused_blocks(level, targets, stripes, THOROUGH)
    ratio = np.bincount(part, minlength=34) / targets
    assert ratio.min() > 0.9 and ratio.max() < 1.1
    assert cut_of(level, part) < 0.8 * cut_of(level, stripes)


def test_two_runs_agree_and_leave_the_start_alone():
    level = level_of(grid(40, 40))
    targets = np.full(20, 80.0)
    start = recursive_bisection(level, targets, 0.02, 1)
    before = start.copy()
    once, again = (diffused_blocks(level, targets, start, THOROUGH) for _ in range(2))
    assert (once == again).all() and (start == before).all()


@pytest.mark.parametrize("name", ["no edge", "star", "complete", "two parts", "weights 0"])
def test_hard_shapes_give_every_vertex_a_block(name):
    star = np.zeros((40, 40))
    star[0, 1:] = star[1:, 0] = 1
    complete = 1 - np.eye(40)
    apart = np.kron(np.eye(2), 1 - np.eye(20))
    matrix = {"no edge": 0 * star, "star": star, "complete": complete, "two parts": apart}
    level = level_of(matrix.get(name, complete))
    if name == "weights 0":
        level = GraphLevel(level.xadj, level.adjncy, 0 * level.adjwgt, level.vwgt)
    start = (np.arange(40) % 4).astype(np.int32)
    part = diffused_blocks(level, np.full(4, 10.0), start, THOROUGH)
    assert part.shape == (40,) and part.min() >= 0 and part.max() < 4
    if name in ("no edge", "weights 0"):
        assert (part == start).all()


def test_a_block_without_a_target_loses_what_it_has():
    level = level_of(grid(20, 20))
    start = np.repeat(np.arange(4), 100).astype(np.int32)
    part = diffused_blocks(level, np.array([200.0, 200.0, 0.0, 0.0]), start, THOROUGH)
    weight = np.bincount(part, minlength=4)
    assert weight[2:].sum() < 0.02 * 400


def test_targets_of_nothing_change_nothing():
    part = np.arange(36, dtype=np.int32) % 3
    found = diffused_blocks(level_of(grid(6, 6)), np.zeros(3), part, AGAIN)
    assert (found == part).all()
    assert found is not part


def test_slices_and_threads_change_nothing(monkeypatch):
    level, targets = level_of(grid(40, 40)), np.full(16, 100.0)
    start = recursive_bisection(level, targets, 0.02, 1)
    once = diffused_blocks(level, targets, start, THOROUGH)
    monkeypatch.setattr("evener.threads.SLICE", 300)
    for threads in (1, 2, 4):
        assert (diffused_blocks(level, targets, start, THOROUGH, threads) == once).all()


def test_layers_are_distances_from_the_border():
    level = level_of(grid(1, 12))
    part = (np.arange(12) >= 8).astype(np.int32)
    layer, queue = np.empty(12, np.int32), np.empty(12, np.int32)
    kernels.layers(level.xadj, level.adjncy, part, np.empty(0, np.int64), 5, layer, queue)
    assert layer.tolist() == [5, 5, 5, 4, 3, 2, 1, 0, 0, 1, 2, 3]
