"""Brings blocks into one piece each, wherever graph and contract allow it."""

from __future__ import annotations

import numpy as np

from evener.arrays import IntVector
from evener.partitioning.repair import connecting_kernels as kernels
from evener.partitioning.repair.flowing import flow_until_kept
from evener.partitioning.repair.state import State

# Which strays are joined, tried in turn: all; those that fit; those that leave enough behind.
CARES = (0, 1, 2)
PATIENCE = 4  # attempts that win nothing, before the next care
REROOTINGS = 8


def connect(state: State, *, quickly: bool = False) -> None:
    """Join stray pieces to neighbouring blocks and balance again without taking blocks apart.

    Where all of them together cannot be balanced, only those are joined that fit as they are.
    Keeps the contract whatever happens: the best partition that holds it is what remains. A piece
    that is a whole component of the graph stays where it is. quickly: one attempt.
    """
    cares, patience, rerootings = (CARES[:1], 1, 0) if quickly else (CARES, PATIENCE, REROOTINGS)
    best, fewest = state.part.copy(), len(_strays(state)[1])
    for care in cares:
        state.part[:] = best
        state.sum_up()
        waited = 0
        while fewest > 0 and waited < patience:
            _join_strays(state, care)
            kept = flow_until_kept(state, connected=True, rerootings=rerootings)
            left = len(_strays(state)[1])
            waited += 1
            if kept and left < fewest:
                best, fewest, waited = state.part.copy(), left, 0
    state.part[:] = best
    state.sum_up()


def pieces_left(state: State) -> tuple[int, ...]:
    """Blocks with a piece that is neither their heaviest nor a whole component of the graph."""
    return tuple(sorted({int(b) for b in _strays(state)[1]}))


def _strays(state: State) -> tuple[IntVector, IntVector, IntVector]:
    """Label (n,) of each vertex's piece, and block and label of every stray piece, by label."""
    n = state.graph.n
    label, queue = np.empty(n, np.int64), np.empty(n, np.int32)
    xadj, adjncy, _ = state.csr
    open_ended = np.zeros(n, np.bool_)
    count = kernels.label_pieces(xadj, adjncy, state.part, queue, label, open_ended)
    weight = np.bincount(label, weights=state.weights, minlength=count)
    first = np.full(count, n, np.int64)
    np.minimum.at(first, label, np.arange(n))
    block = state.part[first].astype(np.int64)
    # The heaviest piece of each block is its body; of equal ones the one that starts first.
    order = np.lexsort((first, -weight, block))
    is_body = np.zeros(count, np.bool_)
    is_body[order[np.unique(block[order], return_index=True)[1]]] = True
    stray = np.flatnonzero(~is_body & open_ended[:count])
    return label, block[stray], stray


def _join_strays(state: State, care: int) -> None:
    """Hand every stray piece, small ones first, to a block that it touches, as `care` allows."""
    label, _, strays = _strays(state)
    order = np.argsort(label, kind="stable")
    starts = np.searchsorted(label[order], np.arange(label.max() + 2))
    sizes = np.diff(starts)[strays]
    kernels.join_pieces(
        *state.csr, state.weights, state.n_bytes, state.low, state.high, state.caps, care,
        strays[np.argsort(sizes, kind="stable")], starts, order, state.part, state.weight,
        state.size, state.memory,
    )  # fmt: skip
