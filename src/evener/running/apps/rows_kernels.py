"""Rows of a graph's matrix times a vector; threads take pieces with about equal numbers of arcs.

Row u contains the weights of the arcs of vertex u. ThreadPool.run calls the kernels. Numbers of
arcs and vertices are unsigned, so that no check for negative indices is needed.
"""

# mypy: ignore-errors
import numpy as np

from evener.jit import inner, njit
from evener.running.engine.atomics_kernels import chunk_start, fetch_add, first_of

ONE, TWO = np.uint64(1), np.uint64(2)
# Arcs at the beginning of a row that are multiplied without asking where it ends; those beyond the
# end are left out of the sum. On a Delaunay mesh, of 6 arcs a row, this takes 0.6 of the seconds
# of a loop to the end of each row, which the processor mispredicts; with 6, 10 or 12 it takes
# longer (benchmarks/spmv.py, delaunay20, one thread). Also tried: the sums up to each arc kept in
# memory, and one of them taken (0.96 of this); gathers of eight values (AVX-512: 2.8 times as
# long); two rows at once (1.06); a branch for rows of up to six (1.36).
FIRST = np.uint64(8)


# Inlined before anything is optimised, and without a decision for each arc whether it has a weight:
# LLVM else makes branches of the choices, and the product takes twice as long.
@inner(counted=False, forceinline=True)
def first_weighted(j, end, ends, weights, x):
    """Return the sum of weight times x at the other end, over arcs j to end - 1, FIRST at most."""
    total, length = 0.0, end - j
    for k in range(FIRST):
        product = weights[j + k] * x[ends[j + k]]
        total += product if k < length else 0.0
    return total


@inner(counted=False, forceinline=True)
def first_plain(j, end, ends, x):
    """Return the sum of x at the other end, over arcs j to end - 1, FIRST at most."""
    total, length = 0.0, end - j
    for k in range(FIRST):
        value = x[ends[j + k]]
        total += value if k < length else 0.0
    return total


@inner(counted=False, forceinline=True)
def row_times(j, end, ends, weights, x):
    """Return the sum of weight (or 1) times x at the other end, over arcs j to end - 1."""
    total, is_weighted = 0.0, weights.size > 0
    if j + FIRST <= np.uint64(ends.size):
        if is_weighted:
            total = first_weighted(j, end, ends, weights, x)
        else:
            total = first_plain(j, end, ends, x)
        j += FIRST
    while j < end:
        total += weights[j] * x[ends[j]] if is_weighted else x[ends[j]]
        j += ONE
    return total


@njit(cache=True, nogil=True, counted=False)
def cut_rows(offsets, longest, first_rows, first_arcs):
    """Fill in where pieces of about equally many arcs begin; a row counts as its arcs plus two.

    first_rows, first_arcs (pieces + 1,) int64. Rows with more than `longest` arcs may be cut.
    """
    n, pieces = np.uint64(offsets.size - 1), np.uint64(first_rows.size - 1)
    total = np.uint64(offsets[n]) + TWO * n
    for piece in range(pieces + ONE):
        row = chunk_start(offsets, n, piece, pieces)
        arc = np.uint64(offsets[row])
        if row > 0:
            before = np.uint64(offsets[row - ONE])
            asked = total * piece // pieces - TWO * (row - ONE)
            if arc - before > np.uint64(longest) and before < asked < arc:
                row, arc = row - ONE, asked
        first_rows[piece], first_arcs[piece] = row, arc


@njit(cache=True, nogil=True, counted=False)
def sum_rows(thread, threads, chunks, rows, sums):
    """Set sums (m,) to the sum of each row's weights. chunks: rows at which threads begin."""
    offsets, _, weights = rows
    first = chunks[first_of(thread, threads, chunks.size - 1)]
    end = chunks[first_of(thread + 1, threads, chunks.size - 1)]
    for u in range(np.uint64(first), np.uint64(end)):
        total = 0.0
        for j in range(np.uint64(offsets[u]), np.uint64(offsets[u + ONE])):
            total += weights[j]
        sums[u] = total


@njit(cache=True, nogil=True, counted=False)
def multiply(thread, threads, tickets, cuts, rows, factors, x, y, carried):  # noqa: ARG001
    """Set y (m,) to factors times rows times x; each free thread takes the next piece.

    factors (m,), or empty for 1. tickets (1,) int64: number of pieces taken. carried (pieces,): for
    a piece that begins inside a row, the value to add to y for this row after all threads have
    ended.
    """
    offsets, ends, weights = rows
    first_rows, first_arcs = cuts
    pieces = first_rows.size - 1
    while True:
        piece = fetch_add(tickets, np.uint64(0), 1)
        if piece >= pieces:
            break
        u, last = np.uint64(first_rows[piece]), np.uint64(first_rows[piece + 1])
        j, end = np.uint64(first_arcs[piece]), np.uint64(first_arcs[piece + 1])
        carried[piece] = 0.0
        if j > np.uint64(offsets[u]):
            stop = min(end, np.uint64(offsets[u + ONE]))
            factor = factors[u] if factors.size > 0 else 1.0
            carried[piece] = factor * row_times(j, stop, ends, weights, x)
            u, j = u + ONE, stop
        while u < last:
            stop = np.uint64(offsets[u + ONE])
            total = row_times(j, stop, ends, weights, x)
            y[u] = factors[u] * total if factors.size > 0 else total
            u, j = u + ONE, stop
        if u == last and j < end:
            factor = factors[u] if factors.size > 0 else 1.0
            y[u] = factor * row_times(j, end, ends, weights, x)
