"""Cost of an iteration for each processor, by the equations of [Muralidharan13]_."""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit

CEIL, LITERAL, MAX1 = 0, 1, 2


class FilterArrays(NamedTuple):
    """Filters and their neighbours: the neighbours of v are ends[offsets[v]:offsets[v + 1]].

    here, there float64 [B]: bytes of the edges to this neighbour for which the processor of v pays
    (here) or the neighbour's processor pays (there). scalar, vector (n,) float64: T0 and T1 of each
    filter. group (n,) int32: filters with equal needs have the same group. offsets int64, ends
    int32.
    """

    offsets: np.ndarray
    ends: np.ndarray
    here: np.ndarray
    there: np.ndarray
    scalar: np.ndarray
    vector: np.ndarray
    group: np.ndarray


class ProcessorArrays(NamedTuple):
    """Processors: instructions per second and data per instruction (k,), seconds per byte (k, k).

    allowed (groups, k) uint8: which processors can run the filters of a group. compute: CEIL,
    LITERAL or MAX1. overlap: whether a load is the maximum of computing and communicating, not
    their sum.
    """

    rate: np.ndarray
    width: np.ndarray
    cost: np.ndarray
    allowed: np.ndarray
    compute: int
    overlap: bool


@inner(error_model="numpy", counted=False)
def seconds_of(filters, machine, i, p):
    """Return the time [s] of filter i on processor p in an iteration.

    Infinite if p cannot run i.
    """
    if machine.allowed[filters.group[i], p] == 0:
        return np.inf
    times = filters.vector[i] / machine.width[p]
    if machine.compute == CEIL:
        times = np.ceil(times)
    elif machine.compute == MAX1:
        times = max(times, 1.0)
    return filters.scalar[i] * times / machine.rate[p]


@inner(error_model="numpy", counted=False)
def together(machine, computing, communicating):
    """Return the load of a processor from its computing and communicating times."""
    if machine.overlap:
        return max(computing, communicating)
    return computing + communicating


@njit(cache=True, nogil=True, error_model="numpy")
def add_loads(filters, machine, part, computing, communicating):
    """Add the computing and communicating times [s] of each processor to (k,) arrays."""
    for i in range(part.size):
        p = part[i]
        computing[p] += seconds_of(filters, machine, i, p)
        for e in range(filters.offsets[i], filters.offsets[i + 1]):
            communicating[p] += filters.here[e] * machine.cost[p, part[filters.ends[e]]]


@njit(cache=True, nogil=True, error_model="numpy")
def least_seconds(filters, machine, least, best):
    """Fill least (n,) with each filter's least time [s], and best (n,) with that processor."""
    for i in range(least.size):
        least[i] = np.inf
        for p in range(machine.rate.size):
            seconds = seconds_of(filters, machine, i, p)
            if seconds < least[i]:
                least[i] = seconds
                best[i] = p
