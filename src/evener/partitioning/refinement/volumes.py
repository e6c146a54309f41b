"""Refinement for communication volumes: localized FM with exact volumes.

It minimises the sum of volumes**power, so the price of a value depends on the block that sends it.
With power 1, all values cost the same and the total volume falls; with a high power, only the
largest volumes matter.
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

# Cost of a cut edge of mean weight, in units of a value sent by the block that sends most.
EDGE = 0.1


@dataclass(frozen=True)
class Aim:
    """The objective and effort of refinement for volumes.

    power: exponent of the volumes in the sum that is minimised. keep_total: the total volume must
    not rise. rounds: largest number of rounds. least_gain: rounds end after one that gains less, in
    values of the block that sends most.
    """

    power: float
    keep_total: bool = False
    rounds: int = 3
    least_gain: float = 0.5


AIMS = {
    "total_volume": Aim(power=1.0, keep_total=True, least_gain=10.0),
    "max_volume": Aim(power=40.0, rounds=4),
}


def connectivity_tables(
    level: GraphLevel, part: Part, k: int, flag: Flags, *, of_faces: bool = False
) -> ConnectivityTables:
    """Return the connectivity tables of `part` (n,); moves change both in place.

    flag (n,): whether a vertex is at a boundary. of_faces: whether each cut edge sends as many
    values as its weight. Rows of the tables are filled when a search first reaches a vertex.
    """
    entries = level.adjncy.size
    tables = ConnectivityTables(
        level.xadj, level.adjncy, level.adjwgt, part, np.zeros(k, np.int64),
        np.zeros((k, k), np.int32), np.empty(entries, np.int32), np.empty(entries, np.int32),
        np.full(level.n, CLOSED, np.int32), np.zeros(k, np.int64), np.empty(k, np.int32), of_faces,
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
    """Refine `part` (n,) and the block weights (k,) in place; return the connectivity tables.

    flag (n,): whether a vertex is at a boundary. The largest volume does not rise, nor, with
    keep_total, the sum of volumes; no block violates its limits more than before. One thread.
    """
    k = weight.size
    tables = connectivity_tables(level, part, k, flag)
    edge = EDGE / (float(level.adjwgt.mean()) or 1.0 if level.adjwgt.size else 1.0)

    def one(marks: Marks, seeds: Seeds, turn: int) -> float:
        shuffle(seeds, seed * 100 + turn)
        highest = np.iinfo(np.int64).max if aim.keep_total else int(tables.volumes.max())
        goal = VolumeGoal(aim.power, edge, highest, int(aim.keep_total))
        return float(
            kernels.search(tables, level.vwgt, weight, limits, goal, seeds, marks, turn + 1)
        )

    search_in_rounds(flag, aim.rounds, aim.least_gain, one, level.fixed)
    return tables
