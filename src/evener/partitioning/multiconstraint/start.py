"""Recursive bisection of a small graph whose vertices have several weights."""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray, Part
from evener.partitioning.initial import bisection_kernels
from evener.partitioning.initial.bisection import cut_of, side_of
from evener.partitioning.levels.levels import GraphLevel, projected, shrink_all
from evener.partitioning.multiconstraint import balance as balancing
from evener.partitioning.multiconstraint.fm import refine_loaded
from evener.partitioning.multiconstraint.loads import LoadBounds, Loaded, bounds_between, with_loads
from evener.partitioning.refinement.fm import FMEffort, boundary_flags
from evener.partitioning.refinement.indexed_heap_kernels import IndexedHeap

WITHOUT_BREAKOUTS = balancing.BalanceEffort(breakouts=0)
TRIES = 4  # bisections of the smallest graph, of which the best is taken
EFFORT = FMEffort(rounds=4, patience=8, least_gain=0.0, boldness=1.1)
SMALLEST = 150  # vertices of the graph on which bisections are tried
HEAVIEST = 1 / 60  # of all weight: the heaviest vertex of that graph
OFF_COSTS = 10.0  # a bisection off its limits by 1 / OFF_COSTS of its targets counts double its cut


def several_bisection(loaded: Loaded, targets: FloatArray, epsilon: float, seed: int) -> Part:
    """Return blocks (n,) of weights near `targets` (k, c) [units of the loads].

    Blocks in order of their targets are divided into two groups of about the same targets, the
    graph likewise, and so on down to single blocks. Each half is grown from a vertex at the rim,
    balanced in all its weights and refined. epsilon: how far blocks may be off their targets.
    """
    k = len(targets)
    part = np.zeros(loaded.n, np.int32)
    shares = targets / np.maximum(targets.sum(axis=0), 1e-300)
    slack = (1 + epsilon) ** (1 / max(1.0, np.ceil(np.log2(max(k, 2))))) - 1
    order = np.argsort(-shares.mean(axis=1), kind="stable")
    waiting = [(loaded, np.arange(loaded.n), order, seed)]
    while waiting:
        piece, members, blocks, number = waiting.pop()
        if blocks.size == 1 or piece.n == 0:
            part[members] = blocks[0]
            continue
        total = np.cumsum(shares[blocks].mean(axis=1))
        half = int(np.abs(total[:-1] - total[-1] / 2).argmin()) + 1
        own = shares[blocks].sum(axis=0)
        share = shares[blocks[:half]].sum(axis=0) / np.maximum(own, 1e-300)
        side = _bisect(piece, np.where(own > 0, share, 0.5), slack, number)
        for s, ones in ((0, blocks[:half]), (1, blocks[half:])):
            inside = np.flatnonzero(side == s)
            waiting.append((_side(piece, side, s), members[inside], ones, 2 * number + s + 1))
    return part


def _bisect(loaded: Loaded, share: FloatArray, slack: float, seed: int) -> Part:
    """Return side 0 or 1 of each vertex (n,); side 0 has share (c,) of every weight.

    The graph is shrunk, and the best of several tries on the smallest is refined on the way back.
    """
    heaviest = np.array([HEAVIEST * float(loaded.level.vwgt.sum())])
    one_block = np.zeros(loaded.n, np.int32)
    hierarchy = shrink_all(loaded.level, one_block, heaviest, SMALLEST, np.inf, 1)
    above, coarsest = with_loads(loaded, hierarchy)
    side = _best_try(coarsest, share, slack, seed)
    for depth, (finer, shrunk) in enumerate(reversed(above)):
        side = projected(shrunk, side, 1)
        _improve(finer, side, _room_for(finer, share, slack), seed + depth)
    return side


def _best_try(loaded: Loaded, share: FloatArray, slack: float, seed: int) -> Part:
    bounds = _room_for(loaded, share, slack)
    rng = np.random.default_rng(seed)
    best, least = np.zeros(loaded.n, np.int32), np.inf
    for turn in range(TRIES):
        side = _grown(loaded.level, float(share.mean()), rng, turn)
        _improve(loaded, side, bounds, seed)
        off = float(bounds.off(loaded.weight(side, 2)).sum())
        cost = (cut_of(loaded.level, side) + 1) * (1 + OFF_COSTS * off)
        if cost < least:
            best, least = side, cost
    return best


def _room_for(loaded: Loaded, share: FloatArray, slack: float) -> LoadBounds:
    """Return limits for two sides, off their targets by the slack or half the heaviest vertex."""
    total = loaded.loads.sum(axis=0)
    targets = np.stack([share * total, (1 - share) * total])
    room = np.maximum(slack * targets, 0.5 * loaded.loads.max(axis=0))
    return bounds_between(targets, targets - room, targets + room, loaded.loads, share.size)


def _improve(loaded: Loaded, side: Part, bounds: LoadBounds, seed: int) -> None:
    """Balance and refine two sides in place."""
    weight = balancing.balance(loaded, side, bounds, WITHOUT_BREAKOUTS)
    flag = boundary_flags(loaded.level, side, 1)
    refine_loaded(loaded, side, weight, bounds, flag, 0.0, EFFORT, seed)


def _grown(level: GraphLevel, share: float, rng: np.random.Generator, turn: int) -> Part:
    """Return sides (n,): side 0 is grown breadth first up to this share of all weight."""
    n, total = level.n, float(level.vwgt.sum())
    start = int(rng.integers(n))
    queue, distance = np.empty(n, np.int32), np.empty(n, np.int32)
    for _ in range(1 + turn % 2):
        start = int(bisection_kernels.hops(level.xadj, level.adjncy, start, queue, distance))
    side, place = np.ones(n, np.int32), np.full(n, -1, np.int32)
    items, keys = np.empty(n + 1, np.int32), np.empty(n + 1, np.int64)
    goal = share * total
    most = goal + 0.5 * float(level.vwgt.max())
    bisection_kernels.grow(level.arrays, start, goal, most, side, IndexedHeap(items, keys, place))
    return side


def _side(loaded: Loaded, side: Part, s: int) -> Loaded:
    """Return one side as a graph of its own."""
    level, members = side_of(loaded.level, side, s)
    return Loaded(level, loaded.loads[members])
