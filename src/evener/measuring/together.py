"""Measures several devices at the same time, each in a process bound to its cores.

Devices of a computer share memory, caches and buses, so that a device is faster alone than together
with others (A.2 of [Cla14]_). Therefore all devices start at the same time, and a device that has
its result continues executing until the slowest has its result, too.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar, cast

from evener.errors import EvenerError
from evener.measuring.outcomes import Gap, Outcome, Point, Precision
from evener.measuring.workers import Worker
from evener.platforms.models.samples import Sample
from evener.running.comm import Comm, run_threads

T = TypeVar("T")

# Set by hand: the first access to memory takes longer than an execution, because Python is slow.
PREPARING_FACTOR = 4.0  # limit for preparing a point, as a multiple of Precision.seconds
START_DELAY = 5e-3  # seconds from sending the start time to that time
GRACE = 1.5  # seconds added to every limit: a process may wait for a core of a busy computer


class Bench:
    """The processes of the devices, which `measure` runs at the same time.

    meet: a barrier with other processes that measure (MPI ranks); called when all devices of this
    process are ready, and again when all have their results.
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
        """Return the outcome of each device i at loads[i] units, all at once; None leaves it idle.

        If a kernel fails, hangs or ends its process, only its own outcome is a Gap.
        """
        round_ = _Round(self.workers, loads, self.precision)
        failure = None
        try:
            round_.prepare()
        except EvenerError as error:  # raised after both barriers, where other ranks wait
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


class RankBench:
    """The devices of all ranks, measured at the same time, each by its own rank.

    bench: this rank's devices. names, groups: name and computer of the devices of all ranks.
    agreed: whether `measure` has raised an error; if so, it raised the error on every rank.
    """

    def __init__(self, bench: Bench, comm: Comm) -> None:
        self._bench, self._comm, self.agreed = bench, comm, False
        gathered = comm.allgather((bench.names, socket.gethostname()))
        self.names = [name for names, _ in gathered for name in names]
        self.groups = [host for names, host in gathered for _ in names]
        counts = [len(names) for names, _ in gathered]
        self._from = sum(counts[: comm.rank])
        self._to = self._from + counts[comm.rank]

    def __enter__(self) -> Self:
        self._bench.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._bench.__exit__(*error)

    def has_company(self, name: str) -> bool:
        """Whether another device is on the same computer."""
        return self.groups.count(self.groups[self.names.index(name)]) > 1

    def measure(self, loads: Sequence[int | None]) -> list[Outcome | None]:
        """Return the outcome of each device i of all ranks at loads[i] units; None leaves it idle.

        Raises the error of the first rank that has one, on every rank.
        """
        found: list[Outcome | None] | EvenerError
        try:
            found = self._bench.measure(loads[self._from : self._to])
        except EvenerError as error:
            found = error
        everything: list[Outcome | None] = []
        for own in self._comm.allgather(found):
            if isinstance(own, EvenerError):
                self.agreed = True
                raise own
            everything += own
        return everything


class _Round:
    """The measurement of one load on each device: prepare, go, collect, stop, in this order."""

    def __init__(
        self, workers: Sequence[Worker], loads: Sequence[int | None], precision: Precision
    ) -> None:
        self._precision = precision
        self._loads = loads
        self._active = {i: workers[i] for i, load in enumerate(loads) if load is not None}
        self.outcomes: list[Outcome | None] = [None] * len(loads)

    def prepare(self) -> None:
        """Let all kernels allocate their memory and execute once, at the same time."""
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
                message = worker.receive(deadline - time.monotonic())
            except EOFError:
                return self._lose(i)
            if message is None:
                return self._stop_slow(i) if warming else self._give_up(i)
            if message["event"] == "prepared":
                return None
            if message["event"] == "pulse":  # memory is allocated; the first execution begins
                warming, deadline = True, time.monotonic() + self._patience(i) + GRACE
            self._take(i, message)
        return None

    def go(self) -> None:
        """Start all prepared devices at the same time."""
        moment = time.perf_counter() + START_DELAY
        for worker in self._active.values():
            worker.send({"at": moment})

    def collect(self) -> None:
        """Wait for every outcome; end a process whose execution exceeds its limit."""
        alive = {i: time.monotonic() for i in self._waiting()}
        while waiting := self._waiting():
            ends = {i: alive[i] + self._patience(i) + GRACE for i in waiting}
            self._wait_for(waiting, min(ends.values()))
            now = time.monotonic()
            for i in waiting:
                try:
                    message = self._active[i].receive(0.0)
                except EOFError:
                    self._lose(i)
                    continue
                if message is not None:
                    alive[i] = now
                    self._take(i, message)
                elif now > ends[i]:
                    self._stop_slow(i)

    def stop(self) -> None:
        """Stop the devices that continue executing only to load the computer."""
        for worker in self._active.values():
            worker.send({"stop": True})
        for i, worker in self._active.items():
            try:
                self._rest(worker, time.monotonic() + self._preparing + self._patience(i))
            except EOFError:
                worker.end()  # its outcome is known; a new process is started for the next load

    def _rest(self, worker: Worker, deadline: float) -> None:
        while (message := worker.receive(deadline - time.monotonic())) is not None:
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
        """Record the outcome of a device whose process has ended."""
        worker = self._active.pop(i)
        how, words = worker.death(), worker.last_words()
        kind = "killed" if "SIGKILL" in how else "lost"
        if kind == "killed":
            how += "; the system may have run out of memory"
        self.outcomes[i] = Gap(
            self._load(i), kind, f"its process {how}" + (f"; it printed: {words}" if words else "")
        )
        worker.end()

    def _give_up(self, i: int) -> None:
        """End a kernel that takes too long to allocate its memory, and record this."""
        self._active.pop(i).end()
        message = f"was not prepared within {self._preparing:g} s"
        self.outcomes[i] = Gap(self._load(i), "stuck", message)

    def _stop_slow(self, i: int) -> None:
        """End an execution that takes too long, and record its limit as a lower bound of its time.

        This is the rule of section 4.3.1 of [Cla14]_.
        """
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
        return PREPARING_FACTOR * self._precision.seconds

    def _patience(self, i: int) -> float:
        return self._precision.patience(self._load(i))


def together(comm: Comm, action: Callable[[], T]) -> T:
    """Return action() of this rank; if any rank fails, raise the first such rank's error on all."""
    result: T | None = None
    failure: EvenerError | None = None
    try:
        result = action()
    except EvenerError as error:
        failure = error
    for theirs in comm.allgather(failure):
        if theirs is not None:
            raise theirs
    return cast(T, result)


def one_rank() -> Comm:
    """Return a communicator of only this process."""
    return run_threads(1, lambda comm: comm)[0]


def give_up(comm: Comm, error: BaseException) -> None:
    """End all ranks because of an error of only this rank; they would wait for it forever."""
    leave = getattr(comm, "__exit__", None)
    if comm.size > 1 and leave is not None:
        leave(type(error), error, error.__traceback__)
