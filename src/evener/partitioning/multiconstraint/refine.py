"""Localized k-way FM within limits on several weights."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, Part
from evener.partitioning.multiconstraint import fm_kernels as kernels
from evener.partitioning.multiconstraint.loads import Bounds, Loaded
from evener.partitioning.refinement.fm import EVEN_PRICE, MOST_LOOKS, Effort, Flags
from evener.partitioning.refinement.grouping import shuffle


def refine_loaded(
    loaded: Loaded,
    part: Part,
    weight: FloatArray,
    bounds: Bounds,
    slack: float,
    price: npt.NDArray[np.int64],
    flag: Flags,
    rounds: int,
    effort: Effort,
    seed: int,
) -> int:
    """Refine `part` in place, block weights (k, c) with it; return the gain, in prices.

    No block ends further outside its limits than it was. slack: how far searches may stray on
    their way, in targets; flag (n,): the vertices to start from.
    """
    level, n = loaded.level, loaded.n
    soft_low, soft_high = bounds.soft(slack, loaded.loads.max(axis=0, initial=0.0))
    place, lock = np.full(n, -1, np.int32), np.zeros(n, np.int8)
    active, touched = flag.copy(), np.zeros(n, np.int8)
    gained, boundary = 0, np.count_nonzero(flag)
    for turn in range(rounds):
        seeds = np.flatnonzero(active).astype(np.int32)
        if seeds.size == 0:
            break
        shuffle(seeds, seed * 100 + turn)
        won = kernels.search(
            level.xadj, level.adjncy, level.adjwgt, loaded.loads, part, weight, bounds.low,
            bounds.high, soft_low, soft_high, bounds.scale, price, seeds, place, lock, turn + 1,
            active, touched, effort.patience, effort.slope, 2 * EVEN_PRICE * effort.boldness,
            MOST_LOOKS * (level.adjncy.size + n),
        )  # fmt: skip
        active |= touched
        touched[:] = 0
        gained += int(won)
        if won < 2 * EVEN_PRICE * effort.least_gain * boundary:
            break
    return gained
