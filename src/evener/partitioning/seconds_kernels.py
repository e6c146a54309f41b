"""Kernels that move vertices so that the slowest block gets faster: exact seconds, move by move.

A block's seconds are its compute, what it exchanges with each neighbouring block, and a fixed
cost. The Ledger of volumes_kernels knows how many neighbours a vertex has in each block, so all
moves of a vertex are priced in one pass over its neighbours' few entries.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit_kernels import inner, njit
from evener.partitioning.fm_kernels import HUB
from evener.partitioning.volumes_kernels import CLOSED, move
from evener.partitioning.volumes_kernels import _open as open_table

MOST_BLOCKS = 32  # that a vertex may touch and still move: weighing it takes their square
FRONTIER = 32  # vertices that a chain of moves chooses from
LOOKS = 30  # what weighing takes, in halves of what a neighbour adds; eight blocks it touches: 1
DEPTH = 64  # moves of the longest chain
KNOWN, WAITING = 1, 2  # flags of vertices at a boundary, and of those in the queue
NEVER = np.inf


class Model(NamedTuple):
    """What makes seconds of loads and values; s pieces of the speed curves of k devices.

    first, last (k,) int64: each device's pieces; left, speed, slope (s,): where each begins
    [units], speed there [units/s] and its slope [1/s]; alpha (k, k) [s], beta (k, k) [s per
    value]; fixed (k,) [s]; worth (k,): of a second of each device, relative (Books.worth);
    smooth: a message of fewer values counts in proportion, so that it is worth making smaller
    until it is gone; overlap: exchange goes on beside the interior's compute.
    """

    first: np.ndarray
    last: np.ndarray
    left: np.ndarray
    speed: np.ndarray
    slope: np.ndarray
    alpha: np.ndarray
    beta: np.ndarray
    fixed: np.ndarray
    worth: np.ndarray
    smooth: float
    overlap: bool


class Totals(NamedTuple):
    """Sums of every block (k,): load [units], weight, memory [B], size in vertices, outer (load
    at the boundary), compute, exchange, seconds [s], powered (seconds by those of reference, to
    the power), piece (of its speed curve).
    """

    load: np.ndarray
    weight: np.ndarray
    memory: np.ndarray
    size: np.ndarray
    outer: np.ndarray
    compute: np.ndarray
    exchange: np.ndarray
    seconds: np.ndarray
    powered: np.ndarray
    piece: np.ndarray


class Bounds(NamedTuple):
    """Of vertices (n,): work [units], weight, n_bytes; of blocks (k,): low, high, caps on them."""

    work: np.ndarray
    weight: np.ndarray
    n_bytes: np.ndarray
    low: np.ndarray
    high: np.ndarray
    caps: np.ndarray


class Desk(NamedTuple):
    """Room to weigh one vertex: slot (k,) is -1 before and after; for its d blocks (d,): ids,
    held (neighbours there), lone (of those, whose only neighbour in its block it is), leaving
    (their work that would be at no boundary), drop and rise (exchange won where it leaves, and
    by the others), after (what each exchanges then); has (d x d,): neighbours of one block that
    touch another one already.

    To search: queue, lock (n,), zero before and after; front, keys (FRONTIER,): the vertices that
    a chain chooses from; moved, came_from (DEPTH,): its moves; looks (1,).
    """

    slot: np.ndarray
    ids: np.ndarray
    held: np.ndarray
    lone: np.ndarray
    leaving: np.ndarray
    drop: np.ndarray
    rise: np.ndarray
    after: np.ndarray
    has: np.ndarray
    queue: np.ndarray
    lock: np.ndarray
    front: np.ndarray
    keys: np.ndarray
    moved: np.ndarray
    came_from: np.ndarray
    looks: np.ndarray


@inner(forceinline=True, error_model="numpy", counted=False)
def _pay(alpha, beta, smooth, b, c, values):
    """Seconds that block b spends on exchanging so many values with c."""
    if values <= 0:
        return 0.0
    part = min(1.0, values / smooth)
    return alpha[b, c] * part * (2.0 - part) + beta[b, c] * values


@inner(error_model="numpy", counted=False)
def _compute(first, last, left, speed, slope, piece, load):
    """Seconds that a device computes at a load that lies near piece, and its piece."""
    while piece + 1 < last and left[piece + 1] <= load:
        piece += 1
    while piece > first and left[piece] > load:
        piece -= 1
    above = max(load - left[piece], 0.0)  # before the first knot, speed is constant
    return load / (speed[piece] + slope[piece] * above), piece


@inner(forceinline=True, error_model="numpy", counted=False)
def _seconds(overlap, fixed, load, compute, outer, exchange):
    if load <= 0 and exchange <= 0:
        return 0.0
    if not overlap:
        return compute + exchange + fixed
    edge = compute * min(1.0, outer / load) if load > 0 else 0.0
    return max(compute - edge, exchange) + edge + fixed


@inner(forceinline=True, error_model="numpy", counted=False)
def _powered(seconds, reference, doublings, worth):
    x = seconds / reference
    for _ in range(doublings):
        x *= x
    return worth * x


@inner(forceinline=True, error_model="numpy", counted=False)
def _between(sent, b, c):
    return np.int64(sent[b, c]) + np.int64(sent[c, b])


@inner(forceinline=True, error_model="numpy", counted=False)
def _look(ledger, model, bounds, v, to, desk):
    """Lay out what v and its neighbours touch, block `to` with them; returns
    (d, slot of its own block, work of neighbours that would come to a boundary if it left).
    """
    p = np.int64(ledger.part[v])
    if ledger.length[v] == CLOSED:
        open_table(ledger, v)
    first = np.int64(ledger.xadj[v])
    d = np.int64(0)
    for i in range(first, first + ledger.length[v]):
        desk.ids[d], desk.held[d] = ledger.blocks[i], ledger.counts[i]
        desk.slot[ledger.blocks[i]] = d
        d += 1
    for turn in range(2):
        b = p if turn == 0 else to
        if desk.slot[b] < 0:
            desk.ids[d], desk.held[d] = b, 0
            desk.slot[b] = d
            d += 1
    for i in range(d):
        desk.lone[i], desk.leaving[i] = 0, 0.0
    for i in range(d * d):
        desk.has[i] = 0
    entering, looks = 0.0, LOOKS
    for e in range(first, ledger.xadj[v + 1]):
        u = np.int64(ledger.adjncy[e])
        if ledger.length[u] == CLOSED:
            open_table(ledger, u)
        r = ledger.part[u]
        row = np.int64(desk.slot[r])
        start, size = np.int64(ledger.xadj[u]), ledger.length[u]
        lone, inside = 0, 0
        for i in range(start, start + size):
            b = ledger.blocks[i]
            at = desk.slot[b]
            if at >= 0:
                desk.has[row * d + at] += 1
                if b == p and ledger.counts[i] == 1:
                    lone = 1
            inside += b == r
        desk.lone[row] += lone
        looks += 2 + size // 8
        if model.overlap:
            if r == p:
                entering += bounds.work[u] if size == 1 else 0.0
            elif lone == 1 and size == 1 + inside:
                desk.leaving[row] += bounds.work[u]
    desk.looks[0] += looks
    home = np.int64(desk.slot[p])
    for i in range(d):
        desk.slot[desk.ids[i]] = -1
    return d, home, entering


@inner(forceinline=True, error_model="numpy", counted=False)
def _stop_sending(sent, alpha, beta, smooth, d, home, desk):
    """Price what v's block no longer exchanges without v, in drop and rise; returns its sum."""
    p = desk.ids[home]
    total = 0.0
    for i in range(d):
        desk.drop[i], desk.rise[i] = 0.0, 0.0
        if i == home or desk.held[i] == 0:
            continue
        b = desk.ids[i]
        values = _between(sent, p, b)
        fewer = values - 1 - desk.lone[i]
        desk.drop[i] = _pay(alpha, beta, smooth, p, b, fewer) - _pay(
            alpha, beta, smooth, p, b, values
        )
        desk.rise[i] = _pay(alpha, beta, smooth, b, p, fewer) - _pay(
            alpha, beta, smooth, b, p, values
        )
        total += desk.drop[i]
    return total


@inner(forceinline=True, error_model="numpy", counted=False)
def _exchanges_after(
    sent, alpha, beta, smooth, exchange, d, home, to, dropped, desk,
):  # fmt: skip
    """Lay out in `after` what v's blocks exchange once v is in slot `to`; returns how many of its
    neighbours are then outside its block.
    """
    p, q, held = desk.ids[home], desk.ids[to], desk.held[home]
    values = _between(sent, p, q)
    now = values - (desk.held[to] > 0) - desk.lone[to]
    now += (held > 0) + held - desk.has[home * d + to]
    at_p = (
        dropped
        - desk.drop[to]
        + _pay(alpha, beta, smooth, p, q, now)
        - _pay(alpha, beta, smooth, p, q, values)
    )
    at_q = _pay(alpha, beta, smooth, q, p, now) - _pay(alpha, beta, smooth, q, p, values)
    apart = held
    for i in range(d):
        b = desk.ids[i]
        desk.after[i] = exchange[b]
        if i == home or i == to or desk.held[i] == 0:
            continue
        apart += desk.held[i]
        values = _between(sent, q, b)
        now = values + 1 + desk.held[i] - desk.has[i * d + to]
        at_q += _pay(alpha, beta, smooth, q, b, now) - _pay(alpha, beta, smooth, q, b, values)
        desk.after[i] += (
            desk.rise[i]
            + _pay(alpha, beta, smooth, b, q, now)
            - _pay(alpha, beta, smooth, b, q, values)
        )
    desk.after[home] += at_p
    desk.after[to] += at_q
    return apart


@inner(forceinline=True, error_model="numpy", counted=False)
def _price(
    ledger, model, totals, bounds, v, d, home, to, dropped, entering, reference, doublings, store,
    desk,
):  # fmt: skip
    """What the sum of powers changes by when v moves from slot home to slot `to`; stores all that
    follows for its blocks if told.
    """
    w = bounds.work[v]
    apart = _exchanges_after(
        ledger.sent, model.alpha, model.beta, model.smooth, totals.exchange, d, home, to, dropped,
        desk,
    )  # fmt: skip
    outside = apart - desk.held[home] + desk.held[to]
    change = 0.0
    for i in range(d):
        b, exchange = desk.ids[i], desk.after[i]
        load, outer = totals.load[b], totals.outer[b]
        compute, piece = totals.compute[b], totals.piece[b]
        if i == home or i == to:
            if i == home:
                load -= w
                outer += entering - (w if outside > 0 else 0.0)
            else:
                load += w
                outer += (w if apart > 0 else 0.0) - desk.leaving[to]
            compute, piece = _compute(
                model.first[b], model.last[b], model.left, model.speed, model.slope, piece,
                max(load, 0.0),
            )  # fmt: skip
        elif exchange == totals.exchange[b]:
            continue
        seconds = _seconds(model.overlap, model.fixed[b], load, compute, outer, exchange)
        powered = _powered(seconds, reference, doublings, model.worth[b])
        change += powered - totals.powered[b]
        if store:
            totals.load[b], totals.outer[b], totals.exchange[b] = load, outer, exchange
            totals.compute[b], totals.piece[b] = compute, piece
            totals.seconds[b], totals.powered[b] = seconds, powered
    return change


@inner(error_model="numpy", counted=False)
def consider(ledger, model, totals, bounds, v, to, reference, doublings, desk):
    """Weigh the moves of v, or move it to block `to` and keep all books right.

    Returns (change of the sum of powers, block): with `to` negative, of the best move within
    bounds, (NEVER, -1) where there is none.
    """
    p, w, m = np.int64(ledger.part[v]), bounds.weight[v], bounds.n_bytes[v]
    store = to >= 0
    if ledger.length[v] == CLOSED:
        open_table(ledger, v)
    if not store and (
        totals.size[p] <= 1
        or totals.weight[p] - w < bounds.low[p]
        or ledger.length[v] > MOST_BLOCKS
    ):
        return NEVER, np.int64(-1)
    d, home, entering = _look(ledger, model, bounds, v, to if store else p, desk)
    dropped = _stop_sending(ledger.sent, model.alpha, model.beta, model.smooth, d, home, desk)
    least, best = NEVER, np.int64(-1)
    for i in range(d):
        q = np.int64(desk.ids[i])
        if store:
            if q != to:
                continue
        elif (
            i == home
            or totals.weight[q] + w > bounds.high[q]
            or totals.memory[q] + m > bounds.caps[q]
        ):
            continue
        change = _price(
            ledger, model, totals, bounds, v, d, home, i, dropped, entering, reference, doublings,
            store, desk,
        )  # fmt: skip
        if change < least:
            least, best = change, q
    if store:
        for i in range(move(ledger, v, to)):
            ledger.change[ledger.changed[i]] = 0
        totals.weight[p] -= w
        totals.weight[to] += w
        totals.memory[p] -= m
        totals.memory[to] += m
        totals.size[p] -= 1
        totals.size[to] += 1
    return least, best


@inner(forceinline=True, error_model="numpy", counted=False)
def _is_hot(ledger, seconds, v, hot):
    """Whether v is at a boundary, and it or a block it touches takes at least `hot` seconds."""
    if ledger.xadj[v + 1] - ledger.xadj[v] > HUB:
        return False
    if ledger.length[v] == CLOSED:
        open_table(ledger, v)
    p = ledger.part[v]
    first = np.int64(ledger.xadj[v])
    touches, found = False, seconds[p] >= hot
    for i in range(first, first + ledger.length[v]):
        b = ledger.blocks[i]
        touches |= b != p
        found |= seconds[b] >= hot
    return touches and found


@inner(forceinline=True, error_model="numpy", counted=False)
def _least(keys, size):
    """Where the least of the first keys is."""
    at = 0
    for i in range(1, size):
        if keys[i] < keys[at]:
            at = i
    return at


@inner(error_model="numpy", counted=False)
def _reprice(ledger, model, totals):
    """Work out compute, exchange and seconds of all blocks; returns the longest seconds."""
    k, longest = totals.load.size, 0.0
    sent, alpha, beta, smooth = ledger.sent, model.alpha, model.beta, model.smooth
    for b in range(k):
        exchange = 0.0
        for c in range(k):
            exchange += _pay(alpha, beta, smooth, b, c, _between(sent, b, c))
        compute, piece = _compute(
            model.first[b], model.last[b], model.left, model.speed, model.slope, totals.piece[b],
            totals.load[b],
        )  # fmt: skip
        totals.exchange[b], totals.compute[b], totals.piece[b] = exchange, compute, piece
        load, outer = totals.load[b], totals.outer[b]
        totals.seconds[b] = _seconds(model.overlap, model.fixed[b], load, compute, outer, exchange)
        longest = max(longest, totals.seconds[b])
    return longest


@njit(cache=True, nogil=True, error_model="numpy", counted=False)
def search(
    ledger, model, totals, bounds, doublings, heat, depth, most_lost, n_queued, most_looks, flag,
    desk,
):  # fmt: skip
    """Search from every seed in turn for less sum of worth x seconds**(2**doublings).

    A chain of up to `depth` moves begins at each seed: the best move of the vertices around it,
    even at a loss (of most_lost times its block's worth), then the next; those after the best
    point are taken back. Seeds are desk.queue[:n_queued], then the neighbours of what has moved.
    Passed over are those at no block of at least `heat` of the longest seconds. flag (n,) is
    KNOWN, before and after, of all vertices that are or were at a boundary. Ends after most_looks
    adjacency entries weighed; returns (moves kept, looks).
    """
    queue, lock, front, keys = desk.queue, desk.lock, desk.front, desk.keys
    moved, came_from = desk.moved, desk.came_from
    reference = _reprice(ledger, model, totals)
    hot = heat * reference
    for b in range(totals.seconds.size):
        totals.powered[b] = _powered(totals.seconds[b], reference, doublings, model.worth[b])
    for i in range(n_queued):
        flag[queue[i]] = WAITING
    head, kept = 0, 0
    desk.looks[0] = 0
    while n_queued > 0 and desk.looks[0] < most_looks:
        v = np.int64(queue[head])
        head = 0 if head + 1 == queue.size else head + 1
        n_queued -= 1
        flag[v] = KNOWN
        if not _is_hot(ledger, totals.seconds, v, hot):
            continue
        change, to = consider(ledger, model, totals, bounds, v, -1, reference, doublings, desk)
        bold = most_lost * model.worth[ledger.part[v]]
        if to < 0 or change > bold:
            continue
        front[0], keys[0] = v, change
        size, n_moved, n_best, gained, best = 1, 0, 0, 0.0, -1e-12
        while n_moved < depth and size > 0:
            i = _least(keys, size)
            v, key = front[i], keys[i]
            change, to = consider(ledger, model, totals, bounds, v, -1, reference, doublings, desk)
            keys[i] = change
            if to >= 0 and change > key and _least(keys, size) != i:
                continue
            size -= 1
            front[i], keys[i] = front[size], keys[size]
            if to < 0 or gained + change > bold:
                break
            moved[n_moved], came_from[n_moved] = v, ledger.part[v]
            n_moved += 1
            change, _ = consider(ledger, model, totals, bounds, v, to, reference, doublings, desk)
            gained += change
            lock[v] = 1
            if gained < best:
                best, n_best = gained, n_moved
            if n_moved == depth:
                break
            for e in range(ledger.xadj[v], ledger.xadj[v + 1]):
                u = np.int64(ledger.adjncy[e])
                if lock[u] == 1 or not _is_hot(ledger, totals.seconds, u, hot):
                    continue
                i = 0
                while i < size and front[i] != u:
                    i += 1
                if i == FRONTIER:
                    continue
                change, _ = consider(
                    ledger, model, totals, bounds, u, -1, reference, doublings, desk
                )
                front[i], keys[i] = u, change
                size = max(size, i + 1)
        for i in range(n_moved):
            lock[moved[i]] = 0
        while n_moved > n_best:
            n_moved -= 1
            consider(
                ledger, model, totals, bounds, moved[n_moved], came_from[n_moved], reference,
                doublings, desk,
            )  # fmt: skip
        kept += n_best
        for i in range(n_best):
            v = moved[i]
            for e in range(ledger.xadj[v], ledger.xadj[v + 1]):
                u = ledger.adjncy[e]
                if flag[u] != WAITING:
                    flag[u] = WAITING
                    tail = head + n_queued
                    queue[tail if tail < queue.size else tail - queue.size] = u
                    n_queued += 1
    for i in range(n_queued):
        at = head + i
        flag[queue[at if at < queue.size else at - queue.size]] = KNOWN
    return kept, desk.looks[0]
