"""FM: gains claimed are gains made, limits and weights are kept, nothing gets worse."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.graphs.graph import Graph
from evener.partitioning.refinement import fm
from evener.partitioning.refinement import fm as grouping
from evener.partitioning.refinement import fm_kernels as kernels
from evener.partitioning.refinement import pairs_kernels as grouping_kernels
from evener.partitioning.refinement.fm import (
    FMEffort,
    boundary_flags,
    grouped,
    refine_level,
    shuffle,
    touching,
)
from evener.partitioning.refinement.fm_kernels import BlockState, WeightLimits
from tests.assertions import grid, path, random_graphs
from tests.examples import with_examples
from tests.partitioning.by_hand import edges_of, level_of, priced_cut, whole

STRONG = FMEffort(rounds=8, finest_rounds=8, patience=8, least_gain=0.0, boldness=1.1)


def refined(
    level, part, low, high, price, effort=STRONG, *, slack=0.0, rounds=8, threads=1, seed=1
):
    """Refine a copy; check all that must hold whatever was given; return (blocks, gain)."""
    k = price.size
    part = part.astype(np.int32)
    given_cost = priced_cut(level, part, price)
    weight = np.bincount(part, level.vwgt, k).astype(np.float64)
    limits = WeightLimits(low, high, low - slack, high + slack)
    outside = (np.maximum(low - weight, 0) + np.maximum(weight - high, 0)).sum()
    flag = boundary_flags(level, part, 1)
    gain = refine_level(
        level, BlockState(part, weight, price, limits), flag, rounds, effort, seed, threads
    )
    assert part.min() >= 0
    assert part.max() < k
    scale = 1e-12 * max(level.vwgt.sum(), 1)
    assert weight == pytest.approx(np.bincount(part, level.vwgt, k), rel=1e-9, abs=scale)
    assert gain == given_cost - priced_cut(level, part, price)
    assert gain >= 0
    now = (np.maximum(low - weight, 0) + np.maximum(weight - high, 0)).sum()
    assert now <= outside + scale
    return part, gain


@given(
    random_graphs(max_n=20),
    st.integers(2, 5),
    st.integers(0, 10**6),
    st.floats(0.7, 1.5),
    st.sampled_from([0.0, 0.5, 3.0]),
)
@with_examples(150)
def test_gains_weights_and_limits_are_what_they_are_said_to_be(graph, k, seed, room, slack):
    rng = np.random.default_rng(seed)
    level = level_of(whole(graph))
    mean = level.vwgt.sum() / k
    high = np.full(k, room * mean)
    refined(
        level, rng.integers(0, k, level.n), np.full(k, 0.5 * mean), high,
        rng.integers(6, 13, k), slack=slack * mean, seed=seed,
    )  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("slack", [0.0, 5.0])
def test_limits_that_hold_are_kept(weighted, slack):
    rng = np.random.default_rng(2)
    vwgt = rng.random(900) if weighted else None
    level = level_of(grid(30, 30, vwgt=vwgt))
    part = rng.permutation(np.arange(900) % 6)
    weight = np.bincount(part, level.vwgt, 6)
    low, high = weight - 2, weight + 2
    part, gain = refined(level, part, low, high, np.full(6, 8), slack=slack)
    assert gain > 0.4 * 8 * 2 * 1450
    found = np.bincount(part, level.vwgt, 6)
    assert (found >= low - 1e-9).all()
    assert (found <= high + 1e-9).all()


def test_blocks_outside_their_limits_are_not_pushed_further():
    level = level_of(grid(12, 12))
    part = (np.arange(144) >= 20).astype(np.int32)
    refined(level, part, np.full(2, 60.0), np.full(2, 84.0), np.full(2, 8), slack=8.0)


def least_cost(level, k, low, high, price):
    """The cheapest of all k^n partitions within limits."""
    best = None
    edges = [(v, u, w) for (v, u), w in edges_of(level).items() if v < u]
    for part in itertools.product(range(k), repeat=level.n):
        weight = np.bincount(part, level.vwgt, k)
        if (weight >= low).all() and (weight <= high).all():
            cut = [(v, u, w) for v, u, w in edges if part[v] != part[u]]
            cost = sum(w * (price[part[v]] + price[part[u]]) for v, u, w in cut)
            best = cost if best is None else min(best, cost)
    return best


@pytest.mark.parametrize("seed", range(6))
def test_never_below_the_optimum_and_mostly_near_it(seed):
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(8, 1)
    chosen = rng.random(u.size) < 0.4
    level = level_of(
        Graph.from_edges(8, u[chosen], v[chosen], weights=rng.integers(0, 5, chosen.sum()))
    )
    price, low, high = np.array([8, 8, 8]), np.full(3, 2.0), np.full(3, 3.0)
    optimum = least_cost(level, 3, low, high, price)
    found = []
    for again in range(8):
        start = rng.permutation(np.arange(8) % 3)
        part, _ = refined(level, start, low, high, price, slack=1.0, seed=again)
        found.append(priced_cut(level, part, price))
    assert min(found) >= optimum
    assert min(found) <= optimum + 2 * 8 * 4  # one edge of the heaviest weight


def test_stripes_of_a_path_are_joined_as_far_as_limits_allow():
    level, stripes, price = level_of(path(40)), np.arange(40) // 5 % 2, np.full(2, 8)
    part, _ = refined(level, stripes, np.full(2, 14.0), np.full(2, 26.0), price)
    assert priced_cut(level, part, np.ones(2, int)) < 2 * 7
    part, _ = refined(level, stripes, np.full(2, 0.0), np.full(2, 40.0), price)
    assert priced_cut(level, part, np.ones(2, int)) <= 2 * 1


def test_a_dearer_border_is_shorter():
    level = level_of(grid(30, 30))
    part = np.arange(900) % 30 // 10
    even, _ = refined(level, part, np.full(3, 250.0), np.full(3, 350.0), np.full(3, 8))
    dear = np.array([8, 80, 8])
    shifted, _ = refined(level, part, np.full(3, 250.0), np.full(3, 350.0), dear)
    assert priced_cut(level, shifted, dear) <= priced_cut(level, even, dear)


@pytest.mark.parametrize("threads", [2, 4])
def test_groups_decide_the_result_not_threads(monkeypatch, threads):
    monkeypatch.setattr("evener.partitioning.refinement.fm.WORTH_GROUPS", 10)
    rng = np.random.default_rng(4)
    level = level_of(grid(50, 50))
    part = np.arange(2500) // 50 // 10 * 5 + np.arange(2500) % 50 // 10
    part = np.where(rng.random(2500) < 0.2, rng.integers(0, 25, 2500), part)
    weight = np.bincount(part, minlength=25)
    arguments = (level, part, weight - 3.0, weight + 3.0, rng.integers(8, 13, 25))
    one, gain = refined(*arguments, threads=1)
    more, same_gain = refined(*arguments, threads=threads)
    assert (one == more).all()
    assert gain == same_gain > 0


@pytest.mark.slow
@given(random_graphs(max_n=25, weighted=False), st.integers(5, 9), st.integers(0, 999))
@with_examples(60)
def test_grouped_searches_claim_exact_gains(graph, k, seed):
    level, rng = level_of(graph), np.random.default_rng(seed)
    price, low, high = rng.integers(6, 13, k), np.zeros(k), np.full(k, float(level.n))
    before, groups = grouping.WORTH_GROUPS, grouping.GROUPS
    try:
        grouping.WORTH_GROUPS, grouping.GROUPS = 0, 3
        refined(level, rng.integers(0, k, level.n), low, high, price, threads=2)
    finally:
        grouping.WORTH_GROUPS, grouping.GROUPS = before, groups


def test_a_search_stops_at_its_budget(monkeypatch):
    level = level_of(grid(30, 30))
    part = np.random.default_rng(0).integers(0, 4, 900)
    arguments = (level, part, np.zeros(4), np.full(4, 900.0), np.full(4, 8))
    _, plenty = refined(*arguments, rounds=1)
    monkeypatch.setattr(fm, "MOST_LOOKS", 1)
    _, little = refined(*arguments, rounds=1)
    assert 0 < little < plenty


def test_hubs_stay_where_they_are():
    n = kernels.HUB + 10
    level = level_of(Graph.from_edges(n, np.zeros(n - 1, int), np.arange(1, n)))
    part = (np.arange(n) > 0).astype(np.int32)
    part, _ = refined(level, part, np.full(2, 1.0), np.full(2, float(n)), np.full(2, 8))
    assert part[0] == 0
    assert (part == 0).sum() > n - 5


def test_no_round_and_no_boundary_change_nothing():
    level = level_of(grid(6, 6))
    part = np.arange(36) % 2
    free = np.zeros(2), np.full(2, 36.0), np.full(2, 8)
    assert refined(level, part, *free, rounds=0)[1] == 0
    assert refined(level, np.zeros(36, int), *free)[1] == 0


@given(random_graphs(max_n=14), st.integers(1, 4), st.integers(0, 99))
@with_examples(40)
def test_flags_and_borders_are_sums_over_edges(graph, k, seed):
    level = level_of(whole(graph))
    part = np.random.default_rng(seed).integers(0, k, level.n).astype(np.int32)
    flag, between = np.zeros(level.n, np.int8), np.zeros((k, k), np.int64)
    for (v, u), w in edges_of(level).items():
        if part[v] != part[u]:
            flag[v] = 1
            between[part[v], part[u]] += w
    assert (boundary_flags(level, part, 1) == flag).all()
    border = np.zeros(k, np.int64)
    kernels.block_borders(level.xadj, level.adjncy, level.adjwgt, part, border)
    assert (border == between.sum(axis=1)).all()


def dense(k, starts, other, weight):
    """The arcs as a table (k, k)."""
    table = np.zeros((k, k), np.int64)
    for b in range(k):
        for i in range(starts[b], starts[b + 1]):
            assert table[b, other[i]] == 0
            table[b, other[i]] = weight[i]
    return table


def groups_by_table(between, order, groups):
    """As group_blocks, looking at every block again and again."""
    k = len(order)
    size, group_of = between.sum(axis=1), np.full(k, -1)
    share = size.sum() / groups
    for g in range(groups):
        pull, filled, members = np.zeros(k, np.int64), 0.0, 0
        while filled < share or g == groups - 1:
            free = group_of < 0
            if not free.any():
                break
            touched = free & (pull > 0)
            b = int(np.where(touched, pull, -1).argmax()) if touched.any() else -1
            if b < 0:
                b = next(c for c in order if free[c])
            if members and g < groups - 1 and filled + 0.5 * size[b] > share:
                break
            group_of[b] = g
            filled += size[b]
            members += 1
            pull += between[b]
    return group_of


@given(random_graphs(max_n=14), st.integers(1, 6), st.integers(0, 99), st.integers(1, 2))
@with_examples(60)
def test_what_touches_is_summed_over_edges(graph, k, seed, threads):
    level = level_of(whole(graph))
    rng = np.random.default_rng(seed)
    part = rng.integers(0, k, level.n).astype(np.int32)
    seeds = np.flatnonzero(rng.random(level.n) < 0.7).astype(np.int32)
    between = np.zeros((k, k), np.int64)
    for (v, u), w in edges_of(level).items():
        if v in seeds and part[v] != part[u]:
            between[part[v], part[u]] += w
    assert (dense(k, *touching(level, part, seeds, k, threads)) == between).all()


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("k", [5, 40])
@pytest.mark.parametrize("density", [0.0, 0.1, 0.8])
def test_groups_are_those_of_a_table(groups, k, density):
    rng = np.random.default_rng(k)
    between = np.triu(rng.integers(1, 9, (k, k)) * (rng.random((k, k)) < density), 1)
    between = between + between.T
    starts = np.r_[0, np.cumsum((between > 0).sum(axis=1))]
    _, other = np.nonzero(between)
    order, group_of = rng.permutation(k), np.empty(k, np.int64)
    weight = between[between > 0]
    grouping_kernels.group_blocks(starts, other.astype(np.int32), weight, order, groups, group_of)
    assert (group_of == groups_by_table(between, order, groups)).all()
    assert group_of.min() >= 0


@pytest.mark.parametrize("threads", [1, 2])
def test_groups_share_out_all_seeds(monkeypatch, threads):
    monkeypatch.setattr(grouping, "WORTH_GROUPS", 10)
    monkeypatch.setattr("evener.threads.SLICE", 100)
    level = level_of(grid(40, 40))
    part = (np.arange(1600) // 160).astype(np.int32)
    seeds = np.arange(0, 1600, 2, dtype=np.int32)
    made = grouped(level, part, seeds, 10, 3, threads)
    assert len(made.seeds) == grouping.GROUPS
    assert (np.sort(np.concatenate(made.seeds)) == seeds).all()
    for g, own in enumerate(made.seeds):
        assert (made.of_block[part[own]] == g).all()
    assert (made.of_block == grouped(level, part, seeds, 10, 3, 1).of_block).all()


@pytest.mark.parametrize("size", [0, 1, 2, 100])
def test_shuffles_are_permutations_that_the_seed_decides(size):
    once, again, other = np.arange(size), np.arange(size), np.arange(size)
    shuffle(once, 1)
    shuffle(again, 1)
    shuffle(other, 2**80)
    assert sorted(once.tolist()) == list(range(size))
    assert (once == again).all()
    assert size < 3 or (once != other).any()
