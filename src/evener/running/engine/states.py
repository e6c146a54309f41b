"""RunState: the data between two supersteps from which a run is continued.

It identifies vertices by global numbers and contains no ghosts, queues or buckets, so that any
number of other devices can continue the run. The resulting values are the same. The number of
supersteps is the same, too, except for the union schedule, in which each device first joins its
vertices again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.running.engine import atomics_kernels as places
from evener.running.engine import fronts_kernels as frontier
from evener.running.engine.buckets_kernels import BACK
from evener.running.engine.engine import Engine
from evener.running.halos import Halo

Numbers = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class RunState:
    """A run after `step` supersteps: all vertices by number, or a device's vertices in their order.

    values: of vertices; (n, c) for a solver. payloads: what vertices send in the next superstep;
    None except for programs with the dense schedule. active: 1 for vertices that are processed in
    the next superstep, uint8; None for schedules dense and union. numbers: totals of the run, from
    which the frontier schedule chooses its direction; solvers store their sums here.
    """

    step: int
    values: Numbers
    payloads: Numbers | None = None
    active: Numbers | None = None
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def of(self, owned: Numbers) -> RunState:
        """Return the state of these vertices, in this order."""
        payloads = None if self.payloads is None else self.payloads[owned]
        active = None if self.active is None else self.active[owned]
        return RunState(self.step, self.values[owned], payloads, active, self.numbers)


def state_of(engine: Engine, numbers: Mapping[str, int] | None = None) -> RunState:
    """Return the state of a device's own vertices, after a superstep and its exchanges."""
    own, schedule = engine.sizes.n_owned, engine.program.schedule
    payloads = engine.payloads[:own] if schedule == "dense" else None
    active = active_of(engine)[:own] if schedule in ("frontier", "bucket") else None
    return RunState(engine.supersteps, engine.values[:own], payloads, active, numbers or {})


def active_of(engine: Engine) -> Numbers:
    """Return 1 for own vertices that are processed in the next superstep, (n_local,) uint8.

    Only for the schedules frontier and bucket.
    """
    n_local = engine.sizes.n_local
    if engine.program.schedule == "bucket":
        return np.unpackbits(engine.work.bits.view(np.uint8), bitorder="little")[:n_local]
    active = np.empty(n_local, np.uint8)
    engine.show(active)
    return active


def restore(engine: Engine, halo: Halo, state: RunState) -> None:
    """Restore a state in an engine that has computed nothing yet. Collective.

    Each device passes its part of the state.
    """
    {
        "dense": _restore_dense,
        "frontier": _restore_frontier,
        "bucket": _restore_bucket,
        "union": _restore_union,
    }[engine.program.schedule](engine, halo, state)
    engine.control[places.STEP] = state.step


def _restore_dense(engine: Engine, _: Halo, state: RunState) -> None:
    engine.advance(0)
    engine.control[places.STEP] = state.step  # which of two arrays holds the payloads
    own = len(state.values)  # fewer than engine.sizes.n_owned if edges are divided
    engine.values[:own], engine.payloads[:own] = state.values, state.payloads


def _restore_frontier(engine: Engine, halo: Halo, state: RunState) -> None:
    engine.advance(0)  # clears the bitmaps
    _fill(engine, halo, state)
    assert state.active is not None
    found = np.flatnonzero(state.active)
    engine.work.queue[: found.size] = found
    pulled = state.numbers["direction"] == frontier.PULL
    leaving = np.diff(engine.out.offsets)[found]
    scouted = 1 if pulled else int(leaving.sum())  # as the kernel counts
    control = engine.control
    control[[places.FORM, places.SHRANK, places.FLIPPED]] = frontier.QUEUE, 0, 0
    control[[places.LENGTH, places.SCOUTED]] = found.size, scouted
    control[places.LEFT] = state.numbers["left"] if halo.comm.rank == 0 else 0  # they are summed


def _restore_bucket(engine: Engine, halo: Halo, state: RunState) -> None:
    _fill(engine, halo, state)
    assert state.active is not None
    work = engine.work
    work.bins[:] = 0
    work.bins[:, int(BACK)] = -1
    flags = np.zeros(64 * work.bits.size, np.uint8)
    flags[: state.active.size] = state.active
    work.bits[:] = np.packbits(flags, bitorder="little").view(np.uint64)
    engine.control[places.MISSED] = np.count_nonzero(state.active)


def _restore_union(engine: Engine, halo: Halo, state: RunState) -> None:
    engine.advance(1)  # joins the device's vertices: of one device alone, all that there is to do
    if not engine.control[places.SHARED]:
        return
    _fill(engine, halo, state)
    np.minimum.at(engine.values, engine.work.parents, engine.values.copy())  # roots, as `deliver`
    engine.work.sent[:] = engine.values[engine.sizes.n_owned :]  # what owners know
    engine.control[[places.MARKED, places.ENDED]] = 0


def _fill(engine: Engine, halo: Halo, state: RunState) -> None:
    """Set the values of own vertices and of ghosts."""
    engine.values[: engine.sizes.n_owned] = state.values
    halo.exchange(engine.values)
