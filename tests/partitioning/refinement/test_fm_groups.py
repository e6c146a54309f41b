"""Groups of blocks: against a dense table of connections, and every block in one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.partitioning.refinement import fm as grouping
from evener.partitioning.refinement import pairs_kernels as grouping_kernels
from evener.partitioning.refinement.fm import grouped, shuffle, touching
from tests.assertions import grid, random_graphs
from tests.examples import with_examples
from tests.partitioning.levels_by_hand import edges_of, level_of


def whole(graph):
    """The graph with whole edge weights, as levels have them."""
    if graph.adjwgt is None:
        return graph
    return graph.with_(adjwgt=np.rint(graph.adjwgt).astype(np.int64))


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
