"""The search for the best sets of devices of every size, by estimates.

Up to 10 devices every set is looked at. Beyond: the first devices of several orders (fastest
first, node by node, kind by kind), devices and whole groups left out one after another, the one
that is missed least first, and single devices exchanged in the best of these. Deterministic.
"""

from __future__ import annotations

import numpy as np

from evener.arrays import BoolArray, IntVector
from evener.planning.device_sets.estimate import Estimator
from evener.planning.device_sets.sets import (
    ALL_SETS,
    SURELY,
    Candidate,
    Found,
    machine_of,
    orders_of,
    sizes_to_try,
)

CHOICES, FEW_CHOICES = 24, 6  # unlike devices that are tried in one step, of few and of many
MANY = 128  # devices: from here on fewer are tried
HOPELESS = 4.0  # times the least estimate: fewer devices than these are looked at in order only
SWAPPED_SIZES, SWAP_ROUNDS, SWAP_CHOICES = 8, 6, 8
FEW_AT_A_TIME, PARTS = 64, 12  # devices up to which they are left out one by one; else a part


def search(estimator: Estimator) -> Found:
    """Look for the best sets of devices of every size."""
    found = Found(estimator, machine_of(estimator))
    if estimator.k <= ALL_SETS:
        found.offer(_every(estimator.k))
        return found
    for order in orders_of(found.machine):
        found.offer(_prefixes(order, sizes_to_try(estimator.k)))
    _leave_out(found)
    _exchange_single(found)
    return found


def first_sets(estimator: Estimator) -> BoolArray:
    """(s, k) a few sets of all kinds, all devices first: those of every order, twice as many each.

    They cost little; what they miss, `search` finds.
    """
    k = estimator.k
    sizes = sorted({*(1 << np.arange(k.bit_length())).tolist(), k})
    sizes = [size for size in reversed(sizes) if size <= k]
    machine = machine_of(estimator)
    masks = [_prefixes(order, sizes) for order in orders_of(machine)]
    whole = [np.ones((1, k), np.bool_), *masks, np.array(machine.sets()).reshape(-1, k)]
    found = np.concatenate(whole)
    return found[np.sort(np.unique(found, axis=0, return_index=True)[1])]


def sets_in_line(estimator: Estimator) -> BoolArray:
    """(s, k) sets to try slabs for, all devices first: all sets of up to 10 devices, else a few.

    Estimates of slabs are near what they take, so that the best of many is worth looking for.
    """
    few = estimator.k > ALL_SETS
    return first_sets(estimator) if few else _every(estimator.k)[::-1]


def search_groups(found: Found, groups: IntVector) -> list[Candidate]:
    """Return the best set of each number of whole groups (k,), of all sets if they are few."""
    count = int(groups.max()) + 1
    if count <= ALL_SETS:
        masks = _every(count)
    else:
        speed = np.bincount(groups, found.machine.speeds)
        masks = _prefixes(np.lexsort((np.arange(count), -speed)), list(range(1, count + 1)))
    best: dict[int, Candidate] = {}
    for mask, one in zip(masks, found.offer(masks[:, groups]), strict=True):
        size = int(mask.sum())
        if np.isfinite(one.seconds) and (
            size not in best or one.seconds < best[size].seconds * SURELY
        ):
            best[size] = one
    return [best[size] for size in sorted(best)]


def _every(k: int) -> BoolArray:
    """(2^k - 1, k) all sets, all devices last."""
    return np.asarray(np.arange(1, 1 << k)[:, None] >> np.arange(k) & 1 == 1)


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
            if better.seconds >= now.seconds * SURELY:
                break
            now = better
