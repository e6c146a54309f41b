"""Presets: how much work the multilevel partitioner does."""

from __future__ import annotations

from dataclasses import dataclass, field

from evener.partitioning.fm import Effort


@dataclass(frozen=True)
class Preset:
    """One trade of time for quality.

    effort: of refinement. per_block: vertices that the coarsest graph keeps for each block, where
    blocks are given; shrink_by: mean weight of clusters, a level, in mean vertices. cycles: times
    that the graph is shrunk and refined again. slack: how far searches may stray from the
    contract, in targets.
    """

    effort: Effort = field(default_factory=Effort)
    per_block: int = 80
    shrink_by: float = 8.0
    cycles: int = 1
    slack: float = 0.003


PRESETS = {
    "fast": Preset(Effort(rounds=3, finest_rounds=4, patience=1, least_gain=0.01, boldness=0.5)),
    "default": Preset(),
    "strong": Preset(
        Effort(rounds=8, finest_rounds=8, patience=8, least_gain=3e-4, boldness=1.1),
        shrink_by=4.0,
        cycles=2,
    ),
}
