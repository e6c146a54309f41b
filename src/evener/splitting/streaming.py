"""Streaming methods: each edge gets its block in turn; and runs of the edges in their order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, Part
from evener.graphs.edge_list import EdgeList
from evener.plans.partition import Contract
from evener.splitting import placing_kernels as kernels
from evener.splitting.splits import Split, kept, work_of

ROUNDING = 1e-6  # edges: a limit so little above a whole number is this number
HASH_SLOTS = 4096  # entries of the table from hashes to blocks, in proportion to targets


class Rule(NamedTuple):
    """How a stream scores blocks: see placing_kernels.place_by_score.

    capped: blocks stay within their upper limits, while one has room.
    """

    by_degree: bool
    balance: float
    capped: bool = True


RULES = {
    "greedy": Rule(by_degree=False, balance=1.0),
    "greedy-uncapped": Rule(by_degree=False, balance=1.0, capped=False),
    "hdrf": Rule(by_degree=True, balance=1.1),  # lambda as its authors chose it
}


def empty_blocks(
    n: int, contract: Contract, *, capped: bool = True, m: int = 0
) -> kernels.FilledBlocks:
    """Return the blocks of a contract, none of which holds an edge; n: vertices.

    capped: none gets more than its upper limit, while another has room. m: of a stream of m edges,
    one unit each, so many are left for blocks below their lower limits; 0: limits are enforced
    afterwards.
    """
    k = contract.k
    return kernels.FilledBlocks(
        np.zeros(k),
        np.zeros(k),
        np.maximum(contract.targets, 1e-300),
        np.array(contract.high, np.float64) if capped else np.full(k, np.inf),
        np.ceil(contract.low - ROUNDING) if m else np.zeros(k),
        np.array([float(m)]),
        np.zeros((n, (k + 63) // 64), np.uint64),
        np.zeros(n, np.int64),
    )


def streamed(edges: EdgeList, contract: Contract, preset: str, seed: int, *, by: str) -> Split:  # noqa: ARG001
    """Return blocks that one of RULES chose edge by edge, in an order shuffled by `seed`."""
    order = np.random.default_rng(seed).permutation(edges.m)
    rule, found = RULES[by], np.full(edges.m, -1, np.int32)
    kernels.place_by_score(
        edges.tails[order], edges.heads[order], work_of(edges)[order], rule.by_degree,
        rule.balance, empty_blocks(edges.n, contract, capped=rule.capped), found,
    )  # fmt: skip
    part = np.empty_like(found)
    part[order] = found
    return Split(kept(edges, part, contract), order=by)


def at_random(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:  # noqa: ARG001
    """Return blocks drawn in proportion to targets."""
    part = drawn(np.random.default_rng(seed), edges.m, contract.targets)
    return Split(kept(edges, part, contract), order="random")


def drawn(rng: np.random.Generator, m: int, targets: FloatArray) -> Part:
    """Return blocks (m,) drawn in proportion to targets (k,)."""
    return rng.choice(targets.size, m, p=targets / targets.sum()).astype(np.int32)


def by_hash(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:  # noqa: ARG001
    """Return the blocks of degree-based hashing (DBH) [Xie14]_."""
    part = np.empty(edges.m, np.int32)
    kernels.place_by_hash(
        edges.tails, edges.heads, work_of(edges), edges.degrees, hash_table(contract.targets),
        empty_blocks(edges.n, contract, capped=False), part,
    )  # fmt: skip
    return Split(kept(edges, part, contract), order="dbh")


def hash_table(targets: FloatArray) -> Part:
    """Return blocks (HASH_SLOTS,), each as often as its share of the targets."""
    ends = np.cumsum(targets) / targets.sum() * HASH_SLOTS
    return np.searchsorted(ends, np.arange(HASH_SLOTS) + 0.5, "right").astype(np.int32)


def in_order(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:  # noqa: ARG001
    """Return runs of the edges in their order, each of its block's target."""
    work = work_of(edges)
    ends = np.cumsum(contract.targets) / contract.targets.sum() * work.sum()
    middles = np.cumsum(work) - work / 2
    part = np.minimum(np.searchsorted(ends, middles, "right"), contract.k - 1)
    return Split(kept(edges, part.astype(np.int32), contract), order="edges")
