"""Refinement for what blocks send: localized FM with exact communication volumes.

The sum of volumes**power is lowered, so that the price of a value depends on the block that sends
it: with power 1 all cost the same and the total falls, with a high power only the largest volumes
count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray, Part
from evener.partitioning.levels.levels import GraphLevel
from evener.partitioning.refinement import volumes_kernels as kernels
from evener.partitioning.refinement.connectivity_kernels import (
    CLOSED,
    ConnectivityTables,
    count_all,
)
from evener.partitioning.refinement.fm import Flags, Seeds, search_in_rounds, shuffle
from evener.partitioning.refinement.fm_kernels import Marks, WeightLimits
from evener.partitioning.refinement.volumes_kernels import VolumeGoal


@dataclass(frozen=True)
class Aim:
    """What refinement lowers, and how long it goes on.

    power: of the volumes, whose sum is lowered. edge: what a cut edge of mean weight counts, in
    values sent by the block that sends most. keep_total: the total may not rise. least_worth: of a
    block next to the seed of a search, see Gains; most_lost: that its first move may lose.
    patience: moves without a new best point that end a search. rounds: at most. least_gain: a round
    that gains less, in values of the block that sends most, is the last.
    """

    power: float
    edge: float = 0.1
    keep_total: bool = False
    least_worth: float = 0.1
    most_lost: float = 0.15
    patience: int = 10
    rounds: int = 3
    least_gain: float = 0.5


AIMS = {
    "total_volume": Aim(power=1.0, keep_total=True, least_gain=10.0),
    "max_volume": Aim(power=40.0, rounds=4),
}


def connectivity_tables(
    level: GraphLevel, part: Part, k: int, flag: Flags, *, of_faces: bool = False
) -> ConnectivityTables:
    """Return connectivity tables of `part`, which moves change in place.

    flag (n,): boundary vertices. of_faces: whether cut edges send what they weigh. Tables are made
    for the vertices that searches come by.
    """
    entries = level.adjncy.size
    tables = ConnectivityTables(
        level.xadj, level.adjncy, level.adjwgt, part, np.zeros(k, np.int64),
        np.zeros((k, k), np.int32), np.zeros(k, np.int64), np.empty(entries, np.int32),
        np.empty(entries, np.int32), np.full(level.n, CLOSED, np.int32), np.zeros(k, np.int64),
        np.empty(k, np.int32), of_faces,
    )  # fmt: skip
    count_all(tables, flag)
    return tables


def refine_volumes(
    level: GraphLevel,
    part: Part,
    weight: FloatArray,
    limits: WeightLimits,
    aim: Aim,
    flag: Flags,
    seed: int,
) -> ConnectivityTables:
    """Refine `part` in place, block weights (k,) with it; return its connectivity tables.

    flag (n,): boundary vertices. Neither the largest volume nor (with keep_total) their sum rises,
    and no block goes further outside its limits. One thread.
    """
    k = weight.size
    tables = connectivity_tables(level, part, k, flag)
    edge = aim.edge / (float(level.adjwgt.mean()) or 1.0 if level.adjwgt.size else 1.0)

    def one(marks: Marks, seeds: Seeds, turn: int) -> float:
        shuffle(seeds, seed * 100 + turn)
        highest = np.iinfo(np.int64).max if aim.keep_total else int(tables.volumes.max())
        goal = VolumeGoal(
            aim.power, edge, highest, int(aim.keep_total), aim.least_worth, aim.most_lost,
            aim.patience,
        )  # fmt: skip
        return float(
            kernels.search(tables, level.vwgt, weight, limits, goal, seeds, marks, turn + 1)
        )

    search_in_rounds(flag, aim.rounds, aim.least_gain, one, level.fixed)
    return tables
