"""Our partitioner: blocks of unequal weight, compact and with short borders.

    order -> k-means -> shrink inside blocks -> refine level by level
    order -> shrink -> bisection, diffusion -> refine level by level, without coordinates

With coordinates, balanced k-means places the blocks and the hierarchy only refines them: that is
faster and better than to find them on a small graph. Without, recursive bisection of the smallest
graph does, and diffusion rounds its blocks. Graphs whose degrees are uneven are left to label
propagation. Everything is deterministic, whatever the threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray
from evener.curves import hilbert_order
from evener.graphs import Graph
from evener.partitioning import bisection_kernels
from evener.partitioning import fm_kernels as kernels
from evener.partitioning.bisection import ROUGH, cut_of, recursive_bisection
from evener.partitioning.diffusion import AGAIN, THOROUGH, Spread, diffused_blocks
from evener.partitioning.external.weights import LIMIT_32, whole_weights
from evener.partitioning.flowing import flow_until_kept
from evener.partitioning.fm import (
    EVEN_PRICE,
    Limits,
    boundary_flags,
    boundary_flags_below,
)
from evener.partitioning.kmeans import along_curve, unit_box
from evener.partitioning.levels import (
    Level,
    Part,
    Shrunk,
    finest,
    projected,
    scattered,
    shrink,
)
from evener.partitioning.presets import PRESETS, Preset
from evener.partitioning.propagation import propagation_blocks
from evener.partitioning.refinement import refine_by
from evener.partitioning.skew import is_uneven
from evener.partitioning.state import State
from evener.partitioning.volumes import AIMS, Aim, refine_volumes
from evener.partitions import Contract, Partition

BALANCE = 0.01  # what k-means leaves a block off its target
PER_BLOCK_WITHOUT = 45  # vertices for each block of the graph that is bisected
PER_BLOCK_ROUNDED = 300  # vertices for each block of graphs on which blocks are rounded again
WORTH_ROUNDING = 1.15  # of the bisection's cut, which is refined: refinement wins more than this
LARGEST_CLUSTER = 1 / 8  # of the smallest block's target
LEAST_SHRINKAGE = 0.95
DEARER = 1.5  # the longest border costs this much more than an empty one
STEEPNESS = 6  # of the price: borders not much shorter than the longest cost little more


def multilevel_blocks(
    graph: Graph,
    contract: Contract,
    *,
    preset: str = "default",
    objective: str = "cut",
    seed: int = 7,
    threads: int = 1,
    starts: list[Part] | None = None,
) -> Part:
    """Return the block (n,) of every vertex; blocks are near `contract`, mostly within it.

    starts: receives the blocks (n,) that refinement begins with, where coordinates give them.
    Heavy vertices and blocks of few vertices may be left for `enforce` to settle, as are caps in
    bytes. The cut counts edge weights. preset: "fast", "default" or "strong". objective: "cut",
    "total_volume" or "max_volume"; volumes are refined after the cut, on the whole graph.
    """
    chosen = PRESETS[preset]
    if is_uneven(graph):
        return propagation_blocks(
            graph, contract, edge_weights(graph), preset=preset, objective=objective, seed=seed
        )
    order = vertex_order(graph, threads)
    weights = None if graph.is_unit else graph.weights()
    level = finest(graph, order, weights, edge_weights(graph), threads)
    start: Part | None = None
    if graph.coords is not None:
        start, _ = along_curve(
            unit_box(graph.coords, order, threads), np.empty(0) if weights is None else level.vwgt,
            contract.targets, BALANCE, threads,
        )  # fmt: skip
        if starts is not None:
            starts.append(scattered(start, order, threads))
    part = v_cycle(level, start, contract, chosen, seed, threads, chosen.rounding)
    for cycle in range(1, chosen.cycles):
        part = v_cycle(level, part, contract, chosen, seed + cycle, threads)
    if objective != "cut":
        lower_volumes(level, part, contract, chosen, AIMS[objective], seed, threads)
    return scattered(part, order, threads)


def v_cycle(
    level: Level, part: Part | None, contract: Contract, preset: Preset, seed: int, threads: int,
    rounding: Spread | None = None,
) -> Part:  # fmt: skip
    """Shrink the graph inside the blocks of `part`, or freely without; refine on the way back.

    rounding: of `part`, by diffusion on the smallest graph, and on the next ones if thorough.
    """
    hierarchy = _shrink_all(level, part, contract, preset, threads)
    current, blocks = hierarchy.coarsest, hierarchy.part
    again = rounding == THOROUGH
    if part is None:
        blocks, again = _start(current, contract, seed)
    elif rounding:
        blocks = diffused_blocks(current, contract.targets, blocks, rounding)
    blocks = _balanced(current, blocks, contract)
    flag = boundary_flags(current, blocks, threads)
    price, weight = _prices(current, blocks, contract.k), _weight(current, blocks, contract.k)
    for depth in range(len(hierarchy.above), -1, -1):
        if depth < len(hierarchy.above):
            finer, shrunk = hierarchy.above[depth]
            blocks, flag = _descend(current, finer, shrunk, blocks, threads)
            current = finer
            if again and current.n <= PER_BLOCK_ROUNDED * contract.k:
                blocks = diffused_blocks(current, contract.targets, blocks, AGAIN)
                blocks = _balanced(current, blocks, contract)
                flag = boundary_flags(current, blocks, threads)
                price = _prices(current, blocks, contract.k)
                weight = _weight(current, blocks, contract.k)
        refine_by(
            preset, current, blocks, weight, _limits(current, contract, preset), price, flag,
            finest=depth == 0, seed=seed * 50 + depth, threads=threads,
        )  # fmt: skip
    return blocks


def lower_volumes(
    level: Level, part: Part, contract: Contract, preset: Preset, aim: Aim, seed: int, threads: int
) -> None:
    """Refine blocks in place for what they send."""
    weight = _weight(level, part, contract.k)
    limits = _limits(level, contract, preset)
    flag = boundary_flags(level, part, threads)
    refine_volumes(level, part, weight, limits, aim, flag, seed)


def _start(level: Level, contract: Contract, seed: int) -> tuple[Part, bool]:
    """Return blocks of a small graph without coordinates, and whether rounding them helped.

    It does on meshes. Where load spreads everywhere at once, as on power-law graphs, the blocks
    are those of recursive bisection.
    """
    bisected = recursive_bisection(level, contract.targets, 2 * BALANCE, seed, ROUGH)
    rounded = diffused_blocks(level, contract.targets, bisected, THOROUGH)
    if cut_of(level, rounded) < WORTH_ROUNDING * cut_of(level, bisected):
        return rounded, True
    return recursive_bisection(level, contract.targets, 2 * BALANCE, seed), False


@dataclass(eq=False)
class _Hierarchy:
    """Levels from the finest on, each with what it was shrunk to; the blocks of the coarsest."""

    above: list[tuple[Level, Shrunk]]
    coarsest: Level
    part: Part


def _shrink_all(
    level: Level, part: Part | None, contract: Contract, preset: Preset, threads: int
) -> _Hierarchy:
    """Shrink until few vertices are left for each block, or nothing shrinks any more."""
    total, smallest = float(level.vwgt.sum()), LARGEST_CLUSTER * contract.targets
    if part is None:
        enough = PER_BLOCK_WITHOUT * contract.k
        heaviest = np.array([min(2 * total / enough, smallest.min())])
        part = np.zeros(level.n, np.int32)
    else:
        enough = int(1.5 * preset.per_block * contract.k)
        heaviest = np.minimum(total / (preset.per_block * contract.k), smallest)
    above = []
    # Clusters stay lighter than blocks, or the least blocks could not be made of them.
    while level.n > enough and total < heaviest.max() * level.n:
        mean = total / level.n
        caps = np.minimum(np.maximum(heaviest, 2 * mean), preset.shrink_by * mean)
        shrunk = shrink(level, part, caps, threads)
        if shrunk.level.n > LEAST_SHRINKAGE * level.n:
            break
        above.append((level, shrunk))
        level, part = shrunk.level, shrunk.part
    return _Hierarchy(above, level, part)


def _descend(
    coarse: Level, finer: Level, shrunk: Shrunk, blocks: Part, threads: int
) -> tuple[Part, npt.NDArray[np.int8]]:
    """Return the blocks of the finer level, and which of its vertices are at a boundary."""
    coarse_flag = boundary_flags(coarse, blocks, threads)
    fine = projected(shrunk, blocks, threads)
    return fine, boundary_flags_below(finer, fine, coarse_flag, shrunk.coarse_of, threads)


def vertex_order(graph: Graph, threads: int = 1) -> IntArray:
    """Return an order in which neighbours are near each other, in memory and in slices."""
    if graph.coords is not None:
        return hilbert_order(graph.coords, threads)
    order = np.empty(graph.n, np.int64)
    seen = np.empty(graph.n, np.bool_)
    bisection_kernels.breadth_first_order(graph.xadj, graph.adjncy, order, seen)
    return order


def edge_weights(graph: Graph) -> npt.NDArray[np.int32]:
    """(2m,) whole edge weights whose sums are small enough, or (0,): all 1."""
    if graph.adjwgt is None:
        return np.empty(0, np.int32)
    return whole_weights(graph.adjwgt, LIMIT_32, least=1).values.astype(np.int32)


def _balanced(level: Level, blocks: Part, contract: Contract) -> Part:
    """Bring blocks of a small graph as near to the contract as its vertices allow."""
    weight = _weight(level, blocks, contract.k)
    if ((weight >= contract.low) & (weight <= contract.high)).all():
        return blocks
    weighted = level.adjwgt.size > 0
    graph = Graph(
        level.xadj.astype(np.int64),
        level.adjncy.astype(np.int32),
        vwgt=level.vwgt,
        adjwgt=level.adjwgt.astype(np.int64) if weighted else None,
    )
    without_caps = Contract(contract.targets, contract.low, contract.high)
    state = State.of(graph, Partition(blocks, contract.k), without_caps, 0)
    flow_until_kept(state)
    return state.part


def _weight(level: Level, part: Part, k: int) -> FloatArray:
    """(k,) what the blocks weigh."""
    return np.bincount(part, weights=level.vwgt, minlength=k).astype(np.float64)


def _prices(level: Level, blocks: Part, k: int) -> npt.NDArray[np.int64]:
    """(k,) what a block's border costs: more where it is long, for the largest counts too."""
    border = np.zeros(k, np.int64)
    kernels.block_borders(level.xadj, level.adjncy, level.adjwgt, blocks, border)
    share = border / max(int(border.max()), 1)
    return np.asarray(np.rint(EVEN_PRICE * (1 + DEARER * share**STEEPNESS)), np.int64)


def _limits(level: Level, contract: Contract, preset: Preset) -> Limits:
    """What searches keep to; on the way they may stray by a little, or by the heaviest vertex."""
    slack: FloatArray = np.maximum(preset.slack * contract.targets, level.vwgt.max())
    return Limits(contract.low, contract.high, contract.low - slack, contract.high + slack)
