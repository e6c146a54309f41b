"""Kernels that count what blocks contain and what they send to each other, slice by slice."""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector
from evener.jit import inner, njit
from evener.sliced.contraction_kernels import FREE, place_of


class Sums(NamedTuple):
    """Counts of the k blocks, arrays (k,): for all vertices, and for interior vertices.

    A vertex is interior if all its neighbours are in its own block.
    """

    weights: FloatArray
    inside_weights: FloatArray
    vertices: IntVector
    entries: IntVector
    inside: IntVector
    inside_entries: IntVector


class PairTable(NamedTuple):
    """A hash table: key (s,) int64, FREE or sender x k + receiver; values (s,) int64."""

    keys: npt.NDArray[np.int64]
    values: npt.NDArray[np.int64]


@inner()
def root_of(joined, v):
    """Return the lowest vertex known to be connected with v, and shorten the path to it."""
    while joined[v] != v:
        joined[v] = joined[joined[v]]
        v = joined[v]
    return v


@njit(cache=True, nogil=True)
def count_rows(rows, begin, blocks, joined, seen, sums, pairs, used, cut):
    """Count the rows from `begin` on; return the row at which it ended, slots used and weight cut.

    It ends early if the table of pairs may become more than half full, else after the last row.
    Every cut edge is counted at both ends. joined (n_local,) int32: a path along joined[v] leads to
    the lowest vertex of v's piece. seen (k,) int32: the last vertex that sent to each block. cut:
    the weight cut so far, which is returned with that of these rows.
    """
    room, k = pairs.keys.size // 2, seen.size
    units, plain = rows.vwgt.size == 0, rows.adjwgt.size == 0
    last = rows.xadj.size - 1
    for i in range(begin, last):
        start, end = rows.xadj[i], rows.xadj[i + 1]
        if used + min(end - start, k) > room:
            return i, used, cut
        v = rows.first + i
        b = blocks[v]
        root = root_of(joined, v)
        crossing = 0
        for e in range(start, end):
            u = rows.adjncy[e]
            c = blocks[u]
            if c == b:
                if u > v and joined[u] != root:
                    other = root_of(joined, u)
                    if other < root:
                        joined[root] = other
                        root = other
                    else:
                        joined[other] = root
                continue
            crossing += 1
            if not plain:
                cut += rows.adjwgt[e]
            if seen[c] != v:
                seen[c] = v
                at = place_of(pairs.keys, np.int64(b) * k + c)
                if pairs.keys[at] == FREE:
                    pairs.keys[at] = np.int64(b) * k + c
                    used += 1
                pairs.values[at] += 1
        if plain:
            cut += crossing
        weight = 1.0 if units else rows.vwgt[i]
        sums.weights[b] += weight
        sums.vertices[b] += 1
        sums.entries[b] += end - start
        if crossing == 0:
            sums.inside_weights[b] += weight
            sums.inside[b] += 1
            sums.inside_entries[b] += end - start
    return last, used, cut


@njit(cache=True, nogil=True)
def count_pieces(joined, n_own, blocks, pieces):
    """Set joined[v] to the lowest vertex of v's piece; count the pieces (k,) of own vertices."""
    for v in range(joined.size):
        joined[v] = joined[joined[v]]  # that of a lower vertex is already the lowest of its piece
        if v < n_own and joined[v] == v:
            pieces[blocks[v]] += 1


@njit(cache=True, nogil=True)
def join_pieces(ends, block, joined, pieces):
    """Join the two pieces of each pair in ends (p, 2); count them as one in pieces (k,).

    block (p,): the block of each pair. joined (q,): must be 0, 1, ..., q - 1.
    """
    for i in range(block.size):
        a, b = root_of(joined, ends[i, 0]), root_of(joined, ends[i, 1])
        if a != b:
            joined[max(a, b)] = min(a, b)
            pieces[block[i]] -= 1
