"""Whether blocks keep their contract, and how far they are from their targets."""

from __future__ import annotations

import numpy as np

from evener.arrays import BoolArray, FloatArray
from evener.partitions import Contract, Further
from evener.recounting.blocks import Blocks

SLACK = 1e-9  # of a target, and of a memory: sums of real numbers depend on their order
TIME_SLACK = 1e-6  # of a makespan


def kept(contract: Contract, blocks: Blocks, ends: FloatArray) -> BoolArray:
    """Return (k,) whether each block keeps low, high and memory, is not empty, and is in time.

    A block whose high is zero for every weight may be empty; where devices may be unused, every
    block may be. ends (k,) [s]: when each device is done.
    """
    fits = blocks.bytes <= contract.caps * (1 + SLACK)
    to_be_empty = np.ones(contract.k, np.bool_)
    for weights, limit in zip(blocks.weights.T, _limits(contract), strict=True):
        slack = SLACK * limit.targets
        fits &= (limit.low - slack <= weights) & (weights <= limit.high + slack)
        to_be_empty &= limit.high == 0
    empty = blocks.vertices == 0
    holds = fits & (~empty | to_be_empty)
    if contract.may_be_unused:
        holds |= empty
    return np.asarray(holds & (ends <= contract.makespan * (1 + TIME_SLACK)))


def imbalance_of(contract: Contract, blocks: Blocks) -> float:
    """Return the largest weight / target, minus 1, over all blocks and weights.

    A target of zero gives 0 where it is kept, infinity where it is exceeded.
    """
    targets = np.column_stack([limit.targets for limit in _limits(contract)])
    beyond = np.where(blocks.weights > 0, np.inf, 0.0)
    with np.errstate(over="ignore"):
        np.divide(blocks.weights, targets, out=beyond, where=targets > 0)
    beyond[targets > 0] -= 1
    return float(beyond.max())


def _limits(contract: Contract) -> list[Contract | Further]:
    """Return what holds targets, low and high, of each weight."""
    return [contract, *contract.further]
