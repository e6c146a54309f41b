"""Runs a vertex program on all devices of a partition: threads of this process, or ranks of MPI."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from evener.errors import EvenerError, UsageError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.checkpoints import Checkpoint, Checkpoints, CheckpointWriter, identity_of
from evener.running.comm import NO_NAMES, Comm, MpiComm, run_threads
from evener.running.devices import Cuda
from evener.running.distributing import distribute, local_graph
from evener.running.engine.engine import MOST, WAYS, Engine
from evener.running.engine.pool import ThreadPool
from evener.running.engine.program import VertexProgram, parameters_of
from evener.running.engine.recording import DeviceRun, Superstep
from evener.running.engine.solver import Solver
from evener.running.engine.supersteps import DeviceEngine, SuperstepLoop
from evener.running.failures import PATIENCE, Names
from evener.running.hybrid import devices_of_process, run_hybrid
from evener.running.local_graphs import LocalGraph, Want
from evener.running.swaps import Stopped

Devices = Sequence[Sequence[int] | Cuda]
Tell = Callable[[int], None]
# What one device does in a run, given its rank, its part, its threads and whom to tell of progress.
Share = Callable[[Comm, LocalGraph, ThreadPool, Tell | None], DeviceRun]
AnyShare = Callable[[Comm, LocalGraph, Any, Tell | None], DeviceRun]  # or given a CudaDevice


@dataclass(frozen=True, eq=False)
class ProgramRun:
    """The result of a program, and what its supersteps took on each device.

    values (n,): by the graph's numbers. steps: of each device, its supersteps in order. seconds:
    wall time of all supersteps, the longest of any device, without reading, distributing and
    compiling. first: supersteps that were done before, where a run was continued.
    """

    values: npt.NDArray[Any]
    steps: tuple[tuple[Superstep, ...], ...]
    seconds: float
    first: int = 0

    @property
    def supersteps(self) -> int:
        """Number of supersteps, with those before this run."""
        return self.first + len(self.steps[0])

    @property
    def edges(self) -> int:
        """Arcs looked at, over all devices and supersteps."""
        return sum(step.edges for device in self.steps for step in device)

    def of_devices(self, name: str) -> npt.NDArray[np.float64]:
        """Return (supersteps, k) one field of Superstep."""
        rows = [[getattr(step, name) for step in device] for device in self.steps]
        return np.array(rows, np.float64).reshape(len(self.steps), -1).T


@dataclass(frozen=True)
class RunWatch:
    """What is told during a run, and when it is given up.

    tell: called on the first device with the number of supersteps done. timeout [s]: how long a
    device waits for another that is a thread of this process. names: of devices, for messages.
    checkpoints: where and when the run is kept. resume: from what it is continued.
    """

    tell: Tell | None = None
    timeout: float = PATIENCE
    names: Names = NO_NAMES
    checkpoints: Checkpoints | None = None
    resume: Checkpoint | None = None


def run_program(
    program: VertexProgram | Solver,
    graph: Graph | DirectedGraph,
    partition: Partition,
    *,
    comm: Comm | None = None,
    devices: Devices | None = None,
    most: int = MOST,
    watch: RunWatch = RunWatch(),
    parameters: Mapping[str, float] | None = None,
) -> ProgramRun:
    """Run a program on one device for each block, for up to `most` supersteps.

    comm: a rank for each device, each of which calls, or processes of MPI that have several devices
    each; None: devices are threads of this process.
    devices: of each the cores to which its threads are bound, or a CUDA device; None: one thread
    each, not bound. Every rank gets the result. Raises UsageError where devices and blocks are not
    equally many, InputError as Engine does, and ToolError where a device fails or does not answer.
    """
    if watch.checkpoints is not None or watch.resume is not None:
        if any(isinstance(device, Cuda) for device in devices or ()):
            raise UsageError("checkpoints are of runs on cores alone, without CUDA devices")
        if isinstance(program, Solver):
            raise UsageError(f"{program.name} has no checkpoints: vertex programs alone have them")
        identity = identity_of(program, parameters or {}, graph)
        if watch.resume is not None:
            watch.resume.check(identity)
        if watch.checkpoints is not None:
            watch.checkpoints.identity = identity
    share = _share_of(program, most, parameters, watch)
    want = wanted_arcs(program)
    return _run(share, graph, partition, want=want, comm=comm, devices=devices, watch=watch)


def run_on_parts(
    program: VertexProgram | Solver,
    parts: Sequence[LocalGraph],
    *,
    devices: Devices | None = None,
    most: int = MOST,
    watch: RunWatch = RunWatch(),
    parameters: Mapping[str, float] | None = None,
) -> ProgramRun:
    """Run a program on all parts of a distributed graph, each by a thread of this process.

    Arguments as of run_program. Parts hold the arcs that `wanted_arcs` names.
    """
    return _on_threads(_share_of(program, most, parameters, watch), parts, devices, watch)


def run_shares(
    share: Share,
    graph: Graph | DirectedGraph,
    partition: Partition,
    *,
    want: Want = "both",
    comm: Comm | None = None,
    devices: Devices | None = None,
    watch: RunWatch = RunWatch(),
) -> ProgramRun:
    """Run share(comm, local, pool, tell) on one device for each block; all exchange by `comm`.

    want: which arcs each device's part holds; the rest is as of run_program, but all devices are
    cores: CUDA devices run vertex programs alone.
    """
    if any(isinstance(device, Cuda) for device in devices or ()):
        raise UsageError("CUDA devices run vertex programs alone")
    return _run(share, graph, partition, want=want, comm=comm, devices=devices, watch=watch)


def _run(
    share: AnyShare,
    graph: Graph | DirectedGraph,
    partition: Partition,
    *,
    want: Want,
    comm: Comm | None,
    devices: Devices | None,
    watch: RunWatch,
) -> ProgramRun:
    """Run a share on one device for each block, of whatever kind."""
    if devices is not None and len(devices) != partition.k:
        raise UsageError(f"{len(devices)} devices for {partition.k} blocks")
    if isinstance(comm, MpiComm) and comm.size != partition.k:
        own = devices_of_process(comm, partition.k)
        parts = {device: local_graph(graph, partition, device, want=want) for device in own}
        runs = run_hybrid(
            comm,
            partition.k,
            lambda one: _on_rank(one, share, parts[one.rank], devices, watch),
        )
        return runs[0]
    if comm is not None:
        if comm.size != partition.k:
            raise UsageError(f"{comm.size} ranks for {partition.k} blocks: each is one device")
        local = local_graph(graph, partition, comm.rank, want=want)
        return _on_rank(comm, share, local, devices, watch)
    return _on_threads(share, distribute(graph, partition, want=want), devices, watch)


def _on_threads(
    share: AnyShare, parts: Sequence[LocalGraph], devices: Devices | None, watch: RunWatch
) -> ProgramRun:
    """Run a share on each part, by a thread of this process each."""
    runs = run_threads(
        len(parts),
        lambda own: _on_rank(own, share, parts[own.rank], devices, watch),
        timeout=watch.timeout,
        names=watch.names,
    )
    return runs[0]


def _share_of(
    program: VertexProgram | Solver,
    most: int,
    parameters: Mapping[str, float] | None,
    watch: RunWatch,
) -> AnyShare:
    """Return what a device does to run a program."""
    if isinstance(program, Solver):
        chosen = parameters_of(program.name, program.parameters, parameters or {})
        return partial(_solved, program, most, chosen)

    def share(comm: Comm, local: LocalGraph, on: Any, tell: Tell | None) -> DeviceRun:
        engine: DeviceEngine
        if isinstance(on, ThreadPool):
            engine = Engine(program, local, on, parameters)
        else:
            from evener.running.engine.cuda_engine import cuda_engine

            engine = cast(DeviceEngine, cuda_engine(program, local, on, parameters))
        start = None if watch.resume is None else watch.resume.state.of(local.owned)
        first = 0 if start is None else start.step
        asked = watch.checkpoints
        keep = None if asked is None else CheckpointWriter(comm, local, asked, first)
        return SuperstepLoop(comm, local, engine, tell, start, keep).run(most)

    return share


def _solved(
    solver: Solver,
    most: int,
    parameters: Mapping[str, float],
    comm: Comm,
    local: LocalGraph,
    pool: ThreadPool,
    tell: Tell | None,
) -> DeviceRun:
    if not isinstance(pool, ThreadPool):
        raise UsageError(f"{solver.name} runs on cores alone, without CUDA devices")
    return solver.solve(comm, local, pool, tell, most=most, **parameters)


def wanted_arcs(program: VertexProgram | Solver) -> Want:
    """Return which arcs the program's schedule reads."""
    if isinstance(program, Solver):
        return program.want
    ways = WAYS[program.schedule] if program.direction == "out" else ("out", "into")
    return "both" if len(ways) == 2 else ways[0]  # type: ignore[return-value]


def _on_rank(
    comm: Comm, share: AnyShare, local: LocalGraph, devices: Devices | None, watch: RunWatch
) -> ProgramRun:
    """Run one device's share; return the whole result. Errors name the device."""
    try:
        with _opened(None if devices is None else devices[comm.rank]) as on:
            own = share(comm, local, on, watch.tell if comm.rank == 0 else None)
        return _gathered(comm, local, own)
    except (EvenerError, Stopped):
        raise
    except Exception as error:
        raise watch.names.failed(comm.rank, error) from error


@contextmanager
def _opened(device: Sequence[int] | Cuda | None) -> Iterator[Any]:
    """Give the threads of a device, or a CudaDevice, which the calling thread drives."""
    if isinstance(device, Cuda):
        from evener.running.engine.device_cuda_kernels import CudaDevice

        yield CudaDevice(device.number)
    else:
        bound = None if device is None else list(device)
        with ThreadPool(len(bound) if bound else 1, bound) as pool, pool.bound():
            yield pool


def _gathered(comm: Comm, local: LocalGraph, own: DeviceRun) -> ProgramRun:
    """Return the result of all devices, on every rank."""
    found = comm.allgather((local.owned, own.values.copy(), own.steps, own.seconds))
    values = np.empty(local.n_global, own.values.dtype)
    for owned, part, _, _ in found:
        values[owned] = part
    steps = tuple(tuple(steps) for _, _, steps, _ in found)
    return ProgramRun(values, steps, max(seconds for *_, seconds in found), own.first)


def cores_here() -> list[int]:
    """Return the cores that this process may use."""
    return sorted(os.sched_getaffinity(0))
