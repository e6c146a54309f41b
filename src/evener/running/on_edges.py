"""Runs a vertex program on all devices of an edge partition, each a thread or an MPI rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evener.errors import UsageError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.plans.edge_plan import EdgePlan
from evener.running.comm import Comm
from evener.running.devices import Cuda
from evener.running.edge_shares import DividedEdges, EdgeShare, edge_shares
from evener.running.engine.engine import MOST
from evener.running.engine.mirror_loop import run_share
from evener.running.engine.program import VertexProgram, parameters_of
from evener.running.engine.recording import DeviceRun
from evener.running.engine.solver import Solver
from evener.running.executing import (
    on_own_parts,
    on_threads,
    refuse_other_numbers,
    run_app,
    supersteps_of,
)
from evener.running.hybrid import devices_of_process
from evener.running.keeping import identify, stretch_of
from evener.running.local_graphs import LocalGraph
from evener.running.mpi_comm import MpiComm
from evener.running.on_device import UNWATCHED, Devices, RunWatch, Share, Tell
from evener.running.program_run import ProgramRun


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
    own: range | None = None
    if isinstance(comm, MpiComm):
        own = devices_of_process(comm, k)
    elif comm is not None:
        own = range(comm.rank, comm.rank + 1)
    shares = edge_shares(graph, divided, own)
    if comm is None:
        how: dict[str, Any] = {"devices": devices, "most": most, "watch": watch}
        return run_on_shares(program, shares, parameters=parameters, **how)
    share = _share_of(program, shares, most, parameters, watch)
    parts = {device: one.exchanged for device, one in shares.items()}
    return on_own_parts(share, parts, k, comm, devices, watch)


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

    Arguments, result and errors as for `run_on_edges`. If the watch has checkpoints, their identity
    must already be set.
    """
    refuse_on_edges(program)
    _refuse(devices, watch)
    share = _share_of(program, shares, most, parameters, watch)
    parts = [shares[device].exchanged for device in range(len(shares))]
    return on_threads(share, parts, devices, watch)


def _share_of(
    program: VertexProgram | Solver,
    shares: Mapping[int, EdgeShare],
    most: int,
    parameters: Mapping[str, float] | None,
    watch: RunWatch,
) -> Share:
    """Return the function that runs a program on one device."""
    chosen = parameters_of(program.name, program.parameters, parameters or {})

    def share(comm: Comm, local: LocalGraph, on: Any, tell: Tell | None) -> DeviceRun:
        own = shares[local.rank]
        if isinstance(program, VertexProgram):
            with stretch_of(watch.checkpoints, watch.resume, comm, local) as stretch:
                return run_share(program, own, (comm, on, tell), most, chosen, stretch)
        assert program.solve_on_edges is not None
        return program.solve_on_edges(comm, own, on, tell, most=most, **chosen)

    return share


def refuse_on_edges(program: VertexProgram | Solver) -> None:
    """Raise UsageError if the program does not run on edge partitions."""
    if isinstance(program, Solver) and program.solve_on_edges is None:
        raise UsageError(
            f"{program.name} runs on blocks of vertices only: it needs all edges of a "
            "vertex on one device",
            hint="Use a plan by `evener plan`. Blocks of edges run pagerank, bfs, wcc, "
            "sssp, spmv and programs of your own.",
        )


def _refuse(devices: Devices | None, watch: RunWatch) -> None:
    """Raise UsageError for devices or options that do not work with edge partitions."""
    if any(isinstance(device, Cuda) for device in devices or ()):
        raise UsageError(
            "blocks of edges do not run on CUDA devices",
            hint="Blocks of vertices do. `evener plan` makes them.",
        )
    if watch.rebalancing is not None:
        raise UsageError("runs on blocks of edges cannot be rebalanced: edges stay where they are")
