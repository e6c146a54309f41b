"""How a machine's devices fall into kinds and groups, and orders in which to take them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray
from evener.solving.estimates import Estimator

IntVector = npt.NDArray[np.int64]

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
