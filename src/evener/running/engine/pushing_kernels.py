"""Shared code of the schedules frontier and bucket: sends a vertex's value, and receives messages.

Part of both templates, see hooks_kernels: `generating` also inserts the text of this file in place
of its import. Testing 64 arcs at once for changes, as pulls test vertices, takes 1.3 to 2.3 times
as long, because values are gathered from all over memory.
"""

# mypy: ignore-errors
import numpy as np

from evener.running.engine.atomics_kernels import cas, degree_of, load_relaxed, number_of
from evener.running.engine.hooks_kernels import (
    GOES_BOTH_WAYS,
    HAS_SETTLED,
    IS_WEIGHTED,
    applied,
    changes,
    helper,
    is_settled,
    payload_of,
)


@helper
def ways_of(part):
    """Return 2 if messages go along and against arcs and the lists differ, else 1."""
    return 2 if GOES_BOTH_WAYS and part.sizes.is_directed else 1


@helper
def weight_of(arcs, j):
    """Return the weight of an arc; 1 if weights are not used."""
    return arcs.weights[j] if IS_WEIGHTED else np.uint32(1)


@helper
def payload_from(u, value, part, parameters):
    """Return what a vertex with this value sends."""
    degree, vertex = degree_of(part.vertices, part.out, u), number_of(part.vertices, u)
    return payload_of(value, degree, vertex, part.sizes.n_global, parameters)


@helper
def applied_at(u, old, message, part, step, parameters):
    """Return a vertex's value after a message."""
    degree, vertex = degree_of(part.vertices, part.out, u), number_of(part.vertices, u)
    return applied(old, message, degree, vertex, part.sizes.n_global, step, parameters)


@helper
def received(v, message, values, threads, part, step, parameters):
    """Apply a message to a vertex's value atomically; return whether it changed, and the value."""
    old = values[v]
    if HAS_SETTLED and is_settled(old, parameters):
        return False, old
    while True:
        new = applied_at(v, old, message, part, step, parameters)
        if not changes(old, new):
            return False, old
        if threads == 1:
            values[v] = new
            return True, new
        if cas(values, v, old, new):
            return True, new
        old = load_relaxed(values, v)
