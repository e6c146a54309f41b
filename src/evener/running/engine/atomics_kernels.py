"""Atomic operations, a barrier and shared counters for kernels that several threads run together.

Each thread calls a kernel once for a whole run; inside, the threads meet at barriers. They share
one array `sync` (SYNC_SIZE,) int64, initially zero. Its counters only grow: the count of a phase is
the difference from the value at the beginning of the phase, so no counter is ever reset.
"""

# mypy: ignore-errors
import platform
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from evener.jit import inner

# Places in `sync`, one cache line of 64 B apart. Counters that threads read after a barrier come
# in pairs: a phase counts in one while a slower thread still reads the other.
LINE = np.uint64(8)
PLACES = (0, 1, 2, 3, 5, 7)
ARRIVED, GENERATION, TICKETS, TAILS, SUMS, VOTES = (LINE * np.uint64(i) for i in PLACES)
SYNC_SIZE = 8 * 16
# Pauses before a waiting thread lets others run: about 10 us, so that threads without a core of
# their own cost the one that works little.
SPINS = 2000
# Places in `control` (int64), which keeps what a run knows between calls, in every schedule.
# STEP: supersteps until now, -1 before there are values. MOST_STEPS: where to stop, -1: at once.
# EDGES: arcs looked at. ENDED: 1 when no superstep is left to do.
STEP, MOST_STEPS, EDGES, ENDED = (np.uint64(i) for i in range(4))
# Of the frontier schedule, see there. LENGTH: vertices in the frontier. SCOUTED: arcs that leave
# them. LEFT: arcs that no frontier had before. SHRANK: whether the last pull left fewer vertices.
# FLIPPED: which of the two queues and bitmaps is in use. MARKED: ghosts whose values changed.
# SHARED: 1 where other devices take part, so that a superstep is done with an empty frontier, too.
FORM, LENGTH, SCOUTED, LEFT, SHRANK, FLIPPED, DIRECTION, MARKED, SHARED = (
    np.uint64(i) for i in range(4, 13)
)
# Of the bucket schedule: MISSED: vertices that have no place in a bucket. FAILED: 1 if a message
# was of a lower bucket, 2 if one is no number of a bucket. Of the union schedule: LARGEST: root
# of the largest component.
MISSED, FAILED, LARGEST = (np.uint64(i) for i in range(13, 16))
# Of exchanges from inside a kernel, see near_kernels. TOTALS: from here on what all ranks have
# agreed on. LOGGED: rows of the log. ASLEEP: not 0 while the kernel has waited for long for another
# rank. ABORTED: 1 to end that wait.
TOTALS, LOGGED, ASLEEP, ABORTED = (np.uint64(i) for i in (16, 20, 21, 22))
CONTROL_SIZE = 23
ONE = np.uint64(1)
BUFFER = np.uint64(256)  # vertices that a thread collects before it appends them to a shared queue
FLOATS = {ir.FloatType: 32, ir.DoubleType: 64}


def _pointer(context, builder, array_type, array, index):
    """Return a pointer to an entry, and the type of integers as wide as an entry."""
    data = context.make_array(array_type)(context, builder, array).data
    pointer = builder.gep(data, [index])
    width = FLOATS.get(type(pointer.type.pointee))
    whole = pointer.type.pointee if width is None else ir.IntType(width)
    return builder.bitcast(pointer, whole.as_pointer()), whole


@intrinsic
def cas(typing, array, index, old, new):  # noqa: ARG001
    """Compare and swap: set array[index] to `new` if it is `old`; return whether it was."""

    def generate(context, builder, signature, arguments):
        pointer, whole = _pointer(context, builder, signature.args[0], *arguments[:2])
        old, new = (builder.bitcast(value, whole) for value in arguments[2:])
        found = builder.cmpxchg(pointer, old, new, "seq_cst", "monotonic")
        return builder.extract_value(found, 1)

    return types.boolean(array, types.uint64, array.dtype, array.dtype), generate


def _fetch_and(operation):
    @intrinsic
    def fetch(typing, array, index, value):  # noqa: ARG001
        def generate(context, builder, signature, arguments):
            pointer, _ = _pointer(context, builder, signature.args[0], *arguments[:2])
            return builder.atomic_rmw(operation, pointer, arguments[2], "seq_cst")

        return array.dtype(array, types.uint64, array.dtype), generate

    return fetch


fetch_add = _fetch_and("add")  # (array, index, value): the value before, of an array of integers
fetch_or = _fetch_and("or")


def _loaded(ordering):
    @intrinsic
    def load(typing, array, index):  # noqa: ARG001
        def generate(context, builder, signature, arguments):
            pointer, whole = _pointer(context, builder, signature.args[0], *arguments)
            value = builder.load_atomic(pointer, ordering, whole.width // 8)
            return builder.bitcast(value, context.get_data_type(array.dtype))

        return array.dtype(array, types.uint64), generate

    return load


load = _loaded("acquire")
load_relaxed = _loaded("monotonic")


@intrinsic
def store(typing, array, index, value):  # noqa: ARG001
    """Write an entry such that a thread that loads it sees everything that was written before."""

    def generate(context, builder, signature, arguments):
        pointer, whole = _pointer(context, builder, signature.args[0], *arguments[:2])
        value = builder.bitcast(arguments[2], whole)
        builder.store_atomic(value, pointer, "release", whole.width // 8)
        return context.get_dummy_value()

    return types.void(array, types.uint64, array.dtype), generate


@intrinsic
def pause(typing):  # noqa: ARG001
    """Tell the core that this thread waits.

    Does nothing if the processor has no such instruction.
    """

    def generate(context, builder, signature, arguments):  # noqa: ARG001
        # Inline assembly would end the process: Numba's LLVM has no parser for it.
        if platform.machine() in ("x86_64", "AMD64", "i686"):
            kind = ir.FunctionType(ir.VoidType(), [])
            name = "llvm.x86.sse2.pause"
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])
        return context.get_dummy_value()

    return types.void(), generate


sched_yield = types.ExternalFunction("sched_yield", types.int32())


@inner(counted=False)
def barrier(sync, threads):
    """Wait until all threads are here; then each sees everything that the others wrote before."""
    if threads == 1:
        return
    generation = load(sync, GENERATION)
    if fetch_add(sync, ARRIVED, 1) == threads - 1:
        store(sync, ARRIVED, 0)
        store(sync, GENERATION, generation + 1)
        return
    spins = 0
    while load(sync, GENERATION) == generation:
        spins += 1
        if spins > SPINS:
            sched_yield()
        else:
            pause()


class Team(NamedTuple):
    """The threads that run a kernel together: this thread's number, their number, shared data."""

    thread: int
    threads: int
    sync: np.ndarray


class Part(NamedTuple):
    """A device's part of the graph: arguments of a schedule's `run`, under the same names."""

    sizes: tuple
    vertices: tuple
    out: tuple
    into: tuple


@inner(counted=False)
def number_of(vertices, u):
    """Return the global number of a vertex; a device with the whole graph stores no numbers."""
    return vertices.numbers[u] if vertices.numbers.size > 0 else np.int64(u)


@inner(counted=False)
def degree_of(vertices, out, u):
    """Return the number of arcs that leave a vertex in the whole graph.

    out: arcs of own vertices.
    """
    if vertices.degrees.size > 0:
        return np.int64(vertices.degrees[u])
    return np.int64(out.offsets[u + ONE]) - np.int64(out.offsets[u])


class Counts(NamedTuple):
    """Values of the counters of `sync` at the beginning of a phase, equal for all threads.

    There are two slots of counters, which phases use alternately. slot: offset of this phase's
    slot, 0 or LINE. tail, total: values of TAILS and SUMS in this slot; other_tail, other_total: in
    the other slot.
    """

    tickets: int
    slot: int
    tail: int
    other_tail: int
    total: int
    other_total: int


@inner(counted=False)
def counts_at(sync):
    """Return the counts at the beginning of a kernel, before a barrier."""
    return Counts(
        load(sync, TICKETS),
        np.uint64(0),
        load(sync, TAILS),
        load(sync, TAILS + LINE),
        load(sync, SUMS),
        load(sync, SUMS + LINE),
    )


@inner(counted=False)
def counts_after(counts, tickets, queued, summed):
    """Return the counts after a phase that took tickets, appended to a queue and added a sum."""
    return Counts(
        counts.tickets + tickets,
        LINE - counts.slot,
        counts.other_tail,
        counts.tail + queued,
        counts.other_total,
        counts.total + summed,
    )


@inner(counted=False)
def flushed(team, buffers, count, queue, counts):
    """Append the `count` vertices in a thread's buffer to a queue; return 0, the new count."""
    place = np.uint64(fetch_add(team.sync, TAILS + counts.slot, count) - counts.tail)
    start = np.uint64(team.thread) * BUFFER
    for i in range(np.uint64(count)):
        queue[place + i] = buffers[start + i]
    return np.int64(0)


@inner(counted=False)
def kept(team, buffers, count, u, queue, counts):
    """Put a vertex into the thread's buffer; return the new number of vertices in the buffer."""
    buffers[np.uint64(team.thread) * BUFFER + np.uint64(count)] = u
    count += 1
    return flushed(team, buffers, count, queue, counts) if count == np.int64(BUFFER) else count


@inner(counted=False)
def tickets_for(items, taken, threads):
    """Return how many tickets a phase takes until every thread finds that no items are left."""
    return np.int64((np.uint64(items) + taken - ONE) // taken) + threads


@inner(counted=False)
def share_of(team, count):
    """Return the begin and end of a thread's share of `count` items."""
    thread = np.uint64(team.thread)
    return first_of(thread, team.threads, count), first_of(thread + ONE, team.threads, count)


@inner(counted=False)
def is_set(bits, v):
    """Return whether a vertex's bit is set in a bitmap."""
    return (bits[v >> np.uint64(6)] >> (v & np.uint64(63))) & ONE != 0


@inner(counted=False)
def bit_of(v):
    """Return a word in which only the bit of a vertex is set."""
    return ONE << (v & np.uint64(63))


@inner(counted=False)
def is_newly_set(bits, v):
    """Set a bit atomically; return whether it was not set before."""
    word, bit = v >> np.uint64(6), bit_of(v)
    return (bits[word] & bit) == 0 and (fetch_or(bits, word, bit) & bit) == 0


@inner(counted=False)
def first_of(thread, threads, count):
    """Return the begin of a thread's share of `count` items.

    It is the end of the previous share.
    """
    return np.uint64(count) * np.uint64(thread) // np.uint64(threads)


@inner(counted=False)
def chunk_start(offsets, n, chunk, chunks):
    """Return the first vertex of a chunk; chunks have about equal numbers of arcs and vertices.

    Each vertex counts as two arcs. offsets: those of the first n vertices and their end.
    """
    total = np.uint64(offsets[np.uint64(n)]) + np.uint64(2) * np.uint64(n)
    asked = total * np.uint64(chunk) // np.uint64(chunks)
    return first_with(offsets, asked, np.uint64(0), np.uint64(n))


@inner(counted=False)
def chunk_end(offsets, n, chunk, chunks, first):
    """Return the end of the chunk that begins at `first`; the next chunk begins there.

    Searches only near the chunk's own offsets, which are read anyway: a search among all offsets
    would take a twentieth of PageRank's time on meshes.
    """
    total = np.uint64(offsets[np.uint64(n)]) + np.uint64(2) * np.uint64(n)
    asked = total * np.uint64(chunk + 1) // np.uint64(chunks)
    most = (total // np.uint64(chunks) + np.uint64(1)) // np.uint64(2) + np.uint64(1)
    return first_with(offsets, asked, first, min(first + most, np.uint64(n)))


@inner(counted=False)
def first_with(offsets, asked, low, high):
    """Return the first vertex v in [low, high] for which offsets[v] + 2 v is at least `asked`."""
    while low < high:
        middle = (low + high) >> np.uint64(1)
        if np.uint64(offsets[middle]) + np.uint64(2) * middle < asked:
            low = middle + np.uint64(1)
        else:
            high = middle
    return low
