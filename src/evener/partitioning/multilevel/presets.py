"""Presets: how much work the multilevel partitioner does."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from evener.partitioning.initial.diffusion import AGAIN, BRIEFLY, THOROUGH, Spread
from evener.partitioning.refinement.fm import FMEffort

# 8 rounds of 8 steps took 4 % more CPU for the same cut.
ROUGHLY = Spread(rounds=6, steps=6)


@dataclass(frozen=True)
class Preset:
    """The effort of the multilevel partitioner.

    fm_with_cuts: localized FM before minimum cuts between pairs of blocks. fm_without_cuts: FM that
    is not followed by minimum cuts: for `refine` on the whole graph, and for several weights per
    vertex on every level. cuts_on_coarse_levels: whether minimum cuts are made on all levels, not
    only on the finest. reach: weight of a minimum cut's corridor on each side of a border, as a
    multiple of what a block may lose or gain. per_block: vertices per block of the coarsest graph,
    if initial blocks are given. shrink_by: largest weight of a cluster in one coarsening step, in
    mean vertices. cycles: how often the graph is coarsened and refined. slack: a search may violate
    a block's limits temporarily by this fraction of the target. rounding: diffusion of blocks that
    k-means makes from the coordinates of a large graph; first_rounding: diffusion of other blocks
    on the smallest graph; finer_rounding: repeated diffusion of rounded blocks on finer graphs.
    balance: k-means of a large graph may leave a block off its target by this fraction.
    bisected_blocks: total number of blocks in all bisections that are tried; deals_refined: how
    many of these bisections, with least cut, are refined. round_both: whether the best bisection is
    rounded even if there are also blocks by k-means of coordinates. rivals: number of initial
    partitions that are refined on finer levels. anew: how blocks are rounded once more at the end,
    in graphs of up to most_anew vertices; None: not at all.
    """

    fm_with_cuts: FMEffort = field(
        default_factory=lambda: FMEffort(rounds=5, finest_rounds=2, patience=1)
    )
    fm_without_cuts: FMEffort = field(default_factory=FMEffort)
    cuts_on_coarse_levels: bool = False
    reach: float = 3.2
    per_block: int = 40
    shrink_by: float = 8.0
    cycles: int = 1
    slack: float = 0.003
    rounding: Spread = ROUGHLY
    first_rounding: Spread = THOROUGH
    finer_rounding: Spread = AGAIN
    balance: float = 0.01
    bisected_blocks: int = 1024
    round_both: bool = True
    deals_refined: int = 4
    rivals: int = 2
    anew: Spread | None = THOROUGH
    most_anew: int = 20_000


# Numbers are set by hand and checked by benchmarks/partitioners.py; why was not recorded.
PRESETS = {
    "fast": Preset(
        FMEffort(rounds=3, finest_rounds=3, patience=1, least_gain=0.01, boldness=0.5),
        FMEffort(rounds=3, finest_rounds=4, patience=1, least_gain=0.01, boldness=0.5),
        reach=1.75,
        finer_rounding=BRIEFLY,
        balance=0.03,
        rivals=1,
        anew=None,
    ),
    "default": Preset(),
    "strong": Preset(
        FMEffort(rounds=6, finest_rounds=3, patience=4, boldness=0.85),
        FMEffort(rounds=8, finest_rounds=8, patience=8, least_gain=3e-4, boldness=1.1),
        cuts_on_coarse_levels=True,
        reach=4.0,
        per_block=80,
        shrink_by=4.0,
        cycles=3,
        rounding=THOROUGH,
    ),
}

MOST_SMALL = 100_000  # vertices
# Rounding ends earlier on small graphs, for which several partitions are tried: see
# docs/results/small_meshes.md for the benefit and cost.
SMALL_PRESETS = {
    "fast": replace(
        PRESETS["fast"],
        first_rounding=Spread(5, 6, settled=0.005, dense=32),
        finer_rounding=Spread(2, 4, settled=0.005, dense=32),
        bisected_blocks=8,
        deals_refined=1,
        round_both=False,
    ),
    "default": replace(
        PRESETS["default"],
        first_rounding=Spread(8, 8, settled=0.003, dense=32),
        finer_rounding=Spread(3, 5, settled=0.003, dense=32),
        deals_refined=2,
        anew=Spread(4, 6, settled=0.003, dense=32),
        most_anew=10_000,
    ),
    "strong": PRESETS["strong"],
}


def preset_for(name: str, n: int) -> Preset:
    """Return the preset of this name for a graph of n vertices."""
    return (SMALL_PRESETS if n <= MOST_SMALL else PRESETS)[name]
