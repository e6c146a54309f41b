"""Geographer-R: balanced k-means, then pairwise FM along a colouring of the quotient graph's edges.

    order -> k-means -> shrink inside blocks -> for each level, for each colour: refine its pairs

The partitioner of [LDHT]_, section V, there called geoRef. Blocks that touch are the edges of the
quotient graph; edges of one colour share no block, so their pairs are refined side by side. Each
pair is searched by FM among the vertices near its border, twice, and the better result is kept.
Colours are given greedily, the longest borders first, as in [HSS10]_. Deterministic, whatever the
threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, Part
from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.partitioning.initial.kmeans import along_curve, unit_box
from evener.partitioning.levels.levels import Level, Shrunk, finest, projected, shrink
from evener.partitioning.multilevel.multilevel import edge_weights, vertex_order
from evener.partitioning.multilevel.starts import BALANCE
from evener.partitioning.refinement import pairs_kernels as kernels
from evener.partitioning.refinement.fm import boundary_flags
from evener.plans.partition import Contract
from evener.threads import in_slices

Pairs = list[tuple[int, int]]

PER_BLOCK = 80  # vertices that the smallest graph keeps for each block
MATCHED = 2.0  # mean vertices that a cluster weighs: pairs of them
LARGEST_CLUSTER = 1 / 8  # of the block's target
LEAST_SHRINKAGE = 0.95
PATIENCE, PATIENT_SHARE = 15, 0.05  # moves without gain that end a search; or of its vertices


@dataclass(frozen=True)
class Care:
    """Rounds over all colours on a level, and steps from the border that vertices may lie off."""

    rounds: int
    depth: int


CARES = {"fast": Care(1, 1), "default": Care(2, 2), "strong": Care(5, 4)}


def georef_blocks(
    graph: Graph,
    contract: Contract,
    *,
    preset: str = "default",
    seed: int = 7,  # noqa: ARG001 - one signature for all; nothing here is random
    threads: int = 1,
) -> Part:
    """Return the block (n,) of every vertex; blocks are near `contract`, mostly within it.

    preset: "fast", "default" or "strong". The cut counts edge weights. Raises InputError without
    coordinates, InfeasibleError where a target or the weight of all vertices is 0.
    """
    if graph.coords is None:
        raise InputError("geoRef needs coordinates, and the graph has none")
    order = vertex_order(graph)
    level = finest(graph, order, graph.weights(), edge_weights(graph), threads)
    points = unit_box(graph.coords.take(order, axis=0))
    weights = np.empty(0) if graph.is_unit else level.vwgt
    part, _ = along_curve(points, weights, contract.targets, BALANCE, threads)
    part = refined_by_pairs(level, part, contract, CARES[preset], threads)
    blocks = np.empty(graph.n, np.int32)
    blocks[order] = part
    return blocks


def refined_by_pairs(
    level: Level, part: Part, contract: Contract, care: Care, threads: int
) -> Part:
    """Return blocks (n,) refined level by level from those of `part` (n,), which stays as it is."""
    above: list[tuple[Level, Shrunk]] = []
    part = part.copy()
    while level.n > 2 * PER_BLOCK * contract.k:
        mean = float(level.vwgt.sum()) / level.n
        caps = np.minimum(MATCHED * mean, np.maximum(LARGEST_CLUSTER * contract.targets, mean))
        shrunk = shrink(level, part, caps, threads)
        if shrunk.level.n > LEAST_SHRINKAGE * level.n:
            break
        above.append((level, shrunk))
        level, part = shrunk.level, shrunk.part
    _refine_level(level, part, contract, care, threads)
    for finer, shrunk in reversed(above):
        part = projected(shrunk, part, threads)
        _refine_level(finer, part, contract, care, threads)
    return part


def colour_classes(pairs: Pairs) -> list[Pairs]:
    """Return the pairs in classes in none of which a block stands twice; earlier pairs first."""
    used: dict[int, int] = {}
    classes: list[Pairs] = []
    for a, b in pairs:
        taken = used.get(a, 0) | used.get(b, 0)
        bit = ~taken & (taken + 1)  # the lowest colour that neither has
        used[a], used[b] = used.get(a, 0) | bit, used.get(b, 0) | bit
        colour = bit.bit_length() - 1
        if colour == len(classes):
            classes.append([])
        classes[colour].append((a, b))
    return classes


def _refine_level(level: Level, part: Part, contract: Contract, care: Care, threads: int) -> None:
    """Refine all pairs of blocks in place, colour by colour, until a round wins nothing."""
    weight = np.bincount(part, weights=level.vwgt, minlength=contract.k).astype(np.float64)
    marks = np.full(level.n, -1, np.int32), np.zeros(level.n, np.int8)
    for _ in range(care.rounds):
        border = np.flatnonzero(boundary_flags(level, part, threads)).astype(np.int32)
        border = border[np.argsort(part[border], kind="stable")]
        starts = np.searchsorted(part[border], np.arange(contract.k + 1))
        members = [border[starts[b] : starts[b + 1]] for b in range(contract.k)]
        task = _Task(level, part, weight, contract, care.depth, members, *marks)
        won = 0
        for pairs in colour_classes(_touching(level, part, border, contract.k)):
            won += task.refine_class(pairs, threads)
        if won <= 0:
            return


@dataclass(eq=False)
class _Task:
    """A level and its blocks; members: of each block, those at a border when the round began.

    place and seen (n,) are marks of the kernels.
    """

    level: Level
    part: Part
    weight: FloatArray
    contract: Contract
    depth: int
    members: list[Part]
    place: Part
    seen: npt.NDArray[np.int8]

    def refine_class(self, pairs: Pairs, threads: int) -> int:
        """Refine pairs that share no block, side by side; return what the cut fell by."""
        gains = np.zeros(len(pairs), np.int64)

        def one(i: int) -> None:
            gains[i] = self.refine(*pairs[i])

        in_slices(one, len(pairs), threads)
        return int(gains.sum())

    def refine(self, a: int, b: int) -> int:
        """Refine the pair in place; return what the cut fell by."""
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


def _touching(level: Level, part: Part, border: Part, k: int) -> Pairs:
    """Return the pairs of blocks that touch, those with the heaviest border first."""
    room = int((level.xadj[border + 1].astype(np.int64) - level.xadj[border]).sum())
    keys, weights = np.empty(room, np.int64), np.empty(room, np.int64)
    count = kernels.border_keys(
        level.xadj, level.adjncy, level.adjwgt, part, border, k, keys, weights
    )
    pairs, which = np.unique(keys[:count], return_inverse=True)
    length = np.bincount(which, weights=weights[:count], minlength=pairs.size)
    pairs = pairs[np.argsort(-length, kind="stable")]
    return [(int(key // k), int(key % k)) for key in pairs]
