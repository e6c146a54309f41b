"""Kernels for CUDA devices, imported on demand; NUMBA_ENABLE_CUDASIM=1 simulates them on a CPU."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from numba import float64

from evener.running.cuda_simulator_kernels import is_simulated

cuda: Any = import_module("numba.cuda")  # of Numba itself or of numba-cuda, which has no types
is_simulated()  # so that arrays which threads share are shared there, too

THREADS = 128  # of a block
TILE = 16  # threads each way in a block of the matrix product

__all__ = ["THREADS", "TILE", "axpy", "cuda", "gemm", "jacobi", "pagerank", "spmv", "triad"]


@cuda.jit
def axpy(a: float, x: Any, y: Any) -> None:
    """y += a x."""
    i = cuda.grid(1)
    if i < y.size:
        y[i] += a * x[i]


@cuda.jit
def triad(a: float, x: Any, y: Any, z: Any) -> None:
    """z = x + a y."""
    i = cuda.grid(1)
    if i < z.size:
        z[i] = x[i] + a * y[i]


@cuda.jit
def spmv(indptr: Any, indices: Any, values: Any, x: Any, y: Any) -> None:
    """y = A x, with one thread per row."""
    i = cuda.grid(1)
    if i < y.size:
        total = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            total += values[j] * x[indices[j]]
        y[i] = total


@cuda.jit
def jacobi(indptr: Any, indices: Any, values: Any, inverse: Any, b: Any, x: Any, y: Any) -> None:
    """y = (b - R x) / D."""
    i = cuda.grid(1)
    if i < y.size:
        total = b[i]
        for j in range(indptr[i], indptr[i + 1]):
            total -= values[j] * x[indices[j]]
        y[i] = total * inverse[i]


@cuda.jit
def pagerank(
    indptr: Any, indices: Any, values: Any, damping: float, x: Any, y: Any, change: Any
) -> None:
    """y = (1 - c) / n + c A x; change[0] grows by the sum of differences."""
    i = cuda.grid(1)
    if i < y.size:
        total = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            total += values[j] * x[indices[j]]
        total = damping * total + (1.0 - damping) / y.size
        y[i] = total
        if i < x.size:
            cuda.atomic.add(change, 0, abs(total - x[i]))


@cuda.jit
def gemm(column: Any, row: Any, c: Any) -> None:
    """C += A B in tiles of shared memory; A is (m, b), B (b, n)."""
    a_tile = cuda.shared.array((TILE, TILE), float64)
    b_tile = cuda.shared.array((TILE, TILE), float64)
    j, i = cuda.grid(2)
    tj, ti = cuda.threadIdx.x, cuda.threadIdx.y
    total = 0.0
    depth = column.shape[1]
    for start in range(0, depth, TILE):
        inside = i < c.shape[0] and start + tj < depth
        a_tile[ti, tj] = column[i, start + tj] if inside else 0.0
        inside = j < c.shape[1] and start + ti < depth
        b_tile[ti, tj] = row[start + ti, j] if inside else 0.0
        cuda.syncthreads()
        for k in range(TILE):
            total += a_tile[ti, k] * b_tile[k, tj]
        cuda.syncthreads()
    if i < c.shape[0] and j < c.shape[1]:
        c[i, j] += total
