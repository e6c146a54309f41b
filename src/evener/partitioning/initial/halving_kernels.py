"""Divides blocks in two halves with given numbers of each kind, by growing and by swaps."""

# mypy: ignore-errors
import numpy as np

from evener.jit import inner, njit

STALLED = 40  # swaps without a new best after which a pass ends


@njit(cache=True, nogil=True)
def grow(starts, other, n_bytes, members, kind, room, first, side, tie):
    """Move members to half 0, beginning with `first`, until it has room[t] blocks of each kind t.

    The next member is always the block that exchanges most with half 0, among kinds that are still
    needed. side (k,): 1 for all members on entry, negative for others. tie (k,) is scratch. Returns
    the block moved last.
    """
    left = room.sum()
    for b in members:
        tie[b] = 0.0
    last, b = first, first
    while left > 0:
        if room[kind[b]] > 0:
            side[b] = 0
            room[kind[b]] -= 1
            left -= 1
            last = b
            for e in range(starts[b], starts[b + 1]):
                tie[other[e]] += n_bytes[e]
        b, most = -1, -1.0
        for x in members:
            if side[x] == 1 and room[kind[x]] > 0 and tie[x] > most:
                b, most = x, tie[x]
        if b < 0:
            break
    return last


@njit(cache=True, nogil=True)
def improve(starts, other, n_bytes, members, kind, kinds, passes, side):
    """Swap blocks of equal kind between the halves (Kernighan-Lin); return the bytes between them.

    A pass swaps every block at most once, the best pair first, even at a loss, and is rolled back
    to its best state.
    """
    size = members.size
    gain, locked = np.zeros(side.size), np.zeros(side.size, np.bool_)
    swapped = np.empty((size, 2), np.int64)
    top = np.empty((2, kinds), np.int64)
    for _ in range(passes):
        for b in members:
            gain[b], locked[b] = 0.0, False
            for e in range(starts[b], starts[b + 1]):
                x = other[e]
                if side[x] >= 0:
                    gain[b] += n_bytes[e] if side[x] != side[b] else -n_bytes[e]
        won, best, steps, best_steps = 0.0, 0.0, 0, 0
        while steps - best_steps < STALLED + size // 8:
            top[:] = -1
            for b in members:
                if not locked[b]:
                    t = top[side[b], kind[b]]
                    if t < 0 or gain[b] > gain[t]:
                        top[side[b], kind[b]] = b
            first, second, most = -1, -1, -np.inf
            for t in range(kinds):
                b, c = top[0, t], top[1, t]
                if b < 0 or c < 0:
                    continue
                both = gain[b] + gain[c]
                if both <= most:
                    continue
                for e in range(starts[b], starts[b + 1]):
                    if other[e] == c:
                        both -= 2 * n_bytes[e]
                if both > most:
                    first, second, most = b, c, both
            if first < 0:
                break
            won += most
            swapped[steps] = first, second
            steps += 1
            locked[first] = locked[second] = True
            _exchange(starts, other, n_bytes, first, second, side, gain)
            if won > best * (1 + 1e-12):
                best, best_steps = won, steps
        for i in range(best_steps, steps):
            b, c = swapped[i]
            side[b], side[c] = side[c], side[b]
        if best_steps == 0:
            break
    between = 0.0
    for b in members:
        for e in range(starts[b], starts[b + 1]):
            x = other[e]
            if side[x] >= 0 and side[x] != side[b]:
                between += 0.5 * n_bytes[e]
    return between


@inner()
def _exchange(starts, other, n_bytes, b, c, side, gain):
    """Swap b and c, and update the gains of all other blocks."""
    for own in (b, c):
        for e in range(starts[own], starts[own + 1]):
            x = other[e]
            if side[x] >= 0:
                gain[x] += 2 * n_bytes[e] if side[x] == side[own] else -2 * n_bytes[e]
        side[own] = 1 - side[own]
