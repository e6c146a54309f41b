"""Makes a certified plan of a graph in slices, which no process need hold as a whole.

    facts -> sizes and contract -> blocks -> counted -> mapped onto devices -> judged

The slices are of a file that is read again and again, or lie on the ranks of an MPI program. The
steps are those of evener.planning.in_memory; what they need of the graph comes from the slices.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from evener.arrays import FloatArray, Part
from evener.errors import InputError, MemoryShortError, NotFoundError, UsageError
from evener.partitioning.label_propagation.propagation import LEAST_UNEVEN_SKEWNESS
from evener.partitioning.mapping.blocks import MappedBlocks, map_counted
from evener.planning.in_memory import (
    notes_on_full,
    notes_on_mapping,
    own_versions,
    recorded_options,
    refuse_broken,
)
from evener.planning.least_seconds_slices import least_seconds
from evener.planning.options import PlanOptions
from evener.planning.slice_blocks import (
    DividedSlices,
    SlicesToDivide,
)
from evener.planning.steps import Progress, no_progress
from evener.planning.uneven_slices import uneven_way
from evener.plans.partition import Mapping as BlockMapping
from evener.plans.partition import Partition
from evener.plans.plan import Evaluation, Plan, breaches
from evener.plans.recount import BlockCounts, judged
from evener.platforms.platform import Platform
from evener.sizing.bounds import bound_of_facts
from evener.sizing.contracts import seconds_differ
from evener.sliced.blocks import SlicedOptions, sliced_blocks
from evener.sliced.counted import limits_within_memory, quotient_of
from evener.sliced.facts import VertexBytes, sliced_facts
from evener.sliced.gathering import gathered, raised_everywhere
from evener.sliced.memory import mebibytes
from evener.sliced.reading import WatchedGraph
from evener.sliced.rows import SlicedGraph
from evener.sliced.tools import ON_RANKS, SLICED_TOOLS, blocks_by

VERTEX_BYTES = VertexBytes()


@dataclass(frozen=True, eq=False)
class SlicedOrigin:
    """What a plan records of the graph in slices: inputs (file name -> SHA-256), how it was read,
    how it was divided (memory, groups), and notes.
    """

    inputs: Mapping[str, str] | None = None
    reading: Mapping[str, Any] | None = None
    divided: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()


class PlannedSlices(NamedTuple):
    """plan: at rank 0, None elsewhere. blocks (n_own,) int32: of this process's vertices.
    judged: the same everywhere.
    """

    plan: Plan | None
    blocks: Part
    judged: Evaluation


def plan_slices(
    graph: SlicedGraph,
    platform: Platform,
    options: PlanOptions,
    sliced: SlicedOptions | None = None,
    *,
    size: VertexBytes = VERTEX_BYTES,
    origin: SlicedOrigin | None = None,
    progress: Progress | None = None,
) -> PlannedSlices:
    """Divide a graph in slices over the devices of `platform`; every block is certified.

    All processes call. sliced: how borders are refined, whose preset, objective and seed are those
    of `options`. size: the bytes of vertices and entries. progress: called with (step, fraction).
    The same blocks for any number of processes. Raises UsageError for options that need the whole
    graph, InfeasibleError where it does not fit, NotFoundError where no blocks that keep their
    contract are found.
    """
    began = time.process_time()
    options = options.sending("vertices")
    refuse_whole(options, ranks=graph.comm.size > 1)
    if graph.n == 0:
        with raised_everywhere():
            raise InputError("the graph has no vertices")
    watched = WatchedGraph(graph, progress or no_progress)
    watched.step("counting degrees")
    facts = sliced_facts(watched, platform, options.workload, size)
    uneven = graph.dimension == 0 and facts.skewness > LEAST_UNEVEN_SKEWNESS
    options = settled_for_slices(options, platform, uneven=uneven)
    chosen = _borders(options, sliced or SlicedOptions())
    task = SlicesToDivide(watched, platform, options, chosen, size, facts, uneven)
    made = _least_seconds(task) if options.objective == "seconds" else _least_cut(task)
    with raised_everywhere():
        _refuse_broken(made.judged, made.platform, options.tool)
    watched.tell("done", 1.0)
    origin = origin or SlicedOrigin()
    whole = made.blocks if graph.comm.size == 1 else gathered(graph.comm, made.blocks)
    if graph.comm.rank != 0:
        return PlannedSlices(None, made.blocks, made.judged)
    plan = Plan(
        Partition(whole, platform.k),
        made.platform,
        made.judged,
        sizes=made.sizes,
        saturated=made.saturated,
        stages=made.stages,
        options=recorded_options(options, ["evener"])
        | {"reading": dict(origin.reading or {}), "sliced": dict(origin.divided or {})},
        graph={
            "vertices": graph.n,
            "edges": graph.arcs // 2,
            "weight": facts.total_weight,
            "unit_weights": facts.unit_weights,
            "bytes_per_vertex": size.vertex,
            "bytes_per_edge": size.entry,
        },
        inputs=dict(origin.inputs or {}),
        versions=own_versions(),
        notes=(*origin.notes, *made.notes),
        mapping=made.mapping,
        cpu_seconds=time.process_time() - began,
    )
    return PlannedSlices(plan, made.blocks, made.judged)


def refuse_whole(options: PlanOptions, *, ranks: bool = False) -> None:
    """Raise UsageError for options that need the whole graph in memory.

    ranks: whether several processes have the slices.
    """
    in_memory = "mpiexec" if ranks else "--memory"
    if options.tool not in ("auto", "evener", *SLICED_TOOLS):
        others = ON_RANKS if ranks else tuple(SLICED_TOOLS)
        raise UsageError(
            f"{options.tool} divides graphs that are in memory as a whole, not slice by slice",
            hint=f"Leave out --with, or {in_memory}; or choose {', '.join(others)}.",
        )
    if options.tool in SLICED_TOOLS and options.objective not in ("auto", "cut"):
        raise UsageError(f"{options.tool} cannot minimise {options.objective}; it does cut")
    if options.connected:
        raise UsageError(
            "blocks of a graph in slices cannot be asked to be connected",
            hint="Leave out --connected: `evener report` tells in how many pieces each block is. "
            f"Or leave out {in_memory}, where one process can hold the graph.",
        )
    if options.workload.of_faces:
        raise UsageError(
            "values are counted for faces where the whole graph is in memory",
            hint=f"Leave out --exchange faces, or {in_memory}.",
        )
    if options.shares:
        raise UsageError(
            "a graph in slices has one weight a vertex, so none is shared",
            hint="Leave out --constraints; --constraint I, from 0, chooses the weight.",
        )


def settled_for_slices(options: PlanOptions, platform: Platform, *, uneven: bool) -> PlanOptions:
    """Return the options with the objective settled, as that of a graph in memory is.

    uneven: whether degrees differ much; not seconds are lowered then, but the cut. Raises
    UsageError where seconds are asked for nevertheless.
    """
    if uneven and options.objective == "seconds":
        raise UsageError(
            "predicted seconds are not lowered for graphs in slices whose degrees differ much",
            hint="Choose --objective cut, total_volume or max_volume.",
        )
    if options.objective != "auto":
        return options
    seconds = options.tool == options.sizing == "auto" and seconds_differ(platform)
    return replace(options, objective="seconds" if seconds and not uneven else "cut")


def _refuse_broken(found: Evaluation, platform: Platform, tool: str) -> None:
    """Raise NotFoundError where blocks break their contract, and say what may help."""
    wrong = breaches(found, platform)
    if wrong and tool in SLICED_TOOLS:
        raise NotFoundError(
            f"no plan by {tool}: {wrong}",
            hint="A larger --epsilon makes room. Without --with, blocks are brought within limits.",
        )
    certificate = found.certificate
    if wrong and (certificate.bytes > certificate.contract.caps).any():
        raise NotFoundError(
            f"no plan: {wrong}",
            hint="Devices with some per cent more memory, or a larger --epsilon, make room.",
        )
    refuse_broken(found, platform)


def _borders(options: PlanOptions, sliced: SlicedOptions) -> SlicedOptions:
    """Return how borders are refined, under the preset, objective and seed of a plan."""
    objective = "cut" if options.objective == "seconds" else options.objective
    return replace(sliced, preset=options.preset, objective=objective, seed=options.seed)


def _least_seconds(task: SlicesToDivide) -> DividedSlices:
    """Return blocks of least predicted seconds; of least cut, with a note, where memory is too
    little to lower seconds.
    """
    try:
        return least_seconds(task)
    except MemoryShortError as short:
        needed = mebibytes(short.needed)
    # Outside, so that what the search had in memory is gone.
    made = _least_cut(replace(task, options=replace(task.options, objective="cut")))
    told = (
        "Predicted seconds were not lowered, but the cut, for want of memory: to lower them takes "
    )
    return replace(made, notes=(*made.notes, f"{told}{needed} MiB at least."))


def _least_cut(task: SlicesToDivide) -> DividedSlices:
    """Return blocks of least cut (or volume) at sizes that follow the speeds."""
    graph, facts, platform, options = task.graph, task.facts, task.platform, task.options
    terms = task.terms
    contract, sizes = terms.contract, terms.sizes
    weighted, simple = task.weighted, options.tool in SLICED_TOOLS
    uneven = uneven_way(task) if task.uneven and not simple and platform.k > 1 else None
    unrefined = [0]  # of the last division

    def divide(density: FloatArray, margin: float) -> Part:
        limits = limits_within_memory(contract, density, margin, facts.load.heaviest)
        if limits.k == 1:
            return np.zeros(graph.n_own, np.int32)
        if simple:
            return blocks_by(options.tool, weighted, limits)
        if uneven is not None:
            return uneven(limits)
        made = sliced_blocks(weighted, limits, task.sliced)
        unrefined[:] = [made.unrefined]
        return made.part

    blocks, counts = task.within_memory(divide)
    graph.step("mapping")
    mapping = _mapping(task, counts)
    if mapping is not None and mapping.moved:
        blocks = mapping.device.astype(np.int32)[blocks]
        counts = task.counted(blocks)
    bound = bound_of_facts(facts.work, terms.platform, options.workload).seconds
    evaluation = judged(counts, terms.platform, contract, options.workload, bound)
    notes = (
        *sizes.notes,
        *notes_on_full(platform, sizes.saturated, ", below their share by speed"),
        *notes_on_mapping(mapping),
        *_notes_on_unrefined(unrefined[0], platform.k),
    )
    return DividedSlices(
        blocks, evaluation, terms.platform, sizes.sizes, sizes.saturated, notes, mapping
    )


def _notes_on_unrefined(count: int, k: int) -> list[str]:
    if not count:
        return []
    told = f"The borders of {count} of {k} blocks are those of clusters: memory is too little to "
    return [told + "refine them. With more, the cut is lower."]


def _mapping(task: SlicesToDivide, counts: BlockCounts) -> BlockMapping | None:
    """Return devices on which the blocks exchange fastest; None where blocks are to stay."""
    platform = task.terms.platform
    if not (task.options.mapping and platform.has_links and platform.k > 1):
        return None
    blocks = MappedBlocks(quotient_of(counts), counts.weights, counts.bytes, counts.vertices)
    per_value = task.options.workload.bytes_per_value
    return map_counted(blocks, platform, task.terms.contract, bytes_per_value=per_value)


def sliced_record(memory: int | None, sliced: SlicedOptions) -> dict[str, Any]:
    """Return what a plan records of how a graph in slices was divided, beside its options."""
    own = asdict(sliced)
    kept = {name: own[name] for name in ("groups", "turns", "heaviest", "hops")}
    return kept | ({} if memory is None else {"memory": memory})
