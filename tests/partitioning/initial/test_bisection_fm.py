"""Two-way FM: the cut it reports is the cut, limits are kept, nothing gets worse."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evener.partitioning.initial import bisection_kernels as kernels
from evener.partitioning.initial.bisection import cut_of
from tests.assertions import grid, random_graphs
from tests.partitioning.levels_by_hand import level_of


def refined(level, side, low, high, passes=4):
    """The cut and the weight of side 0, refined in place."""
    n, adjwgt = level.n, level.adjwgt
    if adjwgt.size == 0:
        adjwgt = np.ones(level.adjncy.size, np.int32)
    weight = float(level.vwgt[side == 0].sum())
    return kernels.refine_sides(
        level.xadj, level.adjncy, adjwgt, level.vwgt, low, high, passes, side, weight,
        np.empty(n, np.int64), np.empty(n, np.int32), np.empty((2, n + 1), np.int32),
        np.empty((2, n + 1), np.int64), np.empty(n, np.int32),
    )  # fmt: skip


@given(random_graphs(max_n=14), st.integers(0, 99), st.floats(0.2, 0.8), st.floats(0.01, 0.3))
@settings(max_examples=80)
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
    cut, weight = refined(level, side, 190.0, 210.0, passes=8)
    assert cut <= 24
    assert 190 <= weight <= 210


def test_sides_far_off_are_brought_back():
    level = level_of(grid(20, 20))
    side = np.zeros(400, np.int32)
    _, weight = refined(level, side, 195.0, 205.0)
    assert 195 <= weight <= 205
