"""Measures devices at the same time: bound to their cores, started at one moment, none idle.

Devices of a computer share memory, caches and buses, so that one alone is faster than one among
others (A.2 of [Cla14]_). A device that is done keeps executing until the slowest is done, too.
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable, Sequence
from typing import Any, Self

from evener.errors import EvenerError
from evener.measuring.outcomes import Gap, Outcome, Point, Precision
from evener.measuring.workers import Worker
from evener.platforms.models.samples import Sample

PREPARING = 4.0  # times the limit of a point: memory is filled only once, and with slow code
AHEAD = 5e-3  # seconds from the word to the start
GRACE = 1.5  # seconds that a busy computer may keep a process waiting


class Bench:
    """Processes of devices, measured together.

    meet: called when this process's devices are ready and again when they are done; it returns
    when other processes (MPI ranks) are, too.
    """

    def __init__(
        self,
        workers: Sequence[Worker],
        precision: Precision,
        meet: Callable[[], None] = lambda: None,
    ) -> None:
        self.workers, self.precision, self._meet = list(workers), precision, meet
        self.names = [worker.name for worker in self.workers]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self.workers:
            worker.end()

    def measure(self, loads: Sequence[int | None]) -> list[Outcome | None]:
        """Measure device i at loads[i] units, all at once; None leaves it idle.

        A kernel that fails, hangs or takes its process with it costs its own point alone.
        """
        round_ = _Round(self.workers, loads, self.precision)
        failure = None
        try:
            round_.prepare()
        except EvenerError as error:  # others wait for this process all the same
            failure = error
        self._meet()
        if failure is None:
            round_.go()
            round_.collect()
        self._meet()
        if failure is not None:
            raise failure
        round_.stop()
        return round_.outcomes


class _Round:
    """One load of each device, from preparation to the end."""

    def __init__(
        self, workers: Sequence[Worker], loads: Sequence[int | None], precision: Precision
    ) -> None:
        self._precision = precision
        self._loads = loads
        self._active = {i: workers[i] for i, load in enumerate(loads) if load is not None}
        self.outcomes: list[Outcome | None] = [None] * len(loads)

    def prepare(self) -> None:
        """Let all take their memory and warm up, side by side."""
        for worker in self._active.values():
            worker.launch()
        for i, worker in self._active.items():
            worker.ensure()
            worker.measure(self._load(i), self._precision)
        deadline = time.monotonic() + self._preparing
        for i in list(self._active):
            self._prepare(i, deadline)

    def _prepare(self, i: int, deadline: float) -> None:
        worker, warming = self._active[i], False
        while self.outcomes[i] is None:
            try:
                message = worker.hear(deadline - time.monotonic())
            except EOFError:
                return self._lose(i)
            if message is None:
                return self._stop_slow(i) if warming else self._give_up(i)
            if message["event"] == "prepared":
                return None
            if message["event"] == "pulse":  # the memory is there: it executes for the first time
                warming, deadline = True, time.monotonic() + self._patience(i) + GRACE
            self._take(i, message)
        return None

    def go(self) -> None:
        """Start those that are ready at one moment."""
        moment = time.perf_counter() + AHEAD
        for worker in self._active.values():
            worker.say({"at": moment})

    def collect(self) -> None:
        """Wait for every outcome; end what takes longer than one execution may."""
        alive = {i: time.monotonic() for i in self._waiting()}
        while waiting := self._waiting():
            ends = {i: alive[i] + self._patience(i) + GRACE for i in waiting}
            self._wait_for(waiting, min(ends.values()))
            now = time.monotonic()
            for i in waiting:
                try:
                    message = self._active[i].hear(0.0)
                except EOFError:
                    self._lose(i)
                    continue
                if message is not None:
                    alive[i] = now
                    self._take(i, message)
                elif now > ends[i]:
                    self._stop_slow(i)

    def stop(self) -> None:
        """Let those that only kept others company rest."""
        for worker in self._active.values():
            worker.say({"stop": True})
        for i, worker in self._active.items():
            try:
                self._rest(worker, time.monotonic() + self._preparing + self._patience(i))
            except EOFError:
                worker.end()  # it has its outcome; a fresh process takes its place

    def _rest(self, worker: Worker, deadline: float) -> None:
        while (message := worker.hear(deadline - time.monotonic())) is not None:
            if message["event"] == "free":
                return
        worker.end()

    def _waiting(self) -> list[int]:
        return [i for i in self._active if self.outcomes[i] is None]

    def _wait_for(self, waiting: Sequence[int], end: float) -> None:
        if any(self._active[i].has_message for i in waiting):
            return
        with selectors.DefaultSelector() as selector:
            for i in waiting:
                selector.register(self._active[i].fileno, selectors.EVENT_READ)
            selector.select(max(end - time.monotonic(), 0.0))

    def _take(self, i: int, message: dict[str, Any]) -> None:
        if message["event"] == "point":
            point = message["point"]
            self.outcomes[i] = Point(**{**point, "sample": Sample(**point["sample"])})
        elif message["event"] == "gap":
            self.outcomes[i] = Gap(**message["gap"])

    def _lose(self, i: int) -> None:
        """Record a process that is gone."""
        worker = self._active.pop(i)
        how, words = worker.death(), worker.last_words()
        kind = "killed" if "SIGKILL" in how else "lost"
        if kind == "killed":
            how += "; the system may have run out of memory"
        self.outcomes[i] = Gap(
            self._load(i), kind, f"its process {how}" + (f"; it said: {words}" if words else "")
        )
        worker.end()

    def _give_up(self, i: int) -> None:
        """Record a kernel that takes too long to take its memory."""
        self._active.pop(i).end()
        message = f"was not prepared within {self._preparing:g} s"
        self.outcomes[i] = Gap(self._load(i), "stuck", message)

    def _stop_slow(self, i: int) -> None:
        """Section 4.3.1's rule: what takes too long is ended, and known to be slower."""
        self._active.pop(i).end()
        self.outcomes[i] = Point(
            Sample(self._load(i), self._patience(i), status="slower"), reached=False
        )

    def _load(self, i: int) -> int:
        load = self._loads[i]
        assert load is not None
        return load

    @property
    def _preparing(self) -> float:
        return PREPARING * self._precision.seconds

    def _patience(self, i: int) -> float:
        return self._precision.patience(self._load(i))
