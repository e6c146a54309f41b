"""Repairs partitions with heavy vertices: by local search, or by packing all vertices again."""

from __future__ import annotations

import numpy as np

from evener.partitioning.repair import block_kernels
from evener.partitioning.repair.state import State

# Work bounds, so that a repair of heavy vertices takes seconds at most:
PAIRS_PER_STEP = 10_000_000  # pairs (vertex of a bad block, other block) tried in one search
MAX_ATTEMPTS = 24  # packings tried after the first
ATTEMPT_BUDGET = 200_000  # vertices placed by all attempts together
POLISH_BUDGET = 20_000_000  # vertices examined by `polish` in all attempts together


def polish(state: State, *, steps: int) -> bool:
    """Reduce the violation by up to `steps` single moves and swaps, until none helps.

    Returns whether all blocks satisfy their contracts.
    """
    choice = np.zeros(2, np.int64)
    given_up: set[int] = set()
    for _ in range(steps):
        violations = state.violations()
        order = [int(b) for b in np.argsort(-violations, kind="stable") if violations[b] > 0]
        candidates = [b for b in order if b not in given_up]
        if not candidates:
            break
        bad = candidates[0]
        if _move(state, bad, choice) or _swap(state, bad, choice):
            given_up.clear()
        else:
            given_up.add(bad)
    return state.holds()


def pack_afresh(state: State, *, steps: int, seed: int) -> bool:
    """Assign all vertices from scratch, heaviest first, and polish.

    Returns whether all blocks satisfy their contracts. While they do not, this is repeated with
    randomly perturbed weights for sorting, perturbed more each time; fewer times on larger graphs.
    The partition with the least violation is used.
    """
    rng = np.random.default_rng(seed)
    given, best, least = state.part.copy(), state.part.copy(), np.inf
    n = state.graph.n
    attempts = 1 + min(MAX_ATTEMPTS, ATTEMPT_BUDGET // n)
    steps = min(steps, max(POLISH_BUDGET // (n * attempts), 8))
    for attempt in range(attempts):
        shaken = state.weights * np.exp(rng.normal(0, 0.1 * attempt, state.graph.n))
        order = state.may_move(np.argsort(-shaken, kind="stable"))
        state.part[:] = given
        state.sum_up_fixed()
        block_kernels.pack(
            order, state.weights, state.n_bytes, state.contract.targets, state.limits, state.blocks
        )
        state.sum_up()
        if polish(state, steps=steps):
            return True
        total = float(state.violations().sum())
        if total < least:
            best, least = state.part.copy(), total
    state.part[:] = best
    state.sum_up()
    return False


def _move(state: State, bad: int, choice: np.ndarray) -> bool:
    room = state.high - state.weight
    room[bad] = -np.inf
    saved = block_kernels.best_move(
        state.csr, state.n_bytes, state.limits, state.blocks, bad, int(room.argmax()), choice
    )
    if saved <= 0:
        return False
    state.move(int(choice[0]), int(choice[1]))
    return True


def _swap(state: State, bad: int, choice: np.ndarray) -> bool:
    order = state.may_move(np.lexsort((state.weights, state.part)))
    sizes = np.bincount(state.part[order], minlength=state.k) if state.fixed.size else state.size
    starts = np.concatenate([[0], np.cumsum(sizes)])
    stride = 1 + int(state.size[bad]) * state.k // PAIRS_PER_STEP
    saved = block_kernels.best_swap(
        starts, order, state.weights, state.n_bytes, state.limits, state.blocks, bad, stride, choice
    )
    if saved <= 0:
        return False
    v, u = int(choice[0]), int(choice[1])
    other = int(state.part[u])
    state.move(v, other)
    state.move(u, bad)
    return True
