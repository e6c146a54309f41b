"""Partitioners of graphs in slices other than Evener's own: along the Hilbert curve, LDG, Fennel.

Along the curve: the curve is divided into equal buckets, whose weights are summed in a first pass
over the coordinates; each block is a run of consecutive buckets. No edge is read. The cut is 1.4 to
1.9 times that of refined blocks.

LDG and Fennel place vertices in one pass over the rows, or in several. Each block may have its own
target, and both limits are satisfied if they differ by the weight of some vertices. These tools
store only the block of each vertex, and their cut is many times that of clusters and refinement:
they serve for comparison, and for very large graphs. LDG [SK12]_ takes the block with most
neighbours, discounted by its load; Fennel [TGRV14]_ subtracts a price that rises with a block's
load. Restreaming [NU13]_: in further passes each vertex leaves its block and is placed again.
"""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray, IntVector, Part
from evener.errors import NotFoundError, UsageError
from evener.graphs.hilbert import BITS_A_COORDINATE, keys_in_box, within_range
from evener.partitioning.tools import SLICED_TOOLS
from evener.plans.partition import Contract
from evener.sliced import one_pass_kernels as kernels
from evener.sliced.rows import SlicedGraph

ON_RANKS = ("curve",)  # of these, those for which vertices need not come in order


def blocks_by(tool: str, graph: SlicedGraph, limits: Contract) -> Part:
    """Return the blocks (n_own,) int32 made by a tool of SLICED_TOOLS, within limits. Collective.

    Raises the errors of `one_pass_blocks` and `curve_blocks`.
    """
    if tool == "curve":
        return curve_blocks(graph, limits)
    return one_pass_blocks(graph, limits, tool.removeprefix("re"), passes=SLICED_TOOLS[tool])


BUCKET_BITS = 20  # a block of a thousandth of the weight has a thousand buckets in even meshes


def curve_blocks(graph: SlicedGraph, limits: Contract) -> Part:
    """Return the blocks (n_own,) int32 of this process's vertices. Collective.

    limits: limits on the blocks' weights. Raises UsageError if there are no coordinates,
    NotFoundError if a bucket is too heavy for the limits.
    """
    if not graph.dimension:
        raise UsageError(
            "blocks along the Hilbert curve need coordinates, but the graph has none",
            hint="Pass coordinates with --coords FILE, or omit --with: Evener's partitioner needs "
            "only edges.",
        )
    low, high = _box(graph)
    weights = np.zeros(1 << BUCKET_BITS)
    bucket_of = np.empty(graph.n_own, np.int32)
    begin = int(graph.ends[graph.own_slices.start])
    for i in graph.own_slices:
        first, last = (graph.ends[i : i + 2] - begin).tolist()
        own = bucket_of[first:last]
        own[:] = _buckets(graph.points(i), low, high)
        vwgt = graph.weights(i)
        weights += np.bincount(own, vwgt if vwgt.size else None, weights.size)
    weights = np.sum(graph.comm.allgather(weights), axis=0)
    block_of = _runs(weights, limits)
    _refuse_broken(np.bincount(block_of, weights, limits.k).astype(np.float64), limits)
    return block_of[bucket_of]


def _box(graph: SlicedGraph) -> tuple[FloatArray, FloatArray]:
    """Return the minimum and maximum (d,) of the coordinates of all vertices."""
    low, high = np.full(graph.dimension, np.inf), np.full(graph.dimension, -np.inf)
    for i in graph.own_slices:
        points = graph.points(i)
        if len(points):
            low, high = np.minimum(low, points.min(axis=0)), np.maximum(high, points.max(axis=0))
    of_ranks = graph.comm.allgather((low, high))
    return np.min([one for one, _ in of_ranks], axis=0), np.max(
        [one for _, one in of_ranks], axis=0
    )


def _buckets(points: FloatArray, low: FloatArray, high: FloatArray) -> IntVector:
    largest = float(np.abs([low, high]).max())
    near, *box = (within_range(one, largest) for one in (points, low, high))
    keys = keys_in_box(np.ascontiguousarray(near), box[0], box[1])
    d = points.shape[1]
    return (keys >> np.uint64(d * BITS_A_COORDINATE[d] - BUCKET_BITS)).astype(np.int64)


def _runs(weights: FloatArray, limits: Contract) -> Part:
    """Return the block (b,) of each bucket, by the middle of its range of cumulative weight."""
    ends = np.cumsum(limits.targets)
    middles = (np.cumsum(weights) - weights / 2) * (ends[-1] / max(float(weights.sum()), 1e-300))
    runs = np.minimum(np.searchsorted(ends, middles, "right"), limits.k - 1)
    return np.asarray(runs, np.int32)


def _refuse_broken(loads: FloatArray, limits: Contract) -> None:
    off = np.maximum(limits.low - loads, loads - limits.high)
    b = int(np.argmax(off))
    if off[b] > 1e-9 * float(limits.targets.sum()):
        raise NotFoundError(
            f"block {b} along the curve weighs {loads[b]:,.6g} instead of {limits.low[b]:,.6g} to "
            f"{limits.high[b]:,.6g}: too many vertices have nearly the same coordinates",
            hint="Increase --epsilon, or omit --with: Evener's partitioner then refines the "
            "blocks.",
        )


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
            hint="Omit --with: Evener's own partitioner runs on all ranks.",
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
