"""Refinement for volumes: the tables against recomputation, the search against brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.graphs.graph import Graph
from evener.partitioning.levels.levels import GraphLevel
from evener.partitioning.multilevel.multilevel import multilevel_blocks
from evener.partitioning.refinement import volumes_kernels as kernels
from evener.partitioning.refinement.connectivity_kernels import CLOSED, ConnectivityTables
from evener.partitioning.refinement.fm import boundary_flags
from evener.partitioning.refinement.fm_kernels import WeightLimits
from evener.partitioning.refinement.volumes import AIMS, connectivity_tables, refine_volumes
from evener.plans import metrics
from evener.plans.partition import Contract, Partition
from tests.examples import with_examples


def random_graph(n: int, m: int, rng: np.random.Generator) -> Graph:
    pairs = rng.integers(0, n, (m, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return from_pairs(n, pairs)


def from_pairs(n: int, pairs: np.ndarray, coords: np.ndarray | None = None) -> Graph:
    both = np.concatenate([pairs, pairs[:, ::-1]]) if len(pairs) else np.empty((0, 2), np.int64)
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    xadj = np.concatenate([[0], np.cumsum(np.bincount(both[:, 0], minlength=n))])
    return Graph(xadj.astype(np.int64), both[:, 1].astype(np.int32), coords=coords)


def grid(side: int) -> Graph:
    at = np.arange(side * side).reshape(side, side)
    across = np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], axis=1)
    down = np.stack([at[:-1].ravel(), at[1:].ravel()], axis=1)
    coords = np.stack(np.divmod(np.arange(side * side), side), axis=1).astype(np.float64)
    return from_pairs(side * side, np.concatenate([across, down]), coords)


def near_of(graph: Graph, v: int) -> np.ndarray:
    return graph.adjncy[graph.xadj[v] : graph.xadj[v + 1]]


def level_of(graph: Graph) -> GraphLevel:
    return GraphLevel(
        graph.xadj.astype(np.uint32), graph.adjncy.astype(np.uint32), np.empty(0, np.int32),
        np.asarray(graph.weights(), np.float64),
    )  # fmt: skip


def limits_of(low: np.ndarray, high: np.ndarray, slack: float = 0.0) -> WeightLimits:
    return WeightLimits(low, high, low - slack, high + slack)


def volumes_of(graph: Graph, part: np.ndarray, k: int) -> np.ndarray:
    return metrics.comm_volumes(metrics.quotient(graph, Partition(part.copy(), k)))


def assert_tables_are_exact(graph: Graph, tables: ConnectivityTables) -> None:
    k = tables.volumes.size
    between = metrics.quotient(graph, Partition(tables.part.copy(), k))
    assert (tables.volumes == metrics.comm_volumes(between)).all()
    sent = np.zeros((k, k), np.int64)
    sent[between.block, between.other] = between.sent
    assert (tables.sent == sent).all()
    for v in np.flatnonzero(tables.length != CLOSED):
        first, size = int(tables.xadj[v]), int(tables.length[v])
        table = dict(
            zip(tables.blocks[first : first + size], tables.counts[first : first + size],
                strict=True)
        )  # fmt: skip
        near, counts = np.unique(tables.part[near_of(graph, v)], return_counts=True)
        assert table == dict(zip(near, counts, strict=True))


def refine(
    graph: Graph, part: np.ndarray, k: int, limits: WeightLimits, name: str, seed: int = 1
) -> ConnectivityTables:
    level = level_of(graph)
    weight = np.bincount(part, weights=level.vwgt, minlength=k)
    flag = boundary_flags(level, part, 1)
    tables = refine_volumes(level, part, weight, limits, AIMS[name], flag, seed)
    assert (weight == np.bincount(part, weights=level.vwgt, minlength=k)).all()
    return tables


@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(1, 6))
@with_examples(60)
def test_the_tables_are_exact_after_every_move(seed: int, n: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(n, int(rng.integers(0, 4 * n)), rng)
    level, part = level_of(graph), rng.integers(0, k, n).astype(np.int32)
    tables = connectivity_tables(level, part, k, boundary_flags(level, part, 1))
    assert_tables_are_exact(graph, tables)
    for _ in range(20):
        v, q = int(rng.integers(n)), int(rng.integers(k))
        if q == tables.part[v]:
            continue
        before = tables.volumes.copy()
        size = kernels.move(tables, v, q)
        changed = tables.changed[:size]
        assert np.unique(changed).size == size
        assert (tables.change == tables.volumes - before).all()
        assert set(np.flatnonzero(tables.change)) <= set(changed)
        tables.change[changed] = 0
        assert_tables_are_exact(graph, tables)


@given(st.integers(0, 10**6), st.integers(2, 25), st.integers(2, 5))
@with_examples(60)
def test_the_best_move_is_the_best_by_recomputation(seed: int, n: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(n, int(rng.integers(1, 4 * n)), rng)
    level, part = level_of(graph), rng.integers(0, k, n).astype(np.int32)
    tables = connectivity_tables(level, part, k, boundary_flags(level, part, 1))
    weight = np.bincount(part, weights=level.vwgt, minlength=k)
    low, high = np.zeros(k), weight + rng.integers(0, 2, k)
    worth, edge = rng.random(k), 0.3
    gains_of = kernels.Gains(worth, np.full(k, -1, np.int32), np.empty(k))
    limits = WeightLimits(low, high, low, high)
    for v in range(n):
        gain, to = kernels.best_move(tables, v, 1.0, weight, limits, edge, gains_of)
        assert (gains_of.slot == -1).all()
        gains = {}
        for q in np.unique(part[near_of(graph, v)]):
            if q == part[v] or weight[q] + 1 > high[q]:
                continue
            after = part.copy()
            after[v] = q
            fewer = volumes_of(graph, part, k) - volumes_of(graph, after, k)
            near = part[near_of(graph, v)]
            gains[q] = worth @ fewer + edge * ((near == q).sum() - (near == part[v]).sum())
        assert (to < 0) == (not gains)
        if gains:
            assert gain == pytest.approx(max(gains.values()))
            assert gains[to] == pytest.approx(gain)


@pytest.mark.parametrize("name", sorted(AIMS))
@given(seed=st.integers(0, 10**6), n=st.integers(4, 60), k=st.integers(2, 6))
@with_examples(60)
def test_never_worse_and_never_less_balanced(name: str, seed: int, n: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(n, int(rng.integers(0, 4 * n)), rng)
    given_part = rng.integers(0, k, n).astype(np.int32)
    targets = np.full(k, n / k)
    low, high = np.floor(0.8 * targets), np.ceil(1.2 * targets)
    part = given_part.copy()
    tables = refine(graph, part, k, limits_of(low, high, slack=1.0), name)
    before, after = volumes_of(graph, given_part, k), volumes_of(graph, part, k)
    assert (tables.volumes == after).all()
    assert_tables_are_exact(graph, tables)
    if name == "total_volume":
        assert after.sum() <= before.sum()
    else:
        assert after.max() <= before.max()

    def outside(p: np.ndarray) -> float:
        w = np.bincount(p, minlength=k)
        return float((np.maximum(w - high, 0) + np.maximum(low - w, 0)).sum())

    assert outside(part) <= outside(given_part)


@pytest.mark.parametrize("name", sorted(AIMS))
def test_tiny_graphs_reach_the_optimum_from_some_start(name: str) -> None:
    """Two blocks of a 3 x 3 grid, of 4 or 5: brute force over all starts that fit."""
    graph, k = grid(3), 2
    low, high = np.full(k, 4.0), np.full(k, 5.0)
    parts = [np.array(p, np.int32) for p in product(range(k), repeat=graph.n)]
    parts = [p for p in parts if 4 <= p.sum() <= 5]

    def cost(p: np.ndarray) -> int:
        volumes = volumes_of(graph, p, k)
        return int(volumes.sum() if name == "total_volume" else volumes.max())

    best = min(cost(p) for p in parts)
    reached = []
    for start in parts:
        part = start.copy()
        refine(graph, part, k, limits_of(low, high, slack=1.0), name)
        assert 4 <= part.sum() <= 5
        reached.append(cost(part))
    assert min(reached) == best
    assert np.mean(reached) <= np.mean([cost(p) for p in parts]) - 1
    assert np.mean(np.array(reached) == best) > 0.5


def test_the_largest_volume_falls_where_it_can() -> None:
    """A block with a ragged border against a straight one: the border is straightened."""
    side = 12
    graph = grid(side)
    part = (np.arange(graph.n) // side >= side // 2).astype(np.int32)
    ragged = part.copy()
    for column in range(0, side, 2):  # teeth: one cell over the border and one back
        ragged[(side // 2) * side + column] = 0
        ragged[(side // 2 - 1) * side + column + 1] = 1
    low, high = np.full(2, 70.0), np.full(2, 74.0)
    start = volumes_of(graph, ragged, 2).max()
    refine(graph, ragged, 2, limits_of(low, high, slack=2.0), "max_volume")
    assert volumes_of(graph, ragged, 2).max() <= side + 2 < start


def test_a_search_finds_nothing_without_boundary() -> None:
    graph = grid(4)
    part = np.zeros(graph.n, np.int32)
    tables = refine(graph, part, 3, limits_of(np.zeros(3), np.full(3, 20.0)), "max_volume")
    assert (part == 0).all()
    assert tables.volumes.sum() == 0


def test_the_same_seed_gives_the_same_blocks() -> None:
    rng = np.random.default_rng(4)
    graph = random_graph(300, 900, rng)
    start = rng.integers(0, 5, 300).astype(np.int32)
    limits = limits_of(np.full(5, 50.0), np.full(5, 70.0), slack=2.0)
    results = []
    for _ in range(2):
        part = start.copy()
        refine(graph, part, 5, limits, "max_volume", seed=3)
        results.append(part)
    assert (results[0] == results[1]).all()
    assert (results[0] != start).any()


def test_edge_weights_only_break_ties() -> None:
    """Scaling all edge weights changes nothing: volumes count vertices, not weights."""
    rng = np.random.default_rng(5)
    graph = random_graph(200, 600, rng)
    start = rng.integers(0, 4, 200).astype(np.int32)
    limits = limits_of(np.full(4, 40.0), np.full(4, 60.0))
    parts = []
    for weights in (np.empty(0, np.int32), np.full(graph.adjncy.size, 4, np.int32)):
        level = replace(level_of(graph), adjwgt=weights)
        part = start.copy()
        weight = np.bincount(part, minlength=4).astype(np.float64)
        refine_volumes(
            level, part, weight, limits, AIMS["max_volume"], boundary_flags(level, part, 1), 1
        )
        parts.append(part)
    assert (parts[0] == parts[1]).all()


@pytest.mark.slow
def test_objectives_of_the_partitioner_keep_the_contract() -> None:
    graph = grid(48)
    targets = np.array([200.0] * 4 + [100.0] * 12 + [304.0])
    contract = Contract(targets, np.ceil(0.97 * targets), np.floor(1.03 * targets))
    volumes = {}
    for objective in ("cut", *AIMS):
        part = multilevel_blocks(graph, contract, objective=objective).part
        size = np.bincount(part, minlength=targets.size)
        assert (size >= contract.low).all(), objective
        assert (size <= contract.high).all(), objective
        again = multilevel_blocks(graph, contract, objective=objective, threads=2).part
        assert (part == again).all(), objective
        volumes[objective] = volumes_of(graph, part, targets.size)
    assert volumes["total_volume"].sum() <= volumes["cut"].sum()
    assert volumes["max_volume"].max() <= volumes["cut"].max()


def test_edges_of_no_weight_are_fine() -> None:
    rng = np.random.default_rng(6)
    graph = random_graph(100, 300, rng)
    level = replace(level_of(graph), adjwgt=np.zeros(graph.adjncy.size, np.int32))
    start = rng.integers(0, 4, 100).astype(np.int32)
    part, weight = start.copy(), np.bincount(start, minlength=4).astype(np.float64)
    limits = limits_of(np.full(4, 20.0), np.full(4, 30.0))
    refine_volumes(
        level, part, weight, limits, AIMS["total_volume"], boundary_flags(level, part, 1), 1
    )
    assert volumes_of(graph, part, 4).sum() < volumes_of(graph, start, 4).sum()
