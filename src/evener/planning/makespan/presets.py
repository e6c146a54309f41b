"""How much the makespan search tries, by preset."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SearchEffort:
    """How many candidates are made, and how: planning time against predicted seconds.

    smaller_sets: whether slabs are tried for subsets of the devices.
    slab_starts, slab_rounds: sets of devices that slabs are made for, and rounds of sizes for each.
    block_starts, block_rounds: the same for blocks from scratch.
    objective, preset, epsilon: of the partitioner that makes blocks from scratch.
    swaps: whether blocks change places among devices alike.
    coarse_runs: most plans made on the coarse graph.
    more_refinements: how often a candidate is refined after the first time, at most.
    refine_effort: a key of evener.partitioning.makespan.refine.EFFORTS.
    hopeful: sets of devices are tried whose estimate is at most so many times the best seconds.
    """

    smaller_sets: bool
    slab_starts: int
    slab_rounds: int
    block_starts: int
    block_rounds: int
    objective: str
    preset: str
    epsilon: float
    swaps: bool
    coarse_runs: int
    more_refinements: int
    refine_effort: str
    hopeful: float = 1.05


# Set by hand, 2026-11; no sweep of single values is kept. benchmarks/seconds.py has the results of
# each preset (docs/results/README.md#seconds).
EFFORTS = {
    "fast": SearchEffort(
        smaller_sets=False, slab_starts=1, slab_rounds=1, block_starts=0, block_rounds=0,
        objective="cut", preset="fast", epsilon=0.01, swaps=False, coarse_runs=0,
        more_refinements=0, refine_effort="fast",
    ),
    "default": SearchEffort(
        smaller_sets=True, slab_starts=2, slab_rounds=2, block_starts=0, block_rounds=0,
        objective="cut", preset="default", epsilon=0.01, swaps=True, coarse_runs=8,
        more_refinements=2, refine_effort="default",
    ),
    "strong": SearchEffort(
        smaller_sets=True, slab_starts=4, slab_rounds=3, block_starts=1, block_rounds=2,
        objective="max_volume", preset="default", epsilon=0.01, swaps=True, coarse_runs=12,
        more_refinements=6, refine_effort="strong", hopeful=1.1,
    ),
}  # fmt: skip
