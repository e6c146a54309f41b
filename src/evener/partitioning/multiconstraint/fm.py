"""Localized k-way FM within limits on several weights."""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray, Part
from evener.partitioning.multiconstraint import fm_kernels as kernels
from evener.partitioning.multiconstraint.loads import LoadBounds, Loaded
from evener.partitioning.refinement.fm import EVEN_PRICE, MOST_LOOKS, Effort, Flags
from evener.partitioning.refinement.grouping import shuffle


def refine_loaded(
    loaded: Loaded,
    part: Part,
    weight: FloatArray,
    bounds: LoadBounds,
    flag: Flags,
    slack: float,
    effort: Effort,
    seed: int,
) -> int:
    """Lower the cut of `part` in place; return the gain, 2 * EVEN_PRICE per unit of edge weight.

    weight (k, c): what the blocks weigh, kept up to date. No block ends further outside its limits
    than it was. flag (n,): the vertices to start from; slack: how far searches may leave the
    limits on their way, in targets. Of `effort`, `rounds` holds on every level.
    """
    level, n = loaded.level, loaded.n
    limits = kernels.SearchLimits(
        bounds.low, bounds.high,
        *bounds.soft(slack, loaded.loads.max(axis=0, initial=0.0)), bounds.scale,
    )  # fmt: skip
    marks = kernels.SearchMarks(
        np.full(n, -1, np.int32), np.zeros(n, np.int8), flag.copy(), np.zeros(n, np.int8)
    )
    rule = kernels.StopRule(
        effort.patience, effort.slope, 2 * EVEN_PRICE * effort.boldness,
        MOST_LOOKS * (level.adjncy.size + n),
    )  # fmt: skip
    price = np.full(bounds.k, EVEN_PRICE, np.int64)
    gained, boundary = 0, np.count_nonzero(flag)
    for turn in range(effort.rounds):
        seeds = np.flatnonzero(marks.active).astype(np.int32)
        if seeds.size == 0:
            break
        shuffle(seeds, seed * 100 + turn)
        won = kernels.search(
            level.arrays, loaded.loads, part, weight, limits, price, seeds, marks, turn + 1, rule
        )
        marks.active[:] |= marks.touched
        marks.touched[:] = 0
        gained += int(won)
        if won < 2 * EVEN_PRICE * effort.least_gain * boundary:
            break
    return gained
