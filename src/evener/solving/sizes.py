"""Sizes that hold a halo: loads at which computing and exchanging together end at one time.

A device's time is tabulated at many loads: its speed there, what it starts with, the halo that the
law says. Where all times rise with load, the moment is found by regula falsi; else the tables are
handed to the exact solver for models of any shape. A device whose messages alone would last too
long gets nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.models import SpeedModel
from evener.models_akima import Akima
from evener.models_piecewise import Piecewise
from evener.sizing.solving import solve_sizes
from evener.solving.halos import HaloLaw

STEPS = 28  # loads, geometrically, at which a device's time is looked at, beside its own knots
SMALLEST = 1e-6  # of the whole load: the least of them
MOST_PARTS = 1 << 22  # that the whole load is divided into, where times do not rise
PRECISION = 1e-10  # of the load, or of the time: near enough
MOST_TURNS = 200


@dataclass(frozen=True, eq=False)
class Even:
    """Loads (k,) [units] that sum to the whole, and the time by which all are done [s]."""

    loads: FloatArray
    seconds: float


@dataclass(frozen=True, eq=False)
class Table:
    """Times of g devices of one speed model: devices (g,); loads (j,) [units] rise.

    seconds, speeds (g, j): at each of them, halo included, but for what is spent at any load.
    """

    devices: npt.NDArray[np.int64]
    model: SpeedModel
    loads: FloatArray
    seconds: FloatArray
    speeds: FloatArray

    @property
    def rises(self) -> bool:
        """Whether more load always takes longer."""
        return bool((self.seconds[:, 1:] > self.seconds[:, :-1]).all())

    def done_by(self, seconds: FloatArray) -> FloatArray:
        """(g,) the load done by these times (g,), speed being linear between loads."""
        count = (self.seconds <= seconds[:, None]).sum(axis=1)
        rows, top = np.arange(count.size), self.loads.size - 1
        here, after = np.maximum(count - 1, 0), np.minimum(count, top)
        flat = seconds * self.speeds[rows, here]
        room = flat - self.loads[here]
        lack = self.loads[after] - seconds * self.speeds[rows, after]
        inside = (count > 0) & (count <= top)
        share = room / np.where(inside, room + lack, 1.0)
        between = self.loads[here] + (self.loads[after] - self.loads[here]) * share
        return np.asarray(np.where(inside, between, flat))


def even_sizes(
    models: Sequence[SpeedModel],
    fixed: FloatArray,
    law: HaloLaw,
    load: float,
    high: FloatArray,
    *,
    overlap: bool = False,
) -> Even:
    """Divide `load` [units] so that the last device is done as early as possible, halo included.

    models: k, any shape; fixed (k,) [s]: of every device that gets anything; high (k,) [units]:
    limits. overlap: halos are exchanged while the interior is computed. Raises InfeasibleError
    where the limits leave no room.
    """
    tables = _tables(models, law, load, overlap)
    start = fixed + (0.0 if overlap else law.messages)
    room = np.minimum(high, [model.capacity for model in models])
    if all(table.rises for table in tables) and room.sum() >= load * (1 + PRECISION):
        return _even(tables, start, load, room)
    parts = int(min(MOST_PARTS, max(load, 1024 * len(models))))
    unit = load / parts
    slow: list[SpeedModel] = list(models)
    for table in tables:
        capacity = table.model.capacity / unit
        for b, speeds in zip(table.devices.tolist(), table.speeds, strict=True):
            slow[b] = Piecewise(table.loads / unit, speeds / unit, capacity)
    most = np.floor(np.minimum(high / unit * (1 + 1e-12), 2.0**53))
    found = solve_sizes(slow, parts, "exact", high=most, fixed_seconds=start)
    return Even(np.asarray(found.sizes * unit, np.float64), found.makespan)


def _even(tables: list[Table], start: FloatArray, load: float, room: FloatArray) -> Even:
    """Find the time by which devices whose times rise have done it all, between two others."""

    def done_by(seconds: float) -> FloatArray:
        loads, left = np.zeros(room.size), np.maximum(seconds - start, 0.0)
        for table in tables:
            loads[table.devices] = table.done_by(left[table.devices])
        return np.minimum(loads, room)

    early, before = 0.0, 0.0
    late = load / sum(float(table.speeds[:, -1].sum()) for table in tables)
    while float((most := done_by(late)).sum()) < load:
        early, before, late = late, float(most.sum()), 2 * late
    for turn in range(MOST_TURNS):
        surplus = float(most.sum()) - load
        if surplus <= PRECISION * load or late - early <= PRECISION * late:
            break
        share = (load - before) / (surplus + load - before)
        share = min(max(share, 0.02), 0.98) if turn % 3 < 2 else 0.5
        middle = early + (late - early) * share
        found = done_by(middle)
        if float(found.sum()) >= load:
            late, most = middle, found
        else:
            early, before = middle, float(found.sum())
    return Even(most * (load / most.sum()), late)


def _tables(models: Sequence[SpeedModel], law: HaloLaw, load: float, overlap: bool) -> list[Table]:
    """Tabulate the times of all devices, those of one model together."""
    members: dict[int, list[int]] = {}
    for b, model in enumerate(models):
        members.setdefault(id(model), []).append(b)
    found = []
    for own in members.values():
        model, devices = models[own[0]], np.array(own, np.int64)
        loads = np.geomspace(SMALLEST * load, load, STEPS)
        if isinstance(model, Piecewise | Akima):
            knots = model.loads if isinstance(model, Piecewise) else model.points.loads
            loads = np.union1d(loads, knots[(knots > loads[0]) & (knots < load)])
        surface = loads**law.power
        compute = loads / np.asarray(model.speed(loads))
        seconds = compute + law.per_surface[devices, None] * surface
        if overlap:
            outer = np.minimum(law.border[devices, None] * surface / loads, 1.0) * compute
            exchange = law.per_surface[devices, None] * surface + law.messages[devices, None]
            seconds = np.maximum(compute - outer, exchange) + outer
        found.append(Table(devices, model, loads, seconds, loads / seconds))
    return found
