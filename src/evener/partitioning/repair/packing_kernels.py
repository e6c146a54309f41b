"""Single moves and swaps that bring blocks of heavy vertices into their contracts.

Where vertices are heavy this is bin packing: what counts is the weight that fits, not the
boundary. Each step takes the move, or the swap, that lowers the violation most.
"""

# mypy: ignore-errors
import numpy as np

from evener.jit import inner, njit
from evener.partitioning.repair.enforce_kernels import gain_of, violation

TINY = 1e-12


@inner()
def pair_change(a, b, w, m, weight, memory, low, high, caps, scale):
    """How much the violation of blocks a and b falls when weight w and bytes m go from a to b."""
    now = violation(weight[a], memory[a], low[a], high[a], caps[a], scale[a])
    now += violation(weight[b], memory[b], low[b], high[b], caps[b], scale[b])
    then = violation(weight[a] - w, memory[a] - m, low[a], high[a], caps[a], scale[a])
    then += violation(weight[b] + w, memory[b] + m, low[b], high[b], caps[b], scale[b])
    return now - then


@njit(cache=True, nogil=True)
def best_move(
    xadj, adjncy, adjwgt, part, weights, n_bytes, weight, size, memory, low, high, caps, scale,
    bad, roomiest, choice,
):  # fmt: skip
    """Find the move out of or into block `bad` that lowers the violation most; ties by cut gain.

    roomiest: the block tried besides those that a vertex touches. choice = (vertex, block).
    Returns the violation saved; an empty block counts as a violation of 1.
    """
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
            saved = pair_change(
                a, b, weights[v], n_bytes[v], weight, memory, low, high, caps, scale
            )
            if size[b] == 0:
                saved += 1.0
            if saved < best - TINY:
                continue
            gain, _ = gain_of(xadj, adjncy, adjwgt, part, v, a, b)
            if saved > best + TINY or gain > best_gain:
                best, best_gain = max(saved, best), gain
                choice[0], choice[1] = v, b
    return best if best_gain > -np.inf else 0.0


@njit(cache=True, nogil=True)
def best_swap(
    starts, order, weights, n_bytes, weight, memory, low, high, caps, scale, bad, stride, choice
):
    """Find the exchange of a vertex of `bad` for one of another block that helps most.

    order[starts[b]:starts[b + 1]]: vertices of block b by ascending weight. stride: look at every
    stride-th vertex of `bad`. choice = (vertex of bad, vertex of the other). Returns what it saves.
    """
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
                # Not both can be served: the sum is least where the smaller one just is.
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
                saved = pair_change(
                    bad, c, weights[v] - weights[u], n_bytes[v] - n_bytes[u],
                    weight, memory, low, high, caps, scale,
                )  # fmt: skip
                if saved > best + TINY:
                    best = saved
                    choice[0], choice[1] = v, u
    return best if best > TINY else 0.0


@njit(cache=True, nogil=True)
def pack(order, weights, n_bytes, targets, high, caps, part, weight, size, memory):
    """Place vertices in the given order, heaviest first, where they are if they fit there.

    A vertex that does not fit goes to the block furthest below its target in which it does; one
    that fits nowhere to the block with most room. Totals start at zero.
    """
    k = targets.size
    for v in order:
        w, m = weights[v], n_bytes[v]
        best = part[v]
        if weight[best] + w > high[best] or memory[best] + m > caps[best]:
            best, best_need = -1, -np.inf
            widest, widest_room = 0, -np.inf
            for b in range(k):
                room = high[b] - weight[b]
                if room > widest_room:
                    widest, widest_room = b, room
                fits = w <= room and memory[b] + m <= caps[b]
                if fits and targets[b] - weight[b] > best_need:
                    best, best_need = b, targets[b] - weight[b]
            if best < 0:
                best = widest
        part[v] = best
        weight[best] += w
        memory[best] += m
        size[best] += 1
