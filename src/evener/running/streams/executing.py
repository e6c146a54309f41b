"""Runs a stream program on the processors of a plan: threads of this process, or ranks of MPI."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from evener.errors import UsageError
from evener.plans.stream_plan import StreamPlan
from evener.running.comm import play_ranks
from evener.running.devices import Cuda
from evener.running.hybrid import devices_of_process
from evener.running.mpi_comm import MpiComm, comm_of
from evener.running.streams.channels import Channel, Receiver, Sender
from evener.running.streams.far_channels import FarReceiver, FarSender
from evener.running.streams.firing import Firing
from evener.running.streams.processor import FilterTimes, PlacedFilter, Processor, Waker
from evener.running.streams.program import Array, StreamProgram
from evener.running.streams.results import StreamRun, steady_period
from evener.running.streams.stages import SLOTS, PipelineStages
from evener.running.streams.watching import PAUSE, FiringWatch

TIMEOUT = 60.0  # [s] that a filter has for an iteration
GRACE = 0.5  # [s] that other processors have to stop once one has failed


@dataclass(frozen=True)
class StreamWatch:
    """How a stream program is run, and what is told meanwhile.

    timeout [s]: of a filter in an iteration, with compiling in the first. slots: of channels
    between neighbouring stages. devices: cores of each processor, to which its thread is bound;
    None: not bound. trace: whether all spans are recorded. keep: iterations at the end whose
    outputs are kept; None: all. kills: whether a process beside this one kills it where a filter
    never gives Python's lock back, so that no thread can end the run. tell: called now and then
    with the number of iterations done.
    """

    timeout: float = TIMEOUT
    slots: int = SLOTS
    devices: Sequence[Sequence[int] | Cuda] | None = None
    trace: bool = False
    keep: int | None = None
    kills: bool = False
    tell: Callable[[int], None] | None = None


def run_stream(
    program: StreamProgram,
    plan: StreamPlan,
    iterations: int,
    *,
    comm: Any = None,
    watch: StreamWatch = StreamWatch(),
) -> StreamRun:
    """Run so many iterations of a program on the processors of a plan; all ranks of comm call.

    Each processor is a thread that runs its filters, several iterations of the program at once.
    comm: an MpiComm or a communicator of mpi4py, whose ranks share the processors as devices of
    other runs, `d * P // k == p`; None: all are threads of this process. What is returned does not
    depend on the plan, but for times.

    Raises UsageError for a plan of other filters, no iterations, more ranks than processors, CUDA
    devices and other numbers of devices; ToolError where a filter raises, or does not end within
    the timeout; InputError where it returns what its channels do not carry.
    """
    _refuse(program, plan, iterations, watch)
    mpi = None if comm is None else comm_of(comm)
    if not isinstance(mpi, MpiComm | None):
        raise UsageError("processors are threads of this process, or ranks of MPI")
    stages = PipelineStages(program, plan.part, watch.slots)
    run = _Run(program, plan, stages, iterations, watch, mpi)
    try:
        run.play()
    except BaseException:
        run.stop()
        raise
    return run.result()


def _refuse(program: StreamProgram, plan: StreamPlan, iterations: int, watch: StreamWatch) -> None:
    if plan.names != program.graph.names:
        raise UsageError(
            f"the plan is of {len(plan.names):,} filters, {_some(plan.names)}; {program.name} has "
            f"{len(program.filters):,}, {_some(program.graph.names)}",
            hint="evener run --stream --calibrate writes the graph of the program, to be planned.",
        )
    if iterations < 1:
        raise UsageError(f"{iterations} iterations: at least one is needed")
    devices = watch.devices
    if devices is not None:
        if any(isinstance(device, Cuda) for device in devices):
            raise UsageError("filters of stream programs run on cores, not on CUDA devices")
        if len(devices) != plan.platform.k:
            raise UsageError(f"{len(devices)} devices for {plan.platform.k} of the plan")
    elif any(plan.platform.devices[p].kind == "cuda" for p in np.unique(plan.part)):
        raise UsageError(
            "the plan has filters on a CUDA device, and filters of stream programs run on cores",
            hint="--devices cpu:0,cpu:1,... says which cores play the devices.",
        )


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


class _Own(NamedTuple):
    """A processor of this process: its number, its loop."""

    device: int
    processor: Processor


@dataclass(eq=False)
class _Run:
    """One run, as far as it is in this process."""

    program: StreamProgram
    plan: StreamPlan
    stages: PipelineStages
    iterations: int
    watch: StreamWatch
    mpi: MpiComm | None
    far: list[FarSender | FarReceiver] = field(default_factory=list)

    def __post_init__(self) -> None:
        k = self.plan.platform.k
        own = range(k) if self.mpi is None else devices_of_process(self.mpi, k)
        self.wakers = {device: Waker() for device in own}
        self.ended = threading.Event()
        self.times = [
            FilterTimes(one.name, int(device))
            for one, device in zip(self.program.filters, self.plan.part, strict=True)
        ]
        names = [self.plan.platform.names[device] for device in own]
        self.guard = FiringWatch(names, self.plan.names, self.watch.timeout)
        if self.watch.kills:
            self.guard.share()
        ends = self._channels()
        self.owned = [_Own(device, self._processor(device, ends)) for device in own]

    def _channels(self) -> list[tuple[Receiver | None, Sender | None]]:
        """Return the reader's and the writer's end of each channel that is here."""
        graph, part, sizes = self.program.graph, self.plan.part, self.stages.of_channels
        found: list[tuple[Receiver | None, Sender | None]] = []
        for e, channel in enumerate(self.program.channels):
            writer, reader = (int(part[end[e]]) for end in (graph.tails, graph.heads))
            size, here = int(sizes[e]), (writer in self.wakers, reader in self.wakers)
            if all(here):
                wakes = () if writer == reader else (self._wake(reader), self._wake(writer))
                near = Channel(channel, size, *wakes)
                found.append((near, near))
            elif here[0]:
                assert self.mpi is not None
                sender = FarSender(self.mpi, channel, e, self._home(reader), size)
                self.far.append(sender)
                found.append((None, sender))
            elif here[1]:
                assert self.mpi is not None
                total = self.iterations + len(channel.initial)
                receiver = FarReceiver(self.mpi, channel, e, self._home(writer), size, total)
                self.far.append(receiver)
                found.append((receiver, None))
            else:
                found.append((None, None))
        return found

    def _wake(self, device: int) -> Callable[[], None]:
        return self.wakers[device].wake

    def _home(self, device: int) -> int:
        """Return the process of a device."""
        assert self.mpi is not None
        return device * self.mpi.size // self.plan.platform.k

    def _processor(
        self, device: int, ends: Sequence[tuple[Receiver | None, Sender | None]]
    ) -> Processor:
        program, placed = self.program, []
        for i in program.order:
            if self.plan.part[i] == device:
                readers = [end for e in program.incoming[i] if (end := ends[e][0]) is not None]
                writers = [to for e in program.outgoing[i] if (to := ends[e][1]) is not None]
                firing = Firing(program, i, self.plan.platform.names[device])
                stage = int(self.stages.of_filters[i])
                placed.append(PlacedFilter(firing, stage, (readers, writers), self.times[i]))
        return Processor(
            placed, self.iterations, self.wakers[device],
            self.guard.rows[list(self.wakers).index(device)],
            last=frozenset(self.stages.last.tolist()), trace=self.watch.trace, keep=self.watch.keep,
        )  # fmt: skip

    def play(self) -> None:
        """Run all processors that are here, each in a thread, and look after them in one more."""
        if self.mpi is not None:
            self.mpi.barrier()
        self.began = time.perf_counter()
        left = len(self.owned)
        lock = threading.Lock()

        def work(one: _Own | None) -> None:
            nonlocal left
            if one is None:
                self._look_after()
                return
            self._run_one(one)
            with lock:
                left -= 1
            if left == 0:
                self.ended.set()

        play_ranks([*self.owned, None], work, self.stop, GRACE)
        if self.mpi is not None:  # what lay on channels at first lies there again
            self.mpi.waits.until(lambda: all(end.is_over() for end in self.far))
        self.seconds = time.perf_counter() - self.began
        self.guard.close()

    def _run_one(self, one: _Own) -> None:
        """Run one processor's filters in this thread."""
        devices, waker = self.watch.devices, one.processor.waker
        if devices is not None:
            os.sched_setaffinity(0, devices[one.device])  # type: ignore[arg-type]
        mpi = self.mpi
        if mpi is None or not self.far:
            one.processor.run(waker.until)
            return

        def until(is_done: Callable[[], bool]) -> None:
            def looked() -> bool:
                waker.check()
                return is_done()

            mpi.waits.until(looked)

        one.processor.run(until)

    def _look_after(self) -> None:
        """Return when all have ended. Raises ToolError where a filter does not end in time."""
        while not self.ended.wait(PAUSE):
            self.guard.check()
            if self.watch.tell is not None:
                own = [self.times[v] for v in self.stages.last if self.times[v].firings]
                self.watch.tell(min((one.firings for one in own), default=0))

    def stop(self) -> None:
        """Let all threads of this process end."""
        self.ended.set()
        for waker in self.wakers.values():
            waker.stop()
        self.guard.close()

    def result(self) -> StreamRun:
        """Return the run of all processors; all ranks call."""
        outputs: dict[str, list[Array]] = {}
        for one in self.owned:
            for placed in one.processor.placed:
                if placed.given:
                    outputs[placed.times.name] = placed.given
        times, seconds = self.times, self.seconds
        if self.mpi is not None:
            devices = {one.device for one in self.owned}
            mine = {i: t for i, t in enumerate(times) if t.processor in devices}
            found = self.mpi.allgather((mine, outputs, seconds))
            every = {i: t for own, *_ in found for i, t in own.items()}
            times = [every[i] for i in range(len(times))]
            outputs = {name: given for _, own, _ in found for name, given in own.items()}
            seconds = max(took for *_, took in found)
        ordered = [name for name in self.program.graph.names if name in outputs]
        return StreamRun(
            {name: np.stack(outputs[name]) for name in ordered},
            self.iterations,
            seconds,
            steady_period([times[v].ends for v in self.stages.last], self.stages.depth),
            self.plan.period,
            tuple(times),
            tuple(self.plan.platform.names),
        )
