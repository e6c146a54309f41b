"""Every metric against dictionaries and loops that follow its definition word for word."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.planning.evaluate import evaluate
from evener.plans import metrics
from evener.plans.partition import Contract, Partition
from evener.plans.workload import Workload
from evener.platforms.platform import Connection, Device, Level, Link, Platform
from evener.sizing.bounds import lower_bound
from tests.assertions import grid, path, random_graphs, random_partitions
from tests.examples import with_examples


def edges_of(graph):
    """(v, u, weight) of every adjacency entry."""
    weights = graph.edge_weights()
    for v in range(graph.n):
        for e in range(graph.xadj[v], graph.xadj[v + 1]):
            yield v, int(graph.adjncy[e]), float(weights[e])


def slow_between(graph, partition):
    """{(b, c): (vertices of b with a neighbour in c, weight of the edges between)}."""
    part = partition.part.tolist()
    senders, cut = {}, {}
    for v, u, weight in edges_of(graph):
        pair = part[v], part[u]
        if pair[0] != pair[1]:
            senders.setdefault(pair, set()).add(v)
            cut[pair] = cut.get(pair, 0.0) + weight
    return {pair: (len(senders[pair]), cut[pair]) for pair in senders}


def slow_pieces(graph, partition):
    """Components of each block, by merging labels until nothing changes."""
    part, label = partition.part.tolist(), list(range(graph.n))
    changed = True
    while changed:
        changed = False
        for v, u, _ in edges_of(graph):
            if part[v] == part[u] and label[v] != label[u]:
                label[v] = label[u] = min(label[v], label[u])
                changed = True
    return [len({label[v] for v in range(graph.n) if part[v] == b}) for b in range(partition.k)]


cases = random_graphs().flatmap(lambda graph: st.tuples(st.just(graph), random_partitions(graph)))


@with_examples(150)
@given(cases)
def test_quotient_cut_and_volumes(case):
    graph, partition = case
    between, expected = metrics.quotient(graph, partition), slow_between(graph, partition)
    pairs = list(zip(between.block.tolist(), between.other.tolist(), strict=True))
    assert pairs == sorted(expected)
    assert between.sent.tolist() == [expected[pair][0] for pair in pairs]
    assert between.cut.tolist() == pytest.approx([expected[pair][1] for pair in pairs])
    assert between.received.tolist() == [expected[c, b][0] for b, c in pairs]
    part = partition.part
    cut = sum(weight for v, u, weight in edges_of(graph) if v < u and part[v] != part[u])
    assert metrics.edge_cut(between) == pytest.approx(cut)
    # A block's volume: over its vertices, the other blocks that hold a neighbour.
    volumes, boundary = [0] * partition.k, [0] * partition.k
    for v in range(graph.n):
        held = {int(part[u]) for w, u, _ in edges_of(graph) if w == v} - {int(part[v])}
        volumes[part[v]] += len(held)
        boundary[part[v]] += bool(held)
    assert metrics.comm_volumes(between).tolist() == volumes
    assert between.boundary.tolist() == boundary
    touched = [len({c for b, c in expected if b == block}) for block in range(partition.k)]
    assert metrics.neighbours(between).tolist() == touched


@pytest.mark.slow
@with_examples(150)
@given(cases)
def test_what_blocks_hold(case):
    graph, partition = case
    part, k = partition.part.tolist(), partition.k
    members = [[v for v in range(graph.n) if part[v] == b] for b in range(k)]
    assert metrics.block_sizes(partition).tolist() == [len(m) for m in members]
    weights = graph.weights()
    loads = metrics.block_weights(graph, partition)
    assert loads.dtype == np.float64
    assert loads.tolist() == pytest.approx([sum(weights[v] for v in m) for m in members])
    assert metrics.block_bytes(graph, partition).tolist() == [
        sum(24 + 12 * int(graph.degrees[v]) for v in m) for m in members
    ]
    assert metrics.block_components(graph, partition).tolist() == slow_pieces(graph, partition)


@pytest.mark.parametrize("edges", [400, 1500, 4000])
def test_pieces_of_large_random_blocks(edges):
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rng, n, k = np.random.default_rng([8_191, edges]), 1500, 3
    u, v = rng.integers(0, n, (2, edges))
    graph, part = Graph.from_edges(n, u, v), rng.integers(0, k, n)
    inside = part[u] == part[v]
    ends = u[inside], v[inside]
    label = connected_components(coo_array((np.ones(inside.sum()), ends), (n, n)))[1]
    expected = [len(set(label[part == b])) for b in range(k)]
    assert metrics.block_components(graph, Partition(part, k)).tolist() == expected


def test_imbalance():
    assert metrics.imbalance(np.array([3.0, 5.0]), np.array([4.0, 4.0])) == 0.25
    assert metrics.imbalance(np.array([3.0, 3.0]), np.array([4.0, 4.0])) == -0.25
    assert metrics.imbalance(np.array([4.0, 0.0]), np.array([4.0, 0.0])) == 0
    assert metrics.imbalance(np.array([4.0, 1.0]), np.array([4.0, 0.0])) == np.inf


@st.composite
def trees(draw, k):
    """Platforms of up to three levels in which devices sit at any depth."""
    depth = draw(st.integers(1, 3))
    cost = st.floats(0, 10)
    levels = [Level(f"l{i}", Link(draw(cost), draw(cost))) for i in range(depth)]
    devices = []
    for i in range(k):
        at = draw(st.lists(st.sampled_from("ab"), max_size=depth - 1))
        devices.append(Device(f"d{i}", draw(st.floats(0.1, 9)), at="/".join(at)))
    return Platform(tuple(devices), tuple(levels))


def slow_shared(platform, p, q):
    """Deepest level two different devices share: one more than the parts they agree in."""
    a, b = (platform.devices[i].at.split("/") if platform.devices[i].at else [] for i in (p, q))
    agree = 0
    while agree < min(len(a), len(b)) and a[agree] == b[agree]:
        agree += 1
    return agree


on_trees = cases.flatmap(lambda case: st.tuples(st.just(case), trees(case[1].k)))


@with_examples(100)
@given(on_trees, st.sampled_from([8.0, 1.0, 0.0, 2.5]))
def test_seconds_and_hop_bytes_on_trees(case, n_bytes):
    (graph, partition), platform = case
    between, expected = metrics.quotient(graph, partition), slow_between(graph, partition)
    depth, k = len(platform.levels), partition.k
    by_level, seconds = [0.0] * depth, [0.0] * k
    for (b, c), (sent, _) in expected.items():
        level = slow_shared(platform, b, c)
        link = platform.levels[level].link
        by_level[level] += sent * n_bytes
        seconds[b] += link.alpha + link.beta * n_bytes * (sent + expected[c, b][0])
    hops = [2 * (depth - level) * amount for level, amount in enumerate(by_level)]
    assert metrics.hop_bytes(between, platform, n_bytes).tolist() == pytest.approx(hops)
    found = metrics.communication_seconds(between, platform, n_bytes)
    assert found.tolist() == pytest.approx(seconds)


@with_examples(100)
@given(on_trees)
def test_judgement_puts_the_metrics_together(case):
    (graph, partition), platform = case
    loads = metrics.block_weights(graph, partition)
    k = partition.k
    contract = Contract(np.full(k, 2.0), np.ones(k), np.full(k, 3.0), np.full(k, 200.0))
    judged = evaluate(
        graph, partition, platform, contract, workload=Workload("w", bytes_per_value=4)
    )
    compute = [float(loads[b]) / platform.devices[b].speed for b in range(k)]
    assert judged.prediction.compute.tolist() == pytest.approx(compute)
    seconds = judged.prediction.compute + judged.prediction.communicate
    assert judged.prediction.seconds.tolist() == seconds.tolist()
    assert judged.prediction.makespan == max(judged.prediction.ends.tolist())
    assert judged.prediction.ends[judged.prediction.bottleneck] == pytest.approx(
        judged.prediction.makespan
    )
    bound = lower_bound(graph, platform, Workload("w", bytes_per_value=4)).seconds
    assert judged.prediction.bound == bound <= judged.prediction.makespan * (1 + 1e-12)
    certificate = judged.certificate
    sizes = np.bincount(partition.part, minlength=k)
    for b in range(k):
        fits = 1 - 1e-8 <= loads[b] <= 3 + 1e-8
        assert certificate.holds[b] == (fits and sizes[b] > 0 and certificate.bytes[b] <= 200)
    assert judged.total_volume == certificate.volumes.sum()
    assert judged.max_volume == certificate.volumes.max()
    assert judged.boundary == certificate.boundary.sum()


def test_a_grid_by_hand():
    # Columns 0 and 1 against columns 2 and 3 of a 3 x 4 grid: three edges, three senders each.
    graph = grid(3, 4)
    partition = Partition(np.tile([0, 0, 1, 1], 3), 2)
    between = metrics.quotient(graph, partition)
    assert metrics.edge_cut(between) == 3
    assert metrics.comm_volumes(between).tolist() == [3, 3]
    node = Platform(
        (Device("a", 2.0, at="n"), Device("b", 1.0, at="n")),
        (Level("cluster", Link(100.0, 100.0)), Level("node", Link(0.5, 0.25))),
    )
    assert metrics.communication_seconds(between, node).tolist() == [0.5 + 0.25 * 48] * 2
    assert metrics.hop_bytes(between, node, 8).tolist() == [0, 2 * 48]
    assert metrics.compute_seconds(np.array([6.0, 6.0]), node).tolist() == [3, 6]


def test_free_and_routed_links():
    graph, partition = path(3), Partition([0, 1, 2], 3)
    between = metrics.quotient(graph, partition)
    flat = Platform.flat([1, 1, 1])
    assert metrics.communication_seconds(between, flat).tolist() == [0, 0, 0]
    assert metrics.hop_bytes(between, flat, 8).shape == (0,)
    chain = Platform(
        tuple(Device(f"d{i}", 1.0) for i in range(3)),
        connections=(
            Connection(("d0", "d1"), Link(1.0, 0.5)),
            Connection(("d1", "d2"), Link(2.0, 0.0)),
        ),
    )
    found = metrics.communication_seconds(between, chain, 2.0)
    # Each neighbouring pair exchanges one value of two bytes each way.
    assert found.tolist() == [1 + 0.5 * 4, (1 + 0.5 * 4) + 2, 2]


def test_many_blocks_that_all_touch():
    n = 150  # more pairs than the first guess of the space they need
    u, v = np.triu_indices(n, 1)
    graph = Graph.from_edges(n, u, v)
    between = metrics.quotient(graph, Partition(np.arange(n), n))
    assert between.other.size == n * (n - 1)
    assert (between.sent == 1).all()
    assert metrics.edge_cut(between) == n * (n - 1) / 2


def test_a_partition_of_another_graph():
    contract = Contract([3.0], [0.0], [9.0])
    with pytest.raises(InputError, match="3 entries, but the graph has 4 vertices"):
        evaluate(path(4), Partition([0, 0, 0], 1), Platform.flat([1]), contract)
