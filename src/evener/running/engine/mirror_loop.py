"""One device's part of a run on divided edges: supersteps, and exchanges of masters and mirrors.

All devices are in the same superstep. Dense schedule: masters send payloads to their mirrors, every
device gathers along its own arcs, mirrors send their sums to their masters, which apply
([Gonzalez12]_, section 4). Sums of floating-point numbers are added in a fixed order, the device's
own first, then those of others by ascending number, so that each run gives the same result. Other
schedules: every copy of a vertex sends along its device's arcs; after a superstep, values of
mirrors that changed are sent to their masters, and from there to the other copies. So all copies
are equal when a superstep begins, and either all or none are in the frontier.

MirrorUpdates exchanges values that changed. Both ends of a copy know which value the other has last
seen, so a message contains only values that differ, and no value is sent back to its source
([Dathathri18]_, section 3.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from evener.running.comm import Comm
from evener.running.edge_shares import EdgeShare
from evener.running.engine import atomics_kernels as places
from evener.running.engine import fronts_kernels as frontier
from evener.running.engine.engine import Engine
from evener.running.engine.gathering import GatherEngine
from evener.running.engine.pool import ThreadPool
from evener.running.engine.program import VertexProgram
from evener.running.engine.recording import DeviceRun, StepRecorder
from evener.running.engine.states import RunState, restore
from evener.running.engine.supersteps import WHOLE, Stretch, Totals, next_direction
from evener.running.halos import Op
from evener.running.sparse import SparseReduce

Numbers = npt.NDArray[Any]
Tell = Callable[[int], None]


def run_share(
    program: VertexProgram,
    share: EdgeShare,
    on: tuple[Comm, ThreadPool, Tell | None],
    most: int,
    parameters: dict[str, float],
    stretch: Stretch = WHOLE,
) -> DeviceRun:
    """Run a program on one device's share, for up to `most` supersteps. Collective.

    on: the ranks, one for each device; the device's threads; a function called with the number of
    supersteps done. stretch: initial state of the masters, and the function called after each
    superstep except the one that ends the program. Raises InputError as Engine does.
    """
    comm, pool, tell = on
    first = 0 if stretch.start is None else stretch.start.step
    steps = StepRecorder(comm, share.exchanged, tell, first)
    if program.schedule == "dense":
        gathering = GatherEngine(program, share, pool, parameters)
        gathering.compile()
        return _run_dense(gathering, share, steps, most, stretch)
    engine = Engine(program, share.computed, pool, parameters)
    engine.compile()
    loop = {"frontier": FrontierLoop, "bucket": CopiesLoop, "union": UnionLoop}[program.schedule]
    return loop(share, engine, steps, stretch).run(most)


def _run_dense(
    engine: GatherEngine, share: EdgeShare, steps: StepRecorder, most: int, stretch: Stretch
) -> DeviceRun:
    """Run the dense schedule: each mirror receives and sends one message per superstep."""
    program = engine.program
    if stretch.start is not None:
        restore_gathering(engine, share, stretch.start)
    steps.begin()
    if stretch.start is None:
        engine.begin()
    for step in range(steps.done, most):
        if step:
            steps.exchange(engine.payloads)
        before = engine.edges
        with steps.timed("computing"):
            engine.gather()
        steps.reduce(engine.sums, cast(Op, program.combine))
        with steps.timed("computing"):
            engine.apply()
        steps.now.edges += engine.edges - before
        ended = False
        if program.halt is not None:
            change = steps.summed(engine.change)
            n, parameters = share.exchanged.n_global, engine.parameters
            ended = program.halts(change, step + 1, n, parameters)
        steps.end(share.n_mirrored + (share.n_mirrors if step else 0))
        if ended:
            break
        if stretch.keep is not None:
            stretch.keep(step + 1, lambda: state_of_gathering(engine, share, steps.done), steps)
    return steps.result(engine.values[: share.n_masters])


class CopiesLoop:
    """Supersteps of a schedule that may deliver messages twice, combined by min, max or or.

    In itself the bucket schedule: each device computes until nothing changes on it.
    """

    def __init__(
        self, share: EdgeShare, engine: Engine, steps: StepRecorder, stretch: Stretch
    ) -> None:
        self.share, self.engine, self.steps = share, engine, steps
        self.start, self._keep = stretch
        identity = engine.kernels.IDENTITY
        self.updates = MirrorUpdates(share, engine.program.dtype, identity, steps)

    def run(self, most: int) -> DeviceRun:
        """Run until nothing changes on any device, or for `most` supersteps. All ranks call."""
        self.restore()
        self.steps.begin()
        for _ in range(self.steps.done, most):
            self.compute()
            received = self.update()
            ended = all(self.steps.gathered(self.engine.has_ended))
            self.steps.end(received)
            if ended:
                break
            self.kept()
        return self.result()

    def restore(self) -> None:
        """Restore the state from which the run is continued, if there is one."""
        if self.start is not None:
            restore_copies(self.engine, self.share, self.steps, self.start)

    def kept(self, **numbers: int) -> None:
        """Save the state after a superstep; numbers: totals of the whole run."""
        if self._keep is not None:
            given = self.engine, self.share, self.steps, self.read, numbers
            self._keep(self.steps.done, lambda: state_of_copies(*given), self.steps)

    def compute(self) -> None:
        """Compute a superstep with the device's own arcs."""
        before = self.engine.edges
        with self.steps.timed("computing"):
            self.engine.advance(1)
        self.steps.now.edges += self.engine.edges - before

    def update(self) -> int:
        """Make all copies equal; return the number of values received."""
        received = self.updates.up(self.read, self.deliver)
        return received + self.updates.down(self.read, self.deliver)

    def read(self, numbers: Numbers) -> Numbers:
        """Return the values of these local vertices."""
        found: Numbers = self.engine.values[numbers]
        return found

    def deliver(self, targets: Numbers, values: Numbers) -> None:
        """Apply values of other copies to these local vertices."""
        self.engine.deliver(targets, values)

    def result(self) -> DeviceRun:
        """Return the run, with the values of the masters."""
        values = self.engine.values[: self.share.n_masters]
        self.engine.program.refuse_nan(values)
        return self.steps.result(values)


class UnionLoop(CopiesLoop):
    """The union schedule: a vertex has the value of its tree's root, once this is known."""

    def read(self, numbers: Numbers) -> Numbers:
        """Return the values of these vertices once those of their roots are known."""
        found: Numbers = self.engine.values[self.engine.work.parents[numbers]]
        return found


class FrontierLoop(CopiesLoop):
    """The frontier schedule: all devices push or all pull."""

    def __init__(
        self, share: EdgeShare, engine: Engine, steps: StepRecorder, stretch: Stretch
    ) -> None:
        super().__init__(share, engine, steps, stretch)
        self._flags = np.zeros(share.computed.n_local, np.uint8)  # who is in the frontier
        self._degrees = share.computed.degrees[: share.n_masters]

    def run(self, most: int) -> DeviceRun:
        """Run until no vertex changes on any device, or for `most` supersteps. All ranks call."""
        engine, steps = self.engine, self.steps
        own_arcs = int(self._degrees.sum())
        before, direction = 0, None
        self.restore()
        steps.begin()
        if self.start is None:
            left = sum(steps.gathered(own_arcs))
            engine.advance(0)  # the first values
        else:
            left, before, direction = (
                self.start.numbers[name] for name in ("left", "before", "direction")
            )
        self.updates.know(self.read)
        totals = self._totals(left)
        for _ in range(steps.done, most):
            if totals[0] == 0:
                break
            has_settled = engine.program.settled is not None
            n = self.share.computed.n_global
            direction = next_direction(direction, totals, before, n, has_settled)
            engine.control[places.DIRECTION] = direction
            self.compute()
            received = self._update()
            if direction == frontier.PUSH:
                left -= totals[1]
            before, totals = totals[0], self._totals(left)
            steps.end(received)
            self.kept(left=left, before=before, direction=direction)
        return self.result()

    def _update(self) -> int:
        """Make all copies equal, including their membership in the frontier."""
        engine = self.engine
        if engine.control[places.FORM] == frontier.QUEUE:
            return self.update()
        engine.show(self._flags)
        engine.control[places.LENGTH] = 0  # of a queue that is not in use
        received = self.update()
        engine.control[places.LENGTH] = np.count_nonzero(self._flags)
        every = engine.sizes._replace(n_owned=0)  # bits of all are taken from the flags
        engine.kernels.see(every, engine.work, engine.control, self._flags)
        return received

    def deliver(self, targets: Numbers, values: Numbers) -> None:
        """Apply values of other copies; vertices that change join the frontier."""
        if self.engine.control[places.FORM] == frontier.QUEUE:
            self.engine.deliver(targets, values)
            return
        before = self.read(targets)
        self.engine.deliver(targets, values)
        is_new = (before != self.read(targets)) & ~np.isnan(before)  # which stays
        self._flags[targets[is_new]] = 1

    def _totals(self, left: int) -> Totals:
        """Return totals over all devices: active vertices, their arcs, arcs not yet pushed."""
        engine, m = self.engine, self.share.n_masters
        control = engine.control
        if control[places.FORM] == frontier.QUEUE:
            work = engine.work
            queue = work.other_queue if control[places.FLIPPED] else work.queue
            own = queue[: control[places.LENGTH]]
            own = own[own < m]
        else:
            engine.show(self._flags)
            own = np.flatnonzero(self._flags[:m])
        counts = own.size, int(self._degrees[own].sum())
        length, scouted = (sum(c) for c in zip(*self.steps.gathered(counts), strict=True))
        return length, scouted, left


def state_of_gathering(engine: GatherEngine, share: EdgeShare, step: int) -> RunState:
    """Return the state of a device's masters in the dense schedule."""
    m = share.n_masters
    return RunState(step, engine.values[:m], engine.payloads[:m])


def state_of_copies(
    engine: Engine,
    share: EdgeShare,
    steps: StepRecorder,
    read: Read,
    numbers: Mapping[str, int],
) -> RunState:
    """Return the state of a device's masters in the other schedules. Collective.

    read: returns the values of copies after each device has sent its own. A vertex is active if it
    is active on any device.
    """
    m, active = share.n_masters, None
    if engine.program.schedule != "union":
        active = np.zeros(share.computed.n_local, np.uint8)
        if engine.program.schedule == "frontier":
            engine.show(active)
        else:
            bits = np.unpackbits(engine.work.bits.view(np.uint8), bitorder="little")
            active[:] = bits[: active.size]
            steps.halo.reduce(active, "max")
        active = active[:m]
    return RunState(steps.done, read(np.arange(m)), None, active, numbers)


def restore_gathering(engine: GatherEngine, share: EdgeShare, start: RunState) -> None:
    """Restore a state in an engine of the dense schedule that has computed nothing yet."""
    engine.begin()
    engine.continue_after(start.step)
    m = share.n_masters
    engine.values[:m], engine.payloads[:m] = start.values, start.payloads


def restore_copies(engine: Engine, share: EdgeShare, steps: StepRecorder, start: RunState) -> None:
    """Restore a state in an engine of another schedule; mirrors get their masters' state.

    Collective.
    """
    m, n = share.n_masters, share.computed.n_local
    whole: dict[str, Numbers] = {}
    for name in ("values", "active"):
        given = getattr(start, name)
        if given is not None:
            whole[name] = np.empty(n, given.dtype)
            whole[name][:m] = given
            steps.halo.exchange(whole[name])
    restore(engine, steps.halo, RunState(start.step, numbers=start.numbers, **whole))
    engine.control[places.LEFT] = 0  # which the loop counts


NUMBER = 4  # bytes of a vertex's number in a message
# Given local numbers, rising or not: what a device's engine has for them now.
Read = Callable[[Numbers], Numbers]
# Given local numbers and values that another device has for them: applies these.
Deliver = Callable[[Numbers, Numbers], None]


class MirrorUpdates:
    """The exchanges of changed values on one device.

    All devices create one and make the same calls. unknown: a value that need not be sent, because
    combining with it changes nothing; each copy is first assumed to have it.
    """

    def __init__(
        self, share: EdgeShare, dtype: npt.DTypeLike, unknown: Any, steps: StepRecorder
    ) -> None:
        exchanged, kind = share.exchanged, np.dtype(dtype)
        self._steps, self._first = steps, exchanged.n_owned
        mirrors = {q: slice(*both) for q, both in exchanged.receives.items()}
        # Masters that have a mirror, once for each: those of neighbour q are a range.
        lists = [exchanged.sends[q] for q in sorted(exchanged.sends)]
        ends = np.cumsum([0, *(own.size for own in lists)]).tolist()
        places = {q: slice(ends[i], ends[i + 1]) for i, q in enumerate(sorted(exchanged.sends))}
        self._mirrored = np.concatenate([np.empty(0, np.uint32), *lists])
        self._mirrors = np.arange(exchanged.n_owned, exchanged.n_local, dtype=np.uint32)
        self._up = SparseReduce(steps.comm, places, mirrors, kind)
        self._down = SparseReduce(steps.comm, mirrors, places, kind)
        self._known = np.full(self._mirrors.size, unknown, kind)  # by the masters, of mirrors here
        self._told = np.full(self._mirrored.size, unknown, kind)  # to mirrors, of masters here

    def know(self, read: Read) -> None:
        """Assume that all other copies have the engine's present values."""
        self._known[:] = read(self._mirrors)
        self._told[:] = read(self._mirrored)

    def up(self, read: Read, deliver: Deliver) -> int:
        """Send values of mirrors that changed to their masters.

        Returns the number of values received.
        """
        changed = self._changed(self._known, read(self._mirrors))
        found = self._swapped(self._up, changed, self._first, self._known)
        return self._delivered(found, self._told, 0, lambda at: self._mirrored[at], deliver)

    def down(self, read: Read, deliver: Deliver) -> int:
        """Send values of masters that changed to their mirrors.

        Returns the number of values received.
        """
        changed = self._changed(self._told, read(self._mirrored))
        found = self._swapped(self._down, changed, 0, self._told)
        return self._delivered(found, self._known, self._first, lambda at: at, deliver)

    def _changed(self, seen: Numbers, now: Numbers) -> Numbers:
        """Store the new values; return where they differ from those seen before."""
        with self._steps.timed("packing"):
            changed = np.flatnonzero((seen != now) & ~np.isnan(seen))  # which stays
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
                steps.now.count_sent(q, count * (NUMBER + seen.itemsize))
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
