"""Refinement for what blocks send: localized FM with exact communication volumes.

A Ledger (ledger_kernels) keeps what every block sends, to how many others, exactly, move by
move. What is minimised is the sum of volumes**power, so the price of a value depends on the block
that sends it: with power 1 all cost the same and the total falls, with a high power only the
largest volumes count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray, Part
from evener.partitioning.levels.levels import Level
from evener.partitioning.refinement import volumes_kernels as kernels
from evener.partitioning.refinement.connectivity_kernels import CLOSED, Ledger, count_all
from evener.partitioning.refinement.fm import Flags, Limits
from evener.partitioning.refinement.grouping import shuffle


@dataclass(frozen=True)
class Aim:
    """What refinement minimises, and how long it tries.

    power: of the volumes. edge: what a unit of mean edge weight in the cut counts beside a value
    sent by the block that sends most. keep_total: the total may not rise. least_worth: searches
    begin where a block is worth this much, with a move that loses no more than most_lost.
    patience: moves without gain that end a search. rounds: at most; least_gain: a round that
    wins less, in values of the block that sends most, is the last.
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


def open_ledger(level: Level, part: Part, k: int, flag: Flags) -> Ledger:
    """Return the ledger of `part`, which it changes in place; flag (n,): boundary vertices.

    Tables take memory only where searches come by.
    """
    entries = level.adjncy.size
    ledger = Ledger(
        level.xadj, level.adjncy, level.adjwgt, part, np.zeros(k, np.int64),
        np.zeros((k, k), np.int32), np.zeros(k, np.int64), np.empty(entries, np.int32),
        np.empty(entries, np.int32), np.full(level.n, CLOSED, np.int32), np.zeros(k, np.int64),
        np.empty(k, np.int32),
    )  # fmt: skip
    count_all(ledger, flag)
    return ledger


def refine_volumes(
    level: Level,
    part: Part,
    weight: FloatArray,
    limits: Limits,
    aim: Aim,
    flag: Flags,
    seed: int,
) -> Ledger:
    """Refine `part` in place, block weights (k,) with it; return its ledger.

    flag (n,): boundary vertices. Neither the largest volume nor (with keep_total) their sum gets
    any larger, and no block goes further outside its limits. One thread.
    """
    k = weight.size
    ledger = open_ledger(level, part, k, flag)
    place, lock = np.full(level.n, -1, np.int32), np.zeros(level.n, np.int8)
    boundary = flag.copy()
    edge = aim.edge / (float(level.adjwgt.mean()) or 1.0 if level.adjwgt.size else 1.0)
    for turn in range(aim.rounds):
        seeds = np.flatnonzero(boundary).astype(np.int32)
        if seeds.size == 0:
            break
        shuffle(seeds, seed * 100 + turn)
        highest = np.iinfo(np.int64).max if aim.keep_total else int(ledger.volumes.max())
        won = kernels.search(
            ledger, level.vwgt, weight, limits.low, limits.high, limits.soft_low,
            limits.soft_high, aim.power, edge, highest, aim.keep_total, aim.least_worth,
            aim.most_lost, seeds, place, lock, turn + 1, boundary, aim.patience,
        )  # fmt: skip
        if won < aim.least_gain:
            break
    return ledger
