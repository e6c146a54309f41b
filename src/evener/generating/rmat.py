"""R-MAT graphs: power laws from a recursive matrix [CZF04]_, with Graph500's parameters."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.errors import UsageError
from evener.generating.checking import between, check_memory, random_source
from evener.graphs import Graph

BYTES_A_VERTEX, BYTES_AN_EDGE = 60, 40  # at the peak: measured
ROUNDING = 1e-9  # 0.6 + 0.3 + 0.1 is 1 to whoever writes it
CHUNK = 2**16  # edges drawn at once: their arrays stay in the cache


def rmat(
    scale: int,
    seed: int,
    edge_factor: int = 16,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
) -> Graph:
    """Return an R-MAT graph of 2^scale vertices from edge_factor * 2^scale drawn edges.

    At every level of the matrix an edge falls into its quadrants with probability a, b, c and
    1 - a - b - c. Labels are permuted; loops and repeated edges are dropped, which leaves fewer.
    """
    between(scale, 0, 30, "scale")
    between(edge_factor, 1, 2**20, "edge_factor")
    if not (min(a, b, c) >= 0 and a + b + c <= 1 + ROUNDING):
        raise UsageError(f"a, b, c must be shares of 1, not {a}, {b}, {c}")
    n, count = 1 << scale, edge_factor << scale
    check_memory(n, BYTES_A_VERTEX + BYTES_AN_EDGE * edge_factor, "vertices")
    rng = random_source(seed)
    u, v = np.empty(count, np.int32), np.empty(count, np.int32)
    for first in range(0, count, CHUNK):
        piece = slice(first, min(first + CHUNK, count))
        u[piece], v[piece] = _draw(piece.stop - first, scale, (a, b, c), rng)
    label = rng.permutation(n).astype(np.int32)
    return Graph.from_edges(n, label[u], label[v])


def _draw(
    count: int, scale: int, shares: tuple[float, float, float], rng: np.random.Generator
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Rows and columns of `count` edges, a bit a level."""
    ends_a, ends_b, ends_c = np.cumsum(shares).astype(np.float32)
    u, v = np.zeros(count, np.int32), np.zeros(count, np.int32)
    for _ in range(scale):
        draw = rng.random(count, dtype=np.float32)
        lower = draw >= ends_b
        right = (draw >= ends_a) ^ lower ^ (draw >= ends_c)
        u += u + lower
        v += v + right
    return u, v
