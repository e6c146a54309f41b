"""What one device does in a run of a vertex program or solver, with progress and checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

from evener.errors import EvenerError, UsageError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.checkpoints import Checkpoint, Checkpoints, keeping, start_of, writing
from evener.running.comm import NO_NAMES, Comm
from evener.running.devices import Cuda
from evener.running.engine.engine import WAYS, Engine
from evener.running.engine.gathering import GatherEngine
from evener.running.engine.pool import ThreadPool
from evener.running.engine.program import Solver, VertexProgram, parameters_of
from evener.running.engine.recording import DeviceRun, Reordering
from evener.running.engine.states import RunState
from evener.running.engine.step_counts import DeviceEngine
from evener.running.engine.supersteps import Keep, Stretch, SuperstepLoop
from evener.running.failures import PATIENCE, Names
from evener.running.local_graphs import LocalGraph, Want
from evener.running.locality.adapting import AdaptiveDevice, ordered, process_cores
from evener.running.moving import MovingDevice, Rebalancing, Segment
from evener.running.program_run import ProgramRun, gathered
from evener.running.swaps import Stopped

Devices = Sequence[Sequence[int] | Cuda]
Tell = Callable[[int], None]


@dataclass(frozen=True)
class RunWatch:
    """How a run reports progress, its timeout, checkpoints, rebalancing and reordering.

    tell: called on the first device with the number of supersteps done. timeout [s]: how long a
    device waits for another one, if devices are threads of this process. names: of devices, for
    messages. checkpoints: where and when the run is saved. resume: checkpoint from which the run
    continues. rebalancing: adviser for moving vertices during the run. locality: whether each
    device reorders its vertices for locality: "on" before it runs, "auto" during the run, or "off".
    is_apart: whether devices that are threads exchange as if each were on a computer of its own.
    """

    tell: Tell | None = None
    timeout: float = PATIENCE
    names: Names = NO_NAMES
    checkpoints: Checkpoints | None = None
    resume: Checkpoint | None = None
    rebalancing: Rebalancing | None = None
    locality: str = "off"
    is_apart: bool = False


UNWATCHED = RunWatch()


@dataclass(frozen=True, eq=False)
class DeviceTask:
    """What each device runs.

    most: largest number of supersteps. parameters: of the program, all of them. devices: the cores
    of each device's threads, or CUDA devices; None: one unbound thread each. whole: the graph and
    partition, from which new parts are built if vertices move. cores: those of this process.
    """

    program: VertexProgram | Solver
    most: int
    parameters: Mapping[str, float]
    devices: Devices | None
    watch: RunWatch
    whole: tuple[Graph | DirectedGraph, Partition] | None
    cores: set[int] | None

    @classmethod
    def of(
        cls,
        program: VertexProgram | Solver,
        most: int,
        parameters: Mapping[str, float] | None,
        devices: Devices | None,
        watch: RunWatch,
        whole: tuple[Graph | DirectedGraph, Partition] | None = None,
    ) -> DeviceTask:
        """Return the task with all parameters.

        Call it before this thread is bound to the cores of a device. Raises InputError for
        parameters that the program does not have.
        """
        chosen = parameters_of(program.name, program.parameters, parameters or {})
        return cls(program, most, chosen, devices, watch, whole, process_cores())


def run_on_device(task: DeviceTask, parts: Mapping[int, LocalGraph], comm: Comm) -> ProgramRun:
    """Run the task on this rank's part; return the result of all devices.

    parts: those of this process, by device. Unexpected errors name the device.
    """
    local, devices, watch = parts[comm.rank], task.devices, task.watch
    try:
        with _opened(None if devices is None else devices[comm.rank]) as on:
            own = _computed(task, comm, local, on)
        return gathered(comm, local, own)
    except (EvenerError, Stopped):
        raise
    except Exception as error:
        raise watch.names.failed(comm.rank, error) from error


def _computed(task: DeviceTask, comm: Comm, local: LocalGraph, on: Any) -> DeviceRun:
    """Run the task's supersteps on a device's ThreadPool or CudaDevice `on`."""
    program, watch, most = task.program, task.watch, task.most
    tell = watch.tell if comm.rank == 0 else None
    reordering: Reordering | None = None
    if watch.locality == "on":
        local, reordering = ordered(local)
    start = start_of(watch.resume, local)
    with writing(watch.checkpoints, comm, local, start) as writer:

        def segment(local: LocalGraph, start: RunState | None, keep: Keep | None) -> DeviceRun:
            if writer is not None:
                writer.local = local
            stretch = Stretch(start, keep)
            if isinstance(program, VertexProgram):
                engine = _engine_on(on, program, local, task.parameters)
                return SuperstepLoop(comm, local, engine, tell, *stretch).run(most)
            if not isinstance(on, ThreadPool):
                raise UsageError(f"{program.name} does not run on CUDA devices")
            more: dict[str, Any] = {"stretch": stretch} if program.moves else {}
            return program.solve(comm, local, on, tell, most=most, **more, **task.parameters)

        keep = None if writer is None else keeping(writer)
        if watch.locality == "auto":
            is_dense = program.schedule == "dense"
            adaptive = AdaptiveDevice(comm, segment, is_dense=is_dense, cores=task.cores)
            return adaptive.run(local, start, keep)
        if watch.rebalancing is None or task.whole is None:
            made = segment(local, start, keep)
            return replace(made, owned=local.owned, reordering=reordering) if reordering else made
        how = Segment(segment, program.schedule, most, wanted_arcs(program), on.threads)
        return MovingDevice(comm, watch.rebalancing, how, *task.whole).run(local, start, keep)


def _engine_on(
    device: Any, program: VertexProgram, local: LocalGraph, parameters: Mapping[str, float]
) -> DeviceEngine:
    """Return the engine of a program on a device's ThreadPool or CudaDevice."""
    if local.divides_edges and program.schedule == "dense":
        return GatherEngine(program, local, device, parameters)
    if isinstance(device, ThreadPool):
        return Engine(program, local, device, parameters)
    from evener.running.engine.cuda_engine import cuda_engine

    return cast(DeviceEngine, cuda_engine(program, local, device, parameters))


def wanted_arcs(program: VertexProgram | Solver) -> Want:
    """Return which arcs the program's schedule reads."""
    if isinstance(program, Solver):
        return program.want
    ways = WAYS[program.schedule] if program.direction == "out" else ("out", "into")
    return "both" if len(ways) == 2 else ways[0]  # type: ignore[return-value]


@contextmanager
def _opened(device: Sequence[int] | Cuda | None) -> Iterator[Any]:
    """Context manager: yield the thread pool of a device, or its CudaDevice."""
    if isinstance(device, Cuda):
        from evener.running.engine.device_cuda_kernels import CudaDevice

        yield CudaDevice(device.number)
    else:
        bound = None if device is None else list(device)
        with ThreadPool(len(bound) if bound else 1, bound) as pool, pool.bound():
            yield pool
