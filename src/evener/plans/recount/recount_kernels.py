"""Counts connected pieces, and simulates messages that share ports and links max-min fairly.

The simulation goes from event to event, the begin or end of a message; rates [B/s] are constant in
between. All rates rise together until a resource is full; messages that need it keep their rate,
the other rates rise further. The level of a resource is the rate at which it is full; it can only
rise as messages keep their rates. Therefore a heap holds the resources by level, and a level is
computed again only when its resource comes to the top.
"""

# mypy: ignore-errors

import numpy as np

from evener.jit import inner, njit


@njit(cache=True, nogil=True)
def count_pieces(xadj, adjncy, part, parent, pieces):
    """Add to pieces (k,), zeros, the connected pieces of each block; parent (n,) is overwritten.

    parent[v] leads towards the smallest vertex known to be joined to v; O(m log n).
    """
    for v in range(part.size):
        parent[v] = v
        pieces[part[v]] += 1
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            if u >= v:
                break  # lists are in ascending order: the other end of the rest comes later
            if part[u] != part[v]:
                continue
            a, b = int(u), int(v)
            while parent[a] != a:
                parent[a] = parent[parent[a]]
                a = parent[a]
            while parent[b] != b:
                parent[b] = parent[parent[b]]
                b = parent[b]
            if a != b:
                pieces[part[v]] -= 1
                if a < b:
                    parent[b] = a
                else:
                    parent[a] = b


AT_ONCE = 1e-12  # relative, of a step: ends this near are one event
RISING, THROUGH = 0.0, -1.0  # in place of a rate; THROUGH: arrived, or not begun
UNKNOWN = -1.0  # in place of a level


@inner()
def sink(heap, size, level, at):
    """Restore a heap of resources, lowest level first, after the level of entry `at` has risen."""
    r = heap[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and level[heap[child + 1]] < level[heap[child]]:
            child += 1
        if level[heap[child]] >= level[r]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = r


@inner()
def level_of(r, users_at, users, beta, rate):
    """Return the rate of the rising messages at which resource r is full; -1 if none rises."""
    free, rising = 1.0, 0.0
    for j in range(users_at[r], users_at[r + 1]):
        given = rate[users[j]]
        if given == RISING:
            rising += beta[j]
        elif given > 0:
            free -= beta[j] * given
    return max(free, 0.0) / rising if rising > 0 else -1.0


@inner()
def share(flowing, count, needs_at, needs, users_at, users, beta, rate, level, heap):
    """Set the rate [B/s] of each of the `count` active messages."""
    for j in range(count):
        i = flowing[j]
        rate[i] = RISING if needs_at[i + 1] > needs_at[i] else np.inf
    size = 0
    for j in range(count):
        for at in range(needs_at[flowing[j]], needs_at[flowing[j] + 1]):
            if level[needs[at]] < 0:
                heap[size] = needs[at]
                level[heap[size]] = level_of(heap[size], users_at, users, beta, rate)
                size += 1
    for at in range(size // 2 - 1, -1, -1):
        sink(heap, size, level, at)
    reached = 0.0
    while size > 0:
        r = heap[0]
        full = level_of(r, users_at, users, beta, rate)
        if full > level[r]:
            level[r] = full
            sink(heap, size, level, 0)
            if heap[0] != r:
                continue
        if full >= 0:
            reached = max(reached, full)  # rounding may say less, where little is left
            for j in range(users_at[r], users_at[r + 1]):
                if rate[users[j]] == RISING:
                    rate[users[j]] = reached
        level[r] = UNKNOWN
        size -= 1
        heap[0] = heap[size]
        sink(heap, size, level, 0)


@njit(cache=True, nogil=True)
def run_messages(p, q, left, begin, needs_at, needs, users_at, users, beta, ends):
    """Raise ends (k,) [s], when devices have posted, to the arrival of their last message.

    left (m,) [B]: sizes, used up. begin (m,) [s]. needs[needs_at[i] : needs_at[i + 1]]: resources
    that message i needs; a message without resources arrives at once. users[users_at[r] :
    users_at[r + 1]]: messages that need resource r; `beta` [s/B], at the same indices: seconds per
    byte.
    """
    m = p.size
    order = np.argsort(begin)
    flowing = np.empty(m, np.int64)  # the first `count` are under way
    count = begun = 0
    rate = np.full(m, THROUGH)
    level = np.full(users_at.size - 1, UNKNOWN)
    heap = np.empty(users_at.size - 1, np.int64)
    now = 0.0
    while count > 0 or begun < m:
        if count == 0:
            now = begin[order[begun]]
        while begun < m and begin[order[begun]] <= now:
            flowing[count] = order[begun]
            count += 1
            begun += 1
        share(flowing, count, needs_at, needs, users_at, users, beta, rate, level, heap)
        step = np.inf
        for j in range(count):
            step = min(step, left[flowing[j]] / rate[flowing[j]])
        later = begin[order[begun]] if begun < m else np.inf
        then = now + step
        if then >= later:
            then = later
            step = later - now
        still = 0
        for j in range(count):
            i = flowing[j]
            if left[i] / rate[i] <= step * (1 + AT_ONCE):
                rate[i] = THROUGH
                ends[p[i]] = max(ends[p[i]], then)
                ends[q[i]] = max(ends[q[i]], then)
            else:
                left[i] -= rate[i] * step
                flowing[still] = i
                still += 1
        count = still
        now = then
