"""Exchanges between the ranks of one computer from inside a kernel, through shared memory.

Between two kernel calls, a superstep costs some 50 us of Python and MPI; inside a kernel it costs
two barriers. After a superstep that pushes, the first thread of each rank writes the values of
changed ghosts to memory that all ranks of the computer share, waits for the other ranks, applies
what they wrote for its vertices, and waits again to agree on the next step. Before a superstep that
pulls, owners write values and frontier, and ranks read those of their ghosts.
"""

# mypy: ignore-errors
import time
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from evener.jit import inner
from evener.running.engine.atomics_kernels import (
    ABORTED,
    ARRIVED,
    ASLEEP,
    EDGES,
    GENERATION,
    LENGTH,
    LINE,
    LOGGED,
    MARKED,
    ONE,
    SCOUTED,
    SPINS,
    TOTALS,
    bit_of,
    fetch_add,
    load,
    pause,
    sched_yield,
    store,
)
from evener.running.halos_kernels import owner_of

# A rank that has waited for SPINS pauses lets others run YIELDS times, some 1 ms, then sleeps for
# so long between two looks.
YIELDS, NAP = 2000, 100  # [us]
# Places in a row of the log, of nanoseconds: computing, packing, until all are here, unpacking,
# until all agree; then arcs looked at until then, messages received, whether the superstep pulled,
# and from FIRST_SENT on how many messages went to each rank if it pushed. Row 0: LAST, when the
# last of these ended; ENTERED, when the kernel began.
COMPUTED, PACKED, MET, UNPACKED, AGREED, LOOKED, RECEIVED, PULLED, FIRST_SENT = range(9)
LAST, ENTERED = 0, 1
LONG = 200_000_000  # nanoseconds after which a kernel returns, so that progress is shown
FIRST_LINE = 2  # of the ranks' own lines in Links.sync, after those of the barrier


class Links(NamedTuple):
    """What the ranks of a computer share; None instead of Links if nothing is shared.

    sync: barrier; a line of totals for each rank; and (ranks, ranks) numbers of messages from each
    rank to each other. begins (ranks + 1,): first ghost of each owner. starts (ranks, ranks): where
    messages from one rank to another begin in `places` (local numbers at the owner) and `values`.
    homes (ghosts,): local numbers at the owner of this rank's ghosts. sends, sent_begins (ranks +
    1,): own vertices that are ghosts at each rank. log: for the places in a row see COMPUTED.
    """

    rank: int
    ranks: int
    sync: np.ndarray
    begins: np.ndarray
    starts: np.ndarray
    homes: np.ndarray
    places: np.ndarray
    values: np.ndarray
    sends: np.ndarray
    sent_begins: np.ndarray
    log: np.ndarray


usleep = types.ExternalFunction("usleep", types.int32(types.uint32))


@intrinsic
def clock(typing):  # noqa: ARG001
    """Return the nanoseconds of the clock of time.perf_counter."""

    def generate(context, builder, signature, arguments):  # noqa: ARG001
        word, number = ir.IntType(64), ir.IntType(32)
        kind = ir.FunctionType(number, [number, word.as_pointer()])
        call = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
        parts = cgutils.alloca_once(builder, word, size=2)
        builder.call(call, [ir.Constant(number, time.CLOCK_MONOTONIC), parts])
        seconds = builder.load(parts)
        rest = builder.load(builder.gep(parts, [ir.Constant(number, 1)]))
        return builder.add(builder.mul(seconds, ir.Constant(word, 1_000_000_000)), rest)

    return types.int64(), generate


@inner(counted=False, error_model="numpy")
def is_linked(links):
    """Return whether ranks share memory. If `links` is None, their exchanges are not compiled."""
    return links is not None


@inner(counted=False, error_model="numpy")
def enter(links):
    """Begin the log of a kernel."""
    if links is None:
        return
    links.log[0, LAST] = links.log[0, ENTERED] = clock()


@inner(counted=False, error_model="numpy")
def must_return(links, control):
    """Return whether a kernel returns because a rank ran for LONG, or because the log is full."""
    if links is None:
        return False
    return control[TOTALS + np.uint64(3)] > 0 or control[LOGGED] + 1 == links.log.shape[0]


@inner(counted=False, error_model="numpy")
def spend(links, row, place):
    """Add the time since the last call to an entry of a row of the log; return the present time."""
    if links is None:
        return np.int64(0)
    now = clock()
    links.log[row, place] += now - links.log[0, LAST]
    links.log[0, LAST] = now
    return now


@inner(counted=False, error_model="numpy")
def has_long_passed(links, now):
    """Return 1 if the kernel has run for LONG, else 0."""
    return np.int64(now - links.log[0, ENTERED] > LONG)


@inner(counted=False, error_model="numpy")
def own_line(rank):
    """Return where a rank's totals begin in `sync`."""
    return np.uint64(LINE) * np.uint64(FIRST_LINE + rank)


@inner(counted=False, error_model="numpy")
def count_at(links, source, to):
    """Return the index in `sync` of the number of messages from one rank to another."""
    return own_line(links.ranks) + np.uint64(source * links.ranks + to)


@inner(counted=False, error_model="numpy")
def met(links, control):
    """Wait until all ranks are here; return False if control[ABORTED] was set meanwhile."""
    sync = links.sync
    generation = load(sync, GENERATION)
    if fetch_add(sync, ARRIVED, 1) == links.ranks - 1:
        store(sync, ARRIVED, 0)
        store(sync, GENERATION, generation + 1)
        return True
    looks = 0
    while load(sync, GENERATION) == generation:
        looks += 1
        if looks <= SPINS:
            pause()
        elif looks <= SPINS + YIELDS:
            sched_yield()
        else:
            store(control, ASLEEP, generation + 1)
            usleep(np.uint32(NAP))
            if load(control, ABORTED) != 0:
                return False
    control[ASLEEP] = 0
    return True


@inner(counted=False, error_model="numpy")
def send_marked(links, row, marked, bits, values, control):
    """Write the marked ghosts' values to where their owners read them; clear the marks."""
    for to in range(links.ranks):
        links.sync[count_at(links, links.rank, to)] = 0
    first = links.begins[0]
    for i in range(control[MARKED]):
        v = np.uint64(marked[i])
        to = owner_of(np.int64(v), links.begins)
        at = count_at(links, links.rank, to)
        place = links.starts[links.rank, to] + links.sync[at]
        links.places[place] = links.homes[np.int64(v) - first]
        links.values[place] = values[v]
        links.sync[at] += 1
        bits[v >> np.uint64(6)] &= ~bit_of(v)
    control[MARKED] = 0
    for to in range(links.ranks):
        links.log[row, FIRST_SENT + to] += links.sync[count_at(links, links.rank, to)]


@inner(counted=False, error_model="numpy")
def is_sent(links, row, marked, bits, values, control):
    """Write this rank's messages after computing; return whether all ranks have done so."""
    spend(links, row, COMPUTED)
    links.log[row, LOOKED] = control[EDGES]
    send_marked(links, row, marked, bits, values, control)
    spend(links, row, PACKED)
    is_met = met(links, control)
    spend(links, row, MET)
    return is_met


@inner(counted=False, error_model="numpy")
def sum_totals(links, row, left, control):
    """Set control[TOTALS:] to sums over ranks: LENGTH, SCOUTED, left, and how many ran for LONG."""
    place, is_long = own_line(links.rank), has_long_passed(links, spend(links, row, UNPACKED))
    own = control[LENGTH], control[SCOUTED], left, is_long
    for i in range(4):
        links.sync[place + np.uint64(i)] = own[i]
        control[TOTALS + np.uint64(i)] = 0
    if met(links, control):
        for rank in range(links.ranks):
            for i in range(np.uint64(4)):
                control[TOTALS + i] += links.sync[own_line(rank) + i]
    spend(links, row, AGREED)


@inner(counted=False, error_model="numpy")
def least_vote(links, row, vote, none, control):
    """Return the least vote of all ranks; `none` if the wait for them was aborted."""
    links.sync[own_line(links.rank)] = vote
    spend(links, row, UNPACKED)
    least = none
    if met(links, control):
        for rank in range(links.ranks):
            least = min(least, links.sync[own_line(rank)])
    spend(links, row, AGREED)
    return least


@inner(counted=False, error_model="numpy")
def came(links, row, source):
    """Return the range of the messages from a rank, and count them in the log."""
    count = links.sync[count_at(links, source, links.rank)] if source != links.rank else 0
    links.log[row, RECEIVED] += count
    first = links.starts[source, links.rank]
    return first, first + count


@inner(counted=False, error_model="numpy")
def show_front(links, first, end, bits, values):
    """Write values of the vertices sends[first:end], and whether they are in the frontier.

    They are written to the places of the messages that their ghosts send in supersteps that push.
    """
    to = owner_of(np.int64(first), links.sent_begins)
    while first < end:
        last = min(end, np.uint64(links.sent_begins[to + 1]))
        place = np.uint64(links.starts[to, links.rank]) - np.uint64(links.sent_begins[to])
        for i in range(first, last):
            u = np.uint64(links.sends[i])
            links.places[place + i] = (bits[u >> np.uint64(6)] >> (u & np.uint64(63))) & ONE
            links.values[place + i] = values[u]
        to += 1
        first = last


@inner(counted=False, error_model="numpy")
def see_front(links, first, end, n_owned, n_local, bits, values):
    """Set values and bits of ghosts, in words first to end - 1 of the bits, to those of owners."""
    start = max(first << np.uint64(6), n_owned)
    owner = owner_of(np.int64(start), links.begins)
    for word in range(first, end):
        active = bits[word] & ~(~np.uint64(0) << (start - (word << np.uint64(6))))
        until = min((word + ONE) << np.uint64(6), n_local)
        while start < until:
            last = min(until, np.uint64(links.begins[owner + 1]))
            place = np.uint64(links.starts[links.rank, owner]) - np.uint64(links.begins[owner])
            for v in range(start, last):
                active |= np.uint64(links.places[place + v]) << (v & np.uint64(63))
                values[v] = links.values[place + v]
            owner += np.int64(last < until)
            start = last
        bits[word] = active


@inner(counted=False, error_model="numpy")
def payload_place(links, source, owner, step):
    """Return where payloads from an owner to its ghosts on another rank begin in `values`.

    Even and odd supersteps have different places, so that a rank need not wait until the others
    have read its last payloads.
    """
    half = np.int64(links.values.size // 2)
    return np.uint64(links.starts[source, owner] + half * (step & 1))


@inner(counted=False, error_model="numpy")
def show_payloads(links, first, end, step, payloads):
    """Write the payloads of the vertices sends[first:end], before superstep `step`."""
    to = owner_of(np.int64(first), links.sent_begins)
    while first < end:
        last = min(end, np.uint64(links.sent_begins[to + 1]))
        place = payload_place(links, to, links.rank, step) - np.uint64(links.sent_begins[to])
        for i in range(first, last):
            links.values[place + i] = payloads[np.uint64(links.sends[i])]
        to += 1
        first = last


@inner(counted=False, error_model="numpy")
def see_payloads(links, first, end, step, payloads):
    """Set the payloads of ghosts first to end - 1 to those of their owners."""
    owner = owner_of(np.int64(first), links.begins)
    while first < end:
        last = min(end, np.uint64(links.begins[owner + 1]))
        place = payload_place(links, links.rank, owner, step) - np.uint64(links.begins[owner])
        for v in range(first, last):
            payloads[v] = links.values[place + v]
        owner += 1
        first = last
