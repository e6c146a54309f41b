"""Runs a stream program on the processors of a plan: as threads of this process, or MPI ranks."""

from __future__ import annotations

import faulthandler
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evener.errors import ToolError, UsageError
from evener.plans.stream_plan import StreamPlan
from evener.running.comm import play_ranks
from evener.running.devices import Cuda
from evener.running.hybrid import devices_of_process
from evener.running.mpi_comm import MpiComm, comm_of
from evener.running.streams.cuda_firing import CudaFiring, refuse_cuda
from evener.running.streams.firing import Firing
from evener.running.streams.processor import FilterTimes, PlacedFilter, Processor, Waker
from evener.running.streams.program import Array, StreamProgram
from evener.running.streams.results import StreamRun, ends_of, outputs_of, steady_period
from evener.running.streams.run_channels import RunChannels
from evener.running.streams.stages import SLOTS, PipelineStages
from evener.running.streams.turns import FilterTurns
from evener.wording import plural

TIMEOUT = 60.0  # [s] that a filter has for an iteration
GRACE = 0.5  # [s] that other processors have to stop once one has failed
PAUSE = 0.05  # [s] between two looks at the processors
LATER = 10.0  # [s] by which the last resort is later than the error, even on a busy computer
STDERR = 2  # its file descriptor


@dataclass(frozen=True)
class StreamWatch:
    """How a stream program is run, and how its progress is reported.

    timeout [s]: limit on a filter's time in an iteration; in the first iteration this includes
    compiling. slots: number of slots of channels between neighbouring stages. devices: for each
    processor, the cores to which its thread is bound, or the CUDA device that its thread drives;
    None: unbound threads on cores. trace: whether to record all spans. keep: number of last
    iterations whose outputs are returned; None: all. kills: whether to print a traceback of all
    threads and end the process if a filter holds Python's lock for longer than the timeout; then no
    thread can raise an error. A kernel without nogil can hold it. tell: called now and then with
    the number of iterations done.
    """

    timeout: float = TIMEOUT
    slots: int = SLOTS
    devices: Sequence[Sequence[int] | Cuda] | None = None
    trace: bool = False
    keep: int | None = None
    kills: bool = False
    tell: Callable[[int], None] | None = None

    def cuda(self, processor: int) -> Cuda | None:
        """Return the CUDA device of a processor, or None if it is a core."""
        device = None if self.devices is None else self.devices[processor]
        return device if isinstance(device, Cuda) else None


def run_stream(
    program: StreamProgram,
    plan: StreamPlan,
    iterations: int,
    *,
    comm: Any = None,
    watch: StreamWatch = StreamWatch(),
) -> StreamRun:
    """Run iterations of a program on the processors of a plan. Collective.

    Each processor is a thread that runs its filters; filters may be at different iterations at the
    same time. comm: an MpiComm or an mpi4py communicator; rank p of P has the processors d of k
    with `d * P // k == p`; None: all are threads of this process. If the plan has copies of a
    filter, they run iterations alternately, in proportion to their data. Except for times, the
    result does not depend on the plan.

    Raises UsageError for a plan of other filters, for iterations below 1, for more ranks than
    processors, for another number of devices, for a CUDA device that `watch` does not identify, and
    for filters on it that have no function for it; ToolError if a filter raises, or does not end
    within the timeout; InputError if it returns what its channels do not carry.
    """
    _refuse(plan, iterations, watch)
    turns = FilterTurns(program, plan, iterations)
    mpi = None if comm is None else comm_of(comm)
    if not isinstance(mpi, MpiComm | None):
        raise UsageError("comm must be an MpiComm or a communicator of mpi4py")
    stages = PipelineStages(program, turns.homes, watch.slots, turns.ahead)
    _refuse_on_cuda(turns, watch)
    run = _Run(turns, stages, watch, mpi)
    try:
        run.play()
    except BaseException:
        run.stop()
        raise
    return run.result()


def _refuse(plan: StreamPlan, iterations: int, watch: StreamWatch) -> None:
    if iterations < 1:
        raise UsageError(f"the number of iterations must be at least 1, not {iterations}")
    devices = watch.devices
    if devices is not None:
        if len(devices) != plan.platform.k:
            raise UsageError(
                f"the plan has {plan.platform.k} devices, but "
                f"{plural(len(devices), 'was', 'were')} given"
            )
    elif any(plan.platform.devices[p].kind == "cuda" for p in np.unique(plan.part)):
        raise UsageError(
            "the plan has filters on a CUDA device, but no CUDA device is given",
            hint="Use --devices cpu:0,cuda:0,... to give a core or CUDA device for each "
            "device of the plan.",
        )


def _refuse_on_cuda(turns: FilterTurns, watch: StreamWatch) -> None:
    """Raise UsageError if filters lack a function for the CUDA device of their processor."""
    for i in range(len(turns.program.filters)):
        for c in turns.copies(i):
            device = int(turns.plan.part[c])
            if watch.cuda(device) is not None:
                refuse_cuda(turns.program, i, turns.plan.platform.names[device])


class _Own(NamedTuple):
    """A processor of this process: its number, and its loop."""

    device: int
    processor: Processor


@dataclass(eq=False)
class _Run:
    """The part of a run that is in this process."""

    turns: FilterTurns
    stages: PipelineStages
    watch: StreamWatch
    mpi: MpiComm | None

    def __post_init__(self) -> None:
        self.program, self.plan = self.turns.program, self.turns.plan
        k = self.plan.platform.k
        own = range(k) if self.mpi is None else devices_of_process(self.mpi, k)
        self.wakers = {device: Waker() for device in own}
        self.ended = threading.Event()
        self.times = [
            FilterTimes(name, int(device), turns=self.turns.of_copy(c))
            for c, (name, device) in enumerate(zip(self.plan.names, self.plan.part, strict=True))
        ]
        self.now = {device: np.zeros(3) for device in own}
        self.channels = RunChannels(self.turns, self.stages, self.wakers, self.mpi, self.watch.cuda)
        self.owned = [_Own(device, self._processor(device)) for device in own]

    def _processor(self, device: int) -> Processor:
        placed = []
        for i in self.program.order:
            for c in self.turns.copies(i):
                if self.plan.part[c] == device:
                    readers = [self.channels.reader(e, c) for e in self.program.incoming[i]]
                    writers = [self.channels.writer(e, c) for e in self.program.outgoing[i]]
                    kind = Firing if self.watch.cuda(device) is None else CudaFiring
                    firing = kind(self.program, i, self.plan.platform.names[device])
                    stage = int(self.stages.of_filters[i])
                    times = self.times[c]
                    placed.append(PlacedFilter(firing, stage, (readers, writers), times, c))
        return Processor(
            placed, self.wakers[device], self.now[device],
            last=frozenset(self.stages.last.tolist()), trace=self.watch.trace, keep=self.watch.keep,
        )  # fmt: skip

    def play(self) -> None:
        """Run all processors of this process, one thread each, and watch them in another thread."""
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

        self._put_off_last_resort()
        try:
            play_ranks([*self.owned, None], work, self.stop, GRACE)
        finally:
            faulthandler.cancel_dump_traceback_later()
        if self.mpi is not None:  # what lay on channels at first lies there again
            self.mpi.waits.until(lambda: all(end.is_over() for end in self.channels.far))
        self.seconds = time.perf_counter() - self.began

    def _run_one(self, one: _Own) -> None:
        """Run one processor's filters in this thread."""
        waker = one.processor.waker
        self._open(one)
        mpi = self.mpi
        if mpi is None or not self.channels.far:
            one.processor.run(waker.until)
            return

        def until(is_done: Callable[[], bool]) -> None:
            def looked() -> bool:
                waker.check()
                return is_done()

            mpi.waits.until(looked)

        one.processor.run(until)

    def _open(self, one: _Own) -> None:
        """Bind this thread to the processor's cores, or create the data on its CUDA device."""
        if self.watch.devices is None:
            return
        device = self.watch.devices[one.device]
        if not isinstance(device, Cuda):
            os.sched_setaffinity(0, device)
            return
        from evener.running.engine.device_cuda_kernels import CudaDevice

        opened = CudaDevice(device.number)
        for channel in self.channels.on_device.get(one.device, ()):
            channel.open(opened)
        for placed in one.processor.placed:
            if isinstance(placed.firing, CudaFiring):
                placed.firing.open(opened)

    def _look_after(self) -> None:
        """Return when all threads have ended. Raises ToolError if a filter does not end in time."""
        while not self.ended.wait(PAUSE):
            self._put_off_last_resort()
            self._refuse_late()
            if self.watch.tell is not None:
                own = [sum(self.times[c].firings for c in self.turns.copies(v))
                       for v in self.stages.last.tolist()]  # fmt: skip
                self.watch.tell(min((done for done in own if done), default=0))

    def _put_off_last_resort(self) -> None:
        """Restart the timer that ends the process if a filter holds Python's lock too long."""
        if self.watch.kills:
            seconds = min(self.watch.timeout + LATER, threading.TIMEOUT_MAX)
            faulthandler.dump_traceback_later(seconds, exit=True, file=STDERR)

    def _refuse_late(self) -> None:
        """Raise ToolError if a firing takes longer than the timeout."""
        for device, (number, iteration, since) in self.now.items():
            if number > 0 and time.monotonic() - since > self.watch.timeout:
                raise ToolError(
                    f"filter {self.plan.names[int(number) - 1]!r} on "
                    f"{self.plan.platform.names[device]} has not ended iteration {iteration:.0f} "
                    f"within {self.watch.timeout:,.3g} s",
                    hint="If it needs more time, use --timeout SECONDS.",
                )

    def stop(self) -> None:
        """Stop all threads of this process."""
        self.ended.set()
        for waker in self.wakers.values():
            waker.stop()

    def result(self) -> StreamRun:
        """Return the run of all processors. Collective."""
        outputs: dict[int, list[tuple[int, Array]]] = {}
        for one in self.owned:
            for placed in one.processor.placed:
                outputs.setdefault(placed.firing.number, []).extend(placed.given)
        times, seconds = self.times, self.seconds
        if self.mpi is not None:
            devices = {one.device for one in self.owned}
            mine = {c: t for c, t in enumerate(times) if t.processor in devices}
            found = self.mpi.allgather((mine, outputs, seconds))
            every = {c: t for own, *_ in found for c, t in own.items()}
            times, outputs = [every[c] for c in range(len(times))], {}
            for _, own, _ in found:
                for i, given in own.items():
                    outputs.setdefault(i, []).extend(given)
            seconds = max(took for *_, took in found)
        last = [
            ends_of([times[c] for c in self.turns.copies(v)], self.turns.iterations)
            for v in self.stages.last.tolist()
        ]
        return StreamRun(
            {self.program.filters[i].name: outputs_of(outputs[i], self.watch.keep)
             for i in sorted(outputs) if outputs[i]},
            self.turns.iterations,
            seconds,
            steady_period(last, self.stages.depth),
            self.plan.period,
            tuple(times),
            tuple(self.plan.platform.names),
        )  # fmt: skip
