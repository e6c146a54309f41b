"""Brings blocks of heavy vertices into their contracts: local search, then packing afresh."""

from __future__ import annotations

import numpy as np

from evener.partitioning.repair import packing_kernels
from evener.partitioning.repair.state import State

# One search over all pairs (vertex of the bad block, block) in a step costs at most this many.
PAIRS_PER_STEP = 10_000_000
# Packings tried, at most, and vertices placed in all of them together.
MAX_ATTEMPTS = 24
ATTEMPT_BUDGET = 200_000
POLISH_BUDGET = 20_000_000  # vertices looked at to improve them, all together


def polish(state: State, *, steps: int) -> bool:
    """Lower the violation by single moves and swaps until none helps; return whether all hold."""
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
    """Place all vertices anew, heaviest first, and polish; again from other orders while it fails.

    The first time in order of weight, then with the order shaken ever more. Ends with the least
    violation met. Fewer attempts are made on larger graphs.
    """
    rng = np.random.default_rng(seed)
    given, best, least = state.part.copy(), state.part.copy(), np.inf
    n = state.graph.n
    attempts = 1 + min(MAX_ATTEMPTS, ATTEMPT_BUDGET // n)
    steps = min(steps, max(POLISH_BUDGET // (n * attempts), 8))
    for attempt in range(attempts):
        shaken = state.weights * np.exp(rng.normal(0, 0.1 * attempt, state.graph.n))
        order = np.argsort(-shaken, kind="stable")
        state.part[:] = given
        state.weight[:], state.memory[:], state.size[:] = 0, 0, 0
        packing_kernels.pack(
            order, state.weights, state.n_bytes, state.contract.targets, state.high, state.caps,
            state.part, state.weight, state.size, state.memory,
        )  # fmt: skip
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
    saved = packing_kernels.best_move(
        *state.csr, state.part, state.weights, state.n_bytes, state.weight, state.size,
        state.memory, state.low, state.high, state.caps, state.scale, bad, int(room.argmax()),
        choice,
    )  # fmt: skip
    if saved <= 0:
        return False
    state.move(int(choice[0]), int(choice[1]))
    return True


def _swap(state: State, bad: int, choice: np.ndarray) -> bool:
    order = np.lexsort((state.weights, state.part))
    starts = np.concatenate([[0], np.cumsum(state.size)])
    stride = 1 + int(state.size[bad]) * state.k // PAIRS_PER_STEP
    saved = packing_kernels.best_swap(
        starts, order, state.weights, state.n_bytes, state.weight, state.memory, state.low,
        state.high, state.caps, state.scale, bad, stride, choice,
    )  # fmt: skip
    if saved <= 0:
        return False
    v, u = int(choice[0]), int(choice[1])
    other = int(state.part[u])
    state.move(v, other)
    state.move(u, bad)
    return True
