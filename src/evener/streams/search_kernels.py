"""Moves of filters between processors that shorten the period: descent and annealing.

A move changes the loads of the two processors, and of those that have a neighbour of the filter:
O(degree). `improve` makes the best move of the busiest processor, `anneal` proposes random ones.
"""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit
from evener.streams.period_kernels import add_loads, seconds_of, together

NONE = -1
HAIR = 1e-9  # a period that is shorter by less than this share counts as equal
SWAPPED = 64  # filters of other processors that are tried against each one of the busiest
FAR_ABOVE = 3.0  # a filter alone is not moved to where it would make so many best periods
# Of proposals: taken from the busier of a few filters; to a neighbour's processor; to a quick one.
BUSIER, NEIGHBOUR, QUICK = 0.7, 0.4, 0.8
DRAWS = 3
SUMMED_ANEW = 1 << 16  # proposals after which loads are summed anew: rounding adds up
LOOKED_AT = 16  # accepted proposals between two looks at the period
ONE_53 = 1.0 / (1 << 53)


class Occupancy(NamedTuple):
    """Where filters are: part (n,) int32; computing, communicating (k,) [s] of processors.

    first (k,), after, before (n,) int32: the filters of each processor, as lists. delta (k,), zero
    between moves, mark (k,) int64 and touched (k,) int32: memory of a move that is tried.
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
    """Compute loads and lists of a mapping."""
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
    """Find what the move of filter i to b changes: fills delta, lists touched; returns how many.

    touched[0], touched[1]: its processor and b. stamp: another number for each move tried.
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
    """Load of p with `more` seconds of computing, and what the tried move adds."""
    return together(machine, placed.computing[p] + more, placed.communicating[p] + placed.delta[p])


@inner(error_model="numpy", counted=False)
def _largest(machine, placed, count, out, into, enough):
    """Largest load among the processors touched; stops above `enough`. out, into: computing."""
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
    """Shorten the period move by move until none of the busiest processor's does, or `work` ends.

    The best is taken of: a filter of the busiest processor goes elsewhere, a neighbour comes; where
    neither helps, two filters are exchanged. work: processors looked at, at most. state (1,)
    uint64: of random numbers. Returns the work that is left.
    """
    stamp = np.int64(placed.mark.max()) + 1
    while work > 0:
        s, period = _busiest(machine, placed)
        enough = period * (1.0 - HAIR)
        found, to = NONE, NONE
        i = placed.first[s]
        while i != NONE:
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
        if found == NONE:
            worked = _exchange(filters, machine, placed, s, period * (1.0 - HAIR), stamp, state)
            stamp = np.int64(placed.mark.max()) + 1
            work -= abs(worked)
            if worked <= 0:
                return work
            continue
        stamp = _make(filters, machine, placed, found, to, stamp)
    return work


@inner(error_model="numpy", counted=False)
def _make(filters, machine, placed, i, b, stamp):
    """Move filter i to b; returns the next stamp."""
    a = placed.part[i]
    count = _try(filters, machine, placed, i, b, stamp)
    out, into = seconds_of(filters, machine, i, a), seconds_of(filters, machine, i, b)
    _move(placed, count, i, out, into)
    return stamp + 1


@inner(error_model="numpy", counted=False)
def _exchange(filters, machine, placed, s, enough, stamp, state):
    """Exchange a filter of s with another's, where every load touched ends below `enough`.

    Others are drawn at random. Returns the work done, negative where no exchange helps.
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
def _beside(filters, machine, placed, i, enough, stamp):
    """Whether the processors of i's neighbours that the tried move does not touch are below."""
    for e in range(filters.offsets[i], filters.offsets[i + 1]):
        q = placed.part[filters.ends[e]]
        if placed.mark[q] != stamp and _load(machine, placed, q) >= enough:
            return False
    return True


@inner(error_model="numpy", counted=False)
def _next(state):
    """Next random number, uint64 (SplitMix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inner(error_model="numpy", counted=False)
def uniform(state):
    """Random number in [0, 1)."""
    return np.float64(_next(state) >> np.uint64(11)) * ONE_53


@inner(error_model="numpy", counted=False)
def draw(state, n):
    """Random whole number below n."""
    return np.int64(uniform(state) * n)


@inner(error_model="numpy", counted=False)
def _power(ratio):
    """Eighth power: the sum of such of all loads grows nearly as the largest does."""
    squared = max(ratio, 0.0) ** 2
    fourth = squared * squared
    return fourth * fourth


@inner(error_model="numpy", counted=False)
def _sum_of_powers(machine, placed, unit):
    total = 0.0
    for p in range(placed.first.size):
        total += _power(_load(machine, placed, p) / unit)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def anneal(filters, machine, placed, span, heat, best, state):
    """Propose moves at a falling temperature, on the logarithm of the loads' 8-norm.

    span: number of the first proposal, of the last, of all. heat: first and last temperature.
    best (n,) int32: the mapping of the shortest period met, which is returned, replaced where
    a shorter one is met.
    """
    settle(filters, machine, placed)
    _, unit = _busiest(machine, placed)
    shortest = _period_of(filters, machine, best)
    if unit < shortest:
        shortest = unit
        best[:] = placed.part
    total = _sum_of_powers(machine, placed, unit)
    stamp = np.int64(placed.mark.max()) + 1
    fall = np.log(heat[1] / heat[0]) / span[2]
    since = 0
    for turn in range(span[0], span[1]):
        i, b = _proposal(filters, machine, placed, state)
        a = placed.part[i]
        if a == b:
            continue
        into = seconds_of(filters, machine, i, b)
        if into > FAR_ABOVE * shortest:
            continue
        out = seconds_of(filters, machine, i, a)
        count = _try(filters, machine, placed, i, b, stamp)
        stamp += 1
        gained = _gained(machine, placed, count, out, into, unit)
        after = max(total + gained, 1e-300)
        worse = np.log(after / total) / 8.0
        if worse > 0.0 and uniform(state) >= np.exp(-worse / (heat[0] * np.exp(fall * turn))):
            continue
        _move(placed, count, i, out, into)
        total = after
        since += 1
        if since >= LOOKED_AT and worse < 0.0:
            since = 0
            _, period = _busiest(machine, placed)
            if period < shortest:
                shortest = period
                best[:] = placed.part
        if turn % SUMMED_ANEW == 0:
            settle(filters, machine, placed)
            _, unit = _busiest(machine, placed)
            total = _sum_of_powers(machine, placed, unit)
    settle(filters, machine, placed)
    _, period = _busiest(machine, placed)
    if period < shortest:
        shortest = period
        best[:] = placed.part
    return shortest


@inner(error_model="numpy", counted=False)
def _gained(machine, placed, count, out, into, unit):
    """What the tried move adds to the sum of powers."""
    gained = 0.0
    for t in range(count):
        p = placed.touched[t]
        more = -out if t == 0 else (into if t == 1 else 0.0)
        gained += _power(_changed(machine, placed, p, more) / unit)
        gained -= _power(_load(machine, placed, p) / unit)
    return gained


@inner(error_model="numpy", counted=False)
def _proposal(filters, machine, placed, state):
    """A random filter, rather of a busy processor, and where it may go."""
    n, k = placed.part.size, machine.rate.size
    i = draw(state, n)
    if uniform(state) < BUSIER:
        for _ in range(DRAWS):
            other = draw(state, n)
            if _load(machine, placed, placed.part[other]) > _load(machine, placed, placed.part[i]):
                i = other
    r, first, last = uniform(state), filters.offsets[i], filters.offsets[i + 1]
    if r < NEIGHBOUR and last > first:
        return i, np.int64(placed.part[filters.ends[first + draw(state, last - first)]])
    b = draw(state, k)
    if r < QUICK:
        load = placed.computing[b] + seconds_of(filters, machine, i, b)
        for _ in range(DRAWS - 1):
            other = draw(state, k)
            there = placed.computing[other] + seconds_of(filters, machine, i, other)
            if there < load:
                b, load = other, there
    return i, b


@inner(error_model="numpy", counted=True)
def _period_of(filters, machine, part):
    computing, communicating = np.zeros(machine.rate.size), np.zeros(machine.rate.size)
    add_loads(filters, machine, part, computing, communicating)
    most = 0.0
    for p in range(computing.size):
        most = max(most, together(machine, computing[p], communicating[p]))
    return most
