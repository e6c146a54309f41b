"""Swaps: what is kept move by move is what counting afresh finds."""

import numpy as np
import pytest

import evener as ev
from evener.graphs.generating.delaunay import delaunay
from evener.partitioning.initial.geometric import hilbert_blocks
from evener.partitioning.initial.trees import device_tree
from evener.partitioning.mapping import mapping_kernels as cost_kernels
from evener.partitioning.mapping import mapping_kernels as swap_kernels
from evener.partitioning.mapping.blocks import mapping_problem, nearby_of
from evener.plans.partition import Contract, Partition
from tests.partitioning.mapping.test_blocks import machine


@pytest.fixture(scope="module")
def problem():
    graph, platform = delaunay(3000, seed=5), machine(3, 2, [4e8, 1e8, 1e8, 1e8])
    targets = np.full(24, 125.0)
    blocks = hilbert_blocks(graph.coords, graph.weights(), targets)
    part = Partition(np.random.default_rng(1).permutation(24)[blocks], 24)
    contract = Contract(targets, np.zeros(24), np.full(24, 3000.0))
    problem = mapping_problem(graph, part, platform, contract, 8.0, 0)
    return problem, nearby_of(problem, device_tree(platform), np.zeros(24, np.int64))


def state(problem):
    device, seconds = np.arange(24), np.empty(24)
    return device, device.copy(), seconds, cost_kernels.count_seconds(problem, device, seconds)


def test_seconds_and_hops_are_kept(problem):
    problem, nearby = problem
    device, at, seconds, hop_bytes = state(problem)
    aim = np.zeros_like(problem.alpha), problem.hops
    swaps = swap_kernels.lower_cost(problem, *aim, np.inf, nearby, 10**9, device, at, seconds)
    assert swaps > 5
    assert (at[device] == np.arange(24)).all()
    fresh = np.empty(24)
    assert cost_kernels.count_seconds(problem, device, fresh) < 0.8 * hop_bytes
    assert seconds == pytest.approx(fresh)


def test_a_ceiling_is_kept(problem):
    problem, nearby = problem
    device, at, seconds, hop_bytes = state(problem)
    ceiling = seconds.max()
    aim = np.zeros_like(problem.alpha), problem.hops
    swap_kernels.lower_cost(problem, *aim, ceiling, nearby, 10**9, device, at, seconds)
    assert seconds.max() <= ceiling
    assert cost_kernels.count_seconds(problem, device, seconds) < hop_bytes


def test_the_makespan_goes_down_to_the_goal(problem):
    problem, nearby = problem
    device, at, seconds, _ = state(problem)
    before = seconds.max()
    swap_kernels.lower_makespan(problem, 1e-12, 0.0, nearby, 10**9, device, at, seconds)
    least = seconds.max()
    assert least < before
    device, at, seconds, _ = state(problem)
    goal = (before + least) / 2
    some = swap_kernels.lower_makespan(problem, 1e-12, goal, nearby, 10**9, device, at, seconds)
    assert some > 0
    assert least <= seconds.max() <= goal


def test_no_budget_no_swaps(problem):
    problem, nearby = problem
    device, at, seconds, _ = state(problem)
    assert not swap_kernels.lower_makespan(problem, 1e-12, 0.0, nearby, 0, device, at, seconds)
    assert device.tolist() == list(range(24))


def test_the_scene_is_what_is_evaluated():
    graph, platform = delaunay(2000, seed=6), machine(2, 2, [1e8, 3e8])
    contract, _ = ev.contract_for(graph, platform)
    part = Partition(hilbert_blocks(graph.coords, graph.weights(), contract.targets), 8)
    problem = mapping_problem(graph, part, platform, contract, 8.0, 0)
    seconds = np.empty(8)
    hop_bytes = cost_kernels.count_seconds(problem, np.arange(8), seconds)
    judged = ev.evaluate(graph, part, platform, contract).prediction
    assert seconds == pytest.approx(judged.seconds)
    assert hop_bytes == pytest.approx(judged.hop_bytes.sum())
