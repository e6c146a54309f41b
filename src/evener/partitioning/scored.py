"""Judged: a partition, its objective and how far it is outside its contract, to compare by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray
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
HAIR = 1e-12  # of the objective: sums of real weights differ by that


@dataclass(frozen=True, eq=False)
class Judged:
    """A partition, its objective, whether it holds, and what blocks are off in all ways (3, k):
    outside their weights and over their bytes, relative, and empty.
    """

    partition: Partition
    cost: float
    holds: bool
    off: FloatArray

    @classmethod
    def of(cls, graph: Graph, partition: Partition, contract: Contract, objective: str) -> Judged:
        """Count everything anew."""
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

    def better_than(self, other: Judged) -> bool:
        """Whether it has less of the objective, or as much and less off."""
        if self.cost > other.cost:
            return False
        return self.cost < other.cost * (1 - HAIR) or self.off.sum() < other.off.sum()

    def as_balanced_as(self, other: Judged) -> bool:
        """Whether in no way it is further off, neither in all nor where it is worst."""
        return bool(
            (self.off.sum(axis=1) <= other.off.sum(axis=1)).all()
            and (self.off.max(axis=1) <= other.off.max(axis=1)).all()
        )


def repaired(found: Judged, graph: Graph, contract: Contract, objective: str) -> Judged:
    """Return the partition with its contract enforced, or as it is where that is impossible."""
    try:
        kept = enforce(graph, found.partition, contract)
    except (InfeasibleError, NotFoundError):
        return found
    return Judged.of(graph, kept.partition, contract, objective)
