"""How much is tried for seconds, by preset."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """One trade of time for seconds per iteration.

    slabs, slab_rounds: sets of devices that slabs are tried for, and rounds of sizes for each.
    blocks, rounds: the same for blocks from scratch, of sets whose estimate is below `hopeful`
    times the best seconds so far; objective, preset: of the partitioner that makes them, epsilon
    its tolerance. refined: how many of the best candidates are refined, by refine_effort.
    """

    slabs: int
    slab_rounds: int
    blocks: int
    rounds: int
    objective: str
    preset: str
    epsilon: float
    refined: int
    refine_effort: str
    hopeful: float = 1.1


EFFORTS = {
    "fast": Effort(1, 2, 0, 0, "cut", "fast", 0.01, 1, "fast"),
    "default": Effort(3, 3, 2, 3, "cut", "default", 0.01, 2, "default"),
    "strong": Effort(5, 4, 4, 4, "max_volume", "strong", 0.01, 3, "strong"),
}
DAMPING, CALMER = 0.7, 0.8  # how far sizes move to those asked, and times that a round
SETTLED = 0.002  # of the time: a round that wins less is the last
