"""Judges any partition on a platform: certificate, prediction and the usual metrics."""

from __future__ import annotations

import numpy as np

from evener.accepting import (
    GraphLike,
    PartitionLike,
    PlatformLike,
    as_graph,
    as_partition,
    as_platform,
)
from evener.arrays import FloatArray
from evener.errors import InputError
from evener.graphs import Graph
from evener.partitions import Contract, Partition
from evener.plans import Evaluation, Stage
from evener.platforms import Platform
from evener.recounting import recounted, recounted_blocks
from evener.sizing.bounds import lower_bound
from evener.sizing.contracts import contract_for, contract_for_seconds, lowers_seconds
from evener.workloads import WEIGHTS, Workload


def evaluate(
    graph: GraphLike,
    partition: PartitionLike,
    platform: PlatformLike,
    contract: Contract | None = None,
    *,
    workload: Workload = WEIGHTS,
    constraint: int = 0,
) -> Evaluation:
    """Judge `partition` of `graph` with block b on device b of `platform`; O(n + m).

    graph, platform: as of `plan`; partition: also a file's name, or the block of each vertex.
    contract: what `plan` would promise on this machine, where None: memory, limits and predicted
    seconds where links are known, else sizes of least time within 3 %.
    graph: as it was read; what the workload makes of it is what blocks weigh and what seconds are
    predicted from, or the vertex weight `constraint`. Where the contract has limits on further
    weights, all are judged, and that one is the first.

    Everything but the bound is recounted from graph and partition by evener.recounting, which
    shares no code with whoever made the partition. Raises InputError where their lengths differ,
    and for seconds beyond all numbers.
    """
    graph, platform = as_graph(graph), as_platform(platform)
    partition = as_partition(partition, graph, platform.k)
    if contract is None:
        contract = usual_contract(graph, platform, workload)
    if contract.further and graph.n_constraints != contract.n_constraints:
        raise InputError(
            f"the graph has {graph.n_constraints} weights a vertex, "
            f"the contract {contract.n_constraints}"
        )
    with np.errstate(over="ignore"):
        bound = lower_bound(graph, platform, workload, constraint=constraint).seconds
    judged = recounted(
        graph, partition, platform, contract, workload=workload, constraint=constraint, bound=bound
    )
    if not np.isfinite(judged.prediction.seconds).all():
        device = platform.names[judged.prediction.bottleneck]
        raise InputError(
            f"device {device!r} would need more seconds than a number holds",
            hint="Check its speed and its links.",
        )
    return judged


def usual_contract(graph: Graph, platform: Platform, workload: Workload = WEIGHTS) -> Contract:
    """Return what the blocks of a plan with no option given keep to."""
    if lowers_seconds(graph, platform):
        return contract_for_seconds(graph, platform, workload)
    return contract_for(workload.weighted(graph), platform)[0]


def stage(name: str, graph: Graph, partition: Partition, contract: Contract) -> Stage:
    """Return the figures of a partition on its way to `contract`; O(n + m).

    graph: as the workload weighs it.
    """
    blocks = recounted_blocks(graph, partition, np.asarray(graph.weights(), np.float64)[:, None])
    return Stage(
        name,
        blocks.edge_cut,
        int(blocks.volumes.max()),
        int(blocks.volumes.sum()),
        int(blocks.neighbours.max()),
        *_extremes(blocks.weights[:, 0], contract),
    )


def stage_of(name: str, judged: Evaluation) -> Stage:
    """Return the figures of a partition that has been judged."""
    certificate = judged.certificate
    return Stage(
        name,
        judged.edge_cut,
        judged.max_volume,
        judged.total_volume,
        int(certificate.neighbours.max()),
        *_extremes(certificate.weights, certificate.contract),
        seconds=judged.prediction.makespan,
    )


def _extremes(weights: FloatArray, contract: Contract) -> tuple[float, float]:
    """Least and largest weight / target of the blocks that are to have any."""
    asked = contract.targets > 0
    if not asked.any():
        return 1.0, 1.0
    ratios = weights[asked] / contract.targets[asked]
    return float(ratios.min()), float(ratios.max())
