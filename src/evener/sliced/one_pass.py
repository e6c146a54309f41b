"""LDG and Fennel: blocks made as vertices come, in one pass over a file or several.

With targets of their own for all blocks; both limits are kept where they are some vertices apart.
They need no more than the block of each vertex, and cut many times what clusters and refinement
do; here for comparison, and for scale. LDG [SK12]_ takes the block with most neighbours, less where
it is full; Fennel [TGRV14]_ has a price on every block that rises with its load. Restreaming
[NU13]_: in further passes a vertex leaves its block and is placed again.
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
    """Return the blocks (n,) int32 of a graph that one process holds or reads, in order.

    limits: on the blocks' weights. rule: "ldg" or "fennel". passes: more than one restream. Heavy
    vertices, or limits that are close together, may leave blocks beyond limits. Raises UsageError
    on several processes, where there is no order.
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
