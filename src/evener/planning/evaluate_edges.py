"""Evaluates any edge partition on a platform, and checks what an edge plan states of its own."""

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
    """Return any tool's edge partition as an EdgePlan: its metrics, whether it keeps a contract.

    edges, platform: as of `split`; `read_edges` reads arcs and matrices. partition: the block of
    each edge, block b on device b. contract: None for what `split` promises with this epsilon.

    Raises InputError for a partition of another number of edges or with other blocks, and what
    `split` raises where there is no contract.
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
    """Raise InputError where the plan in `file` misstates its partition of these edges."""
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
