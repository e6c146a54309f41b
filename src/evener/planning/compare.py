"""Runs several tools on the same input with equal sizes and limits, and compares them.

`compare` runs partitioners of vertices; on machines with links, `compared_plan` adds the plan for
seconds, which has its own sizes. `compare_edges` runs methods of dividing edges, `compare_filters`
methods of mapping filters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from evener.arrays import BoolArray
from evener.errors import EvenerError, one_of
from evener.files.steps import LoggedSteps
from evener.graphs.edge_list import EdgeList
from evener.graphs.graph import Graph
from evener.graphs.joined import JoinedVertices, joined
from evener.graphs.stream_graph import StreamGraph
from evener.io.accept import GraphLike, PlatformLike, as_platform, take_graph
from evener.io.edges import EdgesLike, as_edges
from evener.machine_code.clock import cpu_seconds
from evener.partitioning.enforce import enforce
from evener.partitioning.initial.trees import device_tree
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.partitioning.tools import TOOLS, Tool, find_tool
from evener.planning.evaluate import evaluate, evaluate_for_seconds, stage_of
from evener.planning.makespan.search import solve_seconds
from evener.planning.options import PlanKeywords, PlanOptions, options_with
from evener.planning.split import (
    SplitKeywords,
    SplitOptions,
    cpu_seconds_of_all,
    edge_contract,
    judged_edges,
)
from evener.planning.steps import (
    PlanTerms,
    Progress,
    divide,
    enforced,
    mapped,
    no_progress,
    terms_of,
)
from evener.planning.stream import MapOptions, map_filters
from evener.plans.edge_plan import EdgePlan
from evener.plans.partition import Contract, Further, Mapping, Partition
from evener.plans.plan import ENFORCED, ON_DEVICES, Evaluation, Plan, Rival
from evener.plans.stream_plan import StreamPlan
from evener.platforms.platform import Device, Platform, with_only
from evener.splitting.methods import METHODS as EDGE_METHODS
from evener.splitting.methods import split_with
from evener.streams.methods import METHODS as STREAM_METHODS
from evener.streams.processors import MIPS
from evener.streams.readings import CostReading
from evener.wording import brief, duration, from_above, number, plural, two_lines

PLAN = "plan"  # name of the row of what `evener plan` makes for seconds
MAX_REPEATED = 60.0  # CPU seconds: of longer runs, loading kernels is a small part


@dataclass(frozen=True, eq=False)
class Comparison:
    """The evaluated result of a tool: `raw` as returned, `kept` after repair and mapping.

    cpu_seconds: the tool's own CPU time [s]; enforce_seconds: that of the repair [s]. moved: number
    of vertices that the repair moved. mapping: None if no block changed its device. note: why raw
    or kept is None.
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
        judged = self.kept or self.raw
        if judged is None:
            return two_lines("Comparison", [self.tool, "no blocks"], [self.note])
        held = "contract kept" if judged.holds else "contract broken"
        figures = [f"edge cut {number(judged.edge_cut)}", f"volume {judged.total_volume:,}"]
        figures.append(f"{judged.prediction.clock(judged.prediction.makespan)} per iteration")
        return two_lines("Comparison", [self.tool, held, f"{self.moved:,} moved"], figures)

    def _repr_html_(self) -> str:
        return Comparisons([self])._repr_html_()


class Comparisons(list[Comparison]):
    """The results of several tools for one graph: a list that a notebook shows as a table."""

    def _repr_html_(self) -> str:
        html: str = from_above("evener.reporting.notebook:comparisons_html")(self)
        return html


def compared_plan(
    graph: Graph,
    platform: Platform,
    options: PlanOptions,
) -> Comparison:
    """Return the plan for least seconds that `evener plan` makes, evaluated like the other results.

    Raises InfeasibleError if the graph does not fit the platform.
    """
    asked = replace(options, objective="seconds", tool="auto")
    found = solve_seconds(graph, platform, asked)
    partition = Partition(found.part, platform.k)
    judged = evaluate_for_seconds(graph, partition, platform, options.workload)
    return Comparison(PLAN, judged, judged, cpu_seconds=found.cpu_seconds)


def available_tools(graph: Graph, platform: Platform) -> list[str]:
    """Return the tools that are installed and can divide this graph, in the registry's order.

    Tools that divide along a tree of devices are left out if the platform has none.
    """
    flat = len(device_tree(platform)) == 0
    return [
        name
        for name, tool in TOOLS.items()
        if tool.available() is None
        and (graph.coords is not None or not tool.needs_coordinates)
        and (graph.n_constraints == 1 or _balances_several(tool))
        and not (flat and tool.along_tree)
    ]


def _balances_several(tool: Tool) -> bool:
    return tool.several is not None and tool.several.missing() is None


def compare(
    graph: GraphLike,
    platform: PlatformLike,
    tools: Sequence[str] | None = None,
    options: PlanOptions | None = None,
    *,
    progress: Progress | None = None,
    **keywords: Unpack[PlanKeywords],
) -> Comparisons:
    """Return a list with a Comparison for each tool, in the given order.

    If a tool fails, its note says why. tools: names, or one name; None: all that are installed and
    can divide this graph. graph, platform, options, keywords: see `plan`. A notebook shows the list
    as a table. Raises UsageError for an unknown tool, InfeasibleError if the graph does not fit the
    platform.
    """
    taken, platform = take_graph(graph), as_platform(platform)
    options = options_with(options, keywords).sending(taken.exchange)
    graph, tell = taken.graph, progress or LoggedSteps("comparing")
    options.workload.refuse_parts_of_faces(graph)
    if tools is None:
        tools = available_tools(graph, platform)
    chosen = [tools] if isinstance(tools, str) else list(tools)
    for tool in chosen:
        one_of("partitioner", tool, (*TOOLS, "auto"))
    weighted = options.workload.weighted(graph)
    small, terms = joined(weighted), terms_of(weighted, platform, options)
    _load_kernels(small.graph)
    results = Comparisons()
    for i, tool in enumerate(chosen):
        tell(tool, i / len(chosen))
        results.append(_compared(tool, graph, small, terms, options))
    if progress is None:  # a caller may have more to do
        tell("done", 1.0)
    return results


def _compared(
    tool: str, graph: Graph, small: JoinedVertices, terms: PlanTerms, options: PlanOptions
) -> Comparison:
    """Run one tool through the steps of `plan`; evaluate its result before and after the repair."""

    def judge(found: Partition) -> Evaluation:
        platform, contract = terms.platform, terms.contract
        partition = Partition(small.spread(found.part), found.k)
        return evaluate(graph, partition, platform, contract, workload=options.workload)

    result = Comparison(tool)
    try:
        raw = divide(small.graph, terms, options, tool)
        as_it_came = judge(Partition(raw.part, terms.contract.k))
        result = replace(result, raw=as_it_came, cpu_seconds=raw.cpu_seconds)
        began = cpu_seconds()
        kept = enforced(small.graph, raw.part, terms, options)
        spent = cpu_seconds() - began
        mapping = mapped(small.graph, kept.partition, terms, options)
        final = kept.partition if mapping is None else mapping.applied(kept.partition)
        return replace(
            result, kept=judge(final), moved=kept.moved, enforce_seconds=spent, mapping=mapping
        )
    except EvenerError as error:
        return replace(result, note=error.message)


def rival_of(
    graph: Graph,
    platform: Platform,
    tool: str,
    options: PlanOptions,
    used: BoolArray | None = None,
) -> Rival:
    """Run `tool` under the plan's contract; return its result, which the plan records.

    used (k,): whether a device has a block in the plan; None: all have. If some have none, the tool
    also divides the graph over the used devices only, as a last stage. A tool that does not support
    the objective minimises its own. The result's note says so, or that the tool is not installed.
    Raises UsageError for an unknown tool.
    """
    options = options.settled(platform, weights=graph.n_constraints)
    note, able = "", find_tool(tool).objectives
    if options.objective not in able:
        what = "time" if options.objective == "seconds" else options.objective
        note = f"{tool} minimises {able[0]}, not {what}"
        options = replace(options, objective=able[0])
    (result,) = compare(graph, platform, [tool], options)
    if result.raw is None:
        return Rival(tool, note=result.note)
    stages = [stage_of("before repair", result.raw)]
    if result.kept is not None and result.moved:
        stages.append(stage_of(ENFORCED, result.kept))
    if used is not None and 1 < used.sum() < platform.k:
        chosen = with_only(platform, np.flatnonzero(used).tolist())
        (again,) = compare(graph, chosen, [tool], options)
        judged = again.kept or again.raw
        if judged is not None:
            stages.append(stage_of(f"{ON_DEVICES}{chosen.k:,} devices", judged))
    rival = Rival(tool, tuple(stages), None, result.cpu_seconds, result.note or note)
    return replace(rival, seconds=rival.nearest.seconds)


def own_cpu_seconds(
    graph: Graph, platform: Platform, made: Plan, options: PlanOptions
) -> float | None:
    """Return the CPU time of the tool that made the plan [s], without the time to load kernels.

    The first call of a tool loads or compiles code; short runs are therefore repeated.
    """
    spent = made.cpu_seconds
    if made.options.get("objective") == "seconds":
        return spent
    if spent is None or spent > MAX_REPEATED or TOOLS[made.tool].family == "external":
        return spent
    weighted = options.workload.weighted(graph)
    terms = terms_of(weighted, platform, options)
    return divide(joined(weighted).graph, terms, options, made.tool).cpu_seconds


def _load_kernels(graph: Graph) -> None:
    """Repair a small path graph, so that no tool's measured time includes loading the kernels."""
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


WARMING_EDGES = 64  # of the path that each method divides first, so that its kernels are loaded


@dataclass(frozen=True, eq=False)
class EdgeComparison:
    """One method's blocks of edges, evaluated.

    plan: the blocks under the contract of all methods; None if the method failed. cpu_seconds [s]:
    of the method and the repair, including tools in other processes. note: why plan is None.
    """

    method: str
    plan: EdgePlan | None = None
    cpu_seconds: float = 0.0
    note: str = ""

    def __repr__(self) -> str:
        if self.plan is None:
            return two_lines("EdgeComparison", [self.method, "no blocks"], [self.note])
        metrics, held = self.plan.metrics, int(self.plan.holds.sum())
        first = self.method, f"{held:,} of {plural(self.plan.platform.k, 'contract')} kept"
        figures = f"{metrics.copies:,} copies of vertices", f"replication {metrics.replication:.3f}"
        spent = f"{duration(self.cpu_seconds)} of CPU"
        return two_lines("EdgeComparison", first, [*figures, spent])


def compare_edges(
    edges: EdgesLike,
    platform: PlatformLike,
    methods: Sequence[str] | None = None,
    options: SplitOptions | None = None,
    *,
    progress: Progress | None = None,
    **keywords: Unpack[SplitKeywords],
) -> list[EdgeComparison]:
    """Return an EdgeComparison for each method, in the given order, including methods that fail.

    methods: names, or one name; None: all. edges, platform, options, keywords: see `split`, except
    the method; `read_edges` reads arcs and matrices. Every method gets the same targets and limits,
    and its blocks are repaired to satisfy them. Raises UsageError for an unknown method, and the
    errors of `split` if no contract exists.
    """
    reading, platform = as_edges(edges), as_platform(platform)
    options = replace(options or SplitOptions(), **keywords)
    named = [methods] if isinstance(methods, str) else methods
    chosen = list(EDGE_METHODS) if named is None else list(named)
    for method in chosen:
        one_of("method", method, tuple(EDGE_METHODS))
    contract = edge_contract(reading.edges, platform, options.epsilon)
    results = []
    for i, method in enumerate(chosen):
        if progress is not None:
            progress(method, i / len(chosen))
        try:
            _load_edge_kernels(method, reading.edges, options)
            began = cpu_seconds_of_all()
            made = split_with(
                method, reading.edges, contract, preset=options.preset, seed=options.seed
            )
            spent = cpu_seconds_of_all() - began
            plan = judged_edges(reading, made.partition, platform, contract)
            results.append(EdgeComparison(method, plan, spent))
        except EvenerError as error:
            results.append(EdgeComparison(method, note=error.message))
    return results


def _load_edge_kernels(method: str, edges: EdgeList, options: SplitOptions) -> None:
    """Divide a small graph of the same types, so that no method's time includes loading code."""
    m = WARMING_EDGES
    work: Any = None if edges.weights is None else np.ones(m, edges.weights.dtype)
    path = EdgeList(m + 1, np.arange(m), np.arange(1, m + 1), work)
    half = np.full(2, m / 2)
    split_with(method, path, Contract(half, half - 1, half + 1), preset=options.preset, seed=1)


MOST_EXACT = 48  # filters x processors up to which `exact` is among the methods that are not named

LOADING = 0.01  # seconds of the search that loads its kernels


@dataclass(frozen=True, eq=False)
class StreamComparison:
    """One method's plan of a stream graph, or None and a note that says why the method failed."""

    method: str
    plan: StreamPlan | None = None
    note: str = ""

    def __repr__(self) -> str:
        return brief(self)


def compare_filters(
    graph: StreamGraph,
    platform: Platform,
    methods: Sequence[str] | None = None,
    options: MapOptions | None = None,
    reading: CostReading | None = None,
    *,
    progress: Progress = no_progress,
) -> list[StreamComparison]:
    """Return a StreamComparison for each method, the shortest period first, failed ones last.

    methods: names; None: all, but `exact` only for small graphs. options: the same for all methods;
    the time limit applies to each of them. Raises UsageError for an unknown method.
    """
    chosen = list(STREAM_METHODS) if methods is None else list(methods)
    for method in chosen:
        one_of("method", method, STREAM_METHODS)
    if methods is None and graph.n * platform.k > MOST_EXACT:
        chosen.remove("exact")
    found = []
    for i, method in enumerate(chosen):
        progress(method, i / len(chosen))
        try:
            asked = replace(options or MapOptions(), method=method)
            _load_stream_kernels(asked, reading)
            plan = map_filters(graph, platform, asked, reading)
            found.append(StreamComparison(method, plan))
        except EvenerError as error:
            found.append(StreamComparison(method, note=error.message))
    return sorted(found, key=lambda one: float("inf") if one.plan is None else one.plan.period)


def _load_stream_kernels(asked: MapOptions, reading: CostReading | None) -> None:
    """Map a few filters first, so that no method's measured time includes loading code."""
    n = 4
    ends = np.arange(n - 1)
    graph = StreamGraph(
        tuple(map(str, range(n))), np.ones(n), np.ones(n), ends, ends + 1, np.ones(n - 1)
    )
    devices = tuple(Device(name, 1.0, capabilities={MIPS: 1.0}) for name in "ab")
    map_filters(graph, Platform(devices), replace(asked, seconds=LOADING), reading)
