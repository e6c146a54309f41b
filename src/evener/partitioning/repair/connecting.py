"""Brings blocks into one piece each, wherever graph and contract allow it."""

from __future__ import annotations

import numpy as np

from evener.arrays import IntVector
from evener.partitioning.repair import connecting_kernels as kernels
from evener.partitioning.repair.flowing import flow_until_kept
from evener.partitioning.repair.state import State

RULES = (kernels.JOIN_ALL, kernels.JOIN_FITTING, kernels.JOIN_SPARED)  # tried in this order
PATIENCE = 4  # attempts without fewer stray pieces before the next rule
REROOTINGS = 8  # times that other spanning trees are tried where no leaf may move


def connect(state: State, *, quickly: bool = False) -> None:
    """Join stray pieces to neighbouring blocks and balance again without taking blocks apart.

    A stray piece is a connected part of a block that is not its heaviest; one that is a whole
    component of the graph stays where it is. Where the blocks cannot be balanced after all have
    been joined, fewer are. The result is the partition that keeps the contract with the fewest
    stray pieces. quickly: one attempt.
    """
    rules, patience, rerootings = (RULES[:1], 1, 0) if quickly else (RULES, PATIENCE, REROOTINGS)
    best, fewest = state.part.copy(), len(_strays(state)[1])
    for rule in rules:
        state.part[:] = best
        state.sum_up()
        waited = 0
        while fewest > 0 and waited < patience:
            _join_strays(state, rule)
            kept = flow_until_kept(state, connected=True, rerootings=rerootings)
            left = len(_strays(state)[1])
            waited += 1
            if kept and left < fewest:
                best, fewest, waited = state.part.copy(), left, 0
    state.part[:] = best
    state.sum_up()


def pieces_left(state: State) -> tuple[int, ...]:
    """Return the blocks that have stray pieces."""
    return tuple(sorted({int(b) for b in _strays(state)[1]}))


def _strays(state: State) -> tuple[IntVector, IntVector, IntVector]:
    """Return the label (n,) of each vertex's piece, and block and label of every stray piece."""
    n = state.graph.n
    label, queue = np.empty(n, np.int64), np.empty(n, np.int32)
    has_cut = np.zeros(n, np.bool_)
    count = kernels.label_pieces(state.csr, state.part, queue, label, has_cut)
    weight = np.bincount(label, weights=state.weights, minlength=count)
    first = np.full(count, n, np.int64)
    np.minimum.at(first, label, np.arange(n))
    block = state.part[first].astype(np.int64)
    # Of pieces of equal weight, the one with the smallest vertex is the block's heaviest.
    order = np.lexsort((first, -weight, block))
    is_heaviest = np.zeros(count, np.bool_)
    is_heaviest[order[np.unique(block[order], return_index=True)[1]]] = True
    stray = np.flatnonzero(~is_heaviest & has_cut[:count])
    return label, block[stray], stray


def _join_strays(state: State, rule: int) -> None:
    """Move every stray piece, small ones first, to a block that it touches, as `rule` allows."""
    label, _, strays = _strays(state)
    order = np.argsort(label, kind="stable")
    starts = np.searchsorted(label[order], np.arange(label.max() + 2))
    sizes = np.diff(starts)[strays]
    kernels.join_pieces(
        state.csr, state.n_bytes, state.limits, state.blocks, rule,
        strays[np.argsort(sizes, kind="stable")], starts, order,
    )  # fmt: skip
