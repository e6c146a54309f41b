"""Runs several partitioners side by side: same targets, same contract, CPU seconds.

On machines with links the plan for seconds stands beside them, which finds its own sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from evener.errors import EvenerError, one_of
from evener.graphs.graph import Graph
from evener.io.accept import GraphLike, PlatformLike, as_graph, as_platform
from evener.jit import cpu_seconds
from evener.partitioning.enforce import enforce
from evener.partitioning.initial.trees import device_tree
from evener.partitioning.mapping.blocks import map_blocks
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.partitioning.tools import TOOLS, Tool, find_tool
from evener.planning.evaluate import evaluate, stage_of
from evener.planning.keywords import PlanKeywords, options_with
from evener.planning.makespan.search import solve_seconds
from evener.planning.options import PlanOptions
from evener.plans.partition import Contract, Further, Mapping, Partition
from evener.plans.plan import Evaluation, Plan, Rival
from evener.platforms.platform import Platform
from evener.sizing import contract_for_seconds, settled
from evener.wording import brief

PLAN = "plan"  # the row of what `evener plan` would make, for seconds
WORTH_REPEATING = 60.0  # seconds of CPU: beyond, loading kernels is next to nothing


@dataclass(frozen=True, eq=False)
class Comparison:
    """One tool's result: as it came (raw); enforced, mapped to devices (kept); or why not.

    cpu_seconds: the tool's own CPU time [s]; enforce_seconds: the repair's. moved: vertices the
    repair moved. mapping: what going to other devices changed, or None where nothing did. note:
    the reason where raw or kept is None.
    """

    tool: str
    raw: Evaluation | None = None
    kept: Evaluation | None = None
    cpu_seconds: float = 0.0
    enforce_seconds: float = 0.0
    moved: int = 0
    note: str = ""
    mapping: Mapping | None = None

    def __repr__(self) -> str:
        return brief(self)


def compared_plan(
    graph: Graph,
    platform: Platform,
    options: PlanOptions,
    *,
    progress: Callable[[str, float], None] | None = None,
) -> Comparison:
    """Return what `evener plan` makes for seconds, judged by what such a plan promises.

    Raises InfeasibleError where the graph does not fit the platform at all.
    """
    asked = replace(options, objective="seconds", tool="auto")
    found = solve_seconds(graph, platform, asked, progress=progress)
    contract = contract_for_seconds(graph, platform, options.workload)
    judged = evaluate(
        graph, Partition(found.part, platform.k), platform, contract, workload=options.workload
    )
    return Comparison(PLAN, judged, judged, cpu_seconds=found.cpu_seconds)


def available_tools(graph: Graph, platform: Platform) -> list[str]:
    """Return the tools that are installed and can take this graph, in the registry's order.

    Along the tree of a platform that has none, nothing is divided: that tool is left out.
    """
    flat = len(device_tree(platform)) == 0
    return [
        name
        for name, tool in TOOLS.items()
        if tool.available() is None
        and (graph.coords is not None or not tool.needs_coordinates)
        and (graph.n_constraints == 1 or _balances_several(tool))
        and not (flat and name == "hierarchical")
    ]


def _balances_several(tool: Tool) -> bool:
    return tool.several is not None and tool.several.missing() is None


def compare(
    graph: GraphLike,
    platform: PlatformLike,
    tools: Sequence[str] | None = None,
    options: PlanOptions | None = None,
    *,
    progress: Callable[[str, float], None] | None = None,
    **keywords: Unpack[PlanKeywords],
) -> list[Comparison]:
    """Return one Comparison a tool, in the order given; a tool that fails says why in its note.

    tools: those that are installed and can, where None; one by its name alone, too. graph,
    platform, options, keywords: as of `plan`. Raises UsageError for a tool that does not exist,
    InfeasibleError where the graph does not fit the platform at all.
    """
    graph, platform = as_graph(graph), as_platform(platform)
    if tools is None:
        tools = available_tools(graph, platform)
    chosen = [tools] if isinstance(tools, str) else list(tools)
    for tool in chosen:
        one_of("partitioner", tool, (*TOOLS, "auto"))
    return _compared(graph, platform, chosen, options_with(options, keywords), progress)


def _compared(
    graph: Graph,
    platform: Platform,
    tools: Sequence[str],
    options: PlanOptions,
    progress: Callable[[str, float], None] | None,
) -> list[Comparison]:
    counted = options.workload.weighted(graph)
    contract, sizes = options.contract(counted, platform)
    platform = settled(platform, sizes)
    _load_kernels(counted)
    request = options.request(contract, platform)

    def judge(partition: Partition) -> Evaluation:
        return evaluate(graph, partition, platform, contract, workload=options.workload)

    results = []
    for i, tool in enumerate(tools):
        if progress is not None:
            progress(tool, i / len(tools))
        result = Comparison(tool)
        try:
            raw = partition_with(tool, counted, request)
            partition = Partition(raw.part, contract.k)
            result = replace(result, raw=judge(partition), cpu_seconds=raw.cpu_seconds)
            began = cpu_seconds()
            kept = enforce(counted, partition, contract, connected=options.connected,
                           names=platform.names)  # fmt: skip
            spent = cpu_seconds() - began
            mapping = None
            final = kept.partition
            if options.mapping and platform.has_links:
                mapping = map_blocks(counted, final, platform, contract,
                                     bytes_per_value=options.workload.bytes_per_value)  # fmt: skip
                final = mapping.applied(final)
            result = replace(
                result, kept=judge(final), moved=kept.moved, enforce_seconds=spent, mapping=mapping
            )
        except EvenerError as error:
            result = replace(result, note=error.message)
        results.append(result)
    return results


def rival_of(graph: Graph, platform: Platform, tool: str, options: PlanOptions) -> Rival:
    """Return what `tool` makes of the same contract; of the cut, where it cannot do the objective.

    Raises UsageError where there is no such tool; that it is not installed is a note.
    """
    options = options.settled(graph, platform)
    note, able = "", find_tool(tool).objectives
    if options.objective not in able:
        what = "time" if options.objective == "seconds" else options.objective
        note = f"{tool} minimises {able[0]}; it has no {what} objective"
        options = replace(options, objective=able[0])
    (result,) = compare(graph, platform, [tool], options)
    if result.raw is None:
        return Rival(tool, note=result.note)
    stages = [stage_of("as it came", result.raw)]
    if result.kept is not None and result.moved:
        stages.append(stage_of("enforced", result.kept))
    final = result.kept or result.raw
    return Rival(
        tool, tuple(stages), final.prediction.makespan, result.cpu_seconds, result.note or note
    )


def own_cpu_seconds(
    graph: Graph, platform: Platform, made: Plan, options: PlanOptions
) -> float | None:
    """Return the CPU time of the tool that made the plan [s], without that of loading kernels.

    A first call loads compiled code, or even compiles: short ones are made again, the same.
    """
    spent = made.cpu_seconds
    if made.options.get("objective") == "seconds":
        return spent
    if spent is None or spent > WORTH_REPEATING or TOOLS[made.tool].family == "external":
        return spent
    graph = options.workload.weighted(graph)
    contract, _ = options.contract(graph, platform)
    return partition_with(made.tool, graph, options.request(contract, platform)).cpu_seconds


def _load_kernels(graph: Graph) -> None:
    """Repair a small path of the same types: loading compiled code is not the first tool's cost."""
    n, c = 64, graph.n_constraints
    path = Graph.from_edges(
        n,
        np.arange(n - 1),
        np.arange(1, n),
        weights=None if graph.adjwgt is None else np.ones(n - 1, graph.adjwgt.dtype),
        vwgt=None if graph.vwgt is None else np.ones((n, c)[: graph.vwgt.ndim], graph.vwgt.dtype),
    )
    half = np.full(2, n / 2)
    further = (Further(half, half - 1, half + 1),) * (c - 1)
    contract = Contract(half, half - 1, half + 1, further=further)
    if c > 1:
        partition_with("evener", path, Request(half))
    enforce(path, Partition(np.zeros(n, np.int32), 2), contract)
