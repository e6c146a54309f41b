"""Places filters one after the other, each where the period grows least."""

# mypy: ignore-errors
import numpy as np

from evener.jit import inner, njit
from evener.streams.period_kernels import seconds_of, together

NOWHERE = -1


@njit(cache=True, nogil=True, error_model="numpy")
def place_in_turn(filters, machine, order, part, loads, period):
    """Place the filters of `order` one after another, each on the best processor; part (n,) int32.

    The best processor gives the shortest period; among equal ones, the largest of the changed loads
    is least. part: NOWHERE for filters that are not placed yet. loads (2, k) [s]: computing and
    communicating of the placed filters; period: their period. For each filter, all processors are
    examined together, neighbour by neighbour: the table of routes is symmetric, so its rows are
    read contiguously. Returns the period, or infinity if no processor can run some filter.
    """
    k = machine.rate.size
    own, largest, into = np.empty(k), np.empty(k), np.empty(k)
    more, beside = np.zeros(k), np.empty(k, np.int64)
    for i in order:
        own[:] = loads[1]
        largest[:] = 0.0
        count = 0
        for e in range(filters.offsets[i], filters.offsets[i + 1]):
            q = part[filters.ends[e]]
            if q == NOWHERE:
                continue
            here = filters.here[e]
            for p in range(k):
                own[p] += here * machine.cost[q, p]
            if more[q] == 0.0:
                beside[count] = q
                count += 1
            more[q] += max(filters.there[e], 1e-300)
        for t in range(count):
            q = beside[t]
            computing, communicating, sent = loads[0, q], loads[1, q], more[q]
            for p in range(k):
                load = together(machine, computing, communicating + sent * machine.cost[q, p])
                # On q itself the filter's own load, which is as large at least, counts.
                largest[p] = max(largest[p], load)
            more[q] = 0.0
        for p in range(k):
            into[p] = seconds_of(filters, machine, i, p)
        at, best, best_here = NOWHERE, np.inf, np.inf
        for p in range(k):
            here = max(together(machine, loads[0, p] + into[p], own[p]), largest[p])
            there = max(here, period)
            if there < best or (there == best and here < best_here):
                at, best, best_here = p, there, here
        if at == NOWHERE or best == np.inf:
            return np.inf
        _put(filters, machine, part, loads, i, at)
        period = best
    return period


@inner(error_model="numpy", counted=False)
def _put(filters, machine, part, loads, i, p):
    part[i] = p
    loads[0, p] += seconds_of(filters, machine, i, p)
    for e in range(filters.offsets[i], filters.offsets[i + 1]):
        q = part[filters.ends[e]]
        if q not in (NOWHERE, p):
            loads[1, p] += filters.here[e] * machine.cost[p, q]
            loads[1, q] += filters.there[e] * machine.cost[q, p]
