"""Makes a certified plan of a graph in slices, which no process has to hold as a whole.

    facts -> sizes and contract -> blocks -> counted -> mapped onto devices -> judged

The slices belong to a file that is read several times, or are distributed over the ranks of an MPI
program. The steps are those of evener.planning.in_memory, with facts of the graph gathered from the
slices.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from evener.arrays import FloatArray, Part
from evener.errors import InputError, MemoryShortError, NotFoundError, UsageError
from evener.partitioning.label_propagation.propagation import LEAST_UNEVEN_SKEWNESS
from evener.partitioning.mapping.blocks import MappedBlocks, map_counted
from evener.partitioning.tools import SLICED_TOOLS
from evener.planning.in_memory import (
    notes_on_full,
    notes_on_mapping,
    own_versions,
    recorded_options,
    refuse_broken,
)
from evener.planning.makespan.border_search import SlicedTask
from evener.planning.makespan.sliced_search import SecondsBlocks, seconds_in_slices
from evener.planning.options import PlanOptions
from evener.planning.slice_blocks import (
    DividedSlices,
    SlicesToDivide,
)
from evener.planning.steps import Progress, no_progress, notes_on_unused
from evener.plans.counts import BlockCounts, in_its_makespan, judged
from evener.plans.partition import FULL_SHARE, Contract, Partition
from evener.plans.partition import Mapping as BlockMapping
from evener.plans.plan import Evaluation, Plan, Stage, breaches
from evener.platforms.platform import Platform
from evener.sizing.bounds import bound_of_facts
from evener.sizing.contracts import limits_within_memory, seconds_contract
from evener.sizing.memory_capped import unit_capacities
from evener.sliced.blocks import SlicedOptions, sliced_blocks
from evener.sliced.degrees import SliceDegrees
from evener.sliced.facts import VERTEX_BYTES, VertexBytes, sliced_facts
from evener.sliced.gathering import gathered, raised_everywhere
from evener.sliced.memory import mebibytes
from evener.sliced.reading import WatchedGraph
from evener.sliced.rows import SlicedGraph
from evener.sliced.tools import ON_RANKS, blocks_by
from evener.sliced.uneven import blocks_of_uneven
from evener.wording import plural


@dataclass(frozen=True, eq=False)
class SlicedOrigin:
    """What a plan records about its graph in slices.

    inputs: file name -> SHA-256. Further fields state how the graph was read, how it was divided
    (memory, groups), and notes.
    """

    inputs: Mapping[str, str] | None = None
    reading: Mapping[str, Any] | None = None
    divided: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()


class PlannedSlices(NamedTuple):
    """The plan at rank 0, None elsewhere; and each process's part.

    blocks (n_own,) int32: of this process's vertices. judged: the evaluation, the same on all
    processes.
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
    """Divide a graph in slices over the devices of `platform`.

    Every block is certified. Collective. sliced: how borders are refined; its preset, objective and
    seed are replaced by those of `options`. size: the bytes of a vertex and of an adjacency entry.
    progress: called with (step, fraction). The result does not depend on the number of processes.
    Raises UsageError for options that need the whole graph, InfeasibleError if the graph does not
    fit, NotFoundError if no blocks that satisfy their contract are found.
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
    options = options.settled(platform, uneven_slices=uneven)
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

    ranks: whether the slices are distributed over several processes.
    """
    in_memory = "mpiexec" if ranks else "--memory"
    if options.tool not in ("auto", "evener", *SLICED_TOOLS):
        others = ON_RANKS if ranks else tuple(SLICED_TOOLS)
        raise UsageError(
            f"{options.tool} divides whole graphs in memory, not graphs in slices",
            hint=f"Omit --with or {in_memory}, or choose {', '.join(others)}.",
        )
    if options.tool in SLICED_TOOLS and options.objective not in ("auto", "cut"):
        raise UsageError(f"{options.tool} minimises cut, not {options.objective}")
    if options.connected:
        raise UsageError(
            f"--connected does not work with {in_memory}",
            hint="Omit --connected: `evener report` shows how many pieces each block has. Or omit "
            f"{in_memory} if one process can hold the graph.",
        )
    if options.workload.of_faces:
        raise UsageError(
            f"--exchange faces does not work with {in_memory}",
            hint=f"Omit --exchange faces or {in_memory}.",
        )
    if options.shares:
        raise UsageError(
            f"--constraints does not work with {in_memory}: a graph in slices has one weight per "
            "vertex",
            hint="Omit --constraints; --constraint I selects one weight, counted from 0.",
        )


def _refuse_broken(found: Evaluation, platform: Platform, tool: str) -> None:
    """Raise NotFoundError if blocks violate their contract, with a hint on what may help."""
    wrong = breaches(found, platform)
    if wrong and tool in SLICED_TOOLS:
        raise NotFoundError(
            f"no plan by {tool}: {wrong}",
            hint="Increase --epsilon, or omit --with: Evener's partitioner then enforces the "
            "limits.",
        )
    certificate = found.certificate
    if wrong and (certificate.bytes > certificate.contract.caps).any():
        raise NotFoundError(
            f"no plan: {wrong}",
            hint="Increase --epsilon, or use devices with slightly more memory.",
        )
    refuse_broken(found, platform)


def _borders(options: PlanOptions, sliced: SlicedOptions) -> SlicedOptions:
    """Return how borders are refined, with the preset, objective and seed of the plan."""
    objective = "cut" if options.objective == "seconds" else options.objective
    return replace(sliced, preset=options.preset, objective=objective, seed=options.seed)


def _least_seconds(task: SlicesToDivide) -> DividedSlices:
    """Return blocks of least predicted seconds.

    If memory is too small, returns blocks of least cut, with a note.
    """
    try:
        return least_seconds(task)
    except MemoryShortError as short:
        needed = mebibytes(short.needed)
    # Outside, so that what the search had in memory is gone.
    made = _least_cut(replace(task, options=replace(task.options, objective="cut")))
    note = (
        "The plan has least cut, not least predicted seconds: memory is too small. Least seconds "
        f"need at least {needed} MiB."
    )
    return replace(made, notes=(*made.notes, note))


def _least_cut(task: SlicesToDivide) -> DividedSlices:
    """Return blocks of least cut (or volume) at sizes that follow the speeds."""
    graph, facts, platform, options = task.graph, task.facts, task.platform, task.options
    terms = task.terms
    contract, sizes = terms.contract, terms.sizes
    weighted, simple = task.weighted, options.tool in SLICED_TOOLS
    uneven = _uneven_way(task) if task.uneven and not simple and platform.k > 1 else None
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


def _uneven_way(task: SlicesToDivide) -> Callable[[Contract], Part]:
    """Return a function that makes blocks (n_own,) of a graph of uneven degrees. Collective.

    The function, also collective, takes limits on weights. If one process can hold the graph, this
    process divides it within its contract, into the same blocks as a graph in memory.
    """
    if task.is_held_by_one:
        return lambda _: task.blocks_by_one()[0]
    degrees = SliceDegrees.read(task.weighted)
    return lambda limits: blocks_of_uneven(task.weighted, limits, degrees, task.sliced, task.size)


def _notes_on_unrefined(count: int, k: int) -> list[str]:
    if not count:
        return []
    note = (
        f"For {count} of {k} blocks, borders follow clusters, because memory is too small to "
        "refine them. More memory lowers the cut."
    )
    return [note]


def _mapping(task: SlicesToDivide, counts: BlockCounts) -> BlockMapping | None:
    """Return the devices on which the blocks exchange fastest; None if blocks must stay."""
    platform = task.terms.platform
    if not (task.options.mapping and platform.has_links and platform.k > 1):
        return None
    blocks = MappedBlocks(counts.between, counts.weights, counts.bytes, counts.vertices)
    per_value = task.options.workload.bytes_per_value
    return map_counted(blocks, platform, task.terms.contract, bytes_per_value=per_value)


def sliced_record(memory: int | None, sliced: SlicedOptions) -> dict[str, Any]:
    """Return what a plan records, besides its options, on how a graph in slices was divided."""
    own = asdict(sliced)
    kept = {name: own[name] for name in ("groups", "turns", "heaviest", "hops")}
    return kept | ({} if memory is None else {"memory": memory})


def least_seconds(task: SlicesToDivide) -> DividedSlices:
    """Return blocks of least predicted seconds; their sizes are their loads. Collective.

    Raises MemoryShortError like `seconds_in_slices`.
    """
    platform = task.platform
    stages: tuple[Stage, ...] = ()
    left_out = 0

    def divide(density: FloatArray, margin: float) -> Part:
        nonlocal stages, left_out
        blocks, stages, left_out = _divided(task, density, margin)
        return blocks

    if task.may_be_whole and platform.k > 1:
        blocks, stages = task.blocks_by_one()
        counts = task.counted(blocks)
    else:
        blocks, counts = task.within_memory(divide)
    found = _judged(task, counts)
    loads = counts.weights[:, 0].copy()
    room = np.minimum(unit_capacities(platform, _density(task)), platform.high_units)
    full = (loads >= FULL_SHARE * room) | (counts.bytes >= FULL_SHARE * platform.memories)
    notes = notes_on_full(platform, full) + notes_on_unused(platform, counts.vertices == 0)
    if left_out:
        some = plural(left_out, "plan was", "plans were")
        notes.append(
            f"{some} left out, because refining their borders needs more memory than --memory "
            "allows."
        )
    whole = (loads == np.rint(loads)).all()
    sizes = loads.astype(np.int64) if whole else loads
    return DividedSlices(blocks, found, platform, sizes, full, tuple(notes), stages=stages)


def _density(task: SlicesToDivide) -> float:
    """Return the mean bytes per unit of work [B]."""
    return task.facts.load.total_bytes / task.facts.load.load


def _divided(task: SlicesToDivide, density: FloatArray, margin: float) -> SecondsBlocks:
    """Return blocks whose weights are limited so that their bytes, at this density, fit."""
    platform, contract = task.platform, task.terms.contract
    if platform.k == 1:
        return SecondsBlocks(np.zeros(task.graph.n_own, np.int32), (), 0)
    load = task.facts.load.load
    most = np.minimum(unit_capacities(platform, 0.0), np.minimum(platform.high_units, load))
    free = Contract(contract.targets, np.minimum(platform.low_units, most), most, contract.caps)
    heaviest = task.facts.load.heaviest
    high = limits_within_memory(free, density, margin, heaviest).high
    limits = limits_within_memory(contract, density, margin, heaviest)
    terms = replace(task.terms, contract=replace(limits, caps=np.full(platform.k, np.inf)))
    unlimited = replace(
        platform, devices=tuple(replace(one, memory=None) for one in platform.devices)
    )
    search = SlicedTask(task.weighted, unlimited, free.low, high, terms, task.options, task.sliced)
    return seconds_in_slices(search)


def _judged(task: SlicesToDivide, counts: BlockCounts) -> Evaluation:
    """Return the evaluation of the blocks under the contract of a plan for seconds.

    The makespan predicted for these blocks becomes a limit of the contract.
    """
    platform, workload = task.platform, task.options.workload
    bound = bound_of_facts(task.facts.work, platform, workload)
    contract = seconds_contract(bound.loads, task.facts.total_weight, platform)
    return in_its_makespan(judged(counts, platform, contract, workload, bound.seconds))
