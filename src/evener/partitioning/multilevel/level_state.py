"""The blocks of one level (Placed): first ones, rounded, refined, projected to a finer level.

Several initial partitions of the coarsest level are made, since they are cheap there. Balanced
k-means places blocks by distance, which is best where cells are well shaped; large graphs without
coordinates get places from hops along their edges. Recursive bisection uses edges alone, and is
better where cells are stretched or differ in size by orders of magnitude. All are rounded by
diffusion and refined; those of least cut are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, Part
from evener.graphs.graph import Graph
from evener.partitioning.initial.bisection import DEALS, cut_of, recursive_bisection
from evener.partitioning.initial.diffusion import BRIEFLY, THOROUGH, Spread, diffused_blocks
from evener.partitioning.initial.embedding import embedded
from evener.partitioning.initial.kmeans import BALANCE, along_curve, kmeans_blocks
from evener.partitioning.levels.levels import (
    LARGEST_CLUSTER,
    GraphLevel,
    Hierarchy,
    Shrunk,
    projected,
)
from evener.partitioning.multilevel.presets import Preset
from evener.partitioning.refinement import fm_kernels as kernels
from evener.partitioning.refinement.cutting import cut_anew
from evener.partitioning.refinement.fm import (
    EVEN_PRICE,
    Flags,
    boundary_flags,
    boundary_flags_below,
    refine_level,
)
from evener.partitioning.repair.flowing import flow_until_kept
from evener.partitioning.repair.state import State
from evener.plans.partition import Contract, Partition


class EasedLimits(NamedTuple):
    """Targets and limits (k,) of blocks on one level: a contract's, or wider."""

    targets: FloatArray
    low: FloatArray
    high: FloatArray


LARGEST_SURCHARGE = 1.5  # the price of the longest border is higher by this share
STEEPNESS = 6  # power of a border's share of the longest one, in what its price is higher by


@dataclass(frozen=True, eq=False)
class MultilevelTask:
    """What is asked of blocks, and how much is done for it."""

    contract: Contract
    preset: Preset
    seed: int
    threads: int


@dataclass(eq=False)
class Placed:
    """Blocks `part` (n,) of a level, their weights and the prices of their borders (k,).

    flag (n,): the vertices at a border. finer_rounding: how they are rounded on finer graphs,
    where that makes these blocks better.
    """

    level: GraphLevel
    part: Part
    weight: FloatArray
    price: npt.NDArray[np.int64]
    flag: Flags
    finer_rounding: Spread | None


def placed(
    level: GraphLevel,
    part: Part,
    task: MultilevelTask,
    depth: int,
    *,
    finer_rounding: Spread | None,
) -> Placed:
    """Return blocks as near to the contract as a small graph's vertices allow; depth as below."""
    part = balanced(level, part, eased(task.contract, level, depth))
    k = task.contract.k
    return Placed(
        level, part, block_weights(level, part, k), prices(level, part, k),
        boundary_flags(level, part, task.threads), finer_rounding,
    )  # fmt: skip


def rounded(
    level: GraphLevel,
    part: Part,
    task: MultilevelTask,
    depth: int,
    spread: Spread,
    finer_rounding: Spread | None,
) -> Placed:
    """Return blocks rounded by diffusion, now by `spread` and later on finer graphs; see refine."""
    part = diffused_blocks(level, task.contract.targets, part, spread, task.threads)
    return placed(level, part, task, depth, finer_rounding=finer_rounding)


def refine(blocks: Placed, task: MultilevelTask, depth: int) -> Placed:
    """Refine in place, by localized FM, then by cuts of pairs of blocks; return the same.

    depth: of the level, 0 for the finest.
    """
    effort, cutting = task.preset.fm_with_cuts, task.preset.cutting
    rounds = effort.finest_rounds if depth == 0 else effort.rounds
    cuts = cutting.finest_rounds if depth == 0 else cutting.rounds
    level, seed = blocks.level, task.seed * 50 + depth
    limits = limits_on(level, task, depth)
    state = kernels.BlockState(blocks.part, blocks.weight, blocks.price, limits)
    refine_level(level, state, blocks.flag, rounds, effort, seed, task.threads)
    cut_anew(level, state, cuts, cutting.reach, seed, task.threads)
    return blocks


def descend(blocks: Placed, finer: GraphLevel, shrunk: Shrunk, task: MultilevelTask) -> Placed:
    """Return the same blocks on the finer level."""
    coarse_flag = boundary_flags(blocks.level, blocks.part, task.threads)
    part = projected(shrunk, blocks.part, task.threads)
    flag = boundary_flags_below(finer, part, coarse_flag, shrunk.coarse_of, task.threads)
    return Placed(finer, part, blocks.weight, blocks.price, flag, blocks.finer_rounding)


def balanced(level: GraphLevel, blocks: Part, limits: EasedLimits) -> Part:
    """Return blocks of a small graph as near to the limits as its vertices allow."""
    weight = block_weights(level, blocks, limits.targets.size)
    if within(weight, limits):
        return blocks
    weighted = level.adjwgt.size > 0
    graph = Graph.trusted(
        level.xadj.astype(np.int64), level.adjncy.view(np.int32), level.vwgt,
        level.adjwgt.astype(np.int64) if weighted else None,
    )  # fmt: skip
    without_caps = Contract(*limits)
    state = State.of(graph, Partition(blocks, without_caps.k), without_caps, 0, level.fixed)
    flow_until_kept(state)
    return state.part


def within(weight: FloatArray, limits: Contract | EasedLimits) -> bool:
    """Return whether blocks of these weights (k,) are within the limits."""
    return bool(((weight >= limits.low) & (weight <= limits.high)).all())


def block_weights(level: GraphLevel, part: Part, k: int) -> FloatArray:
    """Return the weights of the blocks (k,)."""
    return np.bincount(part, weights=level.vwgt, minlength=k).astype(np.float64)


def prices(level: GraphLevel, blocks: Part, k: int) -> npt.NDArray[np.int64]:
    """Return the prices (k,) of the blocks' borders: long ones cost more per edge."""
    border = np.zeros(k, np.int64)
    kernels.block_borders(level.xadj, level.adjncy, level.adjwgt, blocks, border)
    share = border / max(int(border.max()), 1)
    return np.asarray(np.rint(EVEN_PRICE * (1 + LARGEST_SURCHARGE * share**STEEPNESS)), np.int64)


def limits_on(level: GraphLevel, task: MultilevelTask, depth: int) -> kernels.WeightLimits:
    """Return limits of searches: on the way a little wider, or by the heaviest vertex."""
    contract = eased(task.contract, level, depth)
    slack: FloatArray = np.maximum(task.preset.slack * contract.targets, level.heaviest)
    return kernels.WeightLimits(
        contract.low, contract.high, contract.low - slack, contract.high + slack
    )


def eased(contract: Contract, level: GraphLevel, depth: int) -> EasedLimits:
    """Return the contract's limits, on coarse levels (depth above 0) wider by about a vertex.

    Vertices are so heavy there that closer limits would raise the cut.
    """
    targets = contract.targets
    if depth == 0:
        return EasedLimits(targets, contract.low, contract.high)
    room = np.minimum(level.heaviest, LARGEST_CLUSTER * targets)
    low, high = np.minimum(contract.low, targets - room), np.maximum(contract.high, targets + room)
    return EasedLimits(targets, low, high)


# Tuned; what chose them is not recorded. benchmarks/partitioners.py shows what they give.
PER_BLOCK_ROUNDED = 1000  # max. vertices per block of finer graphs on which blocks are rounded too
MOST_RIVALS = 2  # max. initial partitions that are refined on finer levels
FEW_BLOCKS = (
    32  # up to this number, blocks are also bisected: chance decides more, and it takes little
)
OTHER_SEED = 1009  # added to the seed for each repetition
# Cut after rounding, over that of k-means' blocks: below it, k-means was misled by distances.
MISLED_RATIO = 0.75
CLOSE = 1.06  # times the least cut: partitions up to it may still be best on a finer graph


def starting_blocks(
    level: GraphLevel,
    points: npt.NDArray[np.float32] | None,
    task: MultilevelTask,
    depth: int,
    *,
    trusting: bool = False,
) -> list[Placed]:
    """Return one or two initial partitions of this level, that of least cut first.

    points (d, n) in a unit box, sorted along a curve; or None. depth: of the level, 0 for the whole
    graph, on which limits are kept exactly. trusting: whether k-means alone is enough where
    rounding shows that it places blocks well; without points, only for many blocks.
    """
    found: list[Placed] = []
    if trusting:
        found, good = _by_distance(level, points, task, depth)
        if good and (points is not None or task.contract.k > FEW_BLOCKS):
            return found
    turns = int(np.clip(task.preset.bisected_blocks // task.contract.k, 1, len(DEALS)))
    tasks = [replace(task, seed=task.seed + OTHER_SEED * turn) for turn in range(turns)]
    best = worth_following(_bisected(level, tasks, depth))[0]
    # Rounding helps meshes; on graphs of small diameter it makes the cut worse.
    first, finer_rounding = task.preset.first_rounding, task.preset.finer_rounding
    found.append(best)
    if points is None or task.preset.round_both:
        round_again = rounded(level, best.part, task, depth, first, finer_rounding)
        found.append(refine(round_again, task, depth))
    if points is not None and not trusting:
        found.append(by_kmeans(level, points, task, depth))
    return worth_following(found)


def worth_following(rivals: list[Placed]) -> list[Placed]:
    """Return the partition of least cut, and the second where its cut is close to that."""
    if len(rivals) == 1:  # counting the cut costs as much as a round of searches
        return rivals
    cuts = np.array([cut_of(blocks.level, blocks.part) for blocks in rivals])
    order = np.argsort(cuts, kind="stable")
    return [rivals[i] for i in order[:MOST_RIVALS] if cuts[i] <= CLOSE * cuts[order[0]]]


def by_kmeans(
    level: GraphLevel, points: npt.NDArray[np.float32], task: MultilevelTask, depth: int
) -> Placed:
    """Return blocks by balanced k-means of points (d, n) along a curve, rounded and refined."""
    targets = task.contract.targets
    blocks, _ = along_curve(points, level.vwgt, targets, BALANCE, task.threads)
    first, finer_rounding = task.preset.first_rounding, task.preset.finer_rounding
    return refine(rounded(level, blocks, task, depth, first, finer_rounding), task, depth)


def _by_distance(
    level: GraphLevel, points: npt.NDArray[np.float32] | None, task: MultilevelTask, depth: int
) -> tuple[list[Placed], bool]:
    """Return blocks by k-means, of points or of places from hops; and whether they are good.

    No blocks where hops give no places.
    """
    targets = task.contract.targets
    places = embedded(level) if points is None else points.T.astype(np.float64)
    if places is None or not targets.min() > 0:
        return [], False
    blocks = kmeans_blocks(places, level.vwgt, targets, threads=task.threads)
    spread = THOROUGH if points is None else task.preset.rounding
    found = refine(rounded(level, blocks, task, depth, spread, BRIEFLY), task, depth)
    return [found], cut_of(level, found.part) > MISLED_RATIO * cut_of(level, blocks)


def _bisected(level: GraphLevel, tasks: list[MultilevelTask], depth: int) -> list[Placed]:
    """Bisect by one deal for each task; return those of least cut, refined."""
    found = [
        recursive_bisection(level, task.contract.targets, 2 * BALANCE, task.seed, deal)
        for task, deal in zip(tasks, DEALS, strict=False)
    ]
    chosen = list(range(len(found)))
    if len(chosen) > tasks[0].preset.deals_refined:
        cuts = [cut_of(level, part) for part in found]
        chosen = sorted(chosen, key=lambda i: cuts[i])[: tasks[0].preset.deals_refined]
    return [
        refine(placed(level, found[i], tasks[i], depth, finer_rounding=None), tasks[i], depth)
        for i in chosen
    ]


def follow(blocks: Placed, task: MultilevelTask, depth: int) -> Placed:
    """Round and refine blocks projected from a coarser level."""
    if blocks.finer_rounding and blocks.level.n_whole <= PER_BLOCK_ROUNDED * task.contract.k:
        blocks = rounded(
            blocks.level, blocks.part, task, depth, blocks.finer_rounding, blocks.finer_rounding
        )
    elif depth == 0 and not within(blocks.weight, task.contract):
        # Limits are wider on coarse levels, and searches bring back no block that is outside.
        blocks = placed(
            blocks.level, blocks.part, task, depth, finer_rounding=blocks.finer_rounding
        )
    return refine(blocks, task, depth)


PER_BLOCK_RIVALS = 100  # vertices per block of graphs up to which several starts are refined


def refined_back(
    hierarchy: Hierarchy, rivals: list[Placed], task: MultilevelTask, above: int = 0
) -> Part:
    """Refine blocks of the coarsest level on all finer ones; return the best of the finest."""
    for depth in range(len(hierarchy.above) - 1, -1, -1):
        finer, shrunk = hierarchy.above[depth]
        rivals = [
            follow(descend(rival, finer, shrunk, task), task, depth + above)
            for rival in _followed(rivals, task)
        ]
    return worth_following(rivals)[0].part


def _followed(rivals: list[Placed], task: MultilevelTask) -> list[Placed]:
    """Return the blocks worth refining on finer graphs: one way only where they are large."""
    close = worth_following(rivals)[: task.preset.rivals]
    return close if close[0].level.n <= PER_BLOCK_RIVALS * task.contract.k else close[:1]
