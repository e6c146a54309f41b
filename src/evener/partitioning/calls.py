"""How each partitioner is called: with a graph and a request, for blocks and CPU seconds.

Others run in a child process, ours in this one. What they divide is not checked here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.graphs.graph import Graph
from evener.jit import cpu_seconds
from evener.partitioning.external.children import Outcome, run_in_child
from evener.partitioning.requests import Request
from evener.plans.partition import Contract
from evener.sizing.rounding import limits

WITHOUT_EDGES = "made from coordinates alone: edges and their weights are not looked at"

Blocks = npt.NDArray[np.int32]


def foreign(graph: Graph, request: Request, *, tool: str, module: str, threads: int = 1) -> Outcome:
    """Run one of `evener.partitioning.external` in a child process."""
    from evener.partitioning.external.jobs import Job

    several = graph.n_constraints > 1
    job = Job(
        tool,
        graph.xadj,
        graph.adjncy,
        graph.vwgt,
        graph.adjwgt,
        request.contract(graph).table("targets") if several else request.targets,
        request.epsilon,
        request.seed,
        min(request.threads, threads),
        request.objective,
        request.preset,
    )
    return run_in_child(job, f"evener.partitioning.external.{module}", request.time_limit)


def coordinates_alone(graph: Graph, request: Request, *, function: str) -> Outcome:
    """Run one of `evener.partitioning.initial.geometric` in this process."""
    from evener.partitioning.initial import geometric

    weights = np.asarray(graph.weights(), np.float64)
    targets = request.targets * (weights.sum() / request.targets.sum())
    divide = getattr(geometric, function)
    # Compiling or loading the kernels is no more the call's than others' imports are theirs.
    points = np.asarray(graph.coords)
    divide(points[:2], weights[:2], np.ones(2))
    start = time.thread_time()
    part = divide(points, weights, targets)
    seconds = time.thread_time() - start
    return Outcome(part, seconds, _ours(), (WITHOUT_EDGES,))


def multilevel(graph: Graph, request: Request) -> Outcome:
    """Run our own multilevel partitioner in this process."""
    from evener.partitioning.portfolio import best_blocks

    starts: list[Blocks] = []
    outcome = _with_both_limits(partial(best_blocks, starts=starts), graph, request)
    return replace(outcome, start=("placed", starts[0])) if starts else outcome


def several(graph: Graph, request: Request) -> Outcome:
    """Run our own partitioner for several weights per vertex, in this process."""
    from evener.partitioning.multiconstraint.multiconstraint import several_blocks

    start = cpu_seconds()
    part = several_blocks(
        graph, request.contract(graph), preset=request.preset, seed=request.seed,
        threads=request.threads,
    )  # fmt: skip
    return Outcome(part, cpu_seconds() - start, _ours(), ())


def hierarchical(graph: Graph, request: Request) -> Outcome:
    """Run our own partitioner along the machine's tree, in this process."""
    from evener.partitioning.hierarchical import hierarchical_blocks
    from evener.partitioning.initial.trees import simplest

    tree = simplest(np.zeros((0, request.k), np.int64) if request.tree is None else request.tree)
    outcome = _with_both_limits(partial(hierarchical_blocks, tree=tree), graph, request)
    how = "the machine's devices all sit side by side: nothing to go along"
    if len(tree):
        groups = [int(row.max()) + 1 for row in tree]
        how = f"divided along the machine: {' > '.join(f'{g:,}' for g in [*groups, request.k])}"
    return replace(outcome, notes=(*outcome.notes, how))


def georef(graph: Graph, request: Request) -> Outcome:
    """Run Geographer-R in this process."""
    from evener.partitioning.geographer import georef_blocks

    def divide(graph: Graph, contract: Contract, *, objective: str, **more: Any) -> Blocks:
        del objective  # it is the cut: others are refused before
        return georef_blocks(graph, contract, **more)

    return _with_both_limits(divide, graph, request)


def kmeans(graph: Graph, request: Request) -> Outcome:
    """Run balanced k-means alone in this process."""
    from evener.partitioning.initial.kmeans import kmeans_blocks

    def divide(graph: Graph, contract: Contract, *, threads: int, **_: Any) -> Blocks:
        weights = None if graph.is_unit else graph.weights()
        return kmeans_blocks(np.asarray(graph.coords), weights, contract.targets, threads=threads)

    return replace(_with_both_limits(divide, graph, request), notes=(WITHOUT_EDGES,))


def _with_both_limits(divide: Callable[..., Blocks], graph: Graph, request: Request) -> Outcome:
    targets = request.targets * (graph.total_weight / request.targets.sum())
    low, high = request.low, request.high
    if low is None or high is None:
        none = np.full(targets.size, np.inf)
        low, high = limits(targets, request.epsilon, none, whole=graph.is_unit)
    start = cpu_seconds()
    part = divide(
        graph, Contract(targets, low, high), preset=request.preset, objective=request.objective,
        seed=request.seed, threads=request.threads,
    )  # fmt: skip
    return Outcome(part, cpu_seconds() - start, _ours(), ())


@cache
def _ours() -> str:
    """What made the blocks; to ask the installation takes milliseconds."""
    from importlib.metadata import version

    return f"evener {version('evener')}"
