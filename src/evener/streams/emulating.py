"""Runs a stream program in this process; a virtual clock gives the times of a plan.

Filters and channels are those of evener.running.streams: a filter runs when it has data and space
for its output; if several filters can run on a processor, the one in the lowest iteration runs.
Times follow from the plan's graph, platform and cost reading; nothing is measured. A processor
first receives a filter's inputs from other processors, then computes, then sends; with the reading
`overlap`, bytes are transferred during computing, one array after another at each end.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import fields, replace
from itertools import product
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.graphs.stream_graph import StreamGraph
from evener.plans.stream_plan import StreamPlan
from evener.running.streams.firing import Firing
from evener.running.streams.processor import FilterTimes
from evener.running.streams.program import Array, StreamProgram
from evener.running.streams.results import StreamRun, ends_of, outputs_of, steady_period
from evener.running.streams.stages import SLOTS, PipelineStages
from evener.running.streams.turns import FilterTurns
from evener.streams.period import StreamProblem, work_on
from evener.streams.readings import CostReading

ON_THE_WAY = 2  # additional slots with overlap: one array being sent, one being received


class PlacedChannel(NamedTuple):
    """A channel between two filters of the plan, which may be copies.

    e: the program's channel. tail, head: the plan's filters.
    """

    e: int
    tail: int
    head: int


class StreamSeconds(NamedTuple):
    """Times on a plan's processors [s]: of filters (n,), of sending and of receiving (m,)."""

    filters: FloatArray
    sending: FloatArray
    receiving: FloatArray

    @classmethod
    def of(cls, plan: StreamPlan, reading: CostReading) -> StreamSeconds:
        """Return the times of a plan's graph; transfers within a processor take no time."""
        part, graph = plan.part, plan.graph
        problem = StreamProblem.of(graph, plan.platform, reading)
        own = work_on(problem, part)
        tails, heads = part[graph.tails], part[graph.heads]
        seconds = np.where(tails == heads, 0.0, graph.nbytes * problem.machine.cost[tails, heads])
        receiving = np.zeros_like(seconds) if reading.pays == "sender" else seconds
        return cls(own, seconds, receiving)


class _TurnSeconds:
    """Times [s] of one iteration, which one copy of a filter runs completely.

    filters (c,): of the plan's filters.
    """

    def __init__(self, turns: FilterTurns, reading: CostReading) -> None:
        graph, self._part = turns.plan.graph, turns.plan.part
        whole = np.bincount(turns.of, graph.vector)[turns.of].astype(np.float64)
        problem = StreamProblem.of(replace(graph, vector=whole), turns.plan.platform, reading)
        self.filters = work_on(problem, self._part)
        self._bytes, self._cost = turns.program.graph.nbytes, problem.machine.cost
        self._sender_pays = reading.pays == "sender"

    def sending(self, one: PlacedChannel) -> float:
        """Return the time that the sender spends on an array; zero within a processor."""
        p, q = self._part[one.tail], self._part[one.head]
        return 0.0 if p == q else float(self._bytes[one.e] * self._cost[p, q])

    def receiving(self, one: PlacedChannel) -> float:
        """Return the time that the receiver spends on an array."""
        return 0.0 if self._sender_pays else self.sending(one)


def emulate_stream(program: StreamProgram, plan: StreamPlan, iterations: int) -> StreamRun:
    """Return the run of a program on the plan's processors, by a virtual clock.

    One thread computes the program's outputs; the times are the same on each call. Copies of a
    filter run iterations alternately, as in `run_stream`. Raises UsageError if the plan is for
    another program, if there are no iterations, and for the reading `transit`, in which processors
    pay for bytes that pass through. Filters raise errors as in `run_stream`.
    """
    if iterations < 1:
        raise UsageError(f"the number of iterations must be at least 1, not {iterations}")
    turns = FilterTurns(program, plan, iterations)
    mine, theirs = program.graph, plan.graph
    if plan.copy_of is None and _channels(mine) != _channels(theirs):
        raise UsageError(f"the plan was made for another graph than that of {program.name}")
    known = [one.name for one in fields(CostReading) if one.name in plan.options]
    reading = CostReading(**{key: plan.options[key] for key in known})
    if reading.route == "transit":
        raise UsageError(
            "plans with the reading `transit` cannot be emulated: processors on a route would have "
            "to spend time on bytes that pass through"
        )
    return _Emulation(turns, reading).run()


def _channels(graph: StreamGraph) -> tuple[list[int], list[int], list[float]]:
    return graph.tails.tolist(), graph.heads.tolist(), graph.nbytes.tolist()


class _Emulation:
    """The events of the virtual clock, and the state that they change; filters are the plan's."""

    def __init__(self, turns: FilterTurns, reading: CostReading) -> None:
        self.turns, self.program, self.plan = turns, turns.program, turns.plan
        self.overlap = reading.overlap
        self.seconds = _TurnSeconds(turns, reading)
        more = ON_THE_WAY if reading.overlap else 0
        self.stages = PipelineStages(self.program, turns.homes, SLOTS + more, turns.ahead)
        self.data: dict[PlacedChannel, deque[Array]] = {}
        self.arrived: dict[PlacedChannel, int] = {}  # number of arrays in `data` that can be read
        self.room: dict[PlacedChannel, int] = {}
        self._connect()
        names, part, of = self.plan.platform.names, self.plan.part, turns.of.tolist()
        self.firings = [Firing(self.program, i, names[part[c]]) for c, i in enumerate(of)]
        self.times = [
            FilterTimes(self.plan.names[c], int(part[c]), turns=turns.of_copy(c))
            for c in range(len(of))
        ]
        # For each filter, the channels that it reads from and writes to in its next iteration.
        self.reads = [self._incoming(c) for c in range(len(of))]
        self.writes = [self._outgoing(c) for c in range(len(of))]
        self.given: dict[str, list[tuple[int, Array]]] = {}
        k = self.plan.platform.k
        ordered = [c for i in self.program.order for c in turns.copies(i)]
        self.own = [[c for c in ordered if part[c] == p] for p in range(k)]
        self.is_free, self.since = [True] * k, [0.0] * k
        # By processor: filters without data, or space, when it became free, and on which channels.
        self.empty: list[dict[int, list[int]]] = [{c: [] for c in own} for own in self.own]
        self.full: list[dict[int, list[int]]] = [{} for _ in self.own]
        self.wire = [0.0] * k  # time until which each processor sends or receives, with overlap
        self.clock, self.count = 0.0, 0
        self.events: list[tuple[float, int, Callable[[], None]]] = []

    def _connect(self) -> None:
        """Create the connections, and find the writers and readers of each channel's arrays.

        writers, readers: one entry per channel and array number; initial arrays are included.
        """
        graph, turns = self.program.graph, self.turns
        self.writers, self.readers = [], []
        for e, channel in enumerate(self.program.channels):
            tail, head, tokens = int(graph.tails[e]), int(graph.heads[e]), len(channel.initial)
            self.writers.append(turns.owners(tail, -tokens, turns.iterations).tolist())
            self.readers.append(turns.owners(head, 0, turns.iterations + tokens).tolist())
            for c, d in product(turns.copies(tail), turns.copies(head)):
                one = PlacedChannel(e, c, d)
                self.data[one], self.arrived[one] = deque(), 0
                self.room[one] = int(self.stages.of_channels[e])
            for array, c, d in zip(channel.initial, self.writers[e], self.readers[e], strict=False):
                one = PlacedChannel(e, c, d)
                self.data[one].append(np.array(array))
                self.arrived[one] += 1
                self.room[one] -= 1

    def _iteration(self, c: int) -> int:
        """Return the next iteration that a filter runs, or its last one if it has run all."""
        turns = self.times[c].turns
        return turns[min(self.times[c].firings, len(turns) - 1)]

    def _incoming(self, c: int) -> list[PlacedChannel]:
        """Return the channels from which a filter reads in its next iteration."""
        t = self._iteration(c)
        channels = self.program.incoming[self.firings[c].number]
        return [PlacedChannel(e, self.writers[e][t], c) for e in channels]

    def _outgoing(self, c: int) -> list[PlacedChannel]:
        """Return the channels to which a filter writes in its next iteration."""
        t = self._iteration(c)
        channels = self.program.outgoing[self.firings[c].number]
        tokens = [len(self.program.channels[e].initial) for e in channels]
        return [
            PlacedChannel(e, c, self.readers[e][t + first])
            for e, first in zip(channels, tokens, strict=True)
        ]

    def at(self, moment: float, happens: Callable[[], None]) -> None:
        """Schedule an event; simultaneous events happen in the order of their scheduling."""
        heapq.heappush(self.events, (moment, self.count, happens))
        self.count += 1

    def run(self) -> StreamRun:
        """Process all events; return the run."""
        self._look()
        while self.events:
            self.clock = self.events[0][0]
            while self.events and self.events[0][0] == self.clock:
                heapq.heappop(self.events)[2]()
            self._look()
        assert all(one.firings == len(one.turns) for one in self.times)
        last = [[self.times[c] for c in self.turns.copies(v)] for v in self.stages.last.tolist()]
        ends = [ends_of(copies, self.turns.iterations) for copies in last]
        return StreamRun(
            {name: outputs_of(given) for name, given in self.given.items()},
            self.turns.iterations,
            self.clock,
            steady_period(ends, self.stages.depth),
            self.plan.period,
            tuple(self.times),
            tuple(self.plan.platform.names),
            is_emulated=True,
        )

    def _look(self) -> None:
        """Start a filter that can run on each free processor."""
        for p, own in enumerate(self.own):
            if self.is_free[p]:
                ready = [i for i in own if self._is_ready(i)]
                if ready:
                    self._begin(p, min(ready, key=self._round))

    def _round(self, c: int) -> int:
        return self._iteration(c) + int(self.stages.of_filters[self.firings[c].number])

    def _without_data(self, c: int) -> list[int]:
        return [at for at, one in enumerate(self.reads[c]) if self.arrived[one] == 0]

    def _without_room(self, c: int) -> list[int]:
        return [at for at, one in enumerate(self.writes[c]) if self.room[one] == 0]

    def _is_ready(self, c: int) -> bool:
        times = self.times[c]
        is_over = times.firings == len(times.turns)
        return (
            not is_over
            and all(self.arrived[one] > 0 for one in self.reads[c])
            and all(self.room[one] > 0 for one in self.writes[c])
        )

    def _begin(self, p: int, c: int) -> None:
        """Run a filter's function now, and schedule its end on the clock."""
        incoming, outgoing = self.reads[c], self.writes[c]
        self._count_wait(p, c)
        inputs = [self.data[one].popleft() for one in incoming]
        slots = [np.empty(one.shape, one.dtype) for one in self.firings[c].channels]
        for one in incoming:
            self.arrived[one] -= 1
        for one in outgoing:
            self.room[one] -= 1
        iteration = self._iteration(c)
        given = self.firings[c].fire(iteration, inputs, slots)
        if given is not None:
            name = self.program.filters[self.firings[c].number].name
            self.given.setdefault(name, []).append((iteration, given))
        took = float(self.seconds.filters[c])
        if not self.overlap:
            took += sum(map(self.seconds.receiving, incoming))
            took += sum(map(self.seconds.sending, outgoing))
        self.is_free[p] = False
        self.at(self.clock + took, lambda: self._end(p, c, slots, took))

    def _count_wait(self, p: int, c: int) -> None:
        """Add the time since a processor became free to the waiting time of the next filter."""
        times, waited = self.times[c], self.clock - self.since[p]
        if c in self.empty[p]:
            times.no_input += waited
            lacking, by = self.empty[p][c], times.starved
        else:
            times.no_room += waited
            lacking, by = self.full[p].get(c, []), times.full
        for at in lacking if waited > 0 else ():
            by[at] = by.get(at, 0.0) + waited / len(lacking)

    def _end(self, p: int, c: int, slots: list[Array], took: float) -> None:
        """End a filter's iteration: pass its output on, and release the slots that it read."""
        incoming, outgoing = self.reads[c], self.writes[c]
        times = self.times[c]
        times.firings += 1
        self.reads[c], self.writes[c] = self._incoming(c), self._outgoing(c)
        times.seconds += took
        times.cpu += took
        times.ends.append(self.clock)
        times.spans.append((self.clock - took, self.clock))
        self.is_free[p], self.since[p] = True, self.clock
        for one in incoming:
            self.room[one] += 1
        for one, slot in zip(outgoing, slots, strict=True):
            self.data[one].append(slot)
            if self.overlap and self.seconds.sending(one) > 0:
                self._transfer(p, one, sends=True)
            else:
                self.arrived[one] += 1
        empty = {d: self._without_data(d) for d in self.own[p]}
        self.empty[p] = {d: places for d, places in empty.items() if places}
        self.full[p] = {d: self._without_room(d) for d in self.own[p]}

    def _transfer(self, p: int, one: PlacedChannel, *, sends: bool) -> None:
        """Schedule the sending or receiving of an array after the processor's earlier transfers."""
        took = self.seconds.sending(one) if sends else self.seconds.receiving(one)
        self.wire[p] = max(self.wire[p], self.clock) + took
        if sends:
            to = int(self.plan.part[one.head])
            self.at(self.wire[p], lambda: self._transfer(to, one, sends=False))
        else:
            self.at(self.wire[p], lambda: self._arrive(one))

    def _arrive(self, one: PlacedChannel) -> None:
        self.arrived[one] += 1
