"""Multilevel recursive bisection: blocks of unequal weight, without coordinates.

Every bisection coarsens its piece to some dozens of vertices, divides these in two, and refines the
two sides level by level, as in [KK98]_.
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from evener.arrays import FloatArray, Part
from evener.errors import InfeasibleError
from evener.partitioning.initial import bisection_levels_kernels as halving
from evener.partitioning.initial.bisection_levels_kernels import HalvingTree
from evener.partitioning.levels.levels import GraphLevel

TRIES = 8  # starts on the smallest graph of a bisection
LARGE = 1.5  # deal "large": a block is large if its target is above LARGE x least target
DEALS = ("count", "large", "alternate", "weight")


def recursive_bisection(
    level: GraphLevel, targets: FloatArray, epsilon: float, seed: int, deal: str = "count"
) -> Part:
    """Return blocks (n,) with weights near `targets` (k,) [units].

    deal: how blocks, sorted by target, are assigned to the two sides of each bisection. "count":
    the same number to each side, the larger blocks to one side; "large": like "count", but all
    large blocks are on one side; "alternate": alternately; "weight": such that both sides have
    about the same weight. Which is best depends on where the graph is thin. "given": the same
    number to each side, but not sorted, so that blocks with near numbers are near each other.
    epsilon: relative deviation from the targets; heavy vertices may cause more. Raises
    InfeasibleError if all targets are 0.
    """
    if not targets.sum() > 0:
        raise InfeasibleError("no target is above zero, so no block may take a vertex")
    part = np.zeros(level.n, np.int32)
    if targets.size > 1:
        tree = halving_tree(targets, seed, deal)
        slack = slack_of_one(epsilon, targets.size)
        halving.halve_again(level.arrays, tree, slack, TRIES, part)
    return part


def halving_tree(targets: FloatArray, seed: int | None, deal: str) -> HalvingTree:
    """Return the tree of bisections of blocks with these targets (k,), down to single blocks.

    deal: see recursive_bisection. seed: for the random states of all bisections; None: no states.
    """
    sizes = np.zeros(targets.size) if deal == "given" else -targets
    order: list[int] = np.argsort(sizes, kind="stable").tolist()
    return _tree(targets.tolist(), order, seed, deal)


def _tree(targets: list[float], order: list[int], seed: int | None, deal: str) -> HalvingTree:
    """Return the tree of bisections of the blocks in this order, down to single blocks."""
    share: list[float] = []
    below: list[list[int]] = []
    numbers, waiting = [seed or 0], [order]
    for together, number in zip(waiting, numbers, strict=True):  # both grow meanwhile
        blocks, half = _dealt(targets, together, deal)
        total = list(accumulate(targets[b] for b in blocks))
        share.append(total[half - 1] / total[-1] if total[-1] > 0 else 0.5)
        next_ones = []
        for s, own in enumerate((blocks[:half], blocks[half:])):
            if len(own) == 1:
                next_ones.append(-1 - own[0])
                continue
            next_ones.append(len(waiting))
            waiting.append(own)
            numbers.append(2 * number + s + 1)
        below.append(next_ones)
    states = np.zeros(len(numbers), np.uint64)
    if seed is not None:
        for i, one in enumerate(numbers):
            states[i] = np.random.default_rng(one).integers(1, 2**63, dtype=np.uint64)
    return HalvingTree(np.array(share), states, np.array(below, np.int32))


def slack_of_one(epsilon: float, k: int) -> float:
    """Return the deviation allowed per bisection so that k blocks deviate by at most epsilon."""
    depth = max(1.0, np.ceil(np.log2(max(k, 2))))
    return float((1 + epsilon) ** (1 / depth) - 1)


def _dealt(targets: list[float], blocks: list[int], deal: str) -> tuple[list[int], int]:
    """Return the blocks in an order, and how many of the first blocks go to side 0."""
    if deal == "weight":
        total = list(accumulate(targets[b] for b in blocks))
        middle = total[-1] / 2
        return blocks, min(range(len(blocks) - 1), key=lambda i: abs(total[i] - middle)) + 1
    if deal == "alternate":
        return blocks[0::2] + blocks[1::2], (len(blocks) + 1) // 2
    large = sum(targets[b] > LARGE * targets[blocks[-1]] for b in blocks) if deal == "large" else 0
    if 0 < large < len(blocks):
        return blocks, large + (len(blocks) - large) // 2
    return blocks, len(blocks) // 2


def cut_of(level: GraphLevel, part: Part) -> float:
    """Return the weight of the edges between blocks."""
    return float(halving.cut_weight(level.xadj, level.adjncy, level.adjwgt, part)) / 2
