"""Places one edge after another in a block: by hash (DBH), greedily, by degree (HDRF)."""

# mypy: ignore-errors
import numpy as np

from evener.jit import inner, njit

SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd, near 2^64 divided by the golden ratio (Fibonacci)
LEAST_SPREAD = 1e-3  # of loads relative to targets, in the balance term of HDRF


@inner()
def _hashed(v, k):
    """A block for vertex v, about equally often each."""
    mixed = np.uint64(v + 1) * SPREAD
    return np.int64((mixed >> np.uint64(32)) % np.uint64(k))


@njit(cache=True, nogil=True)
def place_by_hash(tails, heads, degrees, blocks, part):
    """Hash the end of lower degree, of two alike the lower number, to an entry of blocks (DBH).

    blocks (s,): each block as often as its share of the edges.
    """
    for e in range(tails.size):
        u, v = tails[e], heads[e]
        lower = u if (degrees[u], u) < (degrees[v], v) else v
        part[e] = blocks[_hashed(lower, blocks.size)]


@njit(cache=True, nogil=True)
def place_greedily(tails, heads, weights, order, targets, caps, held, part):
    """Put each edge where both its ends are, else where one is, else in the emptiest block.

    Of blocks alike the one of least load / target. targets, caps (k,) [units]: no block takes an
    edge that would carry it above its cap, while another can. held (n, ceil(k / 64)) uint64: the
    blocks that each vertex is in, as bits.
    """
    k = targets.size
    loads = np.zeros(k)
    for e in order:
        u, v, work = tails[e], heads[e], weights[e]
        best, most, least = np.int64(-1), -1, np.inf
        for b in range(k):
            word, bit = b >> 6, np.uint64(1) << np.uint64(b & 63)
            here = ((held[u, word] & bit) != 0) + ((held[v, word] & bit) != 0)
            full = (loads[b] + work) / targets[b]
            if loads[b] + work > caps[b]:
                here = -1
            if here > most or (here == most and full < least) or best < 0:
                best, most, least = np.int64(b), here, full
        _hold(held, u, best)
        _hold(held, v, best)
        loads[best] += work
        part[e] = best


@njit(cache=True, nogil=True)
def place_by_degree_seen(tails, heads, weights, order, targets, caps, balance, held, part):
    """Put each edge where its ends are, the end of lower degree seen so far counting more (HDRF).

    balance: weight of the loads' spread, lambda of [Petroni15]_. The rest as of place_greedily.
    """
    k = targets.size
    loads, seen = np.zeros(k), np.zeros(held.shape[0], np.int64)
    fullness = np.zeros(k)
    for e in order:
        u, v, work = tails[e], heads[e], weights[e]
        seen[u] += 1
        seen[v] += 1
        share = seen[u] / (seen[u] + seen[v])
        low, high = fullness.min(), fullness.max()
        best, most = np.int64(-1), -np.inf
        for b in range(k):
            if loads[b] + work > caps[b]:
                continue
            word, bit = b >> 6, np.uint64(1) << np.uint64(b & 63)
            score = balance * (high - fullness[b]) / (LEAST_SPREAD + high - low)
            if held[u, word] & bit:
                score += 2.0 - share
            if held[v, word] & bit:
                score += 1.0 + share
            if score > most:
                best, most = np.int64(b), score
        if best < 0:  # no block has room: the emptiest
            best = np.int64(fullness.argmin())
        _hold(held, u, best)
        _hold(held, v, best)
        loads[best] += work
        fullness[best] = loads[best] / targets[best]
        part[e] = best


@inner()
def _hold(held, v, b):
    """Vertex v is in block b."""
    held[v, b >> 6] |= np.uint64(1) << np.uint64(b & 63)
