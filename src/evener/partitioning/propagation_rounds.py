"""Rounds of label propagation on a board: for the cut, the total volume and the largest volume."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray
from evener.partitioning import propagation_kernels as kernels
from evener.partitioning import propagation_moves_kernels as moves
from evener.partitioning.levels import Level, Part
from evener.partitioning.propagation_draining_kernels import drain
from evener.partitioning.propagation_kernels import Board
from evener.partitioning.propagation_leaps_kernels import leap

Flags = npt.NDArray[np.int8]

OVERLOAD = 1.2  # times its upper limit, what a block may hold for the time of a sweep
BOLDNESS, PATIENCE = 0.25, 3  # of leaps: the share of bonds that may be lost; rounds without gain
AFTER_LEAPS = 2  # rounds of moves
WORTH_IT = 0.002  # of the total volume, what a round is to win, or it is the last
CHEAPEST, SHARPNESS = 0.15, 4.0  # price of a block that sends nothing; power of the others' prices


def board_for_cut(
    level: Level, part: Part, low: FloatArray, high: FloatArray, filling: float
) -> Board:
    """Return the board of `part` (n,), which its rounds change; the rest as in Board."""
    k = low.size
    weight = np.bincount(part, weights=level.vwgt, minlength=k)
    nothing = np.empty(0, np.int32)
    return Board(
        level.xadj, level.adjncy, level.adjwgt, level.vwgt, part, weight, low,
        np.maximum(high, np.finfo(np.float64).tiny), filling, False, np.ones(k),
        np.empty(0, np.int64), nothing, nothing, nothing,
    )  # fmt: skip


def lower_cut(board: Board, rounds: int, rng: np.random.Generator) -> None:
    """Minimise the cut in place: overloaded sweeps, drained at the least loss, then strict ones."""
    n = board.part.size
    active = np.ones(n, np.int8)
    for _ in range(rounds):
        if not active.any():
            return
        order, woken = rng.permutation(n), np.zeros(n, np.int8)
        moves.sweep(board, order, OVERLOAD * board.high, active, woken)
        drain(board, np.zeros(n), np.zeros(n), np.inf, woken)
        active, woken = woken, np.zeros(n, np.int8)
        moves.sweep(board, order, board.high, active, woken)
        moves.swap(board, rng.permutation(n))
        active = woken


def leap_lower(board: Board, leaps: int, rng: np.random.Generator) -> None:
    """Minimise the cut in place by groups that move at once, then by rounds of moves."""
    leap(board, leaps, PATIENCE, BOLDNESS, OVERLOAD * board.high)
    lower_cut(board, AFTER_LEAPS, rng)


def with_nets(board: Board) -> Board:
    """Return the board for volumes, all blocks at the price 1."""
    k = board.weight.size
    first = np.empty(board.part.size + 1, np.int64)
    kernels.net_rooms(board.xadj, k, first)
    blocks, counts = np.empty(first[-1], np.int32), np.empty(first[-1], np.int32)
    board = board._replace(
        volumes=True, first=first, blocks=blocks, counts=counts,
        length=np.empty(board.part.size, np.int32),
    )  # fmt: skip
    kernels.count_nets(board)
    return board


def lower_total_volume(board: Board, rounds: int, rng: np.random.Generator) -> None:
    """Minimise the total volume in place. Sweeps are strict: with overload, volumes oscillate."""
    n = board.part.size
    active = np.ones(n, np.int8)
    for _ in range(rounds):
        if not active.any():
            return
        woken = np.zeros(n, np.int8)
        won = moves.sweep(board, rng.permutation(n), board.high, active, woken)
        won += moves.swap(board, rng.permutation(n))
        if won < WORTH_IT * _sent(board).sum():
            return
        active = woken


def lower_max_volume(board: Board, rounds: int, idle: int, rng: np.random.Generator) -> None:
    """Minimise the largest volume in place, by prices on the blocks that send most.

    idle: rounds after which it is to have fallen, or the last has come.
    """
    n = board.part.size
    volumes = _sent(board)
    best, least, found = board.part.copy(), volumes.max(), 0
    everyone, woken = np.ones(n, np.int8), np.zeros(n, np.int8)
    for turn in range(rounds):
        price = CHEAPEST + (volumes / max(volumes.max(), 1)) ** SHARPNESS
        board.price[:] = price if turn == 0 else (board.price + price) / 2
        moves.sweep(board, rng.permutation(n), board.high, everyone, woken)
        moves.swap(board, rng.permutation(n))
        volumes = _sent(board)
        if volumes.max() < least:
            best, least, found = board.part.copy(), volumes.max(), turn
        elif turn - found >= idle:
            break
    board.weight[:] = np.bincount(best, weights=board.vwgt, minlength=board.weight.size)
    board.part[:] = best


def _sent(board: Board) -> IntArray:
    """(k,) what every block sends."""
    volumes = np.zeros(board.weight.size, np.int64)
    kernels.sent(board, volumes)
    return volumes
