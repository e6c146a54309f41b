"""Mappings: the best of all for a few blocks, never worse for many, contracts kept."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evener as ev
from evener.errors import InputError
from evener.graphs.generating.delaunay import delaunay
from evener.graphs.graph import Graph
from evener.partitioning.initial.geometric import hilbert_blocks
from evener.partitioning.mapping import blocks
from evener.partitioning.mapping.blocks import AS_SOON, NO_LATER, map_blocks
from evener.plans import metrics
from evener.plans.partition import Contract, Further, Partition
from evener.platforms.examples import grid as grid_of_links
from evener.platforms.platform import Connection, Device, Level, Link, Platform
from tests.assertions import grid, path, random_graphs
from tests.choosing import slow_but
from tests.examples import with_examples

LEVELS = (
    Level("net", Link(2e-6, 1e-10)),
    Level("node", Link(5e-7, 2.5e-11)),
    Level("socket", Link(2e-7, 1e-11)),
)


def machine(nodes, sockets, speeds, order=None):
    """Nodes x sockets of devices of these speeds, in the tree's order or another."""
    devices = [
        Device(f"n{n}s{s}d{i}", speed, at=f"n{n}/s{s}")
        for n in range(nodes)
        for s in range(sockets)
        for i, speed in enumerate(speeds)
    ]
    return Platform(tuple(devices[i] for i in order) if order is not None else devices, LEVELS)


def room_for_all(k, weight):
    return Contract(np.full(k, weight / k), np.zeros(k), np.full(k, weight))


def by_hand(graph, partition, platform, device):
    """Makespan and bytes x hops, message by message."""
    return judged(told(graph, partition, platform), device)


def told(graph, partition, platform):
    """Weights of blocks, values they send, and what links and devices are like."""
    p, q = np.divmod(np.arange(platform.k**2), platform.k)
    tables = (*platform.link_costs(p, q), platform.hops(p, q))
    between = metrics.quotient(graph, partition)
    sent = np.zeros((between.k, between.k), np.int64)
    sent[between.block, between.other] = between.sent
    return (
        metrics.block_weights(graph, partition),
        sent,
        platform.speeds,
        *(table.reshape(platform.k, platform.k) for table in tables),
    )


def judged(facts, device, bytes_per_value=8.0):
    block_weights, sends, speeds, alpha, beta, hops = facts
    weights = np.zeros(len(speeds))
    np.add.at(weights, device, block_weights)
    seconds, hop_bytes = weights / speeds, 0.0
    for b, c in zip(*np.nonzero(sends), strict=True):
        p, q = device[b], device[c]
        both = (sends[b, c] + sends[c, b]) * bytes_per_value
        seconds[p] += alpha[p, q] + beta[p, q] * both
        hop_bytes += sends[b, c] * bytes_per_value * hops[p, q]
    return seconds.max(), hop_bytes


def best_by_hand(graph, partition, platform, contract):
    """Fewest bytes x hops among all mappings that are about as soon as any, and as the given."""
    k = partition.k
    totals = (
        metrics.block_weights(graph, partition),
        metrics.block_sizes(partition),
        metrics.block_bytes(graph, partition),
    )
    facts, scores = told(graph, partition, platform), []
    for order in itertools.permutations(range(k)):
        device = np.array(order)
        moved = [np.zeros(k) for _ in totals]
        for total, own in zip(moved, totals, strict=True):
            total[device] = own
        keeps = contract.keeps(*moved)
        if (keeps | (np.argsort(device) == np.arange(k))).all():
            scores.append(judged(facts, device))
    given = judged(facts, np.arange(k))
    ceiling = min(NO_LATER * given[0], AS_SOON * min(score[0] for score in scores)) * (1 + 1e-12)
    return min(score[1] for score in scores if score[0] <= ceiling)


@pytest.fixture(scope="module")
def mesh():
    return delaunay(6000, seed=99)


def small_cases():
    rng = np.random.default_rng(4471)
    tree = machine(2, 1, [1e8, 1e8, 1e8])
    unlike = machine(3, 1, [4e8, 1e8], rng.permutation(6))
    ring = Platform(
        tuple(Device(f"d{i}", 1e8) for i in range(5)),
        connections=tuple(
            Connection((f"d{i}", f"d{(i + 1) % 5}"), Link(1e-6 * (i + 1), 1e-9)) for i in range(5)
        ),
    )
    return [tree, unlike, ring]


@pytest.mark.parametrize("platform", small_cases(), ids=["tree", "unlike", "ring"])
@pytest.mark.parametrize("loose", [True, False])
def test_the_best_of_all_for_a_few_blocks(platform, loose):
    graph, k = grid(12, 10), platform.k
    contract, _ = ev.contract_for(graph, platform)
    given = hilbert_blocks(graph.coords, graph.weights(), contract.targets)
    if loose:
        contract = room_for_all(k, graph.n)
    partition = Partition(np.random.default_rng(3).permutation(k)[given] if loose else given, k)
    mapping = map_blocks(graph, partition, platform, contract)
    found = by_hand(graph, partition, platform, mapping.device)
    assert (mapping.after.seconds, mapping.after.hop_bytes) == pytest.approx(found)
    assert found[1] == pytest.approx(best_by_hand(graph, partition, platform, contract))


@with_examples(25)
@given(data=st.data(), graph=random_graphs())
def test_any_few_blocks(data, graph):
    k = data.draw(st.integers(1, 4))
    part = data.draw(st.lists(st.integers(0, k - 1), min_size=graph.n, max_size=graph.n))
    speeds = data.draw(st.lists(st.sampled_from([1e7, 2e7, 1e8]), min_size=k, max_size=k))
    places = data.draw(st.lists(st.sampled_from(["a/x", "a/y", "b/x", ""]), min_size=k, max_size=k))
    platform = Platform(
        tuple(
            Device(f"d{i}", s, at=p) for i, (s, p) in enumerate(zip(speeds, places, strict=True))
        ),
        LEVELS,
    )
    partition = Partition(np.array(part), k)
    contract = room_for_all(k, max(graph.total_weight, 1.0))
    mapping = map_blocks(graph, partition, platform, contract)
    best = best_by_hand(graph, partition, platform, contract)
    assert mapping.after.hop_bytes == pytest.approx(best)


@pytest.mark.slow
def test_swaps_find_the_best_of_a_few_blocks_nearly_always(monkeypatch):
    monkeypatch.setattr(blocks, "EXACT", 0)
    platform = machine(3, 1, [1e8, 1e8])
    graph, excess = grid(14, 10), []
    contract = room_for_all(6, graph.n)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        given = hilbert_blocks(graph.coords, graph.weights(), rng.random(6) + 0.5)
        partition = Partition(rng.permutation(6)[given], 6)
        found = map_blocks(graph, partition, platform, contract).after
        excess.append(found.hop_bytes / best_by_hand(graph, partition, platform, contract))
    assert sorted(excess)[7] < 1 + 1e-9
    assert max(excess) < 1.25


@pytest.mark.parametrize(
    "speeds", slow_but([[1e8] * 6, [8e8, 1e8, 1e8], [1e8, 1.01e8, 0.99e8, 1e9]], 1)
)
@pytest.mark.parametrize("pruned", [True, False])
def test_never_worse_and_every_contract_kept(mesh, speeds, pruned, monkeypatch):
    if pruned:
        monkeypatch.setattr("evener.partitioning.mapping.blocks.ALL_PAIRS", 0)
        monkeypatch.setattr("evener.partitioning.mapping.blocks.WINDOW", 3)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        platform = machine(3, 2, speeds, rng.permutation(6 * len(speeds)))
        contract, _ = ev.contract_for(mesh, platform)
        part = ev.enforce(
            mesh,
            Partition(hilbert_blocks(mesh.coords, mesh.weights(), contract.targets), contract.k),
            contract,
        ).partition
        before = ev.evaluate(mesh, part, platform, contract)
        mapping = map_blocks(mesh, part, platform, contract)
        after = ev.evaluate(mesh, mapping.applied(part), platform, contract)
        assert after.certificate.all_hold
        for score, judged in ((mapping.before, before), (mapping.after, after)):
            assert score.seconds == pytest.approx(judged.prediction.makespan)
            assert score.hop_bytes == pytest.approx(judged.prediction.hop_bytes.sum())
        assert mapping.after.seconds <= NO_LATER * mapping.before.seconds
        slow = mapping.before.seconds > AS_SOON * mapping.after.seconds
        assert slow or mapping.after.hop_bytes <= mapping.before.hop_bytes
        again = map_blocks(mesh, part, platform, contract)
        assert (again.device == mapping.device).all()


def test_scattered_blocks_come_together(mesh):
    platform = machine(4, 2, [1.0] * 6)  # so slow that only hops count
    contract, _ = ev.contract_for(mesh, platform)
    along = hilbert_blocks(mesh.coords, mesh.weights(), contract.targets)
    scattered = Partition(np.random.default_rng(8).permutation(48)[along], 48)
    contract = room_for_all(48, mesh.n)
    tidy = map_blocks(mesh, Partition(along, 48), platform, contract).after
    mapping = map_blocks(mesh, scattered, platform, contract)
    assert mapping.moved > 40
    assert mapping.after.hop_bytes < 0.6 * mapping.before.hop_bytes
    assert mapping.after.hop_bytes < 1.1 * tidy.hop_bytes


def test_links_of_their_own(mesh):
    platform = grid_of_links((5, 5))
    contract, _ = ev.contract_for(mesh, platform)
    along = hilbert_blocks(mesh.coords, mesh.weights(), contract.targets)
    partition = Partition(np.random.default_rng(8).permutation(25)[along], 25)
    mapping = map_blocks(mesh, partition, platform, room_for_all(25, mesh.n))
    assert mapping.after.hop_bytes < 0.65 * mapping.before.hop_bytes
    found = by_hand(mesh, partition, platform, mapping.device)
    assert (mapping.after.seconds, mapping.after.hop_bytes) == pytest.approx(found)


def test_without_links_all_stay():
    graph = grid(10, 10)
    partition = Partition(np.arange(100) % 20, 20)
    mapping = map_blocks(graph, partition, Platform.flat([1.0] * 20), room_for_all(20, 100))
    assert mapping.moved == 0
    assert mapping.before == mapping.after
    assert mapping.after.hop_bytes == 0


def test_memory_keeps_blocks_from_devices(monkeypatch):
    """A block that does not fit elsewhere stays, whatever that costs."""
    for exact in (8, 0):
        monkeypatch.setattr(blocks, "EXACT", exact)
        platform = machine(2, 1, [1e8, 1e8])
        graph = path(40)
        part = np.repeat([0, 2, 1, 3], 10)  # blocks along the path sit on one node and the other
        free = room_for_all(4, 40)
        assert map_blocks(graph, Partition(part, 4), platform, free).moved
        caps = np.array([1e9, 1e9, 1.0, 1.0])  # bytes: nothing may come to these devices
        tight = Contract(free.targets, free.low, free.high, caps)
        mapping = map_blocks(graph, Partition(part, 4), platform, tight)
        assert mapping.device[2:].tolist() == [2, 3]


@pytest.mark.parametrize(
    "graph",
    [
        Graph.from_edges(30, [], []),
        path(30),
        grid(6, 5, vwgt=np.zeros(30)),
        grid(6, 5, vwgt=np.r_[1e9, np.ones(29)]),
    ],
    ids=["isolated", "path", "weightless", "huge"],
)
@pytest.mark.parametrize("bytes_per_value", [0.0, 8.0])
def test_hard_graphs(graph, bytes_per_value):
    platform = machine(3, 2, [1e8, 2e8])
    part = Partition(np.arange(30) % 11, 12)  # the last block is empty
    contract = room_for_all(12, max(graph.total_weight, 1.0))
    mapping = map_blocks(graph, part, platform, contract, bytes_per_value=bytes_per_value)
    assert mapping.device[11] == 11  # an empty block keeps no contract, here or elsewhere
    assert mapping.after.seconds <= NO_LATER * mapping.before.seconds


def test_lengths_that_differ():
    with pytest.raises(InputError, match=r"contracts .* differ"):
        map_blocks(path(4), Partition(np.zeros(4), 2), Platform.flat([1]), room_for_all(2, 4))


def test_every_weight_of_the_vertices_is_kept(monkeypatch):
    """Two weights a vertex: no block goes where the second one is too much."""
    graph = grid(20, 20)
    second = np.where(graph.coords[:, 0] < 10, 3.0, 1.0)
    both = graph.with_(vwgt=np.column_stack([np.ones(400), second]))
    along = hilbert_blocks(graph.coords, graph.weights(), np.full(8, 50.0))
    partition = Partition(np.random.default_rng(2).permutation(8)[along], 8)
    loads = np.bincount(partition.part, second, 8)
    further = Further(loads, 0.9 * loads, 1.1 * loads)
    free = room_for_all(8, 400)
    tight = Contract(free.targets, free.low, free.high, further=(further,))
    platform = machine(2, 2, [1e8, 1e8])
    for exact in (8, 0):
        monkeypatch.setattr(blocks, "EXACT", exact)
        mapping = map_blocks(both, partition, platform, tight)
        assert mapping.moved
        judged = ev.evaluate(both, mapping.applied(partition), platform, tight)
        assert judged.certificate.all_hold
        assert map_blocks(both, partition, platform, free).moved
