"""What seconds are measured against: METIS with speeds as targets, and the plain plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.errors import UsageError
from evener.graphs import Graph
from evener.mapping.blocks import map_blocks
from evener.partitioning.enforce import enforce
from evener.partitioning.registry import Result, partition_with
from evener.partitioning.requests import Request
from evener.partitioning.tools import TOOLS
from evener.partitions import RELATIVE_SLACK, Contract, Partition
from evener.planning_options import PlanOptions
from evener.platforms import Platform
from evener.sizing import settled
from evener.solving.judging import Candidate, Part, Task

METIS_EPSILON = 0.03  # ufactor 30


@dataclass(frozen=True, eq=False)
class Plain:
    """A plan for the cut before its blocks are mapped: blocks (n,), and what they keep to."""

    raw: Result
    partition: Partition
    contract: Contract
    platform: Platform


def metis_blocks(graph: Graph, platform: Platform, options: PlanOptions) -> Result:
    """Return METIS's k-way blocks with the devices' speeds as targets; graph: as weighted.

    Raises UsageError where it is not installed, ToolError where it fails, InfeasibleError where
    there are fewer vertices than devices.
    """
    absent = TOOLS["metis"].available()
    if absent is not None:
        raise UsageError(absent)
    request = Request(platform.speeds, METIS_EPSILON, options.seed, time_limit=options.time_limit)
    return partition_with("metis", graph, request)


def plain_blocks(graph: Graph, platform: Platform, options: PlanOptions) -> Plain:
    """Return what a plan for the cut is before mapping; graph: as weighted. Raises as planning."""
    contract, sizes = options.contract(graph, platform)
    platform = settled(platform, sizes)
    raw = partition_with(options.tool, graph, options.request(contract, platform))
    kept = enforce(
        graph, Partition(raw.part, contract.k), contract,
        connected=options.connected, names=platform.names,
    ).partition  # fmt: skip
    return Plain(raw, kept, contract, platform)


def mapped(graph: Graph, plain: Plain, options: PlanOptions) -> Part:
    """Return the plain plan's blocks (n,) where its mapping puts them."""
    mapping = map_blocks(
        graph, plain.partition, plain.platform, plain.contract,
        bytes_per_value=options.workload.bytes_per_value,
    )  # fmt: skip
    return np.asarray(mapping.applied(plain.partition).part)


def least_mapped(task: Task, one: Candidate, contract: Contract) -> float:
    """Seconds that no mapping of these blocks falls below, each going where its contract lets it.

    Every message is taken to be as cheap as the cheapest of its device.
    """
    k = task.platform.k
    if k == 1:
        return one.seconds
    costs, loads = task.costs, one.loads
    slack = RELATIVE_SLACK * np.maximum(contract.targets, 1e-300)
    fits = (loads[:, None] >= contract.low - slack) & (loads[:, None] <= contract.high + slack)
    np.fill_diagonal(fits, True)
    seconds = np.empty((k, k))
    for model in {id(model): model for model in task.models}.values():
        own = np.array([other is model for other in task.models])
        seconds[:, own] = (loads / np.asarray(model.speed(loads)))[:, None]
    if not costs.overlap:
        apart = ~np.eye(k, dtype=bool)
        alpha = np.min(costs.alpha, axis=1, where=apart, initial=np.inf)
        beta = np.min(costs.beta, axis=1, where=apart, initial=np.inf)
        sent = one.between.sent + one.between.received
        values = np.bincount(one.between.block, weights=sent, minlength=k)
        seconds += np.diff(one.between.starts)[:, None] * alpha + values[:, None] * beta
    return float(np.min(seconds + costs.fixed, axis=1, where=fits, initial=np.inf).max())
