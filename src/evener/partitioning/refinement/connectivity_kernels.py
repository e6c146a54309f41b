"""Connectivity tables: how many neighbours each vertex has in each block, exact after every move.

The table of a vertex is made when it is first needed and updated by each move from then on. With
tables, all moves of a vertex are evaluated in one pass over the few entries of its neighbours;
neighbours of neighbours are never read. What blocks send follows from them: a vertex is sent once
to every other block in its table.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit

CLOSED = -1  # length of a table not made yet


class Ledger(NamedTuple):
    """A partition, the connectivity tables of its vertices, and what its blocks send.

    xadj, adjncy, adjwgt: as in CSRGraph; part (n,) int32. volumes (k,) int64: values that each
    block sends, a vertex once to every other block it touches; sent (k, k) int32: those from block
    to block; messages (k,) int64: blocks that each one sends to. Tables: blocks and counts (e,),
    the entries of v from xadj[v] on, length (n,) of them. changed (k,): the blocks whose volume the
    last move changed, first in the array, and change (k,): by how much, per block.
    """

    xadj: np.ndarray
    adjncy: np.ndarray
    adjwgt: np.ndarray
    part: np.ndarray
    volumes: np.ndarray
    sent: np.ndarray
    messages: np.ndarray
    blocks: np.ndarray
    counts: np.ndarray
    length: np.ndarray
    change: np.ndarray
    changed: np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def count_all(ledger, flag):
    """Fill volumes, sent and messages; flag (n,): the vertices that touch other blocks."""
    k = ledger.volumes.size
    seen = np.full(k, -1, np.int64)
    for v in range(ledger.part.size):
        if not flag[v]:
            continue
        p = ledger.part[v]
        seen[p] = v
        for e in range(ledger.xadj[v], ledger.xadj[v + 1]):
            q = ledger.part[ledger.adjncy[e]]
            if seen[q] != v:
                seen[q] = v
                ledger.volumes[p] += 1
                ledger.sent[p, q] += 1
    for p in range(k):
        for q in range(k):
            ledger.messages[p] += ledger.sent[p, q] > 0


@inner(error_model="numpy", counted=False)
def open_table(ledger, v):
    """Make the table of v if there is none yet."""
    if ledger.length[v] != CLOSED:
        return
    first = np.int64(ledger.xadj[v])
    size = 0
    for e in range(first, ledger.xadj[v + 1]):
        q = ledger.part[ledger.adjncy[e]]
        i = first
        while i < first + size and ledger.blocks[i] != q:
            i += 1
        if i == first + size:
            ledger.blocks[i], ledger.counts[i] = q, 0
            size += 1
        ledger.counts[i] += 1
    ledger.length[v] = size


@inner(forceinline=True, error_model="numpy", counted=False)
def _book(ledger, p, q, by, size):
    """Let block p send one value more (by 1) or less (-1) to q; return how many blocks changed."""
    if ledger.change[p] == 0:
        known = False
        for i in range(size):
            if ledger.changed[i] == p:
                known = True
                break
        if not known:
            ledger.changed[size] = p
            size += 1
    ledger.change[p] += by
    ledger.volumes[p] += by
    before = ledger.sent[p, q]
    ledger.sent[p, q] = before + by
    if before == 0:
        ledger.messages[p] += 1
    elif before + by == 0:
        ledger.messages[p] -= 1
    return size


@inner(error_model="numpy", counted=False)
def move(ledger, v, q):
    """Move v to block q; return how many entries of ledger.changed this filled."""
    p = ledger.part[v]
    size = 0
    open_table(ledger, v)
    first = np.int64(ledger.xadj[v])
    for i in range(first, first + ledger.length[v]):
        b = ledger.blocks[i]
        if b != p:
            size = _book(ledger, p, b, -1, size)
        if b != q:
            size = _book(ledger, q, b, 1, size)
    for e in range(first, ledger.xadj[v + 1]):
        open_table(ledger, np.int64(ledger.adjncy[e]))
    ledger.part[v] = q
    for e in range(first, ledger.xadj[v + 1]):
        u = ledger.adjncy[e]
        r = ledger.part[u]
        i = np.int64(ledger.xadj[u])
        last = i + ledger.length[u] - 1
        while ledger.blocks[i] != p:
            i += 1
        ledger.counts[i] -= 1
        if ledger.counts[i] == 0:
            ledger.blocks[i], ledger.counts[i] = ledger.blocks[last], ledger.counts[last]
            last -= 1
            if r != p:
                size = _book(ledger, r, p, -1, size)
        i = np.int64(ledger.xadj[u])
        while i <= last and ledger.blocks[i] != q:
            i += 1
        if i > last:
            last = i
            ledger.blocks[i], ledger.counts[i] = q, 0
            if r != q:
                size = _book(ledger, r, q, 1, size)
        ledger.counts[i] += 1
        ledger.length[u] = last - np.int64(ledger.xadj[u]) + 1
    return size
