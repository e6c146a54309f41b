"""Runs a vertex program on all devices of a partition of vertices or edges.

Each device is a thread or an MPI rank.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from evener.errors import UsageError, one_of, shown
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.plans.edge_plan import EdgePlan
from evener.plans.partition import Partition
from evener.running.apps.registry import find_app
from evener.running.checkpoints import identify, stretch_of
from evener.running.comm import Comm, run_threads
from evener.running.devices import Cuda
from evener.running.distributing import distribute, local_graph
from evener.running.edge_shares import DividedEdges, EdgeShare, edge_shares
from evener.running.engine.engine import MOST
from evener.running.engine.mirror_loop import run_share
from evener.running.engine.program import Solver, VertexProgram, parameters_of
from evener.running.engine.recording import DeviceRun
from evener.running.hybrid import devices_of_process, run_hybrid
from evener.running.local_graphs import LocalGraph
from evener.running.locality.adapting import LOCALITIES
from evener.running.mpi_comm import MpiComm
from evener.running.on_device import (
    UNWATCHED,
    Devices,
    DeviceWork,
    RunWatch,
    Tell,
    on_rank,
    wanted_arcs,
    work_on_device,
)
from evener.running.program_run import ProgramRun
from evener.running.slicing import RankParts
from evener.wording import plural


def run_program(
    program: VertexProgram | Solver | str,
    graph: Graph | DirectedGraph,
    partition: Partition,
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

    comm: a Comm with a rank for each device, or MPI processes that may have several devices each;
    all ranks call this. None: devices are threads of this process.

    devices: for each device, the cores to which its threads are bound, or a CUDA device; None: one
    unbound thread each. Raises UsageError for an unknown app, for a program that does not end by
    itself if `most` is not given, and if the numbers of devices and blocks differ; InputError as
    Engine does; ToolError if a device fails or does not answer.
    """
    if isinstance(program, str):
        return run_app(
            run_program, program, graph, partition, most,
            comm=comm, devices=devices, watch=watch, parameters=parameters,
        )  # fmt: skip
    most = supersteps_of(program, most)
    has_cuda = any(isinstance(device, Cuda) for device in devices or ())
    if watch.checkpoints is not None or watch.resume is not None:
        if has_cuda:
            raise UsageError("checkpoints do not work with CUDA devices")
        identify(program, graph, watch.checkpoints, watch.resume, parameters or {})
    if watch.rebalancing is not None:
        if has_cuda:
            raise UsageError("rebalancing does not work with CUDA devices")
        if isinstance(program, Solver) and not program.moves:
            raise UsageError(f"{program.name} cannot be rebalanced while it runs")
    _check_locality(program, devices, watch)
    work = work_on_device(program, most, parameters, watch, (graph, partition))
    k, want = partition.k, wanted_arcs(program)
    refuse_other_numbers(devices, comm, k)
    if comm is None:
        with _built(watch):
            locals_ = distribute(graph, partition, want=want)
        return on_threads(work, locals_, devices, watch)
    with _built(watch):
        own = own_devices(comm, k)
        parts = {device: local_graph(graph, partition, device, want=want) for device in own}
    return on_own_parts(work, parts, k, comm, devices, watch)


def _check_locality(
    program: VertexProgram | Solver, devices: Devices | None, watch: RunWatch
) -> None:
    """Raise UsageError if the requested order of vertices (watch.locality) is not possible."""
    asked = one_of("locality", watch.locality, LOCALITIES)
    if asked == "off":
        return
    if watch.rebalancing is not None:
        raise UsageError("rebalancing does not work together with an order for locality")
    if program.schedule == "union":
        raise UsageError(f"{program.name} needs its vertices in ascending order")
    if asked == "auto" and isinstance(program, Solver) and not program.moves:
        raise UsageError(
            f"{program.name} cannot change its order while it runs",
            hint='Locality "on" orders vertices before the run.',
        )
    if asked == "auto" and any(isinstance(device, Cuda) for device in devices or ()):
        raise UsageError("vertices cannot change their order during a run with CUDA devices")


def run_on_parts(
    program: VertexProgram | Solver,
    parts: Sequence[LocalGraph],
    *,
    devices: Devices | None = None,
    most: int = MOST,
    watch: RunWatch = UNWATCHED,
    parameters: Mapping[str, float] | None = None,
) -> ProgramRun:
    """Run a program on all parts of a distributed graph, each on a thread of this process.

    Arguments as for run_program. Parts contain the arcs that `wanted_arcs` names. Raises UsageError
    if the run is to be rebalanced, because new parts are built from the whole graph.
    """
    if watch.rebalancing is not None:
        raise UsageError("a run on parts of a graph cannot be rebalanced: pass the whole graph")
    _check_locality(program, devices, watch)
    return on_threads(work_on_device(program, most, parameters, watch), parts, devices, watch)


def run_on_ranks(
    program: VertexProgram | Solver,
    own: RankParts,
    comm: Comm,
    *,
    devices: Devices | None = None,
    most: int = MOST,
    watch: RunWatch = UNWATCHED,
    parameters: Mapping[str, float] | None = None,
) -> ProgramRun:
    """Run a program on parts that the ranks have read; no rank has the whole graph. All ranks call.

    Arguments as for run_program. Parts contain the arcs that `wanted_arcs` names. Raises UsageError
    if the run has checkpoints or is to be rebalanced, because these need the whole graph.
    """
    if (watch.checkpoints, watch.resume, watch.rebalancing) != (None, None, None):
        raise UsageError("checkpoints and rebalancing need the whole graph")
    k = len(own.sizes)
    _check_locality(program, devices, watch)
    refuse_other_numbers(devices, comm, k)
    work = work_on_device(program, most, parameters, watch)
    return on_own_parts(work, own.parts, k, comm, devices, watch)


def run_app(
    run: Callable[..., ProgramRun],
    name: str,
    graph: Graph | DirectedGraph,
    divided: Any,
    most: int | None,
    **how: Any,
) -> ProgramRun:
    """Run an app by `run` (run_program or run_on_edges); convert its values as `-o` does.

    divided, most, how: arguments of `run`. Raises UsageError for an unknown app.
    """
    app = find_app(name)
    program = app.program if app.program_for is None else app.program_for(graph)
    most = app.iterations if most is None else most
    found = run(program, graph, divided, most=most, **how)
    return replace(found, values=app.result(found.values))


def supersteps_of(program: object, most: int | None) -> int:
    """Return the largest number of supersteps of a program, given `most` or None.

    Raises UsageError if `program` is not a program, or if it would never end.
    """
    if not isinstance(program, VertexProgram | Solver):
        raise UsageError(
            f"{shown(program)} is not a vertex program",
            hint='Give the name of an app, such as "pagerank", or a VertexProgram: '
            'VertexProgram.from_file("mine.py") reads one.',
        )
    if most is None and not program.ends_by_itself:
        raise UsageError(f"{program.name} does not end by itself", hint="Give most=N.")
    return MOST if most is None else most


def refuse_other_numbers(devices: Devices | None, comm: Comm | None, k: int) -> None:
    """Raise UsageError unless there are k devices and k ranks; fewer MPI processes are allowed."""
    if devices is not None and len(devices) != k:
        raise UsageError(
            f"the run has {plural(len(devices), 'device')}, but the plan has {plural(k, 'block')}"
        )
    if comm is not None and comm.size != k and not isinstance(comm, MpiComm):
        raise UsageError(f"{comm.size} ranks cannot run {k} blocks: each rank is one device")


def own_devices(comm: Comm, k: int) -> range:
    """Return the devices of this rank, of k devices of all ranks."""
    if isinstance(comm, MpiComm):
        return devices_of_process(comm, k)
    return range(comm.rank, comm.rank + 1)


def on_own_parts(
    work: DeviceWork,
    parts: Mapping[int, LocalGraph],
    k: int,
    comm: Comm,
    devices: Devices | None,
    watch: RunWatch,
) -> ProgramRun:
    """Call `work` for the parts of this rank's devices; k: number of devices of all ranks."""
    if isinstance(comm, MpiComm) and comm.size != k:
        runs = run_hybrid(comm, k, lambda one: on_rank(one, work, parts[one.rank], devices, watch))
        return runs[0]
    return on_rank(comm, work, parts[comm.rank], devices, watch)


@contextmanager
def _built(watch: RunWatch) -> Iterator[None]:
    """Context manager: store the time of building the parts in watch.rebalancing, if it is set."""
    began = time.perf_counter()
    yield
    if watch.rebalancing is not None:
        watch.rebalancing.built = time.perf_counter() - began


def on_threads(
    work: DeviceWork, parts: Sequence[LocalGraph], devices: Devices | None, watch: RunWatch
) -> ProgramRun:
    """Call `work` for each part, each on a thread of this process."""
    runs = run_threads(
        len(parts),
        lambda own: on_rank(own, work, parts[own.rank], devices, watch),
        computers=range(len(parts)) if watch.is_apart else None,
        timeout=watch.timeout,
        names=watch.names,
    )
    return runs[0]


def run_on_edges(
    program: VertexProgram | Solver | str,
    graph: Graph | DirectedGraph,
    divided: DividedEdges | EdgePlan,
    *,
    comm: Comm | None = None,
    devices: Devices | None = None,
    most: int | None = None,
    watch: RunWatch = UNWATCHED,
    parameters: Mapping[str, float] | None = None,
) -> ProgramRun:
    """Run a program on one device per block of edges, for up to `most` supersteps.

    divided: as for `edge_shares`. Other arguments and the result are as for run_program. Raises
    UsageError if the program, devices or options do not work with edge partitions; InputError as
    Engine and `edge_shares` do; ToolError if a device fails or does not answer.
    """
    if isinstance(program, str):
        return run_app(
            run_on_edges, program, graph, divided, most,
            comm=comm, devices=devices, watch=watch, parameters=parameters,
        )  # fmt: skip
    most = supersteps_of(program, most)
    refuse_on_edges(program)
    _refuse(devices, watch)
    identify(program, graph, watch.checkpoints, watch.resume, parameters or {})
    divided = DividedEdges.by(divided)
    k = divided.partition.k
    refuse_other_numbers(devices, comm, k)
    shares = edge_shares(graph, divided, None if comm is None else own_devices(comm, k))
    if comm is None:
        how: dict[str, Any] = {"devices": devices, "most": most, "watch": watch}
        return run_on_shares(program, shares, parameters=parameters, **how)
    work = _work_on_edges(program, shares, most, parameters, watch)
    parts = {device: one.exchanged for device, one in shares.items()}
    return on_own_parts(work, parts, k, comm, devices, watch)


def run_on_shares(
    program: VertexProgram | Solver,
    shares: Mapping[int, EdgeShare],
    *,
    devices: Devices | None = None,
    most: int = MOST,
    watch: RunWatch = UNWATCHED,
    parameters: Mapping[str, float] | None = None,
) -> ProgramRun:
    """Run a program on all shares of a graph's edges, each on a thread of this process.

    Arguments, result and errors as for `run_on_edges`. If the watch has checkpoints, `identify`
    must have been called for them.
    """
    refuse_on_edges(program)
    _refuse(devices, watch)
    work = _work_on_edges(program, shares, most, parameters, watch)
    parts = [shares[device].exchanged for device in range(len(shares))]
    return on_threads(work, parts, devices, watch)


def _work_on_edges(
    program: VertexProgram | Solver,
    shares: Mapping[int, EdgeShare],
    most: int,
    parameters: Mapping[str, float] | None,
    watch: RunWatch,
) -> DeviceWork:
    """Return the function that runs a program on one device."""
    chosen = parameters_of(program.name, program.parameters, parameters or {})

    def work(comm: Comm, local: LocalGraph, on: Any, tell: Tell | None) -> DeviceRun:
        own = shares[local.rank]
        if isinstance(program, VertexProgram):
            with stretch_of(watch.checkpoints, watch.resume, comm, local) as stretch:
                return run_share(program, own, (comm, on, tell), most, chosen, stretch)
        assert program.solve_on_edges is not None
        return program.solve_on_edges(comm, own, on, tell, most=most, **chosen)

    return work


def refuse_on_edges(program: VertexProgram | Solver) -> None:
    """Raise UsageError if the program does not run on edge partitions."""
    if isinstance(program, Solver) and program.solve_on_edges is None:
        raise UsageError(
            f"{program.name} runs on blocks of vertices only: it needs all edges of a "
            "vertex on one device",
            hint="Make a plan with `evener plan`. Blocks of edges work for pagerank, bfs, wcc, "
            "sssp, spmv and your own vertex programs.",
        )


def _refuse(devices: Devices | None, watch: RunWatch) -> None:
    """Raise UsageError for devices or options that do not work with edge partitions."""
    if any(isinstance(device, Cuda) for device in devices or ()):
        raise UsageError(
            "blocks of edges do not run on CUDA devices",
            hint="Use blocks of vertices, which `evener plan` makes.",
        )
    if watch.rebalancing is not None:
        raise UsageError(
            "runs on blocks of edges cannot be rebalanced, as edges cannot change device"
        )
