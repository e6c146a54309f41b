"""Evener's partitioner for vertices with several weights, each with its own targets.

    order -> blocks by the mean share of all weights -> balance, refine
    order -> coarsen -> bisection by all weights -> balance, refine level by level

The first way is tried first: if all weights are distributed similarly over the graph, blocks by the
mean share of the weights are nearly right for each weight. If they are not, as in computations of
several phases, the second way is used: the coarsest level is bisected by all weights at once
[KK98]_, and on every level the blocks are balanced in all weights and refined within the limits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evener.arrays import FloatArray, IntArray, Part
from evener.graphs.graph import Graph
from evener.partitioning.initial import bisection_kernels
from evener.partitioning.initial.bisection import cut_of, slack_of_one
from evener.partitioning.initial.kmeans import BALANCE, along_curve, unit_box
from evener.partitioning.levels.heap_kernels import IndexedHeap
from evener.partitioning.levels.levels import (
    LARGEST_CLUSTER,
    GraphLevel,
    Hierarchy,
    finest,
    projected,
    scattered,
    shrink_all,
    subgraph,
)
from evener.partitioning.multiconstraint.balance import (
    COARSE,
    THOROUGH,
    BalanceEffort,
    balance,
    refine_loaded,
)
from evener.partitioning.multiconstraint.loads import (
    LoadBounds,
    Loaded,
    bounds_between,
    loads_of,
    mean_shares,
    target_shares,
    with_loads,
)
from evener.partitioning.multilevel.level_state import MultilevelTask
from evener.partitioning.multilevel.multilevel import (
    MOST_PLACED,
    edge_weights,
    place_by_levels,
    v_cycle,
    vertex_order,
)
from evener.partitioning.multilevel.presets import PRESETS, Preset
from evener.partitioning.refinement.fm import FMEffort, boundary_flags, boundary_flags_below
from evener.plans.partition import Contract

WITHOUT_BREAKOUTS = BalanceEffort(breakouts=0)
TRIES = 4  # number of bisections of the smallest graph; the best one is used
EFFORT = FMEffort(rounds=4, patience=8, least_gain=0.0, boldness=1.1)
SMALLEST = 150  # vertices of the graph on which bisections are tried
HEAVIEST = 1 / 60  # heaviest vertex of this graph, as a fraction of all weight
OFF_COSTS = 10.0  # the cut of a bisection is multiplied by 1 + OFF_COSTS x (sum of violations)


def several_bisection(loaded: Loaded, targets: FloatArray, epsilon: float, seed: int) -> Part:
    """Return blocks (n,) with weights near `targets` (k, c) [units of the loads].

    Blocks, sorted by target, are divided into two groups of about equal targets, the graph is
    divided accordingly, and so on down to single blocks. One side of each division is grown from a
    vertex; both sides are then balanced in all weights and refined. epsilon: relative deviation
    from the targets that blocks may have.
    """
    shares = targets / np.maximum(targets.sum(axis=0), 1e-300)
    slack = slack_of_one(epsilon, len(targets))

    part = np.zeros(loaded.n, np.int32)
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
        for s, below in ((0, blocks[:half]), (1, blocks[half:])):
            inside = np.flatnonzero(side == s).astype(np.int32)
            sub = Loaded(subgraph(piece.level, side, inside), piece.loads[inside])
            waiting.append((sub, members[inside], below, 2 * number + s + 1))
    return part


def _bisect(loaded: Loaded, share: FloatArray, slack: float, seed: int) -> Part:
    """Return side 0 or 1 of each vertex (n,); side 0 gets the share (c,) of each weight.

    The graph is coarsened, and the best of several bisections of the smallest graph is refined
    level by level.
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
    """Return limits for two sides: their targets -+ slack, or -+ half the heaviest vertex."""
    total = loaded.loads.sum(axis=0)
    targets = np.stack([share * total, (1 - share) * total])
    room = np.maximum(slack * targets, 0.5 * loaded.loads.max(axis=0))
    return bounds_between(targets, targets - room, targets + room, loaded.loads, share.size)


def _improve(loaded: Loaded, side: Part, bounds: LoadBounds, seed: int) -> None:
    """Balance and refine two sides in place."""
    weight = balance(loaded, side, bounds, WITHOUT_BREAKOUTS)
    flag = boundary_flags(loaded.level, side, 1)
    refine_loaded(loaded, side, weight, bounds, flag, 0.0, EFFORT, seed)


def _grown(level: GraphLevel, share: float, rng: np.random.Generator, turn: int) -> Part:
    """Return sides (n,): side 0 is grown from one vertex up to this share of all weight."""
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


# On coarser levels limits are wider by ROOM mean clusters for the smallest block, but at most by
# MAX_ROOM of a target.
ROOM = 4.0
MAX_ROOM = 0.15
PER_BLOCK, FEWEST = 45, 1500  # least vertices of the graph that is bisected: per block, and in all
BISECTION = 0.05  # relative deviation from the targets that bisection may leave
ALIKE = 0.15  # blocks by mean share are used if each weight is off its share by at most this


def several_blocks(
    graph: Graph,
    contract: Contract,
    *,
    preset: str = "default",
    seed: int = 7,
    threads: int = 1,
) -> Part:
    """Return the block (n,) of every vertex; most blocks satisfy `contract`, the others nearly.

    The graph and the contract must have the same number of weights per vertex. The cut counts edge
    weights. preset: "fast", "default" or "strong". The result depends on the seed, not on the
    number of threads.
    """
    chosen = PRESETS[preset]
    loads, bounds = loads_of(graph, contract)
    asked = loads[:, : contract.n_constraints]
    order = vertex_order(graph, threads)
    level = finest(graph, order, mean_shares(asked), edge_weights(graph), threads)
    loaded = Loaded(level, np.ascontiguousarray(loads[order]))
    part = _by_mean_share(graph, order, loaded, bounds, chosen, seed, threads)
    if part is None:
        part = cycle_loaded(loaded, None, bounds, chosen, seed, threads)
    else:
        _settle(loaded, part, bounds, chosen, seed, threads)
    for cycle in range(1, chosen.cycles):
        again = cycle_loaded(loaded, part.copy(), bounds, chosen, seed + cycle, threads)
        part = min(part, again, key=lambda blocks: _cost(loaded, bounds, blocks))
    return scattered(part, order, threads)


def _cost(loaded: Loaded, bounds: LoadBounds, part: Part) -> tuple[float, float]:
    """Return the sum of violations, and the cut; partitions are compared by these in this order."""
    return float(bounds.off(loaded.weight(part, bounds.k)).sum()), cut_of(loaded.level, part)


def _settle(
    loaded: Loaded, part: Part, bounds: LoadBounds, preset: Preset, seed: int, threads: int
) -> None:
    """Balance the blocks in all weights and refine them, in place, on the whole graph only."""
    weight = balance(loaded, part, bounds)
    flag = boundary_flags(loaded.level, part, threads)
    effort = replace(preset.fm_with_cuts, rounds=preset.fm_with_cuts.finest_rounds)
    refine_loaded(loaded, part, weight, bounds, flag, preset.slack, effort, seed)


def cycle_loaded(
    loaded: Loaded, part: Part | None, bounds: LoadBounds, preset: Preset, seed: int, threads: int
) -> Part:
    """Return blocks (n,) after one cycle of coarsening and refinement.

    The graph is coarsened inside the blocks of `part`; or freely if `part` is None, and then
    bisected on the coarsest level.
    """
    hierarchy = _hierarchy(loaded, part, bounds, preset, threads)
    above, current = with_loads(loaded, hierarchy)
    blocks = hierarchy.part
    if part is None:
        asked = Loaded(current.level, np.ascontiguousarray(current.loads[:, : bounds.asked]))
        blocks = several_bisection(asked, bounds.targets[:, : bounds.asked], BISECTION, seed)
    for depth in range(len(above), -1, -1):
        if depth < len(above):
            finer, shrunk = above[depth]
            flag = boundary_flags(current.level, blocks, threads)
            fine = projected(shrunk, blocks, threads)
            flag = boundary_flags_below(finer.level, fine, flag, shrunk.coarse_of, threads)
            blocks, current = fine, finer
        else:
            flag = boundary_flags(current.level, blocks, threads)
        wider = bounds.widened(_room(current, bounds) if depth else 0.0)
        weight = balance(current, blocks, wider, COARSE if depth else THOROUGH)
        effort = (
            preset.fm_without_cuts
            if depth
            else replace(preset.fm_without_cuts, rounds=preset.fm_without_cuts.finest_rounds)
        )
        refine_loaded(current, blocks, weight, wider, flag, preset.slack, effort, seed * 50 + depth)
    return blocks


def _room(loaded: Loaded, bounds: LoadBounds) -> float:
    """Return by how much limits are wider on a coarser level, in units of the targets.

    The contract's limits would be narrower than one cluster there, and permit no move.
    """
    smallest = float(target_shares(bounds).min()) * loaded.n
    return min(ROOM / max(smallest, 1e-300), MAX_ROOM)


def _by_mean_share(
    graph: Graph, order: IntArray, loaded: Loaded, bounds: LoadBounds, preset: Preset, seed: int,
    threads: int,
) -> Part | None:  # fmt: skip
    """Return blocks (n,) by the mean share of all weights, or None if weights differ too much."""
    level, shares = loaded.level, target_shares(bounds)
    contract = _mean_contract(loaded, bounds)
    if contract.targets.min() <= 0:
        return None
    ends = np.cumsum(contract.targets)
    stretches = np.searchsorted(ends, np.cumsum(level.vwgt) - 0.5 * level.vwgt)
    if _unlike(loaded, np.minimum(stretches, bounds.k - 1).astype(np.int32), shares) > ALIKE:
        return None
    task = MultilevelTask(contract, preset, seed, threads)
    points = None if graph.coords is None else unit_box(graph.coords, order, threads)
    if points is None or loaded.n <= MOST_PLACED:
        part = place_by_levels(level, task, points)
    else:
        start, _ = along_curve(points, level.vwgt, contract.targets, BALANCE, threads)
        part = v_cycle(level, start, task, preset.rounding, doubted=True)
    return part if _unlike(loaded, part, shares) <= ALIKE else None


def _mean_contract(loaded: Loaded, bounds: LoadBounds) -> Contract:
    """Return the contract for the mean share of all weights; these shares sum to n."""
    total = np.maximum(loaded.loads.sum(axis=0), 1e-300)[: bounds.asked]
    targets, low, high = (
        loaded.n * np.maximum(limits[:, : bounds.asked] / total, 0).mean(axis=1)
        for limits in (bounds.targets, bounds.low, bounds.high)
    )
    return Contract(targets, low, high)


def _unlike(loaded: Loaded, part: Part, shares: FloatArray) -> float:
    """Return the largest relative deviation of any weight of a block from its share."""
    weight = loaded.weight(part, len(shares))[:, : shares.shape[1]]
    own = weight / np.maximum(weight.sum(axis=0), 1e-300)
    return float((np.abs(own - shares) / np.maximum(shares, 1e-300)).max())


def _hierarchy(
    loaded: Loaded, part: Part | None, bounds: LoadBounds, preset: Preset, threads: int
) -> Hierarchy:
    """Coarsen inside the blocks of `part`, or freely, until few vertices per block are left."""
    total, k = float(loaded.level.free_weights.sum()), bounds.k
    smallest = LARGEST_CLUSTER * total * target_shares(bounds).min(axis=1)
    if part is None:
        enough = max(PER_BLOCK * k, FEWEST)
        heaviest = np.array([min(2 * total / enough, smallest.min())])
        part = np.zeros(loaded.n, np.int32)
    else:
        enough = int(1.5 * preset.per_block * k)
        heaviest = np.minimum(total / (preset.per_block * k), smallest)
    return shrink_all(loaded.level, part, heaviest, enough, preset.shrink_by, threads)
