"""Sizes that hold a halo: loads at which computing and exchanging together end at one time.

A device's time is tabulated at many loads (its speed there, what it starts with, the halo that the
law says) and handed to the exact solver for models of any shape. A device whose messages alone
would last too long gets nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray
from evener.models import SpeedModel
from evener.models_akima import Akima
from evener.models_piecewise import Piecewise
from evener.sizing.solving import solve_sizes
from evener.solving.halos import HaloLaw

STEPS = 28  # loads, geometrically, at which a device's time is looked at, beside its own knots
SMALLEST = 1e-6  # of the whole load: the least of them
MOST_PARTS = 1 << 22  # that the whole load is divided into


@dataclass(frozen=True, eq=False)
class Even:
    """Loads (k,) [units] that sum to the whole, and the time by which all are done [s]."""

    loads: FloatArray
    seconds: float


def even_sizes(
    models: Sequence[SpeedModel],
    fixed: FloatArray,
    law: HaloLaw,
    load: float,
    high: FloatArray,
    *,
    low: FloatArray | None = None,
    overlap: bool = False,
) -> Even:
    """Divide `load` [units] so that the last device is done as early as possible, halo included.

    models: k, any shape; fixed (k,) [s]: of every device that gets anything; low, high (k,)
    [units]: limits. overlap: halos are exchanged while the interior is computed. Raises
    InfeasibleError where the limits leave no room.
    """
    parts = int(min(MOST_PARTS, max(load, 1024 * len(models))))
    unit = load / parts
    at_least = np.zeros(law.k) if low is None else low
    found = solve_sizes(
        _models_with_halo(models, law, load, unit, overlap),
        parts,
        "exact",
        low=np.ceil(at_least / unit - 1e-9).astype(np.int64),
        high=np.floor(np.minimum(high / unit * (1 + 1e-12), 2.0**53)),
        fixed_seconds=fixed + (0.0 if overlap else law.messages),
    )
    return Even(np.asarray(found.sizes * unit, np.float64), found.makespan)


def _models_with_halo(
    models: Sequence[SpeedModel], law: HaloLaw, load: float, unit: float, overlap: bool
) -> list[SpeedModel]:
    """Return the (k,) times with halos; those of devices that have the same are one object."""
    made: dict[tuple[object, ...], Piecewise] = {}
    halos = np.stack([law.per_surface, law.border, law.messages if overlap else 0 * law.messages])
    result: list[SpeedModel] = []
    for b, (model, own) in enumerate(zip(models, halos.T.tolist(), strict=True)):
        key = (id(model), *(f"{value:.9e}" for value in own))
        if key not in made:
            made[key] = _with_halo(model, law, b, load, unit, overlap)
        result.append(made[key])
    return result


def _with_halo(
    model: SpeedModel, law: HaloLaw, b: int, load: float, unit: float, overlap: bool
) -> Piecewise:
    """Return device b's time with its halo, but for what it spends at any load, in parts."""
    loads = np.geomspace(SMALLEST * load, load, STEPS)
    if isinstance(model, Piecewise | Akima):
        knots = model.loads if isinstance(model, Piecewise) else model.points.loads
        loads = np.union1d(loads, knots[(knots > loads[0]) & (knots < load)])
    surface = loads**law.power
    compute = loads / np.asarray(model.speed(loads))
    exchange = law.per_surface[b] * surface
    if overlap:
        at_border = np.minimum(law.border[b] * surface / loads, 1.0) * compute
        seconds = np.maximum(compute - at_border, exchange + law.messages[b]) + at_border
    else:
        seconds = compute + exchange
    capacity = model.capacity / unit
    return Piecewise(loads / unit, loads / unit / seconds, capacity)
