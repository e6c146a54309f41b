"""Improves any edge partition on the copies of vertices themselves, within limits of its blocks."""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray, Part
from evener.errors import InputError
from evener.graphs.edge_list import EdgeList
from evener.plans.edge_partition import EdgePartition
from evener.splitting import copies_kernels as kernels

# Copies saved in a round, relative to the edges looked at, below which rounds end; chosen by hand.
WORTH_A_ROUND = 0.0005


def refine_copies(
    edges: EdgeList,
    partition: EdgePartition,
    low: FloatArray,
    high: FloatArray,
    *,
    rounds: int = 10,
    seed: int = 7,
) -> tuple[EdgePartition, int]:
    """Return an edge partition of as many copies or fewer, and how many are saved.

    low, high (k,) [units]: the loads of blocks stay between them; a block that is outside of them
    gets no further out. Edges move one by one, in the order of their numbers shuffled by `seed`, to
    a block that one of their ends is in already. Raises InputError for limits of other lengths.
    """
    partition.checked_for(edges)
    edges = edges.opened()
    low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
    if low.shape != (partition.k,) or high.shape != (partition.k,):
        raise InputError(f"limits are of {low.size} and {high.size} blocks, not {partition.k}")
    part: Part = partition.part.copy()
    offsets, listed = edges.incidence
    tables = kernels.Tables(
        offsets,
        np.empty(listed.size, np.int32),
        np.empty(listed.size, np.int32),
        np.zeros(edges.n, np.int32),
    )
    kernels.fill_tables(offsets, listed, part, tables)
    weights = np.ones(edges.m) if edges.weights is None else edges.weights.astype(np.float64)
    limits = kernels.Limits(partition.loads(edges), low, high)
    rng, total = np.random.default_rng(seed), 0
    for _ in range(rounds):
        order = np.flatnonzero((tables.sizes[edges.tails] > 1) | (tables.sizes[edges.heads] > 1))
        rng.shuffle(order)
        saved, moved = kernels.improve(
            edges.tails, edges.heads, weights, part, tables, limits, order
        )
        total += int(saved)
        if moved == 0 or saved < WORTH_A_ROUND * order.size:
            break
    return EdgePartition(part, partition.k), total
