"""The whole story on one page: from a graph and a platform to a certified plan.

platform + graph -> sizes and contracts -> partition -> contracts enforced -> blocks mapped onto
devices -> judged -> Plan. For seconds, evener.planning.makespan repeats these steps and takes the
fastest plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from importlib.metadata import version
from typing import Any, Unpack

import numpy as np

from evener.arrays import BoolArray
from evener.graphs.graph import Graph
from evener.io.accept import GraphLike, PlatformLike, as_platform, take_graph
from evener.partitioning.enforce import Enforced, enforce
from evener.partitioning.mapping.blocks import map_blocks
from evener.partitioning.registry import Result, partition_with
from evener.partitioning.tools import TOOLS
from evener.planning.evaluate import evaluate, stage, stage_of
from evener.planning.keywords import PlanKeywords, options_with
from evener.planning.makespan.search import solve_seconds
from evener.planning.options import PlanOptions
from evener.plans import metrics
from evener.plans.partition import Contract, Partition
from evener.plans.partition import Mapping as BlockMapping
from evener.plans.plan import Evaluation, Plan, Stage
from evener.plans.workload import Workload
from evener.platforms.platform import Platform
from evener.sizing import Sizes, contract_for_seconds, settled

Progress = Callable[[str, float], None]
NAMED = 8  # devices that a remark lists
FULL = 0.99  # of a memory: what a search for seconds fills is not filled to the last vertex


def plan(
    graph: GraphLike,
    platform: PlatformLike,
    options: PlanOptions | None = None,
    *,
    inputs: Mapping[str, str] | None = None,
    reading: Mapping[str, Any] | None = None,
    notes: tuple[str, ...] = (),
    progress: Progress | None = None,
    **keywords: Unpack[PlanKeywords],
) -> Plan:
    """Divide `graph` over the devices of `platform`, every block certified against its device.

    graph: a file's name, what `read` returns, a Graph, a Mesh, a SciPy sparse matrix, a networkx
    graph or a meshio mesh. platform: a machine file's name or tables, a Platform, a number of
    equal devices, a list of speeds or of Devices. keywords: fields of PlanOptions, which replace
    those of `options`.
    inputs: file name -> SHA-256, and reading: how the graph was read, are kept with the plan;
    where a file's name was given, they are found here. progress: called with (step, fraction).
    Raises InfeasibleError where the graph does not fit, UsageError where the tool cannot do what
    is asked, ToolError where it fails. Same arguments, same plan; the threads, and whether there
    was time enough, make no difference, but for the tools whose own threads do.
    """
    options, platform = options_with(options, keywords), as_platform(platform)
    taken = take_graph(graph)
    graph, notes = taken.graph, (*taken.notes, *notes)
    inputs, reading = inputs or taken.inputs, reading or taken.reading
    options = options.settled(graph, platform)
    tell = progress or _silent
    if options.objective == "seconds":
        record = {"inputs": dict(inputs or {}), "graph": describe(graph)}
        return _fastest(graph, platform, options, dict(reading or {}), notes, record, tell)
    tell("sizes", 0.0)
    counted = options.workload.weighted(graph)
    contract, sizes = options.contract(counted, platform)
    platform = settled(platform, sizes)
    tell("partitioning", 0.05)
    raw = partition_with(options.tool, counted, options.request(contract, platform))
    tell("enforcing the contract", 0.75)
    kept = _enforce(counted, raw, contract, platform, options)
    tell("mapping", 0.9)
    mapping = _map(counted, kept.partition, platform, contract, options)
    partition = kept.partition if mapping is None else mapping.applied(kept.partition)
    tell("certifying", 0.95)
    judged = evaluate(graph, partition, platform, contract, workload=options.workload)
    tell("done", 1.0)
    return Plan(
        partition,
        platform,
        judged,
        sizes=sizes.sizes,
        saturated=sizes.saturated,
        options=_chosen(options, [raw.tool]) | {"reading": dict(reading or {})},
        graph=describe(graph),
        inputs=dict(inputs or {}),
        versions={raw.tool: raw.version, "evener": version("evener"), "numpy": version("numpy")},
        notes=(
            *notes,
            *raw.notes,
            *_remarks(kept, graph, platform, sizes, contract),
            *_mapped(mapping),
        ),
        mapping=mapping,
        stages=_stages(counted, raw, kept, judged),
        cpu_seconds=raw.cpu_seconds,
    )


def _fastest(
    graph: Graph,
    platform: Platform,
    options: PlanOptions,
    reading: dict[str, Any],
    notes: tuple[str, ...],
    record: dict[str, Any],
    tell: Progress,
) -> Plan:
    """Return the plan of least predicted seconds; its sizes are what the search made of them."""
    found = solve_seconds(graph, platform, options, progress=tell)
    partition = Partition(found.part, platform.k)
    tell("certifying", 0.98)
    stated = metrics.predicted_seconds(
        graph, partition, platform, options.workload, exact=True
    ).makespan
    stated = max(stated, np.nextafter(0, 1))
    contract = contract_for_seconds(graph, platform, options.workload, stated)
    judged = evaluate(graph, partition, platform, contract, workload=options.workload)
    loads = judged.certificate.weights
    whole = bool((loads == np.rint(loads)).all())
    saturated = (loads >= FULL * found.room) | (
        judged.certificate.bytes >= FULL * platform.memories
    )
    tell("done", 1.0)
    return Plan(
        partition,
        platform,
        judged,
        sizes=loads.astype(np.int64) if whole else loads,
        saturated=saturated,
        options=_chosen(options, found.tools) | {"reading": reading},
        versions={**found.versions, "evener": version("evener"), "numpy": version("numpy")},
        notes=(*notes, *_filled(platform, saturated), *found.notes),
        stages=found.stages,
        cpu_seconds=found.cpu_seconds,
        **record,
    )


def describe(graph: Graph) -> dict[str, Any]:
    """Return the graph's counts and what its vertices cost, for the plan's record."""
    several = graph.n_constraints > 1
    return {
        "vertices": graph.n,
        "edges": graph.m,
        **({"constraints": graph.n_constraints} if several else {}),
        "weight": graph.total_weight,
        "unit_weights": graph.is_unit,
        "bytes_per_vertex": graph.bytes_per_vertex,
        "bytes_per_edge": graph.bytes_per_edge,
    }


def _chosen(options: PlanOptions, tools: Sequence[str]) -> dict[str, Any]:
    """Return the options that chose the result: no time limit, and threads, shares and the method
    of sizing only where they may.
    """
    chosen = asdict(options)
    del chosen["time_limit"]
    if not options.shares:
        del chosen["shares"]
    if options.sizing == "auto":
        del chosen["sizing"]
    same = all(TOOLS[tool].same_at_any_threads for tool in tools)
    return chosen | {"threads": 1 if same else options.threads}


def _enforce(
    graph: Graph, raw: Result, contract: Contract, platform: Platform, options: PlanOptions
) -> Enforced:
    partition = Partition(raw.part, contract.k)
    names = platform.names
    return enforce(graph, partition, contract, connected=options.connected, names=names)


def _map(
    graph: Graph,
    partition: Partition,
    platform: Platform,
    contract: Contract,
    options: PlanOptions,
) -> BlockMapping | None:
    """Return where blocks go; None where no link is known, or they are to stay."""
    if not (options.mapping and platform.has_links and platform.k > 1):
        return None
    per_value = options.workload.bytes_per_value
    return map_blocks(graph, partition, platform, contract, bytes_per_value=per_value)


def _stages(graph: Graph, raw: Result, kept: Enforced, judged: Evaluation) -> tuple[Stage, ...]:
    """Return what the partition was at its start, when the tool was done, and in the end."""
    contract = judged.certificate.contract
    stages = []
    if raw.start is not None:
        name, part = raw.start
        stages.append(stage(name, graph, Partition(part, contract.k), contract))
    done = "refined" if stages else f"as {raw.tool} made it"
    if kept.moved:
        stages.append(stage(done, graph, Partition(raw.part, contract.k), contract))
        done = "enforced"
    # On other devices blocks weigh and send the same.
    return (*stages, stage_of(done, judged)) if stages else ()


def _mapped(mapping: BlockMapping | None) -> list[str]:
    """Say what going to other devices brought."""
    if mapping is None or not mapping.moved:
        return []
    before, after = mapping.before, mapping.after
    time = _ratio(after.seconds, before.seconds)
    hops = _ratio(after.hop_bytes, before.hop_bytes)
    blocks = f"{mapping.moved:,} of {mapping.device.size:,} blocks mapped to other devices"
    return [f"{blocks}: predicted time {time} of before, bytes x hops {hops}"]


def _ratio(after: float, before: float) -> str:
    return f"{100 * after / before:.2f} %" if before > 0 else "100 %"


def _remarks(
    kept: Enforced, graph: Graph, platform: Platform, sizes: Sizes, contract: Contract
) -> list[str]:
    """Say how weights are shared, what memory cost, what the repair did and could not do."""
    remarks = list(sizes.notes)
    if contract.further:
        shared = ", ".join(["speed", *(one.by for one in contract.further)])
        remarks.append(
            f"{contract.n_constraints} weights per vertex, shared by {shared} (--constraints "
            "chooses); seconds are predicted from the first"
        )
    remarks += _filled(platform, sizes.saturated, ", below their share by speed")
    if kept.moved:
        share = kept.moved / graph.n
        what = "vertex" if kept.moved == 1 else "vertices"
        remarks.append(f"{kept.moved:,} {what} ({100 * share:.2f} %) moved to keep every contract")
    if kept.disconnected:
        blocks = ", ".join(platform.names[b] for b in kept.disconnected)
        remarks.append(f"not in one piece, although connected blocks were asked for: {blocks}")
    return remarks


def _filled(platform: Platform, saturated: BoolArray, more: str = "") -> list[str]:
    """Say which devices hold no more."""
    names = [platform.names[b] for b in np.flatnonzero(saturated)]
    return [f"Filled to their memory{more}: {_names(names)}"] if names else []


def _names(names: list[str]) -> str:
    shown = ", ".join(names[:NAMED])
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED} more"


def _silent(step: str, fraction: float) -> None:
    """Show no progress."""


# A plan made again for what devices do now: what a Rebalancer is given, as it imports nothing up.
#
# ev.Rebalancer(plan, graph, replan=ev.replan)


def replan(old: Plan, graph: Graph, platform: Platform, workload: Workload) -> Partition:
    """Return a partition from scratch, under the options of the old plan.

    graph: with the work as its weights; platform: with the speeds of now; workload: what it sends.
    Raises what evener.planning.plan.plan raises.
    """
    known = {field.name for field in fields(PlanOptions)} - {"workload"}
    chosen = {name: value for name, value in old.options.items() if name in known}
    return plan(graph, platform, PlanOptions(**chosen, workload=workload)).partition
