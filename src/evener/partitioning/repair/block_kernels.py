"""The blocks of a repair: limits, totals, single moves and swaps, packing.

Weights have the units of the vertex weights; memory is in bytes. The violation of a block's
contract is relative to its target, so that blocks of all sizes are comparable. If vertices are
heavy, repair is bin packing: fitting weights matters more than short borders. Each step then takes
the move, or the swap, that reduces the violation most.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.levels.csr_kernels import stays


class ContractLimits(NamedTuple):
    """The limits of every block; all arrays are (k,).

    low, high: limits on its weight. cap: limit on its memory, infinite if there is none. scale: its
    target, or a small positive number if the target is 0.
    """

    low: np.ndarray
    high: np.ndarray
    cap: np.ndarray
    scale: np.ndarray


class BlockTotals(NamedTuple):
    """A partition and the totals of its blocks.

    part (n,) int32: the block of every vertex. weight, size (number of vertices) and memory (k,):
    totals of every block. fixed (n,) bool: vertices that never move, or (0,) if all may.
    """

    part: np.ndarray
    weight: np.ndarray
    size: np.ndarray
    memory: np.ndarray
    fixed: np.ndarray


class Border(NamedTuple):
    """Vertices that have, or had, a neighbour in another block.

    vertices (n,): a list, whose length the caller stores. listed (n,) bool: whether a vertex is
    listed.
    """

    vertices: np.ndarray
    listed: np.ndarray


@njit(cache=True, nogil=True)
def sum_up(blocks, weights, n_bytes):
    """Recompute the totals of all blocks from vertex weights and bytes (n,)."""
    part, weight, size, memory, _ = blocks
    weight[:] = 0.0
    size[:] = 0
    memory[:] = 0.0
    for v in range(part.size):
        b = part[v]
        weight[b] += weights[v]
        size[b] += 1
        memory[b] += n_bytes[v]


@inner()
def move(blocks, v, b, w, m):
    """Move vertex v, of weight w and m bytes, to block b."""
    part, weight, size, memory, _ = blocks
    a = part[v]
    part[v] = b
    weight[a] -= w
    weight[b] += w
    memory[a] -= m
    memory[b] += m
    size[a] -= 1
    size[b] += 1


@inner()
def violation(limits, b, weight, memory):
    """Return the violation of block b if it had this weight and memory."""
    off = max(limits.low[b] - weight, weight - limits.high[b])
    cap = limits.cap[b]
    over = (memory - cap) / cap if cap < np.inf else 0.0
    return max(off, 0.0) / limits.scale[b] + max(over, 0.0)


@inner()
def relief(blocks, limits, a, b, w, m):
    """Return by how much the violations of a and b fall if weight w and m bytes move to b."""
    _, weight, _, memory, _ = blocks
    now = violation(limits, a, weight[a], memory[a]) + violation(limits, b, weight[b], memory[b])
    then = violation(limits, a, weight[a] - w, memory[a] - m)
    then += violation(limits, b, weight[b] + w, memory[b] + m)
    return now - then


@inner()
def gain_of(graph, part, v, a, b):
    """Return the cut weight saved by moving v from block a to b, and whether v touches b."""
    xadj, adjncy, adjwgt, _ = graph
    gain = 0.0
    touches = False
    weighted = adjwgt.size > 0
    for e in range(xadj[v], xadj[v + 1]):
        c = part[adjncy[e]]
        w = adjwgt[e] if weighted else 1.0
        if c == b:
            gain += w
            touches = True
        elif c == a:
            gain -= w
    return gain, touches


TINY = 1e-12  # violations that differ by less are equal: rounding errors


@njit(cache=True, nogil=True)
def best_move(graph, n_bytes, limits, blocks, bad, roomiest, choice):
    """Find the move out of or into block `bad` that reduces the violation most; ties by cut gain.

    Tries the blocks that a vertex touches, and `roomiest`. choice (2,) is set to (vertex, block).
    Returns the decrease of the violation; an empty block counts as a violation of 1.
    """
    xadj, adjncy, _, weights = graph
    part, _, size, _, fixed = blocks
    best, best_gain = TINY, -np.inf
    for v in range(part.size):
        a = part[v]
        if size[a] == 1 or stays(fixed, v):
            continue
        first = xadj[v] if a == bad else xadj[v + 1]
        for e in range(first, xadj[v + 1] + 1):
            if e < xadj[v + 1]:
                b = part[adjncy[e]]
            else:
                b = roomiest if a == bad else bad
            if b == a:
                continue
            saved = relief(blocks, limits, a, b, weights[v], n_bytes[v])
            if size[b] == 0:
                saved += 1.0
            if saved < best - TINY:
                continue
            gain, _ = gain_of(graph, part, v, a, b)
            if saved > best + TINY or gain > best_gain:
                best, best_gain = max(saved, best), gain
                choice[0], choice[1] = v, b
    return best if best_gain > -np.inf else 0.0


@njit(cache=True, nogil=True)
def best_swap(starts, order, weights, n_bytes, limits, blocks, bad, stride, choice):
    """Find the swap of a vertex of `bad` with a vertex of another block that helps most.

    order[starts[b]:starts[b + 1]]: vertices of block b by ascending weight. Only every stride-th
    vertex of `bad` is tried. choice (2,) is set to (vertex of bad, other vertex). Returns the
    decrease of the violation.
    """
    low, high, _, scale = limits
    weight = blocks.weight
    best = TINY
    k = starts.size - 1
    for i in range(starts[bad], starts[bad + 1], stride):
        v = order[i]
        for c in range(k):
            if c == bad or starts[c] == starts[c + 1]:
                continue
            least = max(weight[bad] - high[bad], low[c] - weight[c])
            most = min(weight[bad] - low[bad], high[c] - weight[c])
            wanted = weights[v] - (least + most) / 2
            if least > most:
                # No weight brings both within limits: the violation is least where the block of
                # the smaller target just reaches its own.
                least_serves_bad = weight[bad] - high[bad] >= low[c] - weight[c]
                serve_bad = scale[bad] < scale[c]
                wanted = weights[v] - (least if serve_bad == least_serves_bad else most)
            first, last = starts[c], starts[c + 1]
            while first < last:
                middle = (first + last) >> 1
                if weights[order[middle]] < wanted:
                    first = middle + 1
                else:
                    last = middle
            for j in (first - 1, first):
                if j < starts[c] or j >= starts[c + 1]:
                    continue
                u = order[j]
                w, m = weights[v] - weights[u], n_bytes[v] - n_bytes[u]
                saved = relief(blocks, limits, bad, c, w, m)
                if saved > best + TINY:
                    best = saved
                    choice[0], choice[1] = v, u
    return best if best > TINY else 0.0


@njit(cache=True, nogil=True)
def pack(order, weights, n_bytes, targets, limits, blocks):
    """Place vertices in the given order; each stays in its block if it still fits there.

    A vertex that does not fit there goes to the block furthest below its target in which it fits,
    or to the block with most room if it fits nowhere. On entry, the blocks' totals are those of the
    vertices that stay.
    """
    _, high, cap, _ = limits
    part, weight, size, memory, _ = blocks
    k = targets.size
    for v in order:
        w, m = weights[v], n_bytes[v]
        best = part[v]
        if weight[best] + w > high[best] or memory[best] + m > cap[best]:
            best, best_need = -1, -np.inf
            widest, widest_room = 0, -np.inf
            for b in range(k):
                room = high[b] - weight[b]
                if room > widest_room:
                    widest, widest_room = b, room
                fits = w <= room and memory[b] + m <= cap[b]
                if fits and targets[b] - weight[b] > best_need:
                    best, best_need = b, targets[b] - weight[b]
            if best < 0:
                best = widest
        part[v] = best
        weight[best] += w
        memory[best] += m
        size[best] += 1
