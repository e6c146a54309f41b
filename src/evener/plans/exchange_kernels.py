"""Messages as flows that share ports and links fairly, until each is through.

Rates are max-min fair: all flows grow alike until a resource is full; its flows stay as they are,
and the others grow on. The trick is to find many full resources in one round, those whose flows
all stop there and nowhere sooner: a round passes over the flows twice, and there are few.
"""

# mypy: ignore-errors
import numpy as np

from evener.jit import njit


@njit(cache=True, nogil=True)
def share_rates(active, starts, uses, costs, room, load, pending, stop, rate):
    """Set rate[i] [values/s] of the active flows i.

    Flow i needs costs[j] > 0 seconds a value of the resources uses[j], starts[i] <= j <
    starts[i + 1]; each has a second a second. room, load, pending, stop: scratch for all of them.
    """
    room[:], load[:], pending[:] = 1.0, 0.0, 0
    for i in active:
        rate[i] = -1.0
        for j in range(starts[i], starts[i + 1]):
            load[uses[j]] += costs[j]
            pending[uses[j]] += 1
    left = active.size
    while left > 0:
        for r in range(stop.size):
            stop[r] = room[r] / load[r] if pending[r] > 0 else np.inf
        # Below zero: one of its flows stops elsewhere, sooner.
        for i in active:
            if rate[i] < 0:
                least = np.inf
                for j in range(starts[i], starts[i + 1]):
                    least = min(least, abs(stop[uses[j]]))
                for j in range(starts[i], starts[i + 1]):
                    if stop[uses[j]] > least:
                        stop[uses[j]] *= -1.0
        for i in active:
            if rate[i] < 0:
                for j in range(starts[i], starts[i + 1]):
                    if stop[uses[j]] >= 0:
                        rate[i] = stop[uses[j]]
                if rate[i] >= 0:
                    left -= 1
                    for j in range(starts[i], starts[i + 1]):
                        r = uses[j]
                        room[r] = max(room[r] - rate[i] * costs[j], 0.0)
                        load[r] = max(load[r] - costs[j], 1e-300)
                        pending[r] -= 1


@njit(cache=True, nogil=True)
def finish_flows(release, values, starts, uses, costs, size, step, done):
    """Set done[i] [s]: when flow i, of values[i] > 0 from release[i] on, is through.

    size: resources. Rates change when flows begin or end, though at most once in `step` seconds:
    what begins within it begins early, what ends within it leaves its share unused until then.
    Costs next to zero or next to the largest number make rates infinite or zero: such flows need
    no time, or all of it.
    """
    n = release.size
    order, left, rate, needs = np.argsort(release), values.copy(), np.empty(n), np.empty(n)
    room, load, stop = np.empty(size), np.empty(size), np.empty(size)
    pending, active = np.empty(size, np.int64), np.empty(n, np.int64)
    n_active, begun, now = 0, 0, 0.0
    while begun < n or n_active > 0:
        if n_active == 0:
            now = max(now, release[order[begun]])
        while begun < n and release[order[begun]] <= now + step:
            active[n_active] = order[begun]
            n_active, begun = n_active + 1, begun + 1
        share_rates(active[:n_active], starts, uses, costs, room, load, pending, stop, rate)
        first = np.inf
        for i in active[:n_active]:
            needs[i] = left[i] / rate[i] if rate[i] > 0 else np.inf
            first = min(first, needs[i])
        lasts = max(first, step)
        if begun < n:
            lasts = min(lasts, release[order[begun]] - now)
        kept = 0
        for i in active[:n_active]:
            if needs[i] <= lasts * (1 + 1e-12):
                done[i] = max(now + needs[i], release[i])
            else:
                left[i] -= rate[i] * lasts
                active[kept] = i
                kept += 1
        n_active, now = kept, now + lasts
