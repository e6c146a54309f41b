"""One device's part of a run on many: supersteps of its engine, and exchanges between them.

All devices are in the same superstep (BSP, [Guo16]_ section II). How they exchange depends on the
schedule. Dense: owners send payloads to their ghosts before each superstep. Others: after a
superstep, values of ghosts that changed are sent to their owners, at most one message for a vertex
from each device; before a superstep that pulls, owners send values and frontier to their ghosts.
Devices that share memory do this inside kernels (near.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from evener.running.comm import Comm
from evener.running.engine import atomics_kernels as places
from evener.running.engine import fronts_kernels as frontier
from evener.running.engine.engine import MOST, Engine
from evener.running.engine.near import NearLinks
from evener.running.engine.program import VertexProgram
from evener.running.engine.recording import DeviceRun, StepRecorder
from evener.running.engine.states import RunState, restore, state_of
from evener.running.local_graphs import LocalGraph

Numbers = npt.NDArray[Any]
Totals = tuple[int, int, int]  # over all devices: active vertices, arcs leaving these, arcs left
# Called after each superstep with its number, how to get the state, and what was recorded; returns
# whether to stop there.
Keep = Callable[[int, Callable[[], RunState], StepRecorder], bool]


class Stretch(NamedTuple):
    """A part of a longer run.

    start: its initial state; None: the beginning of the run. keep: called after each superstep, may
    save the state and stop the run.
    """

    start: RunState | None = None
    keep: Keep | None = None


WHOLE = Stretch()


class DeviceEngine(Protocol):
    """Protocol of an engine, on threads of a CPU or on a CUDA device; see Engine."""

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
    def direct(self, comm: Comm, local: LocalGraph) -> Callable[[], None] | None: ...  # noqa: D102
    def compile(self) -> None: ...  # noqa: D102
    def advance(self, most: int) -> None: ...  # noqa: D102
    def take_marked(self) -> tuple[Numbers, Numbers]: ...  # noqa: D102
    def deliver(self, targets: Numbers, received: Numbers) -> None: ...  # noqa: D102
    def show(self, flags: Numbers) -> None: ...  # noqa: D102
    def see(self, flags: Numbers) -> None: ...  # noqa: D102


class SuperstepLoop:
    """Runs a device's engine in the same supersteps as all other devices; every rank creates one.

    comm: one rank per device. local: this device's part. tell: called with the number of supersteps
    done. start: the state of this device's vertices from which the run is continued. keep: called
    after each superstep except the one that ends the program.
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
        first = 0 if start is None else start.step
        self.steps = StepRecorder(comm, local, tell, first)
        shows = engine.program.schedule == "frontier" and comm.size > 1
        self._near: NearLinks | None = None
        self._flags = np.empty(local.n_local * shows, np.uint8)  # who is in the frontier

    def run(self, most: int = MOST) -> DeviceRun:
        """Run until the program ends on all devices, or for `most` supersteps. All ranks call."""
        exchanges = self._prepared()
        self.engine.compile()  # kernels that exchange themselves have other types
        with exchanges:
            if self._start is not None:
                restore(self._cpu_engine, self.steps.halo, self._start)
            self.steps.begin()
            schedule = self.engine.program.schedule
            runs = {"dense": self._run_dense, "frontier": self._run_frontier}
            runs.get(schedule, self._run_to_fixpoint)(most)
            values = self.engine.values[: self.local.n_owned]
            if schedule != "dense":
                self.engine.program.refuse_nan(values)
            return self.steps.result(values)

    def _prepared(self) -> AbstractContextManager[object]:
        """Create the objects that exchange, before the clock starts.

        Returns a context for the exchanges.
        """
        engine = self.engine
        if self._keep is None and self._start is None:
            self._near = NearLinks.of(self.comm, self.local, engine)
        if self._near is not None:
            return self._near
        if engine.program.schedule != "dense":
            if self._flags.size and isinstance(engine, Engine):
                # Of supersteps that pull: there may be none, but memory is to suffice for them.
                self.steps.halo.prepare(engine.shared_values)
                self.steps.halo.prepare(self._flags)
            self.steps.halo.sparse_of(engine.program.dtype)
            return nullcontext()
        self._direct = engine.direct(self.comm, self.local)
        return nullcontext()

    @property
    def _cpu_engine(self) -> Engine:
        assert isinstance(self.engine, Engine)  # of CUDA devices, run_program keeps nothing
        return self.engine

    @property
    def _first(self) -> int:
        """Number of supersteps done before this run."""
        return 0 if self._start is None else self._start.step

    # The dense schedule.

    def _run_dense(self, most: int) -> None:
        engine = self.engine
        if self._near is not None:
            while self._near.advance(most - self.steps.done, self.steps):
                pass
            return
        has_halt = engine.program.halt is not None
        if self._start is None:
            engine.advance(0)  # the first values
        for step in range(self._first, most):
            if self._direct is not None:
                item = np.dtype(engine.program.dtype).itemsize
                self.steps.exchange_by(self._direct, item)
            else:
                self.steps.exchange(engine.payloads)
            self._compute()
            change = sum(self.steps.gathered(engine.change)) if has_halt else 0.0
            self.steps.end(self.local.n_ghosts)
            given = change, step + 1, self.local.n_global, engine.parameters
            if has_halt and engine.program.halts(*given):
                return
            if self._stops_after(step + 1):
                return

    # Bucket and union: each device on its own until nothing changes there, in each superstep.

    def _run_to_fixpoint(self, most: int) -> None:
        if self._near is not None and most > 0:
            self._near.advance(1, self.steps)
            return
        for step in range(self._first, most):
            self._compute()
            received = self._deliver()
            ended = all(self.steps.gathered(self.engine.has_ended))
            self.steps.end(received)
            if ended:
                return
            if self._stops_after(step + 1):
                return

    # The frontier schedule.

    def _run_frontier(self, most: int) -> None:
        if self._near is not None:
            self.engine.control[places.DIRECTION] = frontier.PUSH
            while self._near.advance(most - self.steps.done, self.steps):
                pass
            return
        before, direction = 0, frontier.PUSH
        if self._start is None:
            self.engine.advance(0)  # the first values
        else:
            before, direction = (self._start.numbers[name] for name in ("before", "direction"))
        totals, has_settled = self._totals(), self.engine.program.settled is not None
        step = self._first
        while step < most and totals[0] > 0:
            last = direction if step else None
            direction = next_direction(last, totals, before, self.local.n_global, has_settled)
            self.engine.control[places.DIRECTION] = direction
            step += 1
            if direction == frontier.PULL and self.comm.size > 1:
                self._send_frontier()
            self._compute()
            received = self._deliver() if direction == frontier.PUSH else self.local.n_ghosts
            before, totals = totals[0], self._totals()
            self.steps.end(received)
            kept = {"left": totals[2], "before": before, "direction": direction}
            if self._stops_after(step, kept):
                return

    def _totals(self) -> Totals:
        own = self.engine.control[[places.LENGTH, places.SCOUTED, places.LEFT]].tolist()
        length, scouted, left = (
            sum(column) for column in zip(*self.steps.gathered(own), strict=True)
        )
        return length, scouted, left

    def _send_frontier(self) -> None:
        """Send values and frontier of owners to their ghosts, before a superstep that pulls."""
        engine = self.engine
        with self.steps.timed("packing"):
            values = engine.shared_values
            engine.show(self._flags)
        self.steps.exchange(values)
        self.steps.exchange(self._flags)
        with self.steps.timed("unpacking"):
            engine.see(self._flags)

    def _deliver(self) -> int:
        """Send values of ghosts that changed to their owners.

        Returns the number of values received.
        """
        engine, received = self.engine, 0
        with self.steps.timed("packing"):
            marked = engine.take_marked()
        found = self.steps.to_owners(*marked)
        with self.steps.timed("unpacking"):
            for targets, values in found:
                engine.deliver(targets, values)
                received += targets.size
        assert received <= (self.comm.size - 1) * self.local.n_owned
        return received

    def _stops_after(self, step: int, numbers: Mapping[str, int] | None = None) -> bool:
        if self._keep is None:
            return False
        return self._keep(step, lambda: state_of(self._cpu_engine, numbers), self.steps)

    def _compute(self) -> None:
        """Compute a superstep."""
        before = self.engine.edges
        with self.steps.timed("computing"):
            self.engine.advance(1)
        self.steps.now.edges += self.engine.edges - before


def next_direction(last: int | None, totals: Totals, before: int, n: int, has_settled: bool) -> int:
    """Return whether all devices push or pull next.

    last: direction of the last superstep, None before the first. before: number of active vertices
    in that superstep. n: number of vertices of the graph.
    """
    length, scouted, left = totals
    pulls = frontier.pulls_next(
        last == frontier.PULL, length < before, length, n, scouted, left, scouted + left,
        has_settled,
    )  # fmt: skip
    return frontier.PULL if pulls else frontier.PUSH
