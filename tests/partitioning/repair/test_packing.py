"""Heavy vertices: single moves, swaps and packing afresh find what a boundary walk cannot."""

import numpy as np
import pytest

from evener.errors import NotFoundError
from evener.partitioning.enforce import enforce
from evener.partitioning.repair import block_kernels as packing_kernels
from evener.partitioning.repair.packing import polish
from evener.partitioning.repair.state import State
from evener.plans.partition import Contract, Partition
from tests.examples import seeds
from tests.partitioning.by_hand import clique, faults, graph_of, path, real_contract


def state_of(graph, part, contract):
    return State.of(graph, Partition(np.array(part), contract.k), contract, 0)


def test_only_a_swap_helps():
    graph = path(4, vwgt=[5.0, 4.0, 3.0, 2.0])
    contract = real_contract(14.0, [1, 1], 0.0)
    state = state_of(graph, [0, 0, 1, 1], contract)  # 9 and 5: 5 for 3, or 4 for 2
    assert polish(state, steps=3)
    assert faults(graph, state.part, contract) == []


def test_totals_stay_true_through_moves_and_swaps():
    rng = np.random.default_rng(3)
    graph = clique(30, vwgt=rng.random(30), bytes_per_vertex=3, bytes_per_edge=1)
    contract = Contract(
        np.full(4, graph.total_weight / 4), np.full(4, graph.total_weight / 4 * 0.9),
        np.full(4, graph.total_weight / 4 * 1.1), np.full(4, 300.0),
    )  # fmt: skip
    state = state_of(graph, rng.integers(0, 4, 30), contract)
    polish(state, steps=50)
    held = state.weight.copy(), state.size.copy(), state.memory.copy()
    state.sum_up()
    for kept, summed in zip(held, (state.weight, state.size, state.memory), strict=True):
        np.testing.assert_allclose(kept, summed, rtol=1e-12)


def test_best_swap_is_as_good_as_trying_all():
    rng = np.random.default_rng(8)
    for _ in range(40):
        weights = rng.integers(1, 50, 12).astype(float)
        part = rng.permutation(np.arange(12) % 3)
        graph = path(12, vwgt=weights)
        state = state_of(graph, part, real_contract(weights.sum(), [1, 2, 1], 0.01))
        before = state.violations()
        bad = int(before.argmax())
        best = 0.0
        for v in np.flatnonzero(part == bad):
            for u in np.flatnonzero(part != bad):
                a, b = int(part[v]), int(part[u])
                state.move(int(v), b)
                state.move(int(u), a)
                best = max(best, before.sum() - state.violations().sum())
                state.move(int(v), a)
                state.move(int(u), b)
        order = np.lexsort((state.weights, state.part))
        starts = np.concatenate([[0], np.cumsum(state.size)])
        choice = np.zeros(2, np.int64)
        saved = packing_kernels.best_swap(
            starts, order, state.weights, state.n_bytes, state.limits, state.blocks, bad, 1, choice
        )
        assert saved == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", seeds(8))
def test_a_hidden_packing_is_found(seed):
    """Vertices cut from full blocks at random: within 3 % of a packing that exists."""
    rng = np.random.default_rng(seed)
    k, each = 5, 8
    cuts = np.sort(rng.random((k, each - 1)), axis=1)
    pieces = np.diff(np.column_stack([np.zeros(k), cuts, np.ones(k)]), axis=1).ravel()
    weights = rng.permutation(pieces)
    graph = graph_of(k * each, [], vwgt=weights)
    contract = real_contract(float(k), [1] * k, 0.03)
    result = enforce(graph, Partition(np.zeros(k * each, int), k), contract)
    assert faults(graph, result.partition.part, contract) == []


def test_half_of_all_in_one_vertex():
    weights = np.ones(101)
    weights[37] = 100
    graph = path(101, vwgt=weights)
    contract = real_contract(200.0, [2, 1, 1], 0.03)
    result = enforce(graph, Partition(np.full(101, 2), 3), contract)
    assert faults(graph, result.partition.part, contract) == []
    assert (result.partition.part == result.partition.part[37]).sum() <= 4


def test_what_no_packing_holds_is_not_found_and_ends():
    graph = path(400, vwgt=np.where(np.arange(400) % 2 == 0, 3.0, 7.5))
    contract = real_contract(2100.0, [1] * 9 + [1.003], 0.0)
    with pytest.raises(NotFoundError, match="found no partition"):
        enforce(graph, Partition(np.zeros(400, int), 10), contract)
