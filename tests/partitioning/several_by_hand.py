"""Graphs whose vertices have several weights, and contracts on them, for tests."""

import itertools

import numpy as np

from evener.plans.partition import Contract, Further


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
