"""Products y = A x by rows on a CUDA device, for comparison with staged blocks.

`by_rows`: one thread per row (plain CSR). `by_runs`: entries, sorted by rows, are divided evenly
regardless of rows, and sums of a row are added up within a block of threads: CUSP's method, as
described in [SPAC]_, section 5.2. If a row extends over several blocks, they add to y (n,), which
must be zero, by atomics. `by_parts`: each block of threads reads the entries of a part, see
row_blocks_kernels; then one thread adds up the products of a row, or a warp if the row has many.
`join_pieces` adds up rows that are in several parts. The sums of `by_parts` are the same each time.
"""

# mypy: ignore-errors
import numpy as np
from numba import cuda

from evener.running.cuda_simulator_kernels import is_simulated

ROOM = 0  # entries of a shared array that is as long as the launch says
SIMULATED = is_simulated()
THREADS = 16 if SIMULATED else 128  # of a block of `by_parts`: a simulated thread takes 50 us
ITEMS = 8  # entries of such a thread
PART = THREADS * ITEMS
WARP = 4 if SIMULATED else 32
MANY = PART // WARP  # rows of a part with WARP entries, at most
VALUE, WHOLE = (  # of shared arrays
    (np.dtype(np.float64), np.dtype(np.int64)) if SIMULATED else (np.float64, np.int64)
)

helper = (lambda function: function) if SIMULATED else cuda.jit(device=True)


@helper
def least(one, other):
    """Return the smaller of two numbers."""
    return one if one < other else other


@cuda.jit
def by_rows(offsets, columns, entries, x, y):
    """Set y to A x, one thread per row."""
    u = cuda.grid(1)
    if u < y.size:
        total = 0.0
        for e in range(offsets[u], offsets[u + 1]):
            total += entries[e] * x[columns[e]]
        y[u] = total


@cuda.jit
def by_runs(run, rows, columns, entries, x, y):
    """Add A x to y, one block of threads for each `run` entries; each thread takes one at a time.

    Shared memory per thread: 16 bytes for a product and its row, a number below 2^53.
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
def add_halves(rests, thread, lane, width):
    """Add up rests (THREADS,) within groups of `width` threads, into the first of each group.

    lane: the thread's index in its group. All threads of the block must call this.
    """
    cuda.syncthreads()
    half = width // 2
    while half > 0:
        if lane < half:
            rests[thread] += rests[thread + half]
        cuda.syncthreads()
        half //= 2


@cuda.jit
def by_parts(offsets, rows, places, columns, entries, x, y, carries):
    """Set y to A x, a block of THREADS per part.

    carries (parts,): set to sums of pieces of rows.
    """
    products = cuda.shared.array(PART, VALUE)
    rests = cuda.shared.array(THREADS, VALUE)
    many = cuda.shared.array(MANY, WHOLE)  # rows with many entries
    n_many = cuda.shared.array(1, WHOLE)
    b, thread = cuda.blockIdx.x, cuda.threadIdx.x
    if thread == 0:
        n_many[0] = 0
    first, last, base = rows[b], rows[b + 1], places[b]
    count = places[b + 1] - base
    if count > 0:  # without conditions between loads, so that all are under way together
        here = cuda.local.array(ITEMS, VALUE)
        ends = cuda.local.array(ITEMS, np.int32)
        for k in range(ITEMS):
            i = base + least(thread + k * THREADS, count - 1)
            here[k], ends[k] = entries[i], columns[i]
        for k in range(ITEMS):
            here[k] *= x[ends[k]]
        for k in range(ITEMS):
            if thread + k * THREADS < count:
                products[thread + k * THREADS] = here[k]
    cuda.syncthreads()
    rest = 0.0
    if count < offsets[first + 1] - offsets[first]:
        for i in range(thread, count, THREADS):
            rest += products[i]
        rests[thread] = rest
        add_halves(rests, thread, thread, THREADS)
        if thread == 0:
            carries[b] = rests[0]
        return
    u = first + thread
    if u < last:
        begun, end = offsets[u] - base, offsets[u + 1] - base
        if end - begun < WARP:
            for i in range(begun, end):
                rest += products[i]
            y[u] = rest
        else:
            many[cuda.atomic.add(n_many, 0, 1)] = thread
    cuda.syncthreads()
    lane = thread % WARP
    for k in range(thread // WARP, n_many[0] + thread // WARP, THREADS // WARP):
        rest = 0.0
        if k < n_many[0]:
            u = first + many[k]
            for i in range(offsets[u] - base + lane, offsets[u + 1] - base, WARP):
                rest += products[i]
        rests[thread] = rest
        add_halves(rests, thread, lane, WARP)
        if k < n_many[0] and lane == 0:
            y[u] = rests[thread]


@cuda.jit
def join_pieces(offsets, long, carries, y):
    """Set y for rows in pieces to the sum of the pieces, a block of THREADS for each such row."""
    rests = cuda.shared.array(THREADS, VALUE)
    thread = cuda.threadIdx.x
    u, first = long[cuda.blockIdx.x, 0], long[cuda.blockIdx.x, 1]
    rest = 0.0
    for b in range(
        first + thread, first + (offsets[u + 1] - offsets[u] + PART - 1) // PART, THREADS
    ):
        rest += carries[b]
    rests[thread] = rest
    add_halves(rests, thread, thread, THREADS)
    if thread == 0:
        y[u] = rests[0]
