"""RunState of a run on edges: what the masters of a device have between two supersteps.

It is the same state as of blocks of vertices (`states`), so that a checkpoint continues on either.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.running.edge_shares import EdgeShare
from evener.running.engine import atomics_kernels as places
from evener.running.engine.engine import Engine
from evener.running.engine.gathering import GatherEngine
from evener.running.engine.mirror_updates import Read
from evener.running.engine.recording import StepRecorder
from evener.running.engine.states import RunState, restore

Numbers = npt.NDArray[Any]


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
    """Return the state of a device's masters in the other schedules; all devices call.

    read: what copies have when each device has told its own ones. A vertex is active if it is on
    any device.
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
    """Put an engine of the dense schedule that has computed nothing in a state."""
    engine.begin()
    engine.continue_after(start.step)
    m = share.n_masters
    engine.values[:m], engine.payloads[:m] = start.values, start.payloads


def restore_copies(engine: Engine, share: EdgeShare, steps: StepRecorder, start: RunState) -> None:
    """Put an engine of the other schedules in a state, mirrors as their masters; all call."""
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
