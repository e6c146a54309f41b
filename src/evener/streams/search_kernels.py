"""Moves of filters between processors that shorten the period, or reduce cut bytes at that period.

A move changes the loads of the filter's old and new processor, and of the processors of its
neighbours, so it takes O(degree) time.
"""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.arrays_kernels import mixed
from evener.jit import inner, njit
from evener.streams.period_kernels import add_loads, seconds_of, together

NONE = -1
HAIR = 1e-9  # a period that is shorter by less than this share counts as equal
LINKS = 3  # moves of a chain, at most
CHAINS = 32  # begun with each filter of the busiest processor
LEAVING, TRIED = 16, 8  # filters that a chain may move on from a processor, processors for each
SWAPPED = 64  # filters of other processors that are tried against each one of the busiest
PASSES = 4  # of `tidy`, at most
ONE_53 = 1.0 / (1 << 53)


class Occupancy(NamedTuple):
    """A mapping and its loads: part (n,) int32; computing, communicating (k,) [s] of processors.

    first (k,), after, before (n,) int32: the filters of each processor, as linked lists. delta
    (k,), zero between moves, mark (k,) int64 and touched (k,) int32: memory for trying a move.
    """

    part: np.ndarray
    computing: np.ndarray
    communicating: np.ndarray
    first: np.ndarray
    after: np.ndarray
    before: np.ndarray
    delta: np.ndarray
    mark: np.ndarray
    touched: np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def settle(filters, machine, placed):
    """Compute the loads of a mapping and the list of filters of each processor."""
    placed.computing[:] = 0.0
    placed.communicating[:] = 0.0
    add_loads(filters, machine, placed.part, placed.computing, placed.communicating)
    placed.first[:] = NONE
    for i in range(placed.part.size):
        _enter(placed, i, placed.part[i])


@inner(error_model="numpy", counted=False)
def _enter(placed, i, p):
    head = placed.first[p]
    placed.after[i], placed.before[i] = head, NONE
    if head != NONE:
        placed.before[head] = i
    placed.first[p] = i


@inner(error_model="numpy", counted=False)
def _leave(placed, i, p):
    ahead, behind = placed.after[i], placed.before[i]
    if behind == NONE:
        placed.first[p] = ahead
    else:
        placed.after[behind] = ahead
    if ahead != NONE:
        placed.before[ahead] = behind


@inner(error_model="numpy", counted=False)
def _try(filters, machine, placed, i, b, stamp):
    """Compute what moving filter i to b changes: fill delta, list touched; return their number.

    touched[0], touched[1]: the processor of i, and b. stamp: a number that differs for each move
    tried.
    """
    a = placed.part[i]
    placed.touched[0], placed.touched[1] = a, b
    placed.mark[a] = placed.mark[b] = stamp
    placed.delta[a] = placed.delta[b] = 0.0
    count = 2
    for e in range(filters.offsets[i], filters.offsets[i + 1]):
        q = placed.part[filters.ends[e]]
        here, there = filters.here[e], filters.there[e]
        placed.delta[a] -= here * machine.cost[a, q]
        placed.delta[b] += here * machine.cost[b, q]
        if placed.mark[q] != stamp:
            placed.mark[q] = stamp
            placed.delta[q] = 0.0
            placed.touched[count] = q
            count += 1
        placed.delta[q] += there * (machine.cost[q, b] - machine.cost[q, a])
    return count


@inner(error_model="numpy", counted=False)
def _load(machine, placed, p):
    return together(machine, placed.computing[p], placed.communicating[p])


@inner(error_model="numpy", counted=False)
def _changed(machine, placed, p, more):
    """Return the load of p after the tried move; more: change of its computing time [s]."""
    return together(machine, placed.computing[p] + more, placed.communicating[p] + placed.delta[p])


@inner(error_model="numpy", counted=False)
def _largest(machine, placed, count, out, into, enough):
    """Return the largest load of the touched processors; stop early if it is above `enough`.

    out, into: computing time [s] that the old processor loses, and that the new one gets.
    """
    largest = _changed(machine, placed, placed.touched[0], -out)
    largest = max(largest, _changed(machine, placed, placed.touched[1], into))
    for t in range(2, count):
        if largest >= enough:
            return largest
        largest = max(largest, _changed(machine, placed, placed.touched[t], 0.0))
    return largest


@inner(error_model="numpy", counted=False)
def _move(placed, count, i, out, into):
    """Make the move that was tried last."""
    a, b = placed.touched[0], placed.touched[1]
    for t in range(count):
        p = placed.touched[t]
        placed.communicating[p] += placed.delta[p]
    placed.computing[a] -= out
    placed.computing[b] += into
    _leave(placed, i, a)
    _enter(placed, i, b)
    placed.part[i] = b


@inner(error_model="numpy", counted=False)
def _busiest(machine, placed):
    busiest = 0
    most = _load(machine, placed, 0)
    for p in range(1, placed.first.size):
        load = _load(machine, placed, p)
        if load > most:
            busiest, most = p, load
    return busiest, most


@njit(cache=True, nogil=True, error_model="numpy")
def improve(filters, machine, placed, work, state):
    """Shorten the period move by move, until no move shortens it or `work` is used up.

    Each step takes the best of two moves: a filter leaves the busiest processor, or a neighbour of
    its filters joins it. If neither helps, two filters are exchanged, or a chain of filters moves.
    work: largest number of processors examined. state (1,) uint64: state of the random number
    generator. Returns the work left.
    """
    stamp = np.int64(placed.mark.max()) + 1
    moved, came = np.empty(LINKS, np.int64), np.empty(LINKS, np.int64)
    while work > 0:
        s, period = _busiest(machine, placed)
        enough = period * (1.0 - HAIR)
        found, to = NONE, NONE
        i = placed.first[s]
        while i != NONE and work > 0:
            out = seconds_of(filters, machine, i, s)
            for b in range(machine.rate.size):
                if b == s:
                    continue
                into = seconds_of(filters, machine, i, b)
                work -= 1
                if placed.computing[b] + into >= enough:
                    continue
                count = _try(filters, machine, placed, i, b, stamp)
                stamp += 1
                work -= count
                largest = _largest(machine, placed, count, out, into, enough)
                if largest < enough:
                    enough, found, to = largest, i, b
            for e in range(filters.offsets[i], filters.offsets[i + 1]):
                y = filters.ends[e]
                a = placed.part[y]
                if a == s:
                    continue
                into = seconds_of(filters, machine, y, s)
                count = _try(filters, machine, placed, y, s, stamp)
                stamp += 1
                work -= count
                away = seconds_of(filters, machine, y, a)
                largest = _largest(machine, placed, count, away, into, enough)
                if largest < enough:
                    enough, found, to = largest, y, s
            i = placed.after[i]
        if found == NONE and work <= 0:
            return work
        if found == NONE:
            enough = period * (1.0 - HAIR)
            worked = _exchange(filters, machine, placed, s, enough, stamp, state)
            stamp = np.int64(placed.mark.max()) + 1
            work -= abs(worked)
            if worked <= 0:
                worked = _eject(
                    filters, machine, placed, s, enough, stamp, state, moved, came, work
                )
                stamp = np.int64(placed.mark.max()) + 1
                work -= abs(worked)
            if worked <= 0:
                return work
            continue
        stamp = _make(filters, machine, placed, found, to, stamp)
    return work


@inner(error_model="numpy", counted=False)
def _make(filters, machine, placed, i, b, stamp):
    """Move filter i to b; return the next stamp."""
    a = placed.part[i]
    count = _try(filters, machine, placed, i, b, stamp)
    out, into = seconds_of(filters, machine, i, a), seconds_of(filters, machine, i, b)
    _move(placed, count, i, out, into)
    return stamp + 1


@inner(error_model="numpy", counted=False)
def _exchange(filters, machine, placed, s, enough, stamp, state):
    """Exchange a filter of s with another filter if all changed loads are then below `enough`.

    The other filters are drawn at random. Returns the work done, negative if no exchange helps.
    """
    n, worked = placed.part.size, 0
    i = placed.first[s]
    while i != NONE:
        following = placed.after[i]
        for _ in range(SWAPPED):
            y = draw(state, n)
            b = placed.part[y]
            if b == s:
                continue
            worked += 2 + filters.offsets[i + 1] - filters.offsets[i]
            gain = seconds_of(filters, machine, i, b) - seconds_of(filters, machine, y, b)
            if placed.computing[b] + gain >= enough:
                continue
            stamp = _make(filters, machine, placed, i, b, stamp)
            count = _try(filters, machine, placed, y, s, stamp)
            out, into = seconds_of(filters, machine, y, b), seconds_of(filters, machine, y, s)
            largest = _largest(machine, placed, count, out, into, enough)
            stamp += 1
            # Processors beside i alone are touched by the first half only.
            if largest < enough and _beside(filters, machine, placed, i, enough, stamp - 1):
                _move(placed, count, y, out, into)
                return worked + 1
            stamp = _make(filters, machine, placed, i, s, stamp)
        i = following
    return -worked - 1


@inner(error_model="numpy", counted=False)
def _eject(filters, machine, placed, s, enough, stamp, state, moved, came, most):
    """Move a filter of s to another processor, a filter from there to a third, and so on.

    Makes the first chain of at most LINKS moves after which every changed load is below `enough`.
    Processors are drawn at random. moved, came (LINKS,): memory for the filters of the chain and
    their old processors. most: once this much work is done, no further chain begins. Returns the
    work done, negative if no chain helps.
    """
    k, worked = machine.rate.size, 0
    i = placed.first[s]
    while i != NONE:
        following = placed.after[i]
        for _ in range(CHAINS):
            if worked >= most:
                return -worked - 1
            y, b, links = i, draw(state, k), 0
            if b == s or not np.isfinite(seconds_of(filters, machine, y, b)):
                continue
            while True:
                moved[links], came[links] = y, placed.part[y]
                stamp = _make(filters, machine, placed, y, b, stamp)
                worked += 2 + filters.offsets[y + 1] - filters.offsets[y]
                links += 1
                if _load(machine, placed, b) < enough or links == LINKS:
                    break
                y, b, work, stamp = _link(filters, machine, placed, y, b, enough, stamp, state)
                worked += work
                if y == NONE:
                    break
            good = True
            for j in range(links):
                good = good and _is_below(filters, machine, placed, moved[j], came[j], enough)
            if good:
                return worked + 1
            for j in range(links - 1, -1, -1):
                stamp = _make(filters, machine, placed, moved[j], came[j], stamp)
        i = following
    return -worked - 1


@inner(error_model="numpy", counted=False)
def _link(filters, machine, placed, last, b, enough, stamp, state):
    """Choose the filter of b that moves on, other than `last`, and its destination.

    Among the moves tried, the chosen one has the smallest largest load. Returns the filter and the
    destination, NONE if b stays above `enough` whichever filter leaves, the work done and the next
    stamp.
    """
    found, to, worked, least = NONE, NONE, 0, np.inf
    y = placed.first[b]
    for _ in range(LEAVING):
        if y == NONE:
            break
        if y != last:
            out = seconds_of(filters, machine, y, b)
            for _ in range(TRIED):
                c = draw(state, machine.rate.size)
                into = seconds_of(filters, machine, y, c)
                worked += 1
                if c == b or placed.computing[c] + into >= least:
                    continue
                count = _try(filters, machine, placed, y, c, stamp)
                stamp += 1
                worked += count
                if _changed(machine, placed, b, -out) >= enough:
                    continue
                largest = _largest(machine, placed, count, out, into, least)
                if largest < least:
                    least, found, to = largest, y, c
        y = placed.after[y]
    return found, to, worked, stamp


@inner(error_model="numpy", counted=False)
def _is_below(filters, machine, placed, i, a, enough):
    """Return whether the loads of a, of i's processor and of i's neighbours are below `enough`."""
    if _load(machine, placed, a) >= enough or _load(machine, placed, placed.part[i]) >= enough:
        return False
    for e in range(filters.offsets[i], filters.offsets[i + 1]):
        if _load(machine, placed, placed.part[filters.ends[e]]) >= enough:
            return False
    return True


@inner(error_model="numpy", counted=False)
def _beside(filters, machine, placed, i, enough, stamp):
    """Return whether loads at i's neighbours that the tried move keeps are below `enough`."""
    for e in range(filters.offsets[i], filters.offsets[i + 1]):
        q = placed.part[filters.ends[e]]
        if placed.mark[q] != stamp and _load(machine, placed, q) >= enough:
            return False
    return True


@inner(error_model="numpy", counted=False)
def _next(state):
    """Return the next random number, uint64 (SplitMix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return mixed(state[0])


@inner(error_model="numpy", counted=False)
def uniform(state):
    """Return a random number in [0, 1)."""
    return np.float64(_next(state) >> np.uint64(11)) * ONE_53


@inner(error_model="numpy", counted=False)
def draw(state, n):
    """Return a random integer in [0, n)."""
    return np.int64(uniform(state) * n)


@njit(cache=True, nogil=True, error_model="numpy")
def tidy(filters, machine, placed, period, least, work):
    """Reduce cut bytes by moves and exchanges that leave all changed loads at most `period`.

    least: bytes added to each edge, so that fewer edges are cut even if they carry no bytes. work:
    largest number of processors examined.
    """
    stamp = np.int64(placed.mark.max()) + 1
    above = np.nextafter(period, np.inf)
    for _ in range(PASSES):
        moved = False
        for i in range(placed.part.size):
            for e in range(filters.offsets[i], filters.offsets[i + 1]):
                if work <= 0:
                    return
                a, b = placed.part[i], placed.part[filters.ends[e]]
                work -= 1 + filters.offsets[i + 1] - filters.offsets[i]
                gain = _nearer(filters, placed, i, a, b, least) if a != b else 0.0
                if gain <= 0.0:
                    continue
                count = _try(filters, machine, placed, i, b, stamp)
                stamp += 1
                out, into = seconds_of(filters, machine, i, a), seconds_of(filters, machine, i, b)
                if _largest(machine, placed, count, out, into, np.inf) <= period:
                    _move(placed, count, i, out, into)
                    moved = True
                    continue
                y = placed.first[b]
                for _ in range(SWAPPED):
                    if y == NONE:
                        break
                    work -= 1 + filters.offsets[y + 1] - filters.offsets[y]
                    following = placed.after[y]
                    back = _nearer(filters, placed, y, b, a, least)
                    back -= 2.0 * _between(filters, i, y, least)
                    if gain + back > 0.0:
                        stamp = _make(filters, machine, placed, i, b, stamp)
                        count = _try(filters, machine, placed, y, a, stamp)
                        out = seconds_of(filters, machine, y, b)
                        into = seconds_of(filters, machine, y, a)
                        stamp += 1
                        if _largest(
                            machine, placed, count, out, into, np.inf
                        ) <= period and _beside(filters, machine, placed, i, above, stamp - 1):
                            _move(placed, count, y, out, into)
                            moved = True
                            break
                        stamp = _make(filters, machine, placed, i, a, stamp)
                    y = following
        if not moved:
            return


@inner(error_model="numpy", counted=False)
def _nearer(filters, placed, i, a, b, least):
    """Return the bytes of filter i to filters on b minus those to filters on a."""
    gain = 0.0
    for e in range(filters.offsets[i], filters.offsets[i + 1]):
        q = placed.part[filters.ends[e]]
        if q == b:
            gain += filters.here[e] + filters.there[e] + least
        elif q == a:
            gain -= filters.here[e] + filters.there[e] + least
    return gain


@inner(error_model="numpy", counted=False)
def _between(filters, i, y, least):
    """Return the bytes between two filters."""
    for e in range(filters.offsets[i], filters.offsets[i + 1]):
        if filters.ends[e] == y:
            return filters.here[e] + filters.there[e] + least
    return 0.0
