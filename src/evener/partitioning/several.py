"""Our partitioner for vertices of several weights, each divided by targets of its own.

    order -> k-means on the mean share of all weights -> shrink inside blocks -> balance, refine
    order -> shrink -> bisection by all weights -> balance, refine level by level

K-means knows one weight: it starts the blocks where the others are spread much as that one is.
Where they are not, as in computations of several phases, the smallest graph is bisected by all
weights at once [KK98]_. Level by level, blocks are then brought within all limits, and refined
within them.
"""

from __future__ import annotations

import numpy as np

from evener.arrays import IntArray
from evener.graphs import Graph
from evener.partitioning.fm import EVEN_PRICE, boundary_flags, boundary_flags_below
from evener.partitioning.hierarchies import LARGEST_CLUSTER, LEAST_SHRINKAGE
from evener.partitioning.kmeans import along_curve, unit_box
from evener.partitioning.levels import Part, Shrunk, finest, projected, scattered
from evener.partitioning.multilevel import PER_BLOCK_PLACED, edge_weights, vertex_order
from evener.partitioning.presets import PRESETS, Preset
from evener.partitioning.several_balance import PLAIN, THOROUGH, balance
from evener.partitioning.several_loads import (
    Bounds,
    Loaded,
    loads_of,
    mean_shares,
    target_shares,
)
from evener.partitioning.several_refine import refine_loaded
from evener.partitioning.several_start import several_bisection
from evener.partitioning.starts import BALANCE
from evener.partitions import Contract

ROOM, MOST_ROOM = 0.02, 0.1  # limits of coarser graphs are wider, by this a level, of a target
BISECTION = 0.05  # what bisected blocks may be off their targets
WORTH_KEEPING = 0.15  # of its target: k-means blocks that are further off are not started from


def several_blocks(
    graph: Graph,
    contract: Contract,
    *,
    preset: str = "default",
    seed: int = 7,
    threads: int = 1,
) -> Part:
    """Return the block (n,) of every vertex; blocks are near `contract`, mostly within it.

    graph.vwgt (n, c) and as many weights in the contract. The cut counts edge weights. preset:
    "fast", "default" or "strong". The seed alone decides the result, not the threads.
    """
    chosen = PRESETS[preset]
    loads, bounds = loads_of(graph, contract)
    asked = loads[:, : contract.n_constraints]
    order = vertex_order(graph, threads)
    level = finest(graph, order, mean_shares(asked), edge_weights(graph), threads)
    loaded = Loaded(level, np.ascontiguousarray(loads[order]))
    start = _placed(graph, order, loaded, bounds, threads)
    part = cycle_loaded(loaded, start, bounds, chosen, seed, threads)
    for cycle in range(1, chosen.cycles):
        part = cycle_loaded(loaded, part, bounds, chosen, seed + cycle, threads)
    return scattered(part, order, threads)


def cycle_loaded(
    loaded: Loaded, part: Part | None, bounds: Bounds, preset: Preset, seed: int, threads: int
) -> Part:
    """Shrink the graph inside the blocks of `part`, or freely without; refine on the way back."""
    above, current, blocks = _shrink_all(loaded, part, bounds, preset, threads)
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
        wider = bounds.widened(min(ROOM * depth, MOST_ROOM))
        weight = balance(current, blocks, wider, PLAIN if depth else THOROUGH)
        rounds = preset.effort.rounds if depth else preset.effort.finest_rounds
        price = np.full(bounds.k, EVEN_PRICE, np.int64)
        refine_loaded(
            current, blocks, weight, wider, preset.slack, price, flag, rounds, preset.effort,
            seed * 50 + depth,
        )  # fmt: skip
    return blocks


def _placed(
    graph: Graph, order: IntArray, loaded: Loaded, bounds: Bounds, threads: int
) -> Part | None:
    """Return the blocks of k-means, or None without coordinates or where weights are unlike."""
    if graph.coords is None:
        return None
    asked = bounds.asked
    targets = loaded.n * target_shares(bounds).mean(axis=1)
    if targets.min() <= 0:
        return None
    points = unit_box(graph.coords.take(order, axis=0))
    part, _ = along_curve(points, loaded.level.vwgt, targets, BALANCE, threads)
    weight = loaded.weight(part, bounds.k)[:, :asked]
    off = np.abs(weight - bounds.targets[:, :asked]) * bounds.scale[:, :asked]
    return part if float(off.max()) <= WORTH_KEEPING else None


def _shrink_all(
    loaded: Loaded, part: Part | None, bounds: Bounds, preset: Preset, threads: int
) -> tuple[list[tuple[Loaded, Shrunk]], Loaded, Part]:
    """Shrink until few vertices are left for each block, or nothing shrinks any more."""
    total, k = float(loaded.level.vwgt.sum()), bounds.k
    smallest = LARGEST_CLUSTER * total * target_shares(bounds).min(axis=1)
    if part is None:
        enough = PER_BLOCK_PLACED * k
        heaviest = np.array([min(2 * total / enough, smallest.min())])
        part = np.zeros(loaded.n, np.int32)
    else:
        enough = int(1.5 * preset.per_block * k)
        heaviest = np.minimum(total / (preset.per_block * k), smallest)
    above: list[tuple[Loaded, Shrunk]] = []
    while loaded.n > enough and total < heaviest.max() * loaded.n:
        mean = total / loaded.n
        caps = np.minimum(np.maximum(heaviest, 2 * mean), preset.shrink_by * mean)
        smaller, shrunk = loaded.shrunk(part, caps, threads)
        if smaller.n > LEAST_SHRINKAGE * loaded.n:
            break
        above.append((loaded, shrunk))
        loaded, part = smaller, shrunk.part
    return above, loaded, part
