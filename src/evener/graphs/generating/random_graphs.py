"""Random graphs: geometric, R-MAT [CZF04]_, uniform and Barabási-Albert [BA99]_.

Geometric graphs join uniform points within a radius. R-MAT draws edges from a recursive matrix, by
default with Graph500's parameters, as in GAPBS's Kronecker graphs; uniform graphs draw both ends of
an edge from all vertices. In Barabási and Albert's graphs, vertices join earlier ones by
preferential attachment. Degrees of R-MAT and of preferential attachment follow power laws.
"""

from __future__ import annotations

from typing import Literal, overload

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.graphs.directed import DirectedGraph
from evener.graphs.generating.checks import (
    at_least,
    between,
    check_memory,
    random_source,
    two_or_three,
)
from evener.graphs.generating.delaunay import sorted_points
from evener.graphs.graph import Graph

# Peak memory, measured.
RGG_BYTES_A_VERTEX, BYTES_A_NEIGHBOUR = 100, 20
DRAWN_BYTES_A_VERTEX, DRAWN_BYTES_AN_EDGE = 60, 40
BA_BYTES_AN_EDGE = 40

ROUNDING = 1e-9  # tolerance of the sum of a, b and c: 0.6 + 0.3 + 0.1 exceeds 1
CHUNK = 2**16  # edges drawn at a time, so that their arrays fit in the cache


def rgg(n: int, seed: int, dim: int = 2, degree: float = 12.0) -> Graph:
    """Return the graph of n uniform points of the unit square or cube, along the Hilbert curve.

    Vertices are neighbours within the radius that gives `degree` neighbours on average; vertices
    near a border have fewer. Those of [LDHT]_ have degree 6.
    """
    check_rgg(n, dim, degree)
    check_memory(n, RGG_BYTES_A_VERTEX + BYTES_A_NEIGHBOUR * min(degree, n), "vertices")
    return rgg_of(sorted_points(random_source(seed).random((n, dim))), degree)


def check_rgg(n: int, dim: int, degree: float) -> None:
    """Raise UsageError for invalid parameters of a random geometric graph."""
    at_least(n, 1, "n")
    two_or_three(dim)
    between(degree, 0, 1000, "degree")


def rgg_of(points: FloatArray, degree: float) -> Graph:
    """Return the geometric graph of points (n, 2) or (n, 3) of the unit square or cube.

    Vertices keep the order of the points.
    """
    from scipy.spatial import cKDTree

    n, dim = points.shape
    pairs = cKDTree(points).query_pairs(rgg_radius(n, dim, degree), output_type="ndarray")
    return Graph.from_edges(n, pairs[:, 0], pairs[:, 1], coords=points)


def rgg_radius(n: int, dim: int, degree: float) -> float:
    """Return the radius at which n points have `degree` neighbours on average."""
    ball = np.pi if dim == 2 else 4 / 3 * np.pi  # volume for radius 1
    return float((degree / (n * ball)) ** (1 / dim))


@overload
def rmat(
    scale: int,
    seed: int,
    edge_factor: int = ...,
    a: float = ...,
    b: float = ...,
    c: float = ...,
    *,
    directed: Literal[False] = ...,
) -> Graph: ...
@overload
def rmat(
    scale: int,
    seed: int,
    edge_factor: int = ...,
    a: float = ...,
    b: float = ...,
    c: float = ...,
    *,
    directed: bool,
) -> Graph | DirectedGraph: ...
def rmat(
    scale: int,
    seed: int,
    edge_factor: int = 16,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    *,
    directed: bool = False,
) -> Graph | DirectedGraph:
    """Return an R-MAT graph of 2^scale vertices from edge_factor * 2^scale drawn edges.

    At every level of the matrix an edge falls into its quadrants with probability a, b, c and 1 - a
    - b - c. Labels are permuted; loops and repeated edges are dropped, so fewer edges remain.
    directed: a drawn edge is an arc from its row to its column.
    """
    n, count = drawn(scale, edge_factor)
    check_memory(n, DRAWN_BYTES_A_VERTEX + DRAWN_BYTES_AN_EDGE * edge_factor, "vertices")
    check_shares(a, b, c)
    rng = random_source(seed)
    u, v = rmat_ends(scale, count, rng, (a, b, c))
    label = rng.permutation(n).astype(np.int32)
    return _joined(n, label[u], label[v], directed=directed)


def check_shares(a: float, b: float, c: float) -> None:
    """Raise UsageError unless a, b and c are valid shares of quadrants."""
    if not (min(a, b, c) >= 0 and a + b + c <= 1 + ROUNDING):
        raise UsageError(f"a, b, c must be shares of 1, not {a}, {b}, {c}")


def rmat_labels(scale: int, count: int, seed: int) -> npt.NDArray[np.int32]:
    """Return the vertex numbers (2^scale,) that `rmat` assigns after it drew `count` edges.

    The generator skips these draws without making them: every two draws are one step of 64 bits.
    """
    rng = random_source(seed)
    draws = scale * count
    rng.bit_generator.advance(draws // 2)  # type: ignore[attr-defined]
    if draws % 2:
        rng.random(dtype=np.float32)
    return rng.permutation(1 << scale).astype(np.int32)


def rmat_ends(
    scale: int,
    count: int,
    rng: np.random.Generator,
    shares: tuple[float, float, float] = (0.57, 0.19, 0.19),
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the tails and heads (count,) of arcs of an R-MAT graph, with labels not permuted.

    Vertices with small numbers have high degrees; loops and repeated arcs are kept. shares: a, b
    and c of `rmat`.
    """
    u, v = np.empty(count, np.int32), np.empty(count, np.int32)
    for first in range(0, count, CHUNK):
        piece = slice(first, min(first + CHUNK, count))
        u[piece], v[piece] = _draw(piece.stop - first, scale, shares, rng)
    return u, v


def uniform(
    scale: int, seed: int, edge_factor: int = 16, *, directed: bool = False
) -> Graph | DirectedGraph:
    """Return a graph of 2^scale vertices from edge_factor * 2^scale edges with random ends.

    Loops and repeated edges are dropped, so slightly fewer edges remain. directed: edges are arcs.
    """
    n, count = drawn(scale, edge_factor)
    check_memory(n, DRAWN_BYTES_A_VERTEX + DRAWN_BYTES_AN_EDGE * edge_factor, "vertices")
    ends = random_source(seed).integers(n, size=(2, count), dtype=np.int32)
    return _joined(n, ends[0], ends[1], directed=directed)


def drawn(scale: int, edge_factor: int) -> tuple[int, int]:
    """Return the numbers of vertices and drawn edges; raise UsageError if there are too many."""
    between(scale, 0, 30, "scale")
    between(edge_factor, 1, 2**20, "edge_factor")
    return 1 << scale, edge_factor << scale


def _joined(
    n: int, u: npt.NDArray[np.int32], v: npt.NDArray[np.int32], *, directed: bool
) -> Graph | DirectedGraph:
    return DirectedGraph.from_arcs(n, u, v) if directed else Graph.from_edges(n, u, v)


def _draw(
    count: int, scale: int, shares: tuple[float, float, float], rng: np.random.Generator
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the rows and columns of `count` edges, drawn one bit per level."""
    ends_a, ends_b, ends_c = np.cumsum(shares).astype(np.float32)
    u, v = np.zeros(count, np.int32), np.zeros(count, np.int32)
    for _ in range(scale):
        draw = rng.random(count, dtype=np.float32)
        lower = draw >= ends_b
        right = (draw >= ends_a) ^ lower ^ (draw >= ends_c)
        u += u + lower
        v += v + right
    return u, v


def barabasi_albert(n: int, seed: int, degree: int = 8) -> Graph:
    """Return a graph of n vertices and degree * (n - degree) edges; 1 <= degree < n.

    Each vertex from `degree` on joins `degree` different earlier vertices, drawn with probabilities
    proportional to their numbers of neighbours.
    """
    from evener.graphs.generating import barabasi_albert_kernels as kernels

    at_least(n, 2, "n")
    between(degree, 1, n - 1, "degree")
    check_memory(degree * (n - degree), BA_BYTES_AN_EDGE, "edges")
    ends = np.empty(2 * degree * (n - degree), np.int32)
    start = random_source(seed).integers(2**63, dtype=np.uint64)
    kernels.attach(n, degree, start, np.zeros(n, np.int32), ends)
    return Graph.from_edges(n, ends[0::2], ends[1::2])
