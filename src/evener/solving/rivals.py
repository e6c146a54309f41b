"""What seconds are measured against: METIS with speeds as targets, and the plain plan."""

from __future__ import annotations

import numpy as np

from evener.errors import UsageError
from evener.mapping.blocks import map_blocks
from evener.partitioning.enforce import enforce
from evener.partitioning.registry import Result, partition_with
from evener.partitioning.requests import Request
from evener.partitioning.tools import TOOLS
from evener.partitions import Partition
from evener.planning_options import PlanOptions
from evener.sizing import settled
from evener.solving.judging import Part, Task

METIS_EPSILON = 0.03  # ufactor 30


def metis_blocks(task: Task, options: PlanOptions) -> Result:
    """Return METIS's k-way blocks with the devices' speeds as targets.

    Raises UsageError where it is not installed, ToolError where it fails, InfeasibleError where
    there are fewer vertices than devices.
    """
    absent = TOOLS["metis"].available()
    if absent is not None:
        raise UsageError(absent)
    request = Request(
        task.platform.speeds, METIS_EPSILON, options.seed, time_limit=options.time_limit
    )
    return partition_with("metis", task.weighted, request)


def plain_blocks(task: Task, options: PlanOptions) -> tuple[Result, Part]:
    """Return what a plan for the cut is, before and after it keeps its contract and is mapped.

    Raises as planning does.
    """
    graph = task.weighted
    contract, sizes = options.contract(graph, task.platform)
    platform = settled(task.platform, sizes)
    raw = partition_with(options.tool, graph, options.request(contract, platform))
    kept = enforce(
        graph, Partition(raw.part, contract.k), contract,
        connected=options.connected, names=platform.names,
    ).partition  # fmt: skip
    if options.mapping and platform.has_links and platform.k > 1:
        mapping = map_blocks(
            graph, kept, platform, contract, bytes_per_value=task.workload.bytes_per_value
        )
        kept = mapping.applied(kept)
    return raw, np.asarray(kept.part)
