"""Methods that assign edges one after another: by scores, at random, by hash, or in runs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, Part
from evener.graphs.edge_list import EdgeList
from evener.plans.partition import Contract
from evener.splitting import placing_kernels as kernels
from evener.splitting.splits import Split, kept, work_of

ROUNDING = 1e-6  # [edges] limits that differ by less from a whole number count as this number
HASH_SLOTS = 4096  # number of entries in the table that maps hashes to blocks


class Rule(NamedTuple):
    """How a stream scores blocks; see placing_kernels.place_by_score for by_degree and balance.

    capped: no block exceeds its upper limit, as long as another block can take the edge.
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
    """Return the blocks of a contract without any edges, for n vertices.

    capped: no block exceeds its upper limit, as long as another block can take the edge. m: number
    of edges in the stream, of weight 1; the last edges are then reserved for blocks below their
    lower limits; 0: ignore lower limits, which `enforce` will satisfy afterwards.
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
    """Return blocks chosen edge by edge by one of RULES, in a random order of the edges."""
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
    """Return random blocks, with probabilities in proportion to the targets."""
    part = drawn(np.random.default_rng(seed), edges.m, contract.targets)
    return Split(kept(edges, part, contract), order="random")


def drawn(rng: np.random.Generator, m: int, targets: FloatArray) -> Part:
    """Return random blocks (m,), with probabilities in proportion to targets (k,)."""
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
    """Return blocks (HASH_SLOTS,), in which each block occurs in proportion to its target."""
    ends = np.cumsum(targets) / targets.sum() * HASH_SLOTS
    return np.searchsorted(ends, np.arange(HASH_SLOTS) + 0.5, "right").astype(np.int32)


def in_order(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:  # noqa: ARG001
    """Return blocks that are runs of consecutive edges, with work near the targets."""
    work = work_of(edges)
    ends = np.cumsum(contract.targets) / contract.targets.sum() * work.sum()
    middles = np.cumsum(work) - work / 2
    part = np.minimum(np.searchsorted(ends, middles, "right"), contract.k - 1)
    return Split(kept(edges, part.astype(np.int32), contract), order="edges")
