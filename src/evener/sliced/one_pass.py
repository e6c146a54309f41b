"""LDG and Fennel: streaming partitioners, which place vertices in one pass over a file, or several.

Each block may have its own target; both limits are kept if they differ by some vertices' weight.
These methods store only the block of each vertex, and their cut is many times that of clusters and
refinement. They serve for comparison, and for very large graphs. LDG [SK12]_ takes the block with
most neighbours, discounted by its load; Fennel [TGRV14]_ subtracts a price that rises with a
block's load. Restreaming [NU13]_: in further passes each vertex leaves its block and is placed
again.
"""

from __future__ import annotations

import numpy as np

from evener.arrays import Part
from evener.errors import UsageError
from evener.plans.partition import Contract
from evener.sliced import one_pass_kernels as kernels
from evener.sliced.rows import SlicedGraph

RULES = {"ldg": kernels.LDG, "fennel": kernels.FENNEL}
PRICE = 1.5  # of Fennel, x edges a vertex: the derivative of its cost for gamma = 3/2


def one_pass_blocks(graph: SlicedGraph, limits: Contract, rule: str, *, passes: int = 1) -> Part:
    """Return the blocks (n,) int32 of a graph whose rows one process holds or reads, in order.

    limits: limits on the blocks' weights. rule: "ldg" or "fennel". passes: more than one means
    restreaming. Blocks may exceed their limits if vertices are heavy or limits close together.
    Raises UsageError on several processes, where vertices have no order.
    """
    if graph.comm.size > 1:
        raise UsageError(
            f"{rule} places one vertex after another, so it runs on one process only",
            hint="Leave out --with: Evener's own partitioner runs on all ranks.",
        )
    blocks = np.full(graph.n, kernels.NOWHERE, np.int32)
    load = np.zeros(limits.k)
    bounds = np.maximum(limits.targets, 1e-300), limits.low, limits.high
    rest, missing = _total_weight(graph), float(limits.low.sum())
    price = PRICE * graph.arcs / 2 / max(graph.n, 1)
    for _ in range(passes):
        for i in graph.own_slices:
            rest, missing = kernels.place(
                graph.rows(i), blocks, load, bounds, RULES[rule], price, rest, missing
            )
    return blocks


def _total_weight(graph: SlicedGraph) -> float:
    weights = (graph.weights(i) for i in graph.own_slices)
    sums = [float(one.sum()) for one in weights if one.size]
    return sum(sums) if sums else float(graph.n)
