"""Annealing: random moves of filters, or of clusters of filters, at a falling temperature.

A move changes the loads of the filter's old and new processor, and of the processors of its
neighbours, so it takes O(degree) time.
"""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit
from evener.streams.period_kernels import together
from evener.streams.search_kernels import draw, uniform

NONE = -1
FAR_ABOVE = 3.0  # a filter alone is not moved to where it would make so many best periods
# Of proposals: taken from the busier of a few filters; up to there to a neighbour's processor, to
# one near to that, to the one of a few that is done first; the others go anywhere.
BUSIER, NEIGHBOUR, NEAR, QUICK = 0.7, 0.2, 0.8, 0.95
DRAWS = 3
SQUARES = 0.02  # of the sum of eighth powers: so few busy processors do not hide all others
SUMMED_ANEW = 1 << 16  # proposals after which loads are summed anew: rounding adds up
LOOKED_AT = 8  # one look at the period for so many processors' accepted proposals
COOLED = 64  # proposals at the same temperature
HOPELESS = 37.0  # of the temperature: a change that is worse by so much is never accepted


class AnnealingCosts(NamedTuple):
    """Costs of filters, or of clusters of filters, on processors, for the annealing kernels.

    offsets, ends, here, there: as in FilterArrays. work (n, kinds) float32: time of each filter on
    a processor of each kind, times the processor's rate; infinite if that kind cannot run the
    filter. kind (k,) int32: kind of each processor. pause (k,): 1 / rate. cost (k, k) float32
    [s/B]. near (k, some) int32: the processors nearest to each processor. overlap: as in
    ProcessorArrays.
    """

    offsets: np.ndarray
    ends: np.ndarray
    here: np.ndarray
    there: np.ndarray
    work: np.ndarray
    kind: np.ndarray
    pause: np.ndarray
    cost: np.ndarray
    near: np.ndarray
    overlap: bool


@inner(error_model="numpy", counted=False)
def _power(ratio):
    """Return ratio^8 + SQUARES x ratio^2.

    Sums of the 8th power follow the largest ratio closely.
    """
    squared = ratio * ratio
    fourth = squared * squared
    return fourth * fourth + SQUARES * squared


@inner(error_model="numpy", counted=False)
def _seconds(costs, i, p):
    return costs.work[i, costs.kind[p]] * costs.pause[p]


@inner(error_model="numpy", counted=False)
def _summed(costs, part, loads):
    """Fill loads (2, k) [s] with computing and communicating times; return the largest load."""
    loads[:] = 0.0
    for i in range(part.size):
        p = part[i]
        loads[0, p] += _seconds(costs, i, p)
        for e in range(costs.offsets[i], costs.offsets[i + 1]):
            loads[1, p] += costs.here[e] * costs.cost[p, part[costs.ends[e]]]
    return _most(costs, loads)


@inner(error_model="numpy", counted=False)
def _most(costs, loads):
    most = 0.0
    for p in range(loads.shape[1]):
        most = max(most, together(costs, loads[0, p], loads[1, p]))
    return most


@inner(error_model="numpy", counted=False)
def _sum_of_powers(costs, loads, unit):
    total = 0.0
    for p in range(loads.shape[1]):
        total += _power(together(costs, loads[0, p], loads[1, p]) / unit)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def anneal(costs, part, span, heat, best, state):
    """Propose moves at a falling temperature; minimise the logarithm of the loads' 8-norm.

    part (n,) int32: the processor of each filter, changed in place. span: number of the first
    proposal of this call, number after its last proposal, and number of all proposals. heat: first
    and last temperature. best (n,) int32: the mapping with the shortest period found so far,
    replaced if a shorter period is found. Returns the shortest period, computed from `costs`.
    """
    k = costs.pause.size
    loads = np.zeros((2, k))
    shortest = _summed(costs, best, loads)
    unit = _summed(costs, part, loads)
    if unit < shortest:
        shortest = unit
        best[:] = part
    if unit == 0.0:
        return unit
    total = _sum_of_powers(costs, loads, unit)
    delta, mark = np.zeros(k), np.zeros(k, np.int64)
    touched = np.empty(k, np.int32)
    fall = np.log(heat[1] / heat[0]) / span[2]
    often = max(k // LOOKED_AT, 1)
    since, warmth = 0, heat[0]
    for turn in range(span[0], span[1]):
        if turn % COOLED == 0 or turn == span[0]:
            warmth = heat[0] * np.exp(fall * turn)
        if turn % SUMMED_ANEW == 0:
            unit = _summed(costs, part, loads)
            total = _sum_of_powers(costs, loads, unit)
        i, b = _proposal(costs, part, loads, state)
        a = part[i]
        if a == b:
            continue
        into = _seconds(costs, i, b)
        if into > FAR_ABOVE * shortest:
            continue
        out = _seconds(costs, i, a)
        count = _touch(costs, part, (i, a, b), (delta, mark, touched), turn + 1)
        gained = _gained(costs, loads, delta, touched, count, out, into, unit)
        if gained > 0.0:
            worse = np.log1p(gained / total) / 8.0 / warmth
            if worse > HOPELESS or uniform(state) >= np.exp(-worse):
                continue
        for t in range(count):
            loads[1, touched[t]] += delta[touched[t]]
        loads[0, a] -= out
        loads[0, b] += into
        part[i] = b
        total = max(total + gained, 1e-300)
        since += 1
        if since >= often:
            since = 0
            period = _most(costs, loads)
            if period < shortest:
                shortest = period
                best[:] = part
    period = _summed(costs, part, loads)
    if period < shortest:
        shortest = period
        best[:] = part
    return shortest


@inner(error_model="numpy", counted=False)
def _touch(costs, part, move, memory, stamp):
    """Compute what a move changes: fill delta, and list touched processors; return their number."""
    i, a, b = move
    delta, mark, touched = memory
    touched[0], touched[1] = a, b
    mark[a] = mark[b] = stamp
    delta[a] = delta[b] = 0.0
    count, less, more = 2, 0.0, 0.0
    for e in range(costs.offsets[i], costs.offsets[i + 1]):
        q = part[costs.ends[e]]
        old, new = costs.cost[a, q], costs.cost[b, q]
        less += costs.here[e] * old
        more += costs.here[e] * new
        if mark[q] != stamp:
            mark[q] = stamp
            delta[q] = 0.0
            touched[count] = q
            count += 1
        delta[q] += costs.there[e] * (new - old)
    delta[a] -= less
    delta[b] += more
    return count


@inner(error_model="numpy", counted=False)
def _gained(costs, loads, delta, touched, count, out, into, unit):
    """Return by how much the tried move changes the sum of powers."""
    gained, scale = 0.0, 1.0 / unit
    for t in range(count):
        p = touched[t]
        more = -out if t == 0 else (into if t == 1 else 0.0)
        changed = together(costs, loads[0, p] + more, loads[1, p] + delta[p])
        gained += _power(changed * scale)
        gained -= _power(together(costs, loads[0, p], loads[1, p]) * scale)
    return gained


@inner(error_model="numpy", counted=False)
def _proposal(costs, part, loads, state):
    """Return a random filter, preferably of a busy processor, and a processor to move it to."""
    n, k = part.size, loads.shape[1]
    i = draw(state, n)
    if uniform(state) < BUSIER:
        load = together(costs, loads[0, part[i]], loads[1, part[i]])
        for _ in range(DRAWS):
            other = draw(state, n)
            there = together(costs, loads[0, part[other]], loads[1, part[other]])
            if there > load:
                i, load = other, there
    r, first, last = uniform(state), costs.offsets[i], costs.offsets[i + 1]
    if r < NEAR and last > first:
        b = np.int64(part[costs.ends[first + draw(state, last - first)]])
        if r >= NEIGHBOUR:
            b = np.int64(costs.near[b, draw(state, costs.near.shape[1])])
        return i, b
    b = draw(state, k)
    if r < QUICK:
        load = together(costs, loads[0, b] + _seconds(costs, i, b), loads[1, b])
        for _ in range(DRAWS - 1):
            other = draw(state, k)
            there = together(costs, loads[0, other] + _seconds(costs, i, other), loads[1, other])
            if there < load:
                b, load = other, there
    return i, b


@njit(cache=True, nogil=True, error_model="numpy")
def fill_nearest(cost, near):
    """Fill near (k, some) int32 with the processors nearest to each one by cost (k, k) float32."""
    some = near.shape[1]
    for p in range(cost.shape[0]):
        count = 0
        for q in range(cost.shape[0]):
            if q == p or (count == some and cost[p, q] >= cost[p, near[p, some - 1]]):
                continue
            j = min(count, some - 1)
            while j > 0 and cost[p, near[p, j - 1]] > cost[p, q]:
                near[p, j] = near[p, j - 1]
                j -= 1
            near[p, j] = q
            count = min(count + 1, some)


@njit(cache=True, nogil=True, error_model="numpy")
def match(costs, least, group, most, order, mate):
    """Fill mate (n,) int64 with the partner of each filter; a filter without a partner gets itself.

    Filters choose in the order `order`. Each chooses among its neighbours that have no partner and
    are of the same group; the chosen neighbour shares the most bytes, relative to the smaller
    `least` (n,) [s] of both. The sum of their `least` may not exceed `most`.
    """
    for i in range(mate.size):
        mate[i] = NONE
    for i in order:
        if mate[i] != NONE:
            continue
        mate[i] = i
        highest = 0.0
        for e in range(costs.offsets[i], costs.offsets[i + 1]):
            j = np.int64(costs.ends[e])
            if j == i or mate[j] != NONE or group[j] != group[i]:
                continue
            nbytes = costs.here[e] + costs.there[e]
            if least[i] + least[j] > most or nbytes <= 0.0:
                continue
            score = nbytes / max(min(least[i], least[j]), 1e-9 * most)
            if score > highest:
                highest = score
                mate[i] = j
        mate[mate[i]] = i
