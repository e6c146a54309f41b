"""The quotient graph of a partition: which blocks touch, and how much they exchange.

A block's communication volume is what it sends: the sum over its vertices of the number of other
blocks that hold a neighbour [HK00]_.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector
from evener.graphs.graph import Graph
from evener.plans.partition import Partition

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Quotient:
    """A sparse matrix with a row for each block and an entry for each other block it touches.

    Row b is entries starts[b] to starts[b + 1] - 1, starts (k + 1,). other (p,): the block that is
    touched, ascending; sent (p,): number of vertices of b with a neighbour there; cut (p,): weight
    of the edges between the two. boundary (k,): vertices with a neighbour in any other block.
    """

    starts: IntVector
    other: IntVector
    sent: IntVector
    cut: FloatArray
    boundary: IntVector

    @property
    def k(self) -> int:
        """Number of blocks."""
        return int(self.starts.size - 1)

    @property
    def block(self) -> IntVector:
        """(p,) the block of each entry's row."""
        return np.repeat(np.arange(self.k), np.diff(self.starts))

    @property
    def received(self) -> IntVector:
        """(p,) how many vertices the other block sends to this one."""
        # Rows and columns have the same pattern, so a stable sort by column is the transpose.
        by_column = np.lexsort((self.block, self.other))
        return self.sent[by_column]

    def matrix(self, values: npt.NDArray[np.generic]) -> csr_array:
        """(k, k) sparse matrix of one value an entry."""
        from scipy.sparse import csr_array

        return csr_array((values, self.other, self.starts), shape=(self.k, self.k))


def no_contact(k: int) -> Quotient:
    """Return the quotient of k blocks of which none touches another."""
    none, zeros = np.empty(0, np.int64), np.zeros(k, np.int64)
    return Quotient(np.zeros(k + 1, np.int64), none, none, np.empty(0), zeros)


def quotient(graph: Graph, partition: Partition) -> Quotient:
    """Return the quotient graph of the blocks; O(n + m)."""
    from evener.plans import metrics_kernels as kernels

    k = partition.k
    starts = np.zeros(k + 1, np.int64)
    order, found = np.empty(graph.n, np.int32), np.empty(graph.n, np.int32)
    kernels.group_boundary(graph.xadj, graph.adjncy, partition.part, starts, order, found)
    adjwgt = np.empty(0) if graph.adjwgt is None else np.asarray(graph.adjwgt, np.float64)
    rows = np.empty(k + 1, np.int64)
    size = min(32 * k + 1024, k * k)
    while True:
        other, sent, cut = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size)
        needed = kernels.quotient(
            graph.xadj, graph.adjncy, adjwgt, partition.part, starts, order, rows, other, sent, cut
        )  # fmt: skip
        if needed <= size:
            return Quotient(rows, other[:needed], sent[:needed], cut[:needed], np.diff(starts))
        size = needed
