"""Kernels for CUDA devices: a block of threads processes a block of edges in shared memory.

`swapped` and `swapped_flux` are the plain kernels with job swapping ([SPAC]_, section 4): thread t
processes edge schedule[t], and reads and adds in the device's global memory. The other kernels
stage values: a block of threads copies the values of its vertices to shared memory, adds there, and
then adds each sum to the output by atomics. In `by_outputs`, each thread instead writes its sum to
its own place, and `combine` adds these up in the order of blocks. counts (k,) int32: set to the
number of values that each block of threads has staged.

`message(entry, value)` is what an edge adds: `kernels_for` compiles the kernels for it. `flux` is
the interaction of two elements of a fluid as in Rodinia's cfd: four values per vertex.
"""

# mypy: ignore-errors
from types import SimpleNamespace

import numpy as np
from numba import cuda

from evener.running.cuda_simulator_kernels import is_simulated
from evener.running.locality.staging_kernels import FLUX_VALUES, GAS

ROOM = 0  # entries of a shared array that is as long as the launch says
SIMULATED = is_simulated()
VALUE = np.dtype(np.float64) if SIMULATED else np.float64  # of shared arrays

helper = (lambda function: function) if SIMULATED else cuda.jit(device=True)


def put(array):
    """Return a copy of an array in the device's memory."""
    return cuda.to_device(np.ascontiguousarray(array))


def launch(kernel, blocks, threads, shared, *arguments, stream=0):
    """Run a kernel with this number of blocks and threads, and bytes of shared memory per block."""
    kernel[max(int(blocks), 1), threads, stream, shared](*arguments)


def entry_times(entry, value):
    """Return what an entry of a matrix adds: the product."""
    return entry * value


def likelihood(entry, value):  # noqa: ARG001
    """Return what a pixel adds to a particle's likelihood, as in Rodinia's particlefilter."""
    return ((value - 100.0) * (value - 100.0) - (value - 228.0) * (value - 228.0)) / 50.0


def kernels_for(message):
    """Return `swapped`, `by_edges`, `by_cache` and `by_outputs`, compiled for `message`."""
    added = helper(message)
    return SimpleNamespace(
        swapped=_swapped(added),
        by_edges=_by_edges(added),
        by_cache=_by_cache(added),
        by_outputs=_by_outputs(added),
    )


def _swapped(added):
    @cuda.jit
    def swapped(schedule, rows, columns, entries, x, y):
        """Add message(entry, x) to y, one thread for each entry of the schedule."""
        t = cuda.grid(1)
        if t < schedule.size:
            e = schedule[t]
            cuda.atomic.add(y, rows[e], added(entries[e], x[columns[e]]))

    return swapped


def _by_edges(added):
    @cuda.jit
    def by_edges(starts, local, entries, staged, x, y, counts):
        """Stage x and sums of y; threads process edges; then sums are added to y.

        local: for each edge its output and its input. staged: starts and vertices of outputs, and
        of inputs.
        """
        room = cuda.shared.array(ROOM, VALUE)
        output_starts, outputs, input_starts, inputs = staged
        b, thread, threads = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
        first, n_outputs = output_starts[b], output_starts[b + 1] - output_starts[b]
        begin, n_inputs = input_starts[b], input_starts[b + 1] - input_starts[b]
        count = 0
        for i in range(thread, n_outputs, threads):
            room[i] = 0.0
            count += 1
        for i in range(thread, n_inputs, threads):
            room[n_outputs + i] = x[inputs[begin + i]]
            count += 1
        cuda.atomic.add(counts, b, count)
        cuda.syncthreads()
        for e in range(starts[b] + thread, starts[b + 1], threads):
            value = added(entries[e], room[n_outputs + local[1][e]])
            cuda.atomic.add(room, local[0][e], value)
        cuda.syncthreads()
        for i in range(thread, n_outputs, threads):
            cuda.atomic.add(y, outputs[first + i], room[i])

    return by_edges


def _by_cache(added):
    @cuda.jit
    def by_cache(starts, local, columns, entries, staged, x, y, counts):
        """Stage only sums of y; x is read through the cache of the multiprocessor.

        local: the output of each edge; columns: its input, by number. staged: starts and vertices
        of outputs. From compute capability 6 on, this cache also serves textures and read-only
        data.
        """
        room = cuda.shared.array(ROOM, VALUE)
        output_starts, outputs = staged
        b, thread, threads = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
        first, n_outputs = output_starts[b], output_starts[b + 1] - output_starts[b]
        count = 0
        for i in range(thread, n_outputs, threads):
            room[i] = 0.0
            count += 1
        cuda.atomic.add(counts, b, count)
        cuda.syncthreads()
        for e in range(starts[b] + thread, starts[b + 1], threads):
            cuda.atomic.add(room, local[e], added(entries[e], x[columns[e]]))
        cuda.syncthreads()
        for i in range(thread, n_outputs, threads):
            cuda.atomic.add(y, outputs[first + i], room[i])

    return by_cache


def _by_outputs(added):
    @cuda.jit
    def by_outputs(row_starts, local, entries, staged, x, partial, counts):
        """Stage x; threads process outputs.

        The edges of an output are consecutive, so sums are the same in each run.
        row_starts (outputs staged + 1,): where the edges of each output begin.
        """
        room = cuda.shared.array(ROOM, VALUE)
        output_starts, _, input_starts, inputs = staged
        b, thread, threads = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
        begin, n_inputs = input_starts[b], input_starts[b + 1] - input_starts[b]
        count = 0
        for i in range(thread, n_inputs, threads):
            room[i] = x[inputs[begin + i]]
            count += 1
        cuda.syncthreads()
        for i in range(output_starts[b] + thread, output_starts[b + 1], threads):
            total = 0.0
            for e in range(row_starts[i], row_starts[i + 1]):
                total += added(entries[e], room[local[1][e]])
            partial[i] = total
            count += 1
        cuda.atomic.add(counts, b, count)

    return by_outputs


@cuda.jit
def clear(y):
    """Set y to 0, one thread per entry."""
    i = cuda.grid(1)
    if i < y.size:
        y[i] = 0.0


@cuda.jit
def combine(offsets, places, partial, y):
    """Set y (n,) to the sums of its parts, in the order of blocks, one thread per entry."""
    v = cuda.grid(1)
    if v < y.size:
        total = 0.0
        for i in range(offsets[v], offsets[v + 1]):
            total += partial[places[i]]
        y[v] = total


@helper
def pressure(density, across, along, energy):
    """Return the pressure of an ideal gas."""
    return (GAS - 1.0) * (energy - 0.5 * (across * across + along * along) / density)


@helper
def flux(values, u, v, area, which):
    """Return one of four values that flow from u to v: the mean of the fluxes at both ends.

    values (FLUX_VALUES, vertices). area: of the face between u and v.
    """
    total = 0.0
    for end in (u, v):
        density, across = values[0, end], values[1, end]
        along, energy = values[2, end], values[3, end]
        speed = across / density
        force = pressure(density, across, along, energy)
        if which == 0:
            total += across
        elif which == 1:
            total += across * speed + force
        elif which == 2:
            total += along * speed
        else:
            total += (energy + force) * speed
    return 0.5 * area * total


@cuda.jit
def swapped_flux(schedule, tails, heads, areas, values, sums):
    """Subtract the flux along each edge from its tail and add it to its head, by the schedule."""
    t = cuda.grid(1)
    if t < schedule.size:
        e = schedule[t]
        for which in range(FLUX_VALUES):
            flowing = flux(values, tails[e], heads[e], areas[e], which)
            cuda.atomic.add(sums, (which, tails[e]), -flowing)
            cuda.atomic.add(sums, (which, heads[e]), flowing)


@cuda.jit
def staged_flux(starts, local, areas, vertex_starts, vertices, values, sums, counts):
    """Add fluxes along edges to sums, staging four values and four sums of each vertex.

    local (2m,) uint16: tail and head of each edge. Shared memory contains all of these for the
    vertices of the largest block.
    """
    room = cuda.shared.array(ROOM, VALUE)
    b, thread, threads = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
    first, n = vertex_starts[b], vertex_starts[b + 1] - vertex_starts[b]
    here = room[: FLUX_VALUES * n].reshape((FLUX_VALUES, n))
    own = room[FLUX_VALUES * n : 2 * FLUX_VALUES * n]
    for i in range(thread, n, threads):
        for which in range(FLUX_VALUES):
            here[which, i] = values[which, vertices[first + i]]
            own[which * n + i] = 0.0
        cuda.atomic.add(counts, b, 1)
    cuda.syncthreads()
    for e in range(starts[b] + thread, starts[b + 1], threads):
        u, v = np.int64(local[2 * e]), np.int64(local[2 * e + 1])
        for which in range(FLUX_VALUES):
            flowing = flux(here, u, v, areas[e], which)
            cuda.atomic.add(own, which * n + u, -flowing)
            cuda.atomic.add(own, which * n + v, flowing)
    cuda.syncthreads()
    for i in range(thread, n, threads):
        for which in range(FLUX_VALUES):
            cuda.atomic.add(sums, (which, vertices[first + i]), own[which * n + i])
