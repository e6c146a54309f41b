"""Runs a stream program on the processors of a plan: threads of this process, or ranks of MPI."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from evener.errors import UsageError
from evener.plans.stream_plan import StreamPlan
from evener.running.comm import play_ranks
from evener.running.devices import Cuda
from evener.running.hybrid import devices_of_process
from evener.running.mpi_comm import MpiComm, comm_of
from evener.running.streams.channels import (
    Channel,
    GatheringReceiver,
    Receiver,
    ScatteringSender,
    Sender,
)
from evener.running.streams.far_channels import FarReceiver, FarSender
from evener.running.streams.firing import Firing
from evener.running.streams.processor import FilterTimes, PlacedFilter, Processor, Waker
from evener.running.streams.program import Array, StreamChannel, StreamProgram
from evener.running.streams.results import StreamRun, steady_period
from evener.running.streams.stages import SLOTS, PipelineStages
from evener.running.streams.turns import FilterTurns
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
    other runs, `d * P // k == p`; None: all are threads of this process. Copies of a filter, where
    the plan has any, run iterations in turn, as many as they have of its data. What is returned
    does not depend on the plan, but for times.

    Raises UsageError for a plan of other filters, no iterations, more ranks than processors, CUDA
    devices and other numbers of devices; ToolError where a filter raises, or does not end within
    the timeout; InputError where it returns what its channels do not carry.
    """
    _refuse(plan, iterations, watch)
    turns = FilterTurns(program, plan, iterations)
    mpi = None if comm is None else comm_of(comm)
    if not isinstance(mpi, MpiComm | None):
        raise UsageError("processors are threads of this process, or ranks of MPI")
    stages = PipelineStages(program, turns.homes, watch.slots, turns.ahead)
    run = _Run(turns, stages, watch, mpi)
    try:
        run.play()
    except BaseException:
        run.stop()
        raise
    return run.result()


def _refuse(plan: StreamPlan, iterations: int, watch: StreamWatch) -> None:
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


class _Ends(NamedTuple):
    """Of a channel, the reader's and the writer's end, as far as they are in this process."""

    read: Receiver | None
    fill: Sender | None


class _Own(NamedTuple):
    """A processor of this process: its number, its loop."""

    device: int
    processor: Processor


@dataclass(eq=False)
class _Run:
    """One run, as far as it is in this process."""

    turns: FilterTurns
    stages: PipelineStages
    watch: StreamWatch
    mpi: MpiComm | None
    far: list[FarSender | FarReceiver] = field(default_factory=list)

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
        names = [self.plan.platform.names[device] for device in own]
        self.guard = FiringWatch(names, self.plan.names, self.watch.timeout)
        if self.watch.kills:
            self.guard.share()
        ends = self._channels()
        self.owned = [_Own(device, self._processor(device, ends)) for device in own]

    def _channels(self) -> dict[tuple[int, int, int], _Ends]:
        """Return the ends that are here of each channel, by its number and the plan's filters."""
        graph, part, sizes = self.program.graph, self.plan.part, self.stages.of_channels
        found: dict[tuple[int, int, int], _Ends] = {}
        number = 0
        for e, channel in enumerate(self.program.channels):
            tail, head, tokens = int(graph.tails[e]), int(graph.heads[e]), len(channel.initial)
            by = self.turns.owners(tail, -tokens, self.turns.iterations)
            to = self.turns.owners(head, 0, self.turns.iterations + tokens)
            for c, d in product(self.turns.copies(tail), self.turns.copies(head)):
                own = np.flatnonzero((by == c) & (to == d))
                initial = [channel.initial[i] for i in own.tolist() if i < tokens]
                ends = self._ends(
                    replace(channel, initial=initial), (number, int(sizes[e]), own.size),
                    int(part[c]), int(part[d]),
                )  # fmt: skip
                found[e, c, d] = ends
                number += 1
        return found

    def _ends(
        self, channel: StreamChannel, numbers: tuple[int, int, int], writer: int, reader: int
    ) -> _Ends:
        """Return the ends that are here of one channel; numbers: its own, slots, arrays in all."""
        number, size, total = numbers
        here = writer in self.wakers, reader in self.wakers
        if all(here):
            wakes = () if writer == reader else (self._wake(reader), self._wake(writer))
            near = Channel(channel, size, *wakes)
            return _Ends(near, near)
        if here[0]:
            assert self.mpi is not None
            sender = FarSender(self.mpi, channel, number, self._home(reader), size)
            self.far.append(sender)
            return _Ends(None, sender)
        if here[1]:
            assert self.mpi is not None
            receiver = FarReceiver(self.mpi, channel, number, self._home(writer), size, total)
            self.far.append(receiver)
            return _Ends(receiver, None)
        return _Ends(None, None)

    def _wake(self, device: int) -> Callable[[], None]:
        return self.wakers[device].wake

    def _home(self, device: int) -> int:
        """Return the process of a device."""
        assert self.mpi is not None
        return device * self.mpi.size // self.plan.platform.k

    def _processor(self, device: int, ends: Mapping[tuple[int, int, int], _Ends]) -> Processor:
        placed = []
        for i in self.program.order:
            for c in self.turns.copies(i):
                if self.plan.part[c] == device:
                    readers = [self._reader(e, c, ends) for e in self.program.incoming[i]]
                    writers = [self._writer(e, c, ends) for e in self.program.outgoing[i]]
                    firing = Firing(self.program, i, self.plan.platform.names[device])
                    stage = int(self.stages.of_filters[i])
                    times = self.times[c]
                    placed.append(PlacedFilter(firing, stage, (readers, writers), times, c))
        return Processor(
            placed, self.wakers[device], self.guard.rows[list(self.wakers).index(device)],
            last=frozenset(self.stages.last.tolist()), trace=self.watch.trace, keep=self.watch.keep,
        )  # fmt: skip

    def _reader(self, e: int, d: int, ends: Mapping[tuple[int, int, int], _Ends]) -> Receiver:
        """Return the end of a channel that filter d of the plan, which is here, reads."""
        tail, tokens = int(self.program.graph.tails[e]), len(self.program.channels[e].initial)
        found = {c: end for c in self.turns.copies(tail) if (end := ends[e, c, d].read) is not None}
        if len(found) == 1:
            return next(iter(found.values()))
        by = self.turns.owners(tail, -tokens, self.turns.iterations)
        return GatheringReceiver(found, [int(by[t]) for t in self.times[d].turns])

    def _writer(self, e: int, c: int, ends: Mapping[tuple[int, int, int], _Ends]) -> Sender:
        """Return the end of a channel that filter c of the plan, which is here, fills."""
        head, tokens = int(self.program.graph.heads[e]), len(self.program.channels[e].initial)
        found = {d: end for d in self.turns.copies(head) if (end := ends[e, c, d].fill) is not None}
        if len(found) == 1:
            return next(iter(found.values()))
        to = self.turns.owners(head, 0, self.turns.iterations + tokens)
        return ScatteringSender(found, [int(to[t + tokens]) for t in self.times[c].turns])

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
                own = [sum(self.times[c].firings for c in self.turns.copies(v))
                       for v in self.stages.last.tolist()]  # fmt: skip
                self.watch.tell(min((done for done in own if done), default=0))

    def stop(self) -> None:
        """Let all threads of this process end."""
        self.ended.set()
        for waker in self.wakers.values():
            waker.stop()
        self.guard.close()

    def result(self) -> StreamRun:
        """Return the run of all processors; all ranks call."""
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
        last = [self._ends_of(v, times) for v in self.stages.last.tolist()]
        return StreamRun(
            {self.program.filters[i].name: self._in_order(outputs[i])
             for i in sorted(outputs) if outputs[i]},
            self.turns.iterations,
            seconds,
            steady_period(last, self.stages.depth),
            self.plan.period,
            tuple(times),
            tuple(self.plan.platform.names),
        )  # fmt: skip

    def _in_order(self, given: list[tuple[int, Array]]) -> Array:
        """Return what a filter gave, by iteration; its copies have given their own."""
        kept = sorted(given, key=lambda one: one[0])
        return np.stack([array for _, array in kept[-(self.watch.keep or len(kept)) :]])

    def _ends_of(self, i: int, times: Sequence[FilterTimes]) -> list[float]:
        """Return when each iteration of a filter had ended, and those before it."""
        ends = np.empty(self.turns.iterations)
        for c in self.turns.copies(i):
            ends[list(times[c].turns)] = times[c].ends
        return [float(end) for end in np.maximum.accumulate(ends)]
