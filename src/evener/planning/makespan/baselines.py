"""What seconds are measured against: METIS at the same sizes, and the plan of least cut."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from evener.arrays import FloatArray, Part
from evener.errors import UsageError
from evener.graphs.graph import Graph
from evener.partitioning.enforce import enforce
from evener.partitioning.mapping.blocks import map_blocks
from evener.partitioning.registry import Result, partition_with
from evener.partitioning.requests import Request
from evener.partitioning.tools import TOOLS
from evener.planning.makespan.task import Candidate, Task
from evener.planning.options import PlanOptions
from evener.plans import metrics
from evener.plans.partition import RELATIVE_SLACK, Contract, Partition
from evener.platforms.platform import Platform
from evener.sizing import settled

METIS_TOOLS = {"metis": "METIS k-way", "metis-recursive": "METIS recursive bisection"}


@dataclass(frozen=True, eq=False)
class Aim:
    """The contract of blocks of given sizes, optimal under speed curves, memory and the user's
    limits; and the platform, its speeds being those at these sizes.
    """

    contract: Contract
    platform: Platform

    @classmethod
    def of(cls, graph: Graph, platform: Platform, options: PlanOptions) -> Aim:
        """Return what blocks are to keep to; graph: as weighted. Raises as contract_for does."""
        contract, sizes = options.contract(graph, platform)
        return cls(contract, settled(platform, sizes))


def metis_blocks(graph: Graph, aim: Aim, options: PlanOptions, tool: str) -> Result:
    """Return METIS's blocks for the targets of `aim`; graph: as weighted, tool: in METIS_TOOLS.

    Raises UsageError where it is not installed, ToolError where it fails.
    """
    absent = TOOLS[tool].available()
    if absent is not None:
        raise UsageError(absent)
    request = Request(
        aim.contract.targets, options.epsilon, options.seed, time_limit=options.time_limit
    )
    return partition_with(tool, graph, request)


def plain_blocks(graph: Graph, aim: Aim, options: PlanOptions) -> Result:
    """Return blocks of least cut for the contract of `aim`; graph: as weighted."""
    # To lay out the machine's tree takes milliseconds, and one tool alone goes along it.
    along = aim.platform if options.tool == "hierarchical" else None
    return partition_with(options.tool, graph, options.request(aim.contract, along))


def kept(graph: Graph, part: Part, aim: Aim, options: PlanOptions) -> Partition:
    """Return the blocks (n,) with the contract of `aim` enforced. Raises as enforce does."""
    return enforce(
        graph, Partition(part, aim.contract.k), aim.contract,
        connected=options.connected, names=aim.platform.names,
    ).partition  # fmt: skip


def mapped(graph: Graph, partition: Partition, aim: Aim, options: PlanOptions) -> Part:
    """Return blocks that keep the contract of `aim` on the devices where messages cost least."""
    mapping = map_blocks(
        graph, partition, aim.platform, aim.contract,
        bytes_per_value=options.workload.bytes_per_value,
    )  # fmt: skip
    return np.asarray(mapping.applied(partition).part)


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
        alpha, per_value = (
            np.sort(cost[~np.eye(k, dtype=bool)].reshape(k, k - 1), axis=1)[:, : many.max()]
            for cost in (costs.alpha, costs.per_value)
        )
        values = np.zeros((k, many.max()))
        values[np.arange(values.shape[1]) < many[:, None]] = between.sent + between.received
        fixed = np.cumsum(np.pad(alpha, ((0, 0), (1, 0))), axis=1)
        seconds += fixed[:, many].T + -np.sort(-values, axis=1) @ per_value.T
    return np.where(fits, seconds + costs.fixed, np.inf)
