"""Products y = A x by rows on a CUDA device: what staged blocks are compared to.

`by_rows`: a thread for each row (plain CSR). `by_runs`: entries sorted by rows are split evenly,
whatever rows they are of, and sums of a row are added up within a block of threads: CUSP's rule, as
[SPAC]_, section 5.2, tells it. `by_path`: entries and ends of rows together are split evenly:
Merrill and Garland, Merge-based Parallel Sparse Matrix-Vector Multiplication (2016). The last two
add to y (n,), zeros before, by atomics where a row goes beyond one block or thread.
"""

# mypy: ignore-errors
import numpy as np
from numba import cuda

from evener.running.cuda_simulator_kernels import is_simulated

ROOM = 0  # entries of a shared array that is as long as the launch says
ITEMS = 7  # entries and ends of rows of a thread of `by_path`: as Merrill and Garland, section 5
SIMULATED = is_simulated()
VALUE = np.dtype(np.float64) if SIMULATED else np.float64  # of shared arrays

helper = (lambda function: function) if SIMULATED else cuda.jit(device=True)


@helper
def least(one, other):
    """Return the smaller of two numbers."""
    return one if one < other else other


@cuda.jit
def by_rows(offsets, columns, entries, x, y):
    """Set y to A x, a thread for each row."""
    u = cuda.grid(1)
    if u < y.size:
        total = 0.0
        for e in range(offsets[u], offsets[u + 1]):
            total += entries[e] * x[columns[e]]
        y[u] = total


@cuda.jit
def by_runs(run, rows, columns, entries, x, y):
    """Add A x to y, a block of threads for each `run` entries, a thread for each at a time.

    Shared memory: 16 bytes a thread, of a product and its row, a number below 2^53.
    """
    room = cuda.shared.array(ROOM, VALUE)
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    first = cuda.blockIdx.x * run
    last = least(first + run, entries.size)
    for base in range(first, last, threads):
        e = base + thread
        row = rows[e] if e < last else -1
        room[thread] = entries[e] * x[columns[e]] if e < last else 0.0
        room[threads + thread] = row
        cuda.syncthreads()
        step = 1
        while step < threads:  # adds up what the threads before have of the row
            before = 0.0
            if thread >= step and room[threads + thread - step] == row:
                before = room[thread - step]
            cuda.syncthreads()
            room[thread] += before
            cuda.syncthreads()
            step *= 2
        is_last = e == last - 1 or thread == threads - 1
        if e < last and (is_last or room[threads + thread + 1] != row):
            cuda.atomic.add(y, row, room[thread])
        cuda.syncthreads()


@helper
def row_at(offsets, low, high, place):
    """Return the row, from low to high, of the item at `place`: its end comes after its entries."""
    while low < high:
        middle = (low + high) >> 1
        if offsets[middle + 1] + middle < place:
            low = middle + 1
        else:
            high = middle
    return low


@cuda.jit
def by_path(offsets, columns, entries, x, y):
    """Add A x to y, ITEMS entries and ends of rows a thread.

    offsets (n + 1,) int64. Shared memory: 8 bytes for each item of a block.
    """
    room = cuda.shared.array(ROOM, VALUE)
    n, thread, threads = np.int64(y.size), np.int64(cuda.threadIdx.x), np.int64(cuda.blockDim.x)
    first = np.int64(cuda.blockIdx.x) * threads * ITEMS
    last = least(first + threads * ITEMS, n + offsets[n])
    first_row, last_row = (
        row_at(offsets, np.int64(0), n, first), row_at(offsets, np.int64(0), n, last),
    )  # fmt: skip
    first_entry = first - first_row
    for i in range(thread, last - last_row - first_entry, threads):
        room[i] = entries[first_entry + i] * x[columns[first_entry + i]]
    cuda.syncthreads()
    place = least(first + thread * ITEMS, last)
    begun = row_at(offsets, first_row, last_row, place)
    u, e, rest = begun, place - begun, 0.0
    for _ in range(least(np.int64(ITEMS), last - place)):
        if e < offsets[u + 1]:
            rest += room[e - first_entry]
            e += 1
        else:
            if u == begun:  # threads before may have some of it
                cuda.atomic.add(y, u, rest)
            else:
                y[u] = rest
            rest = 0.0
            u += 1
    if u < n and rest != 0.0:
        cuda.atomic.add(y, u, rest)
