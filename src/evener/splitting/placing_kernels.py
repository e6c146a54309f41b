"""Assigns edges one by one to blocks: by hash (DBH), or by the blocks of their ends (greedy, HDRF).

Edges may come in several pieces: `FilledBlocks` keeps the state from one call to the next.
"""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.arrays_kernels import SPREAD, lowest_bit
from evener.jit import inner, njit

LEAST_SPREAD = 1e-3  # of loads relative to targets, in the balance term of HDRF


class FilledBlocks(NamedTuple):
    """Blocks that are being filled; loads, targets, caps, lows (k,) and left (1,) float64 [units].

    loads: current loads. full (k,): loads / targets. targets: above 0. caps: upper limits; a block
    takes no edge that would exceed its cap as long as another block can take the edge. lows: lower
    limits at the end. left: work of the edges still to come; once all of it is needed to raise
    blocks to their lows, other blocks take no edges. left and lows are zero if there are no lower
    limits. held (n, ceil(k / 64)) uint64: bits of the blocks that contain each vertex. seen (n,)
    int64: edges seen so far at each vertex.
    """

    loads: np.ndarray
    full: np.ndarray
    targets: np.ndarray
    caps: np.ndarray
    lows: np.ndarray
    left: np.ndarray
    held: np.ndarray
    seen: np.ndarray


@inner(counted=False)
def _hashed(v, k):
    """Return a pseudo-random number in [0, k) for vertex v."""
    mixed = np.uint64(v + 1) * SPREAD
    return np.int64((mixed >> np.uint64(32)) % np.uint64(k))


@inner(counted=False)
def hold(held, v, b):
    """Note that vertex v is in block b."""
    held[v, b >> 6] |= np.uint64(1) << np.uint64(b & 63)


@inner(counted=False)
def holds(held, v, b):
    """Return whether vertex v is in block b."""
    return (held[v, b >> 6] >> np.uint64(b & 63)) & np.uint64(1) != 0


@inner(counted=False)
def lacking(blocks):
    """Return the work that blocks need to reach their lower limits."""
    total = 0.0
    for b in range(blocks.loads.size):
        total += max(blocks.lows[b] - blocks.loads[b], 0.0)
    return total


@inner(counted=False)
def fits(blocks, b, work, lack):
    """Return whether block b may take an edge.

    lack: work that blocks need for their lower limits.
    """
    if blocks.loads[b] + work > blocks.caps[b]:
        return False
    return lack == 0.0 or blocks.loads[b] < blocks.lows[b] or blocks.left[0] - work >= lack


@inner(counted=False)
def take(blocks, u, v, b, work, lack):
    """Put an edge u-v into block b.

    Returns the work that blocks then need for their lower limits.
    """
    hold(blocks.held, u, b)
    hold(blocks.held, v, b)
    before = max(blocks.lows[b] - blocks.loads[b], 0.0)
    blocks.loads[b] += work
    blocks.full[b] = blocks.loads[b] / blocks.targets[b]
    blocks.left[0] -= work
    return lack - before + max(blocks.lows[b] - blocks.loads[b], 0.0)


@inner(counted=False)
def emptiest(blocks, work, lack):
    """Return the first of the least full blocks that may take an edge, or of all if none may."""
    full = blocks.full
    first = np.int64(0)
    for b in range(1, full.size):
        if full[b] < full[first]:
            first = np.int64(b)
    if fits(blocks, first, work, lack):
        return first
    best, least = first, np.inf
    for b in range(full.size):
        if full[b] < least and fits(blocks, b, work, lack):
            best, least = np.int64(b), full[b]
    return best


@njit(cache=True, nogil=True, counted=False)
def place_by_hash(tails, heads, works, degrees, table, blocks, part):
    """Hash the end of lower degree (ties: lower number) to an entry of a table of blocks (DBH).

    table (s,): contains each block in proportion to its share of the edges. If this block is full,
    the edge is put into the emptiest block.
    """
    lack = lacking(blocks)
    for e in range(tails.size):
        u, v = tails[e], heads[e]
        lower = u if (degrees[u], u) < (degrees[v], v) else v
        b = np.int64(table[_hashed(lower, table.size)])
        if not fits(blocks, b, works[e], lack):
            b = emptiest(blocks, works[e], lack)
        lack = take(blocks, u, v, b, works[e], lack)
        part[e] = b


@inner(counted=False)
def emptiest_of(blocks, u, v, at_u, at_v, work, lack):
    """Return the first of the least full blocks that may take an edge u-v, or -1.

    at_u: True: only blocks that hold u; False: only blocks that do not. at_v: the same for v.
    """
    held, full = blocks.held, blocks.full
    best, least = np.int64(-1), np.inf
    for i in range(held.shape[1]):
        word = held[u, i] if at_u else ~held[u, i]
        word &= held[v, i] if at_v else ~held[v, i]
        while word != np.uint64(0):
            b = 64 * i + np.int64(lowest_bit(word))
            word &= word - np.uint64(1)
            if full[b] < least and fits(blocks, b, work, lack):
                best, least = b, full[b]
    return best


@njit(cache=True, nogil=True, counted=False)
def place_by_score(tails, heads, works, by_degree, balance, blocks, part):
    """Put each edge without a block, part[e] < 0, into the first block of highest score.

    A block scores 1 for each end that it holds. With by_degree (HDRF) [Petroni15]_ it scores up to
    2, more for the end with fewer edges seen. Added is balance x (fullest - full) / (fullest -
    emptiest), where full is load / target. by_degree False and balance 1: the greedy rule of
    [Gonzalez12]_: prefer blocks that hold both ends, then one end, then none, and among equal ones
    the emptiest.
    """
    lack = lacking(blocks)
    seen, full = blocks.seen, blocks.full
    least, fullest = emptiest(blocks, 0.0, lack), 0.0
    for b in range(full.size):
        fullest = max(fullest, full[b])
    for e in range(tails.size):
        if part[e] >= 0:
            continue
        u, v, work = tails[e], heads[e], works[e]
        seen[u] += 1
        seen[v] += 1
        share = seen[u] / (seen[u] + seen[v])
        at_u, at_v = (2.0 - share, 1.0 + share) if by_degree else (1.0, 1.0)
        scale = balance / (LEAST_SPREAD + fullest - full[least])
        best, most = np.int64(-1), -np.inf
        if fits(blocks, least, work, lack):  # of the blocks that hold no end the best one
            best, most = least, scale * (fullest - full[least])
        for held in range(3):  # by both ends, the tail alone, the head alone
            gain = at_u * (held < 2) + at_v * (held != 1)
            if gain + balance <= most:
                continue
            b = emptiest_of(blocks, u, v, held < 2, held != 1, work, lack)
            if b < 0:
                continue
            score = gain + scale * (fullest - full[b])
            if score > most or (score == most and b < best):
                best, most = b, score
        if best < 0:
            best = emptiest(blocks, work, lack)
        lack = take(blocks, u, v, best, work, lack)
        part[e] = best
        fullest = max(fullest, full[best])
        if best == least or not fits(blocks, least, work, lack):
            least = emptiest(blocks, work, lack)


@njit(cache=True, nogil=True, counted=False)
def hold_ends(tails, heads, part, held):
    """Set in held (n, ceil(k / 64)) the bits of each edge's block at its ends."""
    for e in range(tails.size):
        hold(held, tails[e], part[e])
        hold(held, heads[e], part[e])


@njit(cache=True, nogil=True, counted=False)
def count_held(held, vertices):
    """Add to vertices (k,) the number of vertices in each block.

    Returns how many are in any block.
    """
    touched = 0
    for v in range(held.shape[0]):
        found = False
        for i in range(held.shape[1]):
            word = held[v, i]
            while word != np.uint64(0):
                vertices[64 * i + np.int64(lowest_bit(word))] += 1
                word &= word - np.uint64(1)
                found = True
        touched += found
    return touched
