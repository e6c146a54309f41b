"""Evaluate any edge partition on a platform, and check the figures that an edge plan states."""

from __future__ import annotations

from evener.arrays import IntArray
from evener.errors import InputError
from evener.io.accept import PlatformLike, as_platform
from evener.io.edges import EdgeReading, EdgesLike, as_edges
from evener.planning.evaluate import differing
from evener.planning.split import edge_contract, judged_edges
from evener.plans.edge_partition import EdgePartition
from evener.plans.edge_plan import EdgePlan
from evener.plans.partition import Contract


def evaluate_edges(
    edges: EdgesLike,
    partition: EdgePartition | IntArray,
    platform: PlatformLike,
    contract: Contract | None = None,
    *,
    epsilon: float = 0.03,
) -> EdgePlan:
    """Return any edge partition as an EdgePlan, with its metrics and whether it keeps a contract.

    edges, platform: see `split`; `read_edges` reads arcs and matrices. partition: the block of each
    edge, block b on device b. contract: None for that of `split` with this epsilon.

    Raises InputError for a partition of another number of edges or with other blocks, and the
    errors of `split` if no contract exists.
    """
    reading, platform = as_edges(edges), as_platform(platform)
    if not isinstance(partition, EdgePartition):
        partition = EdgePartition.of(partition, platform.k)
    partition.checked_for(reading.edges)
    if partition.k != platform.k:
        raise InputError(
            f"the partition has {partition.k} blocks, but there are {platform.k} devices"
        )
    if contract is None:
        contract = edge_contract(reading.edges, platform, epsilon)
    return judged_edges(reading, partition, platform, contract)


def refuse_forged_edges(plan: EdgePlan, reading: EdgeReading, file: str) -> None:
    """Raise InputError if figures stored in the plan in `file` do not match its partition."""
    judged = judged_edges(reading, plan.partition, plan.platform, plan.contract)
    wrong = list(differing(plan.metrics, judged.metrics, ""))
    wrong += list(differing(dict(plan.graph), dict(judged.graph), "graph"))
    if wrong:
        more = f", and {len(wrong) - 1:,} more differ" if len(wrong) > 1 else ""
        raise InputError(
            f"stored figures do not match the graph: {wrong[0]}{more}",
            file=file,
            hint="The plan was changed, or another version made it. Make it again with `evener "
            "split`.",
        )
