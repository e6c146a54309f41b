"""How one level is refined: localized FM, pairs of blocks cut anew, FM around what that moved."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.partitioning.cutting import cut_anew
from evener.partitioning.fm import Flags, Limits, boundary_flags, refine_level
from evener.partitioning.levels import Level, Part
from evener.partitioning.presets import Preset

AFTERWARDS = 2  # rounds of FM around what cuts have moved
OTHER_SEED = 25


def refine_by(
    preset: Preset,
    level: Level,
    part: Part,
    weight: FloatArray,
    limits: Limits,
    price: npt.NDArray[np.int64],
    flag: Flags,
    *,
    finest: bool,
    seed: int,
    threads: int,
) -> None:
    """Refine `part` in place, block weights (k,) with it, as the preset says.

    flag (n,): the vertices at a boundary. finest: whether this is the whole graph.
    """
    effort, cutting = preset.effort, preset.cutting
    rounds = effort.finest_rounds if finest else effort.rounds
    refine_level(level, part, weight, limits, price, flag, rounds, effort, seed, threads)
    cuts = cutting.finest_rounds if finest else cutting.rounds
    gain, touched = cut_anew(level, part, weight, limits, price, cuts, cutting.reach, seed, threads)
    if gain == 0:
        return
    touched &= boundary_flags(level, part, threads)
    refine_level(
        level, part, weight, limits, price, touched, AFTERWARDS, effort, seed + OTHER_SEED, threads
    )
