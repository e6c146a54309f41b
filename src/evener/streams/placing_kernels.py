"""Places filters one after the other, each where the period grows least."""

# mypy: ignore-errors
import numpy as np

from evener.jit import inner, njit
from evener.streams.period_kernels import seconds_of, together

NOWHERE = -1


@njit(cache=True, nogil=True, error_model="numpy")
def place_in_turn(filters, machine, order, chosen, part, loads, tried):
    """Fill part (n,) int32: filters in `order`, each on the best of the `chosen` processors.

    That is where the largest load is least afterwards; of equal ones where the loads that change
    are least. loads (2, k), zero: computing and communicating [s]. tried: so many processors, those
    that would be done first without the filter's bytes, and those of its neighbours. Returns
    whether each has a place.
    """
    part[:] = NOWHERE
    delta = np.zeros(machine.rate.size)
    is_chosen = np.zeros(machine.rate.size, np.uint8)
    for p in chosen:
        is_chosen[p] = 1
    tried = min(tried, chosen.size)
    nearest, done = np.empty(tried, np.int64), np.empty(tried)
    period = 0.0
    for i in order:
        count = tried
        if tried < chosen.size:
            count = _first_done(filters, machine, chosen, loads, i, nearest, done)
        at, best, best_here = NOWHERE, np.inf, np.inf
        beside = filters.offsets[i + 1] - filters.offsets[i] if tried < chosen.size else 0
        for turn in range(count + beside):
            if turn < count:
                p = nearest[turn] if tried < chosen.size else chosen[turn]
            else:
                p = np.int64(part[filters.ends[filters.offsets[i] + turn - count]])
                if p == NOWHERE or is_chosen[p] == 0:
                    continue
            into = seconds_of(filters, machine, i, p)
            least = together(machine, loads[0, p] + into, loads[1, p])
            if least > best or (best == period and least >= best_here):
                continue
            here = _after(filters, machine, part, loads, delta, (i, p, into))
            there = max(here, period)
            if there < best or (there == best and here < best_here):
                at, best, best_here = p, there, here
        if at == NOWHERE or best == np.inf:
            return False
        _put(filters, machine, part, loads, i, at)
        period = best
    return True


@inner(error_model="numpy", counted=False)
def _first_done(filters, machine, chosen, loads, i, nearest, done):
    """List the processors that would be done first with filter i alone; returns how many."""
    count = 0
    for p in chosen:
        mine = together(machine, loads[0, p] + seconds_of(filters, machine, i, p), loads[1, p])
        if count == nearest.size:
            if mine >= done[count - 1]:
                continue
            count -= 1
        j = count
        while j > 0 and done[j - 1] > mine:
            done[j], nearest[j] = done[j - 1], nearest[j - 1]
            j -= 1
        done[j], nearest[j] = mine, p
        count += 1
    return count


@inner(error_model="numpy", counted=False)
def _after(filters, machine, part, loads, delta, move):
    """Largest of the loads that change where filter i goes to p, which takes `into` seconds."""
    i, p, into = move
    own = loads[1, p]
    for e in range(filters.offsets[i], filters.offsets[i + 1]):
        q = part[filters.ends[e]]
        if q not in (NOWHERE, p):
            own += filters.here[e] * machine.cost[p, q]
            delta[q] += filters.there[e] * machine.cost[q, p]
    largest = together(machine, loads[0, p] + into, own)
    for e in range(filters.offsets[i], filters.offsets[i + 1]):
        q = part[filters.ends[e]]
        if q not in (NOWHERE, p):
            largest = max(largest, together(machine, loads[0, q], loads[1, q] + delta[q]))
    for e in range(filters.offsets[i], filters.offsets[i + 1]):
        q = part[filters.ends[e]]
        if q != NOWHERE:
            delta[q] = 0.0
    return largest


@inner(error_model="numpy", counted=False)
def _put(filters, machine, part, loads, i, p):
    part[i] = p
    loads[0, p] += seconds_of(filters, machine, i, p)
    for e in range(filters.offsets[i], filters.offsets[i + 1]):
        q = part[filters.ends[e]]
        if q not in (NOWHERE, p):
            loads[1, p] += filters.here[e] * machine.cost[p, q]
            loads[1, q] += filters.there[e] * machine.cost[q, p]
