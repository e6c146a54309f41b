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
    """Blocks that are being filled; loads, targets, caps, lows (k,) and left (1,) float64 [units].

    loads: so far; full (k,): relative to targets. targets: above 0. caps: no block takes an edge
    that would carry it above its cap, while another can. lows: what each must have in the end;
    left: work still to come, of which none is spent on other blocks once it is needed to bring all
    to their lows; zeros where that is not asked for. held (n, ceil(k / 64)) uint64: the blocks that
    each vertex is in, as bits. seen (n,) int64: edges of each vertex so far.
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
    """A block for vertex v, about equally often each."""
    mixed = np.uint64(v + 1) * SPREAD
    return np.int64((mixed >> np.uint64(32)) % np.uint64(k))


@inner(counted=False)
def lowest_bit(word):
    """Return the number of the lowest bit that is set in an uint64, which is not 0."""
    lowest = word & (~word + np.uint64(1))
    return _BITS[np.int64((lowest * np.uint64(DE_BRUIJN)) >> np.uint64(58))]


@inner(counted=False)
def hold(held, v, b):
    """Vertex v is in block b."""
    held[v, b >> 6] |= np.uint64(1) << np.uint64(b & 63)


@inner(counted=False)
def holds(held, v, b):
    """Whether vertex v is in block b."""
    return (held[v, b >> 6] >> np.uint64(b & 63)) & np.uint64(1) != 0


@inner(counted=False)
def lacking(blocks):
    """Work that blocks lack to their lows."""
    total = 0.0
    for b in range(blocks.loads.size):
        total += max(blocks.lows[b] - blocks.loads[b], 0.0)
    return total


@inner(counted=False)
def fits(blocks, b, work, lack):
    """Whether block b may take an edge; lack: what blocks lack to their lows."""
    if blocks.loads[b] + work > blocks.caps[b]:
        return False
    return lack == 0.0 or blocks.loads[b] < blocks.lows[b] or blocks.left[0] - work >= lack


@inner(counted=False)
def take(blocks, u, v, b, work, lack):
    """Put an edge u-v into block b; return what blocks lack from then on."""
    hold(blocks.held, u, b)
    hold(blocks.held, v, b)
    before = max(blocks.lows[b] - blocks.loads[b], 0.0)
    blocks.loads[b] += work
    blocks.full[b] = blocks.loads[b] / blocks.targets[b]
    blocks.left[0] -= work
    return lack - before + max(blocks.lows[b] - blocks.loads[b], 0.0)


@inner(counted=False)
def emptiest(blocks, work, lack):
    """Return the first block of least full (k,) that may take an edge; where none may, of all."""
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
    """Hash the end of lower degree, or the lower number, to an entry of a table (DBH).

    table (s,): each block as often as its share of the edges; where it is full, into the emptiest.
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
    """Return the first block of least full that may take an edge u-v, or -1.

    at_u, at_v: whether it must hold u, or must not; the same of v.
    """
    held, full = blocks.held, blocks.full
    best, least = np.int64(-1), np.inf
    for i in range(held.shape[1]):
        word = held[u, i] if at_u else ~held[u, i]
        word &= held[v, i] if at_v else ~held[v, i]
        while word != np.uint64(0):
            b = 64 * i + lowest_bit(word)
            word &= word - np.uint64(1)
            if full[b] < least and fits(blocks, b, work, lack):
                best, least = b, full[b]
    return best


@njit(cache=True, nogil=True, counted=False)
def place_by_score(tails, heads, works, by_degree, balance, blocks, part):
    """Put each edge without a block, part[e] < 0, into that of the highest score; the first.

    A block scores 1 for each end that it holds, with by_degree (HDRF) [Petroni15]_ up to 2, more
    for the end of which fewer edges were seen; and balance times how far it is from the fullest
    block to the emptiest, relative to targets. by_degree False and balance 1: the greedy rule of
    [Gonzalez12]_, both ends, else one, else none, and among equal ones the emptiest.
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
    """Note in held (n, ceil(k / 64)) that the ends of each edge are in its block."""
    for e in range(tails.size):
        hold(held, tails[e], part[e])
        hold(held, heads[e], part[e])


@njit(cache=True, nogil=True, counted=False)
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
