"""The sets of devices that were looked at, and the best of each size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntVector
from evener.planning.device_sets.estimate import Estimator

# How a machine's devices fall into kinds and groups, and orders in which to take them.


MOST_KINDS = 4  # that come first in an order of their own
MOST_GROUPS = 24  # left out whole, of a level
ALL_SIZES = 128  # devices up to which every number of them is tried
THINNED = 48  # of more, how many numbers are tried beside the first 16


@dataclass(frozen=True, eq=False)
class Machine:
    """speeds (k,) at an equal share [units/s]; kinds (k,): equal for devices alike.

    groups (levels, k): equal for devices joined by links up to a cost, the cheapest level first.
    """

    speeds: FloatArray
    kinds: IntVector
    groups: IntVector

    def sets(self) -> list[BoolArray]:
        """Masks (k,) of whole kinds and whole groups; of groups alike only the first ones."""
        found = [self.kinds == kind for kind in range(min(int(self.kinds.max()) + 1, MOST_GROUPS))]
        for row in self.groups:
            found += [row == group for group in range(min(int(row.max()) + 1, MOST_GROUPS))]
        return found


def machine_of(estimator: Estimator) -> Machine:
    """Return kinds and groups of the devices."""
    return Machine(estimator.speeds, estimator.kinds, estimator.groups)


def orders_of(machine: Machine) -> list[IntVector]:
    """Orders (k,) of devices, the first of which are likely to be worth more together."""
    k, speed = machine.speeds.size, machine.speeds
    index = np.arange(k)
    orders = [np.lexsort((index, -speed))]
    ranks = [np.zeros(k)]
    for row in machine.groups:
        strength = np.bincount(row, speed)[row]
        rank = np.lexsort((index, row, -strength)).argsort().astype(np.float64)
        ranks.append(rank)
        orders.append(np.lexsort((index, -speed, row, -strength)))
        orders.append(np.lexsort((rank, -speed)))
    kinds, count = np.unique(machine.kinds, return_counts=True)
    common = kinds[np.argsort(-count, kind="stable")][:MOST_KINDS]
    for kind in common.tolist() if kinds.size > 1 else []:
        other = machine.kinds != kind
        orders += [np.lexsort((index, rank, -speed, other)) for rank in ranks]
    return orders


def sizes_to_try(k: int) -> list[int]:
    """Numbers of devices, all of them up to 128, else thinned out."""
    if k <= ALL_SIZES:
        return list(range(1, k + 1))
    rest = np.rint(np.geomspace(17, k, THINNED)).astype(int).tolist()
    return sorted({*range(1, 17), *rest})


ALL_SETS = 10  # devices up to which every set is looked at
SURELY = 1 - 1e-4  # times another's seconds: less is lost in the precision of estimates


@dataclass(frozen=True, eq=False)
class Candidate:
    """A set of devices, ascending, the loads (k,) [units] it would have, and estimated seconds."""

    devices: IntVector
    loads: FloatArray
    seconds: float


class Found:
    """The sets looked at so far, and the best of each size."""

    def __init__(self, estimator: Estimator, machine: Machine) -> None:
        self.machine, self.k = machine, estimator.k
        self._estimator = estimator
        self._known: dict[bytes, Candidate] = {}
        self._best: dict[int, Candidate] = {}

    @property
    def exhaustive(self) -> bool:
        """Whether every set was looked at."""
        return self.k <= ALL_SETS

    def offer(self, masks: BoolArray) -> list[Candidate]:
        """Estimate the sets that masks (s, k) mark; return them."""
        keys = [mask.tobytes() for mask in masks]
        new = list({key: i for i, key in enumerate(keys) if key not in self._known}.values())
        estimates = self._estimator.of(masks[new])
        for i, seconds, loads in zip(new, estimates.seconds, estimates.loads, strict=True):
            devices = np.flatnonzero(masks[i])
            one = Candidate(devices, loads, float(seconds))
            self._known[keys[i]] = one
            best = self._best.get(devices.size)
            if best is None or one.seconds < best.seconds * SURELY:
                self._best[devices.size] = one
        return [self._known[key] for key in keys]

    @property
    def least(self) -> float:
        """The least estimate found [s]."""
        return min(one.seconds for one in self._best.values())

    def of_each_size(self) -> list[Candidate]:
        """The best set of each size that all orders were tried for and has room, smallest first."""
        best = (self._best[size] for size in sizes_to_try(self.k) if size in self._best)
        return [one for one in best if np.isfinite(one.seconds)]

    def all_unlike(self) -> list[Candidate]:
        """All sets with room that were looked at, the best estimate first; of twins one."""
        ranked = sorted(
            (one for one in self._known.values() if np.isfinite(one.seconds)),
            key=lambda one: (one.seconds, one.devices.size, one.devices.tolist()),
        )
        kinds = self.machine.kinds
        unlike = {signature(one.devices, one.loads, kinds): one for one in reversed(ranked)}
        return list(unlike.values())[::-1]

    def unlike(self, one: Candidate) -> list[int]:
        """Devices of a set of which none is like another, those of the least load first."""
        load, kind = one.loads[one.devices], self.machine.kinds[one.devices]
        rounded = _rounded(load)
        order = np.lexsort((-one.devices, rounded))
        seen: dict[tuple[int, float], int] = {}
        for i in order.tolist():
            seen.setdefault((int(kind[i]), float(rounded[i])), int(one.devices[i]))
        return list(seen.values())

    def unlike_others(self, one: Candidate) -> list[int]:
        """Devices outside a set of which none is like another, the fastest first."""
        mask = np.zeros(self.k, np.bool_)
        mask[one.devices] = True
        shared = [np.bincount(row, mask, row.max() + 1)[row] for row in self.machine.groups]
        outside = np.flatnonzero(~mask)
        order = outside[np.argsort(-self.machine.speeds[outside], kind="stable")]
        seen: dict[tuple[float, ...], int] = {}
        for i in order.tolist():
            seen.setdefault((self.machine.kinds[i], *(row[i] for row in shared)), i)
        return list(seen.values())


def signature(devices: IntVector, loads: FloatArray, kinds: IntVector) -> tuple[object, ...]:
    """The same for sets of devices alike that have the same loads (k,); kinds (k,)."""
    load, kind = _rounded(loads[devices]), kinds[devices]
    order = np.lexsort((load, kind))
    return devices.size, kind[order].tobytes(), load[order].tobytes()


def _rounded(loads: FloatArray) -> FloatArray:
    """Loads to six digits: what differs by less comes from the order of sums."""
    with np.errstate(divide="ignore"):
        scale = 10.0 ** (5 - np.floor(np.log10(np.maximum(loads, 1e-300))))
    return np.asarray(np.rint(loads * scale) / scale)
