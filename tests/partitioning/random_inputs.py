"""Small random inputs of every unpleasant kind, decided by a seed alone."""

import numpy as np

from evener.graphs.graph import Graph
from evener.plans.partition import Contract

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
