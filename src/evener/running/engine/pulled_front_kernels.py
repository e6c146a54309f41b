"""What a vertex pulls from its neighbours that are in the frontier.

Part of the template frontier_kernels, as pushing_kernels is.
"""

# mypy: ignore-errors
import numpy as np

from evener.running.engine.atomics_kernels import ONE, bit_of, is_set
from evener.running.engine.hooks_kernels import (
    HAS_SETTLED,
    IDENTITY,
    TAKES_FIRST,
    as_value,
    helper,
    is_settled,
    joined,
    message_of,
)
from evener.running.engine.pushing_kernels import applied_at, payload_from, ways_of, weight_of


@helper
def gathered(u, part, values, bits, is_all, parameters):
    """Return the messages to a vertex from the frontier, combined, and how many arcs it took."""
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
def pulled_word(word, part, values, lists, is_all, step, parameters):
    """Pull to the 64 vertices of a word of the bitmap: how many changed, how many arcs it took."""
    active, found, edges = np.uint64(0), np.int64(0), np.int64(0)
    first = word << np.uint64(6)
    for u in range(first, min(first + np.uint64(64), np.uint64(part.sizes.n_owned))):
        old = values[u]
        if HAS_SETTLED and is_settled(old, parameters):
            continue
        combined, looked = gathered(u, part, values, lists.bits, is_all, parameters)
        edges += looked
        if combined != as_value(IDENTITY):
            new = applied_at(u, old, combined, part, step, parameters)
            if new != old:
                values[u] = new
                found += 1
                active |= bit_of(u)
    lists.next_bits[word] = active
    return found, edges
