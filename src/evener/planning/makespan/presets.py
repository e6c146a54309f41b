"""How much is tried for seconds, by preset."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Effort:
    """One trade of time for seconds per iteration.

    sets: whether smaller sets of devices are estimated. slabs, slab_rounds: sets that slabs are
    tried for, and rounds of sizes for each. blocks, rounds: the same for blocks from scratch, of
    sets whose estimate is below `hopeful` times the best seconds so far; objective, preset: of the
    partitioner that makes them, epsilon its tolerance. placing: whether blocks change places among
    devices alike. sketched: how many plans of few devices are tried on a small copy of the graph.
    again: how often the best candidate is refined once more at most, by refine_effort.
    near: what takes more than so many times the best seconds, as where one device does best alone,
    is not refined.
    """

    sets: bool
    slabs: int
    slab_rounds: int
    blocks: int
    rounds: int
    objective: str
    preset: str
    epsilon: float
    placing: bool
    sketched: int
    again: int
    refine_effort: str
    hopeful: float = 1.05
    near: float = np.inf


EFFORTS = {
    "fast": Effort(False, 1, 1, 0, 0, "cut", "fast", 0.01, False, 0, 0, "fast", near=1.5),
    "default": Effort(True, 2, 2, 0, 0, "cut", "default", 0.01, True, 8, 2, "default"),
    "strong": Effort(True, 4, 3, 1, 2, "max_volume", "default", 0.01, True, 12, 6, "strong", 1.1),
}
DAMPING, CALMER = 0.7, 0.8  # how far sizes move to those asked, and times that a round
SETTLED = 0.002  # of the time: a round that wins less is the last
