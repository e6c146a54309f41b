"""Single moves and swaps that bring blocks of heavy vertices into their contracts.

Where vertices are heavy this is bin packing: what counts is the weight that fits, not the
boundary. Each step takes the move, or the swap, that lowers the violation most.
"""

# mypy: ignore-errors
import numpy as np

from evener.jit import njit
from evener.partitioning.repair.block_kernels import gain_of, relief

TINY = 1e-12  # violations that differ by less are equal: rounding errors


@njit(cache=True, nogil=True)
def best_move(graph, n_bytes, limits, blocks, bad, roomiest, choice):
    """Find the move out of or into block `bad` that lowers the violation most; ties by cut gain.

    Besides the blocks that a vertex touches, `roomiest` is tried. choice (2,) becomes (vertex,
    block). Returns the violation saved; an empty block counts as a violation of 1.
    """
    xadj, adjncy, _, weights = graph
    part, _, size, _ = blocks
    best, best_gain = TINY, -np.inf
    for v in range(part.size):
        a = part[v]
        if size[a] == 1:
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
    """Find the exchange of a vertex of `bad` for one of another block that helps most.

    order[starts[b]:starts[b + 1]]: vertices of block b by ascending weight. Every stride-th vertex
    of `bad` is tried. choice (2,) becomes (vertex of bad, vertex of the other). Returns the
    violation saved.
    """
    low, high, _, scale = limits
    _, weight, _, _ = blocks
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

    A vertex that does not fit goes to the block furthest below its target in which it does; one
    that fits nowhere, to the block with most room. The blocks' totals start at zero.
    """
    _, high, cap, _ = limits
    part, weight, size, memory = blocks
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
