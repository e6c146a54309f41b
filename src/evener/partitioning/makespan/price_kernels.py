"""What a block's seconds are made of: its compute, what it exchanges with each other block, and a
fixed cost; the power of them that is summed up; and the arrays in which all that is kept.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner


class Model(NamedTuple):
    """What makes seconds of loads and values; s pieces of the speed curves of k devices.

    first, last (k,) int64: each device's pieces; left, speed, slope (s,): where each begins
    [units], speed there [units/s] and its slope [1/s]; alpha (k, k) [s], per_value (k, k) [s per
    value]; fixed (k,) [s]; worth (k,): of a second of each device, relative (SecondsState.worth);
    smooth: a message of fewer values counts in proportion, so that it is worth making smaller
    until it is gone; overlap: exchange goes on beside the interior's compute.
    """

    first: np.ndarray
    last: np.ndarray
    left: np.ndarray
    speed: np.ndarray
    slope: np.ndarray
    alpha: np.ndarray
    per_value: np.ndarray
    fixed: np.ndarray
    worth: np.ndarray
    smooth: float
    overlap: bool


class Totals(NamedTuple):
    """Sums of every block (k,): load [units], weight, memory [B], size in vertices, outer (load
    at the boundary), compute, exchange, seconds [s], powered (seconds by those of reference, to
    the power), piece (of its speed curve).
    """

    load: np.ndarray
    weight: np.ndarray
    memory: np.ndarray
    size: np.ndarray
    outer: np.ndarray
    compute: np.ndarray
    exchange: np.ndarray
    seconds: np.ndarray
    powered: np.ndarray
    piece: np.ndarray


class Bounds(NamedTuple):
    """Of vertices (n,): work [units], weight, n_bytes; of blocks (k,): low, high, caps on them."""

    work: np.ndarray
    weight: np.ndarray
    n_bytes: np.ndarray
    low: np.ndarray
    high: np.ndarray
    caps: np.ndarray


class MoveScratch(NamedTuple):
    """Room to weigh one vertex: slot (k,) is -1 before and after; for its d blocks (d,): ids,
    held (neighbours there), lone (of those, whose only neighbour in its block it is), leaving
    (their work that would be at no boundary), drop and rise (exchange won where it leaves, and
    by the others), after (what each exchanges then); has (d x d,): neighbours of one block that
    touch another one already.

    To search: queue, lock (n,), zero before and after; front, keys (FRONTIER,): the vertices that
    a chain chooses from; moved, came_from (DEPTH,): its moves; looks (1,).
    """

    slot: np.ndarray
    ids: np.ndarray
    held: np.ndarray
    lone: np.ndarray
    leaving: np.ndarray
    drop: np.ndarray
    rise: np.ndarray
    after: np.ndarray
    has: np.ndarray
    queue: np.ndarray
    lock: np.ndarray
    front: np.ndarray
    keys: np.ndarray
    moved: np.ndarray
    came_from: np.ndarray
    looks: np.ndarray


@inner(forceinline=True, error_model="numpy", counted=False)
def pay(alpha, per_value, smooth, b, c, values):
    """Seconds that block b spends on exchanging so many values with c."""
    if values <= 0:
        return 0.0
    part = min(1.0, values / smooth)
    return alpha[b, c] * part * (2.0 - part) + per_value[b, c] * values


@inner(error_model="numpy", counted=False)
def compute_at(first, last, left, speed, slope, piece, load):
    """Seconds that a device computes at a load that lies near piece, and its piece."""
    while piece + 1 < last and left[piece + 1] <= load:
        piece += 1
    while piece > first and left[piece] > load:
        piece -= 1
    above = max(load - left[piece], 0.0)  # before the first knot, speed is constant
    return load / (speed[piece] + slope[piece] * above), piece


@inner(forceinline=True, error_model="numpy", counted=False)
def seconds_of(overlap, fixed, load, compute, outer, exchange):
    """Seconds of a block, with or without overlap."""
    if load <= 0 and exchange <= 0:
        return 0.0
    if not overlap:
        return compute + exchange + fixed
    edge = compute * min(1.0, outer / load) if load > 0 else 0.0
    return max(compute - edge, exchange) + edge + fixed


@inner(forceinline=True, error_model="numpy", counted=False)
def powered_by(seconds, reference, doublings, worth):
    """What seconds count: worth times their share of reference to the power 2**doublings."""
    x = seconds / reference
    for _ in range(doublings):
        x *= x
    return worth * x


@inner(forceinline=True, error_model="numpy", counted=False)
def between(sent, b, c):
    """Values that two blocks exchange, both ways."""
    return np.int64(sent[b, c]) + np.int64(sent[c, b])


@inner(error_model="numpy", counted=False)
def reprice(tables, model, totals):
    """Work out compute, exchange and seconds of all blocks; returns the longest seconds."""
    k, longest = totals.load.size, 0.0
    sent, alpha, per_value, smooth = tables.sent, model.alpha, model.per_value, model.smooth
    for b in range(k):
        exchange = 0.0
        for c in range(k):
            exchange += pay(alpha, per_value, smooth, b, c, between(sent, b, c))
        compute, piece = compute_at(
            model.first[b], model.last[b], model.left, model.speed, model.slope, totals.piece[b],
            totals.load[b],
        )  # fmt: skip
        totals.exchange[b], totals.compute[b], totals.piece[b] = exchange, compute, piece
        load, outer = totals.load[b], totals.outer[b]
        totals.seconds[b] = seconds_of(
            model.overlap, model.fixed[b], load, compute, outer, exchange
        )
        longest = max(longest, totals.seconds[b])
    return longest
