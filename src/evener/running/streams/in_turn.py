"""Runs a program by one thread, one filter after the other: times of filters, and outputs."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.graphs.stream_graph import StreamGraph
from evener.running.streams.firing import Firing
from evener.running.streams.program import Array, StreamProgram

REPEATS = 20  # iterations of which a filter's seconds are the median, after the first


class InTurn:
    """A program run iteration by iteration, with its filters in their order.

    seconds: for each filter, CPU time of the thread in each iteration.
    """

    def __init__(self, program: StreamProgram) -> None:
        self._program = program
        self._firings = [Firing(program, i) for i in range(len(program.filters))]
        self._queues = [
            deque(np.array(array) for array in channel.initial) for channel in program.channels
        ]
        self._free: list[list[Array]] = [[] for _ in program.channels]
        self._done = 0
        self.seconds: list[list[float]] = [[] for _ in program.filters]
        self.outputs: dict[str, list[Array]] = {}

    def step(self) -> None:
        """Run one iteration."""
        for i in self._program.order:
            began = time.thread_time()
            incoming = self._program.incoming[i]
            inputs = [self._queues[e].popleft() for e in incoming]
            slots = [self._slot(e) for e in self._program.outgoing[i]]
            given = self._firings[i].fire(self._done, inputs, slots)
            for e, slot in zip(self._program.outgoing[i], slots, strict=True):
                self._queues[e].append(slot)
            for e, array in zip(incoming, inputs, strict=True):
                self._free[e].append(array)
            self.seconds[i].append(time.thread_time() - began)
            if given is not None:
                self.outputs.setdefault(self._program.filters[i].name, []).append(given)
        self._done += 1

    def _slot(self, e: int) -> Array:
        """Return an array for a channel whose contents are no longer needed."""
        channel = self._program.channels[e]
        return self._free[e].pop() if self._free[e] else np.empty(channel.shape, channel.dtype)


def run_in_turn(program: StreamProgram, iterations: int) -> dict[str, Array]:
    """Return the outputs of a program, run by one thread, one filter after the other.

    The result maps names of filters without outgoing channels to what these returned (iterations,
    ...).
    """
    run = InTurn(program)
    for _ in range(iterations):
        run.step()
    return {name: np.stack(arrays) for name, arrays in run.outputs.items()}


class BesideOthers:
    """A program run filter by filter while other threads each run it, too.

    They share the computer's memory and caches as processors will. busy: number of threads in all.
    Raises UsageError if it is below 1.
    """

    def __init__(self, program: StreamProgram, busy: int = 1) -> None:
        if busy < 1:
            raise UsageError(f"the number of threads must be at least 1, not {busy}")
        self._program, self._busy = program, busy
        self._run = InTurn(program)
        self._kept: list[FloatArray] = []

    def run(self, repeats: int, tell: Callable[[int], None] = lambda _: None) -> None:
        """Measure `repeats` iterations after a first one; tell: called with the number done."""
        is_over = threading.Event()
        with ThreadPoolExecutor(max(self._busy - 1, 1)) as pool:
            others = [pool.submit(_run_until, is_over, self._program) for _ in range(1, self._busy)]
            try:
                for done in range(repeats + 1):
                    self._run.step()
                    self._run.outputs.clear()
                    tell(done)
            finally:
                is_over.set()
        for other in others:
            other.result()
        self._kept.append(np.array([own[-repeats:] for own in self._run.seconds]))

    @property
    def seconds(self) -> FloatArray:
        """CPU seconds of each filter per iteration (n,): medians."""
        return np.asarray(np.median(np.concatenate(self._kept, axis=1), axis=1))


def filter_seconds(program: StreamProgram, repeats: int = REPEATS, busy: int = 1) -> FloatArray:
    """Return the CPU seconds of each filter per iteration (n,), after a first iteration.

    The time of passing arrays to channels is included. busy: number of threads that run the program
    at the same time. Raises UsageError if repeats or busy is below 1.
    """
    if repeats < 1:
        raise UsageError(f"the number of iterations must be at least 1, not {repeats}")
    beside = BesideOthers(program, busy)
    beside.run(repeats)
    return beside.seconds


def _run_until(is_over: threading.Event, program: StreamProgram) -> None:
    run = InTurn(program)
    while not is_over.is_set():
        run.step()
        run.outputs.clear()


def measure_filters(program: StreamProgram, repeats: int = REPEATS, busy: int = 1) -> StreamGraph:
    """Return the program's graph with measured costs, for `map_filters`.

    Each filter's number of instructions is its CPU seconds here, as in `filter_seconds`, x 10^9:
    for a device of 1000 mips and a vector length of 1 the plan's seconds are those of this
    computer. busy: number of threads that run the program during the measurement, including this
    one; use as many as the plan will have.
    """
    return program.costing(filter_seconds(program, repeats, busy))
