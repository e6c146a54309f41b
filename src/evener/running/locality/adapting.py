"""Reorders a device's vertices, before a program runs or while it runs.

As in the framework of [SPAC]_, section 4: the program begins in the given order while another
thread computes a better one. After each superstep the devices check whether it is ready; then
layout and order are switched together, once. The thread ends with the program. It begins when the
program has taken as much CPU time as the search is expected to take: short runs do without it. It
runs at the lowest priority, so that on cores that the program keeps busy it gets 15 of 1,039 parts
of one core (Linux: weights of nice 19 and 0); on another core it is as fast as any thread.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evener.running.comm import Comm
from evener.running.engine.engine import MOST
from evener.running.engine.recording import DeviceRun, Reordering, StepRecorder, joined
from evener.running.engine.states import RunState
from evener.running.engine.supersteps import Keep
from evener.running.local_graphs import LocalGraph, LocalNumbers
from evener.running.locality.ordering import (
    WORTH,
    is_bad_order,
    lines_read,
    locality_order,
    n_arcs,
    renumbered,
)

LOCALITIES = ("off", "on", "auto")  # whether a device's vertices are ordered: before, meanwhile
LOWEST_PRIORITY = 19  # of Linux's nice
# Supersteps after which a new order is compared to the old one, by their medians, and how much
# longer they may take; chosen by hand, above what two equal runs differ by.
TRIAL, MOST_SLOWER = 5, 1.02
# Supersteps before several devices ask each other whether all are ready, which takes a message, and
# what part of those until then pass before they ask again, or a device alone looks at the clock.
BETWEEN, WAIT = 8, 1 / 8
# CPU seconds of the program's thread before the search begins: 50 times what a search that is soon
# stopped takes in a new process, where kernels are brought from files; and so many an arc as a
# whole one takes on shuffled meshes (benchmarks/locality.py, `search`).
LEAST_SPENT, SEARCH_PER_ARC = 0.5, 45e-9
RunSegment = Callable[[LocalGraph, RunState | None, Keep | None], DeviceRun]


def ordered(local: LocalGraph) -> tuple[LocalGraph, Reordering]:
    """Return a part in the order of `locality_order`, unless its order is good.

    Also returns the record of the search.
    """
    began = time.thread_time()
    found = renumbered(local, locality_order(local)) if is_bad_order(local) else local
    step = None if found is local else 0
    return found, Reordering(time.thread_time() - began, step)


def process_cores() -> set[int] | None:
    """Return the cores that the calling thread may use; None if unknown."""
    return os.sched_getaffinity(0) if sys.platform == "linux" else None


class _Better(NamedTuple):
    """A part in a better order; order (m,): own vertices by their previous local numbers."""

    local: LocalGraph
    order: LocalNumbers


class Agent:
    """A thread that searches for a better order of a part, once `begin_after` has started it.

    cores: numbers of the cores that it may use; None: those of the thread that creates it. found:
    the result once the search has ended; None: no better order. seconds: CPU time of the search.
    worth_after [s]: CPU time of the program after which the search begins.
    """

    def __init__(self, local: LocalGraph, cores: set[int] | None = None) -> None:
        self.found: _Better | None = None
        self.seconds = 0.0
        self.has_begun = self.has_ended = False
        self.worth_after = max(LEAST_SPENT, SEARCH_PER_ARC * n_arcs(local))
        self._error: BaseException | None = None
        self._stop = np.zeros(1, np.uint8)
        self._given = local, cores
        self._thread: threading.Thread | None = None

    def begin_after(self, spent: float) -> None:
        """Start the search, if not done yet, if the program has taken enough CPU time.

        spent [s]: the program's CPU time.
        """
        if spent >= self.worth_after and not self.has_begun:
            self.has_begun = True
            self._thread = threading.Thread(target=self._work, args=self._given, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread at once. Raises the exception of the search, if there was one."""
        self._stop[0] = 1
        if self._thread is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error

    def _work(self, local: LocalGraph, cores: set[int] | None) -> None:
        try:
            if sys.platform == "linux":
                if cores is not None:
                    os.sched_setaffinity(0, cores)
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOWEST_PRIORITY)
            self.found = self._search(local)
        except BaseException as error:  # raised again by `stop`
            self._error = error
        self.seconds = time.thread_time()
        self.has_ended = True

    def _search(self, local: LocalGraph) -> _Better | None:
        if not is_bad_order(local):
            return None
        order = locality_order(local, self._stop)
        if self._stop[0]:
            return None
        made = renumbered(local, order, self._stop)
        if self._stop[0] or lines_read(made) > WORTH * lines_read(local):
            return None
        return _Better(made, order)


class AdaptiveDevice:
    """One device's run that changes to a better order once; all devices create one and call `run`.

    segment: runs supersteps from a state until the program ends or a Keep stops it. is_dense:
    whether every superstep does the same work, so that their seconds can be compared. cores: as in
    Agent.
    """

    def __init__(
        self, comm: Comm, segment: RunSegment, *, is_dense: bool, cores: set[int] | None = None
    ) -> None:
        self._comm, self._segment, self._is_dense, self._cores = comm, segment, is_dense, cores

    def run(self, local: LocalGraph, start: RunState | None, keep: Keep | None) -> DeviceRun:
        """Run supersteps until the program ends. keep: also called, never stops the run."""
        agent = Agent(local, self._cores)
        switch = _Switch(self._comm, agent, keep, is_dense=self._is_dense)
        try:
            whole, owned = self._segment(local, start, switch), local.owned
            while (state := switch.take_stopped()) is not None:
                agent.stop()
                better = agent.found
                if better is not None and switch.is_new:
                    layout, state = better.local, state.of(better.order)
                elif better is not None:
                    layout, state = local, state.of(np.argsort(better.order))
                else:
                    layout = local
                whole, owned = joined(whole, self._segment(layout, state, switch)), layout.owned
        finally:
            agent.stop()
        return replace(whole, owned=owned, reordering=switch.told(agent))


class _Switch:
    """Decides after each superstep whether all devices stop to change their order; a Keep.

    is_new: whether the present order is that of the agents.
    """

    def __init__(self, comm: Comm, agent: Agent, keep: Keep | None, *, is_dense: bool) -> None:
        self._comm, self._agent, self._keep, self._is_dense = comm, agent, keep, is_dense
        self.is_new = False
        self._began, self._spent = time.perf_counter(), time.thread_time()
        self._next = 1 if comm.size == 1 else BETWEEN  # supersteps before there is anything to ask
        self._stopped: RunState | None = None
        self._step: int | None = None
        self._before = self._after = math.nan

    def __call__(self, step: int, take: Callable[[], RunState], steps: StepRecorder) -> int:
        """Return the supersteps until the next check, 0 to change the order."""
        pause = MOST if self._keep is None else self._keep(step, take, steps)
        done = len(steps.steps)
        if done < self._next:
            return min(pause, self._next - done)
        if not (self._is_bad(steps) if self.is_new else self._is_ready(steps)):
            return min(pause, self._next - done)
        self.is_new = not self.is_new
        self._next = TRIAL if self.is_new else sys.maxsize
        self._step = step if self._step is None else self._step
        self._stopped = take()
        return 0

    def take_stopped(self) -> RunState | None:
        """Return the state at which supersteps stopped, once; None if they have ended."""
        stopped, self._stopped = self._stopped, None
        return stopped

    def told(self, agent: Agent) -> Reordering:
        """Return the record of the search and of the change of order."""
        return Reordering(agent.seconds, self._step, self._before, self._after, self.is_new)

    def _is_ready(self, steps: StepRecorder) -> bool:
        """Return whether all agents have ended, at least one with a better order."""
        agent, is_alone = self._agent, self._comm.size == 1
        if not agent.has_begun and time.perf_counter() - self._began >= agent.worth_after:
            agent.begin_after(time.thread_time() - self._spent)  # which takes a call of the system
        self._next += self._pause(len(steps.steps))
        if is_alone and not agent.has_ended:
            return False
        own = agent.has_ended, agent.found is not None
        found = [own] if is_alone else steps.gathered(own)
        if not all(has_ended for has_ended, _ in found):
            return False
        self._before = _usual(steps)
        is_better = any(is_better for _, is_better in found)
        if not is_better:
            self._next = sys.maxsize
        return is_better

    def _pause(self, done: int) -> int:
        """Return the number of supersteps until the next check.

        It grows, because a check costs a message. If there is only one device, it reads the clock
        until its agent begins; later checks cost nothing.
        """
        least = BETWEEN if self._comm.size > 1 else 1
        return least if self._agent.has_begun and least == 1 else max(least, int(WAIT * done))

    def _is_bad(self, steps: StepRecorder) -> bool:
        """Return whether supersteps take longer in the new order than in the old one."""
        self._next = sys.maxsize
        self._after = _usual(steps)
        found = steps.gathered((self._before, self._after))
        longest = [max(each) for each in zip(*found, strict=True)]
        return self._is_dense and longest[1] > MOST_SLOWER * longest[0]


def _usual(steps: StepRecorder) -> float:
    """Return the median computing time of the last supersteps [s]."""
    return statistics.median(one.computing for one in steps.steps[-TRIAL:])
