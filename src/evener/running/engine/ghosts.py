"""GhostExchange: what a device exchanges between supersteps if vertices are divided.

Dense schedule: owners send payloads to their ghosts before each superstep. Others: after a
superstep, values of ghosts that changed are sent to their owners, at most one message for a vertex
from each device, and joined there: `apply` made them; before a superstep that pulls, owners send
values and frontier to their ghosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np

from evener.running.engine import atomics_kernels as places
from evener.running.engine import fronts_kernels as frontier
from evener.running.engine.engine import Engine
from evener.running.engine.recording import StepRecorder
from evener.running.engine.states import RunState, restore, state_of
from evener.running.engine.step_counts import DeviceEngine
from evener.running.local_graphs import LocalGraph


class GhostExchange:
    """The exchanges of one device; all devices create one and make the same calls."""

    def __init__(self, steps: StepRecorder, local: LocalGraph, engine: DeviceEngine) -> None:
        self.steps, self.local, self.engine = steps, local, engine
        shows = engine.program.schedule == "frontier" and steps.comm.size > 1
        self._flags = np.empty(local.n_local * shows, np.uint8)  # who is in the frontier

    def prepare(self) -> None:
        """Allocate buffers before the clock starts."""
        engine, halo = self.engine, self.steps.halo
        if engine.program.schedule == "dense":
            self._direct = engine.direct(self.steps.comm, self.local)
            return
        if self._flags.size and isinstance(engine, Engine):
            # Of supersteps that pull: there may be none, but memory is to suffice for them.
            halo.prepare(engine.shared_values)
            halo.prepare(self._flags)
        halo.sparse_of(engine.program.dtype)

    def restore(self, start: RunState) -> None:
        """Restore own vertices' state in an engine that has computed nothing yet. Collective."""
        restore(cast(Engine, self.engine), self.steps.halo, start)  # CUDA devices do not resume

    def state(self, numbers: Mapping[str, int]) -> RunState:
        """Return the state of the device's vertices. numbers: totals of the whole run."""
        return state_of(cast(Engine, self.engine), numbers)

    def begin(self) -> None:
        """Do nothing: each device computes the first values of its ghosts."""

    def dense_superstep(self, _: int) -> int:
        """Compute a superstep of the dense schedule; return the number of values received."""
        steps, engine = self.steps, self.engine
        if self._direct is not None:
            steps.exchange_by(self._direct, np.dtype(engine.program.dtype).itemsize)
        else:
            steps.exchange(engine.payloads)
        steps.compute(engine, lambda: engine.advance(1))
        return self.local.n_ghosts

    def counts(self) -> list[int]:
        """Return the number of active vertices, of the arcs that leave them, and of arcs left."""
        found: list[int] = self.engine.control[
            [places.LENGTH, places.SCOUTED, places.LEFT]
        ].tolist()
        return found

    def send_frontier(self) -> None:
        """Send values and frontier of owners to their ghosts, before a superstep that pulls."""
        if self.steps.comm.size == 1:
            return
        engine, steps = self.engine, self.steps
        with steps.timed("packing"):
            values = engine.shared_values
            engine.show(self._flags)
        steps.exchange(values)
        steps.exchange(self._flags)
        with steps.timed("unpacking"):
            engine.see(self._flags)

    def deliver(self) -> int:
        """Send values of ghosts that changed to their owners, unless the superstep pulled.

        Returns the number of values received; after a pull, those that `send_frontier` received.
        """
        engine, steps, received = self.engine, self.steps, 0
        has_pulled = engine.control[places.DIRECTION] == frontier.PULL
        if engine.program.schedule == "frontier" and has_pulled:
            return self.local.n_ghosts
        with steps.timed("packing"):
            marked = engine.take_marked()
        found = steps.to_owners(*marked)
        with steps.timed("unpacking"):
            for targets, values in found:
                engine.deliver(targets, values)
                received += targets.size
        assert received <= (steps.comm.size - 1) * self.local.n_owned
        return received
