"""The dense schedule if edges are divided: gather at all copies, apply at masters.

This is a template, see hooks_kernels. A device has some of the arcs of a vertex: `gather` combines
what arrives along these, for masters and mirrors. Sums of mirrors are then added to those of their
masters, and `apply` computes the masters' new values: gather and apply of [Gonzalez12]_, section 4.
Vertices without mirrors are computed by dense_kernels.
"""

# mypy: ignore-errors
import numpy as np

from evener.running.engine.atomics_kernels import (
    EDGES,
    MOST_STEPS,
    STEP,
    TICKETS,
    barrier,
    chunk_start,
    fetch_add,
    load,
)
from evener.running.engine.hooks_kernels import (
    GOES_BOTH_WAYS,
    HAS_HALT,
    IDENTITY,
    applied,
    as_value,
    kernel,
    payload_of,
)
from evener.running.engine.pulling_kernels import pulled

VERTICES_OF_CHUNK = np.uint64(1 << 13)  # as long as half a chunk of `gather`, by arcs and vertices


@kernel
def gather(thread, threads, sync, sizes, out, into, payloads, sums, chunks, control, parameters):  # noqa: ARG001
    """Set sums of sizes.n_owned vertices to what arrives along this device's arcs, in chunks."""
    if control[MOST_STEPS] < 0:
        return
    rows, both_ways = np.uint64(sizes.n_owned), GOES_BOTH_WAYS and sizes.is_directed
    edges, tickets = np.int64(0), load(sync, TICKETS)
    barrier(sync, threads)
    while True:
        chunk = fetch_add(sync, TICKETS, 1) - tickets
        if chunk >= chunks:
            break
        first = chunk_start(into.offsets, rows, chunk, chunks)
        end = chunk_start(into.offsets, rows, chunk + 1, chunks)
        for u in range(first, end):
            combined = pulled(as_value(IDENTITY), u, into, payloads, parameters)
            if both_ways:
                combined = pulled(combined, u, out, payloads, parameters)
            sums[u] = combined
        edges += np.int64(into.offsets[end]) - np.int64(into.offsets[first])
        if both_ways:
            edges += np.int64(out.offsets[end]) - np.int64(out.offsets[first])
    fetch_add(control, EDGES, edges)


@kernel
def apply(
    thread,  # noqa: ARG001
    threads,
    sync,
    sizes,
    vertices,
    values,
    sums,
    payloads,
    changes,
    control,
    parameters,
):
    """Compute new values and payloads of sizes.n_owned masters from sums.

    Sets `changes` of each chunk.
    """
    if control[MOST_STEPS] < 0:
        return
    n, step, last = sizes.n_global, control[STEP], np.uint64(sizes.n_owned)
    tickets = load(sync, TICKETS)
    barrier(sync, threads)
    while True:
        chunk = np.uint64(fetch_add(sync, TICKETS, 1) - tickets)
        first = chunk * VERTICES_OF_CHUNK
        if first >= last:
            break
        change = 0.0
        for u in range(first, min(first + VERTICES_OF_CHUNK, last)):
            vertex, degree, old = vertices.numbers[u], np.int64(vertices.degrees[u]), values[u]
            new = as_value(applied(old, sums[u], degree, vertex, n, step, parameters))
            values[u] = new
            payloads[u] = payload_of(new, degree, vertex, n, parameters)
            if HAS_HALT:
                change += abs(np.float64(new) - np.float64(old))
        changes[chunk] = change
