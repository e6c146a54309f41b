"""Maximum flow against SciPy's, and its cuts against their own capacity."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

from evener.partitioning.refinement import maxflow_kernels as kernels
from tests.examples import seeds
from tests.inner_kernels import extreme_cuts, send_all, tie

ENOUGH = 1 << 60


def network(n, edges, supply):
    """The network of undirected edges {(u, v): capacity}."""
    rows = [[] for _ in range(n)]
    for (u, v), capacity in edges.items():
        rows[u].append((v, capacity))
        rows[v].append((u, capacity))
    start = np.r_[0, np.cumsum([len(row) for row in rows])].astype(np.int32)
    place = {(u, v): start[u] + i for u in range(n) for i, (v, _) in enumerate(rows[u])}
    arcs = [(u, v, c) for u in range(n) for v, c in rows[u]]
    head = np.array([v for _, v, _ in arcs], np.int32)
    back = np.array([place[v, u] for u, v, _ in arcs], np.int32)
    room = np.array([c for _, _, c in arcs], np.int64)
    return kernels.FlowNetwork(start, head, back, room, np.array(supply, np.int64))


def send(net, most=ENOUGH, most_looks=ENOUGH):
    n = net.supply.size
    scratch = kernels.FlowScratch(*np.empty((4, n), np.int32))
    return send_all(net, most, most_looks, scratch)


def sides(net):
    n = net.supply.size
    side = np.empty(n, np.int8)
    extreme_cuts(net, np.empty(n, np.int32), side)
    return side


def by_scipy(n, edges, supply, more=()):
    """The flow from a vertex n, joined to what has supply, to n + 1; more: supply besides."""
    u = [a for a, _ in edges] + [b for _, b in edges]
    v = [b for _, b in edges] + [a for a, _ in edges]
    capacity = list(edges.values()) * 2
    for w, given in [*enumerate(supply), *dict(more).items()]:
        if given:
            u, v = [*u, n if given > 0 else w], [*v, w if given > 0 else n + 1]
            capacity = [*capacity, abs(given)]
    matrix = coo_array((np.array(capacity, np.int32), (u, v)), shape=(n + 2, n + 2)).tocsr()
    return maximum_flow(matrix, n, n + 1).flow_value


def capacity_of(inside, edges, supply):
    """What leaves a set of vertices that the source belongs to."""
    across = sum(c for (u, v), c in edges.items() if inside[u] != inside[v])
    given = sum(s for s, i in zip(supply, inside, strict=True) if s > 0 and not i)
    return across + given + sum(-s for s, i in zip(supply, inside, strict=True) if s < 0 and i)


def any_network(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 25))
    u, v = rng.integers(0, n, (2, int(rng.integers(0, 4 * n))))
    capacity = rng.integers(1, [2, 20][seed % 2], u.size)
    edges = {
        (int(min(a, b)), int(max(a, b))): int(c)
        for a, b, c in zip(u, v, capacity, strict=True)
        if a != b
    }
    return n, edges, (rng.integers(-9, 10, n) * (rng.random(n) < 0.4)).tolist()


def test_two_paths_by_hand():
    # 0 -2- 1 -3- 3 and 0 -5- 2 -1- 3: the source gives 0 nine, 3 gives the sink nine; 2 + 1 fit.
    edges = {(0, 1): 2, (1, 3): 3, (0, 2): 5, (2, 3): 1}
    net = network(4, edges, [9, 0, 0, -9])
    assert send(net) == 3
    assert sides(net).tolist() == [kernels.SOURCE, kernels.SINK, kernels.SOURCE, kernels.SINK]


@pytest.mark.parametrize("seed", seeds(150))
def test_as_much_as_scipy_sends_and_both_cuts_are_minimum(seed):
    n, edges, supply = any_network(seed)
    net = network(n, edges, supply)
    expected = by_scipy(n, edges, supply)
    assert send(net) == expected
    side = sides(net)
    assert capacity_of(side == kernels.SOURCE, edges, supply) == expected
    assert capacity_of(side != kernels.SINK, edges, supply) == expected


@pytest.mark.parametrize("seed", seeds(80))
def test_flow_goes_on_after_vertices_are_tied(seed):
    n, edges, supply = any_network(seed + 1000)
    net = network(n, edges, supply)
    flow, more = send(net), {}
    for to in (kernels.SOURCE, kernels.SINK):
        others = [v for v in np.flatnonzero(sides(net) != to).tolist() if v not in more]
        if others:
            v = others[seed % len(others)]
            flow += tie(net.supply, v, to)
            flow += send(net)
            more[v] = 10**6 if to == kernels.SOURCE else -(10**6)  # more than is ever asked
        assert flow == by_scipy(n, edges, supply, more)


def test_stops_at_what_was_asked_and_gives_up_in_time():
    edges = {(i, i + 1): 7 for i in range(30)} | {(i, i + 2): 1 for i in range(29)}
    supply = [50] + [0] * 29 + [-50]
    assert send(network(31, edges, supply)) == by_scipy(31, edges, supply)
    assert send(network(31, edges, supply), most=1) >= 1
    assert send(network(31, edges, supply), most_looks=10) == -1
