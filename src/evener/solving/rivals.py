"""What seconds are measured against: METIS with speeds as targets, and the plain plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from evener import metrics
from evener.arrays import FloatArray
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
    # To lay out the machine's tree takes milliseconds, and one tool alone goes along it.
    along = platform if options.tool == "hierarchical" else None
    raw = partition_with(options.tool, graph, options.request(contract, along))
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


def may_be_mapped_below(seconds: float, task: Task, one: Candidate, contract: Contract) -> bool:
    """Whether a mapping of these blocks may be done sooner than that [s], by a lower bound.

    Each block on a device of its own, where that device's contract lets it, must be done sooner.
    """
    sooner = least_on(task, one, contract) < seconds
    if not sooner.any(axis=1).all():
        return False
    return bool((maximum_bipartite_matching(csr_array(sooner), "column") >= 0).all())


def least_on(task: Task, one: Candidate, contract: Contract) -> FloatArray:
    """(k, k) seconds that each block takes at least on each device, infinity where it may not go.

    Its messages cost what the cheapest links of that device do, the largest one by the cheapest.
    """
    k, costs, loads = task.platform.k, task.costs, one.loads
    slack = RELATIVE_SLACK * np.maximum(contract.targets, 1e-300)
    fits = (loads[:, None] >= contract.low - slack) & (loads[:, None] <= contract.high + slack)
    np.fill_diagonal(fits, True)
    seconds = np.empty((k, k))
    for model in {id(model): model for model in task.models}.values():
        own = np.array([other is model for other in task.models])
        seconds[:, own] = (loads / np.asarray(model.speed(loads)))[:, None]
    between, many = one.between, metrics.neighbours(one.between)
    if not costs.overlap and many.any():
        # Rows of links without that of a device with itself, the cheapest first.
        alpha, beta = (
            np.sort(cost[~np.eye(k, dtype=bool)].reshape(k, k - 1), axis=1)[:, : many.max()]
            for cost in (costs.alpha, costs.beta)
        )
        values = np.zeros((k, many.max()))
        values[np.arange(values.shape[1]) < many[:, None]] = between.sent + between.received
        fixed = np.cumsum(np.pad(alpha, ((0, 0), (1, 0))), axis=1)
        seconds += fixed[:, many].T + -np.sort(-values, axis=1) @ beta.T
    return np.where(fits, seconds + costs.fixed, np.inf)
