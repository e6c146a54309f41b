"""MirrorExchange: what a device exchanges between supersteps if edges are divided.

Dense schedule: masters send payloads to their mirrors, every device gathers along its own arcs,
mirrors send their sums to their masters, which apply ([Gonzalez12]_, section 4). Sums of
floating-point numbers are added in a fixed order, the device's own first, then those of others by
ascending number, so that each run gives the same result. Other schedules: every copy of a vertex
sends along its device's arcs; after a superstep, values of mirrors that changed are sent to their
masters, and from there to the other copies. So all copies are equal when a superstep begins, and
either all or none are in the frontier.

ChangedValues exchanges values that changed. Both ends of a copy know which value the other has last
seen, so a message contains only values that differ, and no value is sent back to its source
([Dathathri18]_, section 3.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from evener.running.distributing import INDEX
from evener.running.engine import atomics_kernels as places
from evener.running.engine import fronts_kernels as frontier
from evener.running.engine.engine import Engine
from evener.running.engine.gathering import GatherEngine
from evener.running.engine.recording import StepRecorder
from evener.running.engine.states import RunState, active_of, restore
from evener.running.engine.step_counts import DeviceEngine
from evener.running.halos import Op
from evener.running.local_graphs import LocalGraph
from evener.running.sparse import SparseReduce

Numbers = npt.NDArray[Any]


class MirrorExchange:
    """The exchanges of one device; all devices create one and make the same calls.

    engine: an Engine; of the dense schedule, a GatherEngine.
    """

    def __init__(self, steps: StepRecorder, local: LocalGraph, engine: DeviceEngine) -> None:
        self.steps, self.local, self.engine = steps, local, cast(Engine, engine)
        self._schedule = engine.program.schedule

    def prepare(self) -> None:
        """Allocate buffers before the clock starts."""
        if self._schedule == "dense":
            return
        program, identity = self.engine.program, self.engine.kernels.IDENTITY
        self._updates = ChangedValues(self.local, program.dtype, identity, self.steps)
        if self._schedule == "frontier":
            self._flags = np.zeros(self.local.n_local, np.uint8)  # who is in the frontier
            self._own_degrees: Numbers = self.local.degrees[: self.local.n_owned]
            self._left = int(self._own_degrees.sum())  # arcs of masters that were not yet pushed
            self._scouted = 0  # arcs that leave this device's active masters

    def restore(self, start: RunState) -> None:
        """Restore a state in an engine that has computed nothing yet. Collective.

        start: of the masters, whose mirrors get it, too, except in the dense schedule.
        """
        engine, m = self.engine, self.local.n_owned
        if self._schedule == "dense":
            restore(engine, self.steps.halo, start)
            return
        whole: dict[str, Numbers] = {}
        for name in ("values", "active"):
            given = getattr(start, name)
            if given is not None:
                whole[name] = np.empty(self.local.n_local, given.dtype)
                whole[name][:m] = given
                self.steps.halo.exchange(whole[name])
        restore(engine, self.steps.halo, RunState(start.step, numbers=start.numbers, **whole))
        self._left = start.numbers.get("left", 0) if self.steps.comm.rank == 0 else 0

    def state(self, numbers: Mapping[str, int]) -> RunState:
        """Return the state of the masters. numbers: totals of the whole run. Collective.

        A vertex is active if it is active on any device.
        """
        engine, m, active = self.engine, self.local.n_owned, None
        if self._schedule == "dense":
            return RunState(self.steps.done, engine.values[:m], engine.payloads[:m])
        if self._schedule != "union":
            active = active_of(engine)
            if self._schedule == "bucket":
                self.steps.halo.reduce(active, "max")
            active = active[:m]
        return RunState(self.steps.done, self._read(np.arange(m)), None, active, numbers)

    def begin(self) -> None:
        """Assume that all copies have the present values, which they do at first."""
        self._updates.know(self._read)

    def dense_superstep(self, step: int) -> int:
        """Compute a superstep of the dense schedule; return the number of values received."""
        steps, engine = self.steps, cast(GatherEngine, self.engine)
        if step:  # mirrors know the first payloads
            steps.exchange(engine.payloads)
        steps.compute(engine, engine.gather)
        steps.reduce(engine.sums, cast(Op, engine.program.combine))
        steps.compute(engine, engine.apply)
        n_mirrored = sum(numbers.size for numbers in self.local.sends.values())
        return n_mirrored + (self.local.n_ghosts if step else 0)

    def counts(self) -> list[int]:
        """Return the number of active masters, of the arcs that leave them, and of arcs left."""
        control, m = self.engine.control, self.local.n_owned
        if control[places.DIRECTION] == frontier.PUSH:
            self._left -= self._scouted
        if control[places.FORM] == frontier.QUEUE:
            work = self.engine.work
            queue = work.other_queue if control[places.FLIPPED] else work.queue
            own = queue[: control[places.LENGTH]]
            own = own[own < m]
        else:
            self.engine.show(self._flags)
            own = np.flatnonzero(self._flags[:m])
        self._scouted = int(self._own_degrees[own].sum())
        return [own.size, self._scouted, self._left]

    def send_frontier(self) -> None:
        """Do nothing: all copies know whether they are in the frontier."""

    def deliver(self) -> int:
        """Make all copies equal, including their membership in the frontier.

        Returns the number of values received.
        """
        engine = self.engine
        if self._schedule != "frontier" or self._is_queued():
            return self._updated()
        engine.show(self._flags)
        engine.control[places.LENGTH] = 0  # of a queue that is not in use
        received = self._updated()
        engine.control[places.LENGTH] = np.count_nonzero(self._flags)
        every = engine.sizes._replace(n_owned=0)  # bits of all are taken from the flags
        engine.kernels.see(every, engine.work, engine.control, self._flags)
        return received

    def _updated(self) -> int:
        """Send changed values to masters, then to mirrors; return the number received."""
        received = self._updates.up(self._read, self._deliver)
        return received + self._updates.down(self._read, self._deliver)

    def _is_queued(self) -> bool:
        return bool(self.engine.control[places.FORM] == frontier.QUEUE)

    def _read(self, numbers: Numbers) -> Numbers:
        """Return the values of these local vertices; schedule union: those of their trees' roots.

        These are valid for all copies once the values of roots are.
        """
        if self._schedule == "union":
            numbers = self.engine.work.parents[numbers]
        found: Numbers = self.engine.values[numbers]
        return found

    def _deliver(self, targets: Numbers, values: Numbers) -> None:
        """Apply values of other copies; vertices that change join the frontier."""
        if self._schedule != "frontier" or self._is_queued():
            self.engine.deliver(targets, values)
            return
        before = self._read(targets)
        self.engine.deliver(targets, values)
        is_new = (before != self._read(targets)) & ~np.isnan(before)  # NaN stays NaN
        self._flags[targets[is_new]] = 1


# Given local numbers, rising or not: what a device's engine has for them now.
Read = Callable[[Numbers], Numbers]
# Given local numbers and values that another device has for them: applies these.
Deliver = Callable[[Numbers, Numbers], None]


class ChangedValues:
    """The exchanges of changed values on one device.

    All devices create one and make the same calls. unknown: a value that need not be sent, because
    combining with it changes nothing; each copy is first assumed to have it.
    """

    def __init__(
        self, local: LocalGraph, dtype: npt.DTypeLike, unknown: Any, steps: StepRecorder
    ) -> None:
        kind = np.dtype(dtype)
        self._steps, self._first = steps, local.n_owned
        mirrors = {q: slice(*both) for q, both in local.receives.items()}
        # Masters that have a mirror, once for each: those of neighbour q are a range.
        lists = [local.sends[q] for q in sorted(local.sends)]
        ends = np.cumsum([0, *(own.size for own in lists)]).tolist()
        places = {q: slice(ends[i], ends[i + 1]) for i, q in enumerate(sorted(local.sends))}
        self._mirrored = np.concatenate([np.empty(0, np.uint32), *lists])
        self._mirrors = np.arange(local.n_owned, local.n_local, dtype=np.uint32)
        self._up = SparseReduce(steps.comm, places, mirrors, kind)
        self._down = SparseReduce(steps.comm, mirrors, places, kind)
        self._known = np.full(self._mirrors.size, unknown, kind)  # by the masters, of mirrors here
        self._sent = np.full(self._mirrored.size, unknown, kind)  # to mirrors, of masters here

    def know(self, read: Read) -> None:
        """Assume that all other copies have the engine's present values."""
        self._known[:] = read(self._mirrors)
        self._sent[:] = read(self._mirrored)

    def up(self, read: Read, deliver: Deliver) -> int:
        """Send values of mirrors that changed to their masters.

        Returns the number of values received.
        """
        changed = self._changed(self._known, read(self._mirrors))
        found = self._swapped(self._up, changed, self._first, self._known)
        return self._delivered(found, self._sent, 0, lambda at: self._mirrored[at], deliver)

    def down(self, read: Read, deliver: Deliver) -> int:
        """Send values of masters that changed to their mirrors.

        Returns the number of values received.
        """
        changed = self._changed(self._sent, read(self._mirrored))
        found = self._swapped(self._down, changed, 0, self._sent)
        return self._delivered(found, self._known, self._first, lambda at: at, deliver)

    def _changed(self, seen: Numbers, now: Numbers) -> Numbers:
        """Store the new values; return where they differ from those seen before."""
        with self._steps.timed("packing"):
            changed = np.flatnonzero((seen != now) & ~np.isnan(seen))  # NaN stays NaN
            seen[changed] = now[changed]
        return changed

    def _swapped(self, way: SparseReduce, changed: Numbers, first: int, seen: Numbers) -> Any:
        """Send the changed values; return the values received."""
        steps = self._steps
        with steps.timed("waiting"):
            way.settle()  # others may still copy the messages of the superstep before
        with steps.timed("packing"):
            way.pack((changed + first).astype(np.uint32), seen[changed])
        with steps.timed("waiting"):
            way.start()
            way.finish()
        for q, count in way.sent.items():
            if count:
                steps.now.count_sent(q, count * (INDEX + seen.itemsize))
        return way.taken()

    def _delivered(
        self, found: Any, seen: Numbers, first: int, numbers: Read, deliver: Deliver
    ) -> int:
        """Store and apply the values received; return their number."""
        received = 0
        with self._steps.timed("unpacking"):
            for at, values in found:
                seen[at - np.uint32(first)] = values
                deliver(numbers(at), values)
                received += at.size
        return received
