"""O, R, H, L and chunks of [Guo16]_: vertices in some order, dealt out to parts by shares."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector

Numbers = npt.NDArray[np.int64]


def filled(order: IntVector, work: Numbers, shares: FloatArray) -> Numbers:
    """Return (m,) the part of each entry of `order`: parts are filled one after another.

    A part takes vertices until their work reaches its share of all work; the last takes the rest.
    order (m,): vertices. work (n,): of each, such as its out-degree. shares (k,): of the parts,
    read as proportions.
    """
    reached = np.cumsum(work[order], dtype=np.float64)
    total = float(reached[-1]) if order.size else 0.0
    part, first, done = np.full(order.size, shares.size - 1), 0, 0.0
    for p, share in enumerate((shares / shares.sum() * total).tolist()[:-1]):
        # The vertex with which the share is reached is the part's last one.
        end = int(np.searchsorted(reached, done + share, side="left")) + 1 if share > 0 else first
        end = max(first, min(end, order.size))
        part[first:end] = p
        first, done = end, float(reached[end - 1]) if end else 0.0
    return part


def by_degree(vertices: IntVector, degrees: Numbers, *, falling: bool) -> Numbers:
    """Return the vertices by falling (H) or rising (L) degree; ties by number."""
    key = degrees[vertices]
    return vertices[np.lexsort((vertices, -key if falling else key))]


def at_random(vertices: IntVector, k: int, rng: np.random.Generator) -> Numbers:
    """Return a part for each vertex, every one equally likely (policy R)."""
    return rng.integers(0, k, vertices.size)


def in_chunks(n: int, k: int, chunk: int) -> Numbers:
    """Return the part of each vertex: pieces of `chunk` vertices of the file go round robin."""
    return np.arange(n) // chunk % k


def hashed(n: int, k: int) -> Numbers:
    """Return the part of each vertex by a hash of its number (SplitMix64), as in Pregel."""
    with np.errstate(over="ignore"):
        x = np.arange(n, dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    return (x % np.uint64(k)).astype(np.int64)
