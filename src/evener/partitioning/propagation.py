"""Blocks of graphs whose degrees are very uneven, by label propagation.

    strip vertices without edges -> fill blocks in the order of degrees -> propagate -> fill up

A few vertices have most of the edges, and clusters of such a graph are no smaller graph of the
same kind: it is divided as it is. Vertices without edges, often a third, go where weight is
missing in the end. Everything is deterministic; one thread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray
from evener.graphs import Graph
from evener.partitioning import propagation_kernels as kernels
from evener.partitioning import propagation_moves_kernels as moves
from evener.partitioning.levels import Level, Part, finest
from evener.partitioning.propagation_kernels import Board
from evener.partitions import Contract

Flags = npt.NDArray[np.int8]

OVERLOAD = 1.2  # times its upper limit, what a block may hold for the time of a sweep
DRAININGS, PATIENT = 12, 8  # times that vertices are drained; the first so many, with patience
HASTE = 0.5  # loss per unit of weight that may be new when a vertex is drained
NEXT_TO_NOTHING = 1e-9
CHEAPEST, SHARPNESS = 0.1, 4.0  # price of a block that sends nothing; power of the others' prices


@dataclass(frozen=True)
class Rounds:
    """Rounds of sweeps: for the cut; before and for the volumes, total and then largest."""

    cut: int
    before: int
    total_volume: int
    max_volume: int


ROUNDS = {
    "fast": Rounds(cut=3, before=2, total_volume=3, max_volume=4),
    "default": Rounds(cut=8, before=4, total_volume=6, max_volume=8),
    "strong": Rounds(cut=16, before=6, total_volume=12, max_volume=20),
}


def propagation_blocks(
    graph: Graph,
    contract: Contract,
    edge_weights: npt.NDArray[np.int32],
    *,
    preset: str = "default",
    objective: str = "cut",
    seed: int = 7,
) -> Part:
    """Return the block (n,) of every vertex; with unit weights, within `contract`.

    edge_weights (2m,) whole, from 1 on, or (0,): all 1. Heavy vertices may be left for `enforce`
    to settle, as are caps in bytes. objective: "cut", which counts edge weights, "total_volume"
    or "max_volume".
    """
    weights = graph.weights()
    order = np.lexsort((-weights, -graph.degrees))
    level = finest(graph, order, weights, edge_weights, 1)
    linked = int(np.count_nonzero(graph.degrees))
    part, weight = np.zeros(graph.n, np.int32), np.zeros(contract.k)
    if linked:
        alone = float(level.vwgt[linked:].sum())
        board = _start(_linked(level, linked), contract, alone, part[:linked], weight)
        _refine(board, ROUNDS[preset], objective, np.random.default_rng(seed))
    kernels.fill(
        level.vwgt[linked:], contract.low, contract.targets, contract.high, part[linked:], weight
    )
    blocks = np.empty(graph.n, np.int32)
    blocks[order] = part
    return blocks


def _refine(board: Board, rounds: Rounds, objective: str, rng: np.random.Generator) -> None:
    """Minimise the objective in place; what is good for it begins with a low cut."""
    if objective == "cut":
        _cut(board, rounds.cut, rng)
        return
    _cut(board, rounds.before, rng)
    board = _with_nets(board)
    _total_volume(board, rounds.total_volume, rng)
    if objective == "max_volume":
        _max_volume(board, rounds.max_volume, rng)


def _linked(level: Level, linked: int) -> Level:
    """Return the level of its first vertices, all those that have edges."""
    return replace(level, xadj=level.xadj[: linked + 1], vwgt=level.vwgt[:linked])


def _start(level: Level, contract: Contract, alone: float, part: Part, weight: FloatArray) -> Board:
    """Fill blocks, largest first, so that vertices without edges, weighing `alone`, can do the
    rest; most of the edges are then between the first blocks.
    """
    low, high = contract.low, contract.high
    held = float(level.vwgt.sum())
    needed = float(low.sum()) - alone
    # Blocks at `caps` hold all; those still empty then need no more than what stands alone.
    caps = high if needed <= NEXT_TO_NOTHING * held else np.minimum(high, low * (held / needed))
    following = np.argsort(-contract.targets, kind="stable")
    kernels.start(level.vwgt, caps, following, part, weight)
    nothing = np.empty(0, np.int32)
    return Board(
        level.xadj, level.adjncy, level.adjwgt, level.vwgt, part, weight, low,
        np.maximum(high, 1e-300), alone, False, np.ones(contract.k), np.empty(0, np.int64),
        nothing, nothing, nothing,
    )  # fmt: skip


def _cut(board: Board, rounds: int, rng: np.random.Generator) -> None:
    """Minimise the cut in place: overloaded sweeps, drained at the least loss, then strict ones."""
    n = board.part.size
    active = np.ones(n, np.int8)
    for _ in range(rounds):
        if not active.any():
            return
        order, woken = rng.permutation(n), np.zeros(n, np.int8)
        moves.sweep(board, order, OVERLOAD * board.high, active, woken)
        _drain(board, woken)
        active, woken = woken, np.zeros(n, np.int8)
        moves.sweep(board, order, board.high, active, woken)
        moves.swap(board, rng.permutation(n))
        active = woken


def _with_nets(board: Board) -> Board:
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


def _total_volume(board: Board, rounds: int, rng: np.random.Generator) -> None:
    """Minimise the total volume in place. Sweeps are strict: with overload, volumes oscillate."""
    n = board.part.size
    active = np.ones(n, np.int8)
    for _ in range(rounds):
        if not active.any():
            return
        woken = np.zeros(n, np.int8)
        moves.sweep(board, rng.permutation(n), board.high, active, woken)
        moves.swap(board, rng.permutation(n))
        active = woken


def _max_volume(board: Board, rounds: int, rng: np.random.Generator) -> None:
    """Minimise the largest volume in place, by prices on the blocks that send most."""
    n = board.part.size
    volumes = _sent(board)
    best, least = board.part.copy(), volumes.max()
    everyone, woken = np.ones(n, np.int8), np.zeros(n, np.int8)
    for turn in range(rounds):
        price = CHEAPEST + (volumes / max(volumes.max(), 1)) ** SHARPNESS
        board.price[:] = price if turn == 0 else (board.price + price) / 2
        moves.sweep(board, rng.permutation(n), board.high, everyone, woken)
        moves.swap(board, rng.permutation(n))
        volumes = _sent(board)
        if volumes.max() < least:
            best, least = board.part.copy(), volumes.max()
    board.weight[:] = np.bincount(best, weights=board.vwgt, minlength=board.weight.size)
    board.part[:] = best


def _sent(board: Board) -> IntArray:
    """(k,) what every block sends."""
    volumes = np.zeros(board.weight.size, np.int64)
    kernels.sent(board, volumes)
    return volumes


def _drain(board: Board, woken: Flags) -> None:
    """Bring blocks back within their limits, as far as vertices without edges do not."""
    loss = np.empty(board.part.size)
    for turn in range(DRAININGS):
        pull = moves.shortage(board) > board.filling
        if not pull and (board.weight <= board.high).all():
            return
        moves.losses(board, pull, loss)
        order = np.argsort(loss, kind="stable")
        order = order[: np.searchsorted(loss[order], np.inf)]
        tolerance = HASTE if turn < PATIENT else np.inf
        if not moves.drain(board, order, loss, tolerance, woken) and turn >= PATIENT:
            return
