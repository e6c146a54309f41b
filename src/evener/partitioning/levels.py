"""Level: one graph of a multilevel hierarchy, as kernels take it, and how to shrink it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, NumberArray
from evener.errors import InputError
from evener.graphs import Graph
from evener.partitioning import coarsening_kernels as kernels
from evener.partitioning.threads import in_slices

Part = npt.NDArray[np.int32]
Unsigned = npt.NDArray[np.uint32]

MOST_ENTRIES = 2**32 - 1
SLICE = 1 << 15  # vertices that are worth a slice of their own
MOST_SLICES = 8


@dataclass(eq=False)
class Level:
    """xadj (n + 1,), adjncy (e,) uint32; adjwgt (e,) int32, empty: all 1; vwgt (n,) float64."""

    xadj: Unsigned
    adjncy: Unsigned
    adjwgt: npt.NDArray[np.int32]
    vwgt: FloatArray

    @property
    def n(self) -> int:
        """Number of vertices."""
        return int(self.vwgt.size)

    @property
    def arrays(self) -> tuple[Unsigned, Unsigned, npt.NDArray[np.int32], FloatArray]:
        """The graph as kernels take it."""
        return self.xadj, self.adjncy, self.adjwgt, self.vwgt


@dataclass(eq=False)
class Shrunk:
    """A smaller level, the block (n,) of its vertices, and which of them each vertex became."""

    level: Level
    part: Part
    coarse_of: Unsigned


def finest(
    graph: Graph, order: IntArray, weights: NumberArray, adjwgt: npt.NDArray[np.int32], threads: int
) -> Level:
    """Return the graph with its vertices in `order`; weights (n,) and adjwgt (2m,) as it stands."""
    if graph.adjncy.size > MOST_ENTRIES:
        raise InputError(f"more than {MOST_ENTRIES:,} adjacency entries are too many for this")
    n = graph.n
    rank = np.empty(n, np.uint32)
    rank[order] = np.arange(n, dtype=np.uint32)
    xadj = np.zeros(n + 1, np.uint32)
    np.cumsum(graph.degrees[order], out=xadj[1:])
    adjncy, moved = np.empty(graph.adjncy.size, np.uint32), np.empty(adjwgt.size, np.int32)
    slices = slices_for(n)

    def one(i: int) -> None:
        kernels.permute_rows(
            graph.xadj, graph.adjncy, adjwgt, order, rank, n * i // slices,
            n * (i + 1) // slices, xadj, adjncy, moved,
        )  # fmt: skip

    in_slices(one, slices, threads)
    return Level(xadj, adjncy, moved, weights[order].astype(np.float64))


def shrink(level: Level, part: Part, caps: FloatArray, threads: int) -> Shrunk:
    """Join vertices of one block to clusters of weight up to caps (k,), and contract them."""
    n, slices = level.n, slices_for(level.n)
    leader, weight = np.full(n, -1, np.int32), level.vwgt.copy()
    in_slices(
        lambda i: kernels.cluster(
            *level.arrays, part, caps, n * i // slices, n * (i + 1) // slices, leader, weight
        ),
        slices,
        threads,
    )
    coarse_of = np.empty(n, np.uint32)
    head, following = np.empty(n, np.int32), np.empty(n, np.int32)
    count = kernels.number_clusters(leader, coarse_of, head, following)
    return _contract(level, part, coarse_of, head[:count], following, threads)


def _contract(
    level: Level,
    part: Part,
    coarse_of: Unsigned,
    head: npt.NDArray[np.int32],
    following: npt.NDArray[np.int32],
    threads: int,
) -> Shrunk:
    count = head.size
    slices = slices_for(count)
    ends = [count * i // slices for i in range(slices + 1)]
    degree, vwgt = np.empty(count, np.uint32), np.empty(count)
    coarse_part = np.empty(count, np.int32)
    rows: list[tuple[Unsigned, npt.NDArray[np.int32]]] = [_NOTHING] * slices

    def one(i: int) -> None:
        first, last = ends[i], ends[i + 1]
        room = kernels.entries_of(level.xadj, head, following, first, last)
        mark = np.full(count, -1, np.int64)
        found, weights = np.empty(room, np.uint32), np.empty(room, np.int32)
        used = kernels.contract(
            *level.arrays, part, coarse_of, head, following, first, last, mark, found, weights,
            degree, vwgt, coarse_part,
        )  # fmt: skip
        rows[i] = found[:used], weights[:used]

    in_slices(one, slices, threads)
    xadj = np.zeros(count + 1, np.uint32)
    np.cumsum(degree, out=xadj[1:])
    coarse = Level(
        xadj, np.concatenate([r[0] for r in rows]), np.concatenate([r[1] for r in rows]), vwgt
    )
    return Shrunk(coarse, coarse_part, coarse_of)


_NOTHING = (np.empty(0, np.uint32), np.empty(0, np.int32))


def slices_for(n: int) -> int:
    """Into how many slices work over n items is cut, whatever the threads."""
    return int(np.clip(n // SLICE, 1, MOST_SLICES))
