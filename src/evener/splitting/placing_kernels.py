"""Places one edge after another in a block: by hash (DBH), or where its ends are (greedy, HDRF).

Edges may come in pieces: what one call leaves in `FilledBlocks`, the next one goes on with.
"""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit

SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd, near 2^64 divided by the golden ratio (Fibonacci)
LEAST_SPREAD = 1e-3  # of loads relative to targets, in the balance term of HDRF
# A de Bruijn sequence: its 64 shifts have different highest 6 bits, which name the shift.
DE_BRUIJN = 0x03F79D71B4CB0A89
_BITS = np.empty(64, np.int64)
_BITS[[((DE_BRUIJN << shift) % 2**64) >> 58 for shift in range(64)]] = np.arange(64)


class FilledBlocks(NamedTuple):
    """FilledBlocks that are being filled. The first three (k,) float64 [units].

    loads: so far. targets: above 0. caps: no block takes an edge that would carry it above its cap,
    while another can. lows (k,): what each must have in the end; left (1,): work still to come, of
    which none is spent on other blocks once it is needed to bring all to their lows; zeros where
    that is not asked for. held (n, ceil(k / 64)) uint64: the blocks that each vertex is in, as
    bits. seen (n,) int64: edges of each vertex so far.
    """

    loads: np.ndarray
    targets: np.ndarray
    caps: np.ndarray
    lows: np.ndarray
    left: np.ndarray
    held: np.ndarray
    seen: np.ndarray


@inner()
def _hashed(v, k):
    """A block for vertex v, about equally often each."""
    mixed = np.uint64(v + 1) * SPREAD
    return np.int64((mixed >> np.uint64(32)) % np.uint64(k))


@inner()
def lowest_bit(word):
    """Return the number of the lowest bit that is set in an uint64, which is not 0."""
    lowest = word & (~word + np.uint64(1))
    return _BITS[np.int64((lowest * np.uint64(DE_BRUIJN)) >> np.uint64(58))]


@inner()
def hold(held, v, b):
    """Vertex v is in block b."""
    held[v, b >> 6] |= np.uint64(1) << np.uint64(b & 63)


@inner()
def holds(held, v, b):
    """Whether vertex v is in block b."""
    return (held[v, b >> 6] >> np.uint64(b & 63)) & np.uint64(1) != 0


@inner()
def lacking(blocks):
    """Work that blocks lack to their lows."""
    total = 0.0
    for b in range(blocks.loads.size):
        total += max(blocks.lows[b] - blocks.loads[b], 0.0)
    return total


@inner()
def fits(blocks, b, work, lack):
    """Whether block b may take an edge; lack: what blocks lack to their lows."""
    if blocks.loads[b] + work > blocks.caps[b]:
        return False
    return lack == 0.0 or blocks.loads[b] < blocks.lows[b] or blocks.left[0] - work >= lack


@inner()
def take(blocks, u, v, b, work, lack):
    """Put an edge u-v into block b; return what blocks lack from then on."""
    hold(blocks.held, u, b)
    hold(blocks.held, v, b)
    before = max(blocks.lows[b] - blocks.loads[b], 0.0)
    blocks.loads[b] += work
    blocks.left[0] -= work
    return lack - before + max(blocks.lows[b] - blocks.loads[b], 0.0)


@inner()
def emptiest(blocks, full, work, lack):
    """Return the first block of least full (k,) that may take an edge; where none may, of all."""
    first = np.int64(full.argmin())
    if fits(blocks, first, work, lack):
        return first
    best, least = first, np.inf
    for b in range(full.size):
        if full[b] < least and fits(blocks, b, work, lack):
            best, least = np.int64(b), full[b]
    return best


@njit(cache=True, nogil=True)
def place_by_hash(tails, heads, works, degrees, table, blocks, part):
    """Hash the end of lower degree, of two alike the lower number, to an entry of a table (DBH).

    table (s,): each block as often as its share of the edges; where it is full, into the emptiest.
    """
    lack = lacking(blocks)
    full = blocks.loads / blocks.targets
    for e in range(tails.size):
        u, v = tails[e], heads[e]
        lower = u if (degrees[u], u) < (degrees[v], v) else v
        b = np.int64(table[_hashed(lower, table.size)])
        if not fits(blocks, b, works[e], lack):
            full[:] = blocks.loads / blocks.targets
            b = emptiest(blocks, full, works[e], lack)
        lack = take(blocks, u, v, b, works[e], lack)
        part[e] = b


@njit(cache=True, nogil=True)
def place_by_score(tails, heads, works, by_degree, balance, blocks, part):
    """Put each edge without a block, part[e] < 0, into that of the highest score; the first.

    A block scores 1 for each end that it holds, with by_degree (HDRF) [Petroni15]_ up to 2, more
    for the end of which fewer edges were seen; and balance times how far it is from the fullest
    block to the emptiest, relative to targets. by_degree False and balance 1: the greedy rule of
    [Gonzalez12]_, both ends, else one, else none, and of those alike the emptiest.
    """
    lack = lacking(blocks)
    held, seen, full = blocks.held, blocks.seen, blocks.loads / blocks.targets
    fullest, least = full.max(), emptiest(blocks, full, 0.0, lack)
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
        for i in range(held.shape[1]):
            word = held[u, i] | held[v, i]
            while word != np.uint64(0):
                b = 64 * i + lowest_bit(word)
                word &= word - np.uint64(1)
                if not fits(blocks, b, work, lack):
                    continue
                score = scale * (fullest - full[b])
                score += at_u * holds(held, u, b) + at_v * holds(held, v, b)
                if score > most or (score == most and b < best):
                    best, most = b, score
        if best < 0:
            best = emptiest(blocks, full, work, lack)
        lack = take(blocks, u, v, best, work, lack)
        part[e] = best
        full[best] = blocks.loads[best] / blocks.targets[best]
        fullest = max(fullest, full[best])
        if best == least or not fits(blocks, least, work, lack):
            least = emptiest(blocks, full, work, lack)


@njit(cache=True, nogil=True)
def hold_ends(tails, heads, part, held):
    """Note in held (n, ceil(k / 64)) that the ends of each edge are in its block."""
    for e in range(tails.size):
        hold(held, tails[e], part[e])
        hold(held, heads[e], part[e])


@njit(cache=True, nogil=True)
def count_held(held, vertices):
    """Add to vertices (k,) how many are in each block; return how many are in one at all."""
    touched = 0
    for v in range(held.shape[0]):
        found = False
        for i in range(held.shape[1]):
            word = held[v, i]
            while word != np.uint64(0):
                vertices[64 * i + lowest_bit(word)] += 1
                word &= word - np.uint64(1)
                found = True
        touched += found
    return touched
