"""Counts the figures of blocks of a graph in slices again; every row is read once.

It stores the blocks, four bytes per vertex, the connected pieces found so far, and a table of the
pairs of blocks that exchange values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector, Part
from evener.plans.counts import BlockCounts
from evener.plans.exchange_costs import Quotient
from evener.plans.workload import WEIGHTS, Workload
from evener.sliced import recounting_kernels as kernels
from evener.sliced.contraction_kernels import FREE, add_pairs
from evener.sliced.facts import VERTEX_BYTES, VertexBytes
from evener.sliced.recounting_kernels import PairTable, Sums
from evener.sliced.rows import SlicedGraph

FIRST_PAIRS = 1 << 12  # places of the table of pairs at first; it is doubled when half full


def recounted_in_slices(
    graph: SlicedGraph,
    part: Part,
    k: int,
    workload: Workload = WEIGHTS,
    size: VertexBytes = VERTEX_BYTES,
) -> BlockCounts:
    """Return the counts of the k blocks, the same on all processes. Collective.

    part (n_own,) int32: the blocks of the process's vertices. graph: as it was read. workload: the
    work of vertices; by default it is their weights.
    """
    blocks = part
    if graph.n_local > graph.n_own:
        blocks = np.concatenate([part, np.empty(graph.n_local - graph.n_own, np.int32)])
    graph.fill(blocks)
    joined = np.arange(graph.n_local, dtype=np.int32)
    found = _counted_rows(graph, blocks, joined, k)
    pieces = _pieces(graph, blocks, joined, k)
    sender, receiver = np.divmod(found.keys, k)
    starts = np.searchsorted(sender, np.arange(k + 1))
    sums = found.sums
    weights, inside = _work(sums, workload)
    return BlockCounts(
        weights=weights[:, None],
        vertices=sums.vertices,
        bytes=size.vertex * sums.vertices + size.entry * sums.entries,
        components=pieces,
        interior=np.divide(inside, weights, out=np.ones(k), where=weights > 0),
        between=Quotient(starts, receiver, found.values, np.empty(0), sums.vertices - sums.inside),
        edge_cut=found.cut / 2,
    )


def _work(sums: Sums, workload: Workload) -> tuple[FloatArray, FloatArray]:
    """Return the work of blocks (k,), and of their interior vertices (k,) [units].

    Work is proportional to workload.shares, scaled to the sum of all weights; it is the vertex
    weights if these shares are 0.
    """
    vertex, entry = workload.shares
    if not (vertex or entry):
        return sums.weights, sums.inside_weights
    cost = vertex * sums.vertices + entry * sums.entries
    inside = vertex * sums.inside + entry * sums.inside_entries
    scale = sums.weights.sum() / cost.sum()
    return np.asarray(cost * scale, np.float64), np.asarray(inside * scale, np.float64)


@dataclass(frozen=True, eq=False)
class _Counted:
    """Counts of all rows, and the values sent between pairs of blocks, by ascending key."""

    sums: Sums
    keys: IntVector
    values: IntVector
    cut: float


def _counted_rows(graph: SlicedGraph, blocks: Part, joined: Part, k: int) -> _Counted:
    # Whole numbers are exact; what may be fractions is summed slice by slice in the slices' order,
    # which does not depend on who holds them.
    seen = np.full(k, -1, np.int32)
    counts = [np.zeros(k, np.int64) for _ in range(4)]
    units = Sums(np.zeros(k), np.zeros(k), *counts)
    pairs, used = _empty_pairs(FIRST_PAIRS), 0
    parts: list[tuple[FloatArray, FloatArray]] = []
    cuts: list[float] = []
    for i in graph.own_slices:
        sums, cut = units, 0.0
        for rows in graph.pieces(i):
            if rows.vwgt.size and sums is units:
                sums = Sums(np.zeros(k), np.zeros(k), *counts)
                parts.append((sums.weights, sums.inside_weights))
            begin = 0
            while begin < rows.xadj.size - 1:
                begin, used, cut = kernels.count_rows(
                    rows, begin, blocks, joined, seen, sums, pairs, used, cut
                )
                if begin < rows.xadj.size - 1:
                    pairs = _larger(pairs)
        cuts.append(cut)
    comm = graph.comm
    of_ranks = comm.allgather([units[:2], *parts])
    weights, inside = (
        np.sum([one[j] for some in of_ranks for one in some], axis=0) for j in (0, 1)
    )
    totals = np.sum(comm.allgather(np.array(counts)), axis=0)
    cut = sum(one for some in comm.allgather(cuts) for one in some)
    return _Counted(Sums(weights, inside, *totals), *_all_pairs(graph, pairs), float(cut))


def _all_pairs(graph: SlicedGraph, pairs: PairTable) -> tuple[IntVector, IntVector]:
    """Return the pairs of all processes, by ascending key."""
    there = pairs.keys != FREE
    of_ranks = graph.comm.allgather((pairs.keys[there], pairs.values[there]))
    keys, which = np.unique(np.concatenate([one[0] for one in of_ranks]), return_inverse=True)
    values = np.bincount(which, np.concatenate([one[1] for one in of_ranks]), keys.size)
    return keys, values.astype(np.int64)


def _empty_pairs(size: int) -> PairTable:
    return PairTable(np.full(size, FREE, np.int64), np.zeros(size, np.int64))


def _larger(pairs: PairTable) -> PairTable:
    larger = _empty_pairs(2 * pairs.keys.size)
    add_pairs(pairs.keys, pairs.values, larger.keys, larger.values)
    return larger


def _pieces(graph: SlicedGraph, blocks: Part, joined: Part, k: int) -> IntVector:
    """Return the number of connected pieces of each block (k,); overwrites joined (n_local,).

    Pieces of different processes that share a ghost are one piece: the first process joins them.
    """
    comm, n_own = graph.comm, graph.n_own
    pieces: IntVector = np.zeros(k, np.int64)
    kernels.count_pieces(joined, n_own, blocks, pieces)
    if comm.size == 1:
        return pieces
    roots = joined[n_own:].copy()
    met = np.flatnonzero(roots < n_own)
    joined[:n_own] += np.int32(graph.ends[graph.own_slices.start])
    graph.fill(joined)
    ends = np.column_stack([joined[roots[met]], joined[n_own + met], blocks[n_own + met]])
    of_ranks = comm.allgather(np.unique(ends, axis=0).astype(np.int64))
    pieces = np.sum(comm.allgather(pieces), axis=0)
    both: npt.NDArray[np.int64] = np.concatenate(of_ranks)
    numbers, which = np.unique(both[:, :2], return_inverse=True)
    kernels.join_pieces(which.reshape(-1, 2), both[:, 2].copy(), np.arange(numbers.size), pieces)
    return pieces
