"""Swaps of two blocks' devices: for the cost of all messages, and for the block done last.

A swap is looked at in time linear in the blocks' messages. Seconds (k,) of the blocks are kept
move by move.
"""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.mapping.cost_kernels import (
    block_seconds,
    computing,
    count_seconds,
    fits,
    link_kind,
    talking,
)


class Nearby(NamedTuple):
    """Where to look for a better device for a block: near those it exchanges much with.

    heavy (k, h): those blocks, the heaviest first, -1 where there are no more. order (rows, k):
    devices, near ones next to each other, `length` (rows,) of them: all of them in row 0, those
    alike in each other one; place (rows, k): where each device stands, or would. row_of (k,): the
    row of the devices like each, or 0. window: how far to look to either side; from k on, every
    device is tried.
    """

    heavy: np.ndarray
    order: np.ndarray
    length: np.ndarray
    place: np.ndarray
    row_of: np.ndarray
    window: int


@inner()
def _change(scene, fixed, rate, device, b, c):
    """What all messages together cost more after blocks b and c have swapped devices."""
    p, q = device[b], device[c]
    total = 0.0
    for e in range(scene.starts[b], scene.starts[b + 1]):
        x = scene.other[e]
        if x != c:
            new, old = link_kind(scene, q, device[x]), link_kind(scene, p, device[x])
            if new != old:
                total += fixed[new] - fixed[old] + (rate[new] - rate[old]) * scene.n_bytes[e]
    for e in range(scene.starts[c], scene.starts[c + 1]):
        x = scene.other[e]
        if x != b:
            new, old = link_kind(scene, p, device[x]), link_kind(scene, q, device[x])
            if new != old:
                total += fixed[new] - fixed[old] + (rate[new] - rate[old]) * scene.n_bytes[e]
    return total


@inner()
def _list_changes(scene, device, b, c, extra, touched):
    """Seconds that a swap adds to every block: extra (k,), which was 0; touched: their list.

    Returns how many blocks are touched; b and c are the first two.
    """
    p, q = device[b], device[c]
    count = 2
    touched[0], touched[1] = b, c
    extra[b] = computing(scene, b, q) - computing(scene, b, p)
    extra[c] = computing(scene, c, p) - computing(scene, c, q)
    for one in range(2):
        own, away, here, there = (b, c, p, q) if one == 0 else (c, b, q, p)
        for e in range(scene.starts[own], scene.starts[own + 1]):
            x = scene.other[e]
            if x == away:
                continue
            new, old = link_kind(scene, there, device[x]), link_kind(scene, here, device[x])
            if new == old:
                continue
            more = talking(scene, new, scene.n_bytes[e]) - talking(scene, old, scene.n_bytes[e])
            extra[own] += more
            if extra[x] == 0.0:
                touched[count] = x
                count += 1
            extra[x] += more
    return count


@inner()
def _worst_after(scene, device, seconds, b, c, extra, touched):
    """The longest seconds among the blocks that a swap touches; extra is 0 again after it."""
    count = _list_changes(scene, device, b, c, extra, touched)
    worst = 0.0
    for i in range(count):
        x = touched[i]
        worst = max(worst, seconds[x] + extra[x])
        extra[x] = 0.0
    return worst


@inner()
def _swap(scene, device, at, seconds, b, c, extra, touched):
    count = _list_changes(scene, device, b, c, extra, touched)
    for i in range(count):
        x = touched[i]
        seconds[x] += extra[x]
        extra[x] = 0.0
    device[b], device[c] = device[c], device[b]
    at[device[b]], at[device[c]] = b, c
    # Sums of differences would lose digits where it matters most.
    seconds[b] = block_seconds(scene, device, b, device[b])
    seconds[c] = block_seconds(scene, device, c, device[c])


@inner()
def _candidates(device, nearby, b, stamp, mark, found):
    """List devices worth a try for block b in `found`; returns their number."""
    k = device.size
    if nearby.window >= k:
        for d in range(k):
            found[d] = d
        return k
    count = 0
    own = nearby.row_of[device[b]]
    for i in range(nearby.heavy.shape[1]):
        x = nearby.heavy[b, i]
        if x < 0:
            break
        for row in (0, own):
            middle = nearby.place[row, device[x]]
            first = max(middle - nearby.window, 0)
            for j in range(first, min(middle + nearby.window + 1, nearby.length[row])):
                d = nearby.order[row, j]
                if mark[d] != stamp:
                    mark[d] = stamp
                    found[count] = d
                    count += 1
    return count


@njit(cache=True, nogil=True)
def lower_cost(scene, fixed, rate, ceiling, nearby, budget, device, at, seconds):
    """Swap while the cost of all messages, fixed + rate x bytes by kind of link, goes down.

    No swap leaves a touched block above `ceiling` seconds. device, at, seconds (k,) are kept.
    Returns the number of swaps; looks at `budget` messages at most.
    """
    k = device.size
    active = np.ones(k, np.bool_)
    extra, touched = np.zeros(k), np.empty(2 * k + 2, np.int64)
    mark, found = np.full(k, -1, np.int64), np.empty(k, np.int64)
    swaps, looks, stamp, any_active = 0, 0, 0, True
    while any_active:
        any_active = False
        for b in range(k):
            if not active[b] or looks > budget:
                continue
            active[b] = False
            stamp += 1
            count = _candidates(device, nearby, b, stamp, mark, found)
            best, least = -1, 0.0
            for i in range(count):
                c = at[found[i]]
                looks += 1
                if c == b or not (fits(scene, b, found[i]) and fits(scene, c, device[b])):
                    continue
                looks += scene.starts[b + 1] - scene.starts[b]
                looks += scene.starts[c + 1] - scene.starts[c]
                change = _change(scene, fixed, rate, device, b, c)
                if change >= least:
                    continue
                if (
                    ceiling < np.inf
                    and _worst_after(scene, device, seconds, b, c, extra, touched) > ceiling
                ):
                    continue
                best, least = c, change
            # Differences below the last digits of what is exchanged are none.
            scale = 0.0
            for e in range(scene.starts[b], scene.starts[b + 1]):
                scale += fixed.max() + rate.max() * scene.n_bytes[e]
            if best < 0 or least > -1e-12 * scale:
                continue
            _swap(scene, device, at, seconds, b, best, extra, touched)
            swaps += 1
            for own in (b, best):
                active[own] = True
                for e in range(scene.starts[own], scene.starts[own + 1]):
                    active[scene.other[e]] = True
            any_active = True
    count_seconds(scene, device, seconds)
    return swaps


@njit(cache=True, nogil=True)
def lower_makespan(scene, tolerance, goal, nearby, budget, device, at, seconds):
    """Swap the block done last, or those it talks to, while that leaves less to do for it.

    No touched block is then as late as it was. Stops at `goal` seconds. Returns the number of
    swaps.
    """
    k = device.size
    extra, touched = np.zeros(k), np.empty(2 * k + 2, np.int64)
    mark, found = np.full(k, -1, np.int64), np.empty(k, np.int64)
    shared = np.full(k, -1.0)  # bytes that each block exchanges with the last one, or -1
    swaps, looks, stamp = 0, 0, 0
    while looks < budget:
        last = seconds.argmax()
        if seconds[last] <= goal:
            break
        least = seconds[last] * (1 - tolerance)
        best_b, best_c = -1, -1
        first, end = scene.starts[last], scene.starts[last + 1]
        for e in range(first, end):
            shared[scene.other[e]] = scene.n_bytes[e]
        for i in range(first - 1, end):
            b = last if i < first else scene.other[i]
            stamp += 1
            count = _candidates(device, nearby, b, stamp, mark, found)
            for j in range(count):
                c = at[found[j]]
                looks += 1
                if c == b or not (fits(scene, b, found[j]) and fits(scene, c, device[b])):
                    continue
                if _last_after(scene, device, seconds, b, c, last, shared) >= least:
                    continue
                looks += scene.starts[b + 1] - scene.starts[b]
                looks += scene.starts[c + 1] - scene.starts[c]
                worst = _worst_after(scene, device, seconds, b, c, extra, touched)
                if worst < least:
                    best_b, best_c, least = b, c, worst
            if looks > budget:
                break
        for e in range(first, end):
            shared[scene.other[e]] = -1.0
        if best_b < 0:
            break
        _swap(scene, device, at, seconds, best_b, best_c, extra, touched)
        swaps += 1
    count_seconds(scene, device, seconds)
    return swaps


@inner()
def _last_after(scene, device, seconds, b, c, last, shared):
    """Seconds of the last block after a swap that changes only whom it talks to; else none."""
    if b == last or c == last:
        return 0.0
    total, here = seconds[last], device[last]
    for x, there in ((b, device[c]), (c, device[b])):
        if shared[x] >= 0:
            total += talking(scene, link_kind(scene, here, there), shared[x])
            total -= talking(scene, link_kind(scene, here, device[x]), shared[x])
    return total
