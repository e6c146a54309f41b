"""Scored: a partition with its objective and how far it is outside its contract, to compare by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray, Part
from evener.errors import InfeasibleError, NotFoundError
from evener.graphs.graph import Graph
from evener.partitioning.enforce import enforce
from evener.plans import metrics
from evener.plans.partition import Contract, Partition

COSTS: dict[str, Callable[[metrics.Quotient], float]] = {
    "cut": metrics.edge_cut,
    "total_volume": lambda between: float(metrics.comm_volumes(between).sum()),
    "max_volume": lambda between: float(metrics.comm_volumes(between).max()),
}
ROUNDING = 1e-12  # of the objective: sums of real weights in another order differ by no more


@dataclass(frozen=True, eq=False)
class Scored:
    """A partition and its score.

    cost: the objective. violations (3, k): by how much each block is outside its weights, relative
    to its target; over its bytes, relative to its cap; and 1 where it is empty. holds: whether
    every block keeps the contract, which implies no violation.
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
        """Return whether it costs less, or no more and violates less."""
        if self.cost > other.cost:
            return False
        return self.cost < other.cost * (1 - ROUNDING) or self.violation < other.violation

    def as_balanced_as(self, other: Scored) -> bool:
        """Return whether in no kind of violation its sum, or its worst block, is worse."""
        return bool(
            (self.violations.sum(axis=1) <= other.violations.sum(axis=1)).all()
            and (self.violations.max(axis=1) <= other.violations.max(axis=1)).all()
        )


def scored(graph: Graph, part: Part, contract: Contract, objective: str) -> Scored:
    """Return the blocks (n,) with their score, all counted from the graph."""
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


def repaired(found: Scored, graph: Graph, contract: Contract, objective: str) -> Scored:
    """Return the partition with its contract enforced, or as it is where that is impossible."""
    try:
        kept = enforce(graph, found.partition, contract)
    except (InfeasibleError, NotFoundError):
        return found
    return scored(graph, kept.partition.part, contract, objective)
