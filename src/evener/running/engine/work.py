"""The arrays passed to kernels: a device's part of the graph, and its schedule's work arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.running.engine.atomics_kernels import BUFFER
from evener.running.engine.bucket_kernels import FUSED
from evener.running.engine.buckets_kernels import BINS, CHUNK
from evener.running.engine.near_kernels import Links
from evener.running.engine.program import VertexProgram
from evener.running.engine.union_kernels import SAMPLES

Numbers = npt.NDArray[Any]
# Arcs of a chunk, each vertex counted as two: some 10 us of work, against 0.1 us to take a chunk.
ARCS_OF_CHUNK = 1 << 14
CACHE_LINE = 64  # bytes
LAYOUTS = 64  # that are kept: a small graph is searched in 0.1 ms, of which a layout took 3 %
NOTHING = np.empty(0, np.uint8)


class LocalSizes(NamedTuple):
    """Numbers of vertices: in the whole graph, own, local (with ghosts), and own interior ones.

    If edges are divided, n_owned and n_interior are n_local: a device computes with all its copies.
    is_directed: whether the lists of arcs out and in differ.
    """

    n_global: int
    n_owned: int
    n_local: int
    n_interior: int
    is_directed: bool

    @property
    def n_ghosts(self) -> int:
        """Number of ghosts; not for kernels."""
        return self.n_local - self.n_owned


class Vertices(NamedTuple):
    """Global numbers and out-degrees of all local vertices (n_local,), empty if not stored.

    Kernels read them by number_of and degree_of.
    """

    numbers: Numbers
    degrees: Numbers


class ArcsOf(NamedTuple):
    """Arcs of the vertices with rows (LocalGraph.n_rows).

    Weights are empty for a program that does not use them.
    """

    offsets: Numbers
    ends: Numbers
    weights: Numbers


class DenseWork(NamedTuple):
    """Payloads (n_local,) of even and odd supersteps; changes (2, chunks) of each chunk.

    links: what the ranks of one computer share, see near.py; None if nothing.
    """

    even: Numbers
    odd: Numbers
    changes: Numbers
    links: Links | None


class FrontierWork(NamedTuple):
    """Queues and bitmaps of this superstep and the next; threads' buffers; changed ghosts.

    links: see DenseWork.
    """

    queue: Numbers
    other_queue: Numbers
    bits: Numbers
    other_bits: Numbers
    buffers: Numbers
    marked: Numbers
    links: Links | None


class BucketWork(NamedTuple):
    """Each thread's buckets, pool, links between chunks; the shared frontier; see bucket_kernels.

    bits: flags of vertices without room in a bucket, and of marked ghosts. links: see DenseWork.
    """

    bins: Numbers
    pools: Numbers
    following: Numbers
    few: Numbers
    frontier: Numbers
    bits: Numbers
    marked: Numbers
    links: Links | None


class UnionWork(NamedTuple):
    """Parents in the trees; a table of samples; ghosts that changed, and the values sent of them.

    links: what the ranks of one computer share; with links, parents are those of all vertices.
    """

    parents: Numbers
    table: Numbers
    counts: Numbers
    marked: Numbers
    sent: Numbers
    links: Links | None


# Makes an array of a shape and type; what it holds is not said.
Empty = Callable[[Any, npt.DTypeLike], Numbers]


def _dense(
    program: VertexProgram, sizes: LocalSizes, n_into: int, _: int, empty: Empty
) -> DenseWork:
    even = empty(sizes.n_local, program.dtype)
    odd = even if program.in_place else empty(sizes.n_local, program.dtype)
    size = n_into + 2 * sizes.n_owned
    changes = empty((2, size // ARCS_OF_CHUNK + 1), np.float64)
    return DenseWork(even, odd, changes, None)


def _frontier(
    program: VertexProgram, sizes: LocalSizes, _: int, threads: int, empty: Empty
) -> FrontierWork:
    # A vertex is queued once a superstep; and again if it is settled after it had changed before.
    length = sizes.n_owned * (1 if program.settled is None else 2) + int(BUFFER)
    words = (sizes.n_local + 63) // 64
    return FrontierWork(
        empty(length, np.uint32),
        empty(length, np.uint32),
        empty(words, np.uint64),
        empty(words, np.uint64),
        empty(threads * int(BUFFER), np.uint32),
        empty(sizes.n_ghosts, np.uint32),
        None,
    )


def _bucket(
    _program: VertexProgram, sizes: LocalSizes, _: int, threads: int, empty: Empty
) -> BucketWork:
    # Of a thread: room for its share of all vertices and a chunk begun in each bucket. Vertices may
    # stand in several buckets, and be shared unevenly: twice the vertices, of which most stay
    # untouched.
    chunks = 2 * sizes.n_owned // int(CHUNK) + 2 * int(BINS)
    return BucketWork(
        empty((threads, 4 * int(BINS) + 2), np.int64),
        empty((threads, chunks * int(CHUNK)), np.uint32),
        empty((threads, chunks), np.int64),
        empty((threads, FUSED), np.uint32),
        empty(threads * chunks * int(CHUNK), np.uint32),
        empty((sizes.n_local + 63) // 64, np.uint64),
        empty(sizes.n_ghosts, np.uint32),
        None,
    )


def _union(program: VertexProgram, sizes: LocalSizes, _: int, __: int, empty: Empty) -> UnionWork:
    return UnionWork(
        empty(sizes.n_local, np.uint32),
        empty(2 * SAMPLES, np.uint32),
        empty(2 * SAMPLES, np.int64),
        empty(sizes.n_ghosts, np.uint32),
        empty(sizes.n_ghosts, program.dtype),
        None,
    )


Maker = Callable[[VertexProgram, LocalSizes, int, int, Empty], Any]
WORK: dict[str, Maker] = {
    "dense": _dense,
    "frontier": _frontier,
    "bucket": _bucket,
    "union": _union,
}


def work_of(program: VertexProgram, sizes: LocalSizes, n_into: int, threads: int) -> Any:
    """Return the arrays of the program's schedule. n_into: number of arcs that reach own vertices.

    All arrays are in one block of memory: the C library keeps a single freed block for the next
    run, but returns several to the system, which then allocates them again, page by page.
    """
    size, places = _layout(program, sizes, n_into, threads)
    block, left = np.empty(size, np.uint8), iter(places)
    start = -block.ctypes.data % CACHE_LINE

    def next_of(shape: Any, dtype: npt.DTypeLike) -> Numbers:
        return np.ndarray(shape, dtype, block, start + next(left))

    return WORK[program.schedule](program, sizes, n_into, threads, next_of)


def work_bytes(program: VertexProgram, sizes: LocalSizes, n_into: int, threads: int) -> int:
    """Return the bytes of what `work_of` returns, without allocating them."""
    return _layout(program, sizes, n_into, threads)[0]


@lru_cache(maxsize=LAYOUTS)
def _layout(
    program: VertexProgram, sizes: LocalSizes, n_into: int, threads: int
) -> tuple[int, tuple[int, ...]]:
    """Return the bytes of the block, and where each array begins in it, in order of creation."""
    places = [0]

    def counted(shape: Any, dtype: npt.DTypeLike) -> Numbers:
        entries = math.prod(shape) if isinstance(shape, tuple) else shape
        places.append(places[-1] + _padded(entries * np.dtype(dtype).itemsize))
        return NOTHING

    WORK[program.schedule](program, sizes, n_into, threads, counted)
    return CACHE_LINE + places[-1], tuple(places[:-1])


def _padded(size: int) -> int:
    """Return a number of bytes, rounded up to whole cache lines."""
    return -(-size // CACHE_LINE) * CACHE_LINE
