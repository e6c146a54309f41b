"""Steps of conjugate gradients and of Jacobi's method for L + shift I, on a device's threads.

L is the Laplacian of the graph's weighted edges. chunks: rows at which pieces begin, and the end.
Each piece stores its own sums, so results do not depend on the number of threads. ThreadPool.run
calls the kernels.
"""

# mypy: ignore-errors
import numpy as np

from evener.jit import inner, njit
from evener.running.apps.rows_kernels import row_times

ONE = np.uint64(1)


@inner(counted=False, forceinline=True)
def neighbours_times(u, rows, x):
    """Return the sum, over the arcs of vertex u, of weight times x at the other end."""
    offsets, ends, weights = rows
    return row_times(np.uint64(offsets[u]), np.uint64(offsets[u + ONE]), ends, weights, x)


@njit(cache=True, nogil=True, counted=False)
def multiply(thread, threads, chunks, rows, diagonal, p, q, dots):
    """Set q = (L + shift I) p for own vertices, and dots to p . q by piece."""
    n = chunks.size - 1
    for c in range(n * thread // threads, n * (thread + 1) // threads):
        dot = 0.0
        for u in range(np.uint64(chunks[c]), np.uint64(chunks[c + 1])):
            q[u] = diagonal[u] * p[u] - neighbours_times(u, rows, p)
            dot += p[u] * q[u]
        dots[c] = dot


@njit(cache=True, nogil=True, counted=False)
def descend(thread, threads, chunks, alpha, diagonal, vectors, dots):
    """Add alpha p to x and -alpha q to the residual; dots (pieces, 2): r . r / diagonal, r . r."""
    x, r, p, q = vectors
    n = chunks.size - 1
    for c in range(n * thread // threads, n * (thread + 1) // threads):
        preconditioned, plain = 0.0, 0.0
        for u in range(chunks[c], chunks[c + 1]):
            x[u] += alpha * p[u]
            r[u] -= alpha * q[u]
            preconditioned += r[u] * r[u] / diagonal[u]
            plain += r[u] * r[u]
        dots[c, 0], dots[c, 1] = preconditioned, plain


@njit(cache=True, nogil=True, counted=False)
def turn(thread, threads, chunks, beta, diagonal, r, p):
    """Set p = r / diagonal + beta p for own vertices."""
    n = chunks.size - 1
    for c in range(n * thread // threads, n * (thread + 1) // threads):
        for u in range(chunks[c], chunks[c + 1]):
            p[u] = r[u] / diagonal[u] + beta * p[u]


@njit(cache=True, nogil=True, counted=False)
def relax(thread, threads, chunks, rows, diagonal, b, x, following, dots):
    """Set following = (b + W x) / diagonal, W: weights of arcs; dots: squared change by piece."""
    n = chunks.size - 1
    for c in range(n * thread // threads, n * (thread + 1) // threads):
        change = 0.0
        for u in range(np.uint64(chunks[c]), np.uint64(chunks[c + 1])):
            following[u] = (b[u] + neighbours_times(u, rows, x)) / diagonal[u]
            change += (following[u] - x[u]) ** 2
        dots[c] = change
