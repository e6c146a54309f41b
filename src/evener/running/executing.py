"""Runs a vertex program on all devices of a partition: threads of this process, or ranks of MPI."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from evener.arrays import Part
from evener.errors import EvenerError, UsageError, one_of
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.checkpoints import Checkpoint, Checkpoints
from evener.running.comm import NO_NAMES, Comm, run_threads
from evener.running.devices import Cuda
from evener.running.distributing import distribute, local_graph
from evener.running.engine.engine import MOST, WAYS, Engine
from evener.running.engine.pool import ThreadPool
from evener.running.engine.program import VertexProgram, parameters_of
from evener.running.engine.recording import (
    DeviceRun,
    Reordering,
    Superstep,
    VertexMove,
)
from evener.running.engine.solver import Solver
from evener.running.engine.states import RunState
from evener.running.engine.supersteps import DeviceEngine, Keep, Stretch, SuperstepLoop
from evener.running.failures import PATIENCE, Names
from evener.running.hybrid import devices_of_process, run_hybrid
from evener.running.keeping import identify, keeping, start_of, writer_of
from evener.running.local_graphs import LocalGraph, Want
from evener.running.locality.adapting import (
    LOCALITIES,
    AdaptiveDevice,
    ordered,
    process_cores,
)
from evener.running.moving import MovingDevice, Rebalancing, Segment
from evener.running.mpi_comm import MpiComm
from evener.running.slicing import RankParts
from evener.running.swaps import Stopped
from evener.wording import plural

Devices = Sequence[Sequence[int] | Cuda]
Tell = Callable[[int], None]
# What one device does in a run, given its rank, its part, its threads or CudaDevice, and whom to
# tell of progress.
Share = Callable[[Comm, LocalGraph, Any, Tell | None], DeviceRun]


@dataclass(frozen=True, eq=False)
class ProgramRun:
    """The result of a program, and what its supersteps took on each device.

    values (n,): by the graph's numbers. steps: of each device, its supersteps in order. seconds:
    wall time of all supersteps, the longest of any device, without reading, distributing and
    compiling. first: supersteps that were done before, where a run was continued. moves: of
    vertices between devices. part (n,): the device of each at the end; None: where it was at first.
    asking [s]: whether vertices were to move, without what has led to moves. is_emulated: whether
    seconds are those of a virtual clock, see EmulatedMachineRun.recorded. reorderings: of each
    device's vertices, where asked for.
    """

    values: npt.NDArray[Any]
    steps: tuple[tuple[Superstep, ...], ...]
    seconds: float
    first: int = 0
    moves: tuple[VertexMove, ...] = ()
    part: Part | None = None
    asking: float = 0.0
    is_emulated: bool = False
    reorderings: tuple[Reordering, ...] = ()

    @property
    def supersteps(self) -> int:
        """Number of supersteps, with those before this run."""
        return self.first + len(self.steps[0])

    @property
    def edges(self) -> int:
        """Arcs looked at, over all devices and supersteps."""
        return sum(step.edges for device in self.steps for step in device)

    def since_last_move(self) -> ProgramRun:
        """Return the supersteps since vertices last changed device, as a run; all if none did."""
        if not self.moves:
            return self
        last = self.moves[-1]
        steps = tuple(device[last.step - self.first :] for device in self.steps)
        seconds = self.seconds - last.began - last.seconds
        return replace(self, steps=steps, seconds=seconds, first=last.step, moves=())

    def of_devices(self, name: str) -> npt.NDArray[np.float64]:
        """Return (supersteps, k) one field of Superstep."""
        rows = [[getattr(step, name) for step in device] for device in self.steps]
        return np.array(rows, np.float64).reshape(len(self.steps), -1).T


@dataclass(frozen=True)
class RunWatch:
    """What is told during a run, and when it is given up.

    tell: called on the first device with the number of supersteps done. timeout [s]: how long a
    device waits for another that is a thread of this process. names: of devices, for messages.
    checkpoints: where and when the run is kept. resume: from what it is continued. rebalancing:
    who is asked whether vertices are to change device meanwhile. locality: whether each device
    brings its vertices into a better order: "on", before it runs; "auto", while it does; "off".
    """

    tell: Tell | None = None
    timeout: float = PATIENCE
    names: Names = NO_NAMES
    checkpoints: Checkpoints | None = None
    resume: Checkpoint | None = None
    rebalancing: Rebalancing | None = None
    locality: str = "off"


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
    has_cuda = any(isinstance(device, Cuda) for device in devices or ())
    if watch.checkpoints is not None or watch.resume is not None:
        if has_cuda:
            raise UsageError("checkpoints are of runs on cores alone, without CUDA devices")
        identify(program, graph, watch.checkpoints, watch.resume, parameters or {})
    if watch.rebalancing is not None:
        if has_cuda:
            raise UsageError("runs on cores alone are rebalanced, without CUDA devices")
        if isinstance(program, Solver) and not program.moves:
            raise UsageError(f"{program.name} cannot be rebalanced while it runs")
    _check_locality(program, devices, watch)
    share = _share_of(program, most, parameters, watch, (graph, partition))
    want = wanted_arcs(program)
    return _run(share, graph, partition, want=want, comm=comm, devices=devices, watch=watch)


def _check_locality(
    program: VertexProgram | Solver, devices: Devices | None, watch: RunWatch
) -> None:
    """Raise UsageError where vertices cannot be brought into another order as asked for."""
    asked = one_of("locality", watch.locality, LOCALITIES)
    if asked == "off":
        return
    if watch.rebalancing is not None:
        raise UsageError("a run is rebalanced or orders its vertices for locality, not both")
    if program.schedule == "union":
        raise UsageError(f"{program.name} needs its vertices by rising number")
    if asked == "auto" and isinstance(program, Solver) and not program.moves:
        raise UsageError(
            f"{program.name} cannot change its order while it runs",
            hint='Locality "on" orders vertices before.',
        )
    if asked == "auto" and any(isinstance(device, Cuda) for device in devices or ()):
        raise UsageError("vertices change their order while a run goes on on cores alone")


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

    Arguments as of run_program. Parts hold the arcs that `wanted_arcs` names. Raises UsageError
    where the run is to be rebalanced: new parts are made from the whole graph.
    """
    if watch.rebalancing is not None:
        raise UsageError("a run on parts of a graph is not rebalanced: give the whole graph")
    _check_locality(program, devices, watch)
    return on_threads(_share_of(program, most, parameters, watch), parts, devices, watch)


def run_on_ranks(
    program: VertexProgram | Solver,
    own: RankParts,
    comm: Comm,
    *,
    devices: Devices | None = None,
    most: int = MOST,
    watch: RunWatch = RunWatch(),
    parameters: Mapping[str, float] | None = None,
) -> ProgramRun:
    """Run a program on the parts that ranks have read of a graph that none holds; all call.

    Arguments as of run_program. Parts hold the arcs that `wanted_arcs` names. Raises UsageError
    where the run has checkpoints or is to be rebalanced, for which the graph is needed.
    """
    if (watch.checkpoints, watch.resume, watch.rebalancing) != (None, None, None):
        raise UsageError("checkpoints and rebalancing need the whole graph")
    k = len(own.sizes)
    _check_locality(program, devices, watch)
    refuse_other_numbers(devices, comm, k)
    share = _share_of(program, most, parameters, watch)
    return on_own_parts(share, own.parts, k, comm, devices, watch)


def _run(
    share: Share,
    graph: Graph | DirectedGraph,
    partition: Partition,
    *,
    want: Want,
    comm: Comm | None,
    devices: Devices | None,
    watch: RunWatch,
) -> ProgramRun:
    """Run a share on one device for each block, of whatever kind."""
    k = partition.k
    refuse_other_numbers(devices, comm, k)
    if comm is None:
        with _built(watch):
            locals_ = distribute(graph, partition, want=want)
        return on_threads(share, locals_, devices, watch)
    own = (
        devices_of_process(comm, k)
        if isinstance(comm, MpiComm)
        else range(comm.rank, comm.rank + 1)
    )
    with _built(watch):
        parts = {device: local_graph(graph, partition, device, want=want) for device in own}
    return on_own_parts(share, parts, k, comm, devices, watch)


def refuse_other_numbers(devices: Devices | None, comm: Comm | None, k: int) -> None:
    """Raise UsageError where devices or ranks, unless processes of MPI, are not k."""
    if devices is not None and len(devices) != k:
        raise UsageError(f"{plural(len(devices), 'device')} for {plural(k, 'block')}")
    if comm is not None and comm.size != k and not isinstance(comm, MpiComm):
        raise UsageError(f"{comm.size} ranks for {k} blocks: each is one device")


def on_own_parts(
    share: Share,
    parts: Mapping[int, LocalGraph],
    k: int,
    comm: Comm,
    devices: Devices | None,
    watch: RunWatch,
) -> ProgramRun:
    """Run a share on the parts of this rank's devices, of k in all."""
    if isinstance(comm, MpiComm) and comm.size != k:
        runs = run_hybrid(
            comm, k, lambda one: _on_rank(one, share, parts[one.rank], devices, watch)
        )
        return runs[0]
    return _on_rank(comm, share, parts[comm.rank], devices, watch)


@contextmanager
def _built(watch: RunWatch) -> Iterator[None]:
    """Note for a rebalancing what making the parts takes."""
    began = time.perf_counter()
    yield
    if watch.rebalancing is not None:
        watch.rebalancing.built = time.perf_counter() - began


def on_threads(
    share: Share, parts: Sequence[LocalGraph], devices: Devices | None, watch: RunWatch
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
    whole: tuple[Graph | DirectedGraph, Partition] | None = None,
) -> Share:
    """Return what a device does to run a program; whole: what parts can be made from anew."""
    chosen = parameters_of(program.name, program.parameters, parameters or {})
    cores = process_cores()  # before this thread is bound to those of a device

    def share(comm: Comm, local: LocalGraph, on: Any, tell: Tell | None) -> DeviceRun:
        def segment(local: LocalGraph, start: RunState | None, keep: Keep | None) -> DeviceRun:
            if writer is not None:
                writer.local = local
            given = _OnDevice(comm, on, tell, local, Stretch(start, keep), most, chosen)
            if isinstance(program, Solver):
                return _solved(program, given)
            return _looped(program, given)

        told: Reordering | None = None
        if watch.locality == "on":
            local, told = ordered(local)
        start = start_of(watch.resume, local)
        writer = writer_of(watch.checkpoints, comm, local, start)
        keep = None if writer is None else keeping(writer)
        if watch.locality == "auto":
            is_dense = program.schedule == "dense"
            adaptive = AdaptiveDevice(comm, segment, is_dense=is_dense, cores=cores)
            return adaptive.run(local, start, keep)
        if watch.rebalancing is None or whole is None:
            made = segment(local, start, keep)
            return replace(made, owned=local.owned, reordering=told) if told else made
        how = Segment(segment, program.schedule, most, wanted_arcs(program), on.threads)
        return MovingDevice(comm, watch.rebalancing, how, *whole).run(local, start, keep)

    return share


class _OnDevice(NamedTuple):
    """What one device runs a program with.

    comm: its rank. device: its threads or CudaDevice. tell: whom to tell of progress. local: its
    part. stretch: what of the run. most: supersteps. parameters: all of them.
    """

    comm: Comm
    device: Any
    tell: Tell | None
    local: LocalGraph
    stretch: Stretch
    most: int
    parameters: Mapping[str, float]


def _looped(program: VertexProgram, given: _OnDevice) -> DeviceRun:
    """Run a vertex program on one device."""
    comm, device, tell, local, stretch, most, parameters = given
    engine: DeviceEngine
    if isinstance(device, ThreadPool):
        engine = Engine(program, local, device, parameters)
    else:
        from evener.running.engine.cuda_engine import cuda_engine

        engine = cast(DeviceEngine, cuda_engine(program, local, device, parameters))
    return SuperstepLoop(comm, local, engine, tell, *stretch).run(most)


def _solved(solver: Solver, given: _OnDevice) -> DeviceRun:
    """Run a solver on one device."""
    comm, pool, tell, local, stretch, most, parameters = given
    if not isinstance(pool, ThreadPool):
        raise UsageError(f"{solver.name} runs on cores alone, without CUDA devices")
    more: dict[str, Any] = {"stretch": stretch} if solver.moves else {}
    return solver.solve(comm, local, pool, tell, most=most, **more, **parameters)


def wanted_arcs(program: VertexProgram | Solver) -> Want:
    """Return which arcs the program's schedule reads."""
    if isinstance(program, Solver):
        return program.want
    ways = WAYS[program.schedule] if program.direction == "out" else ("out", "into")
    return "both" if len(ways) == 2 else ways[0]  # type: ignore[return-value]


def _on_rank(
    comm: Comm, share: Share, local: LocalGraph, devices: Devices | None, watch: RunWatch
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
    told = own.reordering
    if comm.size == 1 and not own.moves and (told is None or told.step is None):
        return ProgramRun(  # its vertices are in order
            own.values, (tuple(own.steps),), own.seconds, own.first, asking=own.asking,
            reorderings=() if told is None else (told,),
        )  # fmt: skip
    owned = local.owned if own.owned is None else own.owned
    found = comm.allgather(replace(own, values=own.values.copy(), owned=owned))
    values, part = np.empty(local.n_global, own.values.dtype), np.empty(local.n_global, np.int32)
    for rank, one in enumerate(found):
        values[one.owned], part[one.owned] = one.values, rank
    steps, seconds = tuple(tuple(one.steps) for one in found), max(one.seconds for one in found)
    moves, asking = found[0].moves, found[0].asking
    orders = tuple(one.reordering for one in found if one.reordering is not None)
    part_now = part if moves else None
    return ProgramRun(
        values, steps, seconds, own.first, moves, part_now, asking, reorderings=orders
    )
