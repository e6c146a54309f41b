"""Presets: how much work the multilevel partitioner does."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from evener.partitioning.initial.diffusion import AGAIN, BRIEFLY, THOROUGH, Spread
from evener.partitioning.refinement.fm import FMEffort


@dataclass(frozen=True)
class Cutting:
    """Rounds in which pairs of blocks are cut anew, on coarse levels and on the finest.

    reach: what a corridor may weigh on a side, as a multiple of what a block may lose or gain.
    """

    rounds: int = 0
    finest_rounds: int = 1
    reach: float = 3.2


ROUGHLY = Spread(rounds=5, steps=8)
WELL = Spread(rounds=8, steps=8)


@dataclass(frozen=True)
class Preset:
    """How much time is spent for how good a partition; docs/partitioner.md has all as a table.

    fm_with_cuts, cutting: refinement by localized FM, then by cutting pairs of blocks anew.
    fm_without_cuts: of FM where no pairs are cut after it: `refine` on the whole graph, and several
    weights per vertex on every level. per_block: vertices of the coarsest graph per block, where
    blocks are given. shrink_by: mean weight of a level's clusters, in mean vertices. cycles: times
    that the graph is coarsened and refined. slack: share of its target by which a search may leave
    a block's limits on its way. rounding: by diffusion, of blocks made by k-means of coordinates;
    first_rounding: of all others, on the smallest graph; finer_rounding: again on finer graphs, of
    blocks rounded on the smallest. balance: share of its target that k-means of a large graph may
    leave a block off. bisected_blocks: of all bisections that are tried together; deals_refined:
    how many of these, of least cut, are refined. round_both: whether the best is rounded even where
    k-means of coordinates makes blocks to be rounded. rivals: initial partitions that are refined
    on finer levels. anew: how graphs of up to most_anew vertices are rounded once more in the end;
    None: not at all.
    """

    fm_with_cuts: FMEffort = field(
        default_factory=lambda: FMEffort(rounds=5, finest_rounds=2, patience=1)
    )
    cutting: Cutting = field(default_factory=Cutting)
    fm_without_cuts: FMEffort = field(default_factory=FMEffort)
    per_block: int = 40
    shrink_by: float = 8.0
    cycles: int = 1
    slack: float = 0.003
    rounding: Spread = WELL
    first_rounding: Spread = THOROUGH
    finer_rounding: Spread = AGAIN
    balance: float = 0.01
    bisected_blocks: int = 1024
    round_both: bool = True
    deals_refined: int = 4
    rivals: int = 2
    anew: Spread | None = THOROUGH
    most_anew: int = 20_000


# Numbers are set by hand and checked by benchmarks/partitioners.py; no record of what chose each.
PRESETS = {
    "fast": Preset(
        FMEffort(rounds=3, finest_rounds=3, patience=1, least_gain=0.01, boldness=0.5),
        Cutting(reach=1.75),
        FMEffort(rounds=3, finest_rounds=4, patience=1, least_gain=0.01, boldness=0.5),
        rounding=ROUGHLY,
        finer_rounding=BRIEFLY,
        balance=0.03,
        rivals=1,
        anew=None,
    ),
    "default": Preset(),
    "strong": Preset(
        FMEffort(rounds=6, finest_rounds=3, patience=4, boldness=0.85),
        Cutting(rounds=1, reach=4.0),
        FMEffort(rounds=8, finest_rounds=8, patience=8, least_gain=3e-4, boldness=1.1),
        per_block=80,
        shrink_by=4.0,
        cycles=3,
        rounding=THOROUGH,
    ),
}

MOST_SMALL = 100_000  # vertices
# Rounding ends earlier on small graphs, which are divided in several ways: see
# docs/results/small_meshes.md for what that brings and costs.
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
