"""Multilevel label propagation: coarsen, divide the coarsest graph in several ways, refine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray, IntArray, Part, flags_of
from evener.partitioning.initial.bisection import cut_of, recursive_bisection
from evener.partitioning.initial.bisection_kernels import breadth_first_order
from evener.partitioning.label_propagation import move_kernels as moves
from evener.partitioning.label_propagation import propagation_kernels as kernels
from evener.partitioning.label_propagation.draining_kernels import drain
from evener.partitioning.label_propagation.move_kernels import leap
from evener.partitioning.label_propagation.propagation_kernels import PropagationState
from evener.partitioning.levels.levels import (
    GraphLevel,
    Hierarchy,
    Shrunk,
    contracted,
    overlay,
    projected,
    shrink_in_steps,
)
from evener.plans.partition import Contract

# Label propagation for the cut, the total volume and the largest volume. Set by hand;
# benchmarks/constants.py compares other values of those for the cut.
SWEEP_OVERLOAD = 1.2  # during a sweep or leap a block may weigh this x its upper limit
BOLDNESS = 0.25  # a move of a leap may lose this fraction of the edge weight to its own block
LOOKED_AT = 16.0  # at first, vertices of this x the weight that must leave a block are examined
MOST_SLACK = 32  # largest slack of a vertex that may still be exchanged with another: see `wake`
STRIDES = 1024  # of orders, see in_strides
PATIENCE = 3  # leaps end after this many without a smaller cut
AFTER_LEAPS = 2  # rounds of moves that follow leaps
WORTH_IT = 0.002  # a round that reduces the total volume by less than this fraction is the last
# Price of a value that a block sends, for the largest volume: LEAST_PRICE + r^PRICE_POWER, where r
# is the block's volume / the largest volume.
LEAST_PRICE, PRICE_POWER = 0.15, 4.0


def state_for_cut(
    level: GraphLevel, part: Part, low: FloatArray, high: FloatArray, filling: float
) -> PropagationState:
    """Return the state for minimising the cut of `part` (n,), which is changed in place.

    filling: weight of vertices that will be added to blocks later.
    """
    k = low.size
    weight = np.bincount(part, weights=level.vwgt, minlength=k)
    nothing = np.empty(0, np.int32)
    return PropagationState(
        level.xadj, level.adjncy, level.adjwgt, level.vwgt, part, weight, low,
        np.maximum(high, np.finfo(np.float64).tiny), filling, False, np.ones(k),
        np.empty(0, np.int64), nothing, nothing, nothing,
        flags_of(level.fixed, level.n if level.fixed.size else 0),
    )  # fmt: skip


def lower_cut(state: PropagationState, rounds: int, rng: np.random.Generator) -> None:
    """Minimise the cut in place.

    In each round, a sweep may overload blocks; then vertices leave overloaded blocks at the least
    loss; then a sweep respects the limits, and vertices are swapped.
    """
    n = state.part.size
    slack, loss, nothing = np.zeros(n, np.int32), np.zeros(n), np.zeros(n)
    for _ in range(rounds):
        if slack.min() > 0:
            return
        order = in_strides(n, rng)
        moves.sweep(state, order, overloaded(state), slack, loss)
        drain(state, loss, nothing, LOOKED_AT, slack)
        moves.sweep(state, order, state.high, slack, loss)
        moves.swap(state, in_strides(n, rng), slack, MOST_SLACK)


def in_strides(n: int, rng: np.random.Generator) -> IntArray:
    """Return the vertices (n,) in a partly random order with regular memory access.

    Each stride visits every STRIDES-th vertex; only the order of the strides is random.
    """
    order = rng.permutation(min(n, STRIDES))[:, None] + np.arange(0, n, STRIDES)
    return np.asarray(order[order < n])


def overloaded(state: PropagationState) -> FloatArray:
    """Return the largest weights (k,) that blocks may have during a sweep or leap.

    They exceed the upper limits by a fraction of the room that fixed vertices leave.
    """
    if state.fixed.size == 0:
        return np.asarray(SWEEP_OVERLOAD * state.high)
    held = np.bincount(state.part, np.where(state.fixed, state.vwgt, 0.0), state.high.size)
    return np.asarray(state.high + (SWEEP_OVERLOAD - 1) * np.maximum(state.high - held, 0.0))


def leap_lower(state: PropagationState, leaps: int, rng: np.random.Generator) -> None:
    """Minimise the cut in place by leaps (moves of groups of vertices), then by rounds of moves."""
    leap(state, leaps, PATIENCE, BOLDNESS, overloaded(state))
    lower_cut(state, AFTER_LEAPS, rng)


def with_nets(state: PropagationState) -> PropagationState:
    """Return the state for minimising volumes, with the price 1 for all blocks."""
    k = state.weight.size
    first = np.empty(state.part.size + 1, np.int64)
    kernels.net_rooms(state.xadj, k, first)
    blocks, counts = np.empty(first[-1], np.int32), np.empty(first[-1], np.int32)
    state = state._replace(
        volumes=True, first=first, blocks=blocks, counts=counts,
        length=np.empty(state.part.size, np.int32),
    )  # fmt: skip
    kernels.count_nets(state)
    return state


def lower_total_volume(state: PropagationState, rounds: int, rng: np.random.Generator) -> None:
    """Minimise the total volume in place. Sweeps respect limits, lest volumes oscillate."""
    n = state.part.size
    slack, none, loss = np.zeros(n, np.int32), np.zeros(n, np.int32), np.empty(n)
    for _ in range(rounds):
        if slack.min() > 0:
            return
        won = moves.sweep(state, rng.permutation(n), state.high, slack, loss)
        won += moves.swap(state, rng.permutation(n), none, 0)
        if won < WORTH_IT * _sent(state).sum():
            return


def lower_max_volume(
    state: PropagationState, rounds: int, idle: int, rng: np.random.Generator
) -> None:
    """Minimise the largest volume in place, by higher prices for the blocks that send most.

    idle: rounds end after this many without a smaller largest volume.
    """
    n = state.part.size
    volumes = _sent(state)
    best, least, found = state.part.copy(), volumes.max(), 0
    slack, loss = np.empty(n, np.int32), np.empty(n)
    for turn in range(rounds):
        price = LEAST_PRICE + (volumes / max(volumes.max(), 1)) ** PRICE_POWER
        state.price[:] = price if turn == 0 else (state.price + price) / 2
        slack[:] = 0
        moves.sweep(state, rng.permutation(n), state.high, slack, loss)
        moves.swap(state, rng.permutation(n), slack, MOST_SLACK)
        volumes = _sent(state)
        if volumes.max() < least:
            best, least, found = state.part.copy(), volumes.max(), turn
        elif turn - found >= idle:
            break
    state.weight[:] = np.bincount(best, weights=state.vwgt, minlength=state.weight.size)
    state.part[:] = best


def _sent(state: PropagationState) -> IntArray:
    """Return the communication volume (k,) that each block sends."""
    volumes = np.zeros(state.weight.size, np.int64)
    kernels.sent(state, volumes)
    return volumes


# Coarsening; set by hand too.
COARSEST, PER_BLOCK = 1000, 15  # vertices of the coarsest graph: at least in all, and per block
LARGEST_CLUSTER = 1 / 2  # largest cluster, as a fraction of the smallest block's target
GROWTH = 6.0  # heaviest cluster of a level, in mean vertices
CHOICES = 2  # rounds in which vertices choose a cluster
MANY_EDGES = 30  # vertices with at least this many edges choose last, in random order
OVERWEIGHT = 10.0  # the cut is multiplied by 1 + OVERWEIGHT x (share of weight above the limits)
SLACK = 0.005  # a block of a bisection may be off its target by this fraction
LARGEST_SEED = 2**30  # of bisections
# How bisections deal blocks to sides (see recursive_bisection), in turn: "alternate" cuts less of
# social networks, "count" less of matrices that resemble meshes.
DEALS_TRIED = "count", "alternate"


@dataclass(frozen=True)
class Work:
    """The effort for graphs with clusters.

    leaps: rounds of leaps on each level. cycles: number of partitions that are made and combined,
    or how often given blocks are refined. splits, fills: numbers of partitions of the coarsest
    graph by bisection, and by filling blocks; the best of them all is used.
    """

    leaps: int
    cycles: int
    splits: int
    fills: int


def blocks_by_clusters(
    level: GraphLevel, contract: Contract, alone: float, work: Work, rng: np.random.Generator
) -> Part:
    """Return blocks (n,) by multilevel label propagation: several partitions, combined in turn.

    alone: the weight of vertices that will be added to blocks later.
    """

    def cost(part: Part) -> float:
        return cost_of(level, part, contract)

    best = cycle(level, None, contract, alone, work, rng)
    for _ in range(1, work.cycles):
        other = cycle(level, None, contract, alone, work, rng)
        better, worse = sorted((best, other), key=cost)
        sets = overlay(better, worse, contract.k)
        combined = cycle(level, better, contract, alone, work, rng, sets)
        best = min(better, combined, key=cost)
    return best


def cycle(
    level: GraphLevel, part: Part | None, contract: Contract, alone: float, work: Work,
    rng: np.random.Generator, sets: Part | None = None,
) -> Part:  # fmt: skip
    """Return blocks (n,) after one cycle: coarsen, then reduce the cut on every level.

    The graph is coarsened inside the blocks of `part`, or inside `sets` (n,), each of them inside a
    block; if `part` is None, it is coarsened freely and divided on the coarsest level.
    """
    if sets is None:
        sets = np.zeros(level.n, np.int32) if part is None else part
    hierarchy = _shrink_all(level, sets, contract, rng)
    coarsest = hierarchy.coarsest
    if part is None:
        blocks = _best_of_starts(coarsest, contract, alone, work, rng)
    else:
        block_of_set = np.empty(sets.max() + 1, np.int32)
        block_of_set[sets] = part
        blocks = block_of_set[hierarchy.part]
        _lower(coarsest, blocks, contract, alone, work.leaps, rng)
    for finer, shrunk in reversed(hierarchy.above):
        blocks = projected(shrunk, blocks, 1)
        _lower(finer, blocks, contract, alone, work.leaps, rng)
    return blocks


def _shrink_all(
    level: GraphLevel, blocks: Part, contract: Contract, rng: np.random.Generator
) -> Hierarchy:
    """Coarsen until few vertices are left, or no more can be joined."""
    total, enough = float(level.free_weights.sum()), max(COARSEST, PER_BLOCK * contract.k)
    heaviest = LARGEST_CLUSTER * float(contract.targets.min())

    def step(finer: GraphLevel, part: Part) -> Shrunk:
        return shrink_to_clusters(finer, part, min(heaviest, GROWTH * total / finer.n_free), rng)

    return shrink_in_steps(level, blocks, enough, step)


def shrink_to_clusters(
    level: GraphLevel, part: Part, cap: float, rng: np.random.Generator
) -> Shrunk:
    """Contract clusters of vertices of the same block, with weight up to `cap`.

    Each vertex chooses a cluster. Vertices with few edges choose first, because hubs would
    otherwise fill the clusters. Fixed vertices are never in a cluster with other vertices.
    """
    order = rng.permutation(level.n)
    degrees = np.minimum(np.diff(level.xadj.astype(np.int64)), MANY_EDGES)
    order = order[np.argsort(degrees[order], kind="stable")]
    leader = np.empty(level.n, np.int32)
    side = part
    if level.fixed.size:
        side = part.copy()
        side[level.fixed] += part.max() + 1
    kernels.gather_clusters(*level.arrays, side, cap, order, CHOICES, leader, np.empty(level.n))
    return contracted(level, part, leader, 1)


def _best_of_starts(
    level: GraphLevel, contract: Contract, alone: float, work: Work, rng: np.random.Generator
) -> Part:
    """Return the best of several partitions by bisection and by filling, each with reduced cut.

    Filling is better if hubs connect everything, bisection if the graph has regions.
    """
    best, least = np.zeros(level.n, np.int32), np.inf
    for turn in range(work.splits + work.fills):
        if turn < work.splits:
            seed, deal = int(rng.integers(LARGEST_SEED)), DEALS_TRIED[turn % len(DEALS_TRIED)]
            part = recursive_bisection(level, contract.targets, SLACK, seed, deal)
        else:
            part = _filled(level, contract.targets, turn - work.splits, rng)
        _lower(level, part, contract, alone, work.leaps, rng)
        cost = cost_of(level, part, contract)
        if cost < least:
            best, least = part, cost
    return best


def cost_of(level: GraphLevel, part: Part, contract: Contract) -> float:
    """Return the cut of the blocks, multiplied by a factor above 1 if blocks are too heavy."""
    weight = np.bincount(part, weights=level.vwgt, minlength=contract.k)
    over = float(np.maximum(weight - contract.high, 0.0).sum())
    total = float(level.vwgt.sum())
    return cut_of(level, part) * (1 + OVERWEIGHT * over / max(total, 1e-300))


def _filled(level: GraphLevel, targets: FloatArray, turn: int, rng: np.random.Generator) -> Part:
    """Return blocks filled to their targets; `turn` selects the orders.

    Vertices come in breadth-first or random order, blocks in descending or random order.
    """
    order = rng.permutation(level.n)
    if turn % 2 == 0:
        seen = np.empty(level.n, np.bool_)
        breadth_first_order(level.xadj, level.adjncy, 0, order, seen)
    following = np.argsort(-targets, kind="stable")
    if turn % 4 >= 2:
        following = rng.permutation(targets.size)
    return filled_blocks(level.vwgt, targets, order, following)


def filled_blocks(
    weights: FloatArray, caps: FloatArray, order: IntArray, following: IntArray
) -> Part:
    """Return blocks (n,) filled one after another up to caps (k,), in the order `following` (k,).

    Vertices with these weights (n,) are taken in the order `order` (n,).
    """
    filled, part = np.empty(order.size, np.int32), np.empty(order.size, np.int32)
    kernels.start(weights[order], caps, following, filled, np.zeros(caps.size))
    part[order] = filled
    return part


def _lower(
    level: GraphLevel, part: Part, contract: Contract, alone: float, leaps: int,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """Reduce the cut in place; on coarse levels, lower limits fall by the heaviest vertex."""
    heaviest = level.heaviest
    low: FloatArray = np.maximum(contract.low - (heaviest if heaviest > 1 else 0.0), 0.0)
    leap_lower(state_for_cut(level, part, low, contract.high, alone), leaps, rng)
