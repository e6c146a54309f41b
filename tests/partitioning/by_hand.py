"""Hard graphs, contracts, and a plain check of them that shares no code with the repair."""

import itertools
from math import ceil, floor, inf

import numpy as np

from evener.graphs.graph import Graph
from evener.plans.partition import Contract


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
