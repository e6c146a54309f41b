"""Figures derived from the counts of blocks: their exchange, and limits that fit their memory."""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray
from evener.plans.exchange_costs import Quotient
from evener.plans.partition import Contract
from evener.plans.recount import BlockCounts


def quotient_of(counts: BlockCounts) -> Quotient:
    """Return the quotient graph of the blocks, without the weights of edges."""
    starts = np.searchsorted(counts.sender, np.arange(counts.vertices.size + 1))
    return Quotient(starts, counts.receiver, counts.values, np.empty(0), counts.boundary)


def limits_within_memory(
    contract: Contract, density: FloatArray, margin: float, heaviest: float = 0.0
) -> Contract:
    """Return limits on weights that keep blocks of this density (k,) [B/unit] within their memory.

    margin: fraction of a memory that is left free, if the weights allow that: low limits are
    unchanged, and all blocks together can hold the load. Targets are as near to the contract's as
    the limits allow. heaviest: maximum weight of a vertex. A block's low and high limits differ by
    at least this, if those of the contract do; between closer limits there may be no possible sum
    of weights.
    """
    load, low, high = float(contract.targets.sum()), contract.low, contract.high
    with np.errstate(divide="ignore", over="ignore"):
        fitting = np.where(density > 0, contract.caps / density, np.inf)
    for free in (margin, margin / 2, margin / 4, 0.0):
        most = np.maximum(np.minimum(high, fitting * (1 - free)), np.minimum(low + heaviest, high))
        middle = np.where(most < high, np.minimum(contract.targets, (low + most) / 2), np.inf)
        targets = np.minimum(contract.targets, middle)
        room = most - targets
        short = load - float(targets.sum())
        if short <= float(room.sum()):
            more = room * (short / room.sum()) if short > 0 else np.zeros(contract.k)
            return Contract(targets + more, low, most, contract.caps)
    return Contract(contract.targets, low, high, contract.caps)
