"""The whole story on one page: from a graph and a platform to a certified plan.

    platform + graph -> sizes and contracts -> partition -> contracts enforced -> judged -> Plan
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from evener.errors import InputError
from evener.evaluating import evaluate
from evener.graphs import Graph
from evener.metrics import BYTES_PER_VALUE
from evener.partitioning.enforce import Enforced, enforce
from evener.partitioning.registry import Request, Result, partition_with
from evener.partitions import Contract, Partition
from evener.plans import Plan
from evener.platforms import Platform
from evener.sizing import contract_for

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class PlanOptions:
    """Everything that chooses a plan, beside graph and platform.

    tool: a partitioner's name, or "auto". preset: "fast", "default" or "strong". objective: "cut"
    or "total_volume". seed, threads. epsilon: how far a block may be off its target, relative,
    both ways. connected: blocks in one piece. bytes_per_value [B]: what a boundary vertex sends.
    time_limit [s]: for tools that run in a process of their own.
    """

    tool: str = "auto"
    preset: str = "default"
    objective: str = "cut"
    seed: int = 7
    epsilon: float = 0.03
    threads: int = 2
    connected: bool = False
    bytes_per_value: float = BYTES_PER_VALUE
    time_limit: float = 600.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.bytes_per_value) and self.bytes_per_value >= 0):
            raise InputError(f"bytes_per_value must not be negative, not {self.bytes_per_value}")


def plan(
    graph: Graph,
    platform: Platform,
    options: PlanOptions | None = None,
    *,
    inputs: Mapping[str, str] | None = None,
    notes: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> Plan:
    """Divide `graph` over the devices of `platform`, every block certified against its device.

    inputs: file name -> SHA-256, kept with the plan. progress: called with (step, fraction).
    Raises InfeasibleError where the graph does not fit, UsageError where the tool cannot do what
    is asked, ToolError where it fails. Same arguments, same plan, whatever the threads.
    """
    options = options or PlanOptions()
    tell = progress or _silent
    tell("sizes", 0.0)
    contract, sizes = contract_for(graph, platform, options.epsilon)
    tell("partitioning", 0.05)
    raw = _divide(graph, contract, options)
    tell("enforcing the contract", 0.75)
    kept = _enforce(graph, raw, contract, platform, options)
    tell("certifying", 0.95)
    judged = evaluate(
        graph, kept.partition, platform, contract, bytes_per_value=options.bytes_per_value
    )
    tell("done", 1.0)
    return Plan(
        kept.partition,
        platform,
        judged,
        sizes=sizes.sizes,
        saturated=sizes.saturated,
        options=asdict(options),
        graph=describe(graph),
        inputs=dict(inputs or {}),
        versions={"evener": version("evener"), "numpy": version("numpy"), raw.tool: raw.version},
        notes=(*notes, *raw.notes, *_remarks(kept, graph, platform)),
    )


def describe(graph: Graph) -> dict[str, Any]:
    """Return the graph's counts and what its vertices cost, for the plan's record."""
    return {
        "vertices": graph.n,
        "edges": graph.m,
        "weight": graph.total_weight,
        "unit_weights": graph.is_unit,
        "bytes_per_vertex": graph.bytes_per_vertex,
        "bytes_per_edge": graph.bytes_per_edge,
    }


def _divide(graph: Graph, contract: Contract, options: PlanOptions) -> Result:
    request = Request(
        contract.targets,
        epsilon=options.epsilon,
        seed=options.seed,
        threads=options.threads,
        objective=options.objective,
        preset=options.preset,
        time_limit=options.time_limit,
    )
    return partition_with(options.tool, graph, request)


def _enforce(
    graph: Graph, raw: Result, contract: Contract, platform: Platform, options: PlanOptions
) -> Enforced:
    partition = Partition(raw.part, contract.k)
    names = platform.names
    return enforce(graph, partition, contract, connected=options.connected, names=names)


def _remarks(kept: Enforced, graph: Graph, platform: Platform) -> list[str]:
    """Say what the repair did and what it could not do."""
    remarks = []
    if kept.moved:
        share = kept.moved / graph.n
        remarks.append(f"{kept.moved:,} vertices ({share:.2%}) moved to keep every contract")
    if kept.disconnected:
        blocks = ", ".join(platform.names[b] for b in kept.disconnected)
        remarks.append(f"not in one piece, although connected blocks were asked for: {blocks}")
    return remarks


def _silent(step: str, fraction: float) -> None:
    """Show no progress."""
