"""EdgePartition, and what it costs: copies of vertices, replication, balance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector, Part, as_integers
from evener.errors import InputError
from evener.graphs.edge_list import EdgeList
from evener.plans import edge_partition_kernels as kernels
from evener.wording import plural


@dataclass(frozen=True, eq=False)
class EdgePartition:
    """The block of every edge of an EdgeList.

    part (m,) int32, from 0 to k - 1. Raises InputError for other blocks.
    """

    part: Part
    k: int

    def __post_init__(self) -> None:
        part = as_integers(self.part, "part")
        if part.size and (part.min() < 0 or part.max() >= self.k):
            e = int(np.argmax((part < 0) | (part >= self.k)))
            raise InputError(f"edge {e} is in block {part[e]}, of {plural(self.k, 'block')}")
        object.__setattr__(self, "part", part.astype(np.int32, copy=False))

    @classmethod
    def of(cls, blocks: npt.ArrayLike, k: int) -> EdgePartition:
        """Return the partition of these blocks (m,), whole numbers of any type."""
        return cls(as_integers(blocks, "part"), k)  # type: ignore[arg-type] # made int32 there

    @property
    def m(self) -> int:
        """Number of edges."""
        return int(self.part.size)

    def checked_for(self, edges: EdgeList) -> EdgePartition:
        """Return self if it is a partition of these edges; else raise InputError."""
        if self.m != edges.m:
            raise InputError(f"the partition has {self.m:,} entries for {edges.m:,} edges")
        return self

    def loads(self, edges: EdgeList) -> FloatArray:
        """(k,) work of each block's edges [units]."""
        return np.bincount(self.part, edges.weights, self.k).astype(np.float64)


@dataclass(frozen=True, eq=False)
class EdgeMetrics:
    """What an edge partition costs.

    copies: sum over vertices with an edge of the blocks that their edges are in, less one
    (Definition 3.1 of [SPAC]_). replication: 1 + copies / number of these vertices. loads (k,)
    [units], vertices (k,): of each block, its edges' work, and the vertices that they touch.
    """

    copies: int
    replication: float
    loads: FloatArray
    vertices: IntVector

    def relative_to(self, targets: npt.NDArray[np.float64]) -> FloatArray:
        """(k,) loads as multiples of targets (k,), read as proportions."""
        wanted = np.asarray(targets, np.float64)
        return np.asarray(self.loads / (wanted / wanted.sum() * self.loads.sum()))


def edge_metrics(edges: EdgeList, partition: EdgePartition) -> EdgeMetrics:
    """Return the copies, replication, loads and vertices of an edge partition."""
    partition.checked_for(edges)
    vertices = np.zeros(partition.k, np.int64)
    offsets, listed = edges.incidence
    copies = int(kernels.count_copies(offsets, listed, partition.part, vertices))
    used = int(np.count_nonzero(edges.degrees))
    return EdgeMetrics(copies, 1 + copies / max(used, 1), partition.loads(edges), vertices)
