"""Balancing and refining: weights kept right move by move, no limit broken further."""

import numpy as np
import pytest

from evener.partitioning.levels.levels import finest
from evener.partitioning.multiconstraint.balance import balance, refine_loaded
from evener.partitioning.multiconstraint.loads import Loaded, loads_of, mean_shares
from evener.partitioning.multiconstraint.multiconstraint import several_bisection
from evener.partitioning.refinement.fm import EVEN_PRICE, FMEffort, boundary_flags
from tests.assertions import grid
from tests.partitioning.by_hand import contract_of, cut, holds, weighted


def loaded_of(graph, contract):
    loads, bounds = loads_of(graph, contract)
    none = np.empty(0, np.int32)
    level = finest(graph, np.arange(graph.n), mean_shares(loads), none, 1)
    return Loaded(level, loads), bounds


@pytest.mark.parametrize("seed", range(4))
def test_any_partition_ends_within_its_limits(seed):
    graph = weighted(grid(30, 30), seed, 3)
    contract = contract_of(graph, [1, 2, 3, 4], 0.04)
    loaded, bounds = loaded_of(graph, contract)
    part = np.random.default_rng(seed).integers(0, 4, graph.n).astype(np.int32)
    part[: graph.n // 2] = 0
    weight = balance(loaded, part, bounds)
    assert np.allclose(weight, loaded.weight(part, 4))
    assert holds(graph, part, contract)


def test_what_holds_is_left_alone():
    graph = weighted(grid(20, 20), 1)
    contract = contract_of(graph, np.ones(3), 0.9)
    loaded, bounds = loaded_of(graph, contract)
    part = (np.arange(graph.n) % 3).astype(np.int32)
    given = part.copy()
    balance(loaded, part, bounds)
    assert (part == given).all()


def test_swaps_settle_what_no_move_can():
    """Two blocks, each with the wrong three of six heavy vertices, no room for a seventh."""
    graph = grid(2, 6)
    weights = np.array([5, 5, 5, 3, 3, 3, 3, 3, 3, 5, 5, 5])
    graph = graph.with_(vwgt=np.stack([np.ones(12, int), weights], axis=1))
    contract = contract_of(graph, np.ones(2), 0.0)
    part = np.where(weights == 5, 0, 1).astype(np.int32)
    loaded, bounds = loaded_of(graph, contract)
    balance(loaded, part, bounds)
    assert holds(graph, part, contract)


@pytest.mark.parametrize("seed", range(4))
def test_refinement_gains_what_it_says_within_limits(seed):
    graph = weighted(grid(30, 30), seed, 3)
    contract = contract_of(graph, np.ones(4), 0.1)
    loaded, bounds = loaded_of(graph, contract)
    part = np.random.default_rng(seed).integers(0, 4, graph.n).astype(np.int32)
    weight = balance(loaded, part, bounds)
    before = cut(graph, part)
    flag = boundary_flags(loaded.level, part, 1)
    gained = refine_loaded(loaded, part, weight, bounds, flag, 0.003, FMEffort(rounds=5), seed)
    assert gained == 2 * EVEN_PRICE * (before - cut(graph, part)) > 0
    assert np.allclose(weight, loaded.weight(part, 4))
    assert holds(graph, part, contract)


def test_refinement_breaks_nothing_further():
    graph = weighted(grid(20, 20), 2)
    contract = contract_of(graph, np.ones(4), 0.01)
    loaded, bounds = loaded_of(graph, contract)
    part = np.random.default_rng(2).integers(0, 2, graph.n).astype(np.int32)  # two stay empty
    weight = loaded.weight(part, 4)
    before = bounds.off(weight).sum()
    flag = boundary_flags(loaded.level, part, 1)
    refine_loaded(loaded, part, weight, bounds, flag, 0.003, FMEffort(rounds=5), 1)
    assert bounds.off(weight).sum() <= before * (1 + 1e-9)


@pytest.mark.parametrize("k", [2, 5])
def test_bisection_is_near_all_targets(k):
    graph = weighted(grid(30, 30), 4, 3)
    loaded, bounds = loaded_of(graph, contract_of(graph, np.arange(k) + 1.0))
    part = several_bisection(loaded, bounds.targets, 0.05, 1)
    ratio = loaded.weight(part, k) / bounds.targets
    assert 0.8 < ratio.min() <= ratio.max() < 1.2
    assert cut(graph, part) < 0.25 * graph.m
