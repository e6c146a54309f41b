"""StepRecorder: records what each superstep costs on one device, and makes the exchanges."""

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

    computing, packing, waiting, unpacking [s]: packing and unpacking of messages, waiting for
    messages and for other devices. sent [B]; sent_to: device -> bytes sent to it. received: number
    of messages, each for one vertex. edges: number of arcs read. spans: the sequence of these
    activities: which one, its start [s, since the beginning of the first superstep] and its
    duration [s].
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
        """Add to the bytes sent to a device."""
        self.sent += n_bytes
        self.sent_to[device] = self.sent_to.get(device, 0) + n_bytes

    def add(self, name: str, began: float, seconds: float) -> None:
        """Add seconds of computing, packing, waiting or unpacking."""
        setattr(self, name, getattr(self, name) + seconds)
        if seconds > 0:
            self.spans.append((name, began, seconds))


@dataclass(frozen=True)
class VertexMove:
    """Vertices that changed device in a run, after `step` supersteps.

    kind: how their new devices were found, as in evener.rebalancing.Move. vertices: their number.
    began [s]: since the beginning of the first superstep; seconds: from the request until
    supersteps continued. saving [s per superstep], cost [s]: predictions.
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
    """The result of the search for a better order of a device's vertices; see running.locality.

    seconds: CPU time of the search. step: superstep after which the order was changed; None: it was
    not changed. before, after [s]: median computing time of a superstep, NaN if not measured.
    is_kept: whether the new order was kept.
    """

    seconds: float
    step: int | None = None
    before: float = math.nan
    after: float = math.nan
    is_kept: bool = True

    @property
    def break_even(self) -> float:
        """Number of supersteps after which the search has paid for itself.

        Infinite if it never does.
        """
        saved = self.before - self.after
        return self.seconds / saved if saved > 0 else math.inf


@dataclass(frozen=True, eq=False)
class DeviceRun:
    """One device's run: the values (m,) of its vertices, its supersteps, and their total seconds.

    first: number of supersteps done before, if the run was continued. began [s]: on the clock of
    time.perf_counter. owned (m,): global numbers of its vertices at the end; None: the initial
    ones. moves: moves of vertices between devices. asking [s]: time for deciding whether vertices
    move. reordering: of its vertices, None if not requested.
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
    """Return two parts of a device's run as one, including the seconds between them."""
    later = rest.began - first.began
    for step in rest.steps:
        step.spans = [(name, began + later, seconds) for name, began, seconds in step.spans]
    steps = first.steps + rest.steps
    return replace(first, values=rest.values, steps=steps, seconds=later + rest.seconds)


class Timed:
    """Adds the seconds of a `with` block to a field of a recorder's superstep."""

    def __init__(self, steps: StepRecorder, name: str) -> None:
        self._steps, self._name = steps, name

    def __enter__(self) -> None:
        self._began = self._steps.seconds

    def __exit__(self, *_: object) -> None:
        seconds = self._steps.seconds - self._began
        self._steps.now.add(self._name, self._began, seconds)


class StepRecorder:
    """Records the supersteps of one device while it computes, and exchanges by its halo.

    comm: one rank per device; all create a recorder. local: this device's part. steps: the
    supersteps that have ended. now: the current superstep; `begin` starts the clock. began [s]:
    start on the clock of time.perf_counter. tell: called with the number of supersteps done,
    including `first` earlier ones.
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
        """Start the clock, once all devices have called this."""
        self.comm.barrier()
        self.began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since `begin`."""
        return time.perf_counter() - self.began

    def stop(self) -> None:
        """Stop the clock; supersteps that have already ended may still be recorded."""
        self._ended = self.seconds

    @property
    def done(self) -> int:
        """Number of supersteps that have ended, including earlier ones."""
        return self._first + len(self.steps)

    def result(self, values: npt.NDArray[Any]) -> DeviceRun:
        """Return the run so far, with the values (m,) of the device's own vertices."""
        seconds = self.seconds if self._ended is None else self._ended
        return DeviceRun(values, self.steps, seconds, self._first, self.began)

    def timed(self, name: str) -> Timed:
        """Add the seconds of the block to a field of the current superstep."""
        return Timed(self, name)

    def compute(self, engine: Any, work: Callable[[], None]) -> None:
        """Call `work`, and record its seconds and the arcs that the engine reads in it."""
        before = engine.edges
        with self.timed("computing"):
            work()
        self.now.edges += engine.edges - before

    def exchange(self, x: npt.NDArray[Any]) -> None:
        """Set the values of the ghosts in x to those of their owners."""
        with self._of_halo():
            self.halo.exchange(x)
        for q, numbers in self._sends.items():
            self.now.count_sent(q, numbers.size * x.itemsize)

    def exchange_by(self, exchange: Callable[[], None], item: int) -> None:
        """Exchange by another function instead of the halo; item [B]: size of a value."""
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
        """Send values of ghosts to their owners; yield own vertices and the values received."""
        with self._of_halo():
            found = self.halo.to_owners(ghosts, values)
        for q, count in self.halo.sparse_of(values.dtype).sent.items():
            self.now.count_sent(q, count * (ghosts.itemsize + values.itemsize))
        return found

    @contextmanager
    def _of_halo(self) -> Iterator[None]:
        """Add the times that the halo takes in the `with` block to the current superstep."""
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
        """End the current superstep, in which this number of messages was received."""
        self.now.received = received
        self.steps.append(self.now)
        self.now = Superstep()
        if self._tell is not None:
            self._tell(self.done)
