"""Makes a certified plan from a graph and a platform, for least cut or for least seconds.

Least cut:      sizes -> blocks -> contract enforced -> mapped onto devices -> evaluated
Least seconds:  the search of evener.planning.makespan, which takes these steps for METIS and for
                the least cut, and others that change sizes, blocks and devices together;
                its best partition -> evaluated

A plan is returned only if the evaluation finds that every block satisfies its contract. The steps
common to both are in evener.planning.steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from importlib.metadata import version
from typing import Any, Unpack

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntVector
from evener.errors import NotFoundError
from evener.files.steps import LoggedSteps
from evener.graphs.graph import Graph
from evener.graphs.joined import JoinedVertices, groups_in_order, joined
from evener.io.accept import GraphLike, PlatformLike, as_platform, take_graph
from evener.partitioning.enforce import Enforced
from evener.partitioning.registry import Result
from evener.partitioning.tools import TOOLS
from evener.planning.evaluate import evaluate, evaluate_for_seconds, stage, stage_of
from evener.planning.options import PlanKeywords, PlanOptions, options_with
from evener.planning.steps import (
    MAX_NAMED,
    PlanTerms,
    Progress,
    divide,
    enforced,
    mapped,
    named_devices,
    terms_of,
)
from evener.plans.partition import FULL_SHARE, Partition
from evener.plans.partition import Mapping as BlockMapping
from evener.plans.plan import MOST_DRAWN, Evaluation, Plan, Stage, breaches
from evener.plans.workload import Workload
from evener.platforms.platform import Platform
from evener.wording import time_of


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
    """Divide `graph` over the devices of `platform`; every block is certified against its device.

    graph: a file's name, what `read` returns, a Graph, a Mesh, a SciPy sparse matrix, a networkx
    graph or a meshio mesh. platform: a machine file's name or tables, a Platform, a number of equal
    devices, a list of speeds or of Devices. keywords: fields of PlanOptions, which replace those of
    `options`. inputs (file name -> SHA-256) and reading (how the graph was read) are stored in the
    plan; if `graph` is a file's name, they are determined here. progress: called with (step,
    fraction). Raises InfeasibleError if the graph does not fit, NotFoundError if no blocks that
    satisfy their contract are found, UsageError if the tool does not support the options, ToolError
    if it fails. The same arguments give the same plan, whatever the number of threads and the time
    limit, except by external tools whose result depends on their threads.
    """
    options, platform = options_with(options, keywords), as_platform(platform)
    taken = take_graph(graph)
    options = options.sending(taken.exchange)
    options = options.settled(platform, weights=taken.graph.n_constraints)
    options.workload.refuse_parts_of_faces(taken.graph)
    tell = progress or LoggedSteps("planning")
    make = _least_seconds if options.objective == "seconds" else _least_cut
    made = make(taken.graph, platform, options, tell)
    refuse_broken(made.judged, made.platform)
    pieces = notes_on_pieces(made.judged, made.platform) if options.connected else []
    slow = notes_on_slow_devices(made.judged, made.platform)
    tell("done", 1.0)
    return Plan(
        made.partition,
        made.platform,
        made.judged,
        sizes=made.sizes,
        saturated=made.saturated,
        options=recorded_options(options, made.versions)
        | {"reading": dict(reading or taken.reading or {})},
        graph=describe(taken.graph),
        inputs=dict(inputs or taken.inputs or {}),
        versions={**made.versions, **own_versions()},
        notes=(*taken.notes, *notes, *made.notes, *pieces, *slow),
        mapping=made.mapping,
        stages=made.stages,
        cpu_seconds=made.cpu_seconds,
        source=(taken.graph, taken.mesh) if taken.graph.n <= MOST_DRAWN else None,
    )


@cache
def own_versions() -> dict[str, str]:
    """Return the versions that every plan records; cached, because the query takes milliseconds."""
    return {name: version(name) for name in ("evener", "numpy")}


@dataclass(frozen=True, eq=False)
class _Made:
    """An evaluated partition, and the record of how it was made.

    platform: with the speeds that the prediction uses. sizes, saturated (k,): the requested sizes,
    and which devices are full. versions: of each tool that made blocks. cpu_seconds: of these tools
    [s].
    """

    partition: Partition
    platform: Platform
    judged: Evaluation
    sizes: IntVector | FloatArray
    saturated: BoolArray
    versions: dict[str, str]
    notes: tuple[str, ...]
    stages: tuple[Stage, ...]
    cpu_seconds: float
    mapping: BlockMapping | None = None


def refuse_broken(judged: Evaluation, platform: Platform) -> None:
    """Raise NotFoundError if the evaluation finds blocks that violate their contract.

    Earlier steps raise errors for contracts that they cannot satisfy; this checks their result
    against figures that are counted from the graph.
    """
    if not judged.holds:
        raise NotFoundError(
            f"the recounted figures of the plan violate its contract: {breaches(judged, platform)}",
            hint="The search and the recount disagree. Please report this with the graph and the "
            "machine.",
        )


def _least_cut(graph: Graph, platform: Platform, options: PlanOptions, tell: Progress) -> _Made:
    """Return blocks of least cut (or volume) at sizes that follow the speeds."""
    tell("sizes", 0.0)
    weighted = options.workload.weighted(graph)
    small = joined(weighted)
    terms = terms_of(weighted, platform, options)
    tell("partitioning", 0.05)
    raw = divide(small.graph, terms, options)
    tell("enforcing the contract", 0.75)
    kept = enforced(small.graph, raw.part, terms, options)
    tell("mapping", 0.9)
    mapping = mapped(small.graph, kept.partition, terms, options)
    found = kept.partition if mapping is None else mapping.applied(kept.partition)
    partition = Partition(small.spread(found.part), platform.k)
    tell("certifying", 0.95)
    judged = evaluate(graph, partition, terms.platform, terms.contract, workload=options.workload)
    return _Made(
        partition,
        terms.platform,
        judged,
        terms.sizes.sizes,
        terms.sizes.saturated,
        {raw.tool: raw.version},
        (*raw.notes, *_notes_on_cut(terms, kept, graph), *notes_on_mapping(mapping)),
        _stages(weighted, small, raw, kept, judged, of_faces=options.workload.of_faces),
        raw.cpu_seconds,
        mapping,
    )


def _least_seconds(graph: Graph, platform: Platform, options: PlanOptions, tell: Progress) -> _Made:
    """Return the partition of least predicted seconds; its sizes are the blocks' loads."""
    from evener.planning.makespan.search import solve_seconds  # large, and for seconds only

    found = solve_seconds(graph, platform, options, progress=tell)
    partition = Partition(found.part, platform.k)
    tell("certifying", 0.98)
    judged = evaluate_for_seconds(graph, partition, platform, options.workload)
    loads = judged.certificate.weights
    saturated = (loads >= FULL_SHARE * found.room) | (
        judged.certificate.bytes >= FULL_SHARE * platform.memories
    )
    return _Made(
        partition,
        platform,
        judged,
        loads.astype(np.int64) if (loads == np.rint(loads)).all() else loads,
        saturated,
        found.versions,
        (*notes_on_full(platform, saturated), *found.notes),
        found.stages,
        found.cpu_seconds,
    )


def describe(graph: Graph) -> dict[str, Any]:
    """Return the graph's counts and the bytes of its vertices and edges, for the plan's record."""
    several = graph.n_constraints > 1
    groups = 0 if graph.together is None else len(groups_in_order(graph.together)[0])
    numbered = graph.labels is not None and graph.labels.dtype.kind in "iu"
    return {
        "vertices": graph.n,
        "edges": graph.m,
        **({"constraints": graph.n_constraints} if several else {}),
        **({"groups": groups} if groups else {}),
        "weight": graph.total_weight,
        "unit_weights": graph.is_unit,
        "bytes_per_vertex": graph.bytes_per_vertex,
        "bytes_per_edge": graph.bytes_per_edge,
        **({"first_label": graph.first_label} if numbered else {}),
    }


def recorded_options(options: PlanOptions, tools: Iterable[str]) -> dict[str, Any]:
    """Return the options that the plan stores: those that can change its blocks.

    The time limit is omitted, and shares and the method of sizing if they are defaults; threads are
    1 if no tool depends on them.
    """
    kept = asdict(options)
    del kept["time_limit"]
    if not options.shares:
        del kept["shares"]
    if options.sizing == "auto":
        del kept["sizing"]
    same = all(TOOLS[tool].same_at_any_threads for tool in tools)
    return kept | {"threads": 1 if same else options.threads}


def _stages(
    graph: Graph,
    small: JoinedVertices,
    raw: Result,
    kept: Enforced,
    judged: Evaluation,
    *,
    of_faces: bool,
) -> tuple[Stage, ...]:
    """Return figures of the initial partition, the tool's, and the enforced one, if they differ."""
    contract = judged.certificate.contract
    stages = []
    if raw.start is not None:
        name, part = raw.start
        begun = Partition(small.spread(part), contract.k)
        stages.append(stage(name, graph, begun, contract, of_faces=of_faces))
    done = "refined" if stages else f"as {raw.tool} made it"
    if kept.moved:
        partition = Partition(small.spread(raw.part), contract.k)
        stages.append(stage(done, graph, partition, contract, of_faces=of_faces))
        done = "enforced"
    # Mapping changes neither what blocks weigh nor what they send.
    return (*stages, stage_of(done, judged)) if stages else ()


def _notes_on_cut(terms: PlanTerms, kept: Enforced, graph: Graph) -> list[str]:
    """Return notes on how weights are divided, on full devices, and on vertices moved by repair."""
    contract, platform, notes = terms.contract, terms.platform, list(terms.sizes.notes)
    if contract.further:
        shared = ", ".join(["speed", *(one.by for one in contract.further)])
        notes.append(
            f"{contract.n_constraints} weights per vertex, divided by {shared} (see "
            f"--constraints); seconds are predicted from the first"
        )
    notes += notes_on_full(platform, terms.sizes.saturated, ", below their share by speed")
    if kept.moved:
        share = 100 * kept.moved / graph.n
        what = "vertex" if kept.moved == 1 else "vertices"
        notes.append(f"{kept.moved:,} {what} ({share:.2f} %) moved to keep every contract")
    return notes


def notes_on_pieces(judged: Evaluation, platform: Platform) -> list[str]:
    """Return a note on devices whose block has several pieces, if any."""
    pieces = judged.certificate.components
    several = np.flatnonzero(pieces > 1).tolist()
    if not several:
        return []
    named = [f"{platform.names[b]} ({pieces[b]:,} pieces)" for b in several[:MAX_NAMED]]
    more = f" and {len(several) - MAX_NAMED} more" if len(several) > MAX_NAMED else ""
    blocks = ", ".join(named) + more
    return [f"not connected, although --connected was given: {blocks}"]


def notes_on_full(platform: Platform, saturated: BoolArray, more: str = "") -> list[str]:
    """Return a note that names the devices whose memory is full."""
    if not saturated.any():
        return []
    return [f"Memory is full{more}: {named_devices(platform, saturated)}"]


# Of the makespan: devices are reported as too slow if the others need less than this without them.
WORTH_LEAVING_OUT = 0.9


def notes_on_slow_devices(judged: Evaluation, platform: Platform) -> list[str]:
    """Return notes on devices that finish last although they have only one vertex.

    Only devices whose vertex others would compute sooner are noted.
    """
    certificate, ends = judged.certificate, judged.prediction.ends
    alone = certificate.vertices == 1
    if platform.has_curves or not alone.any() or alone.all():
        return []
    load = float(certificate.weights.sum())
    without = load / float(platform.speeds[~alone].sum())
    late = alone & (ends * WORTH_LEAVING_OUT > without)
    if not late.any() or not late[judged.prediction.bottleneck]:
        return []
    rest = load / float(platform.speeds[~late].sum())
    ideal = platform.relative_ideal(load)
    last, others = time_of(float(ends.max()), ideal), time_of(rest, ideal)
    holds = "holds one vertex and takes" if late.sum() == 1 else "hold one vertex each and take"
    names = named_devices(platform, late)
    advice = "`evener advise` finds the devices that are worth using"
    return [f"{names} {holds} {last}; the other devices alone need at least {others}: {advice}"]


def notes_on_mapping(mapping: BlockMapping | None) -> list[str]:
    """Return a note on how much faster the mapped blocks are, if any changed its device."""
    if mapping is None or not mapping.moved:
        return []
    before, after = mapping.before, mapping.after
    time = _percent(after.seconds, before.seconds)
    hops = _percent(after.hop_bytes, before.hop_bytes)
    blocks = f"{mapping.moved:,} of {mapping.device.size:,} blocks mapped to other devices"
    return [f"{blocks}: predicted time is {time} of the time before, bytes x hops {hops}"]


def _percent(after: float, before: float) -> str:
    return f"{100 * after / before:.2f} %" if before > 0 else "100 %"


def options_of(recorded: Mapping[str, Any], workload: Workload) -> PlanOptions:
    """Return the options that a plan has recorded, with the given workload."""
    known = {field.name for field in fields(PlanOptions)} - {"workload"}
    chosen = {name: value for name, value in recorded.items() if name in known}
    return PlanOptions(**chosen, workload=workload)
