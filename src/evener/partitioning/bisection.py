"""Recursive bisection of a small graph: blocks of unequal weight where there are no coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InfeasibleError
from evener.partitioning import bisection_kernels as kernels
from evener.partitioning.fm import EVEN_PRICE, Effort, Limits, boundary_flags, refine_level
from evener.partitioning.levels import Level, Part

ROUNDS = 4


@dataclass(frozen=True)
class Care:
    """How many times a bisection is tried, and how long each is refined."""

    tries: int
    effort: Effort


CAREFUL = Care(6, Effort(patience=8, least_gain=0.0, boldness=1.1))
ROUGH = Care(2, Effort(patience=2, least_gain=0.0, boldness=1.1))


def recursive_bisection(
    level: Level, targets: FloatArray, epsilon: float, seed: int, care: Care = CAREFUL
) -> Part:
    """Return blocks (n,) of weights near `targets` (k,) [units].

    Blocks of like targets stay together: sorted by target, they are halved again and again. Each
    half is grown from a vertex at the edge of the graph and refined; the best of some tries is
    taken. Heavy vertices may keep the targets from being met. Raises InfeasibleError where all
    targets are 0.
    """
    if not targets.sum() > 0:
        raise InfeasibleError("no target is above zero: no block may take a vertex")
    part = np.zeros(level.n, np.int32)
    depth = max(1.0, np.ceil(np.log2(max(targets.size, 2))))
    slack = (1 + epsilon) ** (1 / depth) - 1
    order = np.argsort(-targets, kind="stable")
    waiting = [(level, np.arange(level.n), order, seed)]
    while waiting:
        piece, members, blocks, number = waiting.pop()
        if blocks.size == 1 or piece.n == 0:
            part[members] = blocks[0]
            continue
        total = np.cumsum(targets[blocks])
        half = int(np.abs(total[:-1] - total[-1] / 2).argmin()) + 1
        side = _bisect(piece, float(total[half - 1] / total[-1]), slack, number, care)
        for s, own in ((0, blocks[:half]), (1, blocks[half:])):
            sub, inside = _side(piece, side, s)
            waiting.append((sub, members[inside], own, 2 * number + s + 1))
    return part


def _bisect(level: Level, share: float, slack: float, seed: int, care: Care = CAREFUL) -> Part:
    """Return the better of several tries: side 0 holds `share` of the weight."""
    total = float(level.vwgt.sum())
    targets = total * np.array([share, 1 - share])
    room = np.maximum(slack * targets, 0.5 * float(level.vwgt.max()))
    limits = Limits(targets - room, targets + room, targets - 2 * room, targets + 2 * room)
    rng = np.random.default_rng(seed)
    best, least = np.zeros(level.n, np.int32), np.inf
    for turn in range(care.tries):
        side = _grown(level, targets[0], float(limits.high[0]), rng, turn)
        weight = np.asarray(np.bincount(side, level.vwgt, 2), np.float64)
        price = np.full(2, EVEN_PRICE, np.int64)
        for again in range(ROUNDS):
            flag = boundary_flags(level, side, 1)
            number = seed * ROUNDS + again
            if (
                refine_level(level, side, weight, limits, price, flag, 1, care.effort, number, 1)
                <= 0
            ):
                break
        over = np.maximum(weight - limits.high, 0).sum() + np.maximum(limits.low - weight, 0).sum()
        cost = cut_of(level, side) * (1 + 10 * over / max(total, 1e-300))
        if cost < least:
            best, least = side, cost
    return best


def _grown(level: Level, goal: float, most: float, rng: np.random.Generator, turn: int) -> Part:
    n = level.n
    start = int(rng.integers(n))
    queue, distance = np.empty(n, np.int32), np.empty(n, np.int32)
    for _ in range(1 + turn % 2):
        start = int(kernels.hops(level.xadj, level.adjncy, start, queue, distance))
    side, place = np.ones(n, np.int32), np.full(n, -1, np.int32)
    items, keys = np.empty(n + 1, np.int32), np.empty(n + 1, np.int64)
    kernels.grow(*level.arrays, start, goal, most, side, place, items, keys)
    return side


def cut_of(level: Level, part: Part) -> float:
    """Return the weight of the edges between blocks."""
    between = np.repeat(part, level.xadj[1:] - level.xadj[:-1]) != part[level.adjncy]
    return float(between.sum() if level.adjwgt.size == 0 else level.adjwgt[between].sum()) / 2


def _side(level: Level, side: Part, s: int) -> tuple[Level, npt.NDArray[np.int32]]:
    """Return one side as a graph of its own, and its vertices' numbers in the whole."""
    count = int((side == s).sum())
    xadj, members = np.empty(count + 1, np.uint32), np.empty(count, np.int32)
    adjncy, adjwgt = np.empty_like(level.adjncy), np.empty_like(level.adjwgt)
    used = kernels.take_out(
        level.xadj, level.adjncy, level.adjwgt, side, s, np.empty(level.n, np.uint32), xadj,
        adjncy, adjwgt, members,
    )  # fmt: skip
    return Level(xadj, adjncy[:used], adjwgt[:used], level.vwgt[members]), members
