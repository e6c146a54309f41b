"""One device's share of a run on many: supersteps of its engine, and exchanges between them.

All devices are in the same superstep (BSP, [Guo16]_ section II). How they exchange depends on the
schedule. Dense: owners send payloads to their ghosts before each superstep. The others: after a
superstep, values of ghosts that changed go to their owners, at most one message for a vertex from
each device; before a superstep that pulls, owners send values and frontier to their ghosts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from evener.running.comm import Comm
from evener.running.distributing import LocalGraph
from evener.running.engine import atomics_kernels as places
from evener.running.engine import frontier_kernels as frontier
from evener.running.engine.engine import MOST, Engine
from evener.running.engine.program import VertexProgram
from evener.running.engine.states import RunState, restore, state_of
from evener.running.halos import Halo

Numbers = npt.NDArray[Any]
Totals = tuple[int, int, int]  # over all devices: active vertices, arcs leaving these, arcs left
# Called after each superstep with its number and how to get the state; writes it if that is due.
Keep = Callable[[int, Callable[[], RunState]], None]
T = TypeVar("T")


@dataclass
class Superstep:
    """What one device did in one superstep.

    computing, packing, waiting, unpacking [s]: packing and unpacking are of messages, waiting for
    messages and for the other devices. sent [B]; sent_to: device -> its part of that. received:
    messages, each for one vertex. edges: arcs looked at. spans: which of the four it did, from when
    [s, from the first superstep's beginning] and how long [s], in order.
    """

    computing: float = 0.0
    packing: float = 0.0
    waiting: float = 0.0
    unpacking: float = 0.0
    sent: int = 0
    received: int = 0
    edges: int = 0
    sent_to: dict[int, int] = field(default_factory=dict)
    spans: list[tuple[str, float, float]] = field(default_factory=list)

    def count_sent(self, device: int, n_bytes: int) -> None:
        """Add to what was sent to a device [B]."""
        self.sent += n_bytes
        self.sent_to[device] = self.sent_to.get(device, 0) + n_bytes

    def add(self, name: str, began: float, seconds: float) -> None:
        """Count seconds of computing, packing, waiting or unpacking."""
        setattr(self, name, getattr(self, name) + seconds)
        if seconds > 0:
            self.spans.append((name, began, seconds))


@dataclass(frozen=True, eq=False)
class DeviceRun:
    """One device's run: the values (m,) of its vertices, its supersteps, the seconds of all.

    first: supersteps that were done before it, where a run was continued.
    """

    values: Numbers
    steps: list[Superstep]
    seconds: float
    first: int = 0


class DeviceEngine(Protocol):
    """What an engine offers, on threads of a CPU or on a CUDA device; see Engine."""

    program: VertexProgram
    parameters: tuple[float, ...]
    control: Numbers

    @property
    def values(self) -> Numbers: ...  # noqa: D102
    @property
    def shared_values(self) -> Numbers: ...  # noqa: D102
    @property
    def payloads(self) -> Numbers: ...  # noqa: D102
    @property
    def change(self) -> float: ...  # noqa: D102
    @property
    def edges(self) -> int: ...  # noqa: D102
    @property
    def has_ended(self) -> bool: ...  # noqa: D102
    def compile(self) -> None: ...  # noqa: D102
    def advance(self, most: int) -> None: ...  # noqa: D102
    def take_marked(self) -> tuple[Numbers, Numbers]: ...  # noqa: D102
    def deliver(self, targets: Numbers, received: Numbers) -> None: ...  # noqa: D102
    def show(self, flags: Numbers) -> None: ...  # noqa: D102
    def see(self, flags: Numbers) -> None: ...  # noqa: D102


class SuperstepLoop:
    """Runs a device's engine in step with those of all other devices; every rank makes one.

    comm: a rank for each device. local: this device's part. tell: called with the number of
    supersteps done. start: the state of this device's vertices from which a run is continued.
    keep: called after each superstep but the last.
    """

    def __init__(
        self,
        comm: Comm,
        local: LocalGraph,
        engine: DeviceEngine,
        tell: Callable[[int], None] | None = None,
        start: RunState | None = None,
        keep: Keep | None = None,
    ) -> None:
        self.comm, self.local, self.engine = comm, local, engine
        self._start, self._keep = start, keep
        self.halo = Halo.of(comm, local)
        self._flags = np.empty(local.n_local, np.uint8)  # which vertices are in the frontier
        self._tell = tell
        self._steps: list[Superstep] = []
        self._step = Superstep()
        self._began = 0.0

    def run(self, most: int = MOST) -> DeviceRun:
        """Run until the program ends on all devices, or for `most` supersteps. All ranks call."""
        self.engine.compile()
        if self._start is not None:
            restore(self._cpu_engine, self.halo, self._start)
        self.comm.barrier()
        self._began = time.perf_counter()
        schedule = self.engine.program.schedule
        runs = {"dense": self._run_dense, "frontier": self._run_frontier}
        runs.get(schedule, self._run_to_fixpoint)(most)
        seconds = time.perf_counter() - self._began
        return DeviceRun(
            self.engine.values[: self.local.n_owned], self._steps, seconds, self._first
        )

    @property
    def _cpu_engine(self) -> Engine:
        assert isinstance(self.engine, Engine)  # of CUDA devices, run_program keeps nothing
        return self.engine

    @property
    def _first(self) -> int:
        """Supersteps that were done before this run."""
        return 0 if self._start is None else self._start.step

    # The dense schedule.

    def _run_dense(self, most: int) -> None:
        engine = self.engine
        has_halt = engine.program.halt is not None
        if self._start is None:
            engine.advance(0)  # the first values
        for step in range(self._first, most):
            self._exchange(engine.payloads)
            self._compute()
            own = engine.change if has_halt else 0.0
            change = sum(self._gathered(own)) if has_halt else 0.0
            self._end_step(self.local.ghosts.size)
            given = change, step + 1, self.local.n_global, engine.parameters
            if has_halt and engine.program.halts(*given):
                return
            self._keep_after(step + 1)

    # Bucket and union: each device on its own until nothing changes there, in each superstep.

    def _run_to_fixpoint(self, most: int) -> None:
        for step in range(self._first, most):
            self._compute()
            received = self._deliver()
            ended = all(self._gathered(self.engine.has_ended))
            self._end_step(received)
            if ended:
                return
            self._keep_after(step + 1)

    # The frontier schedule.

    def _run_frontier(self, most: int) -> None:
        before, direction = 0, frontier.PUSH
        if self._start is None:
            self.engine.advance(0)  # the first values
        else:
            before, direction = (self._start.numbers[name] for name in ("before", "direction"))
        totals = self._totals()
        for step in range(self._first, most):
            if totals[0] == 0:
                return
            direction = self._direction(direction if step else None, totals, before)
            self.engine.control[places.DIRECTION] = direction
            if direction == frontier.PULL:
                self._send_frontier()
            self._compute()
            received = self._deliver() if direction == frontier.PUSH else self.local.ghosts.size
            before, totals = totals[0], self._totals()
            self._end_step(received)
            kept = {"left": totals[2], "before": before, "direction": direction}
            self._keep_after(step + 1, kept)

    def _totals(self) -> Totals:
        own = self.engine.control[[places.LENGTH, places.SCOUTED, places.LEFT]].tolist()
        length, scouted, left = (sum(column) for column in zip(*self._gathered(own), strict=True))
        return length, scouted, left

    def _direction(self, last: int | None, totals: Totals, before: int) -> int:
        """Return whether all devices push or pull, by the rule that one device alone goes by."""
        length, scouted, left = totals
        if last == frontier.PULL:
            pulls = length >= before or length > self.local.n_global // frontier.VERTICES_PER_PUSH
        elif self.engine.program.settled is not None:
            pulls = scouted > left // frontier.ARCS_PER_PULL
        else:
            arcs = scouted + left
            pulls = scouted > arcs // frontier.ALL_ARCS_PER_PULL
        return frontier.PULL if pulls else frontier.PUSH

    def _send_frontier(self) -> None:
        """Bring values and frontier of owners to their ghosts, before a superstep that pulls."""
        engine = self.engine
        with self._timed("packing"):
            values = engine.shared_values
            engine.show(self._flags)
        self._exchange(values)
        self._exchange(self._flags)
        with self._timed("unpacking"):
            engine.see(self._flags)

    def _deliver(self) -> int:
        """Send values of ghosts that changed to their owners; return how many came here."""
        engine, local = self.engine, self.local
        with self._timed("packing"):
            numbers, values = engine.take_marked()
            order = np.argsort(numbers)  # ghosts are numbered by owner
            numbers, values = numbers[order].astype(np.int64), values[order]
            parts: list[Any] = [None] * self.comm.size
            for q, (first, end) in local.receives.items():
                a, b = np.searchsorted(numbers, [first, end])
                parts[q] = (numbers[a:b] - first).astype(np.uint32), values[a:b]
                self._step.count_sent(q, int(b - a) * (4 + values.itemsize))
        with self._timed("waiting"):
            found = self.comm.exchange(parts)
        received = 0
        with self._timed("unpacking"):
            for q, part in enumerate(found):
                if part is None or q not in local.sends:
                    continue
                which, values = part
                engine.deliver(local.sends[q][which], values)
                received += which.size
        assert received <= (self.comm.size - 1) * local.n_owned
        return received

    def _keep_after(self, step: int, numbers: Mapping[str, int] | None = None) -> None:
        if self._keep is not None:
            self._keep(step, lambda: state_of(self._cpu_engine, numbers))

    # What a superstep takes.

    def _compute(self) -> None:
        before = self.engine.edges
        with self._timed("computing"):
            self.engine.advance(1)
        self._step.edges = self.engine.edges - before

    def _exchange(self, x: Numbers) -> None:
        before, began = astuple(self.halo.times), time.perf_counter() - self._began
        self.halo.exchange(x)
        spent = [now - then for now, then in zip(astuple(self.halo.times), before, strict=True)]
        for name, seconds in zip(("packing", "waiting", "unpacking"), spent, strict=False):
            self._step.add(name, began, seconds)
            began += seconds
        for q, numbers in self.local.sends.items():
            self._step.count_sent(q, numbers.size * x.itemsize)

    def _gathered(self, value: T) -> list[T]:
        with self._timed("waiting"):
            return self.comm.allgather(value)

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self._step.add(name, began - self._began, time.perf_counter() - began)

    def _end_step(self, received: int) -> None:
        self._step.received = received
        self._steps.append(self._step)
        self._step = Superstep()
        if self._tell is not None:
            self._tell(self._first + len(self._steps))
