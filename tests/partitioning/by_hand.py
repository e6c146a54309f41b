"""Graphs, levels, states and contracts of tests; plain checks that share no code with src."""

import itertools
from math import ceil, floor, inf

import numpy as np

from evener.graphs.graph import Graph
from evener.partitioning.label_propagation.cycles import with_nets
from evener.partitioning.label_propagation.propagation_kernels import PropagationState
from evener.partitioning.levels.levels import finest
from evener.plans.partition import Contract, Further
from evener.threads import slices_for


def graph_of(n, pairs, **fields):
    u, v = np.array(list(pairs), np.int64).reshape(-1, 2).T
    return Graph.from_edges(n, u, v, **fields)


def path(n, **fields):
    return graph_of(n, ((i, i + 1) for i in range(n - 1)), **fields)


def star(n, **fields):
    return graph_of(n, ((0, i) for i in range(1, n)), **fields)


def clique(n, **fields):
    return graph_of(n, itertools.combinations(range(n), 2), **fields)


def mesh(n, **fields):
    """Triangles in a strip of rows of seven."""
    pairs = [(v, v + s) for v in range(n) for s in (1, 7, 8) if v + s < n and (v % 7 < 6 or s == 7)]
    return graph_of(n, pairs, **fields)


def sparse(n, **fields):
    """A random graph of as many edges as vertices: one big component, many small, some alone."""
    rng = np.random.default_rng(n)
    return graph_of(n, rng.integers(0, n, (n, 2)), **fields)


def islands(n, **fields):
    """Paths of three and vertices alone."""
    return graph_of(n, ((v, v + 1) for v in range(n // 2) if v % 3 < 2), **fields)


GRAPHS = {f.__name__: f for f in (path, star, clique, mesh, sparse, islands)}


def unit_contract(n, speeds, epsilon, caps=()):
    """The limits that the issue of sizes states for unit weights, written out block by block."""
    low, high = [], []
    targets = [n * s / sum(speeds) for s in speeds]
    for t in targets:
        low.append(min(floor(t + 1e-9), ceil((1 - epsilon) * t - 1e-9)))
        high.append(max(ceil(t - 1e-9), floor((1 + epsilon) * t + 1e-9)))
    return Contract(targets, low, high, caps)


def real_contract(total, speeds, epsilon, caps=()):
    targets = np.array([total * s / sum(speeds) for s in speeds])
    return Contract(targets, (1 - epsilon) * targets, (1 + epsilon) * targets, caps)


def faults(graph, part, contract):
    """What is wrong with a partition, block by block, in words; empty where it holds."""
    found = []
    weights = [1.0] * graph.n if graph.vwgt is None else [float(w) for w in graph.vwgt]
    for b in range(contract.k):
        members = [v for v in range(graph.n) if part[v] == b]
        weight = sum(weights[v] for v in members)
        entries = sum(int(graph.xadj[v + 1] - graph.xadj[v]) for v in members)
        n_bytes = len(members) * graph.bytes_per_vertex + entries * graph.bytes_per_edge
        hair = 1e-9 * max(abs(contract.targets[b]), 1e-300)
        if not members:
            found.append(f"{b} empty")
        if weight < contract.low[b] - hair or weight > contract.high[b] + hair:
            found.append(f"{b} weighs {weight}")
        if contract.caps[b] < inf and n_bytes > contract.caps[b] * (1 + 1e-9):
            found.append(f"{b} has {n_bytes} bytes")
    return found


def any_solution(graph, contract, given=None, fixed=None):
    """The first of all k^n assignments that holds, or None; fixed vertices stay as given."""
    for part in itertools.product(range(contract.k), repeat=graph.n):
        stay = fixed is None or (np.array(part) == given)[fixed].all()
        if stay and not faults(graph, part, contract):
            return part
    return None


def assert_is_partition(graph, part, k):
    assert part.shape == (graph.n,)
    assert part.dtype == np.int32
    assert part.min(initial=0) >= 0
    assert part.max(initial=0) < k


def cut(graph, part):
    """The number of edges between blocks."""
    ends = np.repeat(part, graph.degrees)
    return int((ends != part[graph.adjncy]).sum()) // 2


def whole(graph):
    """The graph with whole edge weights, as levels have them."""
    if graph.adjwgt is None:
        return graph
    return graph.with_(adjwgt=np.rint(graph.adjwgt).astype(np.int64))


def level_of(graph, *, threads=1):
    """The graph as a level, its vertices in their own order; whole edge weights."""
    weights = np.empty(0) if graph.adjwgt is None else graph.adjwgt
    return finest(graph, np.arange(graph.n), graph.weights(), weights.astype(np.int32), threads)


def edges_of(level):
    """{(u, v): weight} of both directions, edge by edge."""
    edges = {}
    for v in range(level.n):
        for e in range(int(level.xadj[v]), int(level.xadj[v + 1])):
            u = int(level.adjncy[e])
            assert (v, u) not in edges
            edges[v, u] = int(level.adjwgt[e]) if level.adjwgt.size else 1
    return edges


def slice_of(level, v):
    """Which slice of the work the vertex is in."""
    slices = slices_for(level.n)
    return next(i for i in range(slices) if v < level.n * (i + 1) // slices)


def priced_cut(level, part, price):
    """What all borders cost: every edge between blocks at the price of both."""
    return sum(
        w * (int(price[part[v]]) + int(price[part[u]]))
        for (v, u), w in edges_of(level).items()
        if v < u and part[v] != part[u]
    )


def weighted(graph, seed, c=2, most=9):
    """The graph with a unit weight and c - 1 random ones, the same all over a region."""
    rng = np.random.default_rng(seed)
    middles = graph.coords[rng.choice(graph.n, 12)]
    region = ((graph.coords[:, None] - middles) ** 2).sum(axis=2).argmin(axis=1)
    columns = [rng.integers(1, most + 1, 12)[region] for _ in range(c - 1)]
    return graph.with_(vwgt=np.stack([np.ones(graph.n, int), *columns], axis=1))


def contract_of(graph, shares, epsilon=0.03):
    """Every weight divided by these shares, both ways by epsilon."""
    shares = np.asarray(shares, float) / np.sum(shares)
    limits = []
    for i in range(graph.n_constraints):
        targets = float(graph.weights(i).sum()) * shares
        limits.append(Further(targets, (1 - epsilon) * targets, (1 + epsilon) * targets))
    first = limits[0]
    return Contract(first.targets, first.low, first.high, further=tuple(limits[1:]))


def weights_of(graph, part, k):
    """(k, c) by the slow way."""
    columns = [
        [sum(graph.weights(i)[v] for v in range(graph.n) if part[v] == b) for b in range(k)]
        for i in range(graph.n_constraints)
    ]
    return np.array(columns, float).T


def holds(graph, part, contract):
    """Whether every block keeps every limit."""
    sizes = np.bincount(part, minlength=contract.k)
    return bool(
        contract.keeps(weights_of(graph, part, contract.k), sizes, np.zeros(contract.k)).all()
    )


def some_partition_holds(graph, contract, given=None, fixed=None):
    """Whether any of all k^n partitions does; fixed vertices stay as given."""
    every = map(np.array, itertools.product(range(contract.k), repeat=graph.n))
    return any(
        holds(graph, part, contract)
        for part in every
        if fixed is None or (part == given)[fixed].all()
    )


UNIT = np.empty(0, np.int32)


def state_of(graph, part, k, *, weights=UNIT, prices=None, low=0.0, high=np.inf):
    """A state for volumes if there are prices, else for the cut."""
    level = finest(graph, np.arange(graph.n), graph.weights(), weights, 1)
    part = np.array(part, np.int32)
    weight = np.bincount(part, weights=level.vwgt, minlength=k)
    state = PropagationState(
        level.xadj, level.adjncy, level.adjwgt, level.vwgt, part, weight, np.full(k, low),
        np.full(k, high), 0.0, False, np.ones(k), np.empty(0, np.int64), UNIT, UNIT, UNIT,
    )  # fmt: skip
    if prices is None:
        return state
    state = with_nets(state)
    state.price[:] = prices
    return state


def cost(graph, state, weights=UNIT):
    """The objective, from its definition: sets of blocks, or edges between them."""
    part = state.part
    total = 0.0
    for v in range(graph.n):
        row = range(int(graph.xadj[v]), int(graph.xadj[v + 1]))
        others = [e for e in row if part[graph.adjncy[e]] != part[v]]
        if state.volumes:
            total += state.price[part[v]] * len({int(part[graph.adjncy[e]]) for e in others})
        else:
            total += sum(int(weights[e]) if weights.size else 1 for e in others) / 2
    return total


MOST = 30  # vertices


def any_graph(seed, *, coords=False, most=MOST):
    """A graph of 1 to `most` vertices: dense, sparse, in pieces, a star, a path, of no edge; with
    vertex and edge weights that are absent, zero, huge, real, or one for all."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most + 1))
    u, v = _pairs(rng, n)
    fields = {"vwgt": _weights(rng, n), "weights": _weights(rng, u.size)}
    if coords:
        fields["coords"] = _coords(rng, n)
    return Graph.from_edges(n, u, v, **fields)


def any_part(graph, k, seed):
    """A partition in which blocks may be empty, in some cases all but one."""
    rng = np.random.default_rng(seed + 1)
    used = rng.integers(1, k + 1)
    return rng.integers(0, used, graph.n).astype(np.int32)


def any_contract(graph, k, seed):
    """Equal or unequal shares of the whole weight, tight or wide."""
    rng = np.random.default_rng(seed + 2)
    shares = np.ones(k) if rng.random() < 0.5 else rng.choice([1.0, 2, 16, 99], k)
    epsilon = rng.choice([0.0, 0.03, 0.3])
    targets = max(graph.total_weight, 1.0) * shares / shares.sum()
    low, high = (1 - epsilon) * targets, (1 + epsilon) * targets
    if graph.is_unit:
        low = np.minimum(np.floor(targets), np.ceil(low))
        high = np.maximum(np.ceil(targets), np.floor(high))
    return Contract(targets, low, high)


def any_k(graph, seed):
    """From one block to as many as vertices, six at most."""
    return int(np.random.default_rng(seed + 3).integers(1, min(graph.n, 6) + 1))


def _pairs(rng, n):
    kind = rng.integers(6)
    if kind == 0:
        return np.zeros(n - 1, int), np.arange(1, n)
    if kind == 1:
        return np.arange(n - 1), np.arange(1, n)
    if kind == 2:
        return np.empty(0, int), np.empty(0, int)
    if kind == 3:  # two halves that touch nowhere
        half = max(n // 2, 1)
        u, v = rng.integers(0, half, 2 * n), rng.integers(0, half, 2 * n)
        return np.r_[u, (u + half) % n], np.r_[v, (v + half) % n]
    count = int(rng.integers(0, 3 * n)) if kind == 4 else n * n
    return rng.integers(0, n, count), rng.integers(0, n, count)


def _weights(rng, size):
    kind = rng.integers(8)
    if kind == 0:
        return rng.integers(0, 3, size)
    if kind == 1:
        return np.zeros(size, int)
    if kind == 2:
        return rng.integers(0, 10**12, size)
    if kind == 3:
        return rng.random(size) * 10.0 ** rng.integers(-9, 10)
    if kind == 4 and size:
        weights = np.ones(size, int)
        weights[rng.integers(size)] = 10**9
        return weights
    return None


def _coords(rng, n):
    kind, d = rng.integers(5), int(rng.integers(2, 4))
    if kind == 0:
        return np.zeros((n, d))
    if kind == 1:
        return np.outer(np.arange(n), np.ones(d))
    if kind == 2:
        return rng.integers(0, 2, (n, d)).astype(float)
    return rng.random((n, d)) * 10.0 ** min(int(rng.integers(-300, 300)), 100)
