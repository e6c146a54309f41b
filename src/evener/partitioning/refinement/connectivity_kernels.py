"""Connectivity tables: how many neighbours each vertex has in each block, updated by every move.

The table of a vertex is made when it is first needed and updated by each later move. With tables,
all moves of a vertex are evaluated in one pass over the few table entries of its neighbours,
without reading neighbours of neighbours. They also determine what blocks send: a vertex is sent
once to every other block in its table.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit

CLOSED = -1  # length of a table not made yet


class ConnectivityTables(NamedTuple):
    """A partition, the connectivity tables of its vertices, and what its blocks send.

    xadj, adjncy, adjwgt: as in CSRGraph; part (n,) int32. volumes (k,) int64: values that each
    block sends: a vertex once to every other block that it touches or, with of_faces, the weight of
    the cut edges. sent (k, k) int32: values sent from block to block. Tables: blocks and counts
    (e,); the entries of v begin at xadj[v], and there are length[v]. changed (k,): begins with the
    blocks whose volumes the last move changed; change (k,): by how much each block's volume
    changed.
    """

    xadj: np.ndarray
    adjncy: np.ndarray
    adjwgt: np.ndarray
    part: np.ndarray
    volumes: np.ndarray
    sent: np.ndarray
    blocks: np.ndarray
    counts: np.ndarray
    length: np.ndarray
    change: np.ndarray
    changed: np.ndarray
    of_faces: bool


@inner(forceinline=True, error_model="numpy", counted=False)
def weight_of(tables, e):
    """Return the number of faces that adjacency entry e represents."""
    return np.int64(tables.adjwgt[e]) if tables.adjwgt.size > 0 else np.int64(1)


@njit(cache=True, nogil=True, error_model="numpy")
def count_all(tables, flag):
    """Fill volumes and sent; flag (n,): whether a vertex touches other blocks."""
    seen = np.full(tables.volumes.size, -1, np.int64)
    for v in range(tables.part.size):
        if not flag[v]:
            continue
        p = tables.part[v]
        for e in range(tables.xadj[v], tables.xadj[v + 1]):
            q = tables.part[tables.adjncy[e]]
            if tables.of_faces and q != p:
                tables.volumes[p] += weight_of(tables, e)
                tables.sent[p, q] += weight_of(tables, e)
            elif seen[q] != v and q != p:
                seen[q] = v
                tables.volumes[p] += 1
                tables.sent[p, q] += 1


@inner(error_model="numpy", counted=False)
def open_table(tables, v):
    """Make the table of v if it does not exist yet."""
    if tables.length[v] != CLOSED:
        return
    first = np.int64(tables.xadj[v])
    size = 0
    for e in range(first, tables.xadj[v + 1]):
        q = tables.part[tables.adjncy[e]]
        i = first
        while i < first + size and tables.blocks[i] != q:
            i += 1
        if i == first + size:
            tables.blocks[i], tables.counts[i] = q, 0
            size += 1
        tables.counts[i] += 1
    tables.length[v] = size


@inner(forceinline=True, error_model="numpy", counted=False)
def _book(tables, p, q, by, size):
    """Add `by` to the values that block p sends to q; return the new length of tables.changed."""
    if tables.change[p] == 0:
        known = False
        for i in range(size):
            if tables.changed[i] == p:
                known = True
                break
        if not known:
            tables.changed[size] = p
            size += 1
    tables.change[p] += by
    tables.volumes[p] += by
    tables.sent[p, q] += by
    return size


@inner(error_model="numpy", counted=False)
def move(tables, v, q):
    """Move v to block q; return the number of entries of tables.changed that this fills."""
    p = tables.part[v]
    size = 0
    open_table(tables, v)
    first = np.int64(tables.xadj[v])
    if not tables.of_faces:
        for i in range(first, first + tables.length[v]):
            b = tables.blocks[i]
            if b != p:
                size = _book(tables, p, b, -1, size)
            if b != q:
                size = _book(tables, q, b, 1, size)
    for e in range(first, tables.xadj[v + 1]):
        open_table(tables, np.int64(tables.adjncy[e]))
    tables.part[v] = q
    for e in range(first, tables.xadj[v + 1]):
        u = tables.adjncy[e]
        r = tables.part[u]
        if tables.of_faces:
            faces = weight_of(tables, e)
            if r != p:
                size = _book(tables, r, p, -faces, size)
                size = _book(tables, p, r, -faces, size)
            if r != q:
                size = _book(tables, r, q, faces, size)
                size = _book(tables, q, r, faces, size)
        i = np.int64(tables.xadj[u])
        last = i + tables.length[u] - 1
        while tables.blocks[i] != p:
            i += 1
        tables.counts[i] -= 1
        if tables.counts[i] == 0:
            tables.blocks[i], tables.counts[i] = tables.blocks[last], tables.counts[last]
            last -= 1
            if r != p and not tables.of_faces:
                size = _book(tables, r, p, -1, size)
        i = np.int64(tables.xadj[u])
        while i <= last and tables.blocks[i] != q:
            i += 1
        if i > last:
            last = i
            tables.blocks[i], tables.counts[i] = q, 0
            if r != q and not tables.of_faces:
                size = _book(tables, r, q, 1, size)
        tables.counts[i] += 1
        tables.length[u] = last - np.int64(tables.xadj[u]) + 1
    return size
