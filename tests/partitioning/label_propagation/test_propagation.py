"""Label propagation: exact gains and nets, limits kept, hard shapes, the same answer every time."""

import numpy as np
import pytest

from evener.graphs.generating.random_graphs import barabasi_albert, rmat
from evener.graphs.graph import Graph
from evener.partitioning.label_propagation import move_kernels as moves
from evener.partitioning.label_propagation import propagation
from evener.partitioning.label_propagation import propagation_kernels as kernels
from evener.partitioning.label_propagation.propagation import is_uneven, propagation_blocks
from evener.partitioning.multilevel.multilevel import multilevel_blocks
from evener.plans import metrics
from evener.plans.partition import Partition
from tests.choosing import slow_but
from tests.partitioning.by_hand import (
    GRAPHS,
    cost,
    faults,
    real_contract,
    sparse,
    star,
    state_of,
    unit_contract,
)

OBJECTIVES = ("cut", "total_volume", "max_volume")
UNIT = np.empty(0, np.int32)


def test_leaves_of_a_large_star_are_bundled(monkeypatch):
    """Its clusters are sought among few vertices, and its cut is the least that limits allow."""
    sizes, whole = [], propagation.blocks_by_clusters
    monkeypatch.setattr(
        propagation,
        "blocks_by_clusters",
        lambda level, *args: sizes.append(level.n) or whole(level, *args),
    )
    n, contract = 60_000, unit_contract(60_000, [4, 1, 1], 0.03)
    hub, leaves = np.zeros(n - 1, np.int64), np.arange(1, n)
    graph = Graph.from_edges(n, hub, leaves)
    part = propagation_blocks(graph, contract, UNIT)
    assert max(sizes) < 2_000
    assert not faults(graph, part, contract)
    cut = metrics.edge_cut(metrics.quotient(graph, Partition(part, 3)))
    assert cut == 2 * 9_700  # the least that the other blocks must hold


def nets(state):
    found = []
    for v in range(state.part.size):
        row = range(state.first[v], state.first[v] + state.length[v])
        found.append({int(state.blocks[i]): int(state.counts[i]) for i in row})
    return found


@pytest.mark.parametrize("kind", ["cut", "weighted", "total", "priced"])
def test_bonds_are_exact_and_nets_stay_true(kind):
    rng = np.random.default_rng(5)
    graph, k = sparse(40), 6
    weights = UNIT
    if kind == "weighted":
        u = np.repeat(np.arange(graph.n), graph.degrees)
        weights = ((u + graph.adjncy) % 5 + 1).astype(np.int32)
    prices = {"total": np.ones(k), "priced": rng.random(k) + 0.1}.get(kind)
    state = state_of(graph, rng.integers(0, k, graph.n), k, weights=weights, prices=prices)
    bond, near = np.zeros(k), np.empty(k, np.int64)
    for _ in range(150):
        v = int(rng.integers(graph.n))
        p, q = int(state.part[v]), int(rng.integers(k))
        size = kernels.connect(state, v, bond, near)
        assert near[0] == p
        assert len(set(near[:size])) == size
        gain = (bond[q] if q in near[:size] else kernels.far(state, v, q)) - bond[p]
        bond[near[:size]] = 0
        assert not bond.any()
        before = cost(graph, state, weights)
        if p != q:
            kernels.put(state, v, q)
            assert before - cost(graph, state, weights) == pytest.approx(gain)
        if state.volumes:
            kept = nets(state)
            kernels.count_nets(state)
            assert kept == nets(state)
    np.testing.assert_array_equal(state.weight, np.bincount(state.part, minlength=k))


@pytest.mark.parametrize("prices", [None, (1.0, 1.0, 1.0, 1.0), (0.3, 1.0, 0.5, 2.0)])
def test_sweeps_and_swaps_win_what_they_say(prices):
    rng = np.random.default_rng(2)
    graph, k = sparse(200), 4
    state = state_of(graph, np.arange(200) % k, k, prices=prices, high=55.0)
    before = cost(graph, state)
    slack, loss = np.zeros(200, np.int32), np.zeros(200)
    won = moves.sweep(state, rng.permutation(200), state.high, slack, loss)
    middle = cost(graph, state)
    assert won > 0
    assert before - middle == pytest.approx(won)
    assert state.weight.max() <= 55
    sizes = state.weight.copy()
    won = moves.swap(state, rng.permutation(200), slack, 10**6)
    assert middle - cost(graph, state) == pytest.approx(won)
    np.testing.assert_array_equal(state.weight, sizes)


@pytest.mark.parametrize("weighted", [False, True])
def test_who_has_slack_has_nothing_to_gain(weighted):
    """In the cut, however many vertices have moved since it was looked at."""
    rng = np.random.default_rng(3)
    graph, k = sparse(200), 4
    u = np.repeat(np.arange(graph.n), graph.degrees)
    weights = ((u + graph.adjncy) % 5 + 1).astype(np.int32) if weighted else UNIT
    state = state_of(graph, np.arange(200) % k, k, weights=weights, high=55.0)
    slack, loss, bond = np.zeros(200, np.int32), np.zeros(200), np.zeros(k)
    for turn in range(6):
        moves.sweep(state, rng.permutation(200), (1 + turn % 2) * state.high, slack, loss)
        moves.swap(state, rng.permutation(200), slack, turn)
        for v in np.flatnonzero(slack > 1):
            near = np.empty(k, np.int64)
            size = kernels.connect(state, v, bond, near)
            others = bond[near[1:size]].max(initial=0)
            assert bond[state.part[v]] - others >= slack[v]
            bond[near[:size]] = 0
    assert (slack > 1).any()


def test_a_swap_is_found_between_full_blocks():
    graph = Graph.from_edges(8, np.array([0, 0, 1, 4, 4, 5]), np.array([1, 2, 2, 5, 6, 6]))
    part = [0, 0, 1, 0, 1, 1, 0, 1]  # the triangles 0 1 2 and 4 5 6, each with one astray
    state = state_of(graph, part, 2, high=4.0)
    assert moves.swap(state, np.arange(8), np.zeros(8, np.int32), 0) == 4
    assert cost(graph, state) == 0


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("name", GRAPHS)
def test_small_graphs_hold_their_contract(name, objective):
    for n, speeds in ((2, [1, 1]), (7, [1] * 7), (20, [9, 1, 1]), (50, [3, 1, 2, 1])):
        graph = GRAPHS[name](n)
        contract = unit_contract(n, speeds, 0.03)
        part = propagation_blocks(graph, contract, UNIT, objective=objective)
        weight = np.bincount(part, minlength=contract.k)
        assert part.dtype == np.int32
        assert ((weight >= contract.low) & (weight <= contract.high)).all(), (n, weight)


@pytest.mark.parametrize("objective", slow_but(OBJECTIVES, 2))
def test_random_graphs_hold_their_contract(objective):
    rng = np.random.default_rng(11)
    for _ in range(150):
        n = int(rng.integers(2, 60))
        m = int(rng.integers(0, 4 * n))
        u, v = rng.integers(0, n, (2, m))
        hubs = rng.random(m) < 0.5
        graph = Graph.from_edges(n, np.where(hubs, u % 3 % n, u), v)
        speeds = rng.choice([1, 2, 8], int(rng.integers(1, n + 1)))
        contract = unit_contract(n, list(speeds), 0.03)
        part = propagation_blocks(graph, contract, UNIT, objective=objective, seed=n)
        weight = np.bincount(part, minlength=contract.k)
        assert ((weight >= contract.low) & (weight <= contract.high)).all(), (n, speeds, weight)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("weights", ["real", "zeros", "huge", "nothing"])
def test_weights_of_all_kinds_end_in_a_partition(weights, objective):
    rng = np.random.default_rng(4)
    vwgt = rng.random(60)
    if weights == "zeros":
        vwgt[rng.random(60) < 0.5] = 0
    if weights == "huge":
        vwgt[3] = 1e9
    if weights == "nothing":
        vwgt[:] = 0
    for graph in (star(60, vwgt=vwgt), sparse(60, vwgt=vwgt)):
        contract = real_contract(max(float(vwgt.sum()), 1.0), [3, 1, 1], 0.03)
        part = propagation_blocks(graph, contract, UNIT, objective=objective)
        assert part.shape == (60,)
        assert 0 <= part.min() <= part.max() < 3


def test_vertices_without_edges_fill_up():
    """Half of the vertices: blocks hold their contract exactly, with real weights too."""
    rng = np.random.default_rng(9)
    vwgt = rng.random(400) + 0.5
    u, v = rng.integers(0, 200, (2, 600))
    graph = Graph.from_edges(400, u, v, vwgt=vwgt)
    contract = real_contract(float(vwgt.sum()), [8, 4, 1, 1], 0.03)
    part = propagation_blocks(graph, contract, UNIT)
    assert faults(graph, part, contract) == []


def test_only_vertices_without_edges():
    graph = Graph.from_edges(10, np.empty(0, int), np.empty(0, int))
    part = propagation_blocks(graph, unit_contract(10, [3, 1, 1], 0.03), UNIT)
    assert sorted(np.bincount(part)) == [2, 2, 6]


@pytest.mark.parametrize("preset", ["fast", "default"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_clusters_of_a_social_network_are_found(objective, preset):
    """Communities of 50 with a hub each and few edges between: nearly no other edge is cut."""
    rng = np.random.default_rng(6)
    n, each = 4000, 50
    home = np.arange(n) // each * each
    inside = rng.integers(0, each, (6, n)) + home
    edges = [(np.arange(n), home), *((np.arange(n), there) for there in inside)]
    across = rng.integers(0, n, (2, n // 20))
    u, v = (np.concatenate([pair[i] for pair in [*edges, across]]) for i in range(2))
    graph = Graph.from_edges(n, u, v)
    contract = unit_contract(n, [2] * 4 + [1] * 8, 0.03)
    part = propagation_blocks(graph, contract, UNIT, preset=preset, objective=objective)
    assert faults(graph, part, contract) == []
    cut = metrics.edge_cut(metrics.quotient(graph, Partition(part, contract.k)))
    assert cut < 0.1 * graph.m


def test_the_driver_leaves_uneven_graphs_to_propagation():
    graph = barabasi_albert(3000, 2)
    weights = np.where(np.arange(graph.n) % 3 == 0, 2.5, 1.0)
    contract = real_contract(float(weights.sum()), [4, 2, 1, 1], 0.03)
    weighted = Graph(graph.xadj, graph.adjncy, vwgt=weights)
    assert is_uneven(weighted)
    part = multilevel_blocks(weighted, contract).part
    np.testing.assert_array_equal(part, propagation_blocks(weighted, contract, UNIT))
    assert faults(weighted, part, contract) == []


@pytest.mark.slow
@pytest.mark.parametrize("preset", propagation.ROUNDS)
def test_power_law_graph_by_objective(preset):
    """Each objective is best in its own figure; blocks hold; a second call says the same."""
    graph = rmat(11, 3)
    contract = unit_contract(graph.n, [8] * 4 + [1] * 12, 0.03)
    figures = {}
    for objective in OBJECTIVES:
        part = propagation_blocks(graph, contract, UNIT, preset=preset, objective=objective)
        again = propagation_blocks(graph, contract, UNIT, preset=preset, objective=objective)
        np.testing.assert_array_equal(part, again)
        assert faults(graph, part, contract) == []
        blocks = metrics.quotient(graph, Partition(part, contract.k))
        sent = metrics.comm_volumes(blocks)
        figures[objective] = metrics.edge_cut(blocks), sent.sum(), sent.max()
    for i, objective in enumerate(OBJECTIVES):
        assert figures[objective][i] == min(f[i] for f in figures.values())


def test_edges_of_no_weight_list_no_block():
    """Twenty neighbours in another block, two blocks: there is room for two entries."""
    graph = star(21)
    weights = np.zeros(graph.adjncy.size, np.int32)
    state = state_of(graph, [0] + [1] * 20, 2, weights=weights)
    bond, near = np.zeros(2), np.full(2, -1)
    assert kernels.connect(state, 0, bond, near) == 1
    assert (bond == 0).all()
    weights[graph.xadj[0]] = 3
    state = state_of(graph, [0] + [1] * 20, 2, weights=weights)
    assert kernels.connect(state, 0, bond, near) == 2
    assert bond.tolist() == [0, 3]


def test_uneven_graphs_with_edges_of_no_weight():
    rng = np.random.default_rng(20)
    u = np.r_[rng.integers(0, 10, 3000), rng.integers(0, 500, 1000)]
    weights = rng.integers(0, 2, u.size) * rng.integers(0, 2, u.size)
    graph = Graph.from_edges(500, u, rng.integers(0, 500, u.size), weights=weights)
    assert is_uneven(graph)
    for objective in OBJECTIVES:
        part = multilevel_blocks(
            graph, real_contract(500, [1, 2, 2], 0.05), objective=objective
        ).part
        assert faults(graph, part, real_contract(500, [1, 2, 2], 0.05)) == []
