"""Runs a vertex program on all devices of a partition: threads of this process, or ranks of MPI."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import UsageError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.comm import Comm, run_threads
from evener.running.distributing import LocalGraph, Want, distribute, local_graph
from evener.running.engine.engine import MOST, WAYS, Engine
from evener.running.engine.pool import ThreadPool
from evener.running.engine.program import VertexProgram
from evener.running.engine.supersteps import DeviceRun, Superstep, SuperstepLoop

Cores = Sequence[Sequence[int]]


@dataclass(frozen=True, eq=False)
class ProgramRun:
    """The result of a program, and what its supersteps took on each device.

    values (n,): by the graph's numbers. steps: of each device, its supersteps in order. seconds:
    wall time of all supersteps, the longest of any device, without reading, distributing and
    compiling.
    """

    values: npt.NDArray[Any]
    steps: tuple[tuple[Superstep, ...], ...]
    seconds: float

    @property
    def supersteps(self) -> int:
        """Number of supersteps."""
        return len(self.steps[0])

    @property
    def edges(self) -> int:
        """Arcs looked at, over all devices and supersteps."""
        return sum(step.edges for device in self.steps for step in device)

    def of_devices(self, name: str) -> npt.NDArray[np.float64]:
        """Return (supersteps, k) one field of Superstep."""
        rows = [[getattr(step, name) for step in device] for device in self.steps]
        return np.array(rows, np.float64).reshape(len(self.steps), -1).T


def run_program(
    program: VertexProgram,
    graph: Graph | DirectedGraph,
    partition: Partition,
    *,
    comm: Comm | None = None,
    cores: Cores | None = None,
    most: int = MOST,
    tell: Callable[[int], None] | None = None,
    parameters: Mapping[str, float] | None = None,
) -> ProgramRun:
    """Run a program on one device for each block, for up to `most` supersteps.

    comm: a rank for each device, each of which calls; None: devices are threads of this process.
    cores: of each device, to which its threads are bound; None: one thread each, not bound. tell:
    called on the first device with the number of supersteps done. Every rank gets the result.
    Raises UsageError where devices and blocks are not equally many, InputError as Engine does.
    """
    want = wanted_arcs(program)
    if cores is not None and len(cores) != partition.k:
        raise UsageError(f"{len(cores)} devices for {partition.k} blocks")
    if comm is not None:
        if comm.size != partition.k:
            raise UsageError(
                f"{comm.size} ranks for {partition.k} blocks: each rank is one device",
                hint=f"mpiexec -n {partition.k} ..., or a plan for {comm.size} devices.",
            )
        local = local_graph(graph, partition, comm.rank, want=want)
        return _on_rank(comm, program, local, cores, most, tell, parameters)
    parts = distribute(graph, partition, want=want)
    return run_on_parts(program, parts, cores=cores, most=most, tell=tell, parameters=parameters)


def run_on_parts(
    program: VertexProgram,
    parts: Sequence[LocalGraph],
    *,
    cores: Cores | None = None,
    most: int = MOST,
    tell: Callable[[int], None] | None = None,
    parameters: Mapping[str, float] | None = None,
) -> ProgramRun:
    """Run a program on all parts of a distributed graph, each by a thread of this process.

    Arguments as of run_program. Parts hold the arcs that `wanted_arcs` names.
    """
    runs = run_threads(
        len(parts),
        lambda own: _on_rank(own, program, parts[own.rank], cores, most, tell, parameters),
    )
    return runs[0]


def wanted_arcs(program: VertexProgram) -> Want:
    """Return which arcs the program's schedule reads."""
    ways = WAYS[program.schedule] if program.direction == "out" else ("out", "into")
    return "both" if len(ways) == 2 else ways[0]  # type: ignore[return-value]


def _on_rank(
    comm: Comm,
    program: VertexProgram,
    local: LocalGraph,
    cores: Cores | None,
    most: int,
    tell: Callable[[int], None] | None,
    parameters: Mapping[str, float] | None,
) -> ProgramRun:
    """Run one device's share; return the whole result."""
    bound = None if cores is None else list(cores[comm.rank])
    with ThreadPool(len(bound) if bound else 1, bound) as pool:
        engine = Engine(program, local, pool, parameters)
        loop = SuperstepLoop(comm, local, engine, tell if comm.rank == 0 else None)
        own = loop.run(most)
    return _gathered(comm, local, own)


def _gathered(comm: Comm, local: LocalGraph, own: DeviceRun) -> ProgramRun:
    """Return the result of all devices, on every rank."""
    found = comm.allgather((local.owned, own.values.copy(), own.steps, own.seconds))
    values = np.empty(local.n_global, own.values.dtype)
    for owned, part, _, _ in found:
        values[owned] = part
    steps = tuple(tuple(steps) for _, _, steps, _ in found)
    return ProgramRun(values, steps, max(seconds for *_, seconds in found))


def cores_here() -> list[int]:
    """Return the cores that this process may use."""
    return sorted(os.sched_getaffinity(0))
