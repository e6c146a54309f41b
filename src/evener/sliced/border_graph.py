"""BorderGraph: single vertices near borders, and whole clusters elsewhere, of a divided graph.

Counts of blocks on this graph equal those on the whole graph as long as the neighbours of whole
clusters keep their blocks, because every vertex at a border is then a single vertex.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, Part
from evener.graphs.graph import Graph
from evener.sliced import borders_kernels as kernels
from evener.sliced.blocks import SlicedOptions, SmallGraph, border_sizes
from evener.sliced.borders import (
    NO_BLOCKS,
    NO_GROUP_ROWS,
    BlockBorders,
    Near,
    block_type,
    group_graph,
    group_rows,
    near_clusters,
    number_groups,
)
from evener.sliced.memory import too_little, whole_border_memory
from evener.sliced.rows import SlicedGraph


@dataclass(frozen=True, eq=False)
class BorderGraph:
    """A graph whose vertices are whole clusters first, then single vertices.

    graph: at rank 0, None elsewhere; weights of clusters, and of their edges, are sums. part (b,)
    int32: the block of each of its vertices; fixed (b,): whether that vertex must stay in its
    block; both at rank 0. own: number of single vertices of each process.
    """

    borders: BlockBorders
    own: npt.NDArray[np.int64]
    graph: Graph | None
    part: Part
    fixed: BoolArray

    @classmethod
    def read(
        cls, graph: SlicedGraph, small: SmallGraph, blocks: Part, k: int, options: SlicedOptions
    ) -> BorderGraph:
        """Read the rows of clusters within options.hops edges of border clusters. Collective.

        blocks (n_local,) int32: the block of each vertex and ghost. Raises MemoryShortError if
        options.memory does not suffice.
        """
        borders = _borders(graph, small, blocks, k, options)
        comm = graph.comm
        group_of = np.append(np.zeros(k, np.int64), -1)
        own = number_groups(borders, group_of, 1)[:, 0]
        outgoing = [NO_GROUP_ROWS] * comm.size
        outgoing[0] = group_rows(borders, group_of, 0)
        got = [one.wide() for one in comm.exchange(outgoing)]
        del outgoing
        if comm.rank > 0:
            return cls(borders, own, None, NO_BLOCKS, np.empty(0, np.bool_))
        members = np.flatnonzero(borders.whole_part < k)
        both = [borders.whole_part[members], *(one.blocks for one in got)]
        part: Part = np.concatenate(both, dtype=np.int32)
        mixed = group_graph(borders, members, got)
        fixed = np.empty(mixed.n, np.bool_)
        kernels.mark_beside(mixed.xadj, mixed.adjncy, members.size, fixed)
        return cls(borders, own, mixed, part, fixed)

    def blocks(self, part: Part, *, keep: bool = False) -> Part:
        """Return the blocks (n_local,) int32 of all vertices, given those of this graph, `part`.

        part (b,) int32: at rank 0; not read elsewhere. Collective. Without `keep`, the result
        overwrites the clusters' numbers, so this may be called only once.
        """
        borders = self.borders
        comm, k = borders.graph.comm, borders.k
        whole, singles = NO_BLOCKS, [NO_BLOCKS] * comm.size
        if comm.rank == 0:
            n_whole = part.size - int(self.own.sum())
            whole, singles = part[:n_whole], np.split(part[n_whole:], np.cumsum(self.own)[:-1])
        borders.whole_part[borders.whole_part < k] = comm.bcast(whole)
        group_of = np.append(np.zeros(k, np.int64), -1)
        given = comm.exchange(singles)[0].astype(np.int32, copy=False)
        of = borders.of
        kernels.put_blocks(borders.graph.n_own, of, borders.blocks, group_of, 0, given)
        borders.fill_blocks()
        found = np.empty_like(of) if keep else of
        kernels.write_blocks(of, borders.whole_part, borders.blocks, found)
        return found


def _borders(
    graph: SlicedGraph, small: SmallGraph, blocks: Part, k: int, options: SlicedOptions
) -> BlockBorders:
    """Return the borders of blocks (n_local,); a cluster may have vertices of several blocks."""
    part = cluster_blocks(graph, small.of, blocks, small.graph.n, k)
    near = near_within(graph, small, part, k, options)
    borders = BlockBorders.found(graph, small.of.copy(), small.graph, part, k, near)
    borders.blocks, borders.weights = blocks.astype(block_type(k)), np.zeros(k)
    return borders


def near_within(
    graph: SlicedGraph, small: SmallGraph, part: Part, k: int, options: SlicedOptions
) -> Near:
    """Like near_clusters, but with fewer hops if memory does not suffice.

    part (c,) int32: the block of each cluster, or a number of at least k for clusters with vertices
    of several blocks. Raises MemoryShortError if options.memory does not suffice for zero hops.
    """
    for hops in range(options.hops, -1, -1):
        near = near_clusters(small.graph, part, hops)
        near[part >= k] = 1
        if not options.is_bounded:
            return near
        singles = int(kernels.count_single(small.of, near))
        needed = whole_border_memory(options.sizes_of(graph), border_sizes(small, singles, k))
        if needed <= options.memory:
            return near
    raise too_little("refining the borders of these blocks needs", needed, options.memory)


def cluster_blocks(graph: SlicedGraph, of: Part, blocks: Part, count: int, k: int) -> Part:
    """Return the block (count,) of each cluster, or a number >= k if it has vertices of several."""
    least, most = np.full(count, k, np.int32), np.full(count, -1, np.int32)
    kernels.find_blocks(of, blocks, graph.n_own, least, most)
    of_ranks = graph.comm.allgather((least, most))
    least = np.min([one for one, _ in of_ranks], axis=0)
    most = np.max([one for _, one in of_ranks], axis=0)
    return np.where(least == most, least, k + np.arange(count, dtype=np.int32)).astype(np.int32)
