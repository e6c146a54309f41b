"""refine: improves any partition; returns a better partition, or the given one unchanged.

As in Evener's partitioner, the graph is coarsened inside the blocks, and the blocks are refined
level by level and, for volumes, once more on the whole graph. The result is scored from scratch. It
is returned only if it is better and does not violate the contract more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import NO_VERTICES, FloatArray, IntVector, Part, as_flags, flags_of
from evener.errors import InfeasibleError, InputError, NotFoundError, UsageError
from evener.graphs.graph import Graph
from evener.io.accept import GraphLike, PartitionLike, as_graph, as_partition
from evener.partitioning.enforce import enforce
from evener.partitioning.initial.diffusion import THOROUGH
from evener.partitioning.label_propagation.propagation import is_uneven, propagation_blocks
from evener.partitioning.levels.levels import (
    GraphLevel,
    anchored,
    finest,
    places_of,
    projected,
    scattered,
)
from evener.partitioning.multilevel.level_state import MultilevelTask, block_weights, limits_on
from evener.partitioning.multilevel.multilevel import (
    edge_weights,
    lower_volumes,
    v_cycle,
    vertex_order,
)
from evener.partitioning.multilevel.presets import PRESETS
from evener.partitioning.refinement.fm import EVEN_PRICE, boundary_flags, refine_level
from evener.partitioning.refinement.fm_kernels import BlockState
from evener.partitioning.refinement.volumes import AIMS
from evener.partitioning.requests import check_options
from evener.plans import metrics
from evener.plans.partition import Contract, Partition
from evener.wording import brief

COSTS: dict[str, Callable[[metrics.Quotient], float]] = {
    "cut": metrics.edge_cut,
    "total_volume": lambda between: float(metrics.comm_volumes(between).sum()),
    "max_volume": lambda between: float(metrics.comm_volumes(between).max()),
}
ROUNDING = 1e-12  # relative: changing the order of sums changes the objective by at most this


@dataclass(frozen=True, eq=False)
class Scored:
    """A partition and its score.

    cost: the objective's value. violations (3, k), for each block: the distance of its weight from
    the limits, relative to its target; the excess of its bytes, relative to its cap; and 1 if it is
    empty. holds: whether every block satisfies the contract; then all violations are 0.
    """

    partition: Partition
    cost: float
    holds: bool
    violations: FloatArray

    @property
    def part(self) -> Part:
        """The block (n,) of every vertex."""
        return self.partition.part

    @property
    def violation(self) -> float:
        """The sum of all violations."""
        return float(self.violations.sum())

    def better_than(self, other: Scored) -> bool:
        """Return whether this costs less than `other`, or costs the same and violates less."""
        if self.cost > other.cost:
            return False
        return self.cost < other.cost * (1 - ROUNDING) or self.violation < other.violation

    def as_balanced_as(self, other: Scored) -> bool:
        """Return whether no kind of violation is worse than in `other`, by sum or worst block."""
        return bool(
            (self.violations.sum(axis=1) <= other.violations.sum(axis=1)).all()
            and (self.violations.max(axis=1) <= other.violations.max(axis=1)).all()
        )


def scored(graph: Graph, part: Part, contract: Contract, objective: str) -> Scored:
    """Return the blocks (n,) with their score, computed from scratch."""
    partition = Partition(part, contract.k)
    cost = COSTS[objective](metrics.quotient(graph, partition))
    weight, size = metrics.block_weights(graph, partition), metrics.block_sizes(partition)
    n_bytes = metrics.block_bytes(graph, partition)
    holds = contract.keeps(weight, size, n_bytes)
    scale = np.maximum(contract.targets, max(float(contract.targets.max()), 1e-300) * 1e-9)
    outside = np.maximum(np.maximum(contract.low - weight, weight - contract.high), 0) / scale
    over = np.maximum(n_bytes / contract.caps - 1, 0)
    violations = np.where(holds, 0.0, [outside, over, size == 0])
    return Scored(partition, cost, bool(holds.all()), violations)


def repaired(
    found: Scored, graph: Graph, contract: Contract, objective: str, fixed: IntVector = NO_VERTICES
) -> Scored:
    """Return the partition after `enforce`, or unchanged if that fails.

    fixed: the vertices that must stay in their blocks, ascending.
    """
    stays = flags_of(fixed, graph.n) if fixed.size else None
    try:
        kept = enforce(graph, found.partition, contract, fixed=stays)
    except (InfeasibleError, NotFoundError):
        return found
    return scored(graph, kept.partition.part, contract, objective)


MOST_BLOCKS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Refined:
    """A partition that is not worse than the given one, and a comparison of both.

    before, after: the objective's value. moved: number of vertices that changed block. holds:
    whether every block satisfies the contract; True if every block did before.
    """

    partition: Partition
    before: float
    after: float
    moved: int
    holds: bool

    def __repr__(self) -> str:
        return brief(self)


def refine(  # noqa: PLR0913 - public: one keyword for each choice
    graph: GraphLike,
    partition: PartitionLike,
    contract: Contract | None = None,
    *,
    objective: str = "cut",
    preset: str = "default",
    epsilon: float = 0.03,
    seed: int = 7,
    threads: int = 1,
    fixed: npt.ArrayLike | None = None,
) -> Refined:
    """Return a partition with a smaller objective that is not less balanced, or the given one.

    graph, partition: like the arguments of `evaluate`; without a contract, the number of blocks is
    the largest block number plus 1. objective: "cut", "total_volume" or "max_volume". preset:
    "fast", "default" or "strong". If the given partition violates `contract` (blocks too light, too
    heavy, over their bytes, or empty), the result violates it no more than before, both in sum and
    in the worst block; to satisfy a violated contract, use `enforce`. Without a contract,
    `own_contract` is used. fixed: flags (n,) of vertices that must stay in their blocks, whatever
    their weight and degree; None: all may move. Raises InputError if lengths differ, UsageError for
    unknown names and several weights per vertex. Deterministic.
    """
    graph = as_graph(graph)
    partition = _blocks_given(graph, partition, contract)
    check_options(objective, preset, seed, threads)
    if graph.n_constraints > 1:
        raise UsageError(f"refine balances one weight per vertex, not {graph.n_constraints}")
    if not 0 <= epsilon < 1:
        raise UsageError(f"epsilon must lie in [0, 1), not {epsilon}")
    contract = contract or own_contract(graph, partition, epsilon)
    if partition.k != contract.k:
        raise InputError(f"the partition has {partition.k} blocks, the contract {contract.k}")
    stays = NO_VERTICES if fixed is None else np.flatnonzero(as_flags(fixed, graph.n, "fixed"))
    best = given = scored(graph, partition.part, contract, objective)
    if graph.n - stays.size > 0 and graph.n > 1 and partition.k > 1:
        for method in _methods(graph, preset, stays):
            if method == "gentle" and best is not given:
                break
            options = RefineOptions(preset, objective, seed, threads, method)
            part = refined_blocks(graph, partition.part, contract, options, stays)
            found = scored(graph, part, contract, objective)
            if not found.as_balanced_as(given):
                found = repaired(found, graph, contract, objective, stays)
            if found.as_balanced_as(given) and found.better_than(best):
                best = found
    moved = int(np.count_nonzero(best.part != partition.part))
    better = partition if best is given else best.partition
    return Refined(better, given.cost, best.cost, moved, best.holds)


def _blocks_given(graph: Graph, partition: PartitionLike, contract: Contract | None) -> Partition:
    """Return the checked partition.

    If it is not a Partition, its number of blocks is that of the contract, or without a contract
    the largest block number plus 1.
    """
    if isinstance(partition, Partition):
        return partition.checked_for(graph.n)
    if contract is not None:
        return as_partition(partition, graph, contract.k)
    part = as_partition(partition, graph, MOST_BLOCKS).part
    return Partition(part, int(part.max(initial=0)) + 1)


def _methods(graph: Graph, preset: str, fixed: IntVector) -> tuple[str, ...]:
    """Return the methods of refined_blocks to try, in order."""
    if preset == "fast" or is_uneven(graph, fixed):
        return ("refined", "gentle")
    return ("rounded", "refined", "gentle")


class RefineOptions(NamedTuple):
    """How `refined_blocks` refines; preset, objective, seed and threads are those of `refine`.

    method: "rounded": diffusion on coarse levels, then refinement on all levels, which usually
    gains most; "refined": refinement on all levels; "gentle": refinement on the finest level only,
    where all cut edges have the same price. The first two move clusters and price edges by block,
    so the objective may increase; "gentle" never increases it. reach: see Preset; None: the value
    of the preset.
    """

    preset: str = "default"
    objective: str = "cut"
    seed: int = 7
    threads: int = 1
    method: str = "rounded"
    reach: float | None = None


def refined_blocks(
    graph: Graph,
    part: Part,
    contract: Contract,
    options: RefineOptions,
    fixed: IntVector = NO_VERTICES,
) -> Part:
    """Return blocks (n,) refined from `part` (n,) int32, by `options.method`.

    fixed: the vertices that must stay in their blocks, ascending.
    """
    preset, objective, seed, threads, method, reach = options
    chosen = PRESETS[preset]
    if reach is not None:
        chosen = replace(chosen, reach=reach)
    task = MultilevelTask(contract, chosen, seed, threads)
    if is_uneven(graph, fixed) and method != "gentle":
        return propagation_blocks(
            graph, contract, edge_weights(graph), preset=preset, objective=objective, seed=seed,
            given=part, fixed=fixed,
        )  # fmt: skip
    order = vertex_order(graph, threads, fixed)
    level = finest(graph, order, graph.weights(), edge_weights(graph), threads)
    along = part[order]
    level.fixed = places_of(fixed, order)
    # If no block has two fixed vertices, `anchored` would return an equal graph.
    several = np.unique(part[fixed]).size < fixed.size
    whole = anchored(level, along, threads) if several else None
    if whole is not None:
        inner, blocks = whole.level, whole.part
    else:
        inner, blocks = level, along
    if method != "gentle":
        for cycle in range(chosen.cycles):
            rounding = THOROUGH if method == "rounded" and cycle == 0 else None
            blocks = v_cycle(inner, blocks, replace(task, seed=seed + cycle), rounding)
    elif objective == "cut":
        _refine_whole(inner, blocks, task)
    along = blocks if whole is None else projected(whole, blocks, threads)
    if objective != "cut":
        lower_volumes(level, along, task, AIMS[objective])
    return scattered(along, order, threads)


def _refine_whole(level: GraphLevel, part: Part, task: MultilevelTask) -> None:
    """Reduce the cut in place, on this level only; cut edges of all blocks have the same price."""
    k, effort = task.contract.k, task.preset.fm_without_cuts
    price, limits = np.full(k, EVEN_PRICE, np.int64), limits_on(level, task, 0)
    state = BlockState(part, block_weights(level, part, k), price, limits)
    flag = boundary_flags(level, part, task.threads)
    refine_level(level, state, flag, effort.finest_rounds, effort, task.seed, task.threads)


def own_contract(graph: Graph, partition: Partition, epsilon: float) -> Contract:
    """Return a contract that the partition satisfies: every block's weight may change by epsilon.

    No block may become lighter than the lightest block or heavier than the heaviest block is now.
    """
    weight = metrics.block_weights(graph, partition)
    low: FloatArray = np.maximum((1 - epsilon) * weight, weight.min())
    high: FloatArray = np.minimum((1 + epsilon) * weight, weight.max())
    return Contract(weight, np.minimum(low, weight), np.maximum(high, weight))
