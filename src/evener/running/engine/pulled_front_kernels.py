"""Pulls of the frontier schedule: what a vertex reads from its neighbours in the frontier.

Part of the template frontier_kernels, like pushing_kernels.
"""

# mypy: ignore-errors
import numpy as np

from evener.arrays_kernels import count_bits, lowest_bit
from evener.running.engine.atomics_kernels import ONE, is_set
from evener.running.engine.hooks_kernels import (
    GOES_BOTH_WAYS,
    HAS_SETTLED,
    IDENTITY,
    IS_WEIGHTED,
    TAKES_FIRST,
    as_value,
    changes,
    helper,
    is_settled,
    joined,
    message_of,
)
from evener.running.engine.pushing_kernels import applied_at, payload_from, ways_of, weight_of

# Whether one message, which does not depend on its arc, will do: who sends it is found apart.
FINDS_SENDERS = TAKES_FIRST and not (IS_WEIGHTED or GOES_BOTH_WAYS)


@helper
def unsettled(first, last, values, parameters):
    """Return the bits of the vertices of a word that messages can change.

    This is a separate loop without branches, so that several vertices are tested at once: in late
    supersteps of a search nearly all are settled.
    """
    found = np.uint64(0)
    for u in range(first, last):
        is_open = not (HAS_SETTLED and is_settled(values[u], parameters))
        found |= np.uint64(is_open) << (u - first)
    return found


@helper
def gathered(u, part, values, bits, is_all, parameters):
    """Return the combined messages to a vertex from the frontier, and the number of arcs read."""
    combined, looked = as_value(IDENTITY), np.int64(0)
    for way in range(ways_of(part)):
        arcs = part.into if way == 0 else part.out
        begin, j = np.uint64(arcs.offsets[u]), np.uint64(arcs.offsets[u])
        end = np.uint64(arcs.offsets[u + ONE])
        while j < end:
            v = np.uint64(arcs.ends[j])
            weight = weight_of(arcs, j)
            j += ONE
            if is_all or is_set(bits, v):
                payload = payload_from(v, values[v], part, parameters)
                combined = joined(combined, message_of(payload, weight, parameters))
                if TAKES_FIRST:
                    break
        looked += np.int64(j - begin)
    return combined, looked


@helper
def changed(u, combined, part, values, step, parameters):
    """Apply what a vertex pulled; return whether it changed."""
    old = values[u]
    new = applied_at(u, old, combined, part, step, parameters)
    if not changes(old, new):
        return False
    values[u] = new
    return True


@helper
def all_pulled(first, last, part, values, lists, is_all, step, parameters):
    """Pull to the vertices of a word; return the bits of those that changed, and the arcs read."""
    active, edges = np.uint64(0), np.int64(0)
    left = unsettled(first, last, values, parameters)
    while left != 0:
        at = lowest_bit(left)
        left &= left - ONE
        u = first + at
        combined, looked = gathered(u, part, values, lists.bits, is_all, parameters)
        edges += looked
        if combined != as_value(IDENTITY) and changed(u, combined, part, values, step, parameters):
            active |= ONE << at
    return active, edges


@helper
def first_pulled(first, last, part, values, lists, senders, step, parameters):
    """Pull to the vertices of a word if FINDS_SENDERS; returns the same as `all_pulled`.

    senders: scratch for 64 numbers. First the sender of each vertex is found, then the values are
    read: so memory reads overlap and do not delay the search. lists.bits is the bitmap of the
    frontier.
    """
    offsets, ends, bits = part.into.offsets, part.into.ends, lists.bits
    active, reached, edges = np.uint64(0), np.uint64(0), np.int64(0)
    left = unsettled(first, last, values, parameters)
    while left != 0:
        at = lowest_bit(left)
        left &= left - ONE
        j, end = np.uint64(offsets[first + at]), np.uint64(offsets[first + at + ONE])
        begin = j
        while j < end:
            v = np.uint64(ends[j])
            j += ONE
            if is_set(bits, v):
                senders[at] = v
                reached |= ONE << at
                break
        edges += np.int64(j - begin)
    while reached != 0:
        at = lowest_bit(reached)
        reached &= reached - ONE
        v = np.uint64(senders[at])
        payload = payload_from(v, values[v], part, parameters)
        message = message_of(payload, np.uint32(1), parameters)
        if message != as_value(IDENTITY) and changed(
            first + at, message, part, values, step, parameters
        ):
            active |= ONE << at
    return active, edges


@helper
def pulled_word(word, part, values, lists, senders, is_all, step, parameters):
    """Pull to the 64 vertices of a word; return how many changed, and the number of arcs read."""
    first = word << np.uint64(6)
    last = min(first + np.uint64(64), np.uint64(part.sizes.n_owned))
    if FINDS_SENDERS:
        active, edges = first_pulled(first, last, part, values, lists, senders, step, parameters)
    else:
        active, edges = all_pulled(first, last, part, values, lists, is_all, step, parameters)
    lists.next_bits[word] = active
    return np.int64(count_bits(active)), edges
