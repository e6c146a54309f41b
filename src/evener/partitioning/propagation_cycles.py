"""Clusters of uneven graphs: shrink, divide the smallest graph in several ways, refine the best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray
from evener.partitioning import propagation_clusters_kernels as clusters
from evener.partitioning import propagation_kernels as kernels
from evener.partitioning.bisection import cut_of
from evener.partitioning.bisection_kernels import breadth_first_order
from evener.partitioning.levels import Level, Part, Shrunk, contracted, projected
from evener.partitioning.propagation_rounds import board_for_cut, leap_lower
from evener.partitioning.splitting_kernels import split
from evener.partitions import Contract

COARSEST, PER_BLOCK = 1000, 15  # vertices that the smallest graph keeps, in all and a block
LARGEST_CLUSTER = 1 / 2  # of the smallest block's target
GROWTH = 6.0  # heaviest cluster of a level, in mean vertices
LEAST_SHRINKAGE = 0.95
CHOICES = 2  # rounds in which vertices choose a cluster
MANY_EDGES = 30  # vertices with as many or more choose last, in any order
OVERWEIGHT = 10.0  # times the share of weight that is too much, the cut counts more
TRIES, SLACK = 2, 0.005  # of bisections: places to grow from; what a half may be off


@dataclass(frozen=True)
class Work:
    """leaps: rounds of them on a level. cycles: times that the graph is shrunk again, inside its
    blocks. splits, fills: partitions of the smallest graph, by bisection and by filling blocks,
    of which the best is taken.
    """

    leaps: int
    cycles: int
    splits: int
    fills: int


def blocks_by_clusters(
    level: Level, contract: Contract, alone: float, work: Work, rng: np.random.Generator
) -> Part:
    """Shrink, divide and lower the cut on the way back; then shrink again inside the blocks.

    alone: the weight that may fill blocks up later.
    """
    part = cycle(level, None, contract, alone, work, rng)
    for _ in range(work.cycles):
        part = cycle(level, part, contract, alone, work, rng)
    return part


def cycle(
    level: Level, part: Part | None, contract: Contract, alone: float, work: Work,
    rng: np.random.Generator,
) -> Part:  # fmt: skip
    """Lower the cut on every level of the graph, shrunk inside the blocks of `part` if given."""
    blocks = np.zeros(level.n, np.int32) if part is None else part
    above = _shrink_all(level, blocks, contract, rng)
    if above:
        level, blocks = above[-1][1].level, above[-1][1].part
    if part is None:
        blocks = _best_of_starts(level, contract, alone, work, rng)
    else:
        _lower(level, blocks, contract, alone, work.leaps, rng)
    for finer, shrunk in reversed(above):
        level, blocks = finer, projected(shrunk, blocks, 1)
        _lower(level, blocks, contract, alone, work.leaps, rng)
    return blocks


def _shrink_all(
    level: Level, blocks: Part, contract: Contract, rng: np.random.Generator
) -> list[tuple[Level, Shrunk]]:
    """Shrink until few vertices are left, or no more can be joined."""
    above: list[tuple[Level, Shrunk]] = []
    total, enough = float(level.vwgt.sum()), max(COARSEST, PER_BLOCK * contract.k)
    heaviest = LARGEST_CLUSTER * float(contract.targets.min())
    while level.n > enough:
        cap = min(heaviest, GROWTH * total / level.n)
        shrunk = shrink_to_clusters(level, blocks, cap, rng)
        if shrunk.level.n > LEAST_SHRINKAGE * level.n:
            break
        above.append((level, shrunk))
        level, blocks = shrunk.level, shrunk.part
    return above


def shrink_to_clusters(level: Level, part: Part, cap: float, rng: np.random.Generator) -> Shrunk:
    """Contract clusters of weight up to `cap` that vertices of one block choose themselves.

    Those with few edges choose first, or hubs would take what they need.
    """
    order = rng.permutation(level.n)
    degrees = np.minimum(np.diff(level.xadj.astype(np.int64)), MANY_EDGES)
    order = order[np.argsort(degrees[order], kind="stable")]
    leader = np.empty(level.n, np.int32)
    clusters.gather(*level.arrays, part, cap, order, CHOICES, leader, np.empty(level.n))
    return contracted(level, part, leader, 1)


def _best_of_starts(
    level: Level, contract: Contract, alone: float, work: Work, rng: np.random.Generator
) -> Part:
    """Divide by bisection and by filling blocks, lower the cut of each, and take the best.

    Filled ones win where hubs hold everything together, bisected ones where there are regions.
    """
    best, least = np.zeros(level.n, np.int32), np.inf
    for turn in range(work.splits + work.fills):
        if turn < work.splits:
            part = _split(level, contract.targets, rng)
        else:
            part = _filled(level, contract.targets, turn - work.splits, rng)
        _lower(level, part, contract, alone, work.leaps, rng)
        cost = cost_of(level, part, contract)
        if cost < least:
            best, least = part, cost
    return best


def cost_of(level: Level, part: Part, contract: Contract) -> float:
    """Return the cut of blocks, counted more where they are too heavy."""
    weight = np.bincount(part, weights=level.vwgt, minlength=contract.k)
    over = float(np.maximum(weight - contract.high, 0.0).sum())
    total = float(level.vwgt.sum())
    return cut_of(level, part) * (1 + OVERWEIGHT * over / max(total, 1e-300))


def _split(level: Level, targets: FloatArray, rng: np.random.Generator) -> Part:
    """Bisect again and again; blocks are halved by number, so that like ones stay together."""
    part = np.zeros(level.n, np.int32)
    order = np.argsort(-targets, kind="stable")
    draws = rng.random(TRIES * targets.size)
    split(*level.arrays, targets, order, SLACK, TRIES, draws, part)
    return part


def _filled(level: Level, targets: FloatArray, turn: int, rng: np.random.Generator) -> Part:
    """Fill blocks to their targets in breadth-first or random order, largest first or not."""
    order = rng.permutation(level.n)
    if turn % 2 == 0:
        seen = np.empty(level.n, np.bool_)
        breadth_first_order(level.xadj, level.adjncy, 0, order, seen)
    following = np.argsort(-targets, kind="stable")
    if turn % 4 >= 2:
        following = rng.permutation(targets.size)
    filled, part = np.empty(level.n, np.int32), np.empty(level.n, np.int32)
    kernels.start(level.vwgt[order], targets, following, filled, np.zeros(targets.size))
    part[order] = filled
    return part


def _lower(
    level: Level, part: Part, contract: Contract, alone: float, leaps: int,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """Lower the cut in place; blocks may be short by the heaviest vertex, if that is a cluster."""
    heaviest = float(level.vwgt.max())
    low: FloatArray = np.maximum(contract.low - (heaviest if heaviest > 1 else 0.0), 0.0)
    leap_lower(board_for_cut(level, part, low, contract.high, alone), leaps, rng)
