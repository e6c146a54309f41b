"""Which devices are worth using: the sets of devices of least estimated seconds, size by size.

Up to 10 devices every set is looked at. Beyond: the first devices of several orders (fastest
first, node by node, kind by kind), devices and whole groups left out one after another, the one
that is missed least first, and single devices exchanged in the best of these. Deterministic.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray
from evener.costs import Costs
from evener.graphs import Graph
from evener.partitions import Partition
from evener.solving.estimates import Estimator
from evener.solving.orders import Machine, machine_of, orders_of, sizes_to_try
from evener.solving.surfaces import fit_surface

IntVector = npt.NDArray[np.int64]

ALL_SETS = 10  # devices up to which every set is looked at
WORTH_A_PLAN = 1.3  # times the least estimate: beyond, a set is not promising
OF_A_SIZE = 2  # promising sets of one size
CHOICES, FEW_CHOICES = 24, 6  # unlike devices that are tried in one step, of few and of many
MANY = 128  # devices: from here on fewer are tried
HOPELESS = 4.0  # times the least estimate: fewer devices than these are looked at in order only
SWAPPED_SIZES, SWAP_ROUNDS, SWAP_CHOICES = 8, 6, 8
FEW_AT_A_TIME, PARTS = 64, 12  # devices up to which they are left out one by one; else a part


@dataclass(frozen=True, eq=False)
class Candidate:
    """A set of devices, ascending, the loads (k,) [units] it would have, and estimated seconds."""

    devices: IntVector
    loads: FloatArray
    seconds: float


def estimate_seconds(
    graph: Graph, costs: Costs, subset: npt.ArrayLike, *, work: float | None = None
) -> tuple[float, FloatArray]:
    """Return the seconds per iteration [s] that the devices `subset` would take, and loads (k,)."""
    estimator = _estimator(graph, costs, work, None, None, 7, 1)
    mask = np.zeros((1, costs.k), np.bool_)
    mask[0, np.asarray(subset, np.int64)] = True
    found = estimator.of(mask)
    return float(found.seconds[0]), found.loads[0]


def promising_subsets(
    graph: Graph,
    costs: Costs,
    *,
    work: float | None = None,
    partition: Partition | None = None,
    high: FloatArray | None = None,
    needed: BoolArray | None = None,
    most: int = 8,
    seed: int = 7,
    threads: int = 1,
) -> list[IntVector]:
    """Return sets of devices worth a plan, the best estimate first; all devices are among them.

    work [units]: of the whole graph, by default its vertex weight. partition: of this graph into
    many blocks, to fit the surface law to; one is made where it says too little. high (k,)
    [units]: what devices can hold. needed (k,): devices that must be used. most: sets beside
    that of all devices.
    """
    estimator = _estimator(graph, costs, work, partition, high, seed, threads)
    everyone = np.arange(costs.k)
    if costs.k == 1:
        return [everyone]
    found = search(estimator, costs, needed=needed).promising(most)
    chosen = [one.devices for one in found]
    return chosen if any(one.size == costs.k for one in chosen) else [*chosen, everyone]


def _estimator(
    graph: Graph,
    costs: Costs,
    work: float | None,
    partition: Partition | None,
    high: FloatArray | None,
    seed: int,
    threads: int,
) -> Estimator:
    surface = fit_surface(graph, partition, seed=seed, threads=threads)
    return Estimator(surface, costs, graph.total_weight if work is None else work, high)


def search(estimator: Estimator, costs: Costs, *, needed: BoolArray | None = None) -> Found:
    """Look for the best sets of devices of every size."""
    found = Found(estimator, machine_of(costs, estimator), needed)
    if estimator.k <= ALL_SETS:
        numbers = np.arange(1, 1 << estimator.k)
        found.offer((numbers[:, None] >> np.arange(estimator.k)) & 1 == 1)
        return found
    for order in orders_of(found.machine):
        found.offer(_prefixes(order, sizes_to_try(estimator.k)))
    _leave_out(found)
    _exchange_single(found)
    return found


class Found:
    """The sets looked at so far, and the best of each size."""

    def __init__(self, estimator: Estimator, machine: Machine, needed: BoolArray | None) -> None:
        self.machine, self.k = machine, estimator.k
        self._estimator = estimator
        self._needed = np.zeros(self.k, np.bool_) if needed is None else np.asarray(needed)
        self._known: dict[bytes, Candidate] = {}
        self._best: dict[int, Candidate] = {}

    @property
    def exhaustive(self) -> bool:
        """Whether every set was looked at."""
        return self.k <= ALL_SETS

    def offer(self, masks: BoolArray) -> list[Candidate]:
        """Estimate the sets that masks (s, k) mark, those needed with them; return them."""
        masks = masks | self._needed
        keys = [mask.tobytes() for mask in masks]
        new = list({key: i for i, key in enumerate(keys) if key not in self._known}.values())
        estimates = self._estimator.of(masks[new])
        for i, seconds, loads in zip(new, estimates.seconds, estimates.loads, strict=True):
            devices = np.flatnonzero(masks[i])
            one = Candidate(devices, loads, float(seconds))
            self._known[keys[i]] = one
            best = self._best.get(devices.size)
            if best is None or one.seconds < best.seconds * (1 - 1e-9):
                self._best[devices.size] = one
        return [self._known[key] for key in keys]

    @property
    def least(self) -> float:
        """The least estimate found [s]."""
        return min(one.seconds for one in self._best.values())

    def of_each_size(self) -> list[Candidate]:
        """The best set found of each size that was looked at and has room, smallest first."""
        best = (self._best[size] for size in sorted(self._best))
        return [one for one in best if np.isfinite(one.seconds)]

    def promising(self, most: int) -> list[Candidate]:
        """At most `most` sets near the least estimate, the best first; of twins one."""
        ranked = sorted(
            (one for one in self._known.values() if np.isfinite(one.seconds)),
            key=lambda one: (one.seconds, one.devices.size, one.devices.tolist()),
        )
        chosen: list[Candidate] = []
        seen: set[tuple[object, ...]] = set()
        per_size: dict[int, int] = {}
        for one in ranked:
            size = one.devices.size
            twin = self._signature(one)
            if len(chosen) >= most or one.seconds > WORTH_A_PLAN * ranked[0].seconds:
                break
            if twin in seen or per_size.get(size, 0) >= OF_A_SIZE:
                continue
            seen.add(twin)
            per_size[size] = per_size.get(size, 0) + 1
            chosen.append(one)
        return chosen

    def unlike(self, one: Candidate) -> list[int]:
        """Devices of a set of which none is like another, those of the least load first."""
        load, kind = one.loads[one.devices], self.machine.kinds[one.devices]
        rounded = _rounded(load)
        order = np.lexsort((-one.devices, rounded))
        seen: dict[tuple[int, float], int] = {}
        for i in order.tolist():
            if not self._needed[one.devices[i]]:
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

    def _signature(self, one: Candidate) -> tuple[object, ...]:
        load, kind = _rounded(one.loads[one.devices]), self.machine.kinds[one.devices]
        order = np.lexsort((load, kind))
        return one.devices.size, kind[order].tobytes(), load[order].tobytes()


def _rounded(loads: FloatArray) -> FloatArray:
    """Loads to six digits: what differs by less comes from the order of sums."""
    with np.errstate(divide="ignore"):
        scale = 10.0 ** (5 - np.floor(np.log10(np.maximum(loads, 1e-300))))
    return np.asarray(np.rint(loads * scale) / scale)


def _prefixes(order: IntVector, sizes: list[int]) -> BoolArray:
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    return np.asarray(rank[None, :] < np.array(sizes)[:, None])


def _leave_out(found: Found) -> None:
    """From all devices down to one: leave out whom or which group the set misses least."""
    mask = np.ones(found.k, np.bool_)
    (now,) = found.offer(mask[None])
    while now.devices.size > 1:
        size = now.devices.size
        step = 1 if size <= FEW_AT_A_TIME else size // PARTS
        choices = found.unlike(now)[: CHOICES if found.k <= MANY else FEW_CHOICES]
        if not choices:
            return
        mask = np.zeros(found.k, np.bool_)
        mask[now.devices] = True
        tried = [mask & ~one for one in _left_out(found, now, choices, step)]
        if found.k <= MANY or size == found.k:
            rest = [mask & ~one for one in found.machine.sets()]
            found.offer(np.array([one for one in rest if one.any()], np.bool_).reshape(-1, found.k))
        nexts = [one for one in found.offer(np.array(tried)) if one.devices.size < size]
        if not nexts:
            return
        before, now = now, min(nexts, key=lambda one: one.seconds)
        if now.seconds > max(before.seconds, HOPELESS * found.least):
            return


def _left_out(found: Found, now: Candidate, choices: list[int], step: int) -> list[BoolArray]:
    """(k,) masks of `step` devices each: a choice and those most like it, in kind and in load."""
    masks = []
    load, kind = now.loads[now.devices], found.machine.kinds[now.devices]
    for i in choices:
        mask = np.zeros(found.k, np.bool_)
        mask[i] = True
        if step > 1:
            other = kind != found.machine.kinds[i]
            near = np.lexsort((-now.devices, np.abs(load - now.loads[i]), other))
            mask[now.devices[near[:step]]] = True
        masks.append(mask)
    return masks


def _exchange_single(found: Found) -> None:
    """Exchange one device for another in the best sets, as long as that helps."""
    sizes = sorted(found.of_each_size(), key=lambda one: one.seconds)[:SWAPPED_SIZES]
    for start in sizes:
        now = start
        for _ in range(SWAP_ROUNDS):
            masks = []
            for i in found.unlike(now)[:SWAP_CHOICES]:
                for j in found.unlike_others(now)[:SWAP_CHOICES]:
                    mask = np.zeros(found.k, np.bool_)
                    mask[now.devices], mask[i], mask[j] = True, False, True
                    masks.append(mask)
            if not masks:
                break
            better = min(found.offer(np.array(masks)), key=lambda one: one.seconds)
            if better.seconds >= now.seconds * (1 - 1e-9):
                break
            now = better
