"""What all kernels of a repair share: limits and totals of blocks, and what one move changes.

Weights are in the units of the vertex weights, memory in bytes. How far a block is outside its
contract (its violation) is relative to its target, so that blocks of all sizes compare.
"""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit


class ContractLimits(NamedTuple):
    """The limits of every block, each array (k,).

    low, high: its weight; cap: its memory, infinite where it is not limited; scale: its target,
    or a small positive number where that is 0.
    """

    low: np.ndarray
    high: np.ndarray
    cap: np.ndarray
    scale: np.ndarray


class BlockTotals(NamedTuple):
    """A partition and its running totals.

    part (n,) int32: the block of every vertex; weight, size (number of vertices) and memory (k,)
    of every block.
    """

    part: np.ndarray
    weight: np.ndarray
    size: np.ndarray
    memory: np.ndarray


class Border(NamedTuple):
    """Vertices that have, or had, a neighbour in another block.

    vertices (n,): a list, whose length is kept by the caller; listed (n,) bool: who is in it.
    """

    vertices: np.ndarray
    listed: np.ndarray


@njit(cache=True, nogil=True)
def sum_up(blocks, weights, n_bytes):
    """Recompute the totals of all blocks from vertex weights and bytes (n,)."""
    part, weight, size, memory = blocks
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
    part, weight, size, memory = blocks
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
    """How far block b would be outside its contract with this weight and memory."""
    off = max(limits.low[b] - weight, weight - limits.high[b])
    cap = limits.cap[b]
    over = (memory - cap) / cap if cap < np.inf else 0.0
    return max(off, 0.0) / limits.scale[b] + max(over, 0.0)


@inner()
def relief(blocks, limits, a, b, w, m):
    """How much the violations of a and b fall where weight w and m bytes go from a to b."""
    _, weight, _, memory = blocks
    now = violation(limits, a, weight[a], memory[a]) + violation(limits, b, weight[b], memory[b])
    then = violation(limits, a, weight[a] - w, memory[a] - m)
    then += violation(limits, b, weight[b] + w, memory[b] + m)
    return now - then


@inner()
def gain_of(graph, part, v, a, b):
    """Cut weight saved by moving v from block a to b, and whether v touches b."""
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
