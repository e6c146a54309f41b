"""StepRecorder: what each superstep takes on one device, and the calls that take it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy.typing as npt

from evener.arrays import IntVector
from evener.running.comm import Comm
from evener.running.halos import Halo, Op
from evener.running.local_graphs import LocalGraph

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


@dataclass(frozen=True)
class VertexMove:
    """Vertices that changed device in a run, after `step` supersteps.

    kind: how their devices were found, as in evener.rebalancing.Move. vertices: how many. began
    [s]: from the first superstep's beginning; seconds: from asking for it until supersteps went on.
    saving [s a superstep], cost [s]: predicted.
    """

    step: int
    kind: str
    vertices: int
    began: float
    seconds: float
    saving: float
    cost: float


@dataclass(frozen=True)
class Reordering:
    """What came of the search for a better order of a device's vertices; see running.locality.

    seconds: CPU time of the search. step: superstep after which the order was changed; None: it was
    not. before, after [s]: median computing of a superstep, NaN where not measured. is_kept:
    whether the new order stayed.
    """

    seconds: float
    step: int | None = None
    before: float = math.nan
    after: float = math.nan
    is_kept: bool = True

    @property
    def break_even(self) -> float:
        """Supersteps after which the search has paid for itself; infinite where it never does."""
        saved = self.before - self.after
        return self.seconds / saved if saved > 0 else math.inf


@dataclass(frozen=True, eq=False)
class DeviceRun:
    """One device's run: the values (m,) of its vertices, its supersteps, the seconds of all.

    first: supersteps that were done before it, where a run was continued. began [s]: on the clock
    of time.perf_counter. owned (m,): its vertices at the end by global number; None: those that it
    was given. moves: of vertices between devices. asking [s]: whether vertices were to move.
    reordering: of its vertices, None where not asked for.
    """

    values: npt.NDArray[Any]
    steps: list[Superstep]
    seconds: float
    first: int = 0
    began: float = 0.0
    owned: IntVector | None = None
    moves: tuple[VertexMove, ...] = ()
    asking: float = 0.0
    reordering: Reordering | None = None


def joined(first: DeviceRun, rest: DeviceRun) -> DeviceRun:
    """Return two parts of a device's run as one, the seconds between them included."""
    later = rest.began - first.began
    for step in rest.steps:
        step.spans = [(name, began + later, seconds) for name, began, seconds in step.spans]
    steps = first.steps + rest.steps
    return replace(first, values=rest.values, steps=steps, seconds=later + rest.seconds)


class Timed:
    """Adds the seconds of a block `with` it to a field of a recorder's superstep."""

    def __init__(self, steps: StepRecorder, name: str) -> None:
        self._steps, self._name = steps, name

    def __enter__(self) -> None:
        self._began = self._steps.seconds

    def __exit__(self, *_: object) -> None:
        seconds = self._steps.seconds - self._began
        self._steps.now.add(self._name, self._began, seconds)


class StepRecorder:
    """Records the supersteps of one device while it computes and exchanges by its halo.

    comm: a rank for each device, which all make one. local: this device's part. steps: those that
    have ended. now: the one under way; `begin` starts the clock. began [s]: when, on that of
    time.perf_counter. tell: called with the number of supersteps done, `first` of them before.
    """

    def __init__(
        self,
        comm: Comm,
        local: LocalGraph,
        tell: Callable[[int], None] | None = None,
        first: int = 0,
    ) -> None:
        self.comm, self.halo = comm, Halo.of(comm, local)
        self._sends, self._receives = local.sends, local.receives
        self.steps: list[Superstep] = []
        self.now = Superstep()
        self._tell, self._first = tell, first
        self.began = time.perf_counter()
        self._ended: float | None = None

    def begin(self) -> None:
        """Start the clock, once all devices are here."""
        self.comm.barrier()
        self.began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since `begin`."""
        return time.perf_counter() - self.began

    def stop(self) -> None:
        """Stop the clock: supersteps that are recorded from here on have ended before."""
        self._ended = self.seconds

    @property
    def done(self) -> int:
        """Supersteps that have ended, with those before."""
        return self._first + len(self.steps)

    def result(self, values: npt.NDArray[Any]) -> DeviceRun:
        """Return the run until now, with the values (m,) of the device's own vertices."""
        seconds = self.seconds if self._ended is None else self._ended
        return DeviceRun(values, self.steps, seconds, self._first, self.began)

    def timed(self, name: str) -> Timed:
        """Add the seconds of the block to a field of the superstep under way."""
        return Timed(self, name)

    def exchange(self, x: npt.NDArray[Any]) -> None:
        """Set the values of the ghosts in x to those of their owners."""
        with self._of_halo():
            self.halo.exchange(x)
        for q, numbers in self._sends.items():
            self.now.count_sent(q, numbers.size * x.itemsize)

    def exchange_by(self, exchange: Callable[[], None], item: int) -> None:
        """Let another function exchange what the halo would, values of this size [B]."""
        with self.timed("waiting"):
            exchange()
        for q, numbers in self._sends.items():
            self.now.count_sent(q, numbers.size * item)

    def reduce(self, x: npt.NDArray[Any], op: Op) -> None:
        """Combine the own values in x with those of their ghosts on other devices; see Halo."""
        with self._of_halo():
            self.halo.reduce(x, op)
        for q, (first, end) in self._receives.items():
            self.now.count_sent(q, (end - first) * x.itemsize)

    def to_owners(
        self, ghosts: npt.NDArray[Any], values: npt.NDArray[Any]
    ) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """Send values of ghosts to their owners; yield own vertices and values that came here."""
        with self._of_halo():
            found = self.halo.to_owners(ghosts, values)
        for q, count in self.halo.sparse_of(values.dtype).sent.items():
            self.now.count_sent(q, count * (ghosts.itemsize + values.itemsize))
        return found

    @contextmanager
    def _of_halo(self) -> Iterator[None]:
        """Add what the halo takes in the block to the superstep under way."""
        times, began = self.halo.times, self.seconds
        before = times.packing, times.waiting, times.unpacking
        yield
        after = times.packing, times.waiting, times.unpacking
        for name, then, now in zip(("packing", "waiting", "unpacking"), before, after, strict=True):
            self.now.add(name, began, now - then)
            began += now - then

    def gathered(self, value: T) -> list[T]:
        """Return the values of all devices, in their order."""
        with self.timed("waiting"):
            return self.comm.allgather(value)

    def summed(self, value: float) -> float:
        """Return the sum over all devices, added in their order."""
        return float(sum(self.gathered(value)))

    def end(self, received: int) -> None:
        """End the superstep under way, in which this number of messages was received."""
        self.now.received = received
        self.steps.append(self.now)
        self.now = Superstep()
        if self._tell is not None:
            self._tell(self.done)
