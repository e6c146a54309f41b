"""Runs a vertex program on all devices of a plan: each device is a thread or an MPI rank.

The blocks of a plan are of vertices or of edges. This decides how the parts of the graph are made
(`_parts_of`), which engine computes (on_device.py), what devices exchange (engine/supersteps.py),
and which options are refused (`_check`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from evener.errors import UsageError, one_of, shown
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.plans.edge_plan import EdgePlan
from evener.plans.partition import Partition
from evener.plans.plan import Plan
from evener.running.apps.registry import App, find_app
from evener.running.checkpoints import identify
from evener.running.comm import Comm, run_threads
from evener.running.devices import Cuda
from evener.running.distributing import distribute, local_graph
from evener.running.edge_shares import DividedEdges, edge_shares
from evener.running.engine.engine import MOST
from evener.running.engine.program import Solver, VertexProgram
from evener.running.hybrid import devices_of_process, run_hybrid
from evener.running.local_graphs import LocalGraph, Want
from evener.running.locality.adapting import LOCALITIES
from evener.running.mpi_comm import MpiComm
from evener.running.on_device import (
    UNWATCHED,
    Devices,
    DeviceTask,
    RunWatch,
    run_on_device,
    wanted_arcs,
)
from evener.running.program_run import ProgramRun
from evener.running.slicing import RankParts
from evener.wording import plural

Blocks: TypeAlias = Plan | Partition | EdgePlan | DividedEdges


def run_program(
    program: VertexProgram | Solver | str,
    graph: Graph | DirectedGraph,
    divided: Blocks,
    *,
    comm: Comm | None = None,
    devices: Devices | None = None,
    most: int | None = None,
    watch: RunWatch = UNWATCHED,
    parameters: Mapping[str, float] | None = None,
) -> ProgramRun:
    """Run a program on one device per block, for up to `most` supersteps.

    Every rank gets the result.

    program: a program, or the name of an app of `evener run`, such as "pagerank"; then the values
    are those that `evener run -o` writes. If `most` is None, the app's default number applies, or
    the program runs until it ends by itself.

    divided: a Plan or Partition of vertices; or an EdgePlan or DividedEdges, as for `edge_shares`.

    comm: a Comm with a rank for each device, or MPI processes that may have several devices each;
    all ranks call this. None: devices are threads of this process.

    devices: for each device, the cores to which its threads are bound, or a CUDA device; None: one
    unbound thread each. Raises UsageError for an unknown app, for a program that does not end by
    itself if `most` is not given, for options that do not work with the program, the devices or
    blocks of edges, and if the numbers of devices and blocks differ; InputError as Engine,
    `distribute` and `edge_shares` do; ToolError if a device fails or does not answer.
    """
    app: App | None = None
    if isinstance(program, str):
        app = find_app(program)
        program = app.program if app.program_for is None else app.program_for(graph)
        most = app.iterations if most is None else most
    most = supersteps_of(program, most)
    blocks = blocks_of(divided)
    if isinstance(blocks, DividedEdges):
        k, whole = blocks.partition.k, None
    else:
        k, whole = blocks.k, (graph, blocks)
    _check(program, devices, watch, on_edges=whole is None)
    _check_numbers(devices, comm, k)
    if watch.checkpoints is not None or watch.resume is not None:
        identify(program, graph, watch.checkpoints, watch.resume, parameters or {})
    task = DeviceTask.of(program, most, parameters, devices, watch, whole)
    began = time.perf_counter()
    parts = _parts_of(graph, blocks, wanted_arcs(program), _own_devices(comm, k))
    if watch.rebalancing is not None:
        watch.rebalancing.built = time.perf_counter() - began
    found = _on_devices(task, parts, k, comm)
    return found if app is None else replace(found, values=app.result(found.values))


def run_on_parts(
    program: VertexProgram | Solver,
    parts: Sequence[LocalGraph] | RankParts,
    *,
    comm: Comm | None = None,
    devices: Devices | None = None,
    most: int = MOST,
    watch: RunWatch = UNWATCHED,
    parameters: Mapping[str, float] | None = None,
) -> ProgramRun:
    """Run a program on the parts of a graph: all of them, or those that the ranks have read.

    parts: those of all devices; without `comm`, devices are threads of this process. Or RankParts
    with `comm`: each rank has only the parts that it has read. Parts contain the arcs that
    `wanted_arcs` names. Other arguments as for run_program. Raises UsageError as run_program does,
    for RankParts without `comm`, and if the run has checkpoints or is to be rebalanced, because
    these need the whole graph.
    """
    most = supersteps_of(program, most)
    if comm is None and isinstance(parts, RankParts):
        raise UsageError("parts that ranks have read run only on these ranks: pass `comm`")
    by_device = parts.parts if isinstance(parts, RankParts) else dict(enumerate(parts))
    k = len(parts.sizes) if isinstance(parts, RankParts) else len(parts)
    if (watch.checkpoints, watch.resume, watch.rebalancing) != (None, None, None):
        raise UsageError("checkpoints and rebalancing need the whole graph: call run_program")
    on_edges = any(part.divides_edges for part in by_device.values())
    _check(program, devices, watch, on_edges=on_edges)
    _check_numbers(devices, comm, k)
    task = DeviceTask.of(program, most, parameters, devices, watch)
    return _on_devices(task, by_device, k, comm)


def supersteps_of(program: object, most: int | None) -> int:
    """Return the largest number of supersteps of a program, given `most` or None.

    Raises UsageError if `program` is not a program, if it would never end, and for a number
    below 1.
    """
    if not isinstance(program, VertexProgram | Solver):
        raise UsageError(
            f"{shown(program)} is not a vertex program",
            hint='Give the name of an app, such as "pagerank", or a VertexProgram: '
            'VertexProgram.from_file("mine.py") reads one.',
        )
    if most is None and not program.ends_by_itself:
        raise UsageError(f"{program.name} does not end by itself", hint="Give most=N.")
    if most is not None and most < 1:
        raise UsageError(f"the number of supersteps must be at least 1, not {most}")
    return MOST if most is None else most


def refuse_on_edges(program: VertexProgram | Solver) -> None:
    """Raise UsageError if the program does not run on blocks of edges."""
    if isinstance(program, Solver) and not program.on_edges:
        raise UsageError(
            f"{program.name} runs on blocks of vertices only: it needs all edges of a "
            "vertex on one device",
            hint="Make a plan with `evener plan`. Blocks of edges work for pagerank, bfs, wcc, "
            "sssp, spmv and your own vertex programs.",
        )


def _check(
    program: VertexProgram | Solver, devices: Devices | None, watch: RunWatch, *, on_edges: bool
) -> None:
    """Raise UsageError for options that do not work with the program, devices or blocks."""
    has_cuda = any(isinstance(device, Cuda) for device in devices or ())
    locality = one_of("locality", watch.locality, LOCALITIES)
    if on_edges:
        refuse_on_edges(program)
        hint = "Use blocks of vertices, which `evener plan` makes."
        if has_cuda:
            raise UsageError("blocks of edges do not run on CUDA devices", hint=hint)
        if locality != "off":
            raise UsageError("an order for locality does not work with blocks of edges", hint=hint)
        if watch.rebalancing is not None:
            raise UsageError(
                "runs on blocks of edges cannot be rebalanced, as edges cannot change device",
                hint=hint,
            )
    if has_cuda and (watch.checkpoints is not None or watch.resume is not None):
        raise UsageError("checkpoints do not work with CUDA devices")
    if watch.rebalancing is not None:
        if has_cuda:
            raise UsageError("rebalancing does not work with CUDA devices")
        if isinstance(program, Solver) and not program.moves:
            raise UsageError(f"{program.name} cannot be rebalanced while it runs")
        if locality != "off":
            raise UsageError("rebalancing does not work together with an order for locality")
    if locality == "off":
        return
    if program.schedule == "union":
        raise UsageError(f"{program.name} needs its vertices in ascending order")
    if locality == "auto" and isinstance(program, Solver) and not program.moves:
        raise UsageError(
            f"{program.name} cannot change its order while it runs",
            hint='Locality "on" orders vertices before the run.',
        )
    if locality == "auto" and has_cuda:
        raise UsageError("vertices cannot change their order during a run with CUDA devices")


def _check_numbers(devices: Devices | None, comm: Comm | None, k: int) -> None:
    """Raise UsageError unless there are k devices and k ranks; fewer MPI processes are allowed."""
    if devices is not None and len(devices) != k:
        raise UsageError(
            f"the run has {plural(len(devices), 'device')}, but the plan has {plural(k, 'block')}"
        )
    if comm is not None and comm.size != k and not isinstance(comm, MpiComm):
        raise UsageError(f"{comm.size} ranks cannot run {k} blocks: each rank is one device")


def blocks_of(divided: Blocks) -> Partition | DividedEdges:
    """Return the partition of a plan; for a plan of edges, with the edges that it divides.

    Raises UsageError for anything else.
    """
    if isinstance(divided, Plan):
        return divided.partition
    if isinstance(divided, EdgePlan):
        return DividedEdges.by(divided)
    if not isinstance(divided, Partition | DividedEdges):
        raise UsageError(
            f"{shown(divided)} is neither a plan nor a partition",
            hint="`plan`, `split`, `read_plan` and `read_edge_plan` return plans; "
            "DividedEdges(partition, of) is a partition of edges.",
        )
    return divided


def _own_devices(comm: Comm | None, k: int) -> range:
    """Return the devices of this process, of k devices of all ranks."""
    if comm is None:
        return range(k)
    if isinstance(comm, MpiComm):
        return devices_of_process(comm, k)
    return range(comm.rank, comm.rank + 1)


def _parts_of(
    graph: Graph | DirectedGraph, blocks: Partition | DividedEdges, want: Want, own: range
) -> dict[int, LocalGraph]:
    """Return the parts of the graph for these devices, by device."""
    if isinstance(blocks, DividedEdges):
        return edge_shares(graph, blocks, own)
    if len(own) == blocks.k:
        return dict(enumerate(distribute(graph, blocks, want=want)))
    return {device: local_graph(graph, blocks, device, want=want) for device in own}


def _on_devices(
    task: DeviceTask, parts: Mapping[int, LocalGraph], k: int, comm: Comm | None
) -> ProgramRun:
    """Run the task on the parts of this process; k: number of devices of all ranks."""
    run = partial(run_on_device, task, parts)
    if comm is None:
        watch = task.watch
        computers = range(k) if watch.is_apart else None
        return run_threads(k, run, computers=computers, timeout=watch.timeout, names=watch.names)[0]
    if isinstance(comm, MpiComm) and comm.size != k:
        return run_hybrid(comm, k, run)[0]
    return run(comm)
