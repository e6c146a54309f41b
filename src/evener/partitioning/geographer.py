"""Geographer-R: balanced k-means, then FM on pairs of blocks, in the order of an edge colouring.

    order -> k-means -> coarsen inside blocks -> on each level, for each colour: refine its pairs

This is the partitioner of [LDHT]_, section V, where it is called geoRef. Pairs of neighbouring
blocks are the edges of the quotient graph. Edges of one colour share no block, so these pairs are
refined in parallel. For each pair, FM runs twice on the vertices near the border, and the better
result is used. Colours are assigned greedily, longest borders first, as in [HSS10]_. The result
does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, Part
from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.partitioning.initial.kmeans import BALANCE, along_curve, unit_box
from evener.partitioning.levels.levels import (
    LARGEST_CLUSTER,
    GraphLevel,
    Shrunk,
    finest,
    projected,
    scattered,
    shrink,
    shrink_in_steps,
)
from evener.partitioning.multilevel.multilevel import edge_weights, vertex_order
from evener.partitioning.refinement import pairs_kernels as kernels
from evener.partitioning.refinement.cutting import coloured
from evener.partitioning.refinement.fm import boundary_flags
from evener.plans.partition import Contract
from evener.threads import in_slices

# Function of a level, blocks (n,), the heaviest cluster of each block (k,), and the number of
# threads, which returns the next coarser level.
Joining = Callable[[GraphLevel, Part, FloatArray, int], Shrunk]

PER_BLOCK = 80  # number of vertices per block in the coarsest graph
MATCHED = 2.0  # largest weight of a cluster, in mean vertices, which allows pairs of vertices
# A search ends after PATIENCE moves without gain, or PATIENT_SHARE x its vertices if that is more.
PATIENCE, PATIENT_SHARE = 15, 0.05


@dataclass(frozen=True)
class PairEffort:
    """How long to refine.

    rounds: number of passes over all colours on a level. depth: distance in edges, from the border,
    of the farthest vertices that may move.
    """

    rounds: int
    depth: int


EFFORTS = {"fast": PairEffort(1, 1), "default": PairEffort(2, 2), "strong": PairEffort(5, 4)}


def georef_blocks(
    graph: Graph,
    contract: Contract,
    *,
    preset: str = "default",
    seed: int = 7,  # noqa: ARG001 - one signature for all; nothing here is random
    threads: int = 1,
    joined: Joining = shrink,
) -> Part:
    """Return the block (n,) of every vertex; most blocks satisfy `contract`, the others nearly.

    preset: "fast", "default" or "strong". joined: the coarsening function, which joins vertices of
    the same block into clusters, whose weight is limited per block. The cut counts edge weights.
    Raises InputError for a graph without coordinates, InfeasibleError if a target or the weight of
    all vertices is 0.
    """
    if graph.coords is None:
        raise InputError("geoRef needs coordinates, and the graph has none")
    order = vertex_order(graph, threads)
    level = finest(graph, order, graph.weights(), edge_weights(graph), threads)
    points = unit_box(graph.coords, order, threads)
    weights = np.empty(0) if graph.is_unit else level.vwgt
    part, _ = along_curve(points, weights, contract.targets, BALANCE, threads, persistent=True)
    part = refined_by_pairs(level, part, contract, EFFORTS[preset], threads, joined)
    return scattered(part, order, threads)


def refined_by_pairs(
    level: GraphLevel,
    part: Part,
    contract: Contract,
    effort: PairEffort,
    threads: int,
    joined: Joining = shrink,
) -> Part:
    """Return blocks (n,) refined level by level from `part` (n,), which is not changed."""

    def step(finer: GraphLevel, blocks: Part) -> Shrunk:
        mean = float(finer.vwgt.sum()) / finer.n
        caps = np.minimum(MATCHED * mean, np.maximum(LARGEST_CLUSTER * contract.targets, mean))
        return joined(finer, blocks, caps, threads)

    hierarchy = shrink_in_steps(level, part.copy(), 2 * PER_BLOCK * contract.k, step)
    level, part = hierarchy.coarsest, hierarchy.part
    _refine_level(level, part, contract, effort, threads)
    for finer, shrunk in reversed(hierarchy.above):
        part = projected(shrunk, part, threads)
        _refine_level(finer, part, contract, effort, threads)
    return part


def _refine_level(
    level: GraphLevel, part: Part, contract: Contract, effort: PairEffort, threads: int
) -> None:
    """Refine all pairs of blocks in place, colour by colour, until a round gains nothing."""
    weight = np.bincount(part, weights=level.vwgt, minlength=contract.k).astype(np.float64)
    marks = np.full(level.n, -1, np.int32), np.zeros(level.n, np.int8)
    for _ in range(effort.rounds):
        border = np.flatnonzero(boundary_flags(level, part, threads)).astype(np.int32)
        border = border[np.argsort(part[border], kind="stable")]
        starts = np.searchsorted(part[border], np.arange(contract.k + 1))
        members = [border[starts[b] : starts[b + 1]] for b in range(contract.k)]
        work = _LevelPairs(level, part, weight, contract, effort.depth, members, *marks)
        won = 0
        for pairs in _touching(level, part, border, contract.k):
            won += work.refine_class(pairs, threads)
        if won <= 0:
            return


@dataclass(eq=False)
class _LevelPairs:
    """A level and its blocks during one round over all pairs.

    members: for each block, its vertices that were at a border when the round began. place, seen
    (n,): work arrays of the kernels.
    """

    level: GraphLevel
    part: Part
    weight: FloatArray
    contract: Contract
    depth: int
    members: list[Part]
    place: Part
    seen: npt.NDArray[np.int8]

    def refine_class(self, pairs: IntArray, threads: int) -> int:
        """Refine the pairs of a group of _touching in parallel; return the decrease of the cut."""
        gains, k = np.zeros(pairs.size, np.int64), self.contract.k

        def one(i: int) -> None:
            gains[i] = self.refine(int(pairs[i] // k), int(pairs[i] % k))

        in_slices(one, pairs.size, threads)
        return int(gains.sum())

    def refine(self, a: int, b: int) -> int:
        """Refine a pair of blocks in place; return the decrease of the cut."""
        level, k = self.level, self.contract.k
        room = min(level.n, 64 + 8 * (level.n // k + self.members[a].size + self.members[b].size))
        found = np.empty(room, np.int32)
        count = kernels.near_border(
            level.xadj, level.adjncy, self.part, a, b, self.members[a], self.members[b],
            self.depth, self.seen, found,
        )  # fmt: skip
        patience = max(PATIENCE, int(PATIENT_SHARE * count))
        gain = kernels.refine_pair(
            level.arrays, self.part, a, b, self.weight, (self.contract.low, self.contract.high),
            found[:count], patience, self.place,
        )  # fmt: skip
        return int(gain)


def _touching(level: GraphLevel, part: Part, border: Part, k: int) -> list[IntArray]:
    """Return the pairs of neighbouring blocks in groups in which no block occurs twice.

    A pair is lower block x k + higher block. Pairs of the heaviest borders are assigned first, each
    to the first group possible.
    """
    room = int((level.xadj[border + 1].astype(np.int64) - level.xadj[border]).sum())
    keys, weights = np.empty(room, np.int64), np.empty(room, np.int64)
    count = kernels.border_keys(
        level.xadj, level.adjncy, level.adjwgt, part, border, k, keys, weights
    )
    pairs, which = np.unique(keys[:count], return_inverse=True)
    length = np.bincount(which, weights=weights[:count], minlength=pairs.size)
    order, groups = coloured(pairs, length, np.argsort(-length, kind="stable"), k)
    return [pairs[order[first:last]] for first, last in groups]
