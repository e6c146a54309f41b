"""Makes an edge plan: edges divided over devices by their speeds, with few copies of vertices."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from evener.errors import InfeasibleError, NotFoundError, UsageError, one_of
from evener.graphs.edge_list import BYTES_PER_LISTED_EDGE, EdgeList
from evener.graphs.graph import Graph
from evener.io.accept import PlatformLike, as_platform
from evener.plans.edge_partition import edge_metrics
from evener.plans.edge_plan import EdgePlan
from evener.plans.partition import Contract
from evener.platforms.platform import Platform
from evener.sizing.contracts import contract_for
from evener.splitting.methods import METHODS, split_with
from evener.splitting.splits import PRESETS


@dataclass(frozen=True)
class SplitOptions:
    """How edges are divided.

    method: one of evener.splitting.methods.METHODS. preset: "fast", "default" or "strong". epsilon:
    how far the work of a block may be from its target, relative. Raises UsageError for others.
    """

    method: str = "spac"
    preset: str = "default"
    epsilon: float = 0.03
    seed: int = 7

    def __post_init__(self) -> None:
        one_of("method", self.method, tuple(METHODS))
        one_of("preset", self.preset, PRESETS)
        if not 0 <= self.epsilon < 1:
            raise UsageError(f"epsilon must be from 0 to below 1, and is {self.epsilon}")
        if self.seed < 0:
            raise UsageError(f"the seed must not be negative, and is {self.seed}")


def split(
    edges: EdgeList,
    platform: PlatformLike,
    options: SplitOptions = SplitOptions(),
    *,
    of: str = "graph",
    inputs: Mapping[str, str] | None = None,
    notes: tuple[str, ...] = (),
) -> EdgePlan:
    """Divide edges over the devices of a platform; the work of every block keeps its contract.

    platform: as of `plan`. of: what the edges are, for the plan's record. Raises InfeasibleError
    for more devices than edges and for too little memory, NotFoundError where no blocks within the
    contract are found. The same arguments give the same plan.
    """
    platform = as_platform(platform)
    contract = _contract(edges, platform, options.epsilon)
    began = _cpu_seconds()
    made = split_with(options.method, edges, contract, preset=options.preset, seed=options.seed)
    spent = _cpu_seconds() - began
    metrics = edge_metrics(edges, made.partition)
    versions = {name: version(name) for name in ("evener", "numpy", "pymetis")}
    plan = EdgePlan(
        made.partition, platform, contract, metrics, of,
        asdict(options),
        {"vertices": edges.n, "touched": int(np.count_nonzero(edges.degrees)), "edges": edges.m},
        dict(inputs or {}), versions, (*notes, *_said(made.cut_pairs)), spent,
    )  # fmt: skip
    if not plan.holds.all():
        b = int(np.argmin(plan.holds))
        raise NotFoundError(
            f"no plan: block {b} has {metrics.loads[b]:g} units of work, where its contract says "
            f"{contract.low[b]:g} to {contract.high[b]:g}",
            hint="The search and the recount disagree: please report it, with graph and machine.",
        )
    return plan


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of the tools that it has run in others [s]."""
    return sum(os.times()[:4])


def _contract(edges: EdgeList, platform: Platform, epsilon: float) -> Contract:
    """Return the limits on the work of each device's edges."""
    if edges.m == 0:
        raise InfeasibleError("there is no edge to divide")
    if platform.k > edges.m:
        raise InfeasibleError(
            f"{platform.k:,} devices for {edges.m:,} edges: some block would be empty",
            hint="Use fewer devices or a larger graph.",
        )
    work: Any = edges.weights
    single = np.zeros(edges.m + 1, np.int64)
    units = Graph(
        single,
        np.empty(0, np.int32),
        vwgt=work,
        bytes_per_vertex=BYTES_PER_LISTED_EDGE,
        bytes_per_edge=0,
    )
    return contract_for(units, platform, epsilon)[0]


def _said(cut: int) -> tuple[str, ...]:
    """Return a note where edges were cut in the graph of clones."""
    if not cut:
        return ()
    return (f"{cut:,} edges had their ends in two blocks, and went to the emptier one",)
