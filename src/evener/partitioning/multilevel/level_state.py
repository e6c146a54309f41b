"""Placed: the blocks of one level, which are made, rounded, refined and projected to a finer level.

Several initial partitions of the coarsest level are made, since they are cheap there. Balanced
k-means places blocks by distance, which is best for meshes of well-shaped cells; for large graphs
without coordinates, points are computed from hop distances. Recursive bisection uses only edges,
and is better if cells are stretched or differ in size by orders of magnitude. All partitions are
rounded by diffusion and refined. Those of least cut are used; if the largest volume is the
objective, those in which no block has a long border.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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

# The price of a border is EVEN_PRICE x (1 + LARGEST_SURCHARGE x (length / longest)^STEEPNESS).
LARGEST_SURCHARGE = 1.5
STEEPNESS = 6


@dataclass(frozen=True, eq=False)
class MultilevelTask:
    """The contract of the blocks, and the effort: preset, seed and threads.

    objective: "cut", "total_volume" or "max_volume"; which of several partitions are refined
    depends on it.
    """

    contract: Contract
    preset: Preset
    seed: int
    threads: int
    objective: str = "cut"


@dataclass(eq=False)
class Placed:
    """Blocks `part` (n,) of a level, their weights and the prices of their borders (k,).

    flag (n,): whether a vertex is at a border. finer_rounding: how the blocks are rounded on finer
    graphs, or None if they are not.
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
    finer_rounding: Spread | None = None,
) -> Placed:
    """Return blocks as near to the contract as the vertices of a small graph allow.

    depth: see `refine`.
    """
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
    """Return the blocks after rounding by diffusion with `spread`.

    finer_rounding: rounding on finer graphs. depth: see `refine`.
    """
    part = diffused_blocks(level, task.contract.targets, part, spread, task.threads)
    return placed(level, part, task, depth, finer_rounding=finer_rounding)


def refine(blocks: Placed, task: MultilevelTask, depth: int) -> Placed:
    """Refine blocks in place by localized FM, then by minimum cuts between pairs; return them.

    depth: number of the level, 0 for the finest.
    """
    preset, effort = task.preset, task.preset.fm_with_cuts
    rounds = effort.finest_rounds if depth == 0 else effort.rounds
    level, seed = blocks.level, task.seed * 50 + depth
    limits = limits_on(level, task, depth)
    state = kernels.BlockState(blocks.part, blocks.weight, blocks.price, limits)
    refine_level(level, state, blocks.flag, rounds, effort, seed, task.threads)
    if depth == 0 or preset.cuts_on_coarse_levels:
        cut_anew(level, state, preset.reach, seed, task.threads)
    return blocks


def descend(blocks: Placed, finer: GraphLevel, shrunk: Shrunk, task: MultilevelTask) -> Placed:
    """Return the same blocks on the finer level."""
    coarse_flag = boundary_flags(blocks.level, blocks.part, task.threads)
    part = projected(shrunk, blocks.part, task.threads)
    flag = boundary_flags_below(finer, part, coarse_flag, shrunk.coarse_of, task.threads)
    return Placed(finer, part, blocks.weight, blocks.price, flag, blocks.finer_rounding)


def balanced(level: GraphLevel, blocks: Part, limits: Contract) -> Part:
    """Return the blocks of a small graph, changed to be as near to the limits as possible."""
    weight = block_weights(level, blocks, limits.k)
    if within(weight, limits):
        return blocks
    weighted = level.adjwgt.size > 0
    graph = Graph.trusted(
        level.xadj.astype(np.int64), level.adjncy.view(np.int32), level.vwgt,
        level.adjwgt.astype(np.int64) if weighted else None,
    )  # fmt: skip
    state = State.of(graph, Partition(blocks, limits.k), limits, 0, level.fixed)
    flow_until_kept(state)
    return state.part


def within(weight: FloatArray, limits: Contract) -> bool:
    """Return whether the weights (k,) of blocks satisfy the limits."""
    return bool(((weight >= limits.low) & (weight <= limits.high)).all())


def block_weights(level: GraphLevel, part: Part, k: int) -> FloatArray:
    """Return the weights of the blocks (k,)."""
    return np.bincount(part, weights=level.vwgt, minlength=k).astype(np.float64)


def block_borders(level: GraphLevel, part: Part, k: int) -> npt.NDArray[np.int64]:
    """Return the weight of the edges that leave each block (k,)."""
    border = np.zeros(k, np.int64)
    kernels.block_borders(level.xadj, level.adjncy, level.adjwgt, part, border)
    return border


def prices(level: GraphLevel, blocks: Part, k: int) -> npt.NDArray[np.int64]:
    """Return the prices (k,) per edge of the blocks' borders: long borders cost more."""
    border = block_borders(level, blocks, k)
    share = border / max(int(border.max()), 1)
    return np.asarray(np.rint(EVEN_PRICE * (1 + LARGEST_SURCHARGE * share**STEEPNESS)), np.int64)


def limits_on(level: GraphLevel, task: MultilevelTask, depth: int) -> kernels.WeightLimits:
    """Return the limits of searches, and the wider ones that a search may reach temporarily.

    The latter are wider by the preset's slack, or by the heaviest vertex if that is more.
    """
    contract = eased(task.contract, level, depth)
    slack: FloatArray = np.maximum(task.preset.slack * contract.targets, level.heaviest)
    return kernels.WeightLimits(
        contract.low, contract.high, contract.low - slack, contract.high + slack
    )


def eased(contract: Contract, level: GraphLevel, depth: int) -> Contract:
    """Return the contract's limits of weights, which on coarse levels (depth above 0) are wider.

    There they differ from the targets by at least about one vertex: vertices of coarse levels are
    heavy, and closer limits would increase the cut.
    """
    targets = contract.targets
    if depth == 0:
        return Contract(targets, contract.low, contract.high)
    room = np.minimum(level.heaviest, LARGEST_CLUSTER * targets)
    low, high = np.minimum(contract.low, targets - room), np.maximum(contract.high, targets + room)
    return Contract(targets, low, high)


# Tuned; why was not recorded. benchmarks/partitioners.py shows the results.
PER_BLOCK_ROUNDED = 1000  # per block: largest finer graphs on which blocks are rounded too
MOST_RIVALS = 2  # largest number of initial partitions that are refined on finer levels
MOST_BISECTED = 32  # blocks: up to here bisection is tried, too: quality varies, and it is cheap
OTHER_SEED = 1009  # added to the seed for each repetition
# If (cut after rounding) / (cut of the blocks of k-means) is below this, distances misled k-means.
DOUBTED_RATIO = 0.75
CLOSE = 1.06  # partitions with borders up to CLOSE x the shortest may be best on a finer graph


def starting_blocks(
    level: GraphLevel,
    points: npt.NDArray[np.float32] | None,
    task: MultilevelTask,
    depth: int,
    *,
    trusting: bool = False,
) -> list[Placed]:
    """Return one or two initial partitions of this level, the one of shortest borders first.

    points (d, n) in a unit box, sorted along a curve; or None. depth: number of the level, 0 for
    the whole graph, on which limits are satisfied exactly. trusting: use only k-means if rounding
    shows that its blocks are good; without points, only for more than MOST_BISECTED blocks, and if
    one bisection does not cut less.
    """
    found: list[Placed] = []
    if trusting:
        found, good = _by_distance(level, points, task, depth)
        if good and points is None:
            # Hops mislead in long tubes: there a bisection cuts less, even before refinement.
            good = task.contract.k > MOST_BISECTED and cut_of(level, found[0].part) <= cut_of(
                level, recursive_bisection(level, task.contract.targets, 2 * BALANCE, task.seed)
            )
        if good:
            return found
    turns = int(np.clip(task.preset.bisected_blocks // task.contract.k, 1, len(DEALS)))
    tasks = [replace(task, seed=task.seed + OTHER_SEED * turn) for turn in range(turns)]
    best = worth_following(_bisected(level, tasks, depth), task)[0]
    # Rounding helps meshes; on graphs of small diameter it makes the cut worse.
    first, finer_rounding = task.preset.first_rounding, task.preset.finer_rounding
    found.append(best)
    if points is None or task.preset.round_both:
        round_again = rounded(level, best.part, task, depth, first, finer_rounding)
        found.append(refine(round_again, task, depth))
    if points is not None and not trusting:
        found.append(by_kmeans(level, points, task, depth))
    return worth_following(found, task)


def worth_following(rivals: list[Placed], task: MultilevelTask) -> list[Placed]:
    """Return the partition of shortest borders, and the second best if it is close to it."""
    if len(rivals) == 1:  # measuring borders costs as much as a round of searches
        return rivals
    lengths = np.array([border_length(blocks.level, blocks.part, task) for blocks in rivals])
    order = np.argsort(lengths, kind="stable")
    return [rivals[i] for i in order[:MOST_RIVALS] if lengths[i] <= CLOSE * lengths[order[0]]]


def border_length(level: GraphLevel, part: Part, task: MultilevelTask) -> float:
    """Return the length of borders by which partitions are compared.

    This is the weight of all cut edges or, if the largest volume is the objective, the largest
    weight of the edges that leave one block.
    """
    if task.objective == "max_volume":
        return float(block_borders(level, part, task.contract.k).max())
    return cut_of(level, part)


def by_kmeans(
    level: GraphLevel, points: npt.NDArray[np.float32], task: MultilevelTask, depth: int
) -> Placed:
    """Divide points (d, n), sorted along a curve, by balanced k-means; return refined blocks.

    Before refinement, the blocks are rounded by diffusion.
    """
    targets = task.contract.targets
    blocks, _ = along_curve(points, level.vwgt, targets, BALANCE, task.threads)
    first, finer_rounding = task.preset.first_rounding, task.preset.finer_rounding
    return refine(rounded(level, blocks, task, depth, first, finer_rounding), task, depth)


def _by_distance(
    level: GraphLevel, points: npt.NDArray[np.float32] | None, task: MultilevelTask, depth: int
) -> tuple[list[Placed], bool]:
    """Return blocks by k-means, and whether they are good.

    k-means uses the points or, without points, those that `embedded` computes from hop distances;
    if that fails, no blocks are returned.
    """
    targets = task.contract.targets
    places = embedded(level) if points is None else points.T.astype(np.float64)
    if places is None or not targets.min() > 0:
        return [], False
    blocks = kmeans_blocks(places, level.vwgt, targets, threads=task.threads)
    spread = THOROUGH if points is None else task.preset.rounding
    found = refine(rounded(level, blocks, task, depth, spread, BRIEFLY), task, depth)
    return [found], cut_of(level, found.part) > DOUBTED_RATIO * cut_of(level, blocks)


def _bisected(level: GraphLevel, tasks: list[MultilevelTask], depth: int) -> list[Placed]:
    """Bisect recursively with several DEALS (ways to group blocks); refine those of least cut."""
    found = [
        recursive_bisection(level, task.contract.targets, 2 * BALANCE, task.seed, deal)
        for task, deal in zip(tasks, DEALS, strict=False)
    ]
    chosen = list(range(len(found)))
    if len(chosen) > tasks[0].preset.deals_refined:
        cuts = [cut_of(level, part) for part in found]
        chosen = sorted(chosen, key=lambda i: cuts[i])[: tasks[0].preset.deals_refined]
    return [refine(placed(level, found[i], tasks[i], depth), tasks[i], depth) for i in chosen]


def follow(blocks: Placed, task: MultilevelTask, depth: int) -> Placed:
    """Round and refine blocks projected from a coarser level."""
    if blocks.finer_rounding and blocks.level.n_whole <= PER_BLOCK_ROUNDED * task.contract.k:
        blocks = rounded(
            blocks.level, blocks.part, task, depth, blocks.finer_rounding, blocks.finer_rounding
        )
    elif depth == 0 and not within(blocks.weight, task.contract):
        # Limits are wider on coarse levels, and searches do not correct violated limits.
        blocks = placed(
            blocks.level, blocks.part, task, depth, finer_rounding=blocks.finer_rounding
        )
    return refine(blocks, task, depth)


PER_BLOCK_RIVALS = 100  # several starts are refined on graphs of at most this many vertices a block


def refined_back(
    hierarchy: Hierarchy, rivals: list[Placed], task: MultilevelTask, above: int = 0
) -> Part:
    """Refine partitions of the coarsest level on all finer levels; return the best on the finest.

    Each level is removed from the hierarchy once the partitions are on a finer one, to free memory.
    above: number of finer levels that the hierarchy does not contain.
    """
    while hierarchy.above:
        finer, shrunk = hierarchy.above.pop()
        depth = len(hierarchy.above) + above
        rivals = [descend(rival, finer, shrunk, task) for rival in _followed(rivals, task)]
        del shrunk  # it holds the coarser level
        rivals = [follow(rival, task, depth) for rival in rivals]
    return worth_following(rivals, task)[0].part


def _followed(rivals: list[Placed], task: MultilevelTask) -> list[Placed]:
    """Return the partitions worth refining on a finer graph; on large graphs only the best."""
    close = worth_following(rivals, task)[: task.preset.rivals]
    return close if close[0].level.n <= PER_BLOCK_RIVALS * task.contract.k else close[:1]
