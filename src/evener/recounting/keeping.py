"""Whether blocks keep their contract, and how far they are from their targets."""

from __future__ import annotations

import numpy as np

from evener.arrays import BoolArray
from evener.partitions import Contract
from evener.recounting.blocks import Blocks

SLACK = 1e-9  # of a target, and of a memory: sums of real numbers depend on their order


def kept(contract: Contract, blocks: Blocks) -> BoolArray:
    """Return (k,) whether each block keeps low, high and memory, and is not empty.

    A block whose high is zero for every weight may be empty.
    """
    holds = blocks.bytes <= contract.caps * (1 + SLACK)
    to_be_empty = np.ones(contract.k, np.bool_)
    for weights, limit in zip(blocks.weights.T, (contract, *contract.further), strict=True):
        slack = SLACK * limit.targets
        holds &= (limit.low - slack <= weights) & (weights <= limit.high + slack)
        to_be_empty &= limit.high == 0
    return np.asarray(holds & ((blocks.vertices > 0) | to_be_empty))


def imbalance_of(contract: Contract, blocks: Blocks) -> float:
    """Return the largest weight / target, minus 1, over all blocks and weights.

    A target of zero gives 0 where it is kept, infinity where it is exceeded.
    """
    targets = np.column_stack([limit.targets for limit in (contract, *contract.further)])
    beyond = np.where(blocks.weights > 0, np.inf, 0.0)
    with np.errstate(over="ignore"):
        np.divide(blocks.weights, targets, out=beyond, where=targets > 0)
    beyond[targets > 0] -= 1
    return float(beyond.max())
