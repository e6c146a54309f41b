"""Recursive bisection: every vertex in a block, sides near their targets, any graph.

Two-way FM: the cut it reports is the cut, limits are kept, nothing gets worse.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InfeasibleError
from evener.graphs.graph import Graph
from evener.partitioning.initial import bisection_kernels as kernels
from evener.partitioning.initial import bisection_levels_kernels as halving
from evener.partitioning.initial.bisection import (
    DEALS,
    TRIES,
    cut_of,
    recursive_bisection,
    slack_of_one,
)
from evener.partitioning.initial.bisection_levels_kernels import HalvingTree
from evener.partitioning.levels.heap_kernels import IndexedHeap, SideHeaps
from evener.partitioning.levels.levels import subgraph
from tests.assertions import grid, path, random_graphs
from tests.examples import with_examples
from tests.partitioning.by_hand import edges_of, level_of


def halved(level, share=0.5, slack=0.02, state=12_345, tries=8):
    """Side 0 or 1 (n,) of every vertex."""
    below = np.array([[-1, -2]], np.int32)
    tree = HalvingTree(np.array([share]), np.array([state], np.uint64), below)
    side = np.zeros(level.n, np.int32)
    halving.halve_again(level.arrays, tree, slack, tries, side)
    return side


def bisected_slowly(level, targets, epsilon, seed):
    """As recursive_bisection by "count": each half is taken out as a graph of its own."""
    slack = slack_of_one(epsilon, targets.size)

    part = np.zeros(level.n, np.int32)
    waiting = [(level, np.arange(level.n), np.argsort(-targets, kind="stable"), seed)]
    while waiting:
        piece, members, blocks, number = waiting.pop()
        if blocks.size == 1 or piece.n == 0:
            part[members] = blocks[0]
            continue
        half = blocks.size // 2
        share = targets[blocks[:half]].sum() / targets[blocks].sum()
        state = np.random.default_rng(number).integers(1, 2**63, dtype=np.uint64)
        side = halved(piece, float(share), slack, state, TRIES)
        for s, own in ((0, blocks[:half]), (1, blocks[half:])):
            inside = np.flatnonzero(side == s).astype(np.int32)
            sub = subgraph(piece, side, inside)
            waiting.append((sub, members[inside], own, 2 * number + s + 1))
    return part


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [1, 2, 5, 12])
def test_all_halves_in_one_call_are_those_made_one_by_one(k, weighted):
    rng = np.random.default_rng(k)
    whole = grid(25, 25, vwgt=rng.integers(1, 4, 625)) if weighted else grid(25, 25)
    level, targets = level_of(whole), rng.integers(1, 9, k).astype(np.float64)
    expected = bisected_slowly(level, targets, 0.03, 7)
    assert (recursive_bisection(level, targets, 0.03, 7) == expected).all()


@pytest.mark.parametrize("share", [0.5, 0.25, 0.03])
@pytest.mark.parametrize("graph", [grid(20, 20), path(300), Graph.from_edges(200, [], [])])
def test_sides_keep_their_limits(graph, share):
    level = level_of(graph)
    side = halved(level, share)
    assert set(side.tolist()) == {0, 1}
    off = abs((side == 0).sum() - share * level.n)
    assert off <= max(0.02 * share * level.n, 0.5) + 0.02 * level.n


def test_a_grid_is_cut_about_straight():
    level = level_of(grid(24, 24))
    assert cut_of(level, halved(level)) <= 1.5 * 24


def test_a_path_is_cut_once():
    level = level_of(path(200))
    assert cut_of(level, halved(level)) == 1


def test_components_are_not_cut_where_they_fit():
    u = np.r_[np.arange(0, 99), np.arange(100, 199)]
    level = level_of(Graph.from_edges(200, u, u + 1))
    assert cut_of(level, halved(level)) == 0


@given(
    random_graphs(max_n=14),
    st.lists(st.floats(0, 9), min_size=1, max_size=6).filter(any),
    st.sampled_from(DEALS),
)
@with_examples(60)
def test_every_vertex_gets_a_block(graph, targets, deal):
    if graph.adjwgt is not None:
        graph = graph.with_(adjwgt=np.rint(graph.adjwgt))
    part = recursive_bisection(level_of(graph), np.array(targets), 0.03, 5, deal)
    assert part.shape == (graph.n,)
    assert part.min() >= 0
    assert part.max() < len(targets)


@pytest.mark.parametrize("k", [2, 7, 16])
@pytest.mark.parametrize("deal", DEALS)
def test_blocks_are_near_their_targets(k, deal):
    level = level_of(grid(40, 40))
    targets = np.random.default_rng(k).uniform(1, 5, k)
    part = recursive_bisection(level, targets, 0.03, 1, deal)
    ratio = np.bincount(part, minlength=k) / (1600 * targets / targets.sum())
    assert ratio.min() > 0.85
    assert ratio.max() < 1.15


def test_targets_that_halve_again_and_again_need_no_large_numbers():
    part = recursive_bisection(level_of(grid(30, 30)), 2.0 ** -np.arange(90), 0.03, 2**70)
    assert np.bincount(part)[0] == pytest.approx(450, abs=40)


def test_vertices_without_weight_are_divided_too():
    part = recursive_bisection(level_of(grid(6, 6, vwgt=np.zeros(36))), np.ones(3), 0.03, 1)
    assert part.min() >= 0
    assert part.max() < 3
    with pytest.raises(InfeasibleError, match="above zero"):
        recursive_bisection(level_of(grid(2, 2)), np.zeros(2), 0.03, 1)


def test_the_same_seed_gives_the_same_blocks():
    level = level_of(grid(20, 20))
    first = recursive_bisection(level, np.ones(5), 0.03, 4)
    assert (recursive_bisection(level, np.ones(5), 0.03, 4) == first).all()


def test_small_blocks_lie_where_the_graph_is_thin():
    square, string = grid(20, 20), np.arange(399, 479)
    one, other = np.repeat(np.arange(400), square.degrees), square.adjncy
    once = one < other
    u, v = np.r_[one[once], string], np.r_[other[once], string + 1]
    level = level_of(Graph.from_edges(480, u, v))
    targets = np.r_[400.0, np.full(8, 10.0)]
    assert cut_of(level, recursive_bisection(level, targets, 0.01, 1, "large")) <= 10


@given(random_graphs(max_n=14), st.integers(0, 99))
@with_examples(40)
def test_a_side_is_the_graph_among_its_vertices(graph, seed):
    if graph.adjwgt is not None:
        graph = graph.with_(adjwgt=np.rint(graph.adjwgt))
    level = level_of(graph)
    side = np.random.default_rng(seed).integers(0, 2, graph.n).astype(np.int32)
    members = np.flatnonzero(side == 1).astype(np.int32)
    sub = subgraph(level, side, members)
    assert (sub.vwgt == level.vwgt[members]).all()
    back = {(int(members[v]), int(members[u])): w for (v, u), w in edges_of(sub).items()}
    inside = {e: w for e, w in edges_of(level).items() if side[e[0]] == side[e[1]] == 1}
    assert back == inside


@given(random_graphs(max_n=14, weighted=False))
@with_examples(40)
def test_breadth_first_orders_hold_every_vertex_once(graph):
    order, seen = np.empty(graph.n, np.int64), np.empty(graph.n, np.bool_)
    kernels.breadth_first_order(graph.xadj, graph.adjncy, 0, order, seen)
    assert sorted(order.tolist()) == list(range(graph.n))
    rank = np.argsort(order)
    _, component = graph.components()
    for v in range(graph.n):
        earlier = (rank[component == component[v]] < rank[v]).any()
        near = graph.adjncy[graph.xadj[v] : graph.xadj[v + 1]]
        assert not earlier or (rank[near] < rank[v]).any()


@given(random_graphs(max_n=14), st.floats(0.1, 0.9), st.integers(0, 13))
@with_examples(60)
def test_a_side_grows_to_its_goal_and_no_further(graph, share, start):
    if graph.adjwgt is not None:
        graph = graph.with_(adjwgt=np.rint(graph.adjwgt))
    level = level_of(graph)
    n = level.n
    goal = share * level.vwgt.sum()
    most = goal + level.vwgt.max()
    part, place = np.ones(n, np.int32), np.full(n, -1, np.int32)
    weight = kernels.grow(
        level.arrays, start % n, goal, most, part,
        IndexedHeap(np.empty(n + 1, np.int32), np.empty(n + 1, np.int64), place),
    )  # fmt: skip
    assert weight == pytest.approx(level.vwgt[part == 0].sum())
    assert goal * (1 - 1e-9) <= weight <= most * (1 + 1e-9)
    assert (place == -1).all()


def refined(level, side, low, high):
    """The cut and the weight of side 0, refined in place.

    The kernel exists only inside others, so it runs uncompiled here, as `make test-nojit` has it.
    """
    n = level.n
    graph = level.arrays
    if graph.adjwgt.size == 0:
        graph = graph._replace(adjwgt=np.ones(level.adjncy.size, np.int32))
    items, keys = np.empty((2, n + 1), np.int32), np.empty((2, n + 1), np.int64)
    heaps = SideHeaps(items, keys, np.zeros(2, np.int64), np.empty(n, np.int32))
    scratch = kernels.TwoWayScratch(np.empty(n, np.int64), np.empty(n, np.int32), heaps)
    weight = float(level.vwgt[side == 0].sum())
    with np.errstate(all="ignore"):  # numbers as in kernels
        return kernels.refine_sides(graph, low, high, side, weight, scratch)


@given(random_graphs(max_n=14), st.integers(0, 99), st.floats(0.2, 0.8), st.floats(0.01, 0.3))
@with_examples(80)
def test_no_side_gets_worse(graph, seed, share, slack):
    if graph.adjwgt is not None:
        graph = graph.with_(adjwgt=np.rint(graph.adjwgt))
    level = level_of(graph)
    total = level.vwgt.sum()
    low, high = (share - slack) * total, (share + slack) * total
    side = np.random.default_rng(seed).integers(0, 2, graph.n).astype(np.int32)

    def off():
        return max(
            0.0, *(level.vwgt[side == 0].sum() - [high]), *([low] - level.vwgt[side == 0].sum())
        )

    before = off(), cut_of(level, side)
    cut, weight = refined(level, side, low, high)
    assert cut == cut_of(level, side)
    assert abs(weight - level.vwgt[side == 0].sum()) <= 1e-9 * max(total, 1)
    assert (off(), cut) <= (before[0] * (1 + 1e-9) + 1e-9 * total, before[1]) or off() < before[0]


def test_a_ragged_border_becomes_straight():
    level = level_of(grid(20, 20))
    side = (np.arange(400) // 20 >= 10).astype(np.int32)
    some = np.random.default_rng(5).permutation(400)[:40]
    side[some] = 1 - side[some]
    cut, weight = refined(level, side, 190.0, 210.0)
    assert cut <= 24
    assert 190 <= weight <= 210


def test_sides_far_off_are_brought_back():
    level = level_of(grid(20, 20))
    side = np.zeros(400, np.int32)
    _, weight = refined(level, side, 195.0, 205.0)
    assert 195 <= weight <= 205
