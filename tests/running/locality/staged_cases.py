"""Small matrices and interactions in staged blocks, for the tests of this folder."""

import numpy as np

from evener.graphs.edge_list import EdgeList
from evener.plans.edge_partition import EdgePartition
from evener.running.locality.staging import StagedBlocks


def matrix(rows=23, columns=17, count=90, seed=0):
    """Return a SciPy matrix with random entries, some rows and columns empty."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(seed)
    places = rng.choice(rows * columns, count, replace=False)
    i, j = places // columns, places % columns
    return csr_array((rng.random(count), (i, j)), shape=(rows, columns))


def blocks_of(A, k, seed=0):
    """Return edges, their random blocks, and what these stage."""
    edges = EdgeList.of_matrix(A)
    part = np.random.default_rng(seed).integers(0, k, edges.m)
    partition = EdgePartition.of(part, k)
    return edges, partition, StagedBlocks.of_matrix(edges, partition, A.shape[0])


def interactions(n=30, m=80, k=4, seed=0):
    """Return random edges between n vertices, their blocks, and what these stage."""
    rng = np.random.default_rng(seed)
    tails = rng.integers(0, n - 1, m)
    heads = rng.integers(tails + 1, n)
    edges = EdgeList(n, tails, heads)
    partition = EdgePartition.of(rng.integers(0, k, m), k)
    return edges, partition, StagedBlocks.of_interactions(edges, partition)


def slow_fluxes(edges, areas, values):
    """Return (4, n) what flows into each vertex of values (4, n), edge after edge."""
    sums = np.zeros_like(values)
    for u, v, area in zip(edges.tails, edges.heads, areas, strict=True):
        flowing = np.zeros(4)
        for end in (u, v):
            density, across, along, energy = values[:, end]
            force = 0.4 * (energy - 0.5 * (across**2 + along**2) / density)
            own = across, across**2 / density + force, along * across / density
            flowing += 0.5 * area * np.array([*own, (energy + force) * across / density])
        sums[:, u] -= flowing
        sums[:, v] += flowing
    return sums
