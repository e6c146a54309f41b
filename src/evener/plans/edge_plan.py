"""EdgePlan: edges divided over the devices of a platform, with each block's contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evener.arrays import BoolArray, FloatArray
from evener.plans.edge_partition import EdgeMetrics, EdgePartition
from evener.plans.partition import RELATIVE_SLACK, Contract
from evener.platforms.platform import Platform
from evener.wording import plural, two_lines


@dataclass(frozen=True, eq=False)
class EdgePlan:
    """An edge partition for the devices of a platform, with its figures and its origin.

    partition: part[e] is the device of edge e. of: the kind of edges, which also defines their
    order: "graph" (edges u <= v), "arcs" (u -> v) or "matrix" (stored entries), sorted by the first
    number (row), then the second (column); or "file" (lines of a file, in its order). platform,
    contract: the devices, and the limits on their blocks' work [units] and memory [B]. metrics:
    costs of the partition. options: all options that influenced the result, with the reading
    options under "reading". graph: counts of vertices, of those with an edge ("touched"), and of
    edges. inputs: file name -> SHA-256. versions: program -> version. notes: a sentence on each
    oddity. cpu_seconds: CPU time to make the plan [s]; None if it was read from a file, or made by
    another program. order: name of the order in which the method processed clones of vertices, or
    edges; empty if it was read from a file, or made by another program.
    """

    partition: EdgePartition
    platform: Platform
    contract: Contract
    metrics: EdgeMetrics
    of: str
    options: Mapping[str, Any]
    graph: Mapping[str, Any]
    inputs: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    cpu_seconds: float | None = None
    order: str = ""

    def __repr__(self) -> str:
        first = plural(self.partition.m, "edge"), plural(self.platform.k, "device")
        copies = f"{self.metrics.copies:,} copies of vertices"
        return two_lines("EdgePlan", first, [copies, f"replication {self.metrics.replication:.3f}"])

    @property
    def holds(self) -> BoolArray:
        """Whether each block keeps its limits on work, and its bytes fit in the memory, (k,)."""
        contract, loads = self.contract, self.metrics.loads
        slack = RELATIVE_SLACK * np.maximum(contract.targets, 1.0)
        within = (loads >= contract.low - slack) & (loads <= contract.high + slack)
        return np.asarray(within & (self.metrics.bytes <= contract.caps))

    @property
    def relative_loads(self) -> FloatArray:
        """Each block's work as a multiple of its target, (k,)."""
        return self.metrics.relative_to(self.contract.targets)

    def verdict(self) -> str:
        """Return the plan's result in one sentence."""
        kept, k = int(self.holds.sum()), self.platform.k
        said = "Every block keeps its" if kept == k else f"{kept:,} of {k:,} blocks keep their"
        copies = plural(self.metrics.copies, "copy", "copies")
        return f"{said} contract; {copies} of vertices, replication {self.metrics.replication:.3f}."
