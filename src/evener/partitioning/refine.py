"""Improves anybody's partition: a better one, or the very one that was given.

The blocks are shrunk, refined level by level and, for volumes, once more on the whole graph, as
our own partitioner does with its own. What comes back is counted anew: it is returned only if it
is better and no further outside the contract.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evener import metrics
from evener.arrays import FloatArray
from evener.errors import InfeasibleError, InputError, NotFoundError, UsageError
from evener.graphs import Graph
from evener.partitioning.diffusion import THOROUGH
from evener.partitioning.enforce import enforce
from evener.partitioning.fm import EVEN_PRICE, Limits, boundary_flags, refine_level
from evener.partitioning.levels import Level, Part, finest, scattered
from evener.partitioning.multilevel import edge_weights, lower_volumes, v_cycle, vertex_order
from evener.partitioning.presets import PRESETS, Preset
from evener.partitioning.propagation import propagation_blocks
from evener.partitioning.skew import is_uneven
from evener.partitioning.volumes import AIMS
from evener.partitions import Contract, Partition

COSTS: dict[str, Callable[[metrics.Quotient], float]] = {
    "cut": metrics.edge_cut,
    "total_volume": lambda between: float(metrics.comm_volumes(between).sum()),
    "max_volume": lambda between: float(metrics.comm_volumes(between).max()),
}
HAIR = 1e-12  # of the objective: sums of real weights differ by that


@dataclass(frozen=True, eq=False)
class Refined:
    """A partition that is no worse than the one given, and what came of it.

    before, after: the objective's value. moved: vertices in another block than before. holds:
    whether every block keeps the contract; never False where the given one did.
    """

    partition: Partition
    before: float
    after: float
    moved: int
    holds: bool


def refine(
    graph: Graph,
    partition: Partition,
    contract: Contract | None = None,
    *,
    objective: str = "cut",
    preset: str = "default",
    epsilon: float = 0.03,
    seed: int = 7,
    threads: int = 1,
) -> Refined:
    """Return a partition with less of the objective, or the given one; never a less balanced one.

    objective: "cut", "total_volume" or "max_volume". preset: "fast", "default" or "strong". What
    the given partition breaks of `contract` (blocks too light, too heavy, over their bytes,
    empty) is broken no further, neither by the block that is worst off nor by all together;
    `enforce` repairs it. Without a contract every block keeps what it weighs, within epsilon, and
    the lightest and the heaviest weight of a block are not passed. Raises InputError where lengths
    differ, UsageError for unknown names and several weights per vertex. Deterministic.
    """
    partition.checked_for(graph.n)
    _check_options(graph, objective, preset, epsilon, seed, threads)
    contract = contract or own_contract(graph, partition, epsilon)
    if partition.k != contract.k:
        raise InputError(f"the partition has {partition.k} blocks, the contract {contract.k}")
    best = given = _Judged.of(graph, partition, contract, objective)
    if graph.n > 1 and partition.k > 1:
        for manner in _manners(graph, preset):
            if manner == "gentle" and best is not given:
                break
            part = refined_blocks(
                graph, partition.part, contract, preset=preset, objective=objective, seed=seed,
                threads=threads, manner=manner,
            )  # fmt: skip
            found = _Judged.of(graph, Partition(part, contract.k), contract, objective)
            if not found.as_balanced_as(given):
                found = _repaired(found, graph, contract, objective)
            if found.as_balanced_as(given) and found.better_than(best):
                best = found
    moved = int(np.count_nonzero(best.partition.part != partition.part))
    return Refined(best.partition, given.cost, best.cost, moved, best.holds)


def _manners(graph: Graph, preset: str) -> tuple[str, ...]:
    """Return the manners of refined_blocks that are tried; the gentle one where no other helps."""
    if preset == "fast" or is_uneven(graph):
        return ("refined", "gentle")
    return ("rounded", "refined", "gentle")


def refined_blocks(
    graph: Graph,
    part: Part,
    contract: Contract,
    *,
    preset: str = "default",
    objective: str = "cut",
    seed: int = 7,
    threads: int = 1,
    manner: str = "rounded",
) -> Part:
    """Return blocks (n,) made of those of `part` (n,) int32; options as of `refine`.

    manner: "rounded", by diffusion on small graphs, then refined, which wins most; "refined"
    only; or "gentle", on the whole graph alone and at even prices. Searches of the first two
    follow clusters and prices, and may end worse; the last lowers the objective or nothing.
    """
    chosen = PRESETS[preset]
    if is_uneven(graph) and manner != "gentle":
        return propagation_blocks(
            graph, contract, edge_weights(graph), preset=preset, objective=objective, seed=seed,
            given=part,
        )  # fmt: skip
    order = vertex_order(graph, threads)
    level = finest(graph, order, graph.weights(), edge_weights(graph), threads)
    along = part[order]
    if manner != "gentle":
        for cycle in range(chosen.cycles):
            rounding = THOROUGH if manner == "rounded" and cycle == 0 else None
            along = v_cycle(level, along, contract, chosen, seed + cycle, threads, rounding)
    elif objective == "cut":
        _refine_whole(level, along, contract, chosen, seed, threads)
    if objective != "cut":
        lower_volumes(level, along, contract, chosen, AIMS[objective], seed, threads)
    return scattered(along, order, threads)


def _refine_whole(
    level: Level, part: Part, contract: Contract, preset: Preset, seed: int, threads: int
) -> None:
    """Lower the cut in place, or leave it: all borders are equally dear."""
    slack: FloatArray = np.maximum(preset.slack * contract.targets, level.vwgt.max())
    limits = Limits(contract.low, contract.high, contract.low - slack, contract.high + slack)
    weight = np.bincount(part, weights=level.vwgt, minlength=contract.k).astype(np.float64)
    price = np.full(contract.k, EVEN_PRICE, np.int64)
    refine_level(
        level, part, weight, limits, price, boundary_flags(level, part, threads),
        preset.effort.finest_rounds, preset.effort, seed, threads,
    )  # fmt: skip


def own_contract(graph: Graph, partition: Partition, epsilon: float) -> Contract:
    """Return the contract that a partition keeps by itself: what its blocks weigh, within epsilon.

    No block may get lighter than the lightest or heavier than the heaviest of them.
    """
    weight = metrics.block_weights(graph, partition)
    low: FloatArray = np.maximum((1 - epsilon) * weight, weight.min())
    high: FloatArray = np.minimum((1 + epsilon) * weight, weight.max())
    return Contract(weight, np.minimum(low, weight), np.maximum(high, weight))


@dataclass(frozen=True, eq=False)
class _Judged:
    """A partition, its objective, whether it holds, and what blocks are off in all ways (3, k):
    outside their weights and over their bytes, relative, and empty.
    """

    partition: Partition
    cost: float
    holds: bool
    off: FloatArray

    @classmethod
    def of(cls, graph: Graph, partition: Partition, contract: Contract, objective: str) -> _Judged:
        cost = COSTS[objective](metrics.quotient(graph, partition))
        weight, size = metrics.block_weights(graph, partition), metrics.block_sizes(partition)
        n_bytes = metrics.block_bytes(graph, partition)
        holds = contract.keeps(weight, size, n_bytes)
        scale = np.maximum(contract.targets, max(float(contract.targets.max()), 1e-300) * 1e-9)
        outside = np.maximum(np.maximum(contract.low - weight, weight - contract.high), 0) / scale
        over = np.maximum(n_bytes / contract.caps - 1, 0)
        return cls(
            partition, cost, bool(holds.all()), np.where(holds, 0.0, [outside, over, size == 0])
        )

    def better_than(self, other: _Judged) -> bool:
        if self.cost > other.cost:
            return False
        return self.cost < other.cost * (1 - HAIR) or self.off.sum() < other.off.sum()

    def as_balanced_as(self, other: _Judged) -> bool:
        return bool(
            (self.off.sum(axis=1) <= other.off.sum(axis=1)).all()
            and (self.off.max(axis=1) <= other.off.max(axis=1)).all()
        )


def _repaired(found: _Judged, graph: Graph, contract: Contract, objective: str) -> _Judged:
    """Return the partition with its contract enforced, or as it is where that is impossible."""
    try:
        kept = enforce(graph, found.partition, contract)
    except (InfeasibleError, NotFoundError):
        return found
    return _Judged.of(graph, kept.partition, contract, objective)


def _check_options(
    graph: Graph, objective: str, preset: str, epsilon: float, seed: int, threads: int
) -> None:
    for what, value, known in (("objective", objective, COSTS), ("preset", preset, PRESETS)):
        if value not in known:
            hint = f"There are: {', '.join(known)}."
            raise UsageError(f"there is no {what} {value!r}", hint=hint)
    if graph.n_constraints > 1:
        raise UsageError(f"refine balances one weight per vertex, not {graph.n_constraints}")
    if not 0 <= epsilon < 1:
        raise UsageError(f"epsilon must lie in [0, 1), not {epsilon}")
    if seed < 0 or threads < 1:
        raise UsageError("the seed must not be negative, and threads must be one or more")
