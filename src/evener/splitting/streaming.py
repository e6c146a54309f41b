"""Streaming methods: each edge gets its block in turn; and runs of the edges in their order."""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray, Part
from evener.graphs.edge_list import EdgeList
from evener.plans.partition import Contract
from evener.splitting import placing_kernels as kernels
from evener.splitting.splits import Split, kept, work_of

HASH_SLOTS = 4096  # entries of the table from hashes to blocks, in proportion to targets
HDRF_BALANCE = 1.1  # lambda of HDRF, as its authors chose it


def streamed(edges: EdgeList, contract: Contract, preset: str, seed: int, *, by: str) -> Split:  # noqa: ARG001
    """Return blocks that a streaming method chose edge by edge, in an order shuffled by `seed`."""
    rng = np.random.default_rng(seed)
    part = np.empty(edges.m, np.int32)
    targets = np.maximum(contract.targets, 1e-300)
    if by == "random":
        part[:] = rng.choice(contract.k, edges.m, p=targets / targets.sum())
    elif by == "dbh":
        table = _in_proportion(targets, HASH_SLOTS)
        kernels.place_by_hash(edges.tails, edges.heads, edges.degrees, table, part)
    else:
        order = rng.permutation(edges.m)
        work = work_of(edges)
        held = np.zeros((edges.n, (contract.k + 63) // 64), np.uint64)
        stream = edges.tails, edges.heads, work, order, targets, contract.high
        if by == "greedy":
            kernels.place_greedily(*stream, held, part)
        else:
            kernels.place_by_degree_seen(*stream, HDRF_BALANCE, held, part)
    return Split(kept(edges, part, contract), order=by)


def in_order(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:  # noqa: ARG001
    """Return runs of the edges in their order, each of its block's target."""
    work = work_of(edges)
    ends = np.cumsum(contract.targets) / contract.targets.sum() * work.sum()
    middles = np.cumsum(work) - work / 2
    part = np.minimum(np.searchsorted(ends, middles, "right"), contract.k - 1)
    return Split(kept(edges, part.astype(np.int32), contract), order="edges")


def _in_proportion(targets: FloatArray, size: int) -> Part:
    """(size,) blocks, each as often as its share of the targets."""
    ends = np.cumsum(targets) / targets.sum() * size
    return np.searchsorted(ends, np.arange(size) + 0.5, "right").astype(np.int32)
