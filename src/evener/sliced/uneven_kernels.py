"""Kernels for graphs of uneven degrees in slices: they move and exchange vertices between blocks.

A slice knows only the edges of its own vertices, the blocks of their neighbours, and its shares:
how much weight it may add to each block and remove from it, whatever other slices do meanwhile.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit

HAIR = 1e-9  # smaller gains count as none
SLOTS = 1 << 16  # pairs of blocks for which a candidate of a swap is kept
HUB = 256  # edges; vertices of more are exchanged, but not remembered as candidates
# Vertices of fewer than LEAF edges are always looked at, others when SURE x what they would lose by
# a move, as a share of their edges, is the share of all edges' ends that have moved since.
LEAF, SURE = 8, 0.25
TINY = 1e-300
FINE, OCTAVE = 64, 16  # degrees of a class each, below FINE; classes for each octave above


class Shares(NamedTuple):
    """Limits of a slice's moves, and the blocks as it sees them: load (k,) [units], held (k,) [B].

    Moves of the slice change load and held. most (k,) [units], room (k,) [B]: largest load and held
    to which the slice may fill each block. low (k,): lower limits. filling: total weight by which
    blocks may stay below low. high (k,), caps (k,): the blocks' own upper limits. vertex_bytes,
    entry_bytes [B]: of a vertex, and of each of its adjacency entries.
    """

    load: np.ndarray
    held: np.ndarray
    most: np.ndarray
    room: np.ndarray
    low: np.ndarray
    filling: float
    high: np.ndarray
    caps: np.ndarray
    vertex_bytes: float
    entry_bytes: float


class Places(NamedTuple):
    """Candidates of exchanges: for a pair of blocks, a row that would gain by moving between them.

    key (SLOTS,) int64: from x k + to, or -1; row (SLOTS,) int64: the candidate; hope (SLOTS,): its
    gain.
    """

    key: np.ndarray
    row: np.ndarray
    hope: np.ndarray


@inner()
def class_of(degree):
    """Return the class of a degree; classes grow with degree, and are equal to it below FINE."""
    if degree < FINE:
        return degree
    octave, at = 0, degree
    while at >= 2 * FINE:
        at >>= 1
        octave += 1
    return FINE + octave * OCTAVE + ((degree >> octave) - FINE) * OCTAVE // FINE


@njit(cache=True, nogil=True)
def count_degrees(rows, weight, entries, vertices):
    """Add up, by class of degree, the weights of rows, their entries, and how many rows there are.

    weight (classes,); entries, vertices (classes,) int64. Returns the sum of squared degrees, the
    largest weight, and whether all weights are integers.
    """
    unit, heaviest, squares, whole = rows.vwgt.size == 0, 0.0, 0, True
    for i in range(rows.xadj.size - 1):
        degree = rows.xadj[i + 1] - rows.xadj[i]
        w = 1.0 if unit else rows.vwgt[i]
        c = class_of(degree)
        weight[c] += w
        entries[c] += degree
        vertices[c] += 1
        heaviest = max(heaviest, w)
        whole = whole and w == np.rint(w)
        squares += degree * degree
    return squares, heaviest, whole


@njit(cache=True, nogil=True)
def place_rows(rows, before, ends, following, part):
    """Assign rows, by cumulative weight within their classes, to blocks that end at `ends` (k,).

    before (classes,): the cumulative weight before the next row of each class, updated. following
    (k,): the blocks in the order of `ends`. part (r,): set.
    """
    unit = rows.vwgt.size == 0
    for i in range(part.size):
        c = class_of(rows.xadj[i + 1] - rows.xadj[i])
        before[c] += 1.0 if unit else rows.vwgt[i]
        at = np.searchsorted(ends, before[c] * (1 - HAIR))
        part[i] = following[min(at, following.size - 1)]


@njit(cache=True, nogil=True)
def place_alone(rows, before, ends, part):
    """Assign rows without edges, by cumulative weight, to blocks that end at `ends` (k,).

    before: the weight of such rows in earlier slices. Returns this weight including this slice.
    """
    unit = rows.vwgt.size == 0
    for i in range(part.size):
        if rows.xadj[i + 1] == rows.xadj[i]:
            w = 1.0 if unit else rows.vwgt[i]
            at = np.searchsorted(ends, before + w / 2)
            part[i] = min(at, ends.size - 1)
            before += w
    return before


@njit(cache=True, nogil=True)
def weigh(rows, part, linked, sums):
    """Add up in sums (3, k), by block: weights of rows, number of rows, and number of entries.

    linked: ignore rows without edges.
    """
    unit = rows.vwgt.size == 0
    for i in range(rows.xadj.size - 1):
        degree = rows.xadj[i + 1] - rows.xadj[i]
        if degree > 0 or not linked:
            b = part[rows.first + i]
            sums[0, b] += 1.0 if unit else rows.vwgt[i]
            sums[1, b] += 1
            sums[2, b] += degree


@inner()
def _weight(rows, i):
    """Return the weight of row i."""
    return 1.0 if rows.vwgt.size == 0 else rows.vwgt[i]


@inner()
def _bytes(rows, i, shares):
    """Return the bytes that row i needs."""
    return shares.vertex_bytes + shares.entry_bytes * (rows.xadj[i + 1] - rows.xadj[i])


@inner()
def _fits(shares, b, w, size):
    """Return whether block b may take weight w and `size` bytes."""
    return shares.load[b] + w <= shares.most[b] and shares.held[b] + size <= shares.room[b]


@inner()
def _shortage(shares):
    """Return the total weight that blocks lack to reach `low`."""
    total = 0.0
    for b in range(shares.load.size):
        total += max(0.0, shares.low[b] - shares.load[b])
    return total


@inner()
def _shortens(shares, p, q, w):
    """Return by how much the shortage grows when weight w moves from p to q."""
    short_p, short_q = shares.low[p] - shares.load[p], shares.low[q] - shares.load[q]
    left = max(0.0, short_p + w) - max(0.0, short_p)
    return left - max(0.0, short_q) + max(0.0, short_q - w)


@inner()
def _connect(rows, i, part, bond, near):
    """Set bond[b] to the weight of row i's edges into b, for the blocks near; return their number.

    near[0] is the row's own block. bond (k,) must be zero on entry.
    """
    p = part[rows.first + i]
    near[0] = p
    size = 1
    unit = rows.adjwgt.size == 0
    for e in range(rows.xadj[i], rows.xadj[i + 1]):
        x = 1.0 if unit else rows.adjwgt[e]
        if x == 0:
            continue  # or its block would be listed again and again
        b = part[rows.adjncy[e]]
        if bond[b] == 0 and b != p:
            near[size] = b
            size += 1
        bond[b] += x
    return size


@inner()
def _move(rows, i, part, shares, q):
    """Move row i to block q."""
    p, w, size = part[rows.first + i], _weight(rows, i), _bytes(rows, i, shares)
    shares.load[p] -= w
    shares.load[q] += w
    shares.held[p] -= size
    shares.held[q] += size
    part[rows.first + i] = q


@njit(cache=True, nogil=True)
def improve(rows, part, shares, places, due, now):
    """Move rows if that gains or evens out weights, or exchange two rows.

    part (n_local,) int32: changed. places: without entries on entry. due (r,) float32: rows are
    evaluated if due is at most `now`, and get a new value: the fraction of all edge ends that may
    move before the next evaluation. Returns the sum of the degrees of the moved rows.
    """
    k = shares.load.size
    bond, near = np.zeros(k), np.empty(k, np.int64)
    other_bond, other_near = np.zeros(k), np.empty(k, np.int64)
    missing = _shortage(shares)
    moved = 0
    for i in range(due.size):
        degree = rows.xadj[i + 1] - rows.xadj[i]
        if degree == 0 or due[i] > now:
            continue
        p, w, bytes_of = np.int64(part[rows.first + i]), _weight(rows, i), _bytes(rows, i, shares)
        size = _connect(rows, i, part, bond, near)
        own, most = bond[p], 0.0
        best, highest, emptiest = p, own, shares.load[p] / shares.high[p]
        swap, hoped = np.int64(-1), HAIR
        for a in range(1, size):
            b = near[a]
            most = max(most, bond[b])
            there = (b * k + p) % SLOTS
            if places.key[there] == b * k + p and bond[b] - own + places.hope[there] > hoped:
                swap, hoped = there, bond[b] - own + places.hope[there]
            if bond[b] < highest - HAIR or not _fits(shares, b, w, bytes_of):
                continue
            full = (shares.load[b] + w) / shares.high[b]
            if bond[b] <= highest + HAIR and full >= emptiest:
                continue
            grows = _shortens(shares, p, b, w)
            if grows > 0 and missing + grows > shares.filling:
                continue
            best, highest, emptiest = b, bond[b], full
        exchanged = False
        if swap >= 0 and hoped > highest - own:
            u = places.row[swap]
            q = np.int64(part[rows.first + u])
            if q * k + p == places.key[swap]:
                gain = bond[q] - own
                exchanged = _exchange(rows, i, u, part, shares, gain, other_bond, other_near)
            places.key[swap] = -1
            if exchanged:
                moved += degree + rows.xadj[u + 1] - rows.xadj[u]
                due[u] = now
        if not exchanged and best != p:
            missing += _shortens(shares, p, best, w)
            _move(rows, i, part, shares, best)
            moved += degree
        elif not exchanged and degree <= HUB:
            _remember(places, i, p, bond, near[:size])
        total = 0.0
        for a in range(size):
            total += bond[near[a]]
            bond[near[a]] = 0
        due[i] = now
        if part[rows.first + i] == p and own > most and degree >= LEAF:
            due[i] = now + SURE * (own - most) / total
    return moved


@inner()
def _remember(places, i, p, bond, near):
    """Store row i of block p as candidate for each block near to which its gain is larger."""
    k = bond.size
    for b in near[1:]:
        here = (p * k + b) % SLOTS
        if places.key[here] != p * k + b or bond[b] - bond[p] >= places.hope[here]:
            places.key[here], places.row[here] = p * k + b, i
            places.hope[here] = bond[b] - bond[p]


@inner()
def _exchange(rows, i, u, part, shares, gain, bond, near):
    """Exchange the blocks of rows i and u if that gains and satisfies limits.

    Returns whether it did. gain: the gain of moving row i alone.
    """
    p, q = np.int64(part[rows.first + i]), np.int64(part[rows.first + u])
    more = _weight(rows, i) - _weight(rows, u)
    size = _bytes(rows, i, shares) - _bytes(rows, u, shares)
    if more > 0 and (
        shares.load[q] + more > shares.most[q] or shares.load[p] - more < shares.low[p]
    ):
        return False
    if more < 0 and (
        shares.load[p] - more > shares.most[p] or shares.load[q] + more < shares.low[q]
    ):
        return False
    if size > 0 and shares.held[q] + size > shares.room[q]:
        return False
    if size < 0 and shares.held[p] - size > shares.room[p]:
        return False
    part[rows.first + i] = q
    count = _connect(rows, u, part, bond, near)
    gain += bond[p] - bond[q]
    for a in range(count):
        bond[near[a]] = 0
    part[rows.first + i] = p
    if gain <= HAIR:
        return False
    _move(rows, i, part, shares, q)
    _move(rows, u, part, shares, p)
    return True


@njit(cache=True, nogil=True)
def leave(rows, part, shares, worst):
    """Let rows leave blocks above their limits, or enter blocks below theirs; return their number.

    Only rows whose loss per weight is at most `worst` move.
    """
    k = shares.load.size
    bond, near = np.zeros(k), np.empty(k, np.int64)
    moved = 0
    for i in range(rows.xadj.size - 1):
        p, w, bytes_of = np.int64(part[rows.first + i]), _weight(rows, i), _bytes(rows, i, shares)
        heavy = w > 0 and shares.load[p] > shares.high[p]
        over = heavy or shares.held[p] > shares.caps[p]
        if not over and (w == 0 or _shortage(shares) == 0 or shares.load[p] - w < shares.low[p]):
            continue
        size = _connect(rows, i, part, bond, near)
        best, highest, shortest = np.int64(-1), bond[p] - worst * max(w, TINY) - HAIR, 0.0
        for b in range(k):
            if b == p or bond[b] < highest or not _fits(shares, b, w, bytes_of):
                continue
            grows = _shortens(shares, p, b, w)
            if (grows > 0 if over else grows >= 0) or (bond[b] == highest and grows >= shortest):
                continue
            best, highest, shortest = np.int64(b), bond[b], grows
        for a in range(size):
            bond[near[a]] = 0
        if best >= 0:
            _move(rows, i, part, shares, best)
            moved += 1
    return moved
