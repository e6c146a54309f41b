"""refine: no worse and no less balanced than what was given, whatever that was."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError, UsageError
from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.random_graphs import rmat
from evener.graphs.graph import Graph
from evener.partitioning.enforce import enforce
from evener.partitioning.label_propagation.propagation import propagation_blocks
from evener.partitioning.refine import own_contract, refine
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import OBJECTIVES, PRESETS, Request
from evener.plans import metrics
from evener.plans.partition import Contract, Partition
from tests.assertions import grid, path
from tests.choosing import slow_but
from tests.examples import with_examples
from tests.partitioning.by_hand import (
    any_contract,
    any_graph,
    any_k,
    any_part,
    faults,
    real_contract,
    unit_contract,
)

MANY = 300


def objective_of(graph, part, k, objective):
    """By the definition, vertex by vertex."""
    volumes, cut = np.zeros(k), 0.0
    for v in range(graph.n):
        row = slice(int(graph.xadj[v]), int(graph.xadj[v + 1]))
        other = part[graph.adjncy[row]]
        outside = other != part[v]
        volumes[part[v]] += np.unique(other[outside]).size
        cut += float(graph.edge_weights()[row][outside].sum()) / 2
    return {"cut": cut, "total_volume": volumes.sum(), "max_volume": volumes.max()}[objective]


def outside(graph, part, contract):
    """(k,) how far blocks are outside their limits, relative to the target."""
    weight = np.bincount(part, graph.weights(), contract.k)
    off = np.maximum(np.maximum(contract.low - weight, weight - contract.high), 0)
    return off / contract.targets


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_never_worse_never_less_balanced(objective):
    for seed in range(MANY):
        graph = any_graph(seed, coords=seed % 3 == 0)
        k = any_k(graph, seed)
        part, contract = any_part(graph, k, seed), any_contract(graph, k, seed)
        preset = PRESETS[seed % 3]
        given = part.copy()
        found = refine(graph, Partition(part, k), contract, objective=objective, preset=preset)
        assert (part == given).all()
        after, before = found.partition.part, given
        now = objective_of(graph, after, k, objective)
        then = objective_of(graph, before, k, objective)
        assert now <= then * (1 + 1e-9), seed
        assert (found.before, found.after) == pytest.approx((then, now)), seed
        off_now, off_then = outside(graph, after, contract), outside(graph, before, contract)
        assert off_now.sum() <= off_then.sum() + 1e-9, seed
        assert off_now.max() <= off_then.max() + 1e-9, seed
        assert found.moved == (after != before).sum()
        if not faults(graph, before, contract):
            assert not faults(graph, after, contract), seed
            assert found.holds, seed


@pytest.mark.parametrize("objective", slow_but(OBJECTIVES, 2))
def test_without_a_contract_it_keeps_its_own(objective):
    for seed in range(100):
        graph = any_graph(seed, coords=seed % 2 == 0)
        k = any_k(graph, seed)
        part = any_part(graph, k, seed)
        found = refine(graph, Partition(part, k), objective=objective, epsilon=0.1)
        weight = np.bincount(part, graph.weights(), k)
        now = np.bincount(found.partition.part, graph.weights(), k)
        hair = 1e-9 * weight.max()
        assert now.max() <= weight.max() + hair, seed
        assert now.min() >= weight.min() - hair, seed
        assert (abs(now - weight) <= 0.1 * weight + hair).all(), seed
        assert found.after <= found.before


def meshes():
    mesh = delaunay(6000, seed=99)
    return {"coordinates": mesh, "none": Graph(mesh.xadj, mesh.adjncy)}


@pytest.mark.parametrize("objective", slow_but(OBJECTIVES))
@pytest.mark.parametrize("kind", ["coordinates", "none"])
def test_metis_is_improved(objective, kind):
    graph, speeds = meshes()[kind], np.r_[np.ones(20), 4.0, 16.0]
    contract = unit_contract(graph.n, speeds, 0.03)
    raw = Partition(partition_with("metis", graph, Request(speeds)).part, 22)
    metis = enforce(graph, raw, contract).partition
    found = refine(graph, metis, contract, objective=objective)
    assert found.after < found.before * (0.97 if objective == "max_volume" else 0.99)
    own = refine(graph, metis, objective=objective)
    assert own.after < own.before
    assert own.holds


@pytest.mark.parametrize("objective", slow_but(OBJECTIVES))
def test_power_law_graphs_are_propagated(objective):
    graph = rmat(11, seed=99)
    contract = unit_contract(graph.n, [1] * 6 + [4], 0.03)
    metis = Partition(partition_with("metis-recursive", graph, Request(contract.targets)).part, 7)
    found = refine(graph, metis, contract, objective=objective)
    assert found.after < 0.9 * found.before


def test_the_best_there_is_comes_back_itself():
    graph = path(60, coords=np.column_stack([np.arange(60.0), np.zeros(60)]))
    given = Partition(np.arange(60) // 20, 3)
    found = refine(graph, given, real_contract(60, [1, 1, 1], 0.03))
    assert found.partition is given
    assert (found.before, found.after, found.moved, found.holds) == (2, 2, 0, True)


def test_bytes_are_kept():
    graph = grid(20, 20)
    targets = np.full(4, 100.0)
    contract = Contract(targets, 0.8 * targets, 1.2 * targets, np.full(4, 101 * (24.0 + 12 * 4)))
    given = Partition(np.arange(400) % 4, 4)
    found = refine(graph, given, contract)
    assert faults(graph, found.partition.part, contract) == []
    assert found.holds
    assert found.after < found.before / 2


def test_a_contract_of_ones_own():
    graph = path(10, vwgt=np.arange(10))
    contract = own_contract(graph, Partition(np.r_[np.zeros(5), np.ones(5)].astype(int), 3), 0.1)
    assert contract.targets.tolist() == [10, 35, 0]
    assert contract.low == pytest.approx([9, 31.5, 0])
    assert contract.high == pytest.approx([11, 35, 0])


def test_same_result_again_and_with_threads():
    graph = delaunay(3000, seed=99)
    given = Partition(np.arange(3000) * 5 // 3000, 5)
    once, again, threaded = (refine(graph, given, threads=t).partition.part for t in (1, 1, 4))
    assert (once == again).all()
    assert (once == threaded).all()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"objective": "beauty"}, UsageError, "no objective 'beauty'"),
        ({"preset": "best"}, UsageError, "no preset 'best'"),
        ({"epsilon": 1.0}, UsageError, "epsilon"),
        ({"seed": -1}, UsageError, "seed"),
        ({"contract": real_contract(9, [1, 1, 1], 0.1)}, InputError, "2 blocks, the contract 3"),
    ],
)
def test_refused(options, error, message):
    with pytest.raises(error, match=message):
        refine(path(9), Partition(np.arange(9) % 2, 2), **options)


def test_lengths_and_weights_are_checked():
    with pytest.raises(InputError, match="8 entries"):
        refine(path(9), Partition(np.arange(8) % 2, 2))
    with pytest.raises(UsageError, match="one weight per vertex"):
        refine(path(9, vwgt=np.ones((9, 2))), Partition(np.arange(9) % 2, 2))


def test_volumes_are_those_of_the_metrics():
    graph = delaunay(500, seed=99)
    given = Partition(np.arange(500) * 4 // 500, 4)
    found = refine(graph, given, objective="max_volume")
    between = metrics.quotient(graph, found.partition)
    assert found.after == metrics.comm_volumes(between).max()


def within_rings(graph, part, rings):
    """(n,) whether a vertex is within so many steps of a border."""
    ends = np.repeat(np.arange(graph.n), graph.degrees)
    near = np.zeros(graph.n, bool)
    near[ends[part[ends] != part[graph.adjncy]]] = True
    for _ in range(rings):
        near[graph.adjncy[near[ends]]] = True
    return near


def with_anchors(graph, part, free):
    """The graph whose other vertices are one heavy vertex per block, and where each one went."""
    of = np.empty(graph.n, np.int64)
    of[free] = np.arange(free.sum())
    blocks, own = np.unique(part[~free], return_inverse=True)
    of[~free] = free.sum() + own
    n = int(free.sum()) + blocks.size
    u, v = of[np.repeat(np.arange(graph.n), graph.degrees)], of[graph.adjncy]
    once = u < v
    keys, place = np.unique(u[once] * n + v[once], return_inverse=True)
    weights = np.bincount(place, graph.edge_weights()[once]).astype(np.int64)
    heavy = np.bincount(of, graph.weights(), n).astype(np.int64)
    return Graph.from_edges(n, keys // n, keys % n, weights=weights, vwgt=heavy), of


@pytest.mark.parametrize("preset", slow_but(PRESETS, 1))
def test_anchors_as_heavy_as_blocks_hinder_nothing(preset):
    graph, k = delaunay(6000, 11), 6
    part = (np.arange(graph.n) * k // graph.n).astype(np.int32)
    targets = np.full(k, graph.n / k)
    contract = Contract(targets, 0.97 * targets, 1.03 * targets)
    free = within_rings(graph, part, 3)
    small, of = with_anchors(graph, part, free)
    begin = np.empty(small.n, np.int32)
    begin[of] = part
    fixed = np.arange(small.n) >= free.sum()
    found = refine(small, Partition(begin, k), contract, preset=preset, fixed=fixed)
    assert (found.partition.part[fixed] == begin[fixed]).all()
    whole = found.partition.part[of]
    assert found.after == objective_of(graph, whole, k, "cut")
    assert not faults(graph, whole, contract)
    freely = refine(graph.with_(coords=None), Partition(part, k), contract, preset=preset)
    # What all vertices may gain, those near borders gain for the most part.
    assert found.before - found.after > 0.6 * (freely.before - freely.after)
    masked = refine(
        graph.with_(coords=None), Partition(part, k), contract, preset=preset, fixed=~free
    )
    assert (masked.partition.part[~free] == part[~free]).all()
    assert masked.after <= 1.05 * found.after


@pytest.mark.parametrize("objective", OBJECTIVES)
@given(st.integers(0, 10**6), st.sampled_from(PRESETS), st.sampled_from([0.0, 0.3, 0.7, 1.0]))
@with_examples(40)
def test_fixed_vertices_stay_and_the_rest_is_no_worse(objective, seed, preset, share):
    graph = any_graph(seed, coords=seed % 3 == 0)
    k = any_k(graph, seed)
    part, contract = any_part(graph, k, seed), any_contract(graph, k, seed)
    fixed = np.random.default_rng(seed).random(graph.n) < share
    found = refine(
        graph, Partition(part, k), contract, objective=objective, preset=preset, fixed=fixed
    )
    after = found.partition.part
    assert (after[fixed] == part[fixed]).all()
    assert objective_of(graph, after, k, objective) <= found.before * (1 + 1e-9)
    assert outside(graph, after, contract).sum() <= outside(graph, part, contract).sum() + 1e-9
    if not faults(graph, part, contract):
        assert not faults(graph, after, contract)


@given(st.integers(0, 10**6), st.integers(2, 8), st.integers(0, 2), st.booleans())
@with_examples(25)
def test_a_graph_with_anchors_is_cut_like_the_whole(seed, k, rings, heavy):
    rng = np.random.default_rng(seed)
    graph = delaunay(400, seed).with_(coords=None, vwgt=rng.integers(1, 9 if heavy else 2, 400))
    bounds = np.sort(rng.choice(np.arange(20, 380), k - 1, replace=False))
    part = np.searchsorted(bounds, np.arange(400), side="right").astype(np.int32)
    free = within_rings(graph, part, rings)
    small, of = with_anchors(graph, part, free)
    begin = np.empty(small.n, np.int32)
    begin[of] = part
    contract = own_contract(graph, Partition(part, k), 0.1)
    fixed = np.arange(small.n) >= free.sum()
    found = refine(small, Partition(begin, k), contract, fixed=fixed)
    assert (found.partition.part[fixed] == begin[fixed]).all()
    assert found.before == objective_of(graph, part, k, "cut")
    assert found.after == objective_of(graph, found.partition.part[of], k, "cut") <= found.before
    assert not faults(graph, found.partition.part[of], contract)
    masked = refine(graph, Partition(part, k), contract, fixed=~free)
    assert (masked.partition.part[~free] == part[~free]).all()
    # Of both, the same small graph is made and refined.
    assert masked.after == found.after


@pytest.mark.parametrize("hubs", [False, True])
@pytest.mark.parametrize("objective", slow_but(OBJECTIVES, 1))
def test_fixed_vertices_of_uneven_graphs_stay(objective, hubs):
    graph = rmat(10, 3, 8) if hubs else rmat(10, 3, 8, 0.4, 0.2, 0.2)
    k = 5
    part = np.random.default_rng(4).permutation(np.arange(graph.n) % k).astype(np.int32)
    fixed = np.random.default_rng(5).random(graph.n) < 0.3
    fixed[graph.degrees == 0] = np.arange((graph.degrees == 0).sum()) % 2
    found = refine(graph, Partition(part, k), objective=objective, fixed=fixed)
    after = found.partition.part
    assert (after[fixed] == part[fixed]).all()
    assert objective_of(graph, after, k, objective) == found.after < found.before
    alone = unit_contract(graph.n, [1] * k, 0.1)
    blocks = propagation_blocks(
        graph, alone, np.empty(0, np.int32), objective=objective, given=part,
        fixed=np.flatnonzero(fixed),
    )  # fmt: skip
    assert (blocks[fixed] == part[fixed]).all()
    assert not faults(graph, blocks, alone)


@pytest.mark.parametrize("fixed", [[True], [0, 1, 2], [[0, 1]], [0.5, 0], ["a", "b"]])
def test_flags_of_fixed_vertices_are_checked(fixed):
    with pytest.raises(InputError, match="fixed"):
        refine(path(2), [0, 1], fixed=fixed)
