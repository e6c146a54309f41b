"""What an iteration costs each processor, by the equations of [Muralidharan13]_."""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit

CEIL, LITERAL, MAX1 = 0, 1, 2


class FilterArrays(NamedTuple):
    """Filters and their neighbours: those of v are ends[offsets[v]:offsets[v + 1]].

    here, there float64 [B]: bytes of the edges to that neighbour for which the processor of v pays,
    and that of the neighbour. scalar, vector (n,) float64; group (n,) int32: filters of equal
    needs. offsets int64, ends int32.
    """

    offsets: np.ndarray
    ends: np.ndarray
    here: np.ndarray
    there: np.ndarray
    scalar: np.ndarray
    vector: np.ndarray
    group: np.ndarray


class ProcessorArrays(NamedTuple):
    """Processors: instructions a second and data per instruction (k,), seconds per byte (k, k).

    allowed (groups, k) uint8: where filters of a group may be. compute: CEIL, LITERAL or MAX1.
    overlap: whether the longer of computing and communicating counts, not their sum.
    """

    rate: np.ndarray
    width: np.ndarray
    cost: np.ndarray
    allowed: np.ndarray
    compute: int
    overlap: bool


@inner(error_model="numpy", counted=False)
def seconds_of(filters, machine, i, p):
    """Seconds that filter i takes on processor p in an iteration; infinite where it cannot be."""
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
    """Load of a processor that computes and communicates for so long."""
    if machine.overlap:
        return max(computing, communicating)
    return computing + communicating


@njit(cache=True, nogil=True, error_model="numpy")
def add_loads(filters, machine, part, computing, communicating):
    """Add what each processor computes and communicates [s] to (k,) arrays."""
    for i in range(part.size):
        p = part[i]
        computing[p] += seconds_of(filters, machine, i, p)
        for e in range(filters.offsets[i], filters.offsets[i + 1]):
            communicating[p] += filters.here[e] * machine.cost[p, part[filters.ends[e]]]


@njit(cache=True, nogil=True, error_model="numpy")
def least_seconds(filters, machine, least, best):
    """Fill least (n,) with each filter's seconds on its best processor, best (n,) with that."""
    for i in range(least.size):
        least[i] = np.inf
        for p in range(machine.rate.size):
            seconds = seconds_of(filters, machine, i, p)
            if seconds < least[i]:
                least[i] = seconds
                best[i] = p
