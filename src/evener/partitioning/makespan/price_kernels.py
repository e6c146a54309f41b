"""What a block's seconds are made of: its compute, what it exchanges with each other block, and a
fixed cost; the power of them that is summed up; and the arrays in which all that is kept.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner


class Model(NamedTuple):
    """What gives the seconds of k blocks; s pieces of the speed curves of their devices."""

    first: np.ndarray  # (k,) int64: a device's first piece
    last: np.ndarray  # (k,) int64: one past its last piece
    left: np.ndarray  # (s,) float64: load at which a piece begins [units]
    speed: np.ndarray  # (s,) float64: speed there [units/s]
    slope: np.ndarray  # (s,) float64: change of speed with load [1/s]
    alpha: np.ndarray  # (k, k) float64: latency of a pair's messages [s]
    per_value: np.ndarray  # (k, k) float64: time for each value exchanged [s/value]
    fixed: np.ndarray  # (k,) float64: time that each used device needs beside [s]
    second_weight: np.ndarray  # (k,) float64: weight of a device's second in the sum of powers
    latency_ramp: float  # values from which latency counts in full: lets small messages shrink
    overlap: bool  # whether exchange goes on beside the interior's compute


class Totals(NamedTuple):
    """Sums of every block (k,), kept up to date move by move; float64 unless it says int64."""

    load: np.ndarray  # work [units]
    weight: np.ndarray  # what the limits are on
    memory: np.ndarray  # [B]
    size: np.ndarray  # int64: vertices
    outer: np.ndarray  # work at the boundary, which waits for the exchange [units]; for overlap
    compute: np.ndarray  # [s]
    exchange: np.ndarray  # [s]
    seconds: np.ndarray  # predicted, of an iteration [s]
    powered: np.ndarray  # its term of the sum of powers (powered_by)
    piece: np.ndarray  # int64: piece of its speed curve that its load is on


class Bounds(NamedTuple):
    """Of vertices (n,): work [units], weight, n_bytes; of blocks (k,): low, high, caps on them."""

    work: np.ndarray
    weight: np.ndarray
    n_bytes: np.ndarray
    low: np.ndarray
    high: np.ndarray
    caps: np.ndarray


class MoveScratch(NamedTuple):
    """Arrays that evaluating and searching moves write; nothing in them is read by the next call.

    Except `slot`, -1 everywhere, and `lock`, 0 everywhere, before and after every evaluation and
    search. A vertex v is evaluated against d blocks, its own and those that it touches.
    """

    slot: np.ndarray  # (k,) int32: where a block is among the d, else -1
    block: np.ndarray  # (d,) int32: the blocks
    n_neighbours: np.ndarray  # (d,) int32: v's neighbours in each
    n_only: np.ndarray  # (d,) int32: of those, whose only neighbour in v's block is v
    freed_work: np.ndarray  # (d,) float64: work of those that leave the boundary if v joins [units]
    own_change: np.ndarray  # (d,) float64: v leaves: change of its block's exchange with each [s]
    other_change: np.ndarray  # (d,) float64: v leaves: change of each block's exchange with v's [s]
    exchange_after: np.ndarray  # (d,) float64: exchange of each block after the move [s]
    touching: np.ndarray  # (d * d,) int32: row b, column c: neighbours in b that touch c already
    queue: np.ndarray  # (n,) int32: vertices to search from, a ring
    lock: np.ndarray  # (n,) int8: 1 where the chain has moved a vertex, else 0
    front: np.ndarray  # (FRONTIER,) int64: vertices that the chain chooses from
    keys: np.ndarray  # (FRONTIER,) float64: change of the sum of powers by the best move of each
    moved: np.ndarray  # (DEPTH,) int64: vertices that the chain has moved, in order
    came_from: np.ndarray  # (DEPTH,) int64: their blocks before
    looks: np.ndarray  # (1,) int64: cost of the evaluations so far, in halves of an entry


@inner(forceinline=True, error_model="numpy", counted=False)
def pay(alpha, per_value, latency_ramp, b, c, values):
    """Seconds that block b spends on exchanging so many values with c."""
    if values <= 0:
        return 0.0
    part = min(1.0, values / latency_ramp)
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
def powered_by(seconds, reference, log2_power, second_weight):
    """Return second_weight * (seconds / reference) ** 2**log2_power."""
    x = seconds / reference
    for _ in range(log2_power):
        x *= x
    return second_weight * x


@inner(forceinline=True, error_model="numpy", counted=False)
def between(sent, b, c):
    """Values that two blocks exchange, both ways."""
    return np.int64(sent[b, c]) + np.int64(sent[c, b])


@inner(error_model="numpy", counted=False)
def reprice(tables, model, totals):
    """Work out compute, exchange and seconds of all blocks; returns the longest seconds."""
    k, longest = totals.load.size, 0.0
    sent, alpha, per_value, latency_ramp = (
        tables.sent,
        model.alpha,
        model.per_value,
        model.latency_ramp,
    )
    for b in range(k):
        exchange = 0.0
        for c in range(k):
            exchange += pay(alpha, per_value, latency_ramp, b, c, between(sent, b, c))
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
