"""Shared code of the dense schedules: combines the messages along all arcs of a vertex.

Part of their templates, see hooks_kernels: `generating` also inserts the text of this file in place
of its import.
"""

# mypy: ignore-errors
import numpy as np

from evener.running.engine.atomics_kernels import ONE
from evener.running.engine.hooks_kernels import (
    IDENTITY,
    IS_WEIGHTED,
    as_value,
    helper,
    joined,
    message_of,
)


@helper
def message(payloads, arcs, j, parameters):
    """Return the message along one arc."""
    weight = arcs.weights[j] if IS_WEIGHTED else np.uint32(1)
    return as_value(message_of(payloads[np.uint64(arcs.ends[j])], weight, parameters))


@helper
def pulled(combined, u, arcs, payloads, parameters):
    """Return the messages along all arcs of a vertex, combined.

    Messages at even and odd positions are combined separately, so that additions need not wait for
    each other, and joined at the end: floating-point sums depend only on the order of arcs.
    """
    j, end = np.uint64(arcs.offsets[u]), np.uint64(arcs.offsets[u + ONE])
    other = as_value(IDENTITY)
    last = end - ((end - j) & ONE)
    while j < last:
        combined = joined(combined, message(payloads, arcs, j, parameters))
        other = joined(other, message(payloads, arcs, j + ONE, parameters))
        j += ONE + ONE
    if j < end:
        combined = joined(combined, message(payloads, arcs, j, parameters))
    return joined(combined, other)
