"""The loop of one processor: among its filters that can run, it runs the one furthest behind.

A filter can run if each of its incoming channels has data and each outgoing one has room. If
several can run, the one with the lowest round does; the round is its iteration plus its stage: so
all filters of the processor stay in their stages. A program's outputs do not depend on this order.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from evener.arrays import FloatArray
from evener.running.streams.channels import Receiver, Sender
from evener.running.streams.firing import Firing
from evener.running.streams.program import Array
from evener.running.swaps import Stopped

LOOK = 0.5  # [s] between two looks whether a run was stopped, while waiting asleep


@dataclass
class FilterTimes:
    """Times of one filter in a run.

    seconds: time of its function, including passing its arrays to channels; cpu [s]: of its thread
    in this time. no_input, no_room [s]: how long its processor was idle before it ran, because its
    incoming channels had no data, or its outgoing ones no room. ends: when it ended each iteration
    [s, on the clock of time.perf_counter], if recorded; spans: also when it began; cpus: CPU
    seconds of each iteration, if spans are recorded. turns: the iterations that it runs; a copy of
    a filter runs only some. starved, full [s]: parts of no_input and no_room by the channels that
    had no data or room when the wait began, by their index among the filter's own channels.
    """

    name: str
    processor: int
    firings: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    no_input: float = 0.0
    no_room: float = 0.0
    ends: list[float] = field(default_factory=list)
    spans: list[tuple[float, float]] = field(default_factory=list)
    cpus: list[float] = field(default_factory=list)
    turns: Sequence[int] = ()
    starved: dict[int, float] = field(default_factory=dict)
    full: dict[int, float] = field(default_factory=dict)


class Waker:
    """Lets a thread sleep until one of its channels changes, or until the run is stopped."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._is_stopped = False

    def wake(self) -> None:
        """Wake the thread, so that it checks its channels again."""
        with self._condition:
            self._condition.notify()

    def stop(self) -> None:
        """Make the thread raise Stopped."""
        self._is_stopped = True
        self.wake()

    def until(self, is_done: Callable[[], bool]) -> None:
        """Return when is_done() is true; it is called after each wake-up. Raises Stopped."""
        with self._condition:
            while not is_done():
                self.check()
                self._condition.wait(LOOK)

    def check(self) -> None:
        """Raise Stopped if the run was stopped."""
        if self._is_stopped:
            raise Stopped


class PlacedFilter:
    """A filter on its processor, with the ends of its channels. number: its number in the plan."""

    def __init__(
        self,
        firing: Firing,
        stage: int,
        ends: tuple[Sequence[Receiver], Sequence[Sender]],
        times: FilterTimes,
        number: int,
    ) -> None:
        self.firing, self.times, self.number = firing, times, number
        self._stage = stage
        self.receivers, self.senders = ends
        self.given: list[tuple[int, Array]] = []  # with the iteration

    @property
    def iteration(self) -> int:
        """The iteration that it runs next; once it has run all, the last one."""
        turns = self.times.turns
        return turns[min(self.times.firings, len(turns) - 1)]

    @property
    def round(self) -> int:
        """The round of its next firing."""
        return self.iteration + self._stage

    @property
    def is_over(self) -> bool:
        """Whether it has run all its iterations."""
        return self.times.firings == len(self.times.turns)

    @property
    def is_ready(self) -> bool:
        """Whether it can run."""
        return all(one.has_data() for one in self.receivers) and all(
            one.has_room() for one in self.senders
        )

    def without_data(self) -> list[int]:
        """Return the indices of incoming channels without data."""
        return [i for i, one in enumerate(self.receivers) if not one.has_data()]

    def without_room(self) -> list[int]:
        """Return the indices of outgoing channels without room."""
        return [i for i, one in enumerate(self.senders) if not one.has_room()]

    def fire(self) -> None:
        """Run it once."""
        inputs = [one.data() for one in self.receivers]
        slots = [one.slot() for one in self.senders]
        iteration = self.iteration
        given = self.firing.fire(iteration, inputs, slots)
        if given is not None:
            self.given.append((iteration, given))
        for sender in self.senders:
            sender.send()
        for receiver in self.receivers:
            receiver.free()
        self.times.firings += 1


class Processor:
    """Filters of one processor, in the order of the program, each with its iterations.

    now (3,): the current activity, read by the thread that detects late firings: the running
    filter's number plus one, or 0; the iteration; its start [time.monotonic]. last: filters whose
    end times are recorded. trace: whether to record all spans. keep: number of last iterations
    whose outputs are kept; None: all.
    """

    def __init__(
        self,
        placed: Sequence[PlacedFilter],
        waker: Waker,
        now: FloatArray,
        *,
        last: frozenset[int] = frozenset(),
        trace: bool = False,
        keep: int | None = None,
    ) -> None:
        self.placed, self.waker = placed, waker
        self._now = now
        self._last, self._trace, self._keep = last, trace, keep

    def run(self, until: Callable[[Callable[[], bool]], None]) -> None:
        """Run all filters until each has run its iterations; until(is_done) waits for is_done()."""
        left = [one for one in self.placed if not one.is_over]
        while left:
            self.waker.check()
            one = self._ready(left)
            if one is None:
                one = self._awaited(left, until)
            self._fire(one)
            if one.is_over:
                left.remove(one)

    def _ready(self, left: Sequence[PlacedFilter]) -> PlacedFilter | None:
        """Return the filter of the lowest round that can run; ties go to the first."""
        found: PlacedFilter | None = None
        for one in left:
            if (found is None or one.round < found.round) and one.is_ready:
                found = one
        return found

    def _awaited(
        self, left: Sequence[PlacedFilter], until: Callable[[Callable[[], bool]], None]
    ) -> PlacedFilter:
        """Wait until a filter can run, and return it; the wait is counted for this filter."""
        began = time.perf_counter()
        empty = {id(one): one.without_data() for one in left}
        no_room = {id(one): one.without_room() for one in left}
        found: list[PlacedFilter] = []

        def look() -> bool:
            one = self._ready(left)
            if one is not None:
                found.append(one)
            return one is not None

        until(look)
        waited = time.perf_counter() - began
        times = found[0].times
        lacking, by = empty[id(found[0])], times.starved
        if lacking:
            times.no_input += waited
        else:
            times.no_room += waited
            lacking, by = no_room[id(found[0])], times.full
        for i in lacking:
            by[i] = by.get(i, 0.0) + waited / len(lacking)
        return found[0]

    def _fire(self, one: PlacedFilter) -> None:
        times, now = one.times, self._now
        now[1], now[2], now[0] = one.iteration, time.monotonic(), one.number + 1
        began, cpu = time.perf_counter(), time.thread_time()
        one.fire()
        ended = time.perf_counter()
        used = time.thread_time() - cpu
        times.cpu += used
        times.seconds += ended - began
        now[0] = 0
        if one.firing.number in self._last:
            times.ends.append(ended)
        if self._trace:
            times.spans.append((began, ended))
            times.cpus.append(used)
        if self._keep is not None and len(one.given) > self._keep:
            del one.given[0]
