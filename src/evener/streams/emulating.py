"""Runs a stream program here for its outputs, and charges a virtual clock for a plan's processors.

Filters and channels are those of evener.running.streams: a filter runs when it has data and room,
of several the one of the lowest round. What that takes is what the plan's graph, platform and
reading say; nothing is measured. A processor first receives what a filter reads from others, then
computes, then sends; with the reading `overlap` bytes flow meanwhile, one array after another at
each end.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.plans.stream_plan import StreamPlan
from evener.running.streams.firing import Firing
from evener.running.streams.processor import FilterTimes
from evener.running.streams.program import Array, StreamProgram
from evener.running.streams.results import StreamRun, steady_period
from evener.running.streams.stages import SLOTS, PipelineStages
from evener.streams.period import StreamProblem, work_of
from evener.streams.readings import CostReading

ON_THE_WAY = 2  # more slots where bytes flow meanwhile: one is sent, one received


class StreamSeconds(NamedTuple):
    """What a plan's processors take: filters (n,), sending and receiving of channels (m,) [s]."""

    filters: FloatArray
    sending: FloatArray
    receiving: FloatArray

    @classmethod
    def of(cls, plan: StreamPlan, reading: CostReading) -> StreamSeconds:
        """Return those of a plan's graph; bytes within a processor take none."""
        part, graph = plan.part, plan.graph
        problem = StreamProblem.of(graph, plan.platform, reading)
        own = work_of(problem, np.arange(graph.n))[np.arange(graph.n), part]
        tails, heads = part[graph.tails], part[graph.heads]
        seconds = np.where(tails == heads, 0.0, graph.nbytes * problem.machine.cost[tails, heads])
        receiving = np.zeros_like(seconds) if reading.pays == "sender" else seconds
        return cls(own, seconds, receiving)


def emulate_stream(program: StreamProgram, plan: StreamPlan, iterations: int) -> StreamRun:
    """Return the run that the plan's processors would have made of a program, on a virtual clock.

    Its outputs are those of the program, executed here by one thread; the same seconds each time.
    Raises UsageError for the plan of another program, no iterations, and the reading `transit`, in
    which processors pay for bytes that pass through; errors of filters as `run_stream`.
    """
    if plan.copy_of is not None:
        raise UsageError(
            "the plan has filters in copies, which take turns in a run and are not emulated",
            hint="Run it without --emulate, or plan without --replicate.",
        )
    mine, theirs = program.graph, plan.graph
    same = (mine.names, mine.tails.tolist(), mine.heads.tolist(), mine.nbytes.tolist())
    if same != (theirs.names, theirs.tails.tolist(), theirs.heads.tolist(), theirs.nbytes.tolist()):
        raise UsageError(f"the plan is of another graph than {program.name}, or of other channels")
    if iterations < 1:
        raise UsageError(f"{iterations} iterations: at least one is needed")
    known = [one.name for one in fields(CostReading) if one.name in plan.options]
    reading = CostReading(**{key: plan.options[key] for key in known})
    if reading.route == "transit":
        raise UsageError("plans of the reading `transit` are not emulated: processors between pay")
    return _Emulation(program, plan, iterations, reading).run()


class _Emulation:
    """The virtual clock's events, and what they change."""

    def __init__(
        self, program: StreamProgram, plan: StreamPlan, iterations: int, reading: CostReading
    ) -> None:
        self.program, self.plan, self.iterations = program, plan, iterations
        self.overlap, n, m = reading.overlap, len(program.filters), len(program.channels)
        self.seconds = StreamSeconds.of(plan, reading)
        more = ON_THE_WAY if reading.overlap else 0
        self.stages = PipelineStages(program, plan.part, SLOTS + more)
        self.room = self.stages.of_channels.tolist()
        self.data: list[deque[Array]] = [deque() for _ in range(m)]
        self.arrived = [0] * m  # of the arrays in `data`, the first so many can be read
        for e, channel in enumerate(program.channels):
            self.data[e].extend(np.array(array) for array in channel.initial)
            self.arrived[e] = len(channel.initial)
            self.room[e] -= len(channel.initial)
        names = plan.platform.names
        self.firings = [Firing(program, i, names[plan.part[i]]) for i in range(n)]
        self.times = [FilterTimes(plan.names[i], int(plan.part[i])) for i in range(n)]
        self.given: dict[str, list[Array]] = {}
        k = plan.platform.k
        self.own = [[i for i in program.order if plan.part[i] == p] for p in range(k)]
        self.is_free, self.since = [True] * k, [0.0] * k
        # Of filters, the places of channels without data, and room, when it became free.
        self.empty: list[dict[int, list[int]]] = [{i: [] for i in own} for own in self.own]
        self.full: list[dict[int, list[int]]] = [{} for _ in self.own]
        self.wire = [0.0] * k  # until when each processor sends or receives, with overlap
        self.clock, self.count = 0.0, 0
        self.events: list[tuple[float, int, Callable[[], None]]] = []

    def at(self, moment: float, happens: Callable[[], None]) -> None:
        """Let something happen later; of two at the same moment, what was said first."""
        heapq.heappush(self.events, (moment, self.count, happens))
        self.count += 1

    def run(self) -> StreamRun:
        """Let everything happen; return the run."""
        self._look()
        while self.events:
            self.clock = self.events[0][0]
            while self.events and self.events[0][0] == self.clock:
                heapq.heappop(self.events)[2]()
            self._look()
        assert all(one.firings == self.iterations for one in self.times)
        return StreamRun(
            {name: np.stack(arrays) for name, arrays in self.given.items()},
            self.iterations,
            self.clock,
            steady_period([self.times[v].ends for v in self.stages.last], self.stages.depth),
            self.plan.period,
            tuple(self.times),
            tuple(self.plan.platform.names),
            is_emulated=True,
        )

    def _look(self) -> None:
        """Let each processor that is free begin with a filter that can run."""
        for p, own in enumerate(self.own):
            if self.is_free[p]:
                ready = [i for i in own if self._is_ready(i)]
                if ready:
                    stages = self.stages.of_filters
                    self._begin(p, min(ready, key=lambda i: self.times[i].firings + stages[i]))

    def _has_data(self, i: int) -> bool:
        return all(self.arrived[e] > 0 for e in self.program.incoming[i])

    def _without_data(self, i: int) -> list[int]:
        return [at for at, e in enumerate(self.program.incoming[i]) if self.arrived[e] == 0]

    def _without_room(self, i: int) -> list[int]:
        return [at for at, e in enumerate(self.program.outgoing[i]) if self.room[e] == 0]

    def _is_ready(self, i: int) -> bool:
        return (
            self.times[i].firings < self.iterations
            and self._has_data(i)
            and all(self.room[e] > 0 for e in self.program.outgoing[i])
        )

    def _begin(self, p: int, i: int) -> None:
        """Run a filter's function now; charge the clock for it."""
        incoming, outgoing = self.program.incoming[i], self.program.outgoing[i]
        times, seconds = self.times[i], self.seconds
        waited = self.clock - self.since[p]
        if i in self.empty[p]:
            times.no_input += waited
            lacking, by = self.empty[p][i], times.starved
        else:
            times.no_room += waited
            lacking, by = self.full[p].get(i, []), times.full
        for at in lacking if waited > 0 else ():
            by[at] = by.get(at, 0.0) + waited / len(lacking)
        inputs = [self.data[e].popleft() for e in incoming]
        slots = [np.empty(one.shape, one.dtype) for one in self.firings[i].channels]
        for e in incoming:
            self.arrived[e] -= 1
        for e in outgoing:
            self.room[e] -= 1
        given = self.firings[i].fire(times.firings, inputs, slots)
        if given is not None:
            self.given.setdefault(times.name, []).append(given)
        took = float(seconds.filters[i])
        if not self.overlap:
            took += float(seconds.receiving[list(incoming)].sum())
            took += float(seconds.sending[list(outgoing)].sum())
        self.is_free[p] = False
        self.at(self.clock + took, lambda: self._end(p, i, slots, took))

    def _end(self, p: int, i: int, slots: list[Array], took: float) -> None:
        """End a filter's iteration: its arrays go on, the slots that it has read are free."""
        times = self.times[i]
        times.firings += 1
        times.seconds += took
        times.cpu += took
        times.ends.append(self.clock)
        times.spans.append((self.clock - took, self.clock))
        self.is_free[p], self.since[p] = True, self.clock
        for e in self.program.incoming[i]:
            self.room[e] += 1
        for e, slot in zip(self.program.outgoing[i], slots, strict=True):
            self.data[e].append(slot)
            if self.overlap and self.seconds.sending[e] > 0:
                self._transfer(p, e, sends=True)
            else:
                self.arrived[e] += 1
        self.empty[p] = {j: self._without_data(j) for j in self.own[p] if not self._has_data(j)}
        self.full[p] = {j: self._without_room(j) for j in self.own[p]}

    def _transfer(self, p: int, e: int, *, sends: bool) -> None:
        """Let a processor send, then the other one receive, as soon as each is done with others."""
        took = float((self.seconds.sending if sends else self.seconds.receiving)[e])
        self.wire[p] = max(self.wire[p], self.clock) + took
        if sends:
            to = int(self.plan.part[self.program.graph.heads[e]])
            self.at(self.wire[p], lambda: self._transfer(to, e, sends=False))
        else:
            self.at(self.wire[p], lambda: self._arrive(e))

    def _arrive(self, e: int) -> None:
        self.arrived[e] += 1
