"""Make an edge plan: divide edges over devices by their speeds; or evaluate any edge partition."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import Any, TypedDict, Unpack

import numpy as np

from evener.arrays import IntArray
from evener.errors import InfeasibleError, InputError, NotFoundError, UsageError, one_of
from evener.graphs.edge_list import BYTES_PER_LISTED_EDGE, EdgeList
from evener.graphs.graph import Graph
from evener.io.accept import PlatformLike, as_platform
from evener.io.edges import EdgeReading, EdgesLike, as_edges
from evener.planning.evaluate import differing, refuse_different
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.plans.edge_plan import EdgePlan
from evener.plans.partition import Contract
from evener.platforms.platform import Platform
from evener.sizing.contracts import contract_for
from evener.splitting.methods import AUTO, METHODS, split_with
from evener.splitting.orders import ORDERS
from evener.splitting.splits import PRESETS, Split
from evener.wording import memory, plural

TRIES = 4  # to divide, if copies of vertices do not fit into a memory


@dataclass(frozen=True)
class SplitOptions:
    """Options for dividing edges.

    method: one of evener.splitting.methods.METHODS. preset: "fast", "default" or "strong". epsilon:
    allowed relative deviation of a block's work from its target. order: the order in which
    spac-path and similar methods join the clones of a vertex, one of splitting.orders.ORDERS;
    "auto": the method's default. Raises UsageError for other values.
    """

    method: str = "spac"
    preset: str = "default"
    epsilon: float = 0.03
    seed: int = 7
    order: str = AUTO

    def __post_init__(self) -> None:
        one_of("method", self.method, tuple(METHODS))
        one_of("preset", self.preset, PRESETS)
        one_of("order", self.order, (AUTO, *ORDERS))
        if not 0 <= self.epsilon < 1:
            raise UsageError(f"epsilon must lie in [0, 1), not {self.epsilon}")
        if self.seed < 0:
            raise UsageError(f"the seed must not be negative, but is {self.seed}")


class SplitKeywords(TypedDict, total=False):
    """Any fields of SplitOptions."""

    method: str
    preset: str
    epsilon: float
    seed: int
    order: str


def split(
    edges: EdgesLike,
    platform: PlatformLike,
    options: SplitOptions = SplitOptions(),
    *,
    of: str = "graph",
    weighted: bool = False,
    inputs: Mapping[str, str] | None = None,
    notes: tuple[str, ...] = (),
    **keywords: Unpack[SplitKeywords],
) -> EdgePlan:
    """Divide edges over the devices of a platform; the work of every block satisfies its contract.

    edges: an EdgeList, a result of `read_edges`, a file's name, or any graph that `plan` accepts.
    of, weighted: how a file, graph or matrix becomes edges, see `read_edges`. platform: see `plan`.
    keywords: fields of SplitOptions, which replace those of `options`. inputs, notes: for the
    plan's record.

    Raises InfeasibleError if the work is zero, for more devices than edges and for too little
    memory, NotFoundError if no blocks within the contract are found. The same arguments give the
    same plan.
    """
    options = replace(options, **keywords)
    reading, platform = as_edges(edges, of=of, weighted=weighted), as_platform(platform)
    began = cpu_seconds_of_all()
    contract, made = _divided(reading.edges, platform, options)
    spent = cpu_seconds_of_all() - began
    plan = judged_edges(reading, made.partition, platform, contract)
    record = asdict(options) | ({"weighted": True} if reading.weighted else {})
    if options.order == AUTO:  # as plans were before there was this option
        del record["order"]
    if reading.asked:
        record["reading"] = dict(reading.asked)
    plan = replace(
        plan,
        options=record,
        inputs={**plan.inputs, **(inputs or {})},
        versions={name: version(name) for name in ("evener", "numpy", "pymetis")},
        notes=(*plan.notes, *notes, *made.notes, *_said(made.cut_pairs)),
        cpu_seconds=spent,
        order=made.order,
    )
    _refuse_disagreement(plan)
    return plan


def edge_contract(
    edges: EdgeList, platform: Platform, epsilon: float = 0.03, *, bytes_per_edge: float = 0.0
) -> Contract:
    """Return the limits on the work of each device's edges [units], and on their bytes.

    bytes_per_edge [B]: memory per edge, raised to that of an edge in an EdgeList if it is less;
    larger values reserve memory for copies of vertices. Raises InfeasibleError if the work is zero,
    for more devices than edges and for too little memory.
    """
    if edges.m == 0:
        raise InfeasibleError("the graph has no edges, so there is nothing to divide")
    if edges.total_weight == 0:
        raise InfeasibleError("all edges have weight zero, so there is no work to divide")
    if platform.k > edges.m:
        raise InfeasibleError(
            f"there are {platform.k:,} devices but only {plural(edges.m, 'edge')}: a block would "
            "be empty",
            hint="Use fewer devices or a larger graph.",
        )
    work: Any = edges.weights
    units = Graph(
        np.zeros(edges.m + 1, np.int64),
        np.empty(0, np.int32),
        vwgt=work,
        bytes_per_vertex=max(bytes_per_edge, BYTES_PER_LISTED_EDGE),
        bytes_per_edge=0,
    )
    contract = contract_for(units, platform, epsilon)[0]
    if work is not None and work.max() > contract.high.max():
        e = int(np.argmax(work))
        raise InfeasibleError(
            f"edge {e} has {work[e]:g} units of work, more than any block may have: "
            f"{contract.high.max():g}",
            hint="An edge cannot be divided. Use fewer devices, or increase --epsilon.",
        )
    return contract


def judged_edges(
    reading: EdgeReading, partition: EdgePartition, platform: Platform, contract: Contract
) -> EdgePlan:
    """Return a plan of these blocks and its figures, without the options of a method."""
    edges = reading.edges
    counts = {"vertices": edges.n, "touched": edges.touched, "edges": edges.m}
    metrics = edge_metrics(edges, partition)
    return EdgePlan(
        partition, platform, contract, metrics, reading.of, {}, counts, reading.inputs,
        notes=reading.notes,
    )  # fmt: skip


def cpu_seconds_of_all() -> float:
    """Return the CPU time of this process and of the tools that it ran in other processes [s]."""
    return sum(os.times()[:4])


def _divided(edges: EdgeList, platform: Platform, options: SplitOptions) -> tuple[Contract, Split]:
    """Return the contract and the blocks.

    If blocks do not fit their memory, edges are divided again with memory reserved for copies of
    vertices.
    """
    contract = edge_contract(edges, platform, options.epsilon)
    made = _split(edges, contract, options)
    if np.isinf(contract.caps).all():
        return contract, made
    for _ in range(TRIES):
        metrics = edge_metrics(edges, made.partition)
        over = metrics.bytes > contract.caps
        if not over.any():
            return contract, made
        each = float((metrics.bytes / np.maximum(metrics.edges, 1))[over].max())
        contract = edge_contract(edges, platform, options.epsilon, bytes_per_edge=each)
        made = _split(edges, contract, options)
    b = int(np.argmax(over))
    raise InfeasibleError(
        f"device {platform.names[b]!r} has {memory(contract.caps[b])}, but its edges and copies "
        f"of vertices need {memory(metrics.bytes[b])}",
        hint="Use more devices, or a graph with fewer edges.",
    )


def _split(edges: EdgeList, contract: Contract, options: SplitOptions) -> Split:
    return split_with(
        options.method,
        edges,
        contract,
        preset=options.preset,
        seed=options.seed,
        order=options.order,
    )


def _refuse_disagreement(plan: EdgePlan) -> None:
    """Raise NotFoundError if a block violates its contract."""
    if plan.holds.all():
        return
    b, contract = int(np.argmin(plan.holds)), plan.contract
    raise NotFoundError(
        f"the recounted figures of the plan violate its contract: block {b} has "
        f"{plan.metrics.loads[b]:g} units of work "
        f"instead of {contract.low[b]:g} to {contract.high[b]:g}",
        hint="The search and the recount disagree. Please report this with the graph and the "
        "machine.",
    )


def _said(cut: int) -> tuple[str, ...]:
    """Return a note on the number of edges cut in the graph of clones, if any."""
    if not cut:
        return ()
    return (f"{cut:,} edges had ends in two blocks and were placed in the emptier block",)


def evaluate_edges(
    edges: EdgesLike,
    partition: EdgePartition | IntArray,
    platform: PlatformLike,
    contract: Contract | None = None,
    *,
    epsilon: float = 0.03,
) -> EdgePlan:
    """Return any edge partition as an EdgePlan: its metrics, and whether it satisfies a contract.

    edges, platform: see `split`; pass arcs and matrices as results of `read_edges`. partition: the
    block of each edge, block b on device b. contract: None for that of `split` with this epsilon.

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
    refuse_different(wrong, file, "evener split")
