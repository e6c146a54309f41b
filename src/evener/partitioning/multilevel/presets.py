"""Presets: how much work the multilevel partitioner does."""

from __future__ import annotations

from dataclasses import dataclass, field

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
    finer_rounding: again on finer graphs, of blocks rounded on the smallest. balance: share of its
    target that k-means of a large graph may leave a block off. rivals: initial partitions that are
    refined on finer levels.
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
    finer_rounding: Spread = AGAIN
    balance: float = 0.01
    rivals: int = 2


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
