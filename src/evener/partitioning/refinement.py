"""How one level is refined: localized FM, then pairs of blocks cut anew."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.partitioning.cutting import cut_anew
from evener.partitioning.fm import Flags, Limits, refine_level
from evener.partitioning.levels import Level, Part
from evener.partitioning.presets import Preset


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
    cut_anew(level, part, weight, limits, price, cuts, cutting.reach, seed, threads)
