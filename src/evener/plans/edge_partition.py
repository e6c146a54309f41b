"""EdgePartition, and its costs: copies of vertices, replication, balance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, IntVector, Part, as_integers
from evener.errors import InputError
from evener.graphs.edge_list import BYTES_PER_LISTED_EDGE, EdgeList
from evener.graphs.lists import BYTES_PER_VERTEX
from evener.plans import edge_partition_kernels as kernels
from evener.plans.workload import BYTES_PER_VALUE
from evener.wording import brief, plural


@dataclass(frozen=True, eq=False)
class EdgePartition:
    """The block of every edge of an EdgeList.

    part (m,) int32, from 0 to k - 1. Raises InputError for other blocks.
    """

    part: Part
    k: int

    def __post_init__(self) -> None:
        part: IntArray = self.part
        if not isinstance(part, np.ndarray) or part.dtype != np.int32 or part.ndim != 1:
            part = as_integers(part, "part")  # else not copied: it may be a mapped file
        if part.size and (part.min() < 0 or part.max() >= self.k):
            e = int(np.argmax((part < 0) | (part >= self.k)))
            raise InputError(
                f"edge {e} is in block {part[e]}, but there are {plural(self.k, 'block')}"
            )
        object.__setattr__(self, "part", part.astype(np.int32, copy=False))

    @classmethod
    def of(cls, blocks: npt.ArrayLike, k: int) -> EdgePartition:
        """Return the partition with these blocks (m,), integers of any type."""
        return cls(as_integers(blocks, "part"), k)  # type: ignore[arg-type] # made int32 there

    @property
    def m(self) -> int:
        """Number of edges."""
        return int(self.part.size)

    def checked_for(self, edges: EdgeList) -> EdgePartition:
        """Return self if it is a partition of these edges; else raise InputError."""
        if self.m != edges.m:
            raise InputError(
                f"the partition has {self.m:,} entries, but there are {edges.m:,} edges"
            )
        return self

    def loads(self, edges: EdgeList) -> FloatArray:
        """Return the work of each block's edges, (k,) [units]."""
        return np.bincount(self.part, edges.weights, self.k).astype(np.float64)


@dataclass(frozen=True, eq=False)
class EdgeMetrics:
    """The costs of an edge partition.

    copies: sum over vertices with an edge of (number of blocks with one of its edges) - 1
    (Definition 3.1 of [SPAC]_). replication: 1 + copies / number of these vertices. For each block
    (k,): loads, float64 [units]: work of its edges; vertices, int64: number of vertices its edges
    touch; edges, int64: number of its edges.
    """

    copies: int
    replication: float
    loads: FloatArray
    vertices: IntVector
    edges: IntVector

    def __repr__(self) -> str:
        return brief(self)

    @property
    def bytes(self) -> FloatArray:
        """Memory of each block, (k,) [B]: its edges, and a copy of each of its vertices."""
        return self.edges * BYTES_PER_LISTED_EDGE + self.vertices * BYTES_PER_VERTEX

    @property
    def most_vertices(self) -> int:
        """Number of vertices of the block with the most vertices."""
        return int(self.vertices.max(initial=0))

    def relative_to(self, targets: npt.NDArray[np.float64]) -> FloatArray:
        """Return loads as multiples of targets (k,), which may be in any unit, (k,)."""
        wanted = np.asarray(targets, np.float64)
        return np.asarray(self.loads / (wanted / wanted.sum() * self.loads.sum()))

    def balance(self, targets: npt.NDArray[np.float64]) -> float:
        """Return the largest load as a multiple of its target.

        1 if all loads equal their targets.
        """
        return float(self.relative_to(targets).max())

    def exchanged_bytes(self, bytes_per_value: float = BYTES_PER_VALUE) -> float:
        """Return the bytes that all devices send in an iteration: a value to and from each copy.

        One copy of a vertex is its master; each other copy sends a value to the master, and
        receives a value.
        """
        return 2 * self.copies * bytes_per_value


def blocks_of_vertices(edges: EdgeList, partition: EdgePartition) -> Part:
    """Return the number of blocks with edges of each vertex, (n,) int32; 0 if it has no edge."""
    return _counted(edges, partition)[0]


def edge_metrics(edges: EdgeList, partition: EdgePartition) -> EdgeMetrics:
    """Return the copies, replication, loads, vertices and edges of an edge partition.

    Raises InputError for a partition of another number of edges.
    """
    blocks, vertices = _counted(edges, partition)
    used = int(np.count_nonzero(blocks))
    copies = int(blocks.sum(dtype=np.int64)) - used
    counts = np.bincount(partition.part, minlength=partition.k).astype(np.int64, copy=False)
    loads = partition.loads(edges)
    return EdgeMetrics(copies, 1 + copies / max(used, 1), loads, vertices, counts)


def _counted(edges: EdgeList, partition: EdgePartition) -> tuple[Part, IntVector]:
    """Return the number of blocks of each vertex (n,) and of vertices of each block (k,)."""
    partition.checked_for(edges)
    blocks, vertices = np.zeros(edges.n, np.int32), np.zeros(partition.k, np.int64)
    ends = np.zeros(edges.n + 1, np.int64)
    np.cumsum(edges.degrees, out=ends[1:])
    kernels.count_blocks(edges.tails, edges.heads, partition.part, ends, blocks, vertices)
    return blocks, vertices
