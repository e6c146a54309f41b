"""Localized k-way FM within limits on several weights."""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray, Part
from evener.partitioning.multiconstraint import fm_kernels as kernels
from evener.partitioning.multiconstraint.loads import LoadBounds, Loaded
from evener.partitioning.refinement.fm import (
    EVEN_PRICE,
    MOST_LOOKS,
    Flags,
    FMEffort,
    marks_of,
    stopping_rule,
)
from evener.partitioning.refinement.fm_kernels import BlockState, WeightLimits
from evener.partitioning.refinement.grouping import shuffle

ROUNDING = 1e-11  # of a target: sums of the same weights in another order differ by less


def refine_loaded(
    loaded: Loaded,
    part: Part,
    weight: FloatArray,
    bounds: LoadBounds,
    flag: Flags,
    slack: float,
    effort: FMEffort,
    seed: int,
) -> int:
    """Lower the cut of `part` in place; return the gain, 2 * EVEN_PRICE per unit of edge weight.

    weight (k, c): what the blocks weigh, kept up to date. No block ends further outside its limits
    than it was. flag (n,): the vertices to start from; slack: how far searches may leave the
    limits on their way, in targets. Of `effort`, `rounds` holds on every level.
    """
    level, n = loaded.level, loaded.n
    limits = WeightLimits(
        bounds.low, bounds.high,
        *bounds.soft(slack, loaded.loads.max(axis=0, initial=0.0)), bounds.scale,
    )  # fmt: skip
    blocks = BlockState(part, weight, np.full(bounds.k, EVEN_PRICE, np.int64), limits)
    graph, marks = level.arrays._replace(vwgt=loaded.loads), marks_of(flag)
    rule = stopping_rule(effort, MOST_LOOKS * (level.adjncy.size + n), ROUNDING)
    gained, boundary = 0, np.count_nonzero(flag)
    for turn in range(effort.rounds):
        seeds = np.flatnonzero(marks.active).astype(np.int32)
        if seeds.size == 0:
            break
        shuffle(seeds, seed * 100 + turn)
        won = kernels.search(graph, blocks, seeds, marks, turn + 1, rule)
        marks.active[:] |= marks.touched
        marks.touched[:] = 0
        gained += int(won)
        if won < 2 * EVEN_PRICE * effort.least_gain * boundary:
            break
    return gained
