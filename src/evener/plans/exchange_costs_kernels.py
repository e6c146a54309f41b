"""Simulates messages as flows that share ports and links fairly, until each has arrived.

Rates are max-min fair: all flows get more until a resource is full; its flows keep their rates, and
the others get more still. Each round finds all resources whose flows are stopped there and nowhere
sooner, in two passes over the flows; few rounds are needed.
"""

# mypy: ignore-errors
import numpy as np

from evener.jit import njit


@njit(cache=True, nogil=True)
def share_rates(active, starts, uses, costs, room, load, pending, stop, rate):
    """Set rate[i] [values/s] of the active flows i.

    Flow i needs costs[j] > 0 seconds per value of the resources uses[j], starts[i] <= j <
    starts[i + 1]; a resource is full at 1. room, load, pending, stop: scratch, one per resource.
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
    """Set done[i] [s]: when flow i, of values[i] > 0 from release[i] on, has arrived.

    size: number of resources. Rates change when flows begin or end, but at most once in `step`
    seconds: flows that begin within a step begin early, the share of those that end within it
    stays unused until its end. Rates of flows with extreme costs may be infinite or zero.
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
