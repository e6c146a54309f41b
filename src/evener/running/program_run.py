"""The result of a vertex program on all devices: values, supersteps, moves, reorderings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import Part
from evener.running.comm import Comm
from evener.running.engine.recording import DeviceRun, Reordering, Superstep, VertexMove
from evener.running.local_graphs import LocalGraph
from evener.wording import duration, number, plural, spread, two_lines


@dataclass(frozen=True, eq=False)
class ProgramRun:
    """The values of a program, and how long its supersteps took on each device.

    values (n,): by global vertex number. steps: of each device, its supersteps in order. seconds:
    wall time of all supersteps on the slowest device, without reading, distributing and compiling.
    first: number of supersteps before this run, if it was resumed. moves: of vertices between
    devices. part (n,): device of each vertex at the end; None if no vertex moved. asking [s]: time
    of asking whether to move vertices, without the questions that led to moves. is_emulated:
    whether the times are those of a virtual clock, see EmulatedMachineRun.recorded. reorderings: of
    each device's vertices, if requested.
    """

    values: npt.NDArray[Any]
    steps: tuple[tuple[Superstep, ...], ...]
    seconds: float
    first: int = 0
    moves: tuple[VertexMove, ...] = ()
    part: Part | None = None
    asking: float = 0.0
    is_emulated: bool = False
    reorderings: tuple[Reordering, ...] = ()

    def __repr__(self) -> str:
        values = f"values {spread(self.values)}"
        first = plural(self.values.size, "vertex", "vertices"), values
        second = plural(self.supersteps, "superstep"), duration(self.seconds)
        arcs = f"{number(self.edges)} arcs looked at"
        return two_lines("ProgramRun", [*first, plural(len(self.steps), "device")], [*second, arcs])

    @property
    def supersteps(self) -> int:
        """Number of supersteps, including those before this run."""
        return self.first + len(self.steps[0])

    @property
    def edges(self) -> int:
        """Number of arcs visited by all devices in all supersteps."""
        return sum(step.edges for device in self.steps for step in device)

    def since_last_move(self) -> ProgramRun:
        """Return the part of the run after the last move of vertices, or all of it."""
        if not self.moves:
            return self
        last = self.moves[-1]
        steps = tuple(device[last.step - self.first :] for device in self.steps)
        seconds = self.seconds - last.began - last.seconds
        return replace(self, steps=steps, seconds=seconds, first=last.step, moves=())

    def of_devices(self, name: str) -> npt.NDArray[np.float64]:
        """Return one field of Superstep for all supersteps and devices (supersteps, k)."""
        rows = [[getattr(step, name) for step in device] for device in self.steps]
        return np.array(rows, np.float64).reshape(len(self.steps), -1).T


def gathered(comm: Comm, local: LocalGraph, own: DeviceRun) -> ProgramRun:
    """Return the result of all devices, on every rank; all ranks call this."""
    told = own.reordering
    if comm.size == 1 and not own.moves and (told is None or told.step is None):
        return ProgramRun(  # the vertices are in order
            own.values, (tuple(own.steps),), own.seconds, own.first, asking=own.asking,
            reorderings=() if told is None else (told,),
        )  # fmt: skip
    owned = local.owned if own.owned is None else own.owned
    found = comm.allgather(replace(own, values=own.values.copy(), owned=owned))
    values, part = np.empty(local.n_global, own.values.dtype), np.empty(local.n_global, np.int32)
    for rank, one in enumerate(found):
        values[one.owned], part[one.owned] = one.values, rank
    steps, seconds = tuple(tuple(one.steps) for one in found), max(one.seconds for one in found)
    moves, asking = found[0].moves, found[0].asking
    orders = tuple(one.reordering for one in found if one.reordering is not None)
    part_now = part if moves else None
    return ProgramRun(
        values, steps, seconds, own.first, moves, part_now, asking, reorderings=orders
    )
