"""Where rounds of sizes begin: which devices, and loads that hold an estimated halo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evener.arrays import BoolArray, FloatArray
from evener.errors import InfeasibleError
from evener.models import Akima, Constant, Piecewise, SpeedModel
from evener.solving.halos import HaloLaw, Surface, surface_of, surface_power
from evener.solving.judging import Candidate, Task
from evener.solving.sizes import Even, even_sizes
from evener.solving.slabs import Slabs

SOLVES = 3  # times that loads and the halos they have are estimated from each other

Law = Callable[[FloatArray], HaloLaw]


@dataclass(frozen=True, eq=False)
class Start:
    """Sizes to begin with: loads (k,) [units], estimated seconds [s]."""

    loads: FloatArray
    seconds: float

    @property
    def count(self) -> int:
        """How many devices have anything."""
        return int((self.loads > 0).sum())

    @property
    def name(self) -> str:
        """What a step is called that begins here."""
        return "one device" if self.count == 1 else f"{self.count} devices"


def block_starts(task: Task, known: Candidate, sets: list[BoolArray], within: float) -> list[Start]:
    """Return where to begin with blocks like those `known`, the most hopeful first.

    sets: of devices, each (k,). within [s]: what is estimated to take longer is left out.
    """
    surface = surface_of(known.between, known.loads, known.sizes, surface_power(task.graph))
    return _ranked(task, lambda loads: _law_of(task, surface, loads), sets, within)


def slab_starts(
    task: Task, slabs: Slabs, known: Candidate, sets: list[BoolArray], within: float
) -> list[Start]:
    """Return where to begin with slabs like those `known`; as block_starts."""
    between = known.between
    values = float(np.median(between.sent + between.received)) if between.sent.size else 0.0
    each = known.loads.sum() / task.graph.n
    border = 0.5 * values * each
    return _ranked(task, lambda loads: slabs.law(values, border, loads), sets, within)


def _law_of(task: Task, surface: Surface, loads: FloatArray) -> HaloLaw:
    return surface.law(loads, task.costs.alpha, task.costs.beta, loads > 0)


def _ranked(task: Task, law: Law, sets: list[BoolArray], within: float) -> list[Start]:
    found: dict[bytes, Start] = {}
    fastest = np.array([_most_speed(model) for model in task.models])
    for used in sets:
        if task.load / fastest[used].sum() + task.costs.fixed[used].min() > within:
            continue
        even = estimated(task, law, used)
        if even is not None and even.seconds <= within:
            found.setdefault((even.loads > 0).tobytes(), Start(even.loads, even.seconds))
    return sorted(found.values(), key=lambda one: one.seconds)


def _most_speed(model: SpeedModel) -> float:
    """Speed that a device has at no load [units/s]; at most what cubic pieces overshoot."""
    if isinstance(model, Constant):
        return model.rate
    assert isinstance(model, Piecewise | Akima)
    return float(model.speeds.max())


def estimated(task: Task, law: Law, used: BoolArray) -> Even | None:
    """Return sizes for these devices (k,) and their halos; None where they have no room."""
    loads = np.where(used, task.platform.speeds, 0.0)
    loads *= task.load / loads.sum()
    best, halo = None, law(loads)
    room = np.where(used, task.room, 0.0)
    for _ in range(SOLVES):
        try:
            even = even_sizes(
                task.models, task.costs.fixed, halo, task.load, room, overlap=task.costs.overlap
            )
        except InfeasibleError:
            return None
        loads = task.whole(even.loads if best is None else 0.5 * (even.loads + loads))
        halo = law(loads)
        seconds = float(ends(task, halo, loads).max())
        if best is None or seconds < best.seconds:
            best = Even(loads, seconds)
    return best


def ends(task: Task, law: HaloLaw, loads: FloatArray) -> FloatArray:
    """(k,) seconds that devices take for loads [units] with the halos of a law [s]."""
    surface = np.where(loads > 0, loads, 1.0) ** law.power
    compute = task.costs.compute_seconds(loads)
    exchange = law.messages + law.per_surface * surface
    if task.costs.overlap:
        at_border = np.minimum(law.border * surface / np.maximum(loads, 1e-300), 1.0) * compute
        total = np.maximum(compute - at_border, exchange) + at_border
    else:
        total = compute + exchange
    return np.where(loads > 0, total + task.costs.fixed, 0.0)


def sets_of(task: Task) -> list[BoolArray]:
    """Return sets of devices: all, those near the fastest one, and ever more of the fastest."""
    k, alpha = task.platform.k, task.costs.alpha
    first = int(np.argmin(ends_alone(task)))
    order = np.lexsort((alpha[first], -task.platform.speeds))
    everyone = np.ones(k, np.bool_)
    sets = {everyone.tobytes(): everyone}
    for near in np.unique(alpha[first]):
        mask = alpha[first] <= near
        mask[first] = True
        sets[mask.tobytes()] = mask
    count = 1
    while count < k:
        for chosen in (order, order[::-1]):
            mask = np.zeros(k, np.bool_)
            mask[chosen[:count]] = True
            sets[mask.tobytes()] = mask
        count *= 2
    return list(sets.values())


def all_devices(task: Task) -> list[BoolArray]:
    """Return the set of all devices."""
    return [np.ones(task.platform.k, np.bool_)]


def ends_alone(task: Task) -> FloatArray:
    """(k,) seconds that each device would take alone, infinity without the room."""
    alone = np.full(task.platform.k, task.load)
    seconds = task.costs.compute_seconds(alone) + task.costs.fixed
    return np.where(task.room >= task.load * (1 - 1e-9), seconds, np.inf)
