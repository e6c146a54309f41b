"""Kinds and groups of a machine's devices, and the sets of devices that are worth estimating.

`few_sets` and `sets_in_line` are what the makespan search tries; the search of
evener.planning.advise looks at many more, in the same orders.
"""

from __future__ import annotations

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntVector
from evener.planning.device_sets.estimate import Estimator

MAX_EVERY_SET = 10  # devices: up to here all 2^k - 1 sets are estimated, some milliseconds
MAX_KINDS = 4  # kinds of devices, the most frequent, that come first in an order of their own
MAX_GROUPS = 24  # kinds, or groups of a level, that are a set of their own
MAX_EVERY_SIZE = 128  # devices: up to here every number of them is tried
DENSE_SIZES, SPREAD_SIZES = 16, 48  # of more devices: all numbers up to 16, and so many beyond


def whole_sets(estimator: Estimator) -> BoolArray:
    """(s, k) masks of whole kinds of devices and of whole groups, up to 24 of each level."""
    masks = [
        row == number
        for row in (estimator.kinds, *estimator.groups)
        for number in range(min(int(row.max()) + 1, MAX_GROUPS))
    ]
    return np.array(masks, np.bool_).reshape(-1, estimator.k)


def orders_of(estimator: Estimator) -> list[IntVector]:
    """Return orders (k,) of devices whose first ones are likely to be a good set.

    The fastest first; for each level of groups, the strongest group first, and the fastest device
    of each group first; and all of these with the devices of one kind in front.
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
    """Return numbers of devices: all up to 128, of more some."""
    if k <= MAX_EVERY_SIZE:
        return list(range(1, k + 1))
    rest = np.rint(np.geomspace(DENSE_SIZES + 1, k, SPREAD_SIZES)).astype(int).tolist()
    return sorted({*range(1, DENSE_SIZES + 1), *rest})


def every_set(k: int) -> BoolArray:
    """(2^k - 1, k) masks of all sets, that of all devices last."""
    return np.asarray(np.arange(1, 1 << k)[:, None] >> np.arange(k) & 1 == 1)


def first_of(order: IntVector, sizes: list[int]) -> BoolArray:
    """(sizes, k) masks of the first devices of an order (k,)."""
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    return np.asarray(rank[None, :] < np.array(sizes)[:, None])


def few_sets(estimator: Estimator) -> BoolArray:
    """(s, k) masks of a few sets, all devices first: 1, 2, 4, ... of every order, kinds, groups."""
    k = estimator.k
    sizes = sorted({*(1 << np.arange(k.bit_length())).tolist(), k})
    sizes = [size for size in reversed(sizes) if size <= k]
    masks = [first_of(order, sizes) for order in orders_of(estimator)]
    found = np.concatenate([np.ones((1, k), np.bool_), *masks, whole_sets(estimator)])
    return found[np.sort(np.unique(found, axis=0, return_index=True)[1])]


def sets_in_line(estimator: Estimator) -> BoolArray:
    """(s, k) masks of sets to make slabs for, all devices first: all sets of up to 10 devices.

    Of more devices, `few_sets`. Estimates of slabs are nearer to the truth than those of other
    blocks, so that many sets are worth comparing.
    """
    few = estimator.k > MAX_EVERY_SET
    return few_sets(estimator) if few else every_set(estimator.k)[::-1]


def signature(devices: IntVector, loads: FloatArray, kinds: IntVector) -> tuple[object, ...]:
    """Return what is equal for sets of devices alike with the same loads (k,); kinds (k,)."""
    load, kind = rounded(loads[devices]), kinds[devices]
    order = np.lexsort((load, kind))
    return devices.size, kind[order].tobytes(), load[order].tobytes()


def rounded(loads: FloatArray) -> FloatArray:
    """Return loads to six digits: smaller differences come from the order of sums."""
    with np.errstate(divide="ignore"):
        scale = 10.0 ** (5 - np.floor(np.log10(np.maximum(loads, 1e-300))))
    return np.asarray(np.rint(loads * scale) / scale)
