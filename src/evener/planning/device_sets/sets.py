"""Choose which sets of devices are estimated: a few for a plan, many more for advice.

A plan's search only begins with the sets of `few_sets`; evener.planning.makespan lists the rules by
which devices are left out. For advice, `search_sets` looks for the best set of every size. Up to 10
devices, every set is estimated. With more devices, these sets are: the first devices of several
orders (fastest first, node by node, kind by kind); sets from which devices or whole groups were
removed one after another, each time the one whose removal gives the lowest estimate; and the best
of these sets with single devices exchanged. The same input gives the same sets.

evener.sizing.subsets also searches sets, if there are speed models but no graph: there the cost of
a set is given in seconds, so exact sizes rank sets. Here what a device exchanges depends on the
whole set, and estimates of many sets at once rank them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntVector
from evener.planning.device_sets.estimate import Estimator

# MAX_KINDS and MAX_GROUPS count for plans and for advice, as does MAX_LEVELS in estimate.py; the
# others for advice only. How many of these sets a plan tries: SearchEffort in makespan/problem.py.
MAX_EVERY_SET = 10  # devices: up to here all 2^k - 1 sets are estimated, some milliseconds
MAX_KINDS = 4  # kinds of devices, the most frequent, that come first in an order of their own
MAX_GROUPS = 24  # kinds, or groups of a level, that are a set of their own
MAX_EVERY_SIZE = 128  # devices: up to here every number of them is tried
DENSE_SIZES, SPREAD_SIZES = 16, 48  # set sizes: all up to 16, and 48 larger ones


def whole_sets(estimator: Estimator) -> BoolArray:
    """Return masks (s, k) of all devices of a kind, and of whole groups, up to 24 of each level."""
    masks = [
        row == number
        for row in (estimator.kinds, *estimator.groups)
        for number in range(min(int(row.max()) + 1, MAX_GROUPS))
    ]
    return np.array(masks, np.bool_).reshape(-1, estimator.k)


def orders_of(estimator: Estimator) -> list[IntVector]:
    """Return orders (k,) of devices whose first devices are likely to be a good set.

    They are: the fastest first; for each level of groups, the strongest group first, and the
    fastest device of each group first; and all of these with the devices of one kind moved to the
    front.
    """
    k, speed = estimator.k, estimator.speeds
    index = np.arange(k)
    orders = [np.lexsort((index, -speed))]
    ranks = [np.zeros(k)]
    for row in estimator.groups:
        strength = np.bincount(row, speed)[row]
        rank = np.lexsort((index, row, -strength)).argsort().astype(np.float64)
        ranks.append(rank)
        orders.append(np.lexsort((index, -speed, row, -strength)))
        orders.append(np.lexsort((rank, -speed)))
    kinds, count = np.unique(estimator.kinds, return_counts=True)
    common = kinds[np.argsort(-count, kind="stable")][:MAX_KINDS]
    for kind in common.tolist() if kinds.size > 1 else []:
        other = estimator.kinds != kind
        orders += [np.lexsort((index, rank, -speed, other)) for rank in ranks]
    return orders


def sizes_to_try(k: int) -> list[int]:
    """Return set sizes to try: all up to 128, then only some."""
    if k <= MAX_EVERY_SIZE:
        return list(range(1, k + 1))
    rest = np.rint(np.geomspace(DENSE_SIZES + 1, k, SPREAD_SIZES)).astype(int).tolist()
    return sorted({*range(1, DENSE_SIZES + 1), *rest})


def every_set(k: int) -> BoolArray:
    """Return masks (2^k - 1, k) of all sets; the set of all devices is last."""
    return np.asarray(np.arange(1, 1 << k)[:, None] >> np.arange(k) & 1 == 1)


def first_of(order: IntVector, sizes: list[int]) -> BoolArray:
    """Return masks (sizes, k) of the first devices of an order (k,), one for each size."""
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    return np.asarray(rank[None, :] < np.array(sizes)[:, None])


def few_sets(estimator: Estimator) -> BoolArray:
    """Return masks (s, k) of a few sets.

    All devices first; then the first 1, 2, 4, ... devices of every order, whole kinds and whole
    groups.
    """
    k = estimator.k
    sizes = sorted({*(1 << np.arange(k.bit_length())).tolist(), k})
    sizes = [size for size in reversed(sizes) if size <= k]
    masks = [first_of(order, sizes) for order in orders_of(estimator)]
    found = np.concatenate([np.ones((1, k), np.bool_), *masks, whole_sets(estimator)])
    return found[np.sort(np.unique(found, axis=0, return_index=True)[1])]


def signature(devices: IntVector, loads: FloatArray, kinds: IntVector) -> tuple[object, ...]:
    """Return a key, equal for sets with equally many devices of each kind (k,) and load (k,)."""
    load, kind = rounded(loads[devices]), kinds[devices]
    order = np.lexsort((load, kind))
    return devices.size, kind[order].tobytes(), load[order].tobytes()


def rounded(loads: FloatArray) -> FloatArray:
    """Round loads to six digits: smaller differences come from the order of sums."""
    with np.errstate(divide="ignore"):
        scale = 10.0 ** (5 - np.floor(np.log10(np.maximum(loads, 1e-300))))
    return np.asarray(np.rint(loads * scale) / scale)


# How much is tried; bounds on time, set by hand; benchmarks/advise.py has the results.
MANY_DEVICES = 128  # devices: with more, fewer choices are tried in a step
CHOICES, FEW_CHOICES = 24, 6  # devices that may be left out in one step; of many devices
MAX_SINGLE, STEP_PARTS = 64, 12  # up to 64 devices are left out one by one; else a 12th at a time
HOPELESS = 4.0  # times the least estimate: leaving out ends with a set that takes longer
SWAPPED_SIZES, SWAP_ROUNDS, SWAP_CHOICES = 8, 6, 8  # sizes, rounds and devices for exchanges
SURELY = 1 - 1e-4  # of another's seconds: a smaller gain is lost in the precision of estimates


@dataclass(frozen=True, eq=False)
class DeviceSet:
    """A set of devices, ascending, with loads (k,) [units] for it, and estimated seconds."""

    devices: IntVector
    loads: FloatArray
    seconds: float


class EstimatedSets:
    """The sets estimated so far, and the best of each size."""

    def __init__(self, estimator: Estimator) -> None:
        self.estimator, self.k = estimator, estimator.k
        self._known: dict[bytes, DeviceSet] = {}
        self._best: dict[int, DeviceSet] = {}

    @property
    def exhaustive(self) -> bool:
        """Whether every set is estimated."""
        return self.k <= MAX_EVERY_SET

    def estimate(self, masks: BoolArray) -> list[DeviceSet]:
        """Estimate the sets that masks (s, k) mark, and return them."""
        keys = [mask.tobytes() for mask in masks]
        new = list({key: i for i, key in enumerate(keys) if key not in self._known}.values())
        estimates = self.estimator.of(masks[new])
        for i, seconds, loads in zip(new, estimates.seconds, estimates.loads, strict=True):
            devices = np.flatnonzero(masks[i])
            one = DeviceSet(devices, loads, float(seconds))
            self._known[keys[i]] = one
            best = self._best.get(devices.size)
            if best is None or one.seconds < best.seconds * SURELY:
                self._best[devices.size] = one
        return [self._known[key] for key in keys]

    @property
    def least(self) -> float:
        """The lowest estimate found [s]."""
        return min(one.seconds for one in self._best.values())

    def of_each_size(self) -> list[DeviceSet]:
        """The best set with enough memory for each size in `sizes_to_try`, by ascending size."""
        best = (self._best[size] for size in sizes_to_try(self.k) if size in self._best)
        return [one for one in best if np.isfinite(one.seconds)]

    def distinct_sets(self) -> list[DeviceSet]:
        """All estimated sets with enough memory, the best first; only one of equivalent sets."""
        ranked = sorted(
            (one for one in self._known.values() if np.isfinite(one.seconds)),
            key=lambda one: (one.seconds, one.devices.size, one.devices.tolist()),
        )
        kinds = self.estimator.kinds
        distinct = {signature(one.devices, one.loads, kinds): one for one in reversed(ranked)}
        return list(distinct.values())[::-1]

    def distinct_devices(self, one: DeviceSet) -> list[int]:
        """Return one device of each kind and load in a set, the lowest load first."""
        load, kind = one.loads[one.devices], self.estimator.kinds[one.devices]
        own = rounded(load)
        order = np.lexsort((-one.devices, own))
        seen: dict[tuple[int, float], int] = {}
        for i in order.tolist():
            seen.setdefault((int(kind[i]), float(own[i])), int(one.devices[i]))
        return list(seen.values())

    def distinct_others(self, one: DeviceSet) -> list[int]:
        """Return devices outside a set, one of each kind and position in groups, fastest first."""
        mask = np.zeros(self.k, np.bool_)
        mask[one.devices] = True
        shared = [np.bincount(row, mask, row.max() + 1)[row] for row in self.estimator.groups]
        outside = np.flatnonzero(~mask)
        order = outside[np.argsort(-self.estimator.speeds[outside], kind="stable")]
        seen: dict[tuple[float, ...], int] = {}
        for i in order.tolist():
            seen.setdefault((self.estimator.kinds[i], *(row[i] for row in shared)), i)
        return list(seen.values())


def search_sets(estimator: Estimator) -> EstimatedSets:
    """Estimate many sets (see the module's docstring).

    Returns the estimates, with the best of each size.
    """
    found = EstimatedSets(estimator)
    if found.exhaustive:
        found.estimate(every_set(estimator.k))
        return found
    for order in orders_of(estimator):
        found.estimate(first_of(order, sizes_to_try(estimator.k)))
    _leave_out(found)
    _exchange_single(found)
    return found


def search_groups(found: EstimatedSets, groups: IntVector) -> list[DeviceSet]:
    """Return the best set for each number of whole groups; all sets of groups are tried if few.

    groups (k,): the group of each device.
    """
    count = int(groups.max()) + 1
    if count <= MAX_EVERY_SET:
        masks = every_set(count)
    else:
        speed = np.bincount(groups, found.estimator.speeds)
        masks = first_of(np.lexsort((np.arange(count), -speed)), list(range(1, count + 1)))
    best: dict[int, DeviceSet] = {}
    for mask, one in zip(masks, found.estimate(masks[:, groups]), strict=True):
        size = int(mask.sum())
        if np.isfinite(one.seconds) and (
            size not in best or one.seconds < best[size].seconds * SURELY
        ):
            best[size] = one
    return [best[size] for size in sorted(best)]


def _leave_out(found: EstimatedSets) -> None:
    """Estimate ever smaller sets: begin with all devices, remove those whose loss costs least."""
    mask = np.ones(found.k, np.bool_)
    (now,) = found.estimate(mask[None])
    while now.devices.size > 1:
        size = now.devices.size
        step = 1 if size <= MAX_SINGLE else size // STEP_PARTS
        choices = found.distinct_devices(now)[: CHOICES if found.k <= MANY_DEVICES else FEW_CHOICES]
        if not choices:
            return
        mask = np.zeros(found.k, np.bool_)
        mask[now.devices] = True
        tried = [mask & ~one for one in _left_out(found, now, choices, step)]
        if found.k <= MANY_DEVICES or size == found.k:
            rest = [mask & ~one for one in whole_sets(found.estimator)]
            some = [one for one in rest if one.any()]
            found.estimate(np.array(some, np.bool_).reshape(-1, found.k))
        nexts = [one for one in found.estimate(np.array(tried)) if one.devices.size < size]
        if not nexts:
            return
        before, now = now, min(nexts, key=lambda one: one.seconds)
        if now.seconds > max(before.seconds, HOPELESS * found.least):
            return


def _left_out(
    found: EstimatedSets, now: DeviceSet, choices: list[int], step: int
) -> list[BoolArray]:
    """Return masks (k,) of `step` devices: a choice and those most similar in kind and load."""
    masks = []
    load, kind = now.loads[now.devices], found.estimator.kinds[now.devices]
    for i in choices:
        mask = np.zeros(found.k, np.bool_)
        mask[i] = True
        if step > 1:
            other = kind != found.estimator.kinds[i]
            near = np.lexsort((-now.devices, np.abs(load - now.loads[i]), other))
            mask[now.devices[near[:step]]] = True
        masks.append(mask)
    return masks


def _exchange_single(found: EstimatedSets) -> None:
    """In the best sets, exchange single devices for others, as long as the estimate falls."""
    sizes = sorted(found.of_each_size(), key=lambda one: one.seconds)[:SWAPPED_SIZES]
    for start in sizes:
        now = start
        for _ in range(SWAP_ROUNDS):
            masks = []
            for i in found.distinct_devices(now)[:SWAP_CHOICES]:
                for j in found.distinct_others(now)[:SWAP_CHOICES]:
                    mask = np.zeros(found.k, np.bool_)
                    mask[now.devices], mask[i], mask[j] = True, False, True
                    masks.append(mask)
            if not masks:
                break
            better = min(found.estimate(np.array(masks)), key=lambda one: one.seconds)
            if better.seconds >= now.seconds * SURELY:
                break
            now = better
