"""The contract of every block: optimal sizes, made into limits that a graph can keep."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evener.errors import InfeasibleError
from evener.graphs import Graph
from evener.partitions import Contract
from evener.platforms import Platform
from evener.sizing.memory_capped import Sizes, target_sizes


def contract_for(
    graph: Graph, platform: Platform, epsilon: float = 0.03, constraint: int = 0
) -> tuple[Contract, Sizes]:
    """Return the contract of each device's block of `graph`, and the sizes it comes from.

    A weighted graph's memory is spread over its weight evenly for the targets; the caps in bytes
    hold for what the block really contains. Where tiny targets ask for blocks that would be
    empty, each gets one vertex and the lows of the rest give way. Raises InfeasibleError for
    more devices than vertices and for too little memory.
    """
    if platform.k > graph.n:
        raise InfeasibleError(
            f"{platform.k:,} devices for {graph.n:,} vertices: some block would be empty",
            hint="Use fewer devices or a larger graph.",
        )
    load = float(graph.weights(constraint).sum())
    if load <= 0:
        raise InfeasibleError("all vertices weigh nothing: there is no load to divide")
    unit = graph.is_unit
    sizes = target_sizes(
        platform, load, epsilon=epsilon, unit=unit, bytes_per_unit=graph.total_bytes / load
    )
    low = _none_empty(sizes, graph.n) if unit else sizes.low
    high = np.maximum(sizes.high, low)
    return Contract(sizes.targets, low, high, platform.memories), replace(sizes, low=low, high=high)


def _none_empty(sizes: Sizes, n: int) -> np.ndarray:
    """Raise lows to one vertex; where they then exceed n in sum, lower the largest ones."""
    low = np.maximum(sizes.low, 1.0)
    over = low.sum() - n
    while over > 0:
        # Shave the lows furthest above one, evenly; each round settles at least one block.
        spare = low - 1
        shave = np.minimum(np.floor(spare * min(1.0, over / spare.sum())), spare)
        if shave.sum() == 0:
            shave[np.argsort(-spare, kind="stable")[: int(over)]] = 1
        low -= shave
        over = low.sum() - n
    return np.asarray(low)
