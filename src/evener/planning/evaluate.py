"""Evaluates any partition on a platform, and checks the figures that a plan states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.io.accept import (
    GraphLike,
    PartitionLike,
    PlatformLike,
    as_partition,
    as_platform,
    take_graph,
)
from evener.plans import metrics
from evener.plans.counts import counted_blocks, in_its_makespan, judged
from evener.plans.partition import Contract, Partition
from evener.plans.plan import Evaluation, Plan, Stage
from evener.plans.workload import WEIGHTS, Workload
from evener.platforms.platform import Platform
from evener.sizing.bounds import lower_bound
from evener.sizing.contracts import contract_for, contract_for_seconds, seconds_differ

ROUNDING = 1e-9  # relative: sums of floating-point numbers depend on their order


def evaluate(
    graph: GraphLike,
    partition: PartitionLike,
    platform: PlatformLike,
    contract: Contract | None = None,
    *,
    workload: Workload = WEIGHTS,
    constraint: int = 0,
) -> Evaluation:
    """Return certificate, prediction and metrics of `partition`, block b on device b; O(n + m).

    graph, platform: see `plan`; the graph as it was read, with one or several weights per vertex.
    partition: a Partition, a file's name, or the block of each vertex. contract: None for that of a
    plan with default options, see `usual_contract`. The weights of blocks and the predicted seconds
    follow the workload's work, or else the weight `constraint`. If the contract limits further
    weights, these are evaluated, too, after that weight.

    Everything is counted anew from graph and partition. Raises InputError if lengths differ, and
    for seconds too large for floating point.
    """
    taken, platform = take_graph(graph), as_platform(platform)
    graph, workload = taken.graph, workload.settled(taken.exchange)
    workload.refuse_parts_of_faces(graph)
    partition = as_partition(partition, graph, platform.k)
    if contract is None:
        contract = usual_contract(graph, platform, workload)
    if contract.further and graph.n_constraints != contract.n_constraints:
        raise InputError(
            f"the graph has {graph.n_constraints} weights per vertex, but the contract has "
            f"{contract.n_constraints}"
        )
    with np.errstate(over="ignore"):
        bound = lower_bound(graph, platform, workload, constraint=constraint).seconds
    work = workload.work(graph) if any(workload.shares) else graph.weights(constraint)
    further = [graph.weights(i) for i in range(1, contract.n_constraints)]
    loads = np.column_stack([work, *further]).astype(np.float64, copy=False)
    counts = counted_blocks(graph, partition, loads, of_faces=workload.of_faces)
    found = judged(counts, platform, contract, workload, bound)
    if not np.isfinite(found.prediction.seconds).all():
        device = platform.names[found.prediction.bottleneck]
        raise InputError(
            f"device {device!r} takes too long: its seconds exceed the largest floating-point "
            f"number",
            hint="Check its speed and its links.",
        )
    return found


def evaluate_for_seconds(
    graph: Graph, partition: Partition, platform: Platform, workload: Workload = WEIGHTS
) -> Evaluation:
    """Return the evaluation of a partition under the contract of a plan for seconds.

    Under this contract, blocks satisfy memory and the user's limits, and no device finishes later
    than the makespan that is predicted for this partition, apart from rounding.
    """
    contract = contract_for_seconds(graph, platform, workload)
    return in_its_makespan(evaluate(graph, partition, platform, contract, workload=workload))


def usual_contract(graph: Graph, platform: Platform, workload: Workload = WEIGHTS) -> Contract:
    """Return the contract of a plan made with default options.

    If links are known, it demands memory and the user's limits; else sizes of least time, within 3
    %.
    """
    if seconds_differ(platform) and graph.n_constraints == 1:  # as PlanOptions.settled decides
        return contract_for_seconds(graph, platform, workload)
    return contract_for(workload.weighted(graph), platform)[0]


def stage(
    name: str, graph: Graph, partition: Partition, contract: Contract, *, of_faces: bool = False
) -> Stage:
    """Return the figures of a partition at a step before the final one, for a plan's record.

    O(n + m). graph: with the workload's weights. contract: the one that the final partition must
    satisfy. of_faces: whether values are sent for faces.
    """
    loads = np.asarray(graph.weights(), np.float64)[:, None]
    blocks = counted_blocks(graph, partition, loads, of_faces=of_faces)
    volumes = metrics.comm_volumes(blocks.between)
    return Stage(
        name,
        blocks.edge_cut,
        int(volumes.max()),
        int(volumes.sum()),
        int(metrics.neighbours(blocks.between).max()),
        *_extremes(blocks.weights[:, 0], contract),
    )


def stage_of(name: str, judged: Evaluation) -> Stage:
    """Return the figures of an evaluated partition as a step of a plan."""
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
    """Return the minimum and maximum weight / target of the blocks with a target above zero."""
    asked = contract.targets > 0
    if not asked.any():
        return 1.0, 1.0
    ratios = weights[asked] / contract.targets[asked]
    return float(ratios.min()), float(ratios.max())


def misstated(plan: Plan, graph: Graph) -> list[str]:
    """Return the names of the plan's figures that a recount does not confirm.

    graph: the one the plan was made from, as it was read. The contract is the plan's own. Raises
    InputError if the partition does not fit the graph.
    """
    counts = {"vertices": graph.n, "edges": graph.m}
    wrong = [
        f"graph.{name} is {plan.graph[name]!r}, but the graph has {count}"
        for name, count in counts.items()
        if plan.graph[name] != count
    ]
    contract = plan.certificate.contract
    counted = evaluate(graph, plan.partition, plan.platform, contract, workload=plan.workload)
    stated = plan.evaluation
    if not stated.prediction.interior.any():
        # Plans of older versions do not state it; nothing else in them depends on it.
        counted = _without_interior(counted)
    return wrong + list(differing(stated, counted, ""))


def refuse_forged(plan: Plan, graph: Graph, file: str) -> None:
    """Raise InputError if figures in the plan in `file` do not match its partition of `graph`."""
    refuse_different(misstated(plan, graph), file, "evener plan")


def refuse_different(differences: Sequence[str], file: str, command: str) -> None:
    """Raise InputError if there are differences between stored and counted figures of a plan.

    command: the command that makes such a plan.
    """
    if differences:
        more = f", and {len(differences) - 1:,} more differ" if len(differences) > 1 else ""
        raise InputError(
            f"stored figures do not match the graph: {differences[0]}{more}",
            file=file,
            hint="The plan was changed, or another version made it. Make it again with "
            f"`{command}`.",
        )


def differing(stated: Any, counted: Any, name: str) -> Iterator[str]:
    """Yield the differences between two objects: dataclasses, arrays, tuples or plain values."""
    if is_dataclass(stated):
        for field in fields(stated):
            place = f"{name}.{field.name}" if name else field.name
            yield from differing(getattr(stated, field.name), getattr(counted, field.name), place)
    elif isinstance(stated, np.ndarray):
        yield from _differing_arrays(stated, np.asarray(counted), name)
    elif isinstance(stated, tuple) and len(stated) == len(counted):
        for i, (one, other) in enumerate(zip(stated, counted, strict=True)):
            yield from differing(one, other, f"{name}[{i}]")
    elif isinstance(stated, float) and isinstance(counted, float):
        yield from _differing_arrays(np.array([stated]), np.array([counted]), name, places=False)
    elif stated != counted:
        yield f"{name} is {stated!r}, but the count is {counted!r}"


def _differing_arrays(
    stated: np.ndarray[Any, Any], counted: np.ndarray[Any, Any], name: str, *, places: bool = True
) -> Iterator[str]:
    if stated.shape != counted.shape:
        yield f"{name} has shape {stated.shape}, but the count has shape {counted.shape}"
        return
    if stated.dtype.kind == counted.dtype.kind == "f":
        wrong = ~np.isclose(stated, counted, rtol=ROUNDING, atol=0)
    else:
        wrong = stated != counted
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        place = f"{name}[{', '.join(map(str, at))}]" if places else name
        yield f"{place} is {stated[at]:g}, but the count is {counted[at]:g}"


def _without_interior(judged: Evaluation) -> Evaluation:
    nothing = np.zeros_like(judged.prediction.interior)
    return replace(judged, prediction=replace(judged.prediction, interior=nothing))
